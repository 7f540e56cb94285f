"""A small map in the corner of the canvas: the whole graph, and the part of it one sees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from app import theme
from app.canvas.cards import WIDTH
from app.canvas.items import StepItem
from app.strings import say

if TYPE_CHECKING:
    from app.canvas.looking import LookingView

_SLIVER = 10.0


class MiniMap(QWidget):
    """Press or drag in it to go there. The keyboard has the arrow keys instead."""

    def __init__(self, view: LookingView) -> None:
        super().__init__(view.viewport())
        self._view = view
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName(say("Map of the graph"))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.hide()

    def settle(self) -> None:
        """Show it where there is more than one sees, in a lower corner."""
        content = self._view.graph_scene.content_rect()
        seen = self._view.seen_rect()
        # Not for a sliver of a card: the map covers more than it shows then.
        core = content.adjusted(_SLIVER, _SLIVER, -_SLIVER, -_SLIVER)
        self.setVisible(not content.isEmpty() and not seen.contains(core))
        self.setGeometry(self._choose_corner())
        self.update()

    def _choose_corner(self) -> QRect:
        """The lower right; the lower left where only the right would cover cards."""
        size, port = self.sizeHint(), self._view.viewport()
        top = port.height() - size.height() - theme.M
        right = QRect(QPoint(port.width() - size.width() - theme.M, top), size)
        left = QRect(QPoint(theme.M, top), size)
        first, second = (left, right) if self.geometry().left() == theme.M else (right, left)
        return second if self._covers(first) and not self._covers(second) else first

    def _covers(self, box: QRect) -> bool:
        under = self._view.mapToScene(box).boundingRect()
        return any(isinstance(item, StepItem) for item in self._view.graph_scene.items(under))

    def _frame(self) -> tuple[QRectF, float, QPointF]:
        """The room shown, its scale, and where its corner is drawn."""
        room = self._view.graph_scene.content_rect().united(self._view.seen_rect())
        inner = QRectF(self.rect()).adjusted(6, 6, -6, -6)
        scale = min(
            inner.width() / max(1.0, room.width()), inner.height() / max(1.0, room.height())
        )
        corner = inner.center() - QPointF(room.width() * scale, room.height() * scale) / 2
        return room, scale, corner

    # -- Qt ------------------------------------------------------------------------------

    def sizeHint(self) -> QSize:
        # Never more than a third of the canvas.
        port = self._view.viewport()
        width = min(theme.current().px(168), port.width() // 3)
        return QSize(width, min(width * 2 // 3, port.height() // 3))

    def paintEvent(self, event: QPaintEvent) -> None:
        current = theme.current()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ground = current.color("surface")
        ground.setAlpha(235)
        painter.setPen(QPen(current.color("border"), 1))
        painter.setBrush(ground)
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
        room, scale, corner = self._frame()
        spots: dict[str, list[QRectF]] = {"muted": [], "accent": [], "danger": []}
        left, top = corner.x() - room.x() * scale, corner.y() - room.y() * scale
        document = self._view.document
        for step, card in self._view.graph_scene.cards.items():
            x, y = document.places.get(step, (0.0, 0.0))
            width, height = max(1.5, WIDTH * scale), max(1.5, card.body.height() * scale)
            box = QRectF(left + x * scale - width / 2, top + y * scale - height / 2, width, height)
            token = "danger" if card.in_path else "accent" if card.isSelected() else "muted"
            spots[token].append(box)
        painter.setPen(Qt.PenStyle.NoPen)
        for token, boxes in spots.items():
            painter.setBrush(current.color(token))
            painter.drawRects(boxes)
        seen = self._view.seen_rect().translated(-room.topLeft())
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(current.color("accent"), 1.5))
        painter.drawRect(
            QRectF(
                corner.x() + seen.x() * scale,
                corner.y() + seen.y() * scale,
                seen.width() * scale,
                seen.height() * scale,
            )
        )

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._go(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._go(event)

    def _go(self, event: QMouseEvent) -> None:
        room, scale, corner = self._frame()
        point = (event.position() - corner) / scale + room.topLeft()
        self._view.centerOn(point)
        self.update()
        event.accept()
