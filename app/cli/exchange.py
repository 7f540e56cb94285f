"""Verbs that bring things into a workspace and out again: import, export."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from app.cli.common import add_common, open_workspace, print_result


def add_parsers(verbs: Any) -> None:
    """import, export."""
    importing = verbs.add_parser("import", help="import tasks, examples, outputs or rubrics")
    add_common(importing, workspace=True)
    importing.add_argument("files", nargs="+", metavar="FILE", type=Path)
    importing.add_argument("--as", dest="kind", required=True, metavar="KIND")
    importing.add_argument("--format", default="auto", metavar="F")
    importing.add_argument(
        "--map",
        default="",
        metavar="a=b,...",
        help="names in the file to ours, as note=output.Note",
    )
    importing.add_argument("--task", default="", help="the task of records that name none")
    importing.set_defaults(run=_import)

    exporting = verbs.add_parser("export", help="write tasks, examples, outputs or rubrics")
    add_common(exporting, workspace=True)
    exporting.add_argument("--what", required=True, metavar="KIND")
    exporting.add_argument("--format", default="jsonl", choices=("jsonl",))
    exporting.add_argument("--out", required=True, type=Path, metavar="FILE")
    exporting.set_defaults(run=_export)


def _import(args: argparse.Namespace) -> int:
    if args.kind == "documents":
        from app.cli.documents import import_documents_command

        return import_documents_command(args)
    from core.exchange.imports import import_records, read_import
    from core.exchange.records import parse_map

    mapping = parse_map(args.map)
    # All files are read before anything is written, so that a bad name changes nothing.
    read = [
        (path, read_import(path, args.kind, format=args.format, mapping=mapping)[0])
        for path in args.files
    ]
    files: list[dict[str, Any]] = []
    with open_workspace(args) as workspace:
        for path, found in read:
            report = workspace.transact(
                f"Import {path.name}",
                "",
                import_records,
                path.name,
                args.kind,
                found,
                task=args.task,
            ).value
            files.append(
                {
                    "file": str(path),
                    "added": report.added,
                    "skipped": [{"line": s.line, "reason": s.reason} for s in report.skipped],
                }
            )
            for skipped in report.skipped:
                print(f"{path}, line {skipped.line}: skipped, {skipped.reason}", file=sys.stderr)
    lines = []
    for entry in files:
        added = ", ".join(f"{count} {kind}" for kind, count in entry["added"].items()) or "nothing"
        lines.append(f"{entry['file']}: added {added}; skipped {len(entry['skipped'])}.")
    print_result(args, {"files": files}, "\n".join(lines))
    return 0 if any(entry["added"] for entry in files) else 1


def _export(args: argparse.Namespace) -> int:
    from core.exchange.exports import export_jsonl

    with open_workspace(args, write=False) as workspace:
        count = export_jsonl(workspace, args.what, args.out)
    print_result(
        args,
        {"file": str(args.out), "what": args.what, "count": count},
        f"Wrote {count} {args.what} to {args.out}, not encrypted.",
    )
    return 0
