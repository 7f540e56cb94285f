"""Putting a backup in the place of a workspace, after showing what that would change."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from sqlite_utils import Database

from core.errors import ConflictError, NewerWorkspaceError, WorkspaceError
from core.ids import new_id, now
from core.storage import schema
from core.storage.backups import check_backup, new_backup_path, open_backup
from core.storage.cipher import Key, inspect_file
from core.storage.connection import (
    fetch_all,
    open_connection,
    plain_errors,
    plain_file_errors,
    refuse_network_share,
)
from core.storage.copying import copy_database
from core.storage.files import companions, put_in_place, remove_with_companions, sync_folder
from core.storage.kinds import KINDS
from core.storage.lock import WriterLock
from core.storage.titles import name_columns, row_name
from core.storage.workspace import SUFFIX, Workspace

#: What becomes of a row: it is not in the backup, it comes back, or it becomes what it was.
Fate = Literal["goes", "comes back", "changes back"]
FATES: tuple[Fate, ...] = ("goes", "comes back", "changes back")

_NAMED = 200


@dataclass(frozen=True, slots=True)
class RowChange:
    """A row that a restore would change."""

    kind: str
    id: str
    name: str
    fate: Fate


@dataclass(frozen=True, slots=True)
class Preview:
    """What a restore would change.

    Parameters
    ----------
    counts
        Rows per kind and fate; kinds without any are left out.
    rows
        The first of them by name.
    held
        How many rows of each kind the backup holds.
    compared
        False where there was no readable workspace to compare with.
    """

    counts: dict[str, dict[Fate, int]]
    rows: list[RowChange]
    held: dict[str, int]
    compared: bool = True


def preview_restore(workspace: Workspace | None, backup: Path, key: Key | None) -> Preview:
    """Compare a backup with the workspace, row by row; nothing is changed.

    Parameters
    ----------
    workspace
        The workspace as it is now; None where it can't be opened.
    key
        The backup's key; None for a plain one.

    Raises
    ------
    WrongPassphraseError, DamagedWorkspaceError, NotAWorkspaceError
    """
    check_backup(backup, key)
    db = open_backup(backup, key)
    try:
        with plain_errors(backup):
            _refuse_newer(backup, db)
            held = {
                kind: fetch_all(db, f'SELECT count(*) AS n FROM "{kind}" WHERE deleted = 0')[0]["n"]
                for kind in _kinds(db)
            }
            held = {kind: count for kind, count in held.items() if count}
            if workspace is None:
                return Preview({}, [], held, compared=False)
            with workspace.reader() as present:
                return _compare(present, db, held)
    finally:
        db.conn.close()


def restore_backup(
    backup: Path, target: Path, key: Key | None, *, lock: WriterLock | None = None
) -> Path | None:
    """Put a copy of a backup in the place of a workspace that is closed, or where there is none.

    What was there is kept: as a backup of its own where it is sound and has the same key, else under
    a name that says 'before restore', its log beside it. The restored workspace goes on as a copy of
    its own, so that what colleagues got from the one before is not taken for its own.

    Parameters
    ----------
    lock
        The writer's lock of ``target`` where the caller holds it.

    Returns
    -------
    Path or None
        Where what was there is kept; None when there was nothing.
    """
    check_backup(backup, key)
    refuse_network_share(target.parent)
    held = lock or WriterLock(target)
    copy = target.with_name(f".{target.name}.restoring")
    try:
        with plain_file_errors(target):
            remove_with_companions(copy)
            shutil.copyfile(backup, copy)
            if os.name == "posix":
                copy.chmod(0o600)
            _prepare(copy, key)
            kept = _keep_present(target, key)
            # A log of the old file beside the new one would be taken for its own.
            for leftover in companions(target):
                leftover.unlink(missing_ok=True)
            sync_folder(target.parent)
            put_in_place(copy, target)
            return kept
    finally:
        with plain_file_errors(copy):
            remove_with_companions(copy)
        if lock is None:
            held.release()


def restore_to_new_file(backup: Path, target: Path, key: Key | None) -> None:
    """Make a workspace of a backup under a name that is free.

    Raises
    ------
    ConflictError
        When there is a file already.
    """
    if inspect_file(target) != "missing":
        raise ConflictError(
            f"{target} is there already.",
            remedy="Choose another name, or restore over it in the window.",
        )
    restore_backup(backup, target, key)


def _prepare(copy: Path, key: Key | None) -> None:
    """Bring the copy up to date, give it an origin of its own, and check that it opens."""
    db = open_connection(copy, key)
    try:
        _refuse_newer(copy, db)
        # It is waited for as a whole before it takes the file's place.
        db.conn.execute("PRAGMA synchronous = OFF")
        schema.migrate(db)
        db.conn.execute("UPDATE meta SET value = ? WHERE key = 'origin'", (new_id(),))
        db.conn.execute("PRAGMA journal_mode = WAL")
        db.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        db.conn.close()
    check_backup(copy, key)


def _refuse_newer(path: Path, db: Database) -> None:
    if schema.unknown_names(db):
        raise NewerWorkspaceError(
            f"{path.name} was written by a later version of Rifugio.",
            remedy="Update Rifugio on this machine first. Nothing was changed.",
        )


def _keep_present(target: Path, key: Key | None) -> Path | None:
    """Keep what is there: as a backup where it opens, else as it is."""
    if not target.exists():
        return None
    try:
        with plain_errors(target):
            db = open_connection(target, key)
            try:
                answers = fetch_all(db, "PRAGMA quick_check(1)")
                if [next(iter(row.values())) for row in answers] != ["ok"]:
                    raise WorkspaceError("damaged")
                kept = new_backup_path(target, db, "before-restore")
                copy_database(db, kept, key)
            finally:
                db.conn.close()
        return kept
    except Exception:
        # Whatever is wrong with it, somebody may still get something out of it.
        stamp = now()[:19].replace(":", "")
        kept = target.with_name(f"{target.stem} before restore {stamp}{SUFFIX}")
        for old, new in zip(
            (target, companions(target)[0]), (kept, companions(kept)[0]), strict=True
        ):
            if old.exists():
                shutil.copyfile(old, new)
                if os.name == "posix":
                    new.chmod(0o600)
        return kept


def _kinds(db: Database) -> list[str]:
    tables = set(db.table_names())
    return [kind.name for kind in KINDS.values() if kind.logged and kind.name in tables]


def _compare(present: Database, backup: Database, held: dict[str, int]) -> Preview:
    counts: dict[str, dict[Fate, int]] = {}
    rows: list[RowChange] = []
    for kind in dict.fromkeys((*_kinds(present), *_kinds(backup))):
        ours, theirs = _states(present, kind), _states(backup, kind)
        fates: dict[Fate, list[str]] = {fate: [] for fate in FATES}
        for row_id in sorted(ours.keys() | theirs.keys()):
            here, there = ours.get(row_id), theirs.get(row_id)
            if here == there:
                continue
            here_live = here is not None and not here[0]
            there_live = there is not None and not there[0]
            if here_live and there_live:
                fates["changes back"].append(row_id)
            elif here_live:
                fates["goes"].append(row_id)
            elif there_live:
                fates["comes back"].append(row_id)
        found = {fate: len(ids) for fate, ids in fates.items() if ids}
        if found:
            counts[kind] = found
        for fate, ids in fates.items():
            room = max(0, _NAMED - len(rows))
            names = _names(present if fate == "goes" else backup, kind, ids[:room])
            rows += [RowChange(kind, i, names.get(i, ""), fate) for i in ids[:room]]
    return Preview(counts, rows, held)


def _states(db: Database, kind: str) -> dict[str, tuple[int, int, str]]:
    if kind not in db.table_names():
        return {}
    return {
        row[0]: (row[1], row[2], row[3])
        for row in db.conn.execute(f'SELECT id, deleted, revision, updated FROM "{kind}"')
    }


def _names(db: Database, kind: str, ids: Iterable[str]) -> dict[str, str]:
    wanted = list(ids)
    columns = name_columns(kind)
    if not wanted or not columns or kind not in db.table_names():
        return {}
    there = {column.name for column in db[kind].columns}
    selected = ", ".join(f'"{column}"' for column in columns if column in there)
    marks = ", ".join("?" * len(wanted))
    found: list[dict[str, Any]] = fetch_all(
        db, f'SELECT id, {selected} FROM "{kind}" WHERE id IN ({marks})', wanted
    )
    return {row["id"]: row_name(row) for row in found}
