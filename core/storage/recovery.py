"""Getting out of a damaged workspace what can be read, into a new file.

Three places may still hold a row: its table, the change table, which has every value it ever had, and
the last good backup. Each is read as far as it goes; the damaged file is never written to.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import sqlcipher3.dbapi2 as sqlcipher
from sqlite_utils import Database

from core.errors import ConflictError, DamagedWorkspaceError, RifugioError
from core.ids import new_id
from core.storage import schema
from core.storage.backups import check_backup, list_backups, open_backup
from core.storage.cipher import Key, inspect_file
from core.storage.connection import fetch_all, open_connection, plain_file_errors
from core.storage.files import companions, put_in_place, remove_with_companions
from core.storage.grafting import graft_schema
from core.storage.kinds import KINDS
from core.storage.titles import kind_words

Row = dict[str, Any]

_BATCH = 200
_LARGEST = 1 << 34

#: Tables written by the schema itself.
_OWN = frozenset({"meta", "_sqlite_migrations", "head", "search_state", "sqlite_sequence"})
#: Tables that SQLite's text search keeps, and makes anew.
_SEARCH = ("_fts", "_fts_data", "_fts_idx", "_fts_docsize", "_fts_config", "_fts_content", "_words")


@dataclass(slots=True)
class Recovered:
    """What came out, in rows a kind.

    Parameters
    ----------
    read
        From the tables.
    rebuilt
        From the history, where the table's own row could not be read.
    from_backup
        From the last good backup, where neither could.
    left_out
        Rows that refer to something that is gone in all three places.
    backup
        The backup that helped; None without one.
    """

    read: dict[str, int] = field(default_factory=dict)
    rebuilt: dict[str, int] = field(default_factory=dict)
    from_backup: dict[str, int] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)
    backup: Path | None = None

    @property
    def words(self) -> str:
        """One sentence."""
        total = sum(
            map(sum, (self.read.values(), self.rebuilt.values(), self.from_backup.values()))
        )
        text = f"{total:,} rows recovered"
        parts = [
            f"{sum(counts.values()):,} {how}"
            for counts, how in (
                (self.rebuilt, "of them from the history"),
                (self.from_backup, "from the last good backup"),
            )
            if counts
        ]
        text += f" ({', '.join(parts)})" if parts else ""
        lost = ", ".join(f"{n:,} {kind_words(k, n)}" for k, n in self.left_out.items())
        return f"{text}; left out: {lost}." if lost else f"{text}."


def recover_workspace(path: Path, target: Path, key: Key | None) -> Recovered:
    """Write what can be read of a damaged workspace to a new one under the same key.

    Raises
    ------
    ConflictError
        When ``target`` is there already.
    DamagedWorkspaceError
        When nothing can be read, not even from a backup.
    """
    if inspect_file(target) != "missing":
        raise ConflictError(f"{target} is there already.", remedy="Choose another name.")
    report = Recovered()
    work = target.with_name(f".{target.name}.reading")
    part = target.with_name(f".{target.name}.part")
    backup = _last_good(path, key)
    try:
        with plain_file_errors(target):
            for leftover in (work, part):
                remove_with_companions(leftover)
            _copy_for_reading(path, work, backup, key)
            _Rebuild(work, part, key, backup, report).run()
            put_in_place(part, target)
    finally:
        remove_with_companions(work)
        remove_with_companions(part)
    return report


def _last_good(path: Path, key: Key | None) -> Path | None:
    for backup in list_backups(path):
        try:
            check_backup(backup.path, key)
        except RifugioError:
            continue
        return backup.path
    return None


def _copy_for_reading(path: Path, work: Path, backup: Path | None, key: Key | None) -> None:
    """A copy to read from; where the list of its tables is broken, another file's stands in for it."""
    shutil.copyfile(path, work)
    log = companions(path)[0]
    if log.exists():
        shutil.copyfile(log, companions(work)[0])
    if backup is not None and not _Source(work, key).readable:
        graft_schema(work, backup, key)
    if not _Source(work, key).readable:
        _graft_from_new(work, key)


