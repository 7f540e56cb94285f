"""One workspace file: made, opened, checked, read from any thread, written by one."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import sqlcipher3.dbapi2 as sqlcipher
from sqlite_utils import Database

from core.changes import Changes, Outcome
from core.errors import (
    BugError,
    ConflictError,
    DamagedWorkspaceError,
    NewerWorkspaceError,
    NotAWorkspaceError,
    NotFoundError,
    ReadOnlyWorkspaceError,
    WrongPassphraseError,
)
from core.ids import new_id
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
from core.storage.connection import (
    fetch_all,
    open_connection,
    plain_errors,
    refuse_network_share,
)
from core.storage.lock import WriterLock
from core.storage.reads import Parameters, Reads
from core.storage.transaction import Transaction

T = TypeVar("T")
P = ParamSpec("P")

SUFFIX = ".rifugio"
MINIMUM_PASSPHRASE = 8


class Workspace(Reads):
    """An open workspace. Reading is safe from any thread; writing goes through `transact`.

    Use `create` and `open`; the constructor is theirs.
    """

    def __init__(
        self, path: Path, key: Key | None, lock: WriterLock | None, *, read_only: bool
    ) -> None:
        self.path = path
        self.read_only = read_only
        self._key = key
        self._lock = lock
        self._idle: list[Database] = []
        self._idle_lock = threading.Lock()
        self._listeners: list[Callable[[Changes], None]] = []
        self._closed = False
        self._writer: Database | None = None
        self._thread: ThreadPoolExecutor | None = None
        self.origin = ""

    # -- opening and closing -------------------------------------------------------------

    @classmethod
    def create(cls, path: Path, passphrase: str | None) -> Self:
        """Make a new workspace file and open it for writing.

        Parameters
        ----------
        path
            A file that does not exist yet.
        passphrase
            None for a plain workspace, which anybody with the file can read.

        Raises
        ------
        ConflictError
            When there is a file already, or the passphrase is too short.
        """
        if inspect_file(path) != "missing":
            raise ConflictError(
                f"{path} is there already.", remedy="Choose another name, or open it instead."
            )
        if passphrase is not None and len(passphrase) < MINIMUM_PASSPHRASE:
            raise ConflictError(
                f"The passphrase has fewer than {MINIMUM_PASSPHRASE} characters.",
                remedy="Take several unrelated words.",
            )
        if not path.parent.is_dir():
            raise NotFoundError(
                f"The folder {path.parent} is not there.",
                remedy="Make it first, or choose another.",
            )
        refuse_network_share(path.parent)
        key = None if passphrase is None else derive_key(passphrase, new_salt())
        lock = WriterLock(path)
        workspace = cls(path, key, lock, read_only=False)
        try:
            workspace._start(new=True)
        except BaseException:
            workspace.close()
            for leftover in (path, *_companions(path)):
                leftover.unlink(missing_ok=True)
            raise
        return workspace

    @classmethod
    def open(cls, path: Path, passphrase: str | None = None, *, read_only: bool = False) -> Self:
        """Open a workspace, checking it first.

        Raises
        ------
        NotFoundError, NotAWorkspaceError, WrongPassphraseError, DamagedWorkspaceError,
        NewerWorkspaceError, WorkspaceBusyError, ReadOnlyWorkspaceError, NetworkShareError
        """
        shape = inspect_file(path)
        if shape == "missing":
            raise NotFoundError(
                f"There is no file {path}.", remedy="Check the name and the folder."
            )
        if shape == "empty":
            raise NotAWorkspaceError(
                f"{path.name} is empty.", remedy="Restore a backup, or make a new workspace."
            )
        refuse_network_share(path.parent)
        key = None
        if shape == "encrypted":
            key = _key_for(path, passphrase)
        lock = None if read_only else WriterLock(path)
        workspace = cls(path, key, lock, read_only=read_only)
        try:
            workspace._start(new=False)
        except BaseException:
            workspace.close()
            raise
        return workspace

    @property
    def encrypted(self) -> bool:
        return self._key is not None

    @property
    def schema_version(self) -> int:
        return int(self.value("PRAGMA user_version"))

    def close(self) -> None:
        """Wait for the running transaction, fold the log into the file, let go of it."""
        if self._closed:
            return
        self._closed = True
        if self._thread is not None:
            self._thread.shutdown(wait=True)
        with self._idle_lock:
            for db in self._idle:
                db.conn.close()
            self._idle.clear()
        if self._writer is not None:
            try:
                self._writer.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                self._writer.conn.execute("PRAGMA optimize")
            except sqlcipher.Error:
                pass  # The log stays beside the file and is folded in at the next opening.
            self._writer.conn.close()
            self._writer = None
        if self._lock is not None:
            self._lock.release()
            self._lock = None
        self._key = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # -- reading -------------------------------------------------------------------------

    def query(self, sql: str, parameters: Parameters = ()) -> list[dict[str, Any]]:
        with self.reader() as db:
            return fetch_all(db, sql, parameters)

    @contextmanager
    def reader(self) -> Iterator[Database]:
        """A read-only connection of the pool; a further one costs no key derivation."""
        if self._closed:
            raise BugError("The workspace is closed.")
        with self._idle_lock:
            db = self._idle.pop() if self._idle else None
        with plain_errors(self.path):
            if db is None:
                db = open_connection(self.path, self._key, read_only=True)
                db.conn.execute("PRAGMA query_only = ON")
            try:
                yield db
            finally:
                with self._idle_lock:
                    if self._closed:
                        db.conn.close()
                    else:
                        self._idle.append(db)

    # -- writing -------------------------------------------------------------------------

    def transact(
        self,
        label: str,
        person: str,
        verb: Callable[Concatenate[Transaction, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> Outcome[T]:
        """Run a verb as one transaction, all or nothing, and wait until it is on disk.

        Parameters
        ----------
        label
            What the person did, for the undo line and the history, such as 'Edit task'.
        person
            Id of the person who did it.
        verb
            Called with the transaction and the further arguments.

        Returns
        -------
        Outcome
            The verb's value and the `Changes`.
        """
        return self.submit(label, person, verb, *args, **kwargs).result()

    def submit(
        self,
        label: str,
        person: str,
        verb: Callable[Concatenate[Transaction, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> Future[Outcome[T]]:
        """Like `transact`, but returns at once with a future."""
        return self._enqueue(lambda db: self._run(db, label, person, verb, args, kwargs))

    def transact_job(
        self,
        label: str,
        person: str,
        verb: Callable[Concatenate[Transaction, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> Outcome[T]:
        """Like `transact`, for background work, which undo leaves alone."""
        return self._enqueue(
            lambda db: self._run(db, label, person, verb, args, kwargs, undoable=False)
        ).result()

    def run_transaction(
        self,
        label: str,
        person: str,
        verb: Callable[[Transaction], T],
        *,
        undoable: bool = True,
        undoes: str = "",
    ) -> Outcome[T]:
        """The general form behind the others, for undo, redo and merges."""
        return self._enqueue(
            lambda db: self._run(db, label, person, verb, (), {}, undoable=undoable, undoes=undoes)
        ).result()

    def subscribe(self, listener: Callable[[Changes], None]) -> Callable[[], None]:
        """Call ``listener`` on the writer thread after each commit; returns how to stop that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def _enqueue(self, work: Callable[[Database], Outcome[T]]) -> Future[Outcome[T]]:
        if self.read_only:
            raise ReadOnlyWorkspaceError(
                f"{self.path.name} is open for reading only.",
                remedy="Close it where it is open for writing, then open it again.",
            )
        if self._closed or self._thread is None or self._writer is None:
            raise BugError("The workspace is closed.")
        if threading.current_thread().name.startswith(self._thread_name):
            raise BugError("A verb called transact; it should use the transaction it was given.")
        writer = self._writer
        return self._thread.submit(lambda: work(writer))

    def _run(
        self,
        db: Database,
        label: str,
        person: str,
        verb: Callable[..., T],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        *,
        undoable: bool = True,
        undoes: str = "",
    ) -> Outcome[T]:
        name = getattr(verb, "__name__", "verb")
        with plain_errors(self.path):
            db.conn.execute("BEGIN IMMEDIATE")
            try:
                transaction = Transaction(
                    db,
                    origin=self.origin,
                    label=label,
                    verb=name,
                    person=person,
                    undoable=undoable,
                    undoes=undoes,
                )
                value = verb(transaction, *args, **kwargs)
                db.conn.execute("COMMIT")
            except BaseException:
                if db.conn.in_transaction:
                    db.conn.execute("ROLLBACK")
                raise
        changes = transaction.changes
        for listener in tuple(self._listeners):
            listener(changes)
        return Outcome(value, changes)

    # -- start ---------------------------------------------------------------------------

    @property
    def _thread_name(self) -> str:
        return f"rifugio-writer-{id(self)}"

    def _start(self, *, new: bool) -> None:
        with plain_errors(self.path):
            db = open_connection(self.path, self._key, read_only=self.read_only)
            self._writer = db
            if not new:
                self._check(db)
            if self.read_only:
                self._refuse_pending(db)
            else:
                self._prepare_for_writing(db, new=new)
            rows = fetch_all(db, "SELECT value FROM meta WHERE key = 'origin'")
        if not rows:
            raise DamagedWorkspaceError(
                f"{self.path.name} has lost its own description.",
                remedy="Restore the last good backup.",
            )
        self.origin = rows[0]["value"]
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=self._thread_name)

    def _prepare_for_writing(self, db: Database, *, new: bool) -> None:
        db.conn.execute("PRAGMA journal_mode = WAL")
        # FULL waits for the disk at each commit: 'Saved' has to mean on disk, power cut or not.
        db.conn.execute("PRAGMA synchronous = FULL")
        if not new and schema.migrations.pending(db):
            db.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            copy = self.path.with_name(
                f"{self.path.stem}.before-schema-{schema.latest_schema()}{SUFFIX}"
            )
            shutil.copy2(self.path, copy)
        schema.migrate(db)
        if new:
            db.conn.execute("INSERT INTO meta VALUES ('origin', ?)", (new_id(),))
            db.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            if os.name == "posix":
                self.path.chmod(0o600)

    def _check(self, db: Database) -> None:
        """Refuse what is not a sound workspace of a schema this version knows."""
        tables = set(db.table_names())
        if "meta" not in tables or "change" not in tables:
            raise NotAWorkspaceError(
                f"{self.path.name} is a database, but not a Rifugio workspace.",
                remedy="Choose a file that Rifugio made; they end in .rifugio.",
            )
        newer = schema.unknown_names(db)
        if newer:
            raise NewerWorkspaceError(
                f"{self.path.name} was last written by a later version of Rifugio.",
                remedy="Update Rifugio on this machine, then open it again. Nothing was changed.",
                details=f"unknown schema steps: {', '.join(newer)}",
            )
        answers = [next(iter(row.values())) for row in fetch_all(db, "PRAGMA quick_check(5)")]
        if answers != ["ok"]:
            raise DamagedWorkspaceError(
                f"The workspace {self.path.name} is damaged.",
                remedy="Nothing was changed. Restore the last good backup.",
                details="\n".join(map(str, answers)),
            )

    def _refuse_pending(self, db: Database) -> None:
        if schema.migrations.pending(db):
            raise ReadOnlyWorkspaceError(
                f"{self.path.name} was made by an earlier version and must be brought up to date first.",
                remedy="Open it once for writing.",
            )


