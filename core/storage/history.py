"""What happened to one row: who changed it when, from what to what, and going back to any state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from core.errors import ConflictError, NotFoundError
from core.storage.kinds import KINDS
from core.storage.reads import Reads
from core.storage.taken import is_left_out, merge_order, taken_packages
from core.storage.titles import kind_words, row_name
from core.storage.transaction import Transaction


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One change of a row.

    Parameters
    ----------
    change
        Its id in the change table.
    person
        The person's name; '' where a job or the set-up did it.
    before, after
        The columns that changed, as they are stored: lists and the like as JSON. ``before`` is empty
        for the change that made the row.
    """

    change: str
    time: str
    person: str
    label: str
    before: dict[str, Any]
    after: dict[str, Any]
    made: bool = False


@dataclass(frozen=True, slots=True)
class RowHistory:
    """A row's changes, newest first, and what it is called now."""

    kind: str
    row: str
    name: str
    deleted: bool
    entries: list[HistoryEntry]


def row_history(reads: Reads, kind: str, row_id: str) -> RowHistory:
    """The history of a row, deleted ones included.

    Raises
    ------
    NotFoundError
        When there never was such a row.
    """
    rows = reads.query(f'SELECT * FROM "{KINDS[kind].name}" WHERE id = ?', (row_id,))
    if not rows:
        raise NotFoundError(f"There is no {kind_words(kind)} {row_id} in this workspace.")
    entries = [
        HistoryEntry(
            change=entry["id"],
            time=entry["time"],
            person=entry["name"] or "",
            label=entry["label"],
            before={} if entry["before"] is None else msgspec.json.decode(entry["before"]),
            after={} if entry["after"] is None else msgspec.json.decode(entry["after"]),
            made=entry["before"] is None,
        )
        for entry in reversed(_changes(reads, kind, row_id))
    ]
    return RowHistory(kind, row_id, row_name(rows[0]), bool(rows[0]["deleted"]), entries)


def state_after(reads: Reads, kind: str, row_id: str, change_id: str) -> dict[str, Any]:
    """All columns of a row as they were right after a change, as they are stored.

    Raises
    ------
    NotFoundError
        When the change is not one of the row, or its history does not reach back to its beginning.
    """
    columns: dict[str, Any] = {"deleted": 0}
    complete = found = False
    for entry in _changes(reads, kind, row_id):
        if entry["before"] is None:
            complete = True
        columns |= msgspec.json.decode(entry["after"])
        if entry["id"] == change_id:
            found = True
            break
    if not (found and complete):
        raise NotFoundError(f"The {kind_words(kind)} has no such state in its history.")
    return columns


def restore_row(tx: Transaction, kind: str, row_id: str, change_id: str) -> bool:
    """Put a row back as it was right after a change; undo takes that back like any other deed.

    Returns
    -------
    bool
        False when it was like that already.

    Raises
    ------
    NotFoundError
        When there is no such state.
    ConflictError
        When what the row belonged to then is no longer there.
    """
    wanted = state_after(tx, kind, row_id, change_id)
    table = KINDS[kind].name
    rows = tx.query(f'SELECT * FROM "{table}" WHERE id = ?', (row_id,))
    if not rows:
        raise NotFoundError(f"There is no {kind_words(kind)} {row_id} in this workspace.")
    known = {name: value for name, value in wanted.items() if name in rows[0] and name != "id"}
    after = {name: value for name, value in known.items() if rows[0][name] != value}
    if not after:
        return False
    if not known["deleted"]:
        _refuse_orphan(tx, kind, known)
    tx.write_columns(kind, row_id, {name: rows[0][name] for name in after}, after)
    return True


def _refuse_orphan(tx: Transaction, kind: str, columns: dict[str, Any]) -> None:
    for key in tx.query(f'PRAGMA foreign_key_list("{kind}")'):
        parent = columns.get(key["from"])
        if parent is None or key["table"] not in KINDS:
            continue
        if not tx.query(f'SELECT 1 FROM "{key["table"]}" WHERE id = ? AND deleted = 0', (parent,)):
            raise ConflictError(
                f"The {kind_words(key['table'])} it belonged to then was deleted.",
                remedy=f"Bring back the {kind_words(key['table'])} first.",
            )


def _changes(reads: Reads, kind: str, row_id: str) -> list[dict[str, Any]]:
    """A row's entries in the order they were made; across copies the clock decides."""
    rows = reads.query(
        'SELECT c.id, c.time, c.label, c."before", c."after", c.seq, c.origin, p.name'
        " FROM change c LEFT JOIN person p ON p.id = c.person WHERE c.kind = ? AND c.row = ?"
        " ORDER BY c.seq",
        (kind, row_id),
    )
    if len({row["origin"] for row in rows}) > 1:
        taken = taken_packages(reads)
        rows = [
            row
            for row in rows
            if not is_left_out(kind, taken.get(row["origin"]), made=row["before"] is None)
        ]
        rows.sort(key=merge_order)
    return rows
