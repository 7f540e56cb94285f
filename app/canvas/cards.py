"""The size of a step's card, from its text alone: one place for canvas, layout and export."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtGui import QFont, QFontMetricsF

from app import theme

WIDTH = 184.0
PADDING = 10.0
#: Room at the left for the number, and at the right for marks.
NUMBER, MARKS = 18.0, 16.0
MOST_LINES = 4
LINE = 17.0
TEXT_SIZE = 13.0


def card_font() -> QFont:
    """The font of a card's text at its natural size; the view zooms it."""
    font = QFont(theme.UI_FAMILY)
    font.setPixelSize(round(TEXT_SIZE))
    font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    return font


def card_size(text: str) -> tuple[float, float]:
    """Width and height of the card of a text."""
    return WIDTH, 2 * PADDING + LINE * min(MOST_LINES, len(wrap_text(text)))


@lru_cache(maxsize=8192)
def wrap_text(text: str) -> tuple[str, ...]:
    """The lines of a card, the last one ending in '…' where the text is longer."""
    metrics = _metrics()
    room = WIDTH - 2 * PADDING - NUMBER - MARKS + 8
    lines: list[str] = []
    line = ""
    for word in text.split():
        wider = f"{line} {word}" if line else word
        if line and metrics.horizontalAdvance(wider) > room:
            lines.append(line)
            line = word
        else:
            line = wider
        while metrics.horizontalAdvance(line) > room and len(line) > 1:
            # A word wider than the card is broken where it must be.
            cut = max(1, int(len(line) * room / metrics.horizontalAdvance(line)))
            lines.append(line[:cut])
            line = line[cut:]
    if line or not lines:
        lines.append(line)
    if len(lines) > MOST_LINES:
        rest = " ".join(lines[MOST_LINES - 1 :])
        from PySide6.QtCore import Qt

        cut_text = metrics.elidedText(rest, Qt.TextElideMode.ElideRight, room)
        lines = [*lines[: MOST_LINES - 1], cut_text]
    return tuple(lines)


@lru_cache(maxsize=1)
def _metrics() -> QFontMetricsF:
    return QFontMetricsF(card_font())
