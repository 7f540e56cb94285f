"""The verdicts on an editor's sentences: bars beside their lines, which move as the text is edited."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter, QPaintEvent

from app import theme
from app.pages.drafts.positions import Positions
from core.editing.tracked import Patch, Tracked

_BAR = 3


@dataclass(frozen=True, slots=True)
class BarLook:
    """A verdict's bar: the token of its colour, and the pieces and gaps of it; whole without gaps."""

    color: str
    piece: int = 0
    gap: int = 0


#: By verdict, what wants a look most last: it covers the others where two sentences share a line. Not by
#: colour alone: the pieces of a bar are the shorter the more it wants a look.
BARS = {
    "supported": BarLook("supported"),
    "perhaps": BarLook("supported", 9, 3),
    "not found": BarLook("not_found", 4, 2),
    "contradicted": BarLook("contradicted", 2, 2),
}


@dataclass(frozen=True, slots=True)
class SupportMark:
    """A sentence of the current text and its verdict."""

    start: int
    end: int
    verdict: str


_ORDER = {verdict: place for place, verdict in enumerate(BARS)}


def paint_bar(painter: QPainter, rect: QRectF, verdict: str) -> None:
    """Draw a verdict's bar, whole or in pieces."""
    look, current = BARS[verdict], theme.current()
    painter.fillRect(rect, current.color("surface"))
    y, piece = rect.top(), float(look.piece) if look.gap else rect.height()
    while y < rect.bottom():
        height = min(piece, rect.bottom() - y)
        painter.fillRect(QRectF(rect.left(), y, rect.width(), height), current.color(look.color))
        y += piece + look.gap


class SupportBars:
    """Mixed into a text edit whose text and positions it uses."""

    tracked: Tracked
    viewport: Callable[[], Any]
    cursorForPosition: Callable[..., Any]
    _positions: Positions
    #: (start, end, verdict, number of the mark) in the displayed text's places.
    _support: list[tuple[int, int, str, int]]

    def block_box(self, block: Any) -> QRectF:
        """Where a block is drawn, in the viewport's places."""
        raise AssertionError("the editor says")

    def set_support(self, marks: Sequence[SupportMark]) -> None:
        """Show verdicts as a bar beside the lines of their sentences, in the current text's places."""
        deleted = [span for span in self.tracked.spans if span.kind == "deleted"]
        self._support = []
        shift = passed = 0
        for number, mark in enumerate(marks):
            while passed < len(deleted) and deleted[passed].start <= mark.start + shift:
                shift += deleted[passed].end - deleted[passed].start
                passed += 1
            inner, ahead = 0, passed
            while ahead < len(deleted) and deleted[ahead].start < mark.end + shift + inner:
                inner += deleted[ahead].end - deleted[ahead].start
                ahead += 1
            self._support.append(
                (mark.start + shift, mark.end + shift + inner, mark.verdict, number)
            )
        self.viewport().update()

    @property
    def support_marks(self) -> list[tuple[int, int, str, int]]:
        """(start, end, verdict, number) of the verdicts, in the displayed text's places."""
        return self._support

    def support_at(self, place: int) -> int:
        """The number of the verdict at a place of the displayed text; -1 for none."""
        for start, end, _verdict, number in self._support:
            if start <= place <= end:
                return number
        return -1

    def _move_support(self, patch: Patch) -> None:
        """Verdicts stay beside their sentences; those of sentences that changed go."""
        end, shift = patch.start + patch.removed, len(patch.text) - patch.removed
        moved = []
        for first, last, verdict, number in self._support:
            if last <= patch.start:
                moved.append((first, last, verdict, number))
            elif first >= end:
                moved.append((first + shift, last + shift, verdict, number))
        self._support = moved

    def paint_bars(self, event: QPaintEvent) -> None:
        """Draw a bar beside each sentence that was judged."""
        if not self._support:
            return
        painter = QPainter(self.viewport())
        area = event.rect()
        block = self.cursorForPosition(area.topLeft()).block()
        while block.isValid():
            box = self.block_box(block)
            if box.top() > area.bottom():
                break
            start = self._positions.to_code_points(block.position())
            end = self._positions.to_code_points(block.position() + block.length() - 1)
            shown = self._shown_support(start, end)
            for first, last, verdict in sorted(shown, key=lambda mark: _ORDER[mark[2]]):
                rect = self._lines_of(block, first, last, box)
                paint_bar(painter, QRectF(0, rect.top(), _BAR, rect.height()), verdict)
            block = block.next()
        painter.end()

    def _shown_support(self, start: int, end: int) -> list[tuple[int, int, str]]:
        """Marks that touch a stretch of the displayed text."""
        found = []
        place = max(0, bisect_right(self._support, start, key=itemgetter(0)) - 1)
        while place < len(self._support) and self._support[place][0] < end:
            first, last, verdict, _number = self._support[place]
            if last > start:
                found.append((max(first, start), min(last, end), verdict))
            place += 1
        return found

    def _lines_of(self, block: Any, start: int, end: int, box: QRectF) -> QRectF:
        first = self._positions.to_utf16(start) - block.position()
        end_of_block = block.length() - 1
        last = min(end_of_block, self._positions.to_utf16(end) - block.position()) - 1
        last = max(first, last)
        top = block.layout().lineForTextPosition(first)
        bottom = block.layout().lineForTextPosition(last)
        if not top.isValid() or not bottom.isValid():
            return box
        return QRectF(0, box.top() + top.y(), _BAR, bottom.y() + bottom.height() - top.y())
