"""Undo and redo from the change table, so that both survive saving, closing and reopening.

An undo appends the inverse of a transaction's changes as a transaction of its own that names it in
``undoes``; a redo does the same to the undo. Each person has a history of their own. Left out are
transactions of jobs and merges, and what another copy of the workspace wrote. Where a row has changed
since, the undo is refused in words rather than overwriting what came on top.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from core.changes import Outcome
from core.errors import ConflictError, NotFoundError
from core.storage.kinds import KINDS
from core.storage.reads import Reads
from core.storage.references import AMONG, References, pack_ids
from core.storage.transaction import Transaction
from core.storage.workspace import Workspace

#: Kinds made on the way by whoever needs one first; undo leaves one in place that others use.
_SHARED = frozenset({"field"})


@dataclass(frozen=True, slots=True)
class UndoEntry:
    """A transaction that can be undone or redone. ``label`` is what the person had done."""

    transaction: str
    label: str
    time: str
    person: str


def undoable(reads: Reads, person: str) -> UndoEntry | None:
    """What undo would take back: the person's last deed that still stands."""
    undone: set[str] = set()
    for entry in _history(reads, person):
        if entry.id in undone:
            continue
        if _depth(reads, entry.undoes) % 2:
            undone.add(entry.undoes)
        else:
            return _describe(reads, entry)
    return None


def redoable(reads: Reads, person: str) -> UndoEntry | None:
    """What redo would bring back: the last undo with no new deed after it."""
    redone: set[str] = set()
    for entry in _history(reads, person):
        if entry.id in redone:
            continue
        depth = _depth(reads, entry.undoes)
        if depth == 0:
            return None
        if depth % 2:
            return _describe(reads, entry)
        redone.add(entry.undoes)
    return None


def undo(workspace: Workspace, person: str) -> Outcome[UndoEntry]:
    """Take back the person's last deed.

    Raises
    ------
    NotFoundError
        When there is nothing to undo.
    ConflictError
        When something else came on top of it; nothing is changed then.
    """
    entry = undoable(workspace, person)
    if entry is None:
        raise NotFoundError("There is nothing to undo.")
    return _invert(workspace, person, entry, f"Undo: {entry.label}", undoing=True)


def redo(workspace: Workspace, person: str) -> Outcome[UndoEntry]:
    """Bring back what the person last undid; raises as `undo` does."""
    entry = redoable(workspace, person)
    if entry is None:
        raise NotFoundError("There is nothing to redo.")
    return _invert(workspace, person, entry, f"Redo: {entry.label}", undoing=False)


@dataclass(frozen=True, slots=True)
class _Step:
    id: str
    label: str
    undoes: str
    time: str
    person: str


def _history(reads: Reads, person: str) -> Iterator[_Step]:
    """The person's undoable transactions in this copy, newest first, read one by one."""
    origin = reads.value("SELECT value FROM meta WHERE key = 'origin'")
    below = 1 << 62
    while True:
        rows = reads.query(
            "SELECT tx, label, undoes, time, person FROM change"
            " WHERE person = ? AND seq < ? AND origin = ? AND undoable = 1"
            " ORDER BY seq DESC LIMIT 1",
            (person, below, origin),
        )
        if not rows:
            return
        row = rows[0]
        yield _Step(row["tx"], row["label"], row["undoes"], row["time"], row["person"])
        below = reads.value(
            "SELECT min(seq) FROM change WHERE tx = ? AND origin = ?", (row["tx"], origin)
        )


def _depth(reads: Reads, undoes: str) -> int:
    """0 for a deed, 1 for its undo, 2 for the redo of that, and so on."""
    depth = 0
    while undoes:
        depth += 1
        undoes = reads.value("SELECT undoes FROM change WHERE tx = ? LIMIT 1", (undoes,)) or ""
    return depth


def _describe(reads: Reads, step: _Step) -> UndoEntry:
    """The entry under the label of the deed at the bottom of the chain."""
    label, undoes = step.label, step.undoes
    while undoes:
        rows = reads.query("SELECT label, undoes FROM change WHERE tx = ? LIMIT 1", (undoes,))
        if not rows:
            break
        label, undoes = rows[0]["label"], rows[0]["undoes"]
    return UndoEntry(step.id, label, step.time, step.person)


