"""The plots of all measures: two beside each other where there is room, drawn one at a time."""

from __future__ import annotations

from PySide6.QtCore import QTimer, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout

from app import theme
from app.pages.results.plot import MetricPlot
from app.pages.results.table import Results
from app.widgets.basics import Scroller, clear_layout

_TWO_PLOTS = 600
#: Between two steps, in milliseconds: time for what waits.
_PAUSE = 12


class PlotGrid(Scroller):
    """A plot for each measure. Other results are drawn into the plots that are there."""

    #: A figure was written: the file's path.
    saved = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.drawn: list[MetricPlot] = []
        self._results = Results()
        self._next = 0
        self._unseen: MetricPlot | None = None
        self._columns = 0
        self._grid = QGridLayout()
        self._grid.setSpacing(theme.L)
        self.box.addLayout(self._grid)
        self.box.addStretch(1)
        # A dozen plots at once would be felt, and so would be drawing and painting one without a pause.
        self._timer = QTimer(self)
        self._timer.setInterval(_PAUSE)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._draw_next)

    def show_results(self, results: Results) -> None:
        """Show other results, a plot at a time; without any, nothing is left at once."""
        if self._unseen is not None:
            self._unseen.setUpdatesEnabled(True)
            self._unseen = None
        kept = 0
        for plot, metric in zip(self.drawn, results.metrics, strict=False):
            if plot.measure != metric:
                break
            kept += 1
        if not results.metrics:
            clear_layout(self._grid)
        else:
            for plot in self.drawn[kept:]:
                self._grid.removeWidget(plot)
                plot.hide()
                plot.deleteLater()
        del self.drawn[kept:]
        self._results = results
        self._next = 0
        self._timer.start()

    @property
    def busy(self) -> bool:
        """Whether plots are still to be drawn or painted."""
        return self._timer.isActive()

    @Slot()
    def _draw_next(self) -> None:
        """Draw one plot, or let the one that was drawn be painted."""
        if self._unseen is not None:
            self._unseen.setUpdatesEnabled(True)
            self._unseen = None
            # Counted from now, so that a slow machine too paints before the next is drawn.
            self._timer.start()
            return
        metrics = self._results.metrics
        if self._next >= len(metrics):
            return
        self._timer.start()
        place, self._next = self._next, self._next + 1
        if place < len(self.drawn):
            self._unseen = self.drawn[place]
            self._unseen.setUpdatesEnabled(False)
            self._unseen.show_results(self._results)
            return
        plot = self._unseen = MetricPlot(self._results, metrics[place])
        plot.setUpdatesEnabled(False)
        plot.saved.connect(self.saved)
        self.drawn.append(plot)
        if not self._columns:
            self._arrange()
        self._grid.addWidget(plot, place // self._columns, place % self._columns)

    def _arrange(self) -> None:
        """Two plots beside each other where there is room for their names."""
        columns = 2 if self.width() >= theme.current().px(_TWO_PLOTS) else 1
        if columns == self._columns:
            return
        self._columns = columns
        for plot in self.drawn:
            self._grid.removeWidget(plot)
        for place, plot in enumerate(self.drawn):
            self._grid.addWidget(plot, place // columns, place % columns)
        for column in range(2):
            self._grid.setColumnStretch(column, 1 if column < columns else 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()
