"""A text in sections to read and to select from, with places counted in the whole text's code points."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Signal
from PySide6.QtGui import QFocusEvent, QTextCursor

from app.text_offsets import OffsetMap
from app.widgets.reader import Mark, Reader
from core.types import SectionText

_HEADING = re.compile(r"^#{1,6}[ \t]+(?P<title>[^\n]+?)[ \t]*#*[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Part:
    """A section and where its text begins and ends in the whole."""

    title: str
    start: int
    end: int


def split_text(text: str) -> list[_Part]:
    """A text at its markdown headings, places kept; white space around sections is left out."""
    parts: list[_Part] = []
    title, start = "", 0
    for found in _HEADING.finditer(text):
        parts.append(_Part(title, start, found.start()))
        title, start = found["title"].strip("* "), found.end()
    parts.append(_Part(title, start, len(text)))
    trimmed = []
    for part in parts:
        body = text[part.start : part.end]
        start = part.start + len(body) - len(body.lstrip())
        end = part.start + len(body.rstrip())
        if part.title or start < end:
            trimmed.append(_Part(part.title, min(start, end) if start > end else start, end))
    return trimmed


class TextView(Reader):
    """Shows a text; `selection` and `set_spans` speak of places in it."""

    entered = Signal()

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._whole = ""
        self._parts: list[_Part] = []

    @property
    def whole(self) -> str:
        return self._whole

    def set_whole(self, text: str) -> None:
        """Show a text at its top; one that is shown already stays where it is."""
        if text == self._whole:
            return
        self._whole = text
        self._parts = split_text(text)
        self.set_sections(
            [
                SectionText(title=p.title, text=text[p.start : max(p.start, p.end)])
                for p in self._parts
            ]
        )
        self.moveCursor(QTextCursor.MoveOperation.Start)
        self.verticalScrollBar().setValue(0)

    def selection(self) -> tuple[int, int] | None:
        """What is selected, as places in the whole text; None for nothing."""
        cursor = self.textCursor()
        if not cursor.hasSelection():
            return None
        start, end = self._place(cursor.selectionStart()), self._place(cursor.selectionEnd())
        return (start, end) if start < end else None

    def set_spans(self, spans: Sequence[tuple[int, int, str, str, bool, bool]]) -> None:
        """Mark stretches: (start, end, ground, ink, underline, strike)."""
        marks = []
        for start, end, ground, ink, underline, strike in spans:
            for number, part in enumerate(self._parts):
                low, high = max(start, part.start), min(end, part.end)
                if low < high:
                    marks.append(
                        Mark(
                            number,
                            low - part.start,
                            high - part.start,
                            ground=ground,
                            ink=ink,
                            underline=underline,
                            strike=strike,
                        )
                    )
        self.set_marks(marks)

    def show_place(self, start: int) -> None:
        """Scroll so that a place in the whole text is in view."""
        for number, part in enumerate(self._parts):
            if part.start <= start <= part.end:
                cursor = QTextCursor(self.document())
                cursor.setPosition(self.position_of(number, start - part.start))
                rect = self.cursorRect(cursor)
                view = self.viewport().rect()
                if not view.adjusted(0, 24, 0, -24).contains(rect.center()):
                    bar = self.verticalScrollBar()
                    bar.setValue(bar.value() + rect.top() - view.height() // 3)
                return

    def select_span(self, start: int, end: int) -> None:
        """Select a stretch of the whole text, as a person would."""
        cursor = QTextCursor(self.document())
        for place, mode in (
            (start, QTextCursor.MoveMode.MoveAnchor),
            (end, QTextCursor.MoveMode.KeepAnchor),
        ):
            for number, part in enumerate(self._parts):
                if part.start <= place <= part.end:
                    cursor.setPosition(self.position_of(number, place - part.start), mode)
                    break
        self.setTextCursor(cursor)

    def _place(self, position: int) -> int:
        """The place in the whole text of Qt's position in the document."""
        found = 0
        for number, part in enumerate(self._parts):
            begin = self.position_of(number, 0)
            if position < begin:
                # Inside a heading: the section begins there.
                return part.start if found < part.start else found
            text = self.sections[number].text
            inside = OffsetMap(text).to_code_points(position - begin)
            found = part.start + min(inside, len(text))
            if position - begin <= len(text) + sum(ord(c) > 0xFFFF for c in text):
                return found
        return found

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.entered.emit()
