"""A running transaction: every write goes through here, and leaves its entry in the change table.

Each entry carries the hash of the one before it of the same origin, so that a removed, altered or
reordered entry can be found (`core.storage.audit`).
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

import msgspec
from sqlite_utils import Database

from core.changes import Changes
from core.errors import BugError, ConflictError, NotFoundError
from core.ids import new_id, now
from core.storage.connection import fetch_all
from core.storage.kinds import KINDS, Kind, encode_column, encode_row, kind_of
from core.storage.reads import Parameters, Reads

T = TypeVar("T")

#: The order in which an entry's columns are hashed.
HASHED_COLUMNS = [
    "id",
    "tx",
    "seq",
    "time",
    "person",
    "verb",
    "label",
    "kind",
    "row",
    "before",
    "after",
    "undoable",
    "undoes",
    "origin",
    "previous",
]


def hash_entry(entry: Mapping[str, Any]) -> str:
    """SHA-256 of a change entry's columns, in the order of `HASHED_COLUMNS`."""
    return hashlib.sha256(msgspec.json.encode([entry[c] for c in HASHED_COLUMNS])).hexdigest()


class Transaction(Reads):
    """Handed to a verb by `Workspace.transact`; unusable once the verb has returned."""

    def __init__(
        self,
        db: Database,
        *,
        origin: str,
        label: str,
        verb: str,
        person: str,
        undoable: bool = True,
        undoes: str = "",
    ) -> None:
        self.id = new_id()
        self.label = label
        self.person = person
        self.time = now()
        self._db = db
        self._origin = origin
        self._verb = verb
        self._undoable = undoable
        self._undoes = undoes
        self._touched: dict[str, set[str]] = {}
        self._tail: tuple[int, str] | None = None

    @property
    def origin(self) -> str:
        """The id of this copy of the workspace, written into each row made here."""
        return self._origin

    @property
    def changes(self) -> Changes:
        """What was touched so far."""
        ids = {kind: frozenset(rows) for kind, rows in self._touched.items()}
        return Changes(self.id, self.label, ids)

    def query(self, sql: str, parameters: Parameters = ()) -> list[dict[str, Any]]:
        return fetch_all(self._db, sql, parameters)

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """A part that is written as a whole or not at all, while the transaction goes on.

        An error inside takes back the part's rows and its entries in the history, and is raised again.
        Savepoints may stand inside each other.
        """
        tail = self._tail
        touched = {kind: set(rows) for kind, rows in self._touched.items()}
        self._db.conn.execute("SAVEPOINT part")
        try:
            yield
        except BaseException:
            self._db.conn.execute("ROLLBACK TO part")
            self._db.conn.execute("RELEASE part")
            self._tail, self._touched = tail, touched
            raise
        self._db.conn.execute("RELEASE part")

    def insert(self, value: T) -> T:
        """Add a new row and return its value.

        Raises
        ------
        ConflictError
            When the id is taken.
        """
        kind = kind_of(type(value))
        row = encode_row(value)
        if kind.logged:
            if self.query(f'SELECT 1 FROM "{kind.name}" WHERE id = ?', (row["id"],)):
                name = kind.name.replace("_", " ")
                raise ConflictError(
                    f"There is already {'an' if name[0] in 'aeio' else 'a'} {name} with the id {row['id']}.",
                    remedy="Leave the id out, or map it to another name, to get a new one.",
                )
            self._log(kind, row["id"], None, row)
            row |= {"origin": self._origin, "created": self.time, "updated": self.time}
        self._insert_row(kind, row)
        self._touch(kind, row["id"])
        return value

    def update(self, type_: type[T], row_id: str, **fields: Any) -> T:
        """Change some fields of a row and return its new value; fields already so are left alone."""
        kind = kind_of(type_)
        old = self.get(type_, row_id)
        new = dataclasses.replace(old, **fields)  # type: ignore[type-var]
        before: dict[str, Any] = {}
        after: dict[str, Any] = {}
        for column in fields:
            was = encode_column(kind, column, getattr(old, column))
            will = encode_column(kind, column, getattr(new, column))
            if was != will:
                before[column], after[column] = was, will
        if after:
            self._write(kind, row_id, before, after)
        return new

    def delete(self, type_: type, row_id: str) -> None:
        """Leave a tombstone in the place of a row."""
        kind = kind_of(type_)
        self.get(type_, row_id)
        if not kind.logged:
            raise BugError(f"A {kind.name} cannot be deleted this way.")
        self._write(kind, row_id, {"deleted": 0}, {"deleted": 1})

    def write_columns(
        self, kind_name: str, row_id: str, before: dict[str, Any], after: dict[str, Any]
    ) -> None:
        """Set raw columns of a row and log it, as undo, redo and merge do."""
        self._write(KINDS[kind_name], row_id, before, after)

    def execute_unlogged(self, sql: str, parameters: Parameters = ()) -> None:
        """Write to tables of this machine alone (jobs, half-written text), which have no history."""
        self._db.conn.execute(sql, parameters)

    def insert_unlogged(self, kind_name: str, row: Mapping[str, Any]) -> None:
        """Write a raw row whose history is elsewhere: taken over by a merge, or left behind by a package."""
        self._insert_row(KINDS[kind_name], row)

    def touch(self, type_: type, row_id: str) -> None:
        """Tell views about a row whose unlogged state changed."""
        self._touch(kind_of(type_), row_id)

    def _insert_row(self, kind: Kind, row: Mapping[str, Any]) -> None:
        names = ", ".join(f'"{column}"' for column in row)
        marks = ", ".join("?" * len(row))
        self._db.conn.execute(
            f'INSERT INTO "{kind.name}" ({names}) VALUES ({marks})', tuple(row.values())
        )

    def _write(
        self, kind: Kind, row_id: str, before: dict[str, Any], after: dict[str, Any]
    ) -> None:
        columns = dict(after)
        assignments = [f'"{column}" = ?' for column in columns]
        parameters: list[Any] = list(columns.values())
        if kind.logged:
            self._log(kind, row_id, before, after)
            assignments += ["revision = revision + 1", "updated = ?"]
            parameters.append(self.time)
        cursor = self._db.conn.execute(
            f'UPDATE "{kind.name}" SET {", ".join(assignments)} WHERE id = ?', (*parameters, row_id)
        )
        if cursor.rowcount != 1:
            raise NotFoundError(f"There is no {kind.name.replace('_', ' ')} {row_id} to change.")
        self._touch(kind, row_id)

    def _touch(self, kind: Kind, row_id: str) -> None:
        self._touched.setdefault(kind.name, set()).add(row_id)

    def _log(
        self,
        kind: Kind,
        row_id: str,
        before: Mapping[str, Any] | None,
        after: Mapping[str, Any] | None,
    ) -> None:
        seq, previous = self._tail or self._read_tail()
        entry: dict[str, Any] = {
            "id": new_id(),
            "tx": self.id,
            "seq": seq + 1,
            "time": self.time,
            "person": self.person,
            "verb": self._verb,
            "label": self.label,
            "kind": kind.name,
            "row": row_id,
            "before": None if before is None else msgspec.json.encode(before).decode(),
            "after": None if after is None else msgspec.json.encode(after).decode(),
            "undoable": int(self._undoable),
            "undoes": self._undoes,
            "origin": self._origin,
            "previous": previous,
        }
        entry["hash"] = hash_entry(entry)
        names = ", ".join(f'"{column}"' for column in entry)
        marks = ", ".join("?" * len(entry))
        self._db.conn.execute(
            f"INSERT INTO change ({names}) VALUES ({marks})", tuple(entry.values())
        )
        self._tail = (seq + 1, entry["hash"])

    def write_head(self) -> None:
        """Put down where the chain ends now; `Workspace` calls it before the commit."""
        if self._tail is not None:
            self.set_head(self._origin, *self._tail)

    def set_head(self, origin: str, seq: int, entry_hash: str) -> None:
        """Put down the last entry of an origin's chain; a merge does so for what it took over."""
        self._db.conn.execute(
            "INSERT OR REPLACE INTO head (origin, seq, hash) VALUES (?, ?, ?)",
            (origin, seq, entry_hash),
        )

    def _read_tail(self) -> tuple[int, str]:
        # From the head rather than the last entry: where entries were cut off, going on from what
        # is left would hide it.
        rows = self.query("SELECT seq, hash FROM head WHERE origin = ?", (self._origin,))
        return (rows[0]["seq"], rows[0]["hash"]) if rows else (0, "")
