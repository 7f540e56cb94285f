"""Figures: each measure with every output a faint dot and the mean on top; shares as bars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QColor, QWheelEvent
from PySide6.QtWidgets import QFrame

from app import theme
from app.pages.results.export import Lines, save_plot, write_plot
from app.pages.results.table import Results, describe_cell, measure_title
from app.strings import format_number, say, shorten
from app.widgets.basics import Card
from app.widgets.buttons import IconButton
from core.errors import BugError

_ROW, _AXIS = 40, 44
_NAME, _LONG_NAME = 22, 36
#: Dots of a plot, all its lines together: more take longer than they tell.
_MOST_DOTS = 600


class Figure(Card):
    """A card with a plot that can be saved as SVG, PNG or CSV. Subclasses draw and give the numbers."""

    #: The figure was written: the file's path.
    saved = Signal(object)

    def __init__(self, title: str) -> None:
        super().__init__(title)
        self.file_name = title
        self.save_button = IconButton("download", say("Save the figure: {title}", title=title))
        self.save_button.clicked.connect(self.save)
        self.header.addWidget(self.save_button)
        self.plot = _Plot()
        self.plot.setAccessibleName(title)
        self.add(self.plot)

    def lines(self) -> Lines:
        """The numbers behind the figure, a heading first."""
        raise BugError(f"{type(self).__name__} gives no numbers.")

    @Slot()
    def save(self) -> None:
        """Ask for a file and write the figure."""
        save_plot(self, self.plot, self.lines, self.file_name, self.saved.emit)

    def write(self, path: Path) -> None:
        """Write the figure; what is written goes by the file's ending."""
        write_plot(self, self.plot, self.lines(), path, self.saved.emit)

    def _dress_axes(self, ticks: list[tuple[float, str]], span: tuple[float, float]) -> None:
        current = theme.current()
        item = self.plot.getPlotItem()
        for side in ("left", "bottom"):
            axis = item.getAxis(side)
            axis.setPen(pg.mkPen(current.color("border")))
            axis.setTextPen(pg.mkPen(current.color("text" if side == "left" else "muted")))
            axis.setStyle(tickFont=current.ui_font(theme.SMALL), tickLength=0)
        item.getAxis("left").setTicks([ticks])
        item.showGrid(x=True, y=False, alpha=0.12)
        item.setYRange(-len(ticks) + 0.4, 0.6, padding=0)
        item.setXRange(*span, padding=0.04)


