"""Backups: encrypted copies beside the workspace, made by themselves, thinned with age, capped in size.

They lie in the folder ``<name> backups`` beside the workspace, under the workspace's own key. A name
says when and why it was made, how many changes it holds and how the last one's hash begins::

    20260301T093000Z-hourly-1042-9f3ab2c1.rifugio

so that a list of them needs no passphrase, and a backup of what has been backed up is not made again.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal, get_args

from sqlite_utils import Database

from core.errors import (
    DamagedWorkspaceError,
    NotAWorkspaceError,
    NotFoundError,
    WrongPassphraseError,
)
from core.storage.cipher import Key, check_key, inspect_file, read_salt
from core.storage.connection import fetch_all, open_connection, plain_errors, plain_file_errors
from core.storage.copying import copy_database
from core.storage.workspace import SUFFIX, Workspace

#: Why a backup was made. Those before something big are kept longer than their turn.
Reason = Literal[
    "open", "hourly", "manual", "before-update", "before-merge", "before-restore", "before-rekey"
]

#: Reasons in words.
REASON_WORDS: dict[Reason, str] = {
    "open": "on opening",
    "hourly": "while working",
    "manual": "by hand",
    "before-update": "before an update of the file",
    "before-merge": "before a merge",
    "before-restore": "before a restore",
    "before-rekey": "before a change of passphrase",
}

EVERY = timedelta(hours=1)
#: Names are kept in order by seconds, so that the newest may be dated a little ahead.
_AHEAD = timedelta(minutes=1)
SIZE_LIMIT = 2_000_000_000
_HOURLY_FOR = timedelta(hours=24)
_DAILY_FOR = timedelta(days=14)
_WEEKLY_FOR = timedelta(weeks=26)
_SPECIAL_FOR = timedelta(days=30)
_ALWAYS_KEPT = 2
_STAMP = "%Y%m%dT%H%M%SZ"
_NAME = re.compile(
    rf"(?P<stamp>\d{{8}}T\d{{6}}Z)-(?P<reason>{'|'.join(get_args(Reason))})"
    rf"-(?P<changes>\d+)-(?P<head>[0-9a-f]{{8}}){re.escape(SUFFIX)}"
)


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup file, as its name describes it. ``head`` is the start of the last change's hash."""

    path: Path
    made: datetime
    reason: Reason
    changes: int
    head: str
    size: int


def backup_folder(workspace: Path) -> Path:
    """Where a workspace's backups lie."""
    return workspace.with_name(f"{workspace.stem} backups")


def list_backups(workspace: Path) -> list[Backup]:
    """A workspace's backups, newest first; the workspace itself need not be there any more."""
    folder = backup_folder(workspace)
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return []
    found = []
    for entry in entries:
        match = _NAME.fullmatch(entry.name)
        if match is None:
            continue
        try:
            size = entry.stat().st_size
            made = datetime.strptime(match["stamp"], _STAMP).replace(tzinfo=UTC)
        except (OSError, ValueError):
            continue
        reason: Reason = match["reason"]  # type: ignore[assignment]
        found.append(
            Backup(folder / entry.name, made, reason, int(match["changes"]), match["head"], size)
        )
    return sorted(found, key=lambda backup: (backup.made, backup.path.name), reverse=True)


def back_up(workspace: Workspace, reason: Reason = "manual") -> Backup:
    """Make a backup now and check it, while work goes on; older ones are thinned.

    Raises
    ------
    DiskFullError, ReadOnlyWorkspaceError
        No half backup is left then.
    DamagedWorkspaceError
        When what was written does not read back; it is removed.
    """
    # A key of its own: the workspace may be closed, and its key wiped, meanwhile.
    key = None if workspace.key is None else workspace.key.copy()
    target: Path | None = None
    try:
        with workspace.reader() as db:
            target = new_backup_path(workspace.path, db, reason)
            copy_database(db, target, key)
        check_backup(target, key)
    except DamagedWorkspaceError:
        if target is not None:
            target.unlink(missing_ok=True)
        raise
    finally:
        if key is not None:
            key.wipe()
    thin_backups(workspace.path)
    return next(b for b in list_backups(workspace.path) if b.path == target)


def back_up_if_due(workspace: Workspace, reason: Reason) -> Backup | None:
    """Make a backup unless the newest one holds the same, or is less than an hour old; None then.

    A newest one from the future means that the clock was set back, and counts as an old one.
    """
    newest = next(iter(list_backups(workspace.path)), None)
    if newest is not None:
        age = datetime.now(UTC) - newest.made
        if -_AHEAD <= age < EVERY and reason in ("open", "hourly"):
            return None
        with workspace.reader() as db:
            if _state(db) == (newest.changes, newest.head):
                return None
    elif workspace.value("SELECT count(*) FROM change") == 0:
        return None
    return back_up(workspace, reason)


def new_backup_path(workspace: Path, db: Database, reason: Reason) -> Path:
    """A name for a backup made now; makes the folder where needed."""
    folder = backup_folder(workspace)
    with plain_file_errors(folder):
        folder.mkdir(mode=0o700, exist_ok=True)
    newest = next(iter(list_backups(workspace)), None)
    made = datetime.now(UTC).replace(microsecond=0)
    if newest is not None:
        # Names keep their order whatever the clock does.
        made = max(made, newest.made + timedelta(seconds=1))
    changes, head = _state(db)
    return folder / f"{made.strftime(_STAMP)}-{reason}-{changes}-{head}{SUFFIX}"


