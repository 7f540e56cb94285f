"""A figure on a page: a card with a plot that can be saved, and the marks that plots are made of.

A plot is two axes and a field, all of them pyqtgraph's. Its ready-made PlotWidget also brings a form of
controls that nobody here sees, takes three times as long to make, and a dozen of them were felt.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt, Signal, Slot
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPen, QPolygonF, QWheelEvent
from PySide6.QtWidgets import QFrame, QStyleOptionGraphicsItem, QWidget

from app import theme
from app.pages.results.export import Lines, save_plot, write_plot
from app.strings import say
from app.widgets.basics import Card
from app.widgets.buttons import IconButton
from core.errors import BugError

_GRID = 150
_AXIS_GAP = 12

Floats = npt.NDArray[np.float64]


class Plot(pg.GraphicsView):
    """To look at only: the wheel scrolls the page, nothing can be dragged out of sight."""

    def __init__(self) -> None:
        super().__init__(useOpenGL=False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setMouseTracking(False)
        self.setAntialiasing(True)
        self._layout = pg.GraphicsLayout()
        self._layout.setSpacing(0)
        self._layout.setContentsMargins(0, 0, theme.S, 0)
        self.field = pg.ViewBox(enableMenu=False, enableMouse=False)
        self.field.disableAutoRange()
        self.left, self.bottom = pg.AxisItem("left"), pg.AxisItem("bottom")
        self._layout.addItem(self.left, 0, 0)
        self._layout.addItem(self.field, 0, 1)
        self._layout.addItem(self.bottom, 1, 1)
        for axis in (self.left, self.bottom):
            axis.linkToView(self.field)
            # Behind the marks, so that grid lines do not cross them.
            axis.setZValue(-1000)
        self.setCentralItem(self._layout)
        self._marks: list[pg.GraphicsObject] = []

    def clear(self) -> None:
        """Take away every mark."""
        for mark in self._marks:
            self.field.removeItem(mark)
        self._marks = []

    def put(self, mark: pg.GraphicsObject) -> None:
        """Add a mark in the coordinates of the axes."""
        self._marks.append(mark)
        self.field.addItem(mark, ignoreBounds=True)

    def dress(
        self,
        rows: Sequence[str],
        span: tuple[float, float],
        *,
        columns: Iterable[tuple[float, str]] | None = None,
        grid: bool = True,
    ) -> None:
        """Name the rows from the top down, and set the range from left to right.

        ``columns`` are the words under the plot and where they stand; without them it is numbers.
        """
        current = theme.current()
        self.setBackground(current.color("surface"))
        font = current.ui_font(theme.SMALL)
        metrics = QFontMetrics(font)
        for axis, ink in ((self.left, "text"), (self.bottom, "muted")):
            axis.setPen(pg.mkPen(current.color("border")))
            axis.setTextPen(pg.mkPen(current.color(ink)))
            axis.setStyle(tickFont=font, tickLength=0)
        # Said beforehand: an axis that finds out while it paints has everything laid out twice.
        widest = max((metrics.horizontalAdvance(row) for row in rows), default=0)
        self.left.setWidth(widest + _AXIS_GAP)
        self.bottom.setHeight(metrics.height() + _AXIS_GAP)
        self.left.setTicks([[(-place, row) for place, row in enumerate(rows)]])
        self.bottom.setTicks(None if columns is None else [list(columns)])
        self.bottom.setGrid(_GRID if grid else False)
        self.field.setYRange(-len(rows) + 0.4, 0.6, padding=0)
        self.field.setXRange(*span, padding=0.04)

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


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
        self.plot = Plot()
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


class Dots(pg.GraphicsObject):
    """Round dots as wide as ``size`` pixels, all of a colour drawn at once."""

    def __init__(self, size: float, groups: Iterable[tuple[Floats, Floats, QColor]]) -> None:
        super().__init__()
        self._size = size
        self._groups: list[tuple[QPolygonF, QColor]] = [
            (pg.functions.arrayToQPolygonF(x, y), color) for x, y, color in groups if len(x)
        ]
        self._bounds = QRectF()
        for polygon, _color in self._groups:
            # Points on one line have a rectangle without an area, which united() passes over.
            self._bounds = self._bounds.united(
                polygon.boundingRect().adjusted(-0.1, -0.1, 0.1, 0.1)
            )

    def boundingRect(self) -> QRectF:
        return self._bounds

    def paint(
        self, painter: QPainter, _option: QStyleOptionGraphicsItem, _widget: QWidget | None = None
    ) -> None:
        # Placed here and drawn untransformed: the two axes have scales of their own, and a dot is round.
        placed = [(painter.transform().map(polygon), color) for polygon, color in self._groups]
        painter.resetTransform()
        for polygon, color in placed:
            painter.setPen(QPen(color, self._size, c=Qt.PenCapStyle.RoundCap))
            painter.drawPoints(polygon)


@dataclass(frozen=True, slots=True)
class Words:
    """A word in a plot: where it stands, and whether its middle or its beginning stands there."""

    x: float
    y: float
    text: str
    centred: bool = False


class Labels(pg.GraphicsObject):
    """Words at places of a plot, upright and in the size of the interface whatever the scale."""

    def __init__(self, words: Sequence[Words], color: QColor) -> None:
        super().__init__()
        self._words = tuple(words)
        self._color = color
        self._font = theme.current().ui_font(theme.SMALL)
        xs = [word.x for word in self._words] or [0.0]
        ys = [word.y for word in self._words] or [0.0]
        self._bounds = QRectF(
            QPointF(min(xs) - 0.5, min(ys) - 0.5), QPointF(max(xs) + 0.5, max(ys) + 0.5)
        )

    def boundingRect(self) -> QRectF:
        return self._bounds

    def paint(
        self, painter: QPainter, _option: QStyleOptionGraphicsItem, _widget: QWidget | None = None
    ) -> None:
        places = [painter.transform().map(QPointF(word.x, word.y)) for word in self._words]
        painter.resetTransform()
        painter.setPen(self._color)
        painter.setFont(self._font)
        metrics = QFontMetrics(self._font)
        drop = (metrics.ascent() - metrics.descent()) / 2
        for word, place in zip(self._words, places, strict=True):
            back = metrics.horizontalAdvance(word.text) / 2 if word.centred else 0.0
            painter.drawText(QPointF(place.x() - back, place.y() + drop), word.text)


def strokes(
    segments: Sequence[tuple[tuple[float, float], tuple[float, float]]], pen: QPen
) -> pg.PlotCurveItem:
    """Straight lines from point to point, each for itself."""
    points = np.array(segments, dtype=np.float64).reshape(-1, 2)
    return pg.PlotCurveItem(x=points[:, 0], y=points[:, 1], connect="pairs", pen=pen)


def bars(
    boxes: Sequence[tuple[float, float, float, QColor]], height: float, pen: QPen | None = None
) -> pg.BarGraphItem:
    """Boxes from left to right around a row each: left, right, row, colour."""
    lefts, rights, rows, colors = zip(*boxes, strict=True)
    return pg.BarGraphItem(
        x0=list(lefts), x1=list(rights), y=list(rows), height=height,
        brushes=list(colors), pen=pen or pg.mkPen(None),
    )  # fmt: skip
