"""Fields that save themselves. 'Saved' is said when the writer has the change on the disk, not before."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from datetime import datetime
from typing import Any, Literal

from PySide6.QtCore import QEvent, QObject, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QKeyEvent, QKeySequence, QTextCursor
from PySide6.QtWidgets import QLineEdit, QSizePolicy, QWidget

from app import theme
from app.session import Session
from app.strings import say
from app.widgets.basics import ElidedLabel
from app.widgets.reader import ReadingText

SaveState = Literal["idle", "dirty", "saving", "saved", "failed"]

_PAUSE_MILLISECONDS = 700
_LONGEST_MILLISECONDS = 3000


class Saver(QObject):
    """Decides when to write: at a pause in typing, at the latest after some seconds, or when told to.

    Parameters
    ----------
    start
        Submits what the fields hold now to the writer (``session.workspace.submit``) and returns its
        future, or None when nothing differs. Errors it raises, and the future's, are shown.
    """

    state_changed = Signal(str)

    def __init__(
        self, session: Session, start: Callable[[], Future[Any] | None], parent: QWidget
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._start = start
        self._owner = parent
        self._future: Future[Any] | None = None
        self.state: SaveState = "idle"
        self.saved_at: datetime | None = None
        self._pause = self._timer(_PAUSE_MILLISECONDS)
        self._longest = self._timer(_LONGEST_MILLISECONDS)

    @property
    def dirty(self) -> bool:
        """Whether something typed is not yet on its way to the disk."""
        return self.state in ("dirty", "failed")

    @Slot()
    def touch(self) -> None:
        """Something was typed."""
        self._pause.start()
        if not self._longest.isActive():
            self._longest.start()
        self._set("dirty")

    @Slot()
    def flush(self) -> Future[Any] | None:
        """Write now what was typed; the future of the write under way, or None."""
        self._pause.stop()
        self._longest.stop()
        if not self.dirty:
            return self._future if self._future is not None and not self._future.done() else None
        try:
            future = self._start()
        except Exception as error:
            self._set("failed")
            self._session.jobs.failed.emit(error, self._owner)
            return None
        if future is None:
            self._set("saved" if self.saved_at else "idle")
            return None
        self._future = future
        self._set("saving")
        self._session.jobs.watch(self, future).success(self._on_saved).failure(self._on_failed)
        return future

    def note_saved(self) -> None:
        """What another control of the page wrote is on the disk."""
        self.saved_at = datetime.now()
        if self.state in ("idle", "saved"):
            self._set("saved")

    def words(self) -> str:
        """The state in words: 'Saved on disk 09:42:11'."""
        if self.state == "dirty":
            return say("Not saved yet")
        if self.state == "saving":
            return say("Saving …")
        if self.state == "failed":
            return say("Not saved: see the message")
        if self.saved_at is not None:
            return say("Saved on disk {time}", time=f"{self.saved_at:%H:%M:%S}")
        return ""

    def _timer(self, milliseconds: int) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setInterval(milliseconds)
        timer.timeout.connect(self.flush)
        return timer

    def _on_saved(self, _outcome: Any) -> None:
        self.saved_at = datetime.now()
        if self.state == "saving" and self._future is not None and self._future.done():
            self._set("saved")

    def _on_failed(self, error: BaseException) -> None:
        self._set("failed")
        self._session.jobs.failed.emit(error, self._owner)

    def _set(self, state: SaveState) -> None:
        self.state = state
        self.state_changed.emit(self.words())


class SaveLabel(ElidedLabel):
    """Shows a `Saver`'s state; in a narrow window it gives way to the buttons beside it."""

    def __init__(self, saver: Saver, parent: QWidget | None = None) -> None:
        super().__init__(saver.words(), parent)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setProperty("role", "small")
        saver.state_changed.connect(self.setText)


