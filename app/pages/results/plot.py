"""A plot for each measure: every output a faint dot, the mean and its interval on top."""

from __future__ import annotations

import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QWheelEvent
from PySide6.QtWidgets import QFrame

from app import theme
from app.pages.results.table import Results, describe_cell, measure_title
from app.strings import shorten
from app.widgets.basics import Card

_ROW, _AXIS = 40, 44
_NAME = 22


class MetricPlot(Card):
    """One measure, a line a system. The table beside it says the same to a screen reader."""

    def __init__(self, results: Results, metric: str) -> None:
        super().__init__(measure_title(metric))
        self._results, self._metric = results, metric
        self._plot = _Plot()
        self._plot.setAccessibleName(measure_title(metric))
        self._plot.setAccessibleDescription(self._in_words())
        self.add(self._plot)
        theme.notifier().changed.connect(self._draw)
        self._draw()

    def _in_words(self) -> str:
        parts = []
        for system_id, name in self._results.systems:
            row = self._results.cells.get((system_id, self._metric))
            if row is not None:
                parts.append(f"{name}: {describe_cell(row).splitlines()[0]}")
        return "; ".join(parts)

    def _draw(self) -> None:
        current = theme.current()
        item = self._plot.getPlotItem()
        item.clear()
        self._plot.setBackground(current.color("surface"))
        self._plot.setFixedHeight(current.px(_ROW * len(self._results.systems) + _AXIS))
        ticks = []
        for place, (system_id, name) in enumerate(self._results.systems):
            # The first system on top, as in the table.
            height = -place
            ticks.append((height, shorten(name, _NAME)))
            series = current.tokens.plot_series
            self._draw_system(system_id, height, QColor(series[place % len(series)]))
        self._dress_axes(ticks)

    def _draw_system(self, system_id: str, height: float, color: QColor) -> None:
        current = theme.current()
        item = self._plot.getPlotItem()
        values = self._results.values.get((system_id, self._metric), ())
        faint = QColor(color)
        faint.setAlpha(90)
        item.addItem(
            pg.ScatterPlotItem(
                x=list(values),
                y=[height + _jitter(place) for place in range(len(values))],
                size=current.px(6),
                pen=None,
                brush=pg.mkBrush(faint),
            )
        )
        row = self._results.cells.get((system_id, self._metric))
        if row is None or row.interval.mean is None:
            return
        interval = row.interval
        if interval.low is not None and interval.high is not None:
            item.plot(
                [interval.low, interval.high],
                [height, height],
                pen=pg.mkPen(current.color("text"), width=current.px(2)),
            )
        item.addItem(
            pg.ScatterPlotItem(
                x=[interval.mean],
                y=[height],
                size=current.px(12),
                pen=pg.mkPen(current.color("surface"), width=1.5),
                brush=pg.mkBrush(color),
            )
        )

    def _dress_axes(self, ticks: list[tuple[float, str]]) -> None:
        current = theme.current()
        item = self._plot.getPlotItem()
        for side in ("left", "bottom"):
            axis = item.getAxis(side)
            axis.setPen(pg.mkPen(current.color("border")))
            axis.setTextPen(pg.mkPen(current.color("text" if side == "left" else "muted")))
            axis.setStyle(tickFont=current.ui_font(theme.SMALL), tickLength=0)
        item.getAxis("left").setTicks([ticks])
        item.showGrid(x=True, y=False, alpha=0.12)
        item.setYRange(-len(ticks) + 0.4, 0.6, padding=0)
        low, high = self._range()
        item.setXRange(low, high, padding=0.04)

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
