"""Copying an open database to a new file, page by page, under the same key."""

from __future__ import annotations

import os
from pathlib import Path

from sqlite_utils import Database

from core.storage.cipher import Key
from core.storage.connection import open_connection, plain_file_errors
from core.storage.files import put_in_place, remove_with_companions


def copy_database(db: Database, target: Path, key: Key | None) -> None:
    """Write a database as it is now, the log's content included, to a file that appears when whole.

    Parameters
    ----------
    db
        An open connection; others may go on reading and writing meanwhile.
    key
        The database's own key, which the copy shares, salt and all; None for a plain one.

    Raises
    ------
    DiskFullError, ReadOnlyWorkspaceError, DamagedWorkspaceError
    """
    part = target.with_name(f".{target.name}.part")
    remove_with_companions(part)
    try:
        with plain_file_errors(target):
            copy = open_connection(part, key)
            try:
                # Nothing depends on it before it is whole; it is waited for then.
                copy.conn.execute("PRAGMA synchronous = OFF")
                db.conn.backup(copy.conn)
                # Without a log, the copy is one file, whole by itself.
                copy.conn.execute("PRAGMA journal_mode = DELETE")
            finally:
                copy.conn.close()
            if os.name == "posix":
                part.chmod(0o600)
            put_in_place(part, target)
    finally:
        remove_with_companions(part)
