"""Noticing that a workspace's file was removed or replaced while it is open.

SQLite would go on writing into a file that no longer has a name, and all of it would be gone on closing.
"""

from __future__ import annotations

from pathlib import Path

from sqlite_utils import Database

from core.errors import DamagedWorkspaceError, RifugioError
from core.ids import now
from core.storage.cipher import Key
from core.storage.copying import copy_database
from core.storage.files import companions

Identity = tuple[int, int] | None


class FileWatch:
    """Knows which files the names of a workspace and its log stood for when it was opened."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._log = companions(path)[0]
        self._file_then = _identify(path)
        self._log_then = _identify(self._log)
        self._rescue: Path | None = None

    def refuse_if_gone(self, db: Database, key: Key | None) -> None:
        """Save a rescue copy from the connection that is still open, and refuse to write on.

        Raises
        ------
        DamagedWorkspaceError
            When the file or its log is not the one that was opened.
        """
        if _identify(self._path) != self._file_then:
            which = self._path.name
        else:
            log_now = _identify(self._log)
            if self._log_then is None:
                self._log_then = log_now
            if log_now == self._log_then:
                return
            which = f"The log of {self._path.name}"
        if self._rescue is None:
            self._rescue = self._save_rescue(db, key)
        raise DamagedWorkspaceError(
            f"{which} was removed or replaced while it was open.",
            remedy=(
                f"All that was saved is now in {self._rescue}. Open that file."
                if self._rescue is not None
                else "Nothing more can be saved into it. Put the folder back, or copy your last "
                "text elsewhere, then restore the last good backup."
            ),
        )

    def _save_rescue(self, db: Database, key: Key | None) -> Path | None:
        stamp = now()[:19].replace(":", "")
        rescue = self._path.with_name(f"{self._path.stem} rescued {stamp}{self._path.suffix}")
        try:
            copy_database(db, rescue, key)
        except RifugioError:
            return None
        return rescue


def _identify(path: Path) -> Identity:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
