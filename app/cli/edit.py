"""The verb edit: the editing benchmark on the data sets in a workspace, with the copy baseline."""

from __future__ import annotations

import argparse
from typing import Any

from app.cli.common import (
    ProgressLine,
    add_common,
    cancel_on_interrupt,
    open_workspace,
    print_result,
)
from core.errors import UsageError
from core.storage import Workspace


def add_parsers(verbs: Any) -> None:
    """edit."""
    edit = verbs.add_parser("edit", help="EditEval-style editing run")
    add_common(edit, workspace=True)
    edit.add_argument("--system", metavar="S", help="a system; without one the copy baseline alone")
    edit.add_argument(
        "--tasks", nargs="*", default=[], metavar="T", help="of the seven tasks; all by default"
    )
    edit.add_argument(
        "--prompts", default="all", metavar="P", help="all, first, or numbers such as 1,3"
    )
    edit.add_argument("--limit", type=int, default=0, metavar="N", help="examples a data set")
    edit.add_argument("--normalisation", default="none", choices=("none", "editeval"))
    edit.add_argument("--resume", action="store_true", help="go on with unfinished editing runs")
    edit.set_defaults(run=_edit)


def _edit(args: argparse.Namespace) -> int:
    from core.editing_bench.bench import add_bench_runs, add_copy_baseline, score_bench_run
    from core.runs.verbs import find_system

    tasks = [part for text in args.tasks for part in text.split(",") if part]
    with open_workspace(args) as workspace, cancel_on_interrupt() as cancel:
        copies = workspace.transact_job(
            "Copy baseline", "", add_copy_baseline, tasks, limit=args.limit
        ).value
        if not copies:
            raise UsageError(
                "There is nothing to edit in this workspace.",
                remedy="Import a data set first: rifugio import WS FILE --as edits.",
            )
        for run in copies:
            score_bench_run(workspace, run.id, normalisation=args.normalisation, cancel=cancel)
        finished = True
        if args.system:
            system = find_system(workspace, args.system)
            if args.resume:
                runs = _unfinished(workspace, system.id)
            else:
                runs = [
                    run.id
                    for run in workspace.transact_job(
                        "Start editing runs",
                        "",
                        add_bench_runs,
                        system.id,
                        tasks,
                        prompts=args.prompts,
                        limit=args.limit,
                    ).value
                ]
            finished = _execute(workspace, system.model_id, runs, args.normalisation, cancel)
        value = bench_summary(workspace)
    print_result(args, value, _text(value))
    return 0 if finished else 1


def _unfinished(workspace: Workspace, system_id: str) -> list[str]:
    """Editing runs with pending outputs, or written and not yet scored."""
    rows = workspace.query(
        "SELECT r.id FROM run r WHERE r.system_id = ? AND r.deleted = 0"
        " AND json_extract(r.signature, '$.bench') = 'editeval'"
        " AND (EXISTS (SELECT 1 FROM output o WHERE o.run_id = r.id AND o.state = 'pending'"
        " AND o.deleted = 0) OR NOT EXISTS (SELECT 1 FROM run_score s WHERE s.run_id = r.id"
        " AND s.deleted = 0)) ORDER BY r.id",
        (system_id,),
    )
    return [row["id"] for row in rows]


def _execute(
    workspace: Workspace, model_id: str, run_ids: list[str], normalisation: str, cancel: Any
) -> bool:
    """Write and score each run; False where it was stopped."""
    from app import services
    from core.editing_bench.bench import score_bench_run
    from core.runs.engine import execute_run
    from core.types import Run

    generator = services.generator(model_id)
    try:
        for number, run_id in enumerate(run_ids, 1):
            signature = workspace.get(Run, run_id).signature
            words = (
                f"{number} of {len(run_ids)}, {signature['dataset']}: {signature['instruction']}"
            )
            job = execute_run(
                workspace,
                run_id,
                generator,
                progress=ProgressLine(words, "texts"),
                cancel=cancel,
            )
            if job.state != "done":
                return False
            score_bench_run(workspace, run_id, normalisation=normalisation, cancel=cancel)
    finally:
        generator.close()
    return True


def bench_summary(workspace: Workspace) -> dict[str, Any]:
    """The benchmark's tables, for JSON."""
    from core.editing_bench.results import bench_tables

    return {
        "tables": [
            {
                "dataset": row.dataset,
                "task": row.task,
                "metric": row.metric,
                "main": row.main,
                "system": row.system,
                "average": row.mean,
                "maximum": row.highest,
                "minimum": row.lowest,
                "variation": row.variation,
                "copy": row.copy,
                "published": row.published.score if row.published else None,
                "signature": row.signature,
                "prompts": [
                    {
                        "number": prompt.number,
                        "instruction": prompt.instruction,
                        "value": prompt.value,
                        "n": prompt.n,
                        "missing": prompt.missing,
                        **({"unscored": prompt.unscored} if prompt.unscored else {}),
                    }
                    for prompt in row.prompts
                ],
            }
            for row in bench_tables(workspace)
        ]
    }


def _text(value: dict[str, Any]) -> str:
    lines = []
    for row in value["tables"]:
        if not row["main"]:
            continue
        mean = "unscored" if row["average"] is None else f"{row['average']:.4f}"
        line = f"{row['dataset']}  {row['metric']}  {row['system']}  {mean}"
        if len(row["prompts"]) > 1 and row["average"] is not None:
            line += f" [{row['minimum']:.4f}, {row['maximum']:.4f}]"
            if row["variation"] is not None:
                line += f", variation {row['variation']:.3f}"
        if row["published"] is not None:
            line += f"  (supervised, published: {row['published']} of 100)"
        lines.append(line)
    return "\n".join(lines) or "Nothing is scored yet."
