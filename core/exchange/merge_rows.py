"""Letting a row be what all the entries of its history make of it, and telling what that changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from core.errors import InputError
from core.exchange.merge_report import Change, Conflict, MergeReport
from core.exchange.privacy import is_private_meta
from core.storage.folding import Heed, standing_changes
from core.storage.kinds import KINDS, decode_row
from core.storage.reads import Reads
from core.storage.taken import is_left_out, merge_order
from core.storage.titles import kind_words, row_name
from core.storage.transaction import Transaction


def settle_row(
    tx: Transaction,
    kind: str,
    row: str,
    new: Sequence[Mapping[str, Any]],
    known: Mapping[str, int],
    taken: Mapping[str, str],
    report: MergeReport,
) -> None:
    """Let a row be what all its entries make of it.

    Raises
    ------
    InputError
        When an entry holds what no row of its kind can.
    """
    if kind not in KINDS or not KINDS[kind].logged:
        raise _unreadable(kind, row)
    found = tx.query(f'SELECT * FROM "{KINDS[kind].name}" WHERE id = ?', (row,))
    current = found[0] if found else None
    heed = _heeding(kind, current, taken)
    if not any(heed(entry) for entry in new):
        report.left_out[kind] = report.left_out.get(kind, 0) + 1
        return
    entries = tx.query(
        'SELECT kind, row, tx, "before", "after", time, seq, origin, person, undoes FROM change'
        " WHERE kind = ? AND row = ?",
        (kind, row),
    )
    entries.sort(key=merge_order)
    changes = list(standing_changes(entries, heed))
    columns: dict[str, Any] = {}
    for _entry, after in changes:
        columns |= after
    if current is None:
        if entries[0]["before"] is not None:
            report.left_out[kind] = report.left_out.get(kind, 0) + 1
            return
        _refuse_unreadable(kind, row, columns)
        _insert(tx, kind, columns, entries)
        _count(report.added if not columns["deleted"] else report.removed, kind)
        return
    differing = {name: value for name, value in columns.items() if current[name] != value}
    _note_conflicts(tx, kind, row, current, changes, known, new, report)
    if not differing:
        return
    _refuse_unreadable(kind, row, {**current, **columns})
    names = ", ".join(f'"{name}" = ?' for name in differing)
    tx.execute_unlogged(
        f'UPDATE "{kind}" SET {names}, revision = ?, updated = ? WHERE id = ?',
        (*differing.values(), len(entries), max(e["time"] for e in entries), row),
    )
    tx.touch(KINDS[kind].type, row)
    gone = differing.get("deleted") == 1
    _count(report.removed if gone else report.changed, kind)


def _heeding(kind: str, current: Mapping[str, Any] | None, taken: Mapping[str, str]) -> Heed:
    """What of an entry counts for a row: of a package, not more than it was made for."""
    private = False
    if kind == "example" and current is not None:
        private = is_private_meta(current["split"], msgspec.json.decode(current["meta"]))

    def heed(entry: Mapping[str, Any]) -> dict[str, Any]:
        package = taken.get(entry["origin"])
        if is_left_out(kind, package, made=entry["before"] is None):
            return {}
        after = _decode(entry)
        if package is not None and private:
            # A private reference is not in a package, so nothing there can be an edit of it.
            for name in ("output", "meta"):
                after.pop(name, None)
        return after

    return heed


def _decode(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The columns an entry sets; names of none but its kind's, since they become part of a statement."""
    kind = entry["kind"]
    try:
        after = msgspec.json.decode(entry["after"], type=dict[str, Any])
    except (msgspec.MsgspecError, TypeError) as error:
        raise _unreadable(kind, entry["row"]) from error
    moved = entry["before"] is None and after.get("id") != entry["row"]
    nested = any(isinstance(value, dict | list) for value in after.values())
    if moved or nested or not after.keys() <= {*KINDS[kind].columns, "deleted"}:
        raise _unreadable(kind, entry["row"])
    return after


def _refuse_unreadable(kind: str, row: str, columns: Mapping[str, Any]) -> None:
    """What could be written but not read again would spoil the workspace."""
    try:
        decode_row(KINDS[kind].type, columns)
    except (msgspec.MsgspecError, KeyError, TypeError, ValueError) as error:
        raise _unreadable(kind, row) from error


def _unreadable(kind: str, row: str) -> InputError:
    return InputError(
        f"A change of the {kind_words(kind)} {row} in the other file cannot be read.",
        remedy="Ask for the file again, made by the same version of Rifugio; nothing was taken over.",
    )


def _insert(
    tx: Transaction, kind: str, columns: Mapping[str, Any], entries: Sequence[Mapping[str, Any]]
) -> None:
    first = entries[0]
    row = {
        **columns,
        "origin": first["origin"],
        "revision": len(entries),
        "created": first["time"],
        "updated": max(entry["time"] for entry in entries),
    }
    tx.insert_unlogged(kind, row)
    tx.touch(KINDS[kind].type, str(columns["id"]))


def _count(counts: dict[str, int], kind: str) -> None:
    counts[kind] = counts.get(kind, 0) + 1


def _note_conflicts(
    tx: Reads,
    kind: str,
    row: str,
    current: Mapping[str, Any],
    changes: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]],
    known: Mapping[str, int],
    new: Sequence[Mapping[str, Any]],
    report: MergeReport,
) -> None:
    """Columns set here that nobody there had seen, and set there to something else."""
    fresh = {(entry["origin"], entry["seq"]) for entry in new}
    ours: dict[str, tuple[Any, Mapping[str, Any]]] = {}
    theirs: dict[str, tuple[Any, Mapping[str, Any]]] = {}
    for entry, after in changes:
        is_new = (entry["origin"], entry["seq"]) in fresh
        unseen = entry["seq"] > known.get(entry["origin"], 0)
        if is_new or unseen:
            side = theirs if is_new else ours
            side.update({name: (value, entry) for name, value in after.items()})
    for column in sorted(ours.keys() & theirs.keys()):
        (mine, our_entry), (other, their_entry) = ours[column], theirs[column]
        if mine != other:
            report.conflicts.append(
                Conflict(
                    kind,
                    row,
                    row_name(current) or kind_words(kind),
                    column,
                    Change(person_name(tx, our_entry["person"]), our_entry["time"]),
                    Change(person_name(tx, their_entry["person"]), their_entry["time"]),
                    merge_order(their_entry) > merge_order(our_entry),
                )
            )


def person_name(tx: Reads, person: str) -> str:
    return str(tx.value("SELECT name FROM person WHERE id = ?", (person,)) or "")
