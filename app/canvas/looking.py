"""Looking around on the canvas: zoom, fit, scrolling to a card, the grid, and the map in the corner."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, Qt, QTimer
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QFrame, QGraphicsView, QWidget

from app import theme
from app.canvas.document import GraphDocument
from app.canvas.minimap import MiniMap
from app.canvas.scene import GRID, GraphScene

SMALLEST_ZOOM, LARGEST_ZOOM = 0.08, 2.5
#: On opening, cards are not drawn smaller than this: what does not fit is reached by scrolling.
#: A little smaller is better than cards cut at the edge.
READABLE, NEARLY = 0.72, 0.66
_STEP = 1.2
#: Ground kept free round the cards where the view begins.
_EDGE = 16.0
#: The map follows this much later, so that dragging does not wait for it.
_MAP_MILLISECONDS = 90


class LookingView(QGraphicsView):
    """A view of a `GraphDocument`'s scene, without any way to change it."""

    def __init__(self, document: GraphDocument, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.document = document
        self.graph_scene = GraphScene(document)
        self.setScene(self.graph_scene)
        self.setAccessibleName(name)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setProperty("role", "canvas")
        self.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing)
        self.setDragMode(QGraphicsView.DragMode.RubberBandDrag)
        self.setTransformationAnchor(QGraphicsView.ViewportAnchor.AnchorUnderMouse)
        self.setViewportUpdateMode(QGraphicsView.ViewportUpdateMode.SmartViewportUpdate)
        self.setOptimizationFlag(QGraphicsView.OptimizationFlag.DontSavePainterState, True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMinimumSize(220, 160)
        self.zoom = 1.0
        self._wanted_view = True
        self.map = MiniMap(self)
        self._map_timer = QTimer(self)
        self._map_timer.setSingleShot(True)
        self._map_timer.setInterval(_MAP_MILLISECONDS)
        self._map_timer.timeout.connect(self.map.settle)
        theme.notifier().changed.connect(self._dress)
        for bar in (self.horizontalScrollBar(), self.verticalScrollBar()):
            bar.valueChanged.connect(self._stir_map)
        self._dress()

    # -- looking -------------------------------------------------------------------------

    def set_zoom(self, zoom: float) -> None:
        """Scale the drawing; 1 is a card at the window's text size."""
        self.zoom = max(SMALLEST_ZOOM, min(LARGEST_ZOOM, zoom))
        scale = self.zoom * theme.current().scale
        self.resetTransform()
        self.scale(scale, scale)
        self._stir_map()

    def zoom_in(self) -> None:
        self._zoom_at_centre(_STEP)

    def zoom_out(self) -> None:
        self._zoom_at_centre(1 / _STEP)

    def _zoom_at_centre(self, factor: float) -> None:
        centre = self.mapToScene(self.viewport().rect().center())
        self.set_zoom(self.zoom * factor)
        self.centerOn(centre)

    def fit(self) -> None:
        """Show the whole graph, cards no larger than life."""
        room = self.graph_scene.content_rect()
        if room.isEmpty():
            self.set_zoom(1.0)
            return
        self.set_zoom(self._fitting_zoom(room))
        self.centerOn(room.center())

    def show_readably(self) -> None:
        """Show the whole graph where its text can be read so, else its beginning."""
        room = self.graph_scene.content_rect()
        if room.isEmpty():
            self.set_zoom(1.0)
            return
        zoom = self._fitting_zoom(room)
        if zoom >= NEARLY:
            self.set_zoom(zoom)
            self.centerOn(room.center())
            return
        self.set_zoom(READABLE)
        seen = self.seen_rect()
        ground = room.adjusted(-_EDGE, -_EDGE, _EDGE, _EDGE)
        first = self.document.graph.steps[0].id if self.document.graph else ""
        x = self.document.places.get(first, (room.center().x(), 0.0))[0]
        # The first step in the middle, but no empty ground where cards wait beyond the other side.
        x = _clamp(x, seen.width() / 2, ground.left(), ground.right())
        self.centerOn(x, _clamp(ground.top(), seen.height() / 2, ground.top(), ground.bottom()))

    def view_anew(self) -> None:
        """Show the graph readably once the layout of the window has settled."""
        QTimer.singleShot(0, self, self.show_readably)

    def _fitting_zoom(self, room: QRectF) -> float:
        port = self.viewport().rect()
        scale = theme.current().scale
        across = port.width() / ((room.width() + 48) * scale)
        down = port.height() / ((room.height() + 48) * scale)
        return min(1.0, across, down)

    def seen_rect(self) -> QRectF:
        """The part of the scene one sees."""
        return self.mapToScene(self.viewport().rect()).boundingRect()

    def reveal(self, step_id: str) -> None:
        """Scroll a card into view."""
        card = self.graph_scene.cards.get(step_id)
        if card is not None:
            self.ensureVisible(card.body.translated(card.pos()), 24, 24)

    def _stir_map(self) -> None:
        if self.isVisible() and not self._map_timer.isActive():
            self._map_timer.start()

    def _dress(self) -> None:
        self.setBackgroundBrush(theme.current().color("background"))
        self.set_zoom(self.zoom)

    # -- Qt ------------------------------------------------------------------------------

    def drawBackground(self, painter: QPainter, rect: QRectF | QRect) -> None:
        """A faint grid of dots, so that moving and snapping can be seen."""
        current = theme.current()
        painter.fillRect(rect, current.color("background"))
        step = GRID * 4
        if self.zoom < 0.45:
            return
        painter.setPen(QPen(current.color("border"), 1.6))
        left = int(rect.left() // step) * step
        top = int(rect.top() // step) * step
        points = []
        y = top
        while y < rect.bottom():
            x = left
            while x < rect.right():
                points.append(QPointF(x, y))
                x += step
            y += step
        painter.drawPoints(points)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.hasFocus():
            painter = QPainter(self.viewport())
            painter.setPen(QPen(theme.current().color("focus"), 2))
            painter.drawRoundedRect(self.viewport().rect().adjusted(1, 1, -1, -1), 6, 6)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            turns = event.angleDelta().y() / 120
            self.set_zoom(self.zoom * _STEP**turns)
            event.accept()
            return
        super().wheelEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._stir_map()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Hide:
            self._map_timer.stop()
        return super().event(event)


def _clamp(wanted: float, half: float, low: float, high: float) -> float:
    """The middle of a stretch of twice ``half`` that shows as much of low to high as it can."""
    if high - low <= 2 * half:
        return (low + high) / 2
    return min(max(wanted, low + half), high - half)