def _companions(path: Path) -> tuple[Path, Path]:
    return path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm")


def _key_for(path: Path, passphrase: str | None) -> Key:
    """Derive the key and tell a wrong passphrase from a damaged beginning of the file."""
    if passphrase is None:
        raise WrongPassphraseError(
            f"{path.name} is encrypted and needs its passphrase.", remedy="Type the passphrase."
        )
    key = derive_key(passphrase, read_salt(path))
    size = path.stat().st_size
    answer = check_key(path, key)
    if answer == "wrong" and size < PAGE_SIZE:
        raise NotAWorkspaceError(
            f"{path.name} is not a workspace, or was cut short.",
            remedy="Restore the last good backup, or choose another file.",
        )
    if answer == "wrong" and size % PAGE_SIZE:
        raise DamagedWorkspaceError(
            f"The passphrase does not open {path.name}, and the file was cut short.",
            remedy="Nothing was changed. Restore the last good backup.",
        )
    if answer == "wrong":
        raise WrongPassphraseError(
            f"The passphrase does not open {path.name}.",
            remedy=(
                "Check capital letters and keyboard layout. If you are sure of it, the beginning of "
                "the file may be damaged: restore a backup."
            ),
        )
    # A page torn by a power cut may still be whole in the write-ahead log: SQLite decides then.
    log = _companions(path)[0]
    if answer == "damaged" and not (log.exists() and log.stat().st_size):
        raise DamagedWorkspaceError(
            f"The passphrase is right, but the workspace {path.name} is damaged.",
            remedy="Nothing was changed. Restore the last good backup.",
        )
    return key
