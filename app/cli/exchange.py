"""Verbs that bring things into a workspace and out again: import, export."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.cli import rubrics
from app.cli.common import add_common, open_workspace, print_result
from core.errors import NotFoundError, UsageError

if TYPE_CHECKING:
    from core.storage import Workspace

_KINDS = "documents, tasks, examples, outputs, rubrics, checklists, graphs, edits, ratings or preferences"


def add_parsers(verbs: Any) -> None:
    """import, export."""
    importing = verbs.add_parser("import", help=f"import {_KINDS}")
    add_common(importing, workspace=True)
    importing.add_argument("files", nargs="+", metavar="FILE", type=Path)
    importing.add_argument("--as", dest="kind", required=True, metavar="KIND", help=_KINDS)
    importing.add_argument(
        "--format", default="auto", metavar="F", help="auto, or the name of a published format"
    )
    importing.add_argument(
        "--map",
        default="",
        metavar="a=b,...",
        help="names in the file to ours, as note=output.Note",
    )
    task = importing.add_mutually_exclusive_group()
    task.add_argument(
        "--task",
        default="",
        metavar="T",
        help="the task of records that name none: id or objective",
    )
    task.add_argument(
        "--new-task",
        default="",
        metavar="OBJECTIVE",
        help="make this task and put the examples of a file into it",
    )
    importing.set_defaults(run=_import)

    exporting = verbs.add_parser("export", help=f"write {_KINDS}")
    add_common(exporting, workspace=True)
    exporting.add_argument("--what", required=True, metavar="KIND")
    exporting.add_argument(
        "--format",
        default="",
        metavar="F",
        help="jsonl (csv for ratings and preferences), predictions, inspect or lm-eval",
    )
    exporting.add_argument("--out", required=True, type=Path, metavar="FILE")
    exporting.set_defaults(run=_export)


def _import(args: argparse.Namespace) -> int:
    if args.kind == "documents":
        from app.cli.documents import import_documents_command

        return import_documents_command(args)
    if rubrics.takes_rubrics(args.kind, args.files):
        return rubrics.import_rubrics_command(args)
    if args.kind == "edits":
        return _import_edits(args)
    if args.kind == "graphs":
        return _import_graphs(args)
    from core.exchange.imports import import_into_new_task, import_records, read_import
    from core.exchange.records import parse_map

    mapping = parse_map(args.map)
    objective = args.new_task.strip()
    if objective and args.kind != "examples":
        raise UsageError(
            "Only examples can be imported into a new task.", remedy="Leave out --new-task."
        )
    # All files are read before anything is written, so that a bad name changes nothing.
    read = [
        (path, read_import(path, args.kind, format=args.format, mapping=mapping)[0])
        for path in args.files
    ]
    files: list[dict[str, Any]] = []
    with open_workspace(args) as workspace:
        if args.task:
            _check_task(workspace, args.task)
        for path, found in read:
            label = f"Import {path.name}"
            if objective and path == args.files[0]:
                report = workspace.transact(
                    label, "", import_into_new_task, path.name, found, objective
                ).value
            else:
                report = workspace.transact(
                    label,
                    "",
                    import_records,
                    path.name,
                    args.kind,
                    found,
                    task=args.task or objective,
                ).value
            files.append(_file(path, report.added, report.skipped))
    return _tell(args, files)


def _check_task(workspace: Workspace, task: str) -> None:
    """Say once that a task is not there, instead of for every record."""
    from core.tasks.verbs import find_task

    try:
        find_task(workspace, task)
    except NotFoundError as error:
        raise NotFoundError(
            error.message, remedy=f"{error.remedy} --new-task makes one of the examples' sections."
        ) from None


def _import_edits(args: argparse.Namespace) -> int:
    from core.editing_bench.bench import import_edits
    from core.editing_bench.formats import UNVERIFIED, read_edits

    read = [(path, read_edits(path, args.format)) for path in args.files]
    files: list[dict[str, Any]] = []
    with open_workspace(args) as workspace:
        for path, found in read:
            count, skipped = workspace.transact(
                f"Import {path.name}", "", import_edits, found
            ).value
            entry = _file(path, {"edit": count} if count else {}, skipped)
            files.append({**entry, "format": found.format})
            if found.format in UNVERIFIED:
                print(
                    f"{path}: read by the published description of {found.format}, which was not "
                    "checked against a published file.",
                    file=sys.stderr,
                )
    return _tell(args, files)


def _import_graphs(args: argparse.Namespace) -> int:
    from core.graphs.formats import read_graphs
    from core.graphs.imports import import_graphs

    read = [(path, *read_graphs(path, format=args.format)[:2]) for path in args.files]
    files: list[dict[str, Any]] = []
    with open_workspace(args) as workspace:
        for path, drafts, skipped in read:
            report = workspace.transact(
                f"Import {path.name}", "", import_graphs, path.name, drafts, skipped
            ).value
            count = len(report.added)
            told = _file(path, {"graph": count} if count else {}, report.skipped)
            for entry in report.aside:
                print(f"{path}, line {entry.line}: {entry.reason}", file=sys.stderr)
            told["aside"] = [{"line": e.line, "reason": e.reason} for e in report.aside]
            files.append(told)
    return _tell(args, files)


def _file(path: Path, added: dict[str, int], skipped: Any) -> dict[str, Any]:
    """What became of one file; what was left out is told on standard error."""
    for entry in skipped:
        print(f"{path}, line {entry.line}: skipped, {entry.reason}", file=sys.stderr)
    return {
        "file": str(path),
        "added": added,
        "skipped": [{"line": entry.line, "reason": entry.reason} for entry in skipped],
    }


def _tell(args: argparse.Namespace, files: list[dict[str, Any]]) -> int:
    lines = []
    for entry in files:
        added = ", ".join(
            f"{count} {kind}" + ("" if count == 1 else "s")
            for kind, count in entry["added"].items()
        )
        lines.append(
            f"{entry['file']}: added {added or 'nothing'}; skipped {len(entry['skipped'])}."
        )
    print_result(args, {"files": files}, "\n".join(lines))
    return 0 if any(entry["added"] for entry in files) else 1


def _export(args: argparse.Namespace) -> int:
    if args.what == "checklists":
        return rubrics.export_checklists_command(args)
    from core.exchange.exports import export_data

    with open_workspace(args, write=False) as workspace:
        count = export_data(workspace, args.what, args.out, args.format)
    print_result(
        args,
        {"file": str(args.out), "what": args.what, "count": count},
        f"Wrote {count} {args.what} to {args.out}, not encrypted.",
    )
    return 0
