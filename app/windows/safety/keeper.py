"""Backups that make themselves: on opening, and every hour while something changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.errors import write_to_log
from app.session import Session
from app.strings import say
from core.errors import RifugioError

if TYPE_CHECKING:
    from core.storage.backups import Backup, Reason

_LOOK_EVERY_MINUTES = 10


class BackupKeeper(QObject):
    """Looks now and then whether a backup is due, off the UI thread."""

    #: Something the person should know, once.
    said = Signal(str)
    made = Signal()

    def __init__(self, session: Session, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session
        self._told = False
        self._timer = QTimer(self)
        self._timer.setInterval(_LOOK_EVERY_MINUTES * 60_000)
        self._timer.timeout.connect(self._look)
        session.workspace_changed.connect(self._follow)

    @Slot()
    def _follow(self) -> None:
        if self._session.has_workspace and not self._session.workspace.read_only:
            self._told = False
            self._timer.start()
            self._ask("open")
        else:
            self._timer.stop()

    @Slot()
    def _look(self) -> None:
        self._ask("hourly")

    def _ask(self, reason: Reason) -> None:
        workspace = self._session.workspace

        def make() -> Backup | None:
            from core.storage.backups import back_up_if_due

            return back_up_if_due(workspace, reason)

        self._session.jobs.run(self, make).success(self._on_made).failure(self._on_failed)

    def _on_made(self, backup: Backup | None) -> None:
        if backup is not None:
            self.made.emit()

    def _on_failed(self, error: BaseException) -> None:
        if not self._session.has_workspace:
            # It was closed or locked meanwhile; the next opening makes one.
            return
        write_to_log(error)
        if not self._told:
            self._told = True
            reason = error.message if isinstance(error, RifugioError) else type(error).__name__
            self.said.emit(say("No backup could be made: {reason}", reason=reason))
