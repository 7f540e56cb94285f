"""Verbs on workspaces and who works in them: new, info, verify, persons."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from app.cli.common import (
    add_common,
    add_passphrase,
    open_workspace,
    print_result,
    read_new_secret,
)
from core.people import add_person
from core.storage import Workspace
from core.storage.audit import chain_heads, check_chain, check_file, check_rows
from core.storage.cipher import make_key_file
from core.storage.kinds import KINDS
from core.types import ROLES, Person, Run, System, Task


def add_parsers(verbs: Any) -> None:
    """new, info, verify, persons."""
    new = verbs.add_parser("new", help="make a workspace")
    new.add_argument("workspace", metavar="WS", type=Path)
    new.add_argument(
        "--no-passphrase", action="store_true", help="plain file that anybody with it can read"
    )
    add_passphrase(new)
    add_common(new)
    new.set_defaults(run=_new)

    info = verbs.add_parser("info", help="count what is in a workspace")
    add_common(info, workspace=True)
    info.set_defaults(run=_info)

    verify = verbs.add_parser("verify", help="check the file, its references and its history")
    add_common(verify, workspace=True)
    verify.set_defaults(run=_verify)

    persons = verbs.add_parser("persons", help="who works in a workspace")
    actions = persons.add_subparsers(dest="action", required=True)
    add = actions.add_parser("add", help="add a person")
    add_common(add, workspace=True)
    add.add_argument("name")
    add.add_argument("--role", choices=ROLES, default="expert")
    add.set_defaults(run=_add_person)
    listing = actions.add_parser("list", help="list the persons")
    add_common(listing, workspace=True)
    listing.set_defaults(run=_list_persons)


def _new(args: argparse.Namespace) -> int:
    if args.no_passphrase:
        passphrase = None
    else:
        passphrase = read_new_secret(args.passphrase_file, args.passphrase_fd, "New passphrase: ")
    key_file: Path | None = None if args.no_passphrase else args.key_file
    if key_file is not None and not key_file.exists():
        make_key_file(key_file)
    with Workspace.create(args.workspace, passphrase, key_file=key_file) as workspace:
        encrypted = workspace.encrypted
        schema = workspace.schema_version
    print_result(
        args,
        {"workspace": str(args.workspace), "encrypted": encrypted, "schema": schema},
        f"Made {args.workspace}, "
        + ("encrypted." if encrypted else "NOT encrypted: anybody with the file can read it."),
    )
    return 0


def _info(args: argparse.Namespace) -> int:
    with open_workspace(args, write=False) as workspace:
        counts = {name: workspace.count(kind.type) for name, kind in KINDS.items()}
        tasks = [{"id": t.id, "objective": t.objective} for t in workspace.find(Task)]
        names = {system.id: system.name for system in workspace.find(System)}
        runs = [
            {"id": run.id, "system": names[run.system_id], "started": run.started}
            for run in workspace.find(Run)
        ]
        value = {
            "workspace": str(args.workspace),
            "encrypted": workspace.encrypted,
            "schema": workspace.schema_version,
            "origin": workspace.origin,
            "counts": counts,
            "changes": workspace.value("SELECT count(*) FROM change"),
            "tasks": tasks,
            "runs": runs,
        }
    state = "encrypted" if value["encrypted"] else "NOT encrypted"
    lines = [f"{args.workspace}: {state}, schema {value['schema']}, {value['changes']} changes."]
    lines += [f"  {name.replace('_', ' ')}: {count}" for name, count in counts.items() if count]
    lines += [f"  task {task['id']}  {task['objective']}" for task in tasks]
    lines += [f"  run {run['id']}  {run['system']}  {run['started']}" for run in runs]
    print_result(args, value, "\n".join(lines))
    return 0


def _verify(args: argparse.Namespace) -> int:
    with open_workspace(args, write=False) as workspace:
        findings = check_file(workspace, encrypted=workspace.encrypted)
        findings += check_chain(workspace) + check_rows(workspace)
        heads = chain_heads(workspace)
        changes = workspace.value("SELECT count(*) FROM change")
    value = {
        "workspace": str(args.workspace),
        "ok": not findings,
        "changes": changes,
        "heads": [{"origin": h.origin, "changes": h.seq, "hash": h.hash} for h in heads],
        "findings": [{"message": f.message, "place": f.place} for f in findings],
    }
    text = f"{args.workspace}: sound; {changes} changes in an unbroken chain."
    if findings:
        text = "\n".join(f"{f.place}: {f.message}" if f.place else f.message for f in findings)
    print_result(args, value, text)
    if findings:
        print(
            f"rifugio: {len(findings)} problems found in {args.workspace}. Restore a backup.",
            file=sys.stderr,
        )
    return 1 if findings else 0


def _add_person(args: argparse.Namespace) -> int:
    with open_workspace(args) as workspace:
        person = workspace.transact("Add person", "", add_person, args.name, args.role).value
    print_result(
        args,
        {"id": person.id, "name": person.name, "role": person.role},
        f"Added {person.name} ({person.role}), {person.id}.",
    )
    return 0


def _list_persons(args: argparse.Namespace) -> int:
    with open_workspace(args, write=False) as workspace:
        persons = workspace.find(Person, order_by="name")
    value = {"persons": [{"id": p.id, "name": p.name, "role": p.role} for p in persons]}
    text = "\n".join(f"{p.name} ({p.role})  {p.id}" for p in persons) or "Nobody yet."
    print_result(args, value, text)
    return 0
