"""Connections for reading, lent one thread at a time and kept for the next."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlcipher3.dbapi2 as sqlcipher
from sqlite_utils import Database

from core.errors import BugError
from core.storage.cipher import Key
from core.storage.connection import enlarge_cache, open_connection, plain_errors


class ReaderPool:
    """Read-only connections to one file; a further one costs no key derivation."""

    def __init__(self, path: Path, key: Key | None) -> None:
        self._path = path
        self._key = key
        self._idle: list[Database] = []
        self._lock = threading.Lock()
        self._closed = False

    @contextmanager
    def lend(self) -> Iterator[Database]:
        """A connection that only reads."""
        if self._closed:
            raise BugError("The workspace is closed.")
        with self._lock:
            db = self._idle.pop() if self._idle else None
        with plain_errors(self._path):
            if db is None:
                db = open_connection(self._path, self._key, read_only=True)
                db.conn.execute("PRAGMA query_only = ON")
                enlarge_cache(db)
            try:
                yield db
            except (sqlcipher.DatabaseError, MemoryError):
                # After a page that does not authenticate, SQLCipher answers nothing any more.
                db.conn.close()
                raise
            except BaseException:
                self._take_back(db)
                raise
            else:
                self._take_back(db)

    def close(self) -> None:
        """Close what is idle now, and what is lent when it comes back."""
        with self._lock:
            self._closed = True
            for db in self._idle:
                db.conn.close()
            self._idle.clear()

    def _take_back(self, db: Database) -> None:
        with self._lock:
            if self._closed:
                db.conn.close()
            else:
                self._idle.append(db)
