"""Noticing that nobody has touched keyboard or mouse for a while."""

from __future__ import annotations

import time

from PySide6.QtCore import QEvent, QObject, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QWindow

_TOUCHES = frozenset(
    {
        QEvent.Type.KeyPress,
        QEvent.Type.MouseButtonPress,
        QEvent.Type.MouseMove,
        QEvent.Type.Wheel,
        QEvent.Type.TouchBegin,
        QEvent.Type.InputMethod,
    }
)


class IdleWatch(QObject):
    """Emits `idled` once after so many minutes without a touch; 0 never."""

    idled = Signal()

    def __init__(self, minutes: int, parent: QObject) -> None:
        super().__init__(parent)
        #: When somebody last touched something, by the clock of `time.monotonic`.
        self.touched = time.monotonic()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.idled)
        # Filtering windows, not every widget, keeps Python out of the way of most events.
        app = QGuiApplication.instance()
        assert isinstance(app, QGuiApplication)
        app.focusWindowChanged.connect(self._watch)
        self.set_minutes(minutes)

    def set_minutes(self, minutes: int) -> None:
        """Wait so long from now on."""
        self._timer.setInterval(minutes * 60_000)
        if minutes > 0:
            self._timer.start()
        else:
            self._timer.stop()

    def touch(self) -> None:
        """Somebody is there."""
        self.touched = time.monotonic()
        if self._timer.interval() > 0:
            self._timer.start()

    def _watch(self, window: QWindow | None) -> None:
        if window is not None:
            window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in _TOUCHES:
            self.touch()
        return False
