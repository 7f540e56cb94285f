"""Checking the hash chain of the change table, and the file under it."""

from __future__ import annotations

from dataclasses import dataclass

from core.storage.reads import Reads
from core.storage.transaction import HASHED_COLUMNS, hash_entry


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong, in words, and where."""

    message: str
    place: str = ""


def check_chain(reads: Reads) -> list[Finding]:
    """Every removed, altered or reordered change entry, per origin."""
    findings: list[Finding] = []
    columns = ", ".join(f'"{column}"' for column in (*HASHED_COLUMNS, "hash"))
    origins = [row["origin"] for row in reads.query("SELECT DISTINCT origin FROM change")]
    for origin in origins:
        previous, expected = "", 1
        entries = reads.query(
            f"SELECT {columns} FROM change WHERE origin = ? ORDER BY seq", (origin,)
        )
        for entry in entries:
            place = f"change {entry['seq']} of {origin}"
            if entry["seq"] != expected:
                findings.append(
                    Finding(f"Changes {expected} to {entry['seq'] - 1} are missing.", place)
                )
            elif entry["previous"] != previous:
                findings.append(
                    Finding("The change does not follow from the one before it.", place)
                )
            if entry["hash"] != hash_entry(entry):
                findings.append(Finding("The change was altered after it was written.", place))
            previous, expected = entry["hash"], entry["seq"] + 1
    return findings


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
