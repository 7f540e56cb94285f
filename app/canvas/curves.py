"""Curves of the canvas: dependencies between cards, and the one that is being drawn."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPainterPathStroker, QPen, QPolygonF
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from app import theme
from app.canvas.marks import FAR, STATUS_TOKENS, paint_sign

_ARROW = 9.0


class EdgeItem(QGraphicsItem):
    """A dependency: a curve from the bottom of one card to the top of another, with an arrow."""

    def __init__(self, link_id: str, before: str, after: str) -> None:
        super().__init__()
        self.link_id = link_id
        self.before, self.after = before, after
        self.suggested = ""
        self.shortcut = False
        self.status = ""
        self.in_path = False
        self.chosen = False
        self._path = QPainterPath()
        #: The room the curve itself takes.
        self.room = QRectF()
        self._box = QRectF()
        self._arrow = QPolygonF()
        #: Where it was last drawn through; None before it was.
        self.bends: Sequence[tuple[float, float]] | None = None
        self.start, self.end = QPointF(), QPointF()
        self.setZValue(5)
        self.setAcceptedMouseButtons(Qt.MouseButton.NoButton)

    def show_link(self, before: str, after: str, suggested: str, *, shortcut: bool) -> None:
        """Take over a dependency's content."""
        if (before, after) != (self.before, self.after):
            self.before, self.after, self.bends = before, after, None
        if (suggested, shortcut) != (self.suggested, self.shortcut):
            self.suggested, self.shortcut = suggested, shortcut
            self.update()

    def run(self, start: QRectF, end: QRectF, bends: Sequence[tuple[float, float]]) -> None:
        """Draw it between two cards, through the bends."""
        self.prepareGeometryChange()
        self.bends = bends
        self._path, tip, direction = route(start, end, [QPointF(x, y) for x, y in bends])
        self.room = self._path.boundingRect()
        self._box = self.room.adjusted(-14, -14, 14, 14)
        first = self._path.elementAt(0)
        self.start, self.end = QPointF(first.x, first.y), tip
        side = QPointF(-direction.y(), direction.x())
        back = tip - direction * _ARROW
        self._arrow = QPolygonF([tip, back + side * 4.2, back - side * 4.2])

    @property
    def middle(self) -> QPointF:
        """The point half way."""
        return self._path.pointAtPercent(0.5)

    def near(self, point: QPointF, reach: float) -> bool:
        """Whether a point of the scene is on the curve, give or take."""
        if not self.boundingRect().adjusted(-reach, -reach, reach, reach).contains(point):
            return False
        stroker = QPainterPathStroker()
        stroker.setWidth(2 * reach)
        return stroker.createStroke(self._path).contains(point)

    # -- Qt ------------------------------------------------------------------------------

    def boundingRect(self) -> QRectF:
        return self._box

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        current = theme.current()
        token, width = "muted", 1.5
        dashes: list[float] = []
        if self.shortcut:
            token, width, dashes = "muted", 1.0, [1, 4]
        if self.suggested:
            token, width, dashes = "accent", 1.5, [4, 3]
        if self.status:
            token, width = STATUS_TOKENS[self.status], 2.0
            dashes = [5, 3] if self.status == "missing" else []
        if self.in_path:
            token, width, dashes = "danger", 2.6, []
        elif self.chosen:
            token, width = "accent", 2.6
        color = current.color(token)
        pen = QPen(color, width, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap)
        if dashes:
            pen.setDashPattern(dashes)
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(self._path)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        painter.drawPolygon(self._arrow)
        if self.status and option.levelOfDetailFromTransform(painter.worldTransform()) > FAR:
            paint_sign(painter, self.middle, self.status, color)


class DraftEdge(QGraphicsItem):
    """The dependency that is being drawn, following the mouse."""

    def __init__(self) -> None:
        super().__init__()
        self._path = QPainterPath()
        self.allowed = True
        self.setZValue(20)
        self.setAcceptedMouseButtons(Qt.MouseButton.NoButton)

    def run(self, start: QPointF, end: QPointF, allowed: bool) -> None:
        """Draw it from one point to another; ``allowed`` is False where it would close a circle."""
        self.prepareGeometryChange()
        self._path = QPainterPath(start)
        bend = max(24.0, abs(end.y() - start.y()) / 2)
        self._path.cubicTo(start + QPointF(0, bend), end - QPointF(0, bend), end)
        self.allowed = allowed
        self.update()

    def boundingRect(self) -> QRectF:
        return self._path.boundingRect().adjusted(-10, -10, 10, 10)

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        color = theme.current().color("accent" if self.allowed else "danger")
        pen = QPen(color, 2.4, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap)
        if not self.allowed:
            pen.setDashPattern([2, 3])
        painter.setPen(pen)
        painter.drawPath(self._path)
        end = self._path.currentPosition()
        painter.setBrush(color)
        painter.drawEllipse(end, 4, 4)
        if not self.allowed:
            painter.drawLine(end + QPointF(-6, -6), end + QPointF(6, 6))
            painter.drawLine(end + QPointF(-6, 6), end + QPointF(6, -6))


def route(
    start: QRectF, end: QRectF, bends: Sequence[QPointF]
) -> tuple[QPainterPath, QPointF, QPointF]:
    """A smooth curve between two cards: the path, its tip and the direction it ends in."""
    if end.top() >= start.bottom() - 4:
        first = QPointF(start.center().x(), start.bottom())
        last = QPointF(end.center().x(), end.top())
        direction = QPointF(0, 1)
    elif end.left() > start.right():
        first = QPointF(start.right(), start.center().y())
        last = QPointF(end.left(), end.center().y())
        direction = QPointF(1, 0)
    elif end.right() < start.left():
        first = QPointF(start.left(), start.center().y())
        last = QPointF(end.right(), end.center().y())
        direction = QPointF(-1, 0)
    else:
        # The second stands above the first: out at the side, up, and in from above.
        first = QPointF(start.right(), start.center().y())
        last = QPointF(end.right(), end.center().y())
        far = max(start.right(), end.right()) + 48
        path = QPainterPath(first)
        path.cubicTo(QPointF(far, first.y()), QPointF(far, last.y()), last)
        return path, last, QPointF(-1, 0)
    path = QPainterPath(first)
    stop = last - direction * (_ARROW - 2)
    points = [first, *bends, stop]
    upright = direction.y() != 0
    for before, after in pairwise(points):
        if upright:
            pull = QPointF(0, (after.y() - before.y()) / 2)
        else:
            pull = QPointF((after.x() - before.x()) / 2, 0)
        path.cubicTo(before + pull, after - pull, after)
    return path, last, direction
