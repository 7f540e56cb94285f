"""Every error Rifugio raises on purpose, split by who is to blame.

::

    RifugioError
    ├── KnownError                 the environment's or the input's fault; says what to do next
    │   ├── UsageError             the call itself makes no sense (exit code 2 on the command line)
    │   ├── InputError             a file or a line of it can't be read; names file and line
    │   ├── NotFoundError          no such task, example, person, model ...
    │   ├── ConflictError          the change was refused because of what is there already
    │   ├── Cancelled              the person stopped it
    │   ├── WorkspaceError
    │   │   ├── WrongPassphraseError
    │   │   ├── DamagedWorkspaceError
    │   │   ├── NewerWorkspaceError
    │   │   ├── NotAWorkspaceError
    │   │   ├── WorkspaceBusyError
    │   │   ├── ReadOnlyWorkspaceError
    │   │   ├── DiskFullError
    │   │   └── NetworkShareError
    │   └── ModelError
    │       ├── InvalidModelError
    │       ├── MissingModelError
    │       ├── ContextOverflowError   carries both token counts
    │       ├── MemoryShortageError
    │       └── WorkerDiedError        a child process ended; carries its last words
    └── BugError                   ours; please report it
"""

from __future__ import annotations

from pathlib import Path


class RifugioError(Exception):
    """Base of all errors raised on purpose.

    Parameters
    ----------
    message
        One sentence: what happened, to which thing.
    remedy
        One sentence: what the person can do next. May be empty.
    details
        Longer technical text for 'Copy details' and the log, never shown first.
    """

    def __init__(self, message: str, *, remedy: str = "", details: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy
        self.details = details

    def __str__(self) -> str:
        return f"{self.message} {self.remedy}".strip()


class KnownError(RifugioError):
    """The environment or the input is at fault, and the person can do something about it."""


class BugError(RifugioError):
    """Rifugio is at fault."""


class UsageError(KnownError):
    """The call makes no sense as it stands."""


class InputError(KnownError):
    """A file, or one line of it, cannot be used.

    Parameters
    ----------
    path, line
        Where; ``line`` counts from 1 and is None when the whole file is meant.
    """

    def __init__(
        self,
        message: str,
        *,
        path: Path | str | None = None,
        line: int | None = None,
        remedy: str = "",
        details: str = "",
    ) -> None:
        self.path = path
        self.line = line
        where = "" if path is None else f"{path}: " if line is None else f"{path}, line {line}: "
        super().__init__(where + message, remedy=remedy, details=details)


class OutputError(KnownError):
    """A file cannot be written where the person wants it."""


class NotFoundError(KnownError):
    """There is no such thing."""


class ConflictError(KnownError):
    """The change was refused because of what is there already."""


class Cancelled(KnownError):
    """The person stopped it."""

    def __init__(self, message: str = "Stopped.", *, remedy: str = "", details: str = "") -> None:
        super().__init__(message, remedy=remedy, details=details)


class WorkspaceError(KnownError):
    """A workspace file cannot be used as asked."""


class WrongPassphraseError(WorkspaceError):
    """The passphrase does not open the file."""


class DamagedWorkspaceError(WorkspaceError):
    """The file was a workspace and has been damaged."""


class NewerWorkspaceError(WorkspaceError):
    """The file was written by a later version of Rifugio."""


class NotAWorkspaceError(WorkspaceError):
    """The file is something else."""


class WorkspaceBusyError(WorkspaceError):
    """Another window or command holds the file for writing."""


class ReadOnlyWorkspaceError(WorkspaceError):
    """The file or its folder may not be written."""


class DiskFullError(WorkspaceError):
    """There is no room left where the workspace lies."""


class NetworkShareError(WorkspaceError):
    """The file lies on a network share, where SQLite's write-ahead log is unsafe."""


class ModelError(KnownError):
    """A local model cannot be used as asked."""


class InvalidModelError(ModelError):
    """The file or folder is not a model Rifugio can use."""


class MissingModelError(ModelError):
    """The model is not on this machine."""


class MemoryShortageError(ModelError):
    """The model does not fit into memory."""


class ContextOverflowError(ModelError):
    """The prompt does not fit into the model's context.

    Parameters
    ----------
    prompt_tokens, context_tokens
        Both counts, in the model's own tokens. ``prompt_tokens`` includes the room asked for
        the answer where that is what does not fit.
    """

    def __init__(
        self,
        message: str,
        *,
        prompt_tokens: int,
        context_tokens: int,
        remedy: str = "",
        details: str = "",
    ) -> None:
        self.prompt_tokens = prompt_tokens
        self.context_tokens = context_tokens
        super().__init__(message, remedy=remedy, details=details)


class WorkerDiedError(ModelError):
    """A child process ended while it worked; ``details`` holds its last stderr lines."""
