"""What happens when something fails: the log, the hooks, and the one dialog that says so in words.

The log holds where and what kind, never a text of the workspace: messages of unknown exceptions can
quote a document, so only their type and the places in the code are written.
"""

from __future__ import annotations

import logging
import platform
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app import theme
from app.strings import say
from core.errors import BugError, KnownError, RifugioError
from core.settings import data_directory

log = logging.getLogger("rifugio")

_LOG_BYTES = 500_000


def log_path() -> Path:
    """Where the log lies."""
    return data_directory() / "logs" / "rifugio.log"


def start_log() -> None:
    """Write the log to its file; past some hundred kilobytes a new one is begun and the old one kept."""
    path = log_path()
    if any(isinstance(handler, logging.FileHandler) for handler in log.handlers):
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and path.stat().st_size > _LOG_BYTES:
            path.replace(path.with_suffix(".old.log"))
        handler = logging.FileHandler(path, encoding="utf-8", delay=True)
    except OSError:
        return
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    log.propagate = False


def stop_log() -> None:
    """Let go of the log file."""
    for handler in list(log.handlers):
        log.removeHandler(handler)
        handler.close()


def describe_failure(error: BaseException) -> str:
    """Technical text for 'Copy details' and the log: kinds and places, no words of the workspace."""
    lines = [
        f"Rifugio on {platform.system()} {platform.release()}, Python {sys.version.split()[0]}"
    ]
    seen: BaseException | None = error
    while seen is not None:
        lines.append(f"{type(seen).__module__}.{type(seen).__name__}")
        for frame in traceback.extract_tb(seen.__traceback__):
            lines.append(f"  {_short_path(frame.filename)}:{frame.lineno} in {frame.name}")
        seen = seen.__cause__ or (None if seen.__suppress_context__ else seen.__context__)
    return "\n".join(lines)


def in_words(error: BaseException) -> tuple[str, str, str]:
    """What happened, what to do next, and details for 'Copy details'."""
    technical = describe_failure(error)
    if isinstance(error, RifugioError):
        details = (
            f"{error.message}\n{error.details}\n{technical}"
            if error.details
            else (f"{error.message}\n{technical}")
        )
        return error.message, error.remedy, details
    if isinstance(error, OSError) and error.filename:
        return (
            say("{name} could not be used: {reason}.", name=error.filename, reason=error.strerror),
            say("Check that the file is there and may be read and written."),
            technical,
        )
    if isinstance(error, MemoryError):
        return (
            say("This machine ran out of memory."),
            say("Close other programs, or use a smaller model, and try again."),
            technical,
        )
    return (
        say(
            "Rifugio made a mistake ({kind}). Nothing that was saved is lost.",
            kind=type(error).__name__,
        ),
        say("Try again. If it happens again, please report it with the details."),
        technical,
    )


def write_to_log(error: BaseException) -> None:
    """Log a failure without any document text: a known error's kind, an unknown one's places too."""
    if isinstance(error, KnownError):
        log.warning("%s", type(error).__name__)
    else:
        log.error("%s", describe_failure(error))


class ErrorDialog(QDialog):
    """Says what happened, to which thing and what to do; details go to the clipboard on request."""

    def __init__(self, error: BaseException, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        message, remedy, self._details = in_words(error)
        self.setWindowTitle(say("Something went wrong"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setModal(True)
        self.setMinimumWidth(theme.current().px(460))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.XL, theme.XL, theme.XL, theme.L)
        layout.setSpacing(theme.M)
        self.message_label = _wrapped(message, "heading")
        self.remedy_label = _wrapped(remedy, "")
        self.remedy_label.setVisible(bool(remedy))
        layout.addWidget(self.message_label)
        layout.addWidget(self.remedy_label)
        layout.addSpacing(theme.S)
        buttons = QHBoxLayout()
        self.copy_button = QPushButton(say("Copy details"))
        self.copy_button.clicked.connect(self.copy_details)
        self.close_button = QPushButton(say("Close"))
        self.close_button.setProperty("kind", "primary")
        self.close_button.setDefault(True)
        self.close_button.clicked.connect(self.accept)
        buttons.addWidget(self.copy_button)
        buttons.addStretch(1)
        buttons.addWidget(self.close_button)
        layout.addLayout(buttons)
        self.setAccessibleDescription(f"{message} {remedy}".strip())
        self.close_button.setFocus()

    def copy_details(self) -> None:
        """Put the technical details on the clipboard."""
        QGuiApplication.clipboard().setText(self._details)
        self.copy_button.setText(say("Copied"))


def show_error(error: BaseException, parent: QWidget | None = None) -> ErrorDialog:
    """Log a failure and show it; returns at once."""
    write_to_log(error)
    dialog = ErrorDialog(error, parent.window() if parent is not None else None)
    dialog.open()
    return dialog


class ExceptionHooks(QObject):
    """Brings what nobody caught, on any thread, to ``show`` on the main thread."""

    _caught = Signal(object)

    def __init__(self, show: Callable[[BaseException], object], parent: QObject) -> None:
        super().__init__(parent)
        self._show = show
        self._showing = False
        self._previous = (sys.excepthook, threading.excepthook)
        self._caught.connect(self._present, Qt.ConnectionType.QueuedConnection)
        sys.excepthook = self._on_main
        threading.excepthook = self._on_thread

    def remove(self) -> None:
        """Put the earlier hooks back."""
        sys.excepthook, threading.excepthook = self._previous

    def _on_main(
        self,
        kind: type[BaseException],
        error: BaseException,
        trace: TracebackType | None,
    ) -> None:
        if issubclass(kind, KeyboardInterrupt):
            self._previous[0](kind, error, trace)
            return
        self._caught.emit(error)

    def _on_thread(self, arguments: threading.ExceptHookArgs) -> None:
        if arguments.exc_value is not None:
            self._caught.emit(arguments.exc_value)

    @Slot(object)
    def _present(self, error: BaseException) -> None:
        # An error while showing an error must not go round in a circle.
        if self._showing:
            write_to_log(error)
            return
        self._showing = True
        try:
            self._show(error if isinstance(error, Exception) else BugError(type(error).__name__))
        finally:
            self._showing = False


def _short_path(path: str) -> str:
    """The end of a source path, without the person's folders."""
    parts = Path(path).parts
    return "/".join(parts[-3:])


def _wrapped(text: str, role: str) -> QLabel:
    label = QLabel(text)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    if role:
        label.setProperty("role", role)
    return label
