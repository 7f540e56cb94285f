"""Small tables and scatter plots of the checklist page, for numbers that fit on one screen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyqtgraph as pg
from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QGraphicsRectItem,
    QHeaderView,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from app import theme
from app.widgets.basics import Card, label

#: What the first column of a table keeps where the others are many.
_LEAST_FIRST = 180
#: Points of one place that its tooltip names.
_MOST_WORDS = 8
_SYMBOLS = ("o", "s", "t", "d", "+", "x")


class PlainTable(QTableWidget):
    """Rows of words under headings; the first column takes the room. Enter and double click open a row.

    Parameters
    ----------
    empty
        What `empty` says, to be shown in the table's place while it has no rows.
    """

    opened = Signal(str)

    def __init__(
        self, name: str, headings: Sequence[str], empty: str = "", parent: QWidget | None = None
    ) -> None:
        super().__init__(0, len(headings), parent)
        self.setAccessibleName(name)
        self.empty = label(empty, "muted", wrap=True)
        self.empty.hide()
        self.setHorizontalHeaderLabels(list(headings))
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setProperty("role", "bare")
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        header.setMinimumSectionSize(48)
        for column in range(len(headings)):
            side = Qt.AlignmentFlag.AlignRight if column else Qt.AlignmentFlag.AlignLeft
            heading = self.horizontalHeaderItem(column)
            assert heading is not None
            heading.setTextAlignment(side | Qt.AlignmentFlag.AlignVCenter)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.itemActivated.connect(self._open)
        theme.notifier().changed.connect(self._fit)
        self._fit()

    def load(
        self, rows: Sequence[Sequence[str]], keys: Sequence[str] = (), tips: Sequence[str] = ()
    ) -> None:
        """Show rows; ``keys`` are what opening a row tells."""
        self.setRowCount(len(rows))
        none = not rows and bool(self.empty.text())
        self.setVisible(not none)
        self.empty.setVisible(none)
        for number, row in enumerate(rows):
            for column, text in enumerate(row):
                item = QTableWidgetItem(text)
                side = Qt.AlignmentFlag.AlignRight if column else Qt.AlignmentFlag.AlignLeft
                item.setTextAlignment(side | Qt.AlignmentFlag.AlignVCenter)
                if keys:
                    item.setData(Qt.ItemDataRole.UserRole, keys[number])
                tip = tips[number] if tips else (text if column == 0 else "")
                if tip:
                    item.setToolTip(tip)
                self.setItem(number, column, item)
        self._fit()

    def _open(self, item: QTableWidgetItem) -> None:
        key = item.data(Qt.ItemDataRole.UserRole)
        if key:
            self.opened.emit(str(key))

    def _fit(self) -> None:
        self.verticalHeader().setDefaultSectionSize(theme.current().px(30))
        height = self.horizontalHeader().sizeHint().height() + 6
        height += self.rowCount() * self.verticalHeader().defaultSectionSize()
        # Room for the bar that comes where the columns are wider than the window.
        height += self.horizontalScrollBar().sizeHint().height()
        self.setFixedHeight(height)
        self._share_room()

    def _share_room(self) -> None:
        """The first column takes the rest, but no less than it needs to be read; beyond that one scrolls."""
        header = self.horizontalHeader()
        others = sum(header.sectionSize(n) for n in range(1, self.columnCount()))
        least = min(theme.current().px(_LEAST_FIRST), self.sizeHintForColumn(0) + 2 * theme.M)
        mode = QHeaderView.ResizeMode
        if self.viewport().width() - others >= least:
            header.setSectionResizeMode(0, mode.Stretch)
        else:
            header.setSectionResizeMode(0, mode.Interactive)
            header.resizeSection(0, least)

    # -- Qt ------------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._share_room()

    def minimumSizeHint(self) -> QSize:
        return QSize(200, 60)


@dataclass(frozen=True, slots=True)
class Point:
    """A point of a scatter plot, with its words for tooltips and assistive tools."""

    x: float
    y: float
    words: str
    series: int = 0


class ScatterCard(Card):
    """A plot from 0 to 1 with what to read in it below; each series has a colour and a symbol.

    Points in one place are drawn as one, the larger the more they are.

    Parameters
    ----------
    danger
        What lies far right and low, where the ground is tinted; '' for nothing.
    """

    def __init__(
        self, title: str, x: str, y: str, note: str, *, low: float = 0.0, danger: str = ""
    ) -> None:
        super().__init__(title)
        self._x, self._y, self._low, self._danger = x, y, low, danger
        self._points: Sequence[Point] = ()
        self._series: Sequence[str] = ()
        self._plot = _Plot()
        self._plot.setAccessibleName(title)
        self.note = label(note, "small", wrap=True)
        self.empty = label("", "muted", wrap=True)
        self.add(self._plot)
        self.add(self.empty)
        self.add(self.note)
        theme.notifier().changed.connect(self._draw)

    def load(self, points: Sequence[Point], series: Sequence[str], empty: str) -> None:
        """Show points, or say why there are none."""
        self._points, self._series = points, series
        self._plot.setVisible(bool(points))
        self.empty.setText(empty)
        self.empty.setVisible(not points)
        self._plot.setAccessibleDescription("; ".join(point.words for point in points))
        self._draw()

    def _draw(self) -> None:
        current = theme.current()
        item = self._plot.getPlotItem()
        item.clear()
        self._plot.setBackground(current.color("surface"))
        self._plot.setFixedHeight(current.px(260))
        if item.legend is not None:
            item.legend.scene().removeItem(item.legend)
            item.legend = None
        if len(self._series) > 1:
            legend = item.addLegend(offset=(10, -10))
            legend.setLabelTextColor(current.color("text"))
        if self._danger:
            self._tint_danger(item)
        colors = current.tokens.plot_series
        for number in sorted({point.series for point in self._points}):
            places: dict[tuple[float, float], list[str]] = {}
            for point in self._points:
                if point.series == number:
                    places.setdefault((point.x, point.y), []).append(point.words)
            name = self._series[number] if number < len(self._series) else None
            item.addItem(
                pg.ScatterPlotItem(
                    x=[x for x, _ in places],
                    y=[y for _, y in places],
                    data=["\n".join(words[:_MOST_WORDS]) for words in places.values()],
                    symbol=_SYMBOLS[number % len(_SYMBOLS)],
                    # The area grows with how many there are.
                    size=[current.px(10) * min(3.0, len(w) ** 0.5) for w in places.values()],
                    pen=pg.mkPen(current.color("surface"), width=1),
                    brush=pg.mkBrush(QColor(colors[number % len(colors)])),
                    hoverable=True,
                    tip=lambda x, y, data: str(data),
                    name=name,
                )
            )
        self._dress_axes(item)

    def _tint_danger(self, item: pg.PlotItem) -> None:
        """The corner of much said and little of it right."""
        current = theme.current()
        area = QGraphicsRectItem(QRectF(0.5, self._low, 0.5, 0.5 - self._low))
        ground = current.color("deleted_ground")
        area.setBrush(pg.mkBrush(ground))
        area.setPen(pg.mkPen(None))
        area.setZValue(-10)
        item.addItem(area)
        words = pg.TextItem(self._danger, color=current.color("deleted"), anchor=(1, 0))
        words.setFont(current.ui_font(theme.SMALL))
        words.setPos(1.0, 0.5)
        item.addItem(words)

    def _dress_axes(self, item: pg.PlotItem) -> None:
        current = theme.current()
        for side, text in (("bottom", self._x), ("left", self._y)):
            axis = item.getAxis(side)
            axis.setPen(pg.mkPen(current.color("border")))
            axis.setTextPen(pg.mkPen(current.color("muted")))
            axis.setStyle(tickFont=current.ui_font(theme.SMALL), tickLength=0)
            axis.setLabel(text, color=current.tokens.muted)
        item.showGrid(x=True, y=True, alpha=0.12)
        item.setXRange(0.0, 1.0, padding=0.04)
        item.setYRange(self._low, 1.0, padding=0.04)


class _Plot(pg.PlotWidget):
    """A plot that is looked at; the wheel scrolls the page."""

    def __init__(self) -> None:
        super().__init__()
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        item = self.getPlotItem()
        item.setMenuEnabled(False)
        item.hideButtons()
        item.setMouseEnabled(x=False, y=False)

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()
