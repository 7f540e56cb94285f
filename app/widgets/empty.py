"""What a page shows when there is nothing yet: what it is for, and the first step."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app import theme
from app.widgets.basics import IconLabel, label
from app.widgets.buttons import Button


class EmptyState(QWidget):
    """An icon, one line that says what is missing, what the page is for, and buttons for a first step.

    Parameters
    ----------
    steps
        (text, slot) pairs; the first is the page's primary action.
    """

    def __init__(
        self,
        icon: str,
        heading: str,
        text: str,
        *steps: tuple[str, Callable[[], object]],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setAccessibleName(heading)
        self.setAccessibleDescription(text)
        layout = QVBoxLayout(self)
        layout.setSpacing(theme.S)
        layout.addStretch(2)
        layout.addWidget(IconLabel(icon, "accent", 36), 0, Qt.AlignmentFlag.AlignHCenter)
        layout.addSpacing(theme.S)
        title = label(heading, "heading")
        title.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        layout.addWidget(title)
        words = label(text, "muted", wrap=True)
        words.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        words.setMaximumWidth(theme.current().px(460))
        middle = QHBoxLayout()
        middle.addStretch(1)
        middle.addWidget(words, 8)
        middle.addStretch(1)
        layout.addLayout(middle)
        layout.addSpacing(theme.S)
        buttons = QHBoxLayout()
        buttons.setSpacing(theme.S)
        buttons.addStretch(1)
        self.buttons: list[Button] = []
        for number, (caption, slot) in enumerate(steps):
            button = Button(caption, "" if number else "primary")
            button.clicked.connect(slot)
            buttons.addWidget(button)
            self.buttons.append(button)
        buttons.addStretch(1)
        layout.addLayout(buttons)
        layout.addStretch(3)
