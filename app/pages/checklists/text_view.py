"""A text in sections to read and to select from, with places counted in the whole text's code points.

Beside each line where a marked stretch begins its sign stands in the margin.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QFont,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextCursor,
)
from PySide6.QtWidgets import QWidget

from app import theme
from app.text_offsets import OffsetMap
from app.widgets.reader import Mark, Reader
from core.types import SectionText

_HEADING = re.compile(r"^#{1,6}[ \t]+(?P<title>[^\n]+?)[ \t]*#*[ \t]*$", re.MULTILINE)


#: Width of the margin for signs.
_MARGIN = 20


@dataclass(frozen=True, slots=True)
class Stretch:
    """A marked stretch of the whole text: tokens of ground and ink, and the sign in the margin."""

    start: int
    end: int
    ground: str
    ink: str
    underline: bool = False
    sign: str = ""


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
    """Shows a text; `selection` and `set_stretches` speak of places in it."""

    entered = Signal()
    #: A click without a selection: the place in the whole text.
    pointed = Signal(int)

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._whole = ""
        self._parts: list[_Part] = []
        self._stretches: tuple[Stretch, ...] = ()
        self._margin = _Margin(self)
        self.verticalScrollBar().valueChanged.connect(self._margin.update)
        self._fit_margin()

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

    def set_stretches(self, stretches: Sequence[Stretch]) -> None:
        """Mark stretches, later ones over earlier ones."""
        self._stretches = tuple(stretches)
        marks = []
        for stretch in stretches:
            for number, part in enumerate(self._parts):
                low, high = max(stretch.start, part.start), min(stretch.end, part.end)
                if low < high:
                    marks.append(
                        Mark(
                            number,
                            low - part.start,
                            high - part.start,
                            ground=stretch.ground,
                            ink=stretch.ink,
                            underline=stretch.underline,
                        )
                    )
        self.set_marks(marks)
        self._margin.update()

    def signs(self) -> list[tuple[int, int, str]]:
        """(top, height, signs) in pixels of the viewport for each line where marked stretches begin."""
        lines: dict[tuple[int, int], list[str]] = {}
        for stretch in sorted(self._stretches, key=lambda one: one.start):
            cursor = self._cursor_at(stretch.start) if stretch.sign else None
            if cursor is not None:
                rect = self.cursorRect(cursor)
                found = lines.setdefault((rect.top(), rect.height()), [])
                if stretch.sign not in found:
                    found.append(stretch.sign)
        return [(top, height, "".join(signs)) for (top, height), signs in lines.items()]

    def show_place(self, start: int) -> None:
        """Scroll so that a place in the whole text is in view."""
        cursor = self._cursor_at(start)
        if cursor is None:
            return
        rect = self.cursorRect(cursor)
        view = self.viewport().rect()
        if not view.adjusted(0, 24, 0, -24).contains(rect.center()):
            bar = self.verticalScrollBar()
            bar.setValue(bar.value() + rect.top() - view.height() // 3)

    def select_span(self, start: int, end: int) -> None:
        """Select a stretch of the whole text, as a person would."""
        cursor, last = self._cursor_at(start), self._cursor_at(end)
        if cursor is not None and last is not None:
            cursor.setPosition(last.position(), QTextCursor.MoveMode.KeepAnchor)
            self.setTextCursor(cursor)

    def _cursor_at(self, place: int) -> QTextCursor | None:
        """A cursor at a place in the whole text; None between sections."""
        for number, part in enumerate(self._parts):
            if part.start <= place <= part.end:
                cursor = QTextCursor(self.document())
                cursor.setPosition(self.position_of(number, place - part.start))
                return cursor
        return None

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

    def _fit_margin(self) -> None:
        width = theme.current().px(_MARGIN)
        # The text has the rest; the margin itself lies outside the viewport.
        self.setViewportMargins(width, 0, 0, 0)
        inside = self.contentsRect()
        self._margin.setGeometry(QRect(inside.left(), inside.top(), width, inside.height()))

    def _dress(self) -> None:
        super()._dress()
        if hasattr(self, "_margin"):
            self._fit_margin()

    # -- Qt ------------------------------------------------------------------------------

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.entered.emit()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        if event.button() == Qt.MouseButton.LeftButton and not self.textCursor().hasSelection():
            cursor = self.cursorForPosition(event.position().toPoint())
            self.pointed.emit(self._place(cursor.position()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._fit_margin()
        super().resizeEvent(event)


class _Margin(QWidget):
    """The signs of the marked stretches, beside their first lines. The list of items says the same."""

    def __init__(self, view: TextView) -> None:
        super().__init__(view)
        self._view = view
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        current = theme.current()
        painter.setFont(current.ui_font(theme.SMALL, weight=QFont.Weight.DemiBold))
        painter.setPen(current.color("muted"))
        top = self._view.viewport().mapTo(self._view, QPoint(0, 0)).y() - self.y()
        for place, height, signs in self._view.signs():
            area = QRect(0, top + place, self.width(), height)
            if area.bottom() >= 0 and area.top() <= self.height():
                # More signs than there is room for: the first, and that there are others.
                text = signs if len(signs) < 3 else f"{signs[0]}…"
                painter.drawText(area, Qt.AlignmentFlag.AlignCenter, text)

    def sizeHint(self) -> QSize:
        return QSize(theme.current().px(_MARGIN), 0)