def _graft_from_new(work: Path, key: Key | None) -> None:
    """Take the list of tables from a new file, and give it up again where it does not fit."""
    donor = work.with_name(f"{work.name}.new")
    before = work.read_bytes()
    remove_with_companions(donor)
    try:
        db = open_connection(donor, key)
        db.conn.execute("PRAGMA synchronous = OFF")
        schema.migrate(db)
        expected = _list_tables(db)
        db.conn.close()
        graft_schema(work, donor, key)
        # What is left of the file's own list has to agree, or rows would be read as other tables'.
        db = open_connection(work, key)
        try:
            fits = expected <= _list_tables(db)
        except (sqlcipher.Error, MemoryError):
            fits = False
        finally:
            db.conn.close()
        if not fits:
            work.write_bytes(before)
    finally:
        remove_with_companions(donor)


def _list_tables(db: Database) -> set[tuple[str, int]]:
    rows = fetch_all(db, "SELECT name, rootpage FROM sqlite_master")
    return {(row["name"], row["rootpage"]) for row in rows}


class _Source:
    """Reads tables as far as they go. After an error SQLCipher wants a new connection."""

    def __init__(self, path: Path, key: Key | None) -> None:
        self._path = path
        self._key = key
        self._db: Database | None = None

    @property
    def readable(self) -> bool:
        """Whether there is a schema to read by."""
        return bool(self.columns("change"))

    def close(self) -> None:
        if self._db is not None:
            self._db.conn.close()
            self._db = None

    def columns(self, table: str) -> list[str]:
        rows = self._try(f'PRAGMA table_info("{table}")')
        self.close()
        return [row["name"] for row in rows or ()]

    def rows(self, table: str) -> Iterator[Row]:
        """Every row that can be read, in the order of their numbers; broken stretches are stepped over."""
        columns = ", ".join(f'"{name}"' for name in self.columns(table))
        if not columns:
            return

        def read(after: int, limit: int) -> list[Row] | None:
            return self._try(
                f'SELECT rowid AS "_n", {columns} FROM "{table}" WHERE rowid > {after}'
                f" ORDER BY rowid LIMIT {limit}"
            )

        after = -1
        while True:
            batch = read(after, _BATCH)
            if batch is None:
                batch = read(after, 1)
            if batch is None:
                beyond = _first_readable(after, read)
                if beyond is None:
                    return
                after = beyond
                continue
            if not batch:
                return
            for row in batch:
                after = row.pop("_n")
                yield row

    def _try(self, sql: str) -> list[Row] | None:
        try:
            if self._db is None:
                self._db = open_connection(self._path, self._key)
                self._db.conn.execute("PRAGMA query_only = ON")
            return fetch_all(self._db, sql)
        except (sqlcipher.Error, MemoryError, OverflowError, UnicodeDecodeError):
            self.close()
            return None


def _first_readable(after: int, read: Callable[[int, int], list[Row] | None]) -> int | None:
    """The smallest row number behind ``after`` from which reading works again; None for none."""
    low, step = after, 1
    while read(low + step, 1) is None:
        step *= 2
        if step > _LARGEST:
            return None
    high = low + step
    low += step // 2
    while high - low > 1:
        middle = (low + high) // 2
        if read(middle, 1) is None:
            low = middle
        else:
            high = middle
    return high


