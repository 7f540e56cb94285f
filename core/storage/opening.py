"""What is checked before a workspace is worked in, and the sentence for each thing that can be wrong."""

from __future__ import annotations

import os
from pathlib import Path

from sqlite_utils import Database

from core.errors import (
    ConflictError,
    DamagedWorkspaceError,
    NewerWorkspaceError,
    NotAWorkspaceError,
    NotFoundError,
    ReadOnlyWorkspaceError,
    WorkspaceError,
    WrongPassphraseError,
)
from core.ids import now
from core.storage import schema
from core.storage.cipher import (
    PAGE_SIZE,
    Key,
    check_key,
    derive_key,
    inspect_file,
    new_salt,
    read_salt,
)
from core.storage.connection import fetch_all, open_connection, plain_file_errors
from core.storage.files import companions, put_in_place, remove_with_companions
from core.storage.log_file import inspect_log

_RESTORE = "Nothing was changed. Restore the last good backup, or recover what can be read."
_CLOCK_MINUTES = 5
MINIMUM_PASSPHRASE = 8


def find_key(path: Path, passphrase: str | None, key_file: Path | None) -> Key | None:
    """The key of a file, None for a plain one.

    Raises
    ------
    NotFoundError, NotAWorkspaceError, WrongPassphraseError, DamagedWorkspaceError, InputError
    """
    shape = inspect_file(path)
    if shape == "missing":
        raise NotFoundError(
            f"There is no file {path}.",
            remedy="Check the name and the folder, or restore a backup of it.",
        )
    if shape == "empty":
        raise NotAWorkspaceError(
            f"{path.name} is empty.", remedy="Restore a backup, or make a new workspace."
        )
    return _derive_key(path, passphrase, key_file) if shape == "encrypted" else None


def _derive_key(path: Path, passphrase: str | None, key_file: Path | None) -> Key:
    """Derive the key and tell a wrong passphrase from a damaged beginning of the file."""
    if passphrase is None:
        raise WrongPassphraseError(
            f"{path.name} is encrypted and needs its passphrase.", remedy="Type the passphrase."
        )
    size = path.stat().st_size
    if size < PAGE_SIZE:
        raise NotAWorkspaceError(
            f"{path.name} is not a workspace, or was cut short.",
            remedy="Restore the last good backup, or choose another file.",
        )
    key = derive_key(passphrase, read_salt(path), key_file=key_file)
    answer = check_key(path, key)
    if answer == "wrong" and size % PAGE_SIZE:
        raise DamagedWorkspaceError(
            f"The passphrase does not open {path.name}, and the file was cut short.",
            remedy="Nothing was changed. Restore the last good backup.",
        )
    if answer == "wrong":
        what = "The passphrase" if key_file is None else "The passphrase with this key file"
        raise WrongPassphraseError(
            f"{what} does not open {path.name}.",
            remedy=(
                "Check capital letters, keyboard layout and the key file, if it has one. If you are "
                "sure of them, the beginning of the file may be damaged: restore a backup."
            ),
        )
    # A page torn by a power cut may still be whole in the write-ahead log: SQLite decides then.
    log = companions(path)[0]
    if answer == "damaged" and not (log.exists() and log.stat().st_size):
        raise DamagedWorkspaceError(
            f"The passphrase is right, but the workspace {path.name} is damaged.", remedy=_RESTORE
        )
    return key


def check_log(path: Path) -> str:
    """Look at the log a crash left, before SQLite takes what it can of it; nobody else may write.

    Returns
    -------
    str
        What to tell the person, '' for nothing.

    Raises
    ------
    DamagedWorkspaceError
        When saved work lies behind a broken place, which SQLite would pass over without a word.
    """
    state = inspect_log(*companions(path))
    if state.damaged:
        how_much = (
            f"its last {state.dropped} saved steps" if state.dropped > 1 else "its last saved steps"
        )
        raise DamagedWorkspaceError(
            f"The log beside {path.name}, which holds {how_much}, is damaged.",
            remedy=_RESTORE,
        )
    if state.dropped or state.torn:
        return (
            "The last step was being written when the machine stopped; it had not been called "
            "saved, and was left out. All before it is here."
        )
    return ""


