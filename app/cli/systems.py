"""Verbs on what writes and what was written: systems, runs."""

from __future__ import annotations

import argparse
import dataclasses
from typing import Any

from app.cli.common import add_common, open_workspace, print_result
from core.errors import ConflictError, UsageError
from core.types import System


def add_parsers(verbs: Any) -> None:
    """systems, runs."""
    systems = verbs.add_parser("systems", help="what writes outputs")
    actions = systems.add_subparsers(dest="action", required=True)
    add = actions.add_parser("add", help="add a local model with parameters as a system")
    add_common(add, workspace=True)
    add.add_argument("name")
    add.add_argument("--model", required=True, metavar="ID")
    add.add_argument("--param", action="append", default=[], metavar="K=V")
    add.add_argument("--prompt", metavar="P")
    add.set_defaults(run=_add_system)
    listing = actions.add_parser("list", help="list the systems")
    add_common(listing, workspace=True)
    listing.set_defaults(run=_list_systems)

    runs = verbs.add_parser("runs", help="the runs there are; deleting one")
    actions = runs.add_subparsers(dest="action", required=True)
    listing = actions.add_parser("list", help="list the runs, the latest first")
    add_common(listing, workspace=True)
    listing.set_defaults(run=_list_runs)
    delete = actions.add_parser(
        "delete", help="delete a run with its outputs and all that was said of them"
    )
    add_common(delete, workspace=True)
    delete.add_argument(
        "run_id", metavar="RUN", help="an id or its beginning; 'last' for the latest"
    )
    delete.add_argument("--yes", action="store_true", help="else it is only said what would go")
    delete.set_defaults(run=_delete_run)


def _add_system(args: argparse.Namespace) -> int:
    from core.runs.verbs import add_system
    from models.catalog import find_model

    params = {}
    for text in args.param:
        name, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"'{text}' is no parameter.", remedy="Write NAME=VALUE.")
        params[name] = value
    entry = find_model(args.model)
    if entry.role != "generator":
        raise UsageError(
            f"{entry.id} is a model for '{entry.role}' and writes nothing.",
            remedy="Choose a generator; 'rifugio models list' shows them.",
        )
    with open_workspace(args) as workspace:
        system = workspace.transact(
            "Add system",
            "",
            add_system,
            args.name,
            model_id=entry.id,
            model_sha256=entry.sha256,
            params=params,
            prompt=args.prompt,
        ).value
    print_result(args, _system(system), f"Added the system {system.name}, {system.id}.")
    return 0


def _system(system: System) -> dict[str, Any]:
    return {
        "id": system.id,
        "name": system.name,
        "kind": system.kind,
        "model": system.model_id,
        "sha256": system.model_sha256,
        "prompt": system.prompt,
        "params": dict(system.params),
    }


def _list_systems(args: argparse.Namespace) -> int:
    with open_workspace(args, write=False) as workspace:
        systems = workspace.find(System, order_by="name")
    text = "\n".join(f"{s.name} ({s.model_id or 'imported'})  {s.id}" for s in systems)
    print_result(args, {"systems": [_system(s) for s in systems]}, text or "No systems yet.")
    return 0


def _list_runs(args: argparse.Namespace) -> int:
    with open_workspace(args, write=False) as workspace:
        runs = workspace.query(
            """SELECT r.id AS run, y.name AS system, r.started, coalesce(j.state, 'imported') AS state,
                      (SELECT count(*) FROM output o WHERE o.run_id = r.id AND o.deleted = 0) AS outputs
               FROM run r JOIN system y ON y.id = r.system_id LEFT JOIN job j ON j.id = r.job_id
               WHERE r.deleted = 0 ORDER BY r.id DESC"""
        )
    lines = [
        f"{run['run']}  {run['system']}  {run['state']}, {run['outputs']} outputs" for run in runs
    ]
    print_result(args, {"runs": runs}, "\n".join(lines) or "No runs yet.")
    return 0


def _delete_run(args: argparse.Namespace) -> int:
    from core.runs.deletion import contents_of, delete_run
    from core.runs.verbs import find_run

    with open_workspace(args, write=args.yes) as workspace:
        run = find_run(workspace, args.run_id)
        contents = contents_of(workspace, run.id)
        counts = dataclasses.asdict(contents)
        what = ", ".join(f"{number} {name}" for name, number in counts.items())
        if not args.yes:
            raise ConflictError(
                f"With the run {run.id} would go: {what}.", remedy="Say --yes to delete it."
            )
        workspace.transact("Delete run", "", delete_run, run.id)
    print_result(args, {"run": run.id, "deleted": counts}, f"Deleted the run {run.id}: {what}.")
    return 0
