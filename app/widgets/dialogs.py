"""Dialogs that are opened, never executed: a frame for own ones, questions, and choosing files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QDialog, QFileDialog, QHBoxLayout, QVBoxLayout, QWidget

from app import theme
from app.session import Session
from app.strings import say
from app.widgets.basics import label
from app.widgets.buttons import Button, Kind
from core.errors import BugError


class Dialog(QDialog):
    """A titled dialog with a body and a row of buttons; Esc leaves it. Open it with ``open()``."""

    def __init__(self, title: str, parent: QWidget, *, width: int = 520) -> None:
        super().__init__(parent.window())
        self._session = _session_near(parent)
        self.setWindowTitle(title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setModal(True)
        self.setMinimumWidth(theme.current().px(width))
        outer = QVBoxLayout(self)
        outer.setContentsMargins(theme.XL, theme.L, theme.XL, theme.L)
        outer.setSpacing(theme.M)
        self.title_label = label(title, "heading")
        outer.addWidget(self.title_label)
        self.body = QVBoxLayout()
        self.body.setSpacing(theme.S)
        outer.addLayout(self.body, 1)
        self.buttons = QHBoxLayout()
        self.buttons.setSpacing(theme.S)
        self.buttons.addStretch(1)
        outer.addSpacing(theme.S)
        outer.addLayout(self.buttons)
        if self._session is not None:
            # The window's own keys are not heard while a dialog is open, and this one has to be.
            self._session.shortcuts.bind(self, "lock", self._lock)

    @Slot()
    def _lock(self) -> None:
        below: QWidget | None = self
        while below is not None:
            lock = getattr(below, "lock", None)
            if lock is not None:
                lock()
                return
            below = below.parentWidget()

    @property
    def session(self) -> Session:
        """The session of the window it belongs to.

        Raises
        ------
        BugError
            When it was opened from where there is none.
        """
        if self._session is None:
            raise BugError(f"{type(self).__name__} was opened outside a window with a session.")
        return self._session

    def prefer_size(self, width: int, height: int) -> None:
        """Open this large in the text size of now, and no larger than the window it belongs to."""
        parent = self.parentWidget()
        assert parent is not None
        current, room = theme.current(), parent.size()
        wide, high = room.width() - theme.XL, room.height() - theme.XL
        self.setMinimumWidth(min(self.minimumWidth(), wide))
        self.resize(min(current.px(width), wide), min(current.px(height), high))

    def add_button(self, text: str, slot: Callable[[], object], kind: Kind = "") -> Button:
        """A button at the right; the primary one is pressed by Enter."""
        button = Button(text, kind)
        button.clicked.connect(slot)
        if kind == "primary":
            button.setAutoDefault(True)
            button.setDefault(True)
        self.buttons.addWidget(button)
        return button

    def add_cancel(self, text: str = "") -> Button:
        """The way out without doing anything."""
        return self.add_button(text or say("Cancel"), self.reject)


def _session_near(parent: QWidget) -> Session | None:
    for widget in (parent.window(), parent):
        session = getattr(widget, "session", None)
        if isinstance(session, Session):
            return session
    return None


class Question(Dialog):
    """Asks before something that can't be undone; calls back when the answer is yes."""

    def __init__(
        self,
        title: str,
        text: str,
        yes: str,
        slot: Callable[[], object],
        parent: QWidget,
        *,
        danger: bool = False,
    ) -> None:
        super().__init__(title, parent, width=440)
        self._slot = slot
        self.body.addWidget(label(text, wrap=True))
        self.cancel = self.add_cancel()
        self.yes = self.add_button(yes, self._confirm, "danger" if danger else "primary")
        if danger:
            self.cancel.setDefault(True)
        self.setAccessibleDescription(text)

    @Slot()
    def _confirm(self) -> None:
        self.accept()
        self._slot()


def ask(
    parent: QWidget,
    title: str,
    text: str,
    yes: str,
    slot: Callable[[], object],
    *,
    danger: bool = False,
) -> Question:
    """Open a `Question`."""
    question = Question(title, text, yes, slot, parent, danger=danger)
    question.open()
    return question


def tell(parent: QWidget, title: str, text: str) -> Dialog:
    """Open a dialog that only says something."""
    dialog = Dialog(title, parent, width=440)
    dialog.body.addWidget(label(text, wrap=True))
    dialog.setAccessibleDescription(text)
    dialog.add_button(say("Close"), dialog.accept, "primary")
    dialog.open()
    return dialog


class _FileChoice(QFileDialog):
    """A file dialog that hands over what was chosen."""

    def __init__(
        self, parent: QWidget, title: str, filters: str, slot: Callable[[list[Path]], object]
    ) -> None:
        super().__init__(parent.window(), title, "", filters)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._slot = slot
        self.filesSelected.connect(self._hand_over)

    @Slot(list)
    def _hand_over(self, names: list[str]) -> None:
        self._slot([Path(name) for name in names])


def choose_files(
    parent: QWidget,
    title: str,
    filters: str,
    slot: Callable[[list[Path]], object],
    *,
    many: bool = False,
) -> QFileDialog:
    """Let the person choose existing files; ``slot`` gets the paths."""
    dialog = _FileChoice(parent, title, filters, slot)
    mode = QFileDialog.FileMode
    dialog.setFileMode(mode.ExistingFiles if many else mode.ExistingFile)
    dialog.open()
    return dialog


def choose_folder(parent: QWidget, title: str, slot: Callable[[list[Path]], object]) -> QFileDialog:
    """Let the person choose a folder."""
    dialog = _FileChoice(parent, title, "", slot)
    dialog.setFileMode(QFileDialog.FileMode.Directory)
    dialog.setOption(QFileDialog.Option.ShowDirsOnly)
    dialog.open()
    return dialog


def choose_new_file(
    parent: QWidget,
    title: str,
    filters: str,
    suggestion: str,
    slot: Callable[[list[Path]], object],
) -> QFileDialog:
    """Let the person name a file to write; the dialog asks before one is overwritten."""
    dialog = _FileChoice(parent, title, filters, slot)
    dialog.setFileMode(QFileDialog.FileMode.AnyFile)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.selectFile(suggestion)
    suffix = Path(suggestion).suffix
    if suffix:
        dialog.setDefaultSuffix(suffix.lstrip("."))
    dialog.open()
    return dialog
