"""Checking the hash chain of the change table and the file under it, and writing the history out.

The chain finds what was removed, altered or put in another order, the end included: where it ends is
kept in a table of its own. It does not find what somebody who has the passphrase rewrote from a point
on to the end, hashes and all; against that, keep the last hash (`chain_heads`) or an exported history
somewhere else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from core.errors import InputError
from core.storage.files import replacing
from core.storage.folding import fold_changes
from core.storage.kinds import KINDS
from core.storage.reads import Reads
from core.storage.taken import is_left_out, taken_packages
from core.storage.transaction import HASHED_COLUMNS, hash_entry

_BATCH = 1_000


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong, in words, and where."""

    message: str
    place: str = ""


@dataclass(frozen=True, slots=True)
class ChainHead:
    """The end of an origin's chain: how many entries it has, and the last one's hash."""

    origin: str
    seq: int
    hash: str


def chain_heads(reads: Reads) -> list[ChainHead]:
    """Where the chain of each origin ends."""
    return [
        ChainHead(row["origin"], row["seq"], row["hash"])
        for row in reads.query("SELECT origin, seq, hash FROM head ORDER BY origin")
    ]


def check_chain(reads: Reads) -> list[Finding]:
    """Every removed, altered or reordered change entry, per origin."""
    findings: list[Finding] = []
    heads = {head.origin: head for head in chain_heads(reads)}
    found = {row["origin"] for row in reads.query("SELECT DISTINCT origin FROM change")}
    for origin in sorted(found | set(heads)):
        findings += _check_origin(reads, origin, heads.get(origin))
    return findings


def _check_origin(reads: Reads, origin: str, head: ChainHead | None) -> Iterator[Finding]:
    previous, expected = "", 1
    for entry in chain_entries(reads, origin):
        place = f"change {entry['seq']} of {origin}"
        if entry["seq"] != expected:
            yield _missing(expected, entry["seq"] - 1, place)
        elif entry["previous"] != previous:
            yield Finding("The change does not follow from the one before it.", place)
        if entry["hash"] != hash_entry(entry):
            yield Finding("The change was altered after it was written.", place)
        previous, expected = entry["hash"], entry["seq"] + 1
    place = f"end of {origin}"
    if head is None:
        yield Finding("Where the history ends was removed.", place)
    elif head.seq >= expected:
        yield _missing(expected, head.seq, place)
    elif (head.seq, head.hash) != (expected - 1, previous):
        yield Finding("The history does not end where it says it does.", place)


def _missing(first: int, last: int, place: str) -> Finding:
    if first == last:
        return Finding(f"Change {first} is missing.", place)
    return Finding(f"Changes {first} to {last} are missing.", place)


def chain_entries(reads: Reads, origin: str, *, after: int = -1) -> Iterator[dict[str, Any]]:
    """An origin's entries behind number ``after``, in order, read some at a time: hashed columns and hash."""
    columns = ", ".join(f'"{column}"' for column in (*HASHED_COLUMNS, "hash"))
    while True:
        rows = reads.query(
            f"SELECT {columns} FROM change WHERE origin = ? AND seq > ? ORDER BY seq LIMIT {_BATCH}",
            (origin, after),
        )
        if not rows:
            return
        yield from rows
        after = rows[-1]["seq"]


def check_rows(reads: Reads) -> list[Finding]:
    """Rows that hold something else than their history says, merged ones included."""
    findings: list[Finding] = []
    for kind in KINDS.values():
        if not kind.logged:
            continue
        last = ""
        while True:
            rows = reads.query(
                f'SELECT * FROM "{kind.name}" WHERE id > ? ORDER BY id LIMIT {_BATCH}', (last,)
            )
            if not rows:
                break
            for row in rows:
                said = replay_row(reads, kind.name, row["id"])
                if said is not None and any(row[column] != said[column] for column in said):
                    findings.append(
                        Finding(
                            f"A {kind.name.replace('_', ' ')} holds something else than its"
                            " history says.",
                            row["id"],
                        )
                    )
            last = rows[-1]["id"]
    return findings


def replay_row(reads: Reads, kind: str, row_id: str) -> dict[str, Any] | None:
    """A row's columns as its history leaves them; None where the history does not tell.

    Of a row that several copies wrote, what the merge makes of it (`core.storage.folding`), without the
    columns of examples that a package may not change.
    """
    entries = reads.query(
        'SELECT kind, tx, "before", "after", time, seq, origin, undoes FROM change'
        " WHERE kind = ? AND row = ? ORDER BY seq",
        (kind, row_id),
    )
    if not entries:
        return None
    if len({entry["origin"] for entry in entries}) > 1:
        return _replay_merged(reads, kind, entries)
    if entries[0]["before"] is not None:
        return None
    columns: dict[str, Any] = {"deleted": 0}
    for entry in entries:
        columns |= msgspec.json.decode(entry["after"])
    return columns


def _replay_merged(reads: Reads, kind: str, entries: list[dict[str, Any]]) -> dict[str, Any] | None:
    taken = taken_packages(reads)

    def heed(entry: Mapping[str, Any]) -> dict[str, Any]:
        made = entry["before"] is None
        if is_left_out(kind, taken.get(entry["origin"]), made=made):
            return {}
        after: dict[str, Any] = msgspec.json.decode(entry["after"])
        return after

    if not any(entry["before"] is None and heed(entry) for entry in entries):
        return None
    columns = fold_changes(entries, heed)
    if kind == "example" and any(entry["origin"] in taken for entry in entries):
        for name in ("output", "meta"):
            columns.pop(name, None)
    return columns


def check_file(reads: Reads, *, encrypted: bool) -> list[Finding]:
    """SQLite's own integrity check, foreign keys, and each page's authentication code."""
    findings = [
        Finding(str(next(iter(row.values()))))
        for row in reads.query("PRAGMA integrity_check(20)")
        if next(iter(row.values())) != "ok"
    ]
    for row in reads.query("PRAGMA foreign_key_check"):
        findings.append(
            Finding(
                f"A {row['table']} refers to a {row['parent']} that is not there.",
                str(row["rowid"]),
            )
        )
    if encrypted:
        findings += [
            Finding(str(next(iter(row.values()))))
            for row in reads.query("PRAGMA cipher_integrity_check")
        ]
    return findings


def export_audit(reads: Reads, path: Path) -> int:
    """Write the whole history as JSON lines, one change a line, then a line a chain with its end.

    The file is not encrypted and holds texts of the workspace. Each line has the columns that are
    hashed, in their order, and the hash: SHA-256 of the JSON array of the columns' values.

    Returns
    -------
    int
        The number of changes.
    """
    heads = {head.origin: head for head in chain_heads(reads)}
    found = {row["origin"] for row in reads.query("SELECT DISTINCT origin FROM change")}
    encoder = msgspec.json.Encoder()
    count = 0
    try:
        with replacing(path) as stream:
            for origin in sorted(found | set(heads)):
                for entry in chain_entries(reads, origin):
                    stream.write(encoder.encode(entry) + b"\n")
                    count += 1
                head = heads.get(origin)
                end = {"origin": origin, "head": head.hash if head else None}
                stream.write(encoder.encode(end) + b"\n")
    except OSError as error:
        raise InputError(
            f"cannot be written: {error.strerror}.", path=path, remedy="Choose another folder."
        ) from error
    return count