def _state(db: Database) -> tuple[int, str]:
    """How many changes a workspace holds, and how the hash of its own last one begins."""
    if "head" not in db.table_names():
        return fetch_all(db, "SELECT count(*) AS n FROM change")[0]["n"], "0" * 8
    row = fetch_all(
        db,
        "SELECT (SELECT coalesce(sum(seq), 0) FROM head) AS changes, (SELECT hash FROM head"
        " WHERE origin = (SELECT value FROM meta WHERE key = 'origin')) AS hash",
    )[0]
    return row["changes"], (row["hash"] or "0" * 8)[:8]


def open_backup(backup: Path, key: Key | None) -> Database:
    """A connection to a backup that changes nothing, not even beside it; the caller closes it.

    Raises
    ------
    NotFoundError, NotAWorkspaceError, WrongPassphraseError, DamagedWorkspaceError
    """
    shape = inspect_file(backup)
    if shape == "missing":
        raise NotFoundError(f"There is no backup {backup}.", remedy="Choose another.")
    if shape == "empty":
        raise NotAWorkspaceError(f"{backup.name} is empty.", remedy="Choose an earlier backup.")
    if (shape == "encrypted") != (key is not None) or (
        key is not None and read_salt(backup) != key.salt
    ):
        raise WrongPassphraseError(
            f"The backup {backup.name} was made under another passphrase.",
            remedy="Type the passphrase the workspace had then.",
        )
    return open_connection(backup, key, read_only=True, still=True)


def check_backup(backup: Path, key: Key | None) -> None:
    """Read a backup through: every page's authentication code, and SQLite's own check.

    Raises
    ------
    WrongPassphraseError, NotAWorkspaceError, DamagedWorkspaceError
    """
    db = open_backup(backup, key)
    try:
        damaged = DamagedWorkspaceError(
            f"The backup {backup.name} is damaged.", remedy="Choose an earlier one."
        )
        if key is not None:
            answer = check_key(backup, key, pages=None)
            if answer == "wrong":
                raise WrongPassphraseError(
                    f"The passphrase does not open the backup {backup.name}.",
                    remedy="It may have been made under an earlier passphrase, or its beginning is "
                    "damaged.",
                )
            if answer == "damaged":
                raise damaged
        with plain_errors(backup):
            tables = set(db.table_names())
            answers = [next(iter(row.values())) for row in fetch_all(db, "PRAGMA quick_check(1)")]
        if answers != ["ok"]:
            raise damaged
        if "meta" not in tables or "change" not in tables:
            raise NotAWorkspaceError(
                f"{backup.name} is a database, but no backup of a workspace.",
                remedy="Choose another file.",
            )
    finally:
        db.conn.close()


def thin_backups(
    workspace: Path, *, limit: int = SIZE_LIMIT, now: datetime | None = None
) -> list[Backup]:
    """Remove the backups whose turn is over; returns those removed."""
    backups = list_backups(workspace)
    kept = choose_kept(backups, limit=limit, now=now or datetime.now(UTC))
    removed = [backup for backup in backups if backup not in kept]
    _remove_unfinished(backup_folder(workspace))
    for backup in removed:
        backup.path.unlink(missing_ok=True)
    return removed


def _remove_unfinished(folder: Path) -> None:
    """Remove what was being written when the machine stopped, an hour ago or more."""
    for part in folder.glob(".*.part*"):
        try:
            if datetime.now(UTC).timestamp() - part.stat().st_mtime > EVERY.total_seconds():
                part.unlink()
        except OSError:
            continue


def choose_kept(
    backups: Sequence[Backup], *, limit: int = SIZE_LIMIT, now: datetime
) -> list[Backup]:
    """Which backups stay, newest first.

    The newest of each hour for a day, of each day for two weeks, of each week for half a year; those
    before something big for thirty days; the newest two always. Beyond ``limit`` bytes in all the
    oldest go.
    """
    ordered = sorted(backups, key=lambda backup: backup.made, reverse=True)
    if ordered:
        now = max(now, ordered[0].made)
    in_turn = _in_turn(ordered, now)
    kept = [backup for backup in ordered if backup in in_turn]
    total = 0
    for place, backup in enumerate(kept):
        total += backup.size
        if total > limit and place >= _ALWAYS_KEPT:
            return kept[:place]
    return kept


def _in_turn(ordered: Iterable[Backup], now: datetime) -> set[Backup]:
    kept: set[Backup] = set()
    taken: set[tuple[str, str]] = set()
    for place, backup in enumerate(ordered):
        age = now - backup.made
        turn = None
        if age < _HOURLY_FOR:
            turn = ("hour", backup.made.strftime("%Y%m%d%H"))
        elif age < _DAILY_FOR:
            turn = ("day", backup.made.strftime("%Y%m%d"))
        elif age < _WEEKLY_FOR:
            turn = ("week", backup.made.strftime("%G%V"))
        special = backup.reason.startswith("before-") or backup.reason == "manual"
        if turn is not None and turn not in taken:
            taken.add(turn)
            kept.add(backup)
        elif (special and age < _SPECIAL_FOR) or place < _ALWAYS_KEPT:
            kept.add(backup)
    return kept
