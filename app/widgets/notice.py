"""Messages that interrupt nobody: one in the page, and one that passes at the bottom."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from app import theme
from app.widgets.basics import IconLabel, label
from app.widgets.buttons import Button

Tone = Literal["info", "warning", "danger"]

_ICONS = {
    "info": ("info", "accent"),
    "warning": ("warning", "warning"),
    "danger": ("error", "danger"),
}
_TOAST_MILLISECONDS = 6000


class Notice(QFrame):
    """A framed line with an icon: colour is never the only sign."""

    def __init__(
        self,
        text: str = "",
        tone: Tone = "info",
        *,
        action: str = "",
        slot: Callable[[], object] | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(theme.M, theme.S, theme.M, theme.S)
        layout.setSpacing(theme.S)
        self._icon = IconLabel(*_ICONS[tone])
        self._label = label(text, wrap=True)
        # Beside the icon, also where the frame is higher than its text.
        self._label.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        layout.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        layout.addWidget(self._label, 1)
        self.setProperty("role", "notice" if tone == "info" else f"notice-{tone}")
        self.setAccessibleName(text)
        if action and slot is not None:
            button = Button(action, "link")
            button.clicked.connect(slot)
            layout.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)

    def set_text(self, text: str) -> None:
        """Say something else."""
        self._label.setText(text)
        self.setAccessibleName(text)

    @property
    def text(self) -> str:
        return self._label.text()


class Toast(QFrame):
    """One line over the bottom of a window that goes away by itself; also announced to screen readers."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.setProperty("role", "card")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(theme.L, theme.S, theme.L, theme.S)
        self._label = label("")
        layout.addWidget(self._label)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_TOAST_MILLISECONDS)
        self._timer.timeout.connect(self.hide)
        window.installEventFilter(self)
        self.hide()

    def say(self, text: str) -> None:
        """Show a line for a few seconds."""
        self._label.setText(text)
        self.setAccessibleName(text)
        self.adjustSize()
        self._settle()
        self.show()
        self.raise_()
        self._timer.start()
        if QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, text))

    def _settle(self) -> None:
        window = self.parentWidget()
        assert window is not None
        self.move(
            (window.width() - self.width()) // 2,
            window.height() - self.height() - theme.current().px(48),
        )

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and self.isVisible():
            self._settle()
        return super().eventFilter(watched, event)