def check_database(path: Path, db: Database) -> None:
    """Refuse what is not a sound workspace of a schema this version knows."""
    tables = set(db.table_names())
    if "meta" not in tables or "change" not in tables:
        raise NotAWorkspaceError(
            f"{path.name} is a database, but not a Rifugio workspace.",
            remedy="Choose a file that Rifugio made; they end in .rifugio.",
        )
    newer = schema.unknown_names(db)
    if newer:
        raise NewerWorkspaceError(
            f"{path.name} was last written by a later version of Rifugio.",
            remedy="Update Rifugio on this machine, then open it again. Nothing was changed.",
            details=f"unknown schema steps: {', '.join(newer)}",
        )
    answers = [next(iter(row.values())) for row in fetch_all(db, "PRAGMA quick_check(5)")]
    if answers != ["ok"]:
        raise DamagedWorkspaceError(
            f"The workspace {path.name} is damaged.",
            remedy=_RESTORE,
            details="\n".join(map(str, answers)),
        )


def check_clock(db: Database) -> str:
    """A note where the last change lies in the future: the clock was set back; '' otherwise."""
    rows = fetch_all(db, "SELECT max(time) AS time FROM change")
    last = rows[0]["time"] or ""
    present = now()
    if last[:16] <= present[:16] or minutes_between(present, last) < _CLOCK_MINUTES:
        return ""
    return (
        f"The clock of this machine stands at {present[:16].replace('T', ' ')} UTC, before the "
        f"last change of {last[:16].replace('T', ' ')} UTC. Nothing is lost; new changes will "
        "look older than they are until the clock is set right."
    )


def minutes_between(earlier: str, later: str) -> float:
    """Minutes from one stored time to another."""
    from datetime import datetime

    return (datetime.fromisoformat(later) - datetime.fromisoformat(earlier)).total_seconds() / 60


def refuse_pending(path: Path, db: Database) -> None:
    """Refuse to read a file whose schema is behind, since reading brings nothing up to date."""
    if schema.migrations.pending(db):
        raise ReadOnlyWorkspaceError(
            f"{path.name} was made by an earlier version and must be brought up to date first.",
            remedy="Open it once for writing.",
        )


def migrate_copy(path: Path, key: Key | None, backup: Path) -> None:
    """Bring a copy of a closed workspace up to date and put it in its place.

    Parameters
    ----------
    backup
        A copy of the file made just now. When a step fails the workspace stays as it was.

    Raises
    ------
    WorkspaceError
        When a step fails.
    """
    copy = path.with_name(f".{path.name}.migrating")
    remove_with_companions(copy)
    try:
        with plain_file_errors(copy):
            _copy_file(backup, copy)
            db = open_connection(copy, key)
            try:
                schema.migrate(db)
                check_database(path, db)
                db.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            finally:
                db.conn.close()
        put_in_place(copy, path)
    except WorkspaceError:
        raise
    except Exception as error:
        raise WorkspaceError(
            f"{path.name} could not be brought up to date to this version of Rifugio.",
            remedy=f"It is as it was, and a backup of it is {backup}. Use the earlier version and "
            "report this.",
            details=f"{type(error).__name__}: {error}",
        ) from error
    finally:
        remove_with_companions(copy)


def _copy_file(source: Path, target: Path) -> None:
    import shutil

    shutil.copyfile(source, target)
    if os.name == "posix":
        target.chmod(0o600)


def refuse_weak(passphrase: str | None) -> None:
    """Refuse a passphrase that is too short; None stands for none at all."""
    if passphrase is not None and len(passphrase) < MINIMUM_PASSPHRASE:
        raise ConflictError(
            f"The passphrase has fewer than {MINIMUM_PASSPHRASE} characters.",
            remedy="Take several unrelated words.",
        )


def new_key(passphrase: str | None, key_file: Path | None = None) -> Key | None:
    """A key with a salt of its own; None for a plain file."""
    if passphrase is None:
        return None
    return derive_key(passphrase, new_salt(), key_file=key_file)
