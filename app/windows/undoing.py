"""Undo and redo of the window: what the last deed was, taking it back, bringing it back."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from app.session import Session
from app.strings import say
from app.widgets.notice import Toast
from app.windows.work import WorkSurface
from core.changes import Changes, Outcome
from core.errors import NotFoundError

if TYPE_CHECKING:
    from core.storage.undo import UndoEntry
    from core.storage.workspace import Workspace


class Undoing(QObject):
    """Keeps the bottom bar's word of what undo would undo.

    Parameters
    ----------
    settle
        Waits until what was typed is on disk: that comes before anything is taken back.
    """

    def __init__(
        self, session: Session, work: WorkSurface, toast: Toast, settle: Callable[[], bool]
    ) -> None:
        super().__init__(work)
        self._session = session
        self._work = work
        self._toast = toast
        self._settle = settle
        self._generation = 0
        session.bus.changed.connect(self.look)

    @Slot()
    def undo(self) -> None:
        """Take back the person's last deed."""
        from core.storage.undo import undo

        self._step(undo, "Undid: {label}")

    @Slot()
    def redo(self) -> None:
        """Bring it back."""
        from core.storage.undo import redo

        self._step(redo, "Did again: {label}")

    def _step(self, step: Callable[[Workspace, str], Outcome[UndoEntry]], words: str) -> None:
        if not self._session.has_workspace or self._session.workspace.read_only:
            return
        self._settle()

        def told(outcome: Outcome[UndoEntry]) -> None:
            self._toast.say(say(words, label=outcome.value.label))

        self._session.jobs.run(
            self, step, self._session.workspace, self._session.person_id
        ).success(told).failure(self._say_no_undo)

    def _say_no_undo(self, error: BaseException) -> None:
        if isinstance(error, NotFoundError):
            self._toast.say(error.message)
        else:
            self._session.jobs.failed.emit(error, self._work)

    @Slot(object)
    def look(self, changes: Changes | None = None) -> None:
        if not self._session.has_workspace or not self._session.person_id:
            return
        from core.storage.undo import undoable

        self._generation += 1
        generation = self._generation

        def take(entry: UndoEntry | None) -> None:
            if generation == self._generation and self._session.has_workspace:
                self._work.bottom.show_undo(entry)

        self._session.jobs.run(
            self._work, undoable, self._session.workspace, self._session.person_id
        ).success(take)
