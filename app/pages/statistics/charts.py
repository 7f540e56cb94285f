"""Small charts of counts, drawn from the theme; what they show is also told in words."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from app import theme

_WIDEST_BAR = 72


class BarChart(QWidget):
    """Vertical bars with their counts above and their labels below."""

    def __init__(self, name: str, parent: QWidget | None = None, *, tall: int = 170) -> None:
        super().__init__(parent)
        self._tall = tall
        self._bars: list[tuple[str, int]] = []
        self.setAccessibleName(name)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.notifier().changed.connect(self.updateGeometry)

    def set_bars(self, bars: Sequence[tuple[str, int]]) -> None:
        """Show (label, count) pairs."""
        self._bars = list(bars)
        self.setAccessibleDescription(
            "; ".join(f"{label.replace(chr(10), ' ')}: {count}" for label, count in bars)
        )
        self.update()

    @property
    def bars(self) -> list[tuple[str, int]]:
        return self._bars

    def sizeHint(self) -> QSize:
        return QSize(320, theme.current().px(self._tall))

    def minimumSizeHint(self) -> QSize:
        return QSize(160, theme.current().px(self._tall))

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._bars:
            return
        current = theme.current()
        painter = QPainter(self)
        painter.setFont(current.ui_font(theme.SMALL))
        line = painter.fontMetrics().lineSpacing()
        foot, head = 2 * line + 4, line + 4
        room = self.height() - foot - head
        slot = self.width() / len(self._bars)
        most = max(1, *(count for _label, count in self._bars))
        for place, (label, count) in enumerate(self._bars):
            left = place * slot
            tall = room * count / most
            wide = min(slot * 0.7, current.px(_WIDEST_BAR))
            bar = QRectF(left + (slot - wide) / 2, head + room - tall, wide, tall)
            painter.fillRect(bar, current.color("accent"))
            painter.setPen(current.color("text"))
            above = QRectF(left, bar.top() - line - 2, slot, line)
            painter.drawText(above, Qt.AlignmentFlag.AlignCenter, str(count))
            painter.setPen(current.color("muted"))
            below = QRectF(left, self.height() - foot + 4, slot, foot - 4)
            flags = Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop
            painter.drawText(below, int(flags.value) | int(Qt.TextFlag.TextWordWrap), label)
        painter.setPen(QPen(current.color("border"), 1))
        painter.drawLine(0, round(head + room), self.width(), round(head + room))
        painter.end()


def bin_counts(values: Sequence[int], bins: int = 8) -> list[tuple[str, int]]:
    """(range, count) pairs of whole numbers in equal bins from 0."""
    if not values:
        return []
    top = max(values) + 1
    width = max(1, -(-top // bins))
    counts = [0] * -(-top // width)
    for value in values:
        counts[value // width] += 1
    return [
        (
            str(n * width) if width == 1 else f"{n * width}–{(n + 1) * width - 1}",
            count,
        )
        for n, count in enumerate(counts)
    ]
