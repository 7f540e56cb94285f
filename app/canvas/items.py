"""What stands on the canvas: cards for steps and frames for groups; curves are in `app.canvas.curves`.

Items hold no truth: they are told what to show, and paint it from the theme's tokens. What a colour says,
a shape, a dash or a sign says, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QPainter,
    QPainterPath,
    QPen,
    QPolygonF,
)
from PySide6.QtWidgets import (
    QGraphicsItem,
    QGraphicsSceneHoverEvent,
    QStyleOptionGraphicsItem,
    QWidget,
)

from app import theme
from app.canvas import cards
from app.canvas.marks import FAR, STATUS_TOKENS, paint_sign
from app.widgets.basics import is_right_to_left

if TYPE_CHECKING:
    from app.canvas.scene import GraphScene

_HANDLE = 7.0
#: How near to the handle's centre a press takes hold of it.
_REACH = 11.0


class StepItem(QGraphicsItem):
    """A card. Its position is its centre."""

    def __init__(self, step_id: str) -> None:
        super().__init__()
        self.step_id = step_id
        self.text = ""
        self.number = 0
        self.suggested = ""
        self.issues = 0
        self.status = ""
        self.in_path = False
        self.target = False
        self.hovered = False
        self.current = False
        self._lines: tuple[str, ...] = ("",)
        self._shown: tuple[str, int, str, int] | None = None
        #: The card itself, around the item's position.
        self.body = QRectF(-cards.WIDTH / 2, -20, cards.WIDTH, 40)
        self.setFlags(
            QGraphicsItem.GraphicsItemFlag.ItemIsSelectable
            | QGraphicsItem.GraphicsItemFlag.ItemIsMovable
            | QGraphicsItem.GraphicsItemFlag.ItemSendsGeometryChanges
        )
        self.setAcceptHoverEvents(True)
        self.setZValue(10)

    def show_step(self, text: str, number: int, suggested: str, issues: int) -> bool:
        """Take over a step's content; whether the card has another size now."""
        if (text, number, suggested, issues) == self._shown:
            return False
        self._shown = (text, number, suggested, issues)
        height = self.body.height()
        if text != self.text:
            self.prepareGeometryChange()
            self.text = text
            self._lines = cards.wrap_text(text)
            width, tall = cards.card_size(text)
            self.body = QRectF(-width / 2, -tall / 2, width, tall)
            self.setToolTip(text if len(self._lines) >= cards.MOST_LINES else "")
        self.number, self.suggested, self.issues = number, suggested, issues
        self.update()
        return self.body.height() != height

    @property
    def handle(self) -> QPointF:
        """The centre of the handle from which a dependency is drawn."""
        return QPointF(0, self.body.bottom())

    def is_on_handle(self, point: QPointF) -> bool:
        """Whether a point in the item's coordinates is on the handle."""
        return (point - self.handle).manhattanLength() <= _REACH

    # -- Qt ------------------------------------------------------------------------------

    def boundingRect(self) -> QRectF:
        grow = _HANDLE + 5
        return self.body.adjusted(-grow, -grow, grow, grow)

    def shape(self) -> QPainterPath:
        # Two boxes in the same direction: a union of box and circle misses points on their common edge.
        path = QPainterPath()
        path.setFillRule(Qt.FillRule.WindingFill)
        path.addRect(self.body)
        path.addRect(QRectF(-_REACH, self.body.bottom() - 2, 2 * _REACH, _REACH + 2))
        return path

    def itemChange(self, change: QGraphicsItem.GraphicsItemChange, value: Any) -> Any:
        scene: GraphScene | None = self.scene()  # type: ignore[assignment]
        if scene is not None:
            if change == QGraphicsItem.GraphicsItemChange.ItemPositionChange and scene.snapping:
                return scene.snap(value)
            if change == QGraphicsItem.GraphicsItemChange.ItemPositionHasChanged:
                scene.follow(self.step_id)
        return super().itemChange(change, value)

    def hoverEnterEvent(self, event: QGraphicsSceneHoverEvent) -> None:
        self.prepareGeometryChange()
        self.hovered = True
        self.update()

    def hoverLeaveEvent(self, event: QGraphicsSceneHoverEvent) -> None:
        self.prepareGeometryChange()
        self.hovered = False
        self.update()

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        current = theme.current()
        body = self.body
        far = option.levelOfDetailFromTransform(painter.worldTransform()) < FAR
        fill, edge, width = self._colours()
        pen = QPen(edge, width)
        if self.suggested or self.status == "missing":
            pen.setDashPattern([4, 3])
        painter.setPen(pen)
        painter.setBrush(fill)
        if far:
            # Corners nobody sees cost most of the time it takes to draw hundreds of cards.
            painter.drawRect(body)
            return
        painter.drawRoundedRect(body, theme.RADIUS_CARD, theme.RADIUS_CARD)
        if self.status:
            self._paint_status(painter, body)
        self._paint_text(painter, body, current)
        if self.issues:
            self._paint_issue(painter, body, current)
        if self.hovered or (self.isSelected() and self.current):
            painter.setPen(QPen(current.color("surface"), 1.5))
            painter.setBrush(current.color("accent"))
            painter.drawEllipse(self.handle, _HANDLE, _HANDLE)

    def _colours(self) -> tuple[QColor, QColor, float]:
        current = theme.current()
        fill, edge, width = current.color("surface"), current.color("control_border"), 1.2
        if self.status:
            edge = current.color(STATUS_TOKENS[self.status])
            width = 1.5
        if self.suggested:
            fill, edge = current.color("background"), current.color("muted")
        if self.in_path:
            fill, edge, width = current.color("danger_ground"), current.color("danger"), 2.2
        elif self.target:
            fill, edge, width = current.color("accent_soft"), current.color("accent"), 2.5
        elif self.isSelected():
            fill, edge, width = current.color("accent_soft"), current.color("accent"), 2.0
        return fill, edge, width

    def _paint_text(self, painter: QPainter, body: QRectF, current: theme.Theme) -> None:
        small = QFont(cards.card_font())
        small.setPixelSize(11)
        painter.setFont(small)
        painter.setPen(current.color("muted"))
        left = QRectF(body.left() + 6, body.top() + cards.PADDING, cards.NUMBER, cards.LINE)
        painter.drawText(left, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter,
                         str(self.number))  # fmt: skip
        font = cards.card_font()
        font.setItalic(bool(self.suggested))
        painter.setFont(font)
        painter.setPen(current.color("muted" if self.suggested else "text"))
        reversed_ = not self.text.isascii() and is_right_to_left(self.text)
        side = Qt.AlignmentFlag.AlignRight if reversed_ else Qt.AlignmentFlag.AlignLeft
        start = body.left() + cards.PADDING + cards.NUMBER
        room = body.right() - cards.PADDING - cards.MARKS + 8 - start
        painter.setLayoutDirection(
            Qt.LayoutDirection.RightToLeft if reversed_ else Qt.LayoutDirection.LeftToRight
        )
        flags = side | Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignAbsolute
        for number, line in enumerate(self._lines):
            top = body.top() + cards.PADDING + number * cards.LINE
            painter.drawText(QRectF(start, top, room, cards.LINE), flags, line)
        painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)

    def _paint_issue(self, painter: QPainter, body: QRectF, current: theme.Theme) -> None:
        """A small triangle with a stroke: the linter has something to say."""
        centre = QPointF(body.right() - 13, body.top() + 13)
        triangle = QPolygonF(
            [centre + QPointF(0, -6), centre + QPointF(6.5, 5), centre + QPointF(-6.5, 5)]
        )
        painter.setPen(QPen(current.color("warning"), 1.3))
        painter.setBrush(current.color("warning_ground"))
        painter.drawPolygon(triangle)
        painter.drawLine(centre + QPointF(0, -2), centre + QPointF(0, 1.4))
        painter.drawPoint(centre + QPointF(0, 3.4))

    def _paint_status(self, painter: QPainter, body: QRectF) -> None:
        color = theme.current().color(STATUS_TOKENS[self.status])
        bar = QPainterPath()
        bar.addRoundedRect(body, theme.RADIUS_CARD, theme.RADIUS_CARD)
        strip = QPainterPath()
        strip.addRect(QRectF(body.left(), body.top(), 5, body.height()))
        painter.fillPath(bar.intersected(strip), color)
        paint_sign(painter, QPointF(body.left(), body.top() + 2), self.status, color)


