"""Figures: each measure with every output a faint dot and the mean on top; shares as bars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor

from app import theme
from app.pages.results.export import Lines
from app.pages.results.figure import Dots, Figure, Floats, Labels, Words, bars, strokes
from app.pages.results.table import Results, describe_cell, measure_title
from app.strings import format_number, say, shorten

_ROW, _AXIS = 40, 44
_NAME, _LONG_NAME = 22, 36
#: Dots of a plot, all its lines together: more take longer than they tell.
_MOST_DOTS = 600


class MetricPlot(Figure):
    """One measure, a line a system. The table beside it says the same to a screen reader."""

    def __init__(self, results: Results, metric: str) -> None:
        super().__init__(measure_title(metric))
        self.measure = metric
        self.show_results(results)
        theme.notifier().changed.connect(self._draw)

    def show_results(self, results: Results) -> None:
        """Draw the measure as it stands in other results."""
        self._results = results
        self.plot.setAccessibleDescription(self._in_words())
        self._draw()

    def lines(self) -> Lines:
        found: list[list[Any]] = [["system", "measure", "mean", "low", "high", "n", "values"]]
        for line, name in self._results.systems:
            row = self._results.cells.get((line, self.measure))
            if row is not None:
                i = row.interval
                values = " ".join(f"{value:.6g}" for value in row.dots)
                found.append([name, self.measure, i.mean, i.low, i.high, i.n, values])
        return found

    def _in_words(self) -> str:
        parts = []
        for system_id, name in self._results.systems:
            row = self._results.cells.get((system_id, self.measure))
            if row is not None:
                parts.append(f"{name}: {describe_cell(row).splitlines()[0]}")
        return "; ".join(parts)

    def _draw(self) -> None:
        current = theme.current()
        systems = self._results.systems
        self.plot.clear()
        self.plot.setFixedHeight(current.px(_ROW * len(systems) + _AXIS))
        series = current.tokens.plot_series
        colours: dict[str, int] = {}
        dots: list[tuple[Floats, Floats, QColor]] = []
        means: list[tuple[Floats, Floats, QColor]] = []
        bounds: list[tuple[tuple[float, float], tuple[float, float]]] = []
        share = max(20, _MOST_DOTS // max(1, len(systems)))
        for place, (line, _name) in enumerate(systems):
            # The first system on top, as in the table.
            height = float(-place)
            # One colour a system, also where the table is split and a system has several lines.
            number = colours.setdefault(line.split("\n", 1)[0], len(colours))
            color = QColor(series[number % len(series)])
            faint = QColor(color)
            faint.setAlpha(90)
            values = self._results.values.get((line, self.measure), ())
            values = values[:: max(1, -(-len(values) // share))]
            dots.append((np.array(values, dtype=np.float64), height + _jitter(len(values)), faint))
            row = self._results.cells.get((line, self.measure))
            if row is None or row.interval.mean is None:
                continue
            interval = row.interval
            if interval.low is not None and interval.high is not None:
                bounds.append(((interval.low, height), (interval.high, height)))
            means.append((np.array([interval.mean]), np.array([height]), color))
        self.plot.put(Dots(current.px(6), dots))
        if bounds:
            self.plot.put(strokes(bounds, pg.mkPen(current.color("text"), width=current.px(2))))
        rim = current.color("surface")
        self.plot.put(Dots(current.px(14), [(x, y, rim) for x, y, _color in means]))
        self.plot.put(Dots(current.px(11), means))
        self.plot.dress([shorten(name, _NAME) for _line, name in systems], self._range())

    def _range(self) -> tuple[float, float]:
        """The natural scale where there is one, so that small differences look small."""
        if self.measure.startswith("rating"):
            return 1.0, 5.0
        found = [vs for (_s, m), vs in self._results.values.items() if m == self.measure and vs]
        if not found:
            return 0.0, 1.0
        low, high = min(0.0, *map(min, found)), max(map(max, found))
        if low >= 0 and high <= 1:
            return 0.0, 1.0
        return low, high if high > low else low + 1.0


@dataclass(frozen=True, slots=True)
class Share:
    """A bar: what it is of, how much, its interval, of how many; ``plain`` ones are baselines."""

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0
    reason: str = ""
    plain: bool = False


class ShareBars(Figure):
    """Shares from 0 to 100 % as bars with their intervals, such as agreement or win rates."""

    def __init__(
        self, title: str, note: str, shares: Sequence[Share], *, half: bool = False
    ) -> None:
        super().__init__(title)
        self.note_label.setText(note)
        self.shares = tuple(shares)
        self._half = half
        self.plot.setAccessibleDescription("; ".join(share_in_words(s) for s in self.shares))
        theme.notifier().changed.connect(self._draw)
        self._draw()

    def lines(self) -> Lines:
        return [
            ["name", "value", "low", "high", "n", "reason"],
            *([s.name, s.value, s.low, s.high, s.n, s.reason] for s in self.shares),
        ]

    def _draw(self) -> None:
        current = theme.current()
        self.plot.clear()
        self.plot.setFixedHeight(current.px(_ROW * len(self.shares) + _AXIS))
        if self._half:
            dotted = pg.mkPen(current.color("muted"), style=Qt.PenStyle.DotLine)
            self.plot.put(strokes([((0.5, 0.5), (0.5, 0.5 - len(self.shares)))], dotted))
        placed = [(float(-n), share) for n, share in enumerate(self.shares)]
        full = [
            (0.0, share.value, y, current.color("control_border" if share.plain else "accent"))
            for y, share in placed
            if share.value is not None
        ]
        if full:
            self.plot.put(bars(full, 0.42))
        bounds = [
            ((share.low, y), (share.high, y))
            for y, share in placed
            if share.low is not None and share.high is not None
        ]
        if bounds:
            self.plot.put(strokes(bounds, pg.mkPen(current.color("text"), width=current.px(2))))
        words = [
            Words(
                max(share.value or 0.0, share.high or 0.0) + 0.02,
                y,
                say("no value") if share.value is None else f"{share.value * 100:.0f} %",
            )
            for y, share in placed
        ]
        self.plot.put(Labels(words, current.color("text")))
        self.plot.dress(
            [shorten(share.name, _LONG_NAME) for share in self.shares],
            (0.0, 1.18),
            columns=[(quarter / 4, f"{quarter * 25} %") for quarter in range(5)],
        )


def share_in_words(share: Share) -> str:
    """A bar for a screen reader."""
    if share.value is None:
        return f"{share.name}: {share.reason or say('no value')}"
    text = f"{share.name}: {share.value * 100:.1f} %"
    if share.low is not None and share.high is not None:
        text += say(
            ", 95 % interval {low} to {high}",
            low=f"{share.low * 100:.1f}",
            high=f"{share.high * 100:.1f}",
        )
    return text + say(", of {n}", n=format_number(share.n))


def _jitter(count: int) -> Floats:
    """Dots of one system apart from each other, the same each time (golden-ratio steps)."""
    return ((np.arange(count, dtype=np.float64) * 0.618034) % 1.0 - 0.5) * 0.5
