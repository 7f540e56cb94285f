"""One writer at a time: a lock file beside the workspace, let go by the system when its holder dies."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO

import portalocker

from core.errors import ReadOnlyWorkspaceError, WorkspaceBusyError


class WriterLock:
    """Held while a workspace is open for writing.

    Raises
    ------
    WorkspaceBusyError
        When another process, or another window of this one, holds it.
    """

    def __init__(self, workspace: Path) -> None:
        self._path = workspace.with_name(f".{workspace.name}.lock")
        self._stream = self._acquire(workspace)

    def release(self) -> None:
        """Let go, and leave nothing behind."""
        # Removed while still locked, so that nobody else's new lock file is taken away.
        self._path.unlink(missing_ok=True)
        self._stream.close()

    def _acquire(self, workspace: Path) -> IO[str]:
        while True:
            try:
                stream = self._path.open("a+", encoding="utf-8")
            except OSError as error:
                raise ReadOnlyWorkspaceError(
                    f"The folder of {workspace.name} cannot be written: {error.strerror}.",
                    remedy="Open the workspace from a folder of yours, or open it for reading only.",
                ) from error
            try:
                portalocker.lock(stream, portalocker.LOCK_EX | portalocker.LOCK_NB)
            except (portalocker.LockException, portalocker.AlreadyLocked) as error:
                stream.seek(0)
                holder = stream.read(200).strip() or "another program"
                stream.close()
                raise WorkspaceBusyError(
                    f"{workspace.name} is in use by {holder}.",
                    remedy="Close it there, or open it here for reading only.",
                ) from error
            if self._is_current(stream):
                stream.truncate(0)
                stream.write(f"process {os.getpid()}")
                stream.flush()
                return stream
            stream.close()

    def _is_current(self, stream: IO[str]) -> bool:
        """Whether the locked file is still the one the path names, not one just removed."""
        try:
            return os.path.samestat(os.fstat(stream.fileno()), self._path.stat())
        except FileNotFoundError:
            return False