def _invert(
    workspace: Workspace, person: str, entry: UndoEntry, label: str, *, undoing: bool
) -> Outcome[UndoEntry]:
    def invert_changes(tx: Transaction) -> UndoEntry:
        top = undoable(tx, person) if undoing else redoable(tx, person)
        if top is None or top.transaction != entry.transaction:
            raise ConflictError(
                f"'{entry.label}' is no longer the last thing you did.", remedy="Try again."
            )
        changes = tx.query(
            "SELECT seq, kind, row, before, after FROM change WHERE tx = ? ORDER BY seq DESC",
            (entry.transaction,),
        )
        _refuse_if_changed_since(tx, entry, changes)
        references = References(tx)
        touched = []
        for change in changes:
            before, after = _inverse(change)
            shared = change["kind"] in _SHARED and "deleted" in after
            if shared and _leave(tx, references, change, after):
                continue
            tx.write_columns(change["kind"], change["row"], before, after)
            touched.append((change["kind"], change["row"]))
        _refuse_if_torn(tx, references, entry, touched)
        return entry

    return workspace.run_transaction(label, person, invert_changes, undoes=entry.transaction)


def _leave(
    tx: Transaction, references: References, change: Mapping[str, Any], after: Mapping[str, Any]
) -> bool:
    """Whether a shared row stays as it is: others use it, or it is already as it shall be."""
    kind, row = change["kind"], change["row"]
    if after["deleted"] and any(references.count_users(kind, [row])):
        return True
    return _is_deleted(tx, kind, row) == bool(after["deleted"])


def _is_deleted(tx: Transaction, kind: str, row: str) -> bool:
    return bool(tx.value(f'SELECT deleted FROM "{KINDS[kind].name}" WHERE id = ?', (row,)))


def _inverse(change: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    if change["before"] is None:
        return {"deleted": 0}, {"deleted": 1}
    return msgspec.json.decode(change["after"]), msgspec.json.decode(change["before"])


def _refuse_if_changed_since(
    tx: Transaction, entry: UndoEntry, changes: list[dict[str, Any]]
) -> None:
    """Compare each row with what the transaction left, column by column."""
    left: dict[tuple[str, str], dict[str, Any]] = {}
    newest: dict[tuple[str, str], int] = {}
    for change in reversed(changes):
        after = msgspec.json.decode(change["after"])
        if change["before"] is None:
            after = {"deleted": 0, **after}
        key = (change["kind"], change["row"])
        left.setdefault(key, {}).update(after)
        newest[key] = change["seq"]
    for (kind, row), columns in left.items():
        if kind in _SHARED:
            # It comes and goes with whoever needs it; that is nobody's change to it.
            columns.pop("deleted", None)
        if not columns:
            continue
        names = ", ".join(f'"{column}"' for column in columns)
        found = tx.query(f'SELECT {names} FROM "{KINDS[kind].name}" WHERE id = ?', (row,))
        if not found or found[0] != columns:
            raise _changed_since(tx, entry, kind, row, newest[kind, row])


def _changed_since(
    tx: Transaction, entry: UndoEntry, kind: str, row: str, seq: int
) -> ConflictError:
    later = tx.query(
        "SELECT c.label, p.name FROM change c LEFT JOIN person p ON p.id = c.person"
        " WHERE c.kind = ? AND c.row = ? AND (c.seq > ? OR c.origin != ?)"
        " ORDER BY c.time DESC, c.seq DESC LIMIT 1",
        (kind, row, seq, tx.origin),
    )
    what = f"the {kind.replace('_', ' ')}"
    if later:
        who = later[0]["name"] or "somebody"
        how = f"{what} was changed afterwards by {who} ('{later[0]['label']}')"
    else:
        how = f"{what} was changed afterwards"
    return ConflictError(
        f"'{entry.label}' cannot be taken back or brought back: {how}.",
        remedy="Change it by hand; the history shows what it was.",
    )


def _refuse_if_torn(
    tx: Transaction, references: References, entry: UndoEntry, touched: list[tuple[str, str]]
) -> None:
    """Refuse to leave a live row that refers to a deleted one."""
    by_kind: dict[str, dict[str, None]] = {}
    for kind, row in touched:
        by_kind.setdefault(kind, {})[row] = None
    for kind, rows in by_kind.items():
        gone = [
            each["id"]
            for each in tx.query(
                f'SELECT id FROM "{KINDS[kind].name}" WHERE deleted = 1 AND id IN {AMONG}',
                (pack_ids(rows),),
            )
        ]
        for _row, name, count in references.count_users(kind, gone):
            raise ConflictError(
                f"'{entry.label}' cannot be taken back: the {kind.replace('_', ' ')} is in"
                f" use by {count} {name.replace('_', ' ')}{'' if count == 1 else 's'} added since.",
                remedy="Delete those first.",
            )
    for kind, rows in by_kind.items():
        for parent, row in references.lost_parents(kind, list(rows)):
            if parent in _SHARED:
                tx.write_columns(parent, row, {"deleted": 1}, {"deleted": 0})
                continue
            raise ConflictError(
                f"'{entry.label}' cannot be taken back or brought back: the"
                f" {parent.replace('_', ' ')} it belongs to was deleted since.",
                remedy=f"Bring back the {parent.replace('_', ' ')} first.",
            )
