"""The parts of the review page: a text under its heading, and the foot with what can be decided."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout

from app import theme
from app.shortcuts import Shortcuts
from app.strings import count_of, say
from app.widgets.basics import Card, ElidedLabel
from app.widgets.buttons import Button
from app.widgets.editors import SaveLabel, Saver
from app.widgets.reader import Reader


class Side(Card):
    """A heading that gives way where there is no room, and the text under it."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.heading = ElidedLabel(name)
        self.heading.setProperty("role", "overline")
        self.head = QHBoxLayout()
        self.head.setSpacing(theme.S)
        self.head.addWidget(self.heading, 1)
        self.reader = Reader(name)
        self.add(self.head)
        self.add(self.reader, 1)

    def set_heading(self, name: str, words: int) -> None:
        """Say what the text is and how long."""
        self.reader.setAccessibleName(name)
        self.heading.setText(f"{name.upper()} · {count_of(words, 'word', 'words')}")


class Foot(Card):
    """Previous, next, where the item stands, whether it is saved, skip, submit."""

    def __init__(self, keys: Shortcuts, saver: Saver) -> None:
        super().__init__()
        self.setAccessibleName(say("Decide"))
        self.previous = Button(say("Previous"), "quiet", shortcuts=keys, action="review.previous")
        self.next = Button(say("Next"), "quiet", shortcuts=keys, action="review.next")
        self.skip = Button(say("Skip"), shortcuts=keys, action="review.skip")
        self.submit = Button(
            say("Submit and next"), "primary", shortcuts=keys, action="review.submit"
        )
        self.state = ElidedLabel()
        self.state.setProperty("role", "muted")
        self._line = QHBoxLayout()
        self._line.setSpacing(theme.S)
        self._line.addWidget(self.previous)
        self._line.addWidget(self.next)
        self._line.addSpacing(theme.S)
        self._line.addWidget(self.state, 1)
        self._line.addWidget(SaveLabel(saver))
        self._line.addWidget(self.skip)
        self._line.addWidget(self.submit)
        self.box.setContentsMargins(theme.M, theme.S, theme.M, theme.S)
        self.add(self._line)

    def add_above(self, line: QHBoxLayout) -> None:
        """What is chosen before it is handed in."""
        self.box.insertLayout(0, line)

    def add_beside(self, button: Button) -> None:
        """Something that can be done besides, left of skipping."""
        self._line.insertWidget(self._line.indexOf(self.skip), button)
