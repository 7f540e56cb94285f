"""One workspace file: made, opened, checked, read from any thread, written by one."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
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
    NotFoundError,
    ReadOnlyWorkspaceError,
    WorkspaceBusyError,
)
from core.ids import new_id
from core.storage import opening, schema
from core.storage.cipher import Key, inspect_file
from core.storage.connection import (
    enlarge_cache,
    fetch_all,
    open_connection,
    plain_errors,
    refuse_network_share,
)
from core.storage.copying import copy_database
from core.storage.files import remove_unfinished, remove_with_companions
from core.storage.lock import WriterLock
from core.storage.pool import ReaderPool
from core.storage.reads import Parameters, Reads
from core.storage.transaction import Transaction
from core.storage.watch import FileWatch

T = TypeVar("T")
P = ParamSpec("P")

SUFFIX = ".rifugio"
MINIMUM_PASSPHRASE = opening.MINIMUM_PASSPHRASE


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
        self._readers = ReaderPool(path, key)
        self._listeners: list[Callable[[Changes], None]] = []
        self._closed = False
        self._finishing = False
        self._writer: Database | None = None
        self._thread: ThreadPoolExecutor | None = None
        self._watch: FileWatch | None = None
        self.origin = ""
        #: What opening found that the person should know, in sentences.
        self.notes: list[str] = []

    # -- opening and closing -------------------------------------------------------------

    @classmethod
    def create(cls, path: Path, passphrase: str | None, *, key_file: Path | None = None) -> Self:
        """Make a new workspace file and open it for writing.

        Parameters
        ----------
        path
            A file that does not exist yet.
        passphrase
            None for a plain workspace, which anybody with the file can read.
        key_file
            A file that is needed beside the passphrase from now on.

        Raises
        ------
        ConflictError
            When there is a file already, or the passphrase is too short.
        """
        if inspect_file(path) != "missing":
            raise ConflictError(
                f"{path} is there already.", remedy="Choose another name, or open it instead."
            )
        opening.refuse_weak(passphrase)
        if not path.parent.is_dir():
            raise NotFoundError(
                f"The folder {path.parent} is not there.",
                remedy="Make it first, or choose another.",
            )
        refuse_network_share(path.parent)
        key = opening.new_key(passphrase, key_file)
        lock = WriterLock(path)
        workspace = cls(path, key, lock, read_only=False)
        try:
            workspace._start(new=True)
        except BaseException:
            workspace.close()
            remove_with_companions(path)
            raise
        return workspace

    @classmethod
    def open(
        cls,
        path: Path,
        passphrase: str | None = None,
        *,
        read_only: bool = False,
        key_file: Path | None = None,
    ) -> Self:
        """Open a workspace, checking it first.

        Raises
        ------
        NotFoundError, NotAWorkspaceError, WrongPassphraseError, DamagedWorkspaceError,
        NewerWorkspaceError, WorkspaceBusyError, ReadOnlyWorkspaceError, NetworkShareError
        """
        key = opening.find_key(path, passphrase, key_file)
        return cls.open_with_key(path, key, read_only=read_only)

    @classmethod
    def open_with_key(
        cls,
        path: Path,
        key: Key | None,
        *,
        read_only: bool = False,
        lock: WriterLock | None = None,
    ) -> Self:
        """Open a workspace whose key is known, and with the writer's lock when it is held already.

        Takes over the key, which is wiped on closing.
        """
        refuse_network_share(path.parent)
        if lock is None and not read_only:
            lock = WriterLock(path)
        workspace = cls(path, key, lock, read_only=read_only)
        try:
            workspace._start(new=False)
        except BaseException:
            workspace.close()
            raise
        return workspace

    @property
    def key(self) -> Key | None:
        """The key of the file, for what lies beside it under the same one; None for a plain file."""
        return self._key

    @property
    def encrypted(self) -> bool:
        return self._key is not None

    @property
    def schema_version(self) -> int:
        return int(self.value("PRAGMA user_version"))

    def close(self) -> None:
        """Wait for the running transaction, fold the log into the file, let go of it and its key."""
        lock = self.close_keeping_lock()
        if lock is not None:
            lock.release()

    def close_keeping_lock(self) -> WriterLock | None:
        """Close, but let nobody else write: the caller changes the file and releases the lock."""
        if self._closed:
            return None
        self._closed = True
        if self._thread is not None:
            self._thread.shutdown(wait=True)
        self._readers.close()
        if self._writer is not None:
            try:
                self._writer.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                self._writer.conn.execute("PRAGMA optimize")
            except sqlcipher.Error:
                pass  # The log stays beside the file and is folded in at the next opening.
            self._writer.conn.close()
            self._writer = None
        if self._key is not None:
            self._key.wipe()
            self._key = None
        lock, self._lock = self._lock, None
        return lock

    def finish_with(self, work: Callable[[Database], None]) -> WriterLock | None:
        """Run something on the writer's connection as its last deed, then close, keeping the lock.

        What was handed in for writing before is written first; what comes later is refused.
        """
        if self._thread is None or self._writer is None:
            raise BugError("The workspace is closed.")
        self._finishing = True
        writer = self._writer
        try:
            self._thread.submit(lambda: work(writer)).result()
        except BaseException:
            self._finishing = False
            raise
        return self.close_keeping_lock()

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

    def reader(self) -> AbstractContextManager[Database]:
        """A read-only connection of the pool; a further one costs no key derivation."""
        return self._readers.lend()

    def copy_to(self, target: Path) -> None:
        """Write the workspace as it is now to a new file under the same key, while work goes on.

        Raises
        ------
        DiskFullError, ReadOnlyWorkspaceError
            No file is left then.
        """
        with self.reader() as db:
            copy_database(db, target, self._key)

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
        if self._finishing:
            raise WorkspaceBusyError(
                f"{self.path.name} is just being changed as a whole.",
                remedy="Wait a moment, then try again.",
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
        if self._watch is not None:
            self._watch.refuse_if_gone(db, self._key)
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
                transaction.write_head()
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
        if not (new or self.read_only):
            remove_unfinished(self.path)
            note = opening.check_log(self.path)
            if note:
                self.notes.append(note)
        with plain_errors(self.path):
            if not (new or self.read_only):
                self._check_unchanged()
            db = self._connect()
            if self.read_only:
                opening.check_database(self.path, db)
                opening.refuse_pending(self.path, db)
            elif not new and schema.migrations.pending(db):
                db = self._migrate(db)
            if not self.read_only:
                self._prepare_for_writing(db, new=new)
            rows = fetch_all(db, "SELECT value FROM meta WHERE key = 'origin'")
            if not new:
                note = opening.check_clock(db)
                if note:
                    self.notes.append(note)
        if not rows:
            raise DamagedWorkspaceError(
                f"{self.path.name} has lost its own description.",
                remedy="Restore the last good backup.",
            )
        self.origin = rows[0]["value"]
        self._watch = FileWatch(self.path)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=self._thread_name)

    def _check_unchanged(self) -> None:
        """Check the file before anything may be written: closing a connection that may write folds
        the log into the file, and what is refused has to stay as it is."""
        db = open_connection(self.path, self._key, read_only=True)
        try:
            opening.check_database(self.path, db)
        finally:
            db.conn.close()

    def _connect(self) -> Database:
        self._writer = open_connection(self.path, self._key, read_only=self.read_only)
        enlarge_cache(self._writer)
        return self._writer

    def _prepare_for_writing(self, db: Database, *, new: bool) -> None:
        db.conn.execute("PRAGMA journal_mode = WAL")
        # FULL waits for the disk at each commit: 'Saved' has to mean on disk, power cut or not.
        db.conn.execute("PRAGMA synchronous = FULL")
        if new:
            schema.migrate(db)
            db.conn.execute("INSERT INTO meta VALUES ('origin', ?)", (new_id(),))
            db.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            if os.name == "posix":
                self.path.chmod(0o600)

    def _migrate(self, db: Database) -> Database:
        """Bring the file up to date by way of a copy, after a backup; returns a new connection."""
        from core.storage.backups import new_backup_path

        backup = new_backup_path(self.path, db, "before-update")
        copy_database(db, backup, self._key)
        db.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        db.conn.close()
        self._writer = None
        opening.migrate_copy(self.path, self._key, backup)
        return self._connect()
