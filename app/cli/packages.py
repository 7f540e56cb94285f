"""Verbs that give work to others and take it back: pack, merge."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from app.cli.common import add_common, open_workspace, print_result, read_new_secret, read_secret
from core.errors import NotFoundError, UsageError
from core.exchange.merge_report import MergeReport
from core.exchange.merging import merge, preview_merge
from core.exchange.packing import pack_everything, pack_reviews
from core.people import find_person
from core.review.verbs import refill_queue
from core.storage import Workspace
from core.storage.cipher import inspect_file
from core.storage.titles import kind_words

_FLAG = "package-passphrase"


def add_parsers(verbs: Any) -> None:
    """pack, merge."""
    pack = verbs.add_parser("pack", help="make an encrypted package of what a person is to review")
    add_common(pack, workspace=True)
    pack.add_argument("--for", dest="person", metavar="PERSON", required=True)
    pack.add_argument("--out", metavar="F", type=Path, required=True, help="the package file")
    pack.add_argument(
        "--everything", action="store_true", help="all there is, for somebody who works along"
    )
    pack.add_argument("--names", action="store_true", help="do not hide which system wrote what")
    _add_secret(pack)
    pack.set_defaults(run=_pack)

    merged = verbs.add_parser(
        "merge", help="take over what was done in a package or another copy of the workspace"
    )
    add_common(merged, workspace=True)
    merged.add_argument("other", metavar="F", type=Path, help="the package, or the other workspace")
    merged.add_argument("--preview", action="store_true", help="only say what it would change")
    _add_secret(merged)
    merged.set_defaults(run=_merge)


def _add_secret(parser: argparse.ArgumentParser) -> None:
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--package-passphrase-file", metavar="F", type=Path)
    group.add_argument("--package-passphrase-fd", metavar="N", type=int)


def _pack(args: argparse.Namespace) -> int:
    if args.everything and args.names:
        raise UsageError(
            "--names goes with a package of reviews.",
            remedy="Everything holds the names of systems anyway.",
        )
    with open_workspace(args, write=False) as workspace:
        person = find_person(workspace, args.person)
        passphrase = read_new_secret(
            args.package_passphrase_file,
            args.package_passphrase_fd,
            f"Passphrase of the package for {person.name}: ",
            flag=_FLAG,
        )
        if args.everything:
            packed = pack_everything(workspace, args.out, passphrase, person)
        else:
            if not workspace.read_only:
                refill_queue(workspace, person.id)
            packed = pack_reviews(
                workspace, args.out, passphrase, person, hide_names=not args.names
            )
    value = {
        "package": str(packed.path),
        "for": person.name,
        "kind": packed.kind,
        "hides_names": packed.hides_names,
        "counts": dict(packed.counts),
    }
    shown = ", ".join(f"{n} {kind_words(kind, n)}" for kind, n in packed.counts.items())
    hidden = "; it does not hold which system wrote what" if packed.hides_names else ""
    text = (
        f"Packed {shown} for {person.name} into {packed.path}{hidden}.\n"
        "Send the file and its passphrase by different ways; what comes back is for 'rifugio merge'."
    )
    print_result(args, value, text)
    return 0


def _merge(args: argparse.Namespace) -> int:
    state = inspect_file(args.other)
    if state == "missing":
        raise NotFoundError(f"There is no file {args.other}.", remedy="Check its name.")
    passphrase = None
    if state == "encrypted":
        passphrase = read_secret(
            args.package_passphrase_file,
            args.package_passphrase_fd,
            f"Passphrase of {args.other.name}: ",
            flag=_FLAG,
        )
    with (
        open_workspace(args) as workspace,
        Workspace.open(args.other, passphrase, read_only=True) as other,
    ):
        take = preview_merge if args.preview else merge
        report = take(workspace, other, "")
    value = {
        "merged": not args.preview and report.entries > 0,
        "entries": report.entries,
        "people": report.people,
        "added": report.added,
        "changed": report.changed,
        "removed": report.removed,
        "left_out": report.left_out,
        "settled": report.settled,
        "conflicts": [asdict(conflict) for conflict in report.conflicts],
    }
    print_result(args, value, _describe(report, preview=args.preview))
    if report.conflicts:
        print(
            f"rifugio: {len(report.conflicts)} columns were changed on both sides; the later change"
            " stands, the other is in the history.",
            file=sys.stderr,
        )
    return 0


def _describe(report: MergeReport, *, preview: bool) -> str:
    if not report.entries:
        return "Everything in it is here already."
    lines = [f"{'Would take' if preview else 'Took'} over {report.entries:,} changes."]
    lines += [f"  by {name or 'jobs'}: {count:,}" for name, count in report.people.items()]
    for word, counts in (
        ("added", report.added),
        ("changed", report.changed),
        ("removed", report.removed),
        ("left out", report.left_out),
    ):
        if counts:
            shown = ", ".join(f"{n:,} {kind_words(kind, n)}" for kind, n in counts.items())
            lines.append(f"  {word}: {shown}")
    if report.settled:
        lines.append(f"  {report.settled:,} gave way to a later twin")
    for conflict in report.conflicts:
        stands = conflict.theirs if conflict.theirs_stands else conflict.ours
        lines.append(
            f"  changed on both sides: {conflict.name} ({conflict.column}); what"
            f" {stands.person or 'a job'} wrote at {stands.time} stands"
        )
    return "\n".join(lines)
