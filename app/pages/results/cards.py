"""What the views beside the plots are made of: a column of cards, and shares and means as text."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.pages.results.figure import Figure
from app.strings import format_number, say
from app.widgets.basics import Card, Scroller, clear_layout, label
from core.metrics.bootstrap import Interval


class ResultsView(Scroller):
    """A column of cards that is filled anew."""

    saved = Signal(object)

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)

    def fill(self, *cards: QWidget) -> None:
        """Show other cards."""
        clear_layout(self.box)
        for card in cards:
            if isinstance(card, Figure):
                card.saved.connect(self.saved)
            self.box.addWidget(card)
        self.box.addStretch(1)


def note_card(title: str, text: str) -> Card:
    """A card that says why there is nothing to show."""
    card = Card(title)
    card.add(label(text, "muted", wrap=True))
    return card


def share_text(value: float | None) -> str:
    """A share in per cent."""
    return say("no value") if value is None else f"{value * 100:.0f} %"


def interval_text(interval: Interval) -> str:
    """A share in per cent with its bounds."""
    if interval.mean is None:
        return "–"
    text = f"{interval.mean * 100:.0f} %"
    if interval.low is not None and interval.high is not None:
        text += f" [{interval.low * 100:.0f}, {interval.high * 100:.0f}]"
    return text


def mean_text(mean: Interval | None) -> str:
    """A mean with half its interval."""
    if mean is None or mean.mean is None:
        return "–"
    text = format_number(mean.mean, 2)
    if mean.low is not None and mean.high is not None:
        text += f" ± {format_number((mean.high - mean.low) / 2, 2)}"
    return text
