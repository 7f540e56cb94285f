"""Opening connections to a workspace file, and turning SQLite's errors into sentences."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlcipher3.dbapi2 as sqlcipher
from sqlite_utils import Database

from core.errors import (
    BugError,
    ConflictError,
    DamagedWorkspaceError,
    DiskFullError,
    NetworkShareError,
    NotFoundError,
    ReadOnlyWorkspaceError,
    WorkspaceBusyError,
    WorkspaceError,
)
from core.storage.cipher import Key

_NETWORK_FILE_SYSTEMS = frozenset(
    [
        "nfs",
        "nfs4",
        "cifs",
        "smbfs",
        "smb2",
        "smb3",
        "afpfs",
        "ncpfs",
        "davfs",
        "webdav",
        "fuse.sshfs",
        "fuse.davfs2",
        "afs",
    ]
)
_BUSY_MILLISECONDS = 5_000
_CACHE_KIB = 32_768


def open_connection(
    path: Path, key: Key | None, *, read_only: bool = False, still: bool = False
) -> Database:
    """A connection with the project's pragmas set; may be used by one thread at a time.

    Nothing is read yet, so a wrong key shows at the first query. ``still`` says that nobody writes to
    the file, so that reading leaves nothing beside it.
    """
    mode = "ro" if read_only else "rwc"
    if read_only and (still or _is_still(path)):
        mode += "&immutable=1"
    # as_uri() also escapes '?', '#' and '%', which would end a file name in an SQLite URI.
    connection = sqlcipher.connect(
        f"{path.absolute().as_uri()}?mode={mode}",
        uri=True,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=256,
    )
    connection.execute("PRAGMA cipher_log_level = NONE")
    if key is not None:
        connection.execute(f'PRAGMA key = "{key.pragma}"')
    connection.execute(f"PRAGMA busy_timeout = {_BUSY_MILLISECONDS}")
    connection.execute("PRAGMA foreign_keys = ON")
    # Deleted text must not survive in free pages of a plain workspace, nor scratch data on the disk.
    connection.execute("PRAGMA secure_delete = ON")
    connection.execute("PRAGMA temp_store = MEMORY")
    return Database(connection)


def enlarge_cache(db: Database) -> None:
    """Let a connection that lives long keep its pages: each one read anew is decrypted anew."""
    db.conn.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")


def _is_still(path: Path) -> bool:
    """Whether nobody can be writing: the folder cannot be written, and there is no log.

    SQLite would otherwise want to make its index there, even for reading.
    """
    if os.access(path.parent, os.W_OK):
        return False
    log = path.with_name(path.name + "-wal")
    return not (log.exists() and log.stat().st_size)


def fetch_all(db: Database, sql: str, parameters: Any = ()) -> list[dict[str, Any]]:
    """All rows of a query as dictionaries."""
    cursor = db.conn.execute(sql, parameters)
    names = [column[0] for column in cursor.description or ()]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


@contextmanager
def plain_errors(path: Path) -> Iterator[None]:
    """Turn SQLite's exceptions about ``path`` into the project's own, each with its remedy."""
    try:
        yield
    except sqlcipher.IntegrityError as error:
        raise _explain_integrity(error) from error
    except sqlcipher.Error as error:
        raise _explain(path, error) from error
    except MemoryError as error:
        # SQLCipher answers so when a page fails authentication in some code paths.
        raise _damaged(path, error) from error


def _explain_integrity(error: Exception) -> Exception:
    text = str(error)
    if "FOREIGN KEY" in text:
        return NotFoundError(
            "Something this refers to is not in the workspace.",
            remedy="Reload the page and try again.",
            details=text,
        )
    return ConflictError(
        "The workspace refused a value that breaks one of its rules.",
        remedy="Check the values and try again.",
        details=text,
    )


@contextmanager
def plain_file_errors(path: Path) -> Iterator[None]:
    """The same, and also for what the operating system answers while files are copied and renamed."""
    try:
        with plain_errors(path):
            yield
    except OSError as error:
        raise _explain_system(path, error) from error


def _explain_system(path: Path, error: OSError) -> Exception:
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return _disk_full(path, str(error))
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return _read_only(path, str(error))
    if error.errno == errno.ENOENT:
        return _gone(path, str(error))
    return WorkspaceError(
        f"{path.name} could not be read or written: {error.strerror}.",
        remedy="Check the disk and the folder, then try again.",
        details=str(error),
    )


def _disk_full(path: Path, details: str) -> DiskFullError:
    return DiskFullError(
        f"The disk has no room for {path.name}, or cannot be written.",
        remedy="Nothing of the last step was saved, all before it is. Free some space and try again.",
        details=details,
    )


def _read_only(path: Path, details: str) -> ReadOnlyWorkspaceError:
    return ReadOnlyWorkspaceError(
        f"{path.name} or its folder cannot be written.",
        remedy="Allow writing there, or copy the workspace to a folder of yours.",
        details=details,
    )


def _gone(path: Path, details: str) -> DamagedWorkspaceError:
    return DamagedWorkspaceError(
        f"{path} is no longer there.",
        remedy="Put the file or its disk back, or restore the last good backup.",
        details=details,
    )


def _damaged(path: Path, error: Exception) -> DamagedWorkspaceError:
    return DamagedWorkspaceError(
        f"The workspace {path.name} is damaged and part of it cannot be read.",
        remedy="Nothing was changed. Restore the last good backup, or copy the file before trying more.",
        details=str(error),
    )


def _explain(path: Path, error: Exception) -> Exception:
    text = str(error)
    lowered = text.lower()
    if "unable to open" in lowered and not path.exists():
        return _gone(path, text)
    if "disk is full" in lowered or "disk i/o error" in lowered:
        return _disk_full(path, text)
    if "readonly" in lowered or "unable to open" in lowered:
        return _read_only(path, text)
    if "malformed" in lowered or "not a database" in lowered or "hmac" in lowered:
        return _damaged(path, error)
    if "locked" in lowered or "busy" in lowered:
        return WorkspaceBusyError(
            f"{path.name} is in use by another program.",
            remedy="Close the other program, or wait until it is done.",
            details=text,
        )
    return BugError(f"The workspace {path.name} answered with an error: {text}", details=text)


def refuse_network_share(folder: Path) -> None:
    """Refuse folders on a network file system, where the write-ahead log can corrupt the file.

    Raises
    ------
    NetworkShareError
        When the folder lies on one.
    """
    kind = _network_file_system(folder.absolute())
    if kind:
        raise NetworkShareError(
            f"{folder} lies on a network share ({kind}), where a workspace could be damaged.",
            remedy="Keep the workspace on a disk of this machine, and exchange work as packages.",
        )


def _network_file_system(folder: Path) -> str:
    if sys.platform == "win32":
        import ctypes

        drive = os.path.splitdrive(folder)[0]
        remote = drive.startswith("\\\\") or ctypes.windll.kernel32.GetDriveTypeW(drive + "\\") == 4
        return "network drive" if remote else ""
    try:
        if sys.platform == "darwin":
            listing = subprocess.run(["/sbin/mount"], capture_output=True, text=True, check=False)
            mounts = [_parse_darwin_mount(line) for line in listing.stdout.splitlines()]
        else:
            with open("/proc/mounts", encoding="utf-8", errors="surrogateescape") as stream:
                mounts = [(parts[1], parts[2]) for parts in map(str.split, stream)]
    except OSError:
        return ""
    text = os.path.realpath(folder)
    best = ("", "")
    for point, kind in mounts:
        point = point.replace("\\040", " ")
        inside = text == point or text.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best[0]):
            best = (point, kind)
    return best[1] if best[1] in _NETWORK_FILE_SYSTEMS else ""


def _parse_darwin_mount(line: str) -> tuple[str, str]:
    _, _, rest = line.partition(" on ")
    point, _, options = rest.rpartition(" (")
    return point, options.split(",", 1)[0].rstrip(")")