class ProseEditor(ReadingText):
    """A field for running text in the reading face. Esc leaves it, Tab goes on.

    Parameters
    ----------
    lines, most
        How many lines it has room for at first; with ``most`` it grows with its text up to so many.
    """

    edited = Signal()

    def __init__(
        self,
        name: str,
        *,
        placeholder: str = "",
        lines: int = 4,
        most: int = 0,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(name, parent)
        self._lines = lines
        self._most = most
        self._loading = False
        self.setProperty("role", "prose")
        self.setPlaceholderText(placeholder)
        self.textChanged.connect(self._on_text)
        if most:
            self.document().documentLayout().documentSizeChanged.connect(self._grow)
        self._dress()

    @property
    def text(self) -> str:
        return self.toPlainText()

    def load(self, text: str) -> None:
        """Show a text from the workspace; the cursor stays near where it was."""
        if text == self.text:
            return
        place = self.textCursor().position()
        scroll = self.verticalScrollBar().value()
        self._loading = True
        self.setPlainText(text)
        self._space_lines()
        self._loading = False
        cursor = self.textCursor()
        cursor.setPosition(min(place, self.document().characterCount() - 1))
        self.setTextCursor(cursor)
        self.verticalScrollBar().setValue(scroll)

    def _space_lines(self) -> None:
        cursor = QTextCursor(self.document())
        self.document().setUndoRedoEnabled(False)
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.mergeBlockFormat(self.block_format())
        self.document().setUndoRedoEnabled(True)

    def _dress(self) -> None:
        super()._dress()
        self._loading = True
        self._space_lines()
        self._loading = False
        self.updateGeometry()

    def _on_text(self) -> None:
        if not self._loading:
            self.edited.emit()

    def _grow(self) -> None:
        line = round(theme.READING_LINE * theme.current().scale)
        around = self.height() - self.viewport().height()
        text = round(self.document().size().height())
        least, most = (line * lines + 2 * theme.L for lines in (self._lines, self._most))
        self.setFixedHeight(max(least, min(most, text + around)))

    def sizeHint(self) -> QSize:
        line = round(theme.READING_LINE * theme.current().scale)
        return QSize(480, line * self._lines + 2 * theme.L)

    def minimumSizeHint(self) -> QSize:
        line = round(theme.READING_LINE * theme.current().scale)
        return QSize(160, line * min(self._lines, 2) + 2 * theme.L)

    def event(self, event: QEvent) -> bool:
        document = self.document()
        if _leaves_undo(event, document.isUndoAvailable(), document.isRedoAvailable()):
            return False
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            leave(self)
            return
        super().keyPressEvent(event)


class LineEditor(QLineEdit):
    """A one-line field. Esc leaves it."""

    edited = Signal()

    def __init__(self, name: str, *, placeholder: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setPlaceholderText(placeholder)
        self.textEdited.connect(self._on_edited)

    def load(self, text: str) -> None:
        """Show a text from the workspace; the cursor stays."""
        if text != self.text():
            place = self.cursorPosition()
            self.setText(text)
            self.setCursorPosition(min(place, len(text)))

    def _on_edited(self) -> None:
        self.edited.emit()

    def event(self, event: QEvent) -> bool:
        if _leaves_undo(event, self.isUndoAvailable(), self.isRedoAvailable()):
            return False
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            leave(self)
            return
        super().keyPressEvent(event)


def _leaves_undo(event: QEvent, can_undo: bool, can_redo: bool) -> bool:
    """When a field has nothing left to undo, the key is the workspace's."""
    if event.type() != QEvent.Type.ShortcutOverride or not isinstance(event, QKeyEvent):
        return False
    keys = QKeySequence.StandardKey
    spent = (event.matches(keys.Undo) and not can_undo) or (
        event.matches(keys.Redo) and not can_redo
    )
    if spent:
        event.ignore()
    return spent


def leave(field: QWidget) -> None:
    """Give the keyboard back to the page a field is on, so that its single keys work again."""
    from app.pages.base import Page

    seeker: QWidget | None = field.parentWidget()
    while seeker is not None and not isinstance(seeker, Page):
        seeker = seeker.parentWidget()
    if isinstance(seeker, Page):
        target = seeker.first_focus()
        if target is None or target is field:
            seeker.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
            target = seeker
        target.setFocus(Qt.FocusReason.OtherFocusReason)
    else:
        field.clearFocus()