class _Rebuild:
    """Fills the new file from the three places."""

    def __init__(
        self, work: Path, part: Path, key: Key | None, backup: Path | None, report: Recovered
    ) -> None:
        self._source = _Source(work, key)
        self._backup = open_backup(backup, key) if backup is not None else None
        self._report = report
        self._db = open_connection(part, key)
        self._report.backup = backup

    def run(self) -> None:
        try:
            # Nothing depends on the file before it is whole; it is waited for then.
            self._db.conn.execute("PRAGMA synchronous = OFF")
            schema.migrate(self._db)
            self._db.conn.execute("PRAGMA foreign_keys = OFF")
            self._db.conn.execute("BEGIN IMMEDIATE")
            tables = self._tables()
            for table in tables:
                self._copy_table(table)
            self._rebuild_from_history()
            self._take_from_backup(tables)
            self._drop_orphans(tables)
            self._finish()
            self._db.conn.execute("COMMIT")
            if not any((self._report.read, self._report.rebuilt, self._report.from_backup)):
                raise DamagedWorkspaceError(
                    "Nothing in the file can be read.", remedy="Restore the last good backup."
                )
            self._db.conn.execute("PRAGMA journal_mode = WAL")
            self._db.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            self._source.close()
            self._db.conn.close()
            if self._backup is not None:
                self._backup.conn.close()

    def _tables(self) -> list[str]:
        names = self._db.table_names()
        return [n for n in names if n not in _OWN and not n.endswith(_SEARCH)]

    def _copy_table(self, table: str) -> None:
        count = sum(self._insert(table, row) for row in self._source.rows(table))
        if count and table != "change":
            self._report.read[table] = count

    def _insert(self, table: str, row: Row) -> bool:
        there = {column.name for column in self._db[table].columns}
        known = {name: value for name, value in row.items() if name in there}
        names = ", ".join(f'"{name}"' for name in known)
        marks = ", ".join("?" * len(known))
        try:
            cursor = self._db.conn.execute(
                f'INSERT OR IGNORE INTO "{table}" ({names}) VALUES ({marks})', tuple(known.values())
            )
        except sqlcipher.Error:
            # A value that breaks a rule of the table is not one that was written.
            return False
        return bool(cursor.rowcount == 1)

    def _rebuild_from_history(self) -> None:
        entries = fetch_all(
            self._db,
            'SELECT kind, row, "before", "after", origin, time FROM change ORDER BY time, seq',
        )
        rows: dict[tuple[str, str], Row] = {}
        for entry in entries:
            place = (entry["kind"], entry["row"])
            after = msgspec.json.decode(entry["after"] or "{}")
            if entry["before"] is None:
                stamps = {"origin": entry["origin"], "created": entry["time"]}
                rows[place] = {**after, **stamps, "deleted": 0, "updated": entry["time"]}
            elif place in rows:
                rows[place] |= {**after, "updated": entry["time"]}
        for (kind, _), row in rows.items():
            if kind in KINDS and self._insert(kind, row):
                self._report.rebuilt[kind] = self._report.rebuilt.get(kind, 0) + 1

    def _take_from_backup(self, tables: list[str]) -> None:
        if self._backup is None:
            return
        there = set(self._backup.table_names())
        for table in tables:
            if table not in there:
                continue
            rows = fetch_all(self._backup, f'SELECT * FROM "{table}"')
            count = sum(self._insert(table, row) for row in rows)
            if count and table != "change":
                self._report.from_backup[table] = count

    def _drop_orphans(self, tables: list[str]) -> None:
        while True:
            orphans = fetch_all(self._db, "PRAGMA foreign_key_check")
            if not orphans:
                return
            for orphan in orphans:
                table = orphan["table"]
                cursor = self._db.conn.execute(
                    f'DELETE FROM "{table}" WHERE rowid = ?', (orphan["rowid"],)
                )
                if cursor.rowcount == 1:
                    self._report.left_out[table] = self._report.left_out.get(table, 0) + 1

    def _finish(self) -> None:
        """An origin of its own, where each chain ends, and the search over passages."""
        self._db.conn.execute("INSERT INTO meta VALUES ('origin', ?)", (new_id(),))
        heads = {row["origin"]: row for row in self._source.rows("head")}
        last = fetch_all(
            self._db, "SELECT origin, max(seq) AS seq, hash FROM change GROUP BY origin"
        )
        for row in last:
            # What the damaged file said stays, so that `verify` tells how much is missing.
            if row["origin"] not in heads or heads[row["origin"]]["seq"] < row["seq"]:
                heads[row["origin"]] = row
        for head in heads.values():
            self._insert("head", head)
        if "passage_fts" in self._db.table_names():
            self._db.conn.execute("INSERT INTO passage_fts (passage_fts) VALUES ('rebuild')")