class MetricPlot(Figure):
    """One measure, a line a system. The table beside it says the same to a screen reader."""

    def __init__(self, results: Results, metric: str) -> None:
        super().__init__(measure_title(metric))
        self._results, self._metric = results, metric
        self.plot.setAccessibleDescription(self._in_words())
        theme.notifier().changed.connect(self._draw)
        self._draw()

    def lines(self) -> Lines:
        found: list[list[Any]] = [["system", "measure", "mean", "low", "high", "n", "values"]]
        for line, name in self._results.systems:
            row = self._results.cells.get((line, self._metric))
            if row is not None:
                i = row.interval
                values = " ".join(f"{value:.6g}" for value in row.dots)
                found.append([name, self._metric, i.mean, i.low, i.high, i.n, values])
        return found

    def _in_words(self) -> str:
        parts = []
        for system_id, name in self._results.systems:
            row = self._results.cells.get((system_id, self._metric))
            if row is not None:
                parts.append(f"{name}: {describe_cell(row).splitlines()[0]}")
        return "; ".join(parts)

    def _draw(self) -> None:
        """Three items for all systems: each item added costs as much as hundreds of dots."""
        current = theme.current()
        item = self.plot.getPlotItem()
        item.clear()
        self.plot.setBackground(current.color("surface"))
        self.plot.setFixedHeight(current.px(_ROW * len(self._results.systems) + _AXIS))
        series = current.tokens.plot_series
        ticks: list[tuple[float, str]] = []
        colours: dict[str, int] = {}
        dots: list[dict[str, Any]] = []
        means: list[dict[str, Any]] = []
        bounds: list[tuple[float, float]] = []
        share = max(20, _MOST_DOTS // max(1, len(self._results.systems)))
        for place, (line, name) in enumerate(self._results.systems):
            # The first system on top, as in the table.
            height = -place
            ticks.append((height, shorten(name, _NAME)))
            # One colour a system, also where the table is split and a system has several lines.
            number = colours.setdefault(line.split("\n", 1)[0], len(colours))
            color = QColor(series[number % len(series)])
            faint = QColor(color)
            faint.setAlpha(90)
            brush = pg.mkBrush(faint)
            values = self._results.values.get((line, self._metric), ())
            values = values[:: max(1, -(-len(values) // share))]
            dots += [
                {"pos": (value, height + _jitter(n)), "brush": brush}
                for n, value in enumerate(values)
            ]
            row = self._results.cells.get((line, self._metric))
            if row is None or row.interval.mean is None:
                continue
            interval = row.interval
            if interval.low is not None and interval.high is not None:
                bounds += [(interval.low, height), (interval.high, height)]
            means.append({"pos": (interval.mean, height), "brush": pg.mkBrush(color)})
        item.disableAutoRange()
        item.addItem(pg.ScatterPlotItem(spots=dots, size=current.px(6), pen=None))
        if bounds:
            ink = pg.mkPen(current.color("text"), width=current.px(2))
            xs, ys = zip(*bounds, strict=True)
            item.addItem(pg.PlotCurveItem(x=np.array(xs), y=np.array(ys), connect="pairs", pen=ink))
        rim = pg.mkPen(current.color("surface"), width=1.5)
        item.addItem(pg.ScatterPlotItem(spots=means, size=current.px(12), pen=rim))
        self._dress_axes(ticks, self._range())

    def _range(self) -> tuple[float, float]:
        """The natural scale where there is one, so that small differences look small."""
        if self._metric.startswith("rating"):
            return 1.0, 5.0
        values = [
            v for (_s, m), vs in self._results.values.items() if m == self._metric for v in vs
        ]
        if not values:
            return 0.0, 1.0
        low, high = min(0.0, *values), max(values)
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
        item = self.plot.getPlotItem()
        item.clear()
        self.plot.setBackground(current.color("surface"))
        self.plot.setFixedHeight(current.px(_ROW * len(self.shares) + _AXIS))
        ticks = []
        for place, share in enumerate(self.shares):
            ticks.append((-place, shorten(share.name, _LONG_NAME)))
            self._draw_share(-place, share)
        self._dress_axes(ticks, (0.0, 1.18))
        item.getAxis("bottom").setTicks([[(v / 4, f"{v * 25} %") for v in range(5)]])
        if self._half:
            item.addItem(
                pg.InfiniteLine(
                    0.5, pen=pg.mkPen(current.color("muted"), style=Qt.PenStyle.DotLine)
                )
            )

    def _draw_share(self, height: float, share: Share) -> None:
        current = theme.current()
        item = self.plot.getPlotItem()
        words = say("no value") if share.value is None else f"{share.value * 100:.0f} %"
        if share.value is not None:
            color = current.color("control_border" if share.plain else "accent")
            item.addItem(
                pg.BarGraphItem(
                    x0=[0], y=[height], width=[share.value], height=0.42, brush=color, pen=None
                )
            )
        if share.low is not None and share.high is not None:
            item.plot(
                [share.low, share.high],
                [height, height],
                pen=pg.mkPen(current.color("text"), width=current.px(2)),
            )
        text = pg.TextItem(words, color=current.color("text"), anchor=(0, 0.5))
        text.setFont(current.ui_font(theme.SMALL))
        text.setPos(max(share.value or 0.0, share.high or 0.0) + 0.02, height)
        item.addItem(text)


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


def _jitter(place: int) -> float:
    """Dots of one system apart from each other, the same each time (golden-ratio steps)."""
    return ((place * 0.618034) % 1.0 - 0.5) * 0.5


class _Plot(pg.PlotWidget):
    """To look at only: the wheel scrolls the page, nothing can be dragged out of sight."""

    def __init__(self) -> None:
        super().__init__(enableMenu=False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAntialiasing(True)
        item = self.getPlotItem()
        item.hideButtons()
        item.setMouseEnabled(x=False, y=False)
        item.setContentsMargins(0, 0, theme.S, 0)

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()