class GroupItem(QGraphicsItem):
    """A frame around the cards of a group, with its name."""

    def __init__(self, group_id: str) -> None:
        super().__init__()
        self.group_id = group_id
        self.title = ""
        self._frame = QRectF()
        self._parts: list[QRectF] = []
        self.setZValue(1)
        self.setAcceptedMouseButtons(Qt.MouseButton.NoButton)

    def show_group(self, title: str, boxes: Sequence[QRectF], others: Sequence[QRectF]) -> None:
        """Take over a name and where the group's cards and the others stand.

        One frame round all where no other card stands in it; else one round each card, so that none
        seems to belong that does not.
        """
        self.prepareGeometryChange()
        self.title = title
        room = QRectF()
        for box in boxes:
            room = room.united(box)
        self._frame = room.adjusted(-14, -34, 14, 14)
        whole = not any(self._frame.intersects(other) for other in others)
        self._parts = [self._frame] if whole else [box.adjusted(-8, -24, 8, 8) for box in boxes]
        self.update()

    def title_at(self, point: QPointF) -> QRectF | None:
        """The bar with the name at a point of the scene; None where there is none."""
        for part in self._parts:
            bar = QRectF(part.left(), part.top(), part.width(), 24)
            if bar.contains(point):
                return bar
        return None

    def boundingRect(self) -> QRectF:
        return self._frame.adjusted(-2, -2, 2, 2)

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        current = theme.current()
        fill = current.color("accent_soft")
        fill.setAlpha(90)
        font = QFont(cards.card_font())
        font.setPixelSize(11 if len(self._parts) > 1 else 12)
        font.setWeight(QFont.Weight.DemiBold)
        painter.setFont(font)
        metrics = QFontMetricsF(font)
        for part in self._parts:
            painter.setPen(QPen(current.color("border"), 1.2))
            painter.setBrush(fill)
            painter.drawRoundedRect(part, theme.RADIUS_CARD + 4, theme.RADIUS_CARD + 4)
            painter.setPen(current.color("accent"))
            room = QRectF(part.left() + 12, part.top() + 3, part.width() - 24, 20)
            text = metrics.elidedText(self.title, Qt.TextElideMode.ElideRight, room.width())
            painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)
