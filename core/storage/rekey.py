"""Changing a workspace's passphrase and key file: on a copy that then takes the file's place.

Rekeying in place would break every other connection, and a power cut in the middle of it the file.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from sqlite_utils import Database

from core.errors import DamagedWorkspaceError
from core.storage.backups import back_up, check_backup, list_backups
from core.storage.cipher import Key
from core.storage.connection import fetch_all, open_connection, plain_file_errors
from core.storage.files import put_in_place, remove_with_companions
from core.storage.opening import new_key, refuse_weak
from core.storage.workspace import Workspace


def change_key(
    workspace: Workspace,
    passphrase: str | None,
    *,
    key_file: Path | None = None,
    on_closed: Callable[[], None] = lambda: None,
) -> Workspace:
    """Re-encrypt a workspace under a new passphrase and key file, or under none at all.

    Backups made before keep the old passphrase; `remove_older_backups` takes them away.

    Parameters
    ----------
    workspace
        Open for writing; it is closed in any case.
    passphrase
        The new one; None makes the file plain.
    on_closed
        Called when the old file is closed, so that a caller can say so.

    Returns
    -------
    Workspace
        The same file, open again. When something goes wrong before the copy takes its place, the
        error is raised with the old file as it was.
    """
    refuse_weak(passphrase)
    key = new_key(passphrase, key_file)
    path = workspace.path
    back_up(workspace, "before-rekey")
    copy = path.with_name(f".{path.name}.rekeying")
    try:
        with plain_file_errors(path):
            remove_with_companions(copy)
            # On the writer's thread, so that nothing is written that the copy lacks.
            lock = workspace.finish_with(lambda db: _export(db, copy, key))
        on_closed()
        try:
            with plain_file_errors(path):
                check_backup(copy, key)
                put_in_place(copy, path)
        except BaseException:
            if lock is not None:
                lock.release()
            raise
    except BaseException:
        workspace.close()
        raise
    finally:
        remove_with_companions(copy)
    return Workspace.open_with_key(path, key, lock=lock)


def remove_older_backups(workspace: Workspace) -> int:
    """Remove the backups that the present key does not open; returns how many."""
    removed = 0
    for backup in list_backups(workspace.path):
        if not opens(backup.path, workspace.key):
            backup.path.unlink(missing_ok=True)
            removed += 1
    return removed


def opens(path: Path, key: Key | None) -> bool:
    """Whether a file was made under this key, from its salt alone."""
    from core.storage.cipher import inspect_file, read_salt

    if inspect_file(path) == "plain":
        return key is None
    return key is not None and read_salt(path) == key.salt


def _export(db: Database, copy: Path, key: Key | None) -> None:
    """Write everything into a new file under another key."""
    # Made first, so that it is never there with wider permissions.
    os.close(os.open(copy, os.O_CREAT | os.O_RDWR, 0o600))
    literal = "" if key is None else key.pragma
    db.conn.execute(f'ATTACH DATABASE ? AS copy KEY "{literal}"', (str(copy),))
    try:
        # Nothing depends on the copy before it is whole; it is waited for then.
        db.conn.execute("PRAGMA copy.synchronous = OFF")
        db.conn.execute("PRAGMA copy.journal_mode = MEMORY")
        db.conn.execute("SELECT sqlcipher_export('copy')").fetchone()
        for pragma in ("user_version", "application_id"):
            value = fetch_all(db, f"PRAGMA main.{pragma}")[0][pragma]
            db.conn.execute(f"PRAGMA copy.{pragma} = {int(value)}")
        tables = fetch_all(
            db, "SELECT name FROM main.sqlite_master WHERE type = 'table' AND rootpage > 0"
        )
        for table in (row["name"] for row in tables):
            counts = [
                fetch_all(db, f'SELECT count(*) AS n FROM {schema}."{table}"')[0]["n"]
                for schema in ("main", "copy")
            ]
            if counts[0] != counts[1]:
                raise DamagedWorkspaceError(
                    f"The copy of {copy.name} under the new passphrase is not whole.",
                    remedy="Nothing was changed. Check the disk, then try again.",
                )
    finally:
        db.conn.execute("DETACH DATABASE copy")
    check = open_connection(copy, key)
    try:
        check.conn.execute("PRAGMA journal_mode = WAL")
        check.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        check.conn.close()
