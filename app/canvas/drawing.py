"""Drawing on the canvas: dependencies pulled from card to card, cards moved, by mouse or arrow keys."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QWidget

from app.canvas.curves import EdgeItem
from app.canvas.document import GraphDocument
from app.canvas.items import StepItem
from app.canvas.writing import WritingView
from app.strings import say

Gesture = Literal["", "connect", "reconnect-before", "reconnect-after", "pan", "move", "pick"]

_END_REACH = 30.0


class DrawingView(WritingView):
    """Turns what the mouse does, and the choosing of a target by keys, into the document's verbs."""

    def __init__(self, document: GraphDocument, name: str, parent: QWidget | None = None) -> None:
        super().__init__(document, name, parent)
        self.gesture: Gesture = ""
        self.snap = True
        self._from = ""
        self._link: EdgeItem | None = None
        self._target: StepItem | None = None
        self._grabbed: dict[str, tuple[float, float]] = {}
        self._last = QPoint()

    # -- drawing dependencies by keyboard ------------------------------------------------

    def start_connecting(self) -> None:
        """Choose with the arrow keys which step comes after the current one; Enter draws, Esc leaves."""
        source = self.document.current
        if not source or self.document.read_only or len(self.graph_scene.cards) < 2:
            return
        self.gesture, self._from = "pick", source
        below = self._neighbour(source, 0, 1) or self._neighbour(source, 0, -1)
        below = below or self._neighbour(source, 1, 0) or self._neighbour(source, -1, 0)
        self._set_target(self.graph_scene.cards.get(below) if below else None)
        self._draw_draft()
        self.announce(say("Choose the step that comes after with the arrow keys, then Enter."))
        self._announce_target()

    def _finish_picking(self, keep: bool) -> None:
        source, target = self._from, self._target
        self._end_gesture()
        if keep and target is not None:
            self._connect(source, target.step_id)

    def _connect(self, before: str, after: str) -> None:
        self.document.connect_steps(before, after)

    def _pick_key(self, event: QKeyEvent, way: tuple[int, int] | None) -> bool:
        if way is not None:
            at = self._target.step_id if self._target is not None else self._from
            found = self._neighbour(at, *way)
            if found and found != self._from:
                self._set_target(self.graph_scene.cards[found])
                self.reveal(found)
            elif found:
                beyond = self._neighbour(found, *way)
                if beyond:
                    self._set_target(self.graph_scene.cards[beyond])
            self._draw_draft()
            self._announce_target()
            return True
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._finish_picking(True)
            return True
        if event.key() == Qt.Key.Key_Escape:
            self._finish_picking(False)
            return True
        return False

    def _announce_target(self) -> None:
        if self._target is not None:
            words = self.describe(self._target.step_id)
            if self._closing():
                words = say("Would close a circle.") + " " + words
            self.announce(words)

    def _neighbour(self, step_id: str, x: int, y: int) -> str:
        """The nearest card in a direction; '' where there is none."""
        here = self.document.places.get(step_id)
        if here is None:
            return ""
        best, least = "", float("inf")
        for other, place in self.document.places.items():
            across, down = place[0] - here[0], place[1] - here[1]
            ahead = across * x + down * y
            aside = abs(across * y) + abs(down * x)
            if other == step_id or ahead < 4 or ahead < aside * 0.35:
                continue
            cost = ahead + 2 * aside
            if cost < least:
                best, least = other, cost
        return best

    # -- pulling and moving --------------------------------------------------------------

    def _press_curve(self, curve: EdgeItem, point: QPointF, event: QMouseEvent) -> None:
        more = event.modifiers() & (
            Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.ControlModifier
        )
        links = {curve.link_id}
        if more:
            links ^= self.document.links
            self.document.select(self.document.steps, links)
        else:
            self.document.select((), links)
        reach = _END_REACH / max(self.zoom, 0.2)
        to_end = (point - curve.end).manhattanLength()
        to_start = (point - curve.start).manhattanLength()
        if min(to_end, to_start) < reach and not self.document.read_only and not more:
            at_end = to_end <= to_start
            self.gesture = "reconnect-after" if at_end else "reconnect-before"
            self._link = curve
            self._from = curve.before if at_end else curve.after

    def _drop(self, point: QPointF) -> None:
        gesture, source, link = self.gesture, self._from, self._link
        target = self._target
        self._end_gesture()
        if gesture == "connect":
            if target is not None:
                self._connect(source, target.step_id)
            elif not self._near_card(source, point):
                # Dropped on free ground: what comes after is typed there.
                self.add_step(point, after=source)
        elif link is not None and target is not None:
            if gesture == "reconnect-after":
                self.document.reconnect(link.link_id, after=target.step_id)
            else:
                self.document.reconnect(link.link_id, before=target.step_id)

    def _near_card(self, step_id: str, point: QPointF) -> bool:
        card = self.graph_scene.cards[step_id]
        return card.boundingRect().adjusted(-12, -12, 12, 24).contains(card.mapFromScene(point))

    def _follow_draft(self, point: QPointF) -> None:
        card = self.graph_scene.card_at(point)
        self._set_target(card if card is not None and card.step_id != self._from else None)
        self._draw_draft(point)

    def _draw_draft(self, point: QPointF | None = None) -> None:
        source = self.graph_scene.cards.get(self._from)
        if source is None:
            return
        draft = self.graph_scene.draft
        target = self._target
        start = source.mapToScene(source.handle)
        if target is not None:
            end = target.mapToScene(QPointF(0, target.body.top()))
        else:
            end = point if point is not None else start
        if self.gesture == "reconnect-before":
            top = source.mapToScene(QPointF(0, source.body.top()))
            start, end = (target.mapToScene(target.handle) if target else end), top
        draft.run(start, end, not self._closing())
        draft.show()

    def _closing(self) -> tuple[str, ...]:
        """The path the dependency being drawn would close."""
        if self._target is None:
            return ()
        other = self._target.step_id
        without = self._link.link_id if self._link is not None else ""
        if self.gesture == "reconnect-before":
            return self.document.would_close(other, self._from, without)
        return self.document.would_close(self._from, other, without)

    def _set_target(self, card: StepItem | None) -> None:
        if self._target is not card:
            for old, on in ((self._target, False), (card, True)):
                if old is not None:
                    old.target = on
                    old.update()
            self._target = card
        if card is not None:
            self.document.show_path(self._closing())
        else:
            self.document.show_path(())

    def _end_gesture(self) -> None:
        self.gesture = ""
        self._set_target(None)
        self._from, self._link, self._grabbed = "", None, {}
        self.graph_scene.snapping = self.graph_scene.gathering = False
        self.graph_scene.draw_moved()
        self.graph_scene.draft.hide()
        self.viewport().unsetCursor()

    def _select_under(self, point: QPointF) -> None:
        card, curve = self.graph_scene.card_at(point), self.graph_scene.curve_at(point)
        if card is not None and not card.isSelected():
            self.document.select((card.step_id,), (), current=card.step_id)
        elif card is None and curve is not None:
            self.document.select((), (curve.link_id,))

    # -- Qt ------------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self.editor is not None:
            self.editor.finish(True)
        point = self.mapToScene(event.position().toPoint())
        if event.button() == Qt.MouseButton.MiddleButton:
            self.gesture, self._last = "pan", event.position().toPoint()
            self.viewport().setCursor(Qt.CursorShape.ClosedHandCursor)
            return
        if event.button() != Qt.MouseButton.LeftButton:
            if event.button() == Qt.MouseButton.RightButton:
                self._select_under(point)
                return
            super().mousePressEvent(event)
            return
        self.document.show_path(())
        card = self.graph_scene.card_at(point)
        if card is not None and card.is_on_handle(card.mapFromScene(point)):
            if not self.document.read_only:
                self.gesture, self._from = "connect", card.step_id
                self._follow_draft(point)
            return
        curve = (
            self.graph_scene.curve_at(point, 7.0 / max(self.zoom, 0.2)) if card is None else None
        )
        if curve is not None:
            self._press_curve(curve, point, event)
            return
        if card is None:
            self.document.select((), ())
        super().mousePressEvent(event)
        if card is not None:
            self.document.select(self.document.steps, (), current=card.step_id)
            if not self.document.read_only:
                self.gesture = "move"
                self.graph_scene.snapping, self.graph_scene.gathering = self.snap, True
                self._grabbed = {
                    step: (c.x(), c.y())
                    for step, c in self.graph_scene.cards.items()
                    if c.isSelected()
                }

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        spot = event.position().toPoint()
        if self.gesture == "pan":
            step, self._last = spot - self._last, spot
            self.horizontalScrollBar().setValue(self.horizontalScrollBar().value() - step.x())
            self.verticalScrollBar().setValue(self.verticalScrollBar().value() - step.y())
            return
        if self.gesture in ("connect", "reconnect-after", "reconnect-before"):
            self._follow_draft(self.mapToScene(spot))
            return
        super().mouseMoveEvent(event)
        if self.gesture == "move":
            self.graph_scene.draw_moved()
            self._stir_map()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        gesture = self.gesture
        if gesture == "pan":
            self._end_gesture()
            return
        if gesture in ("connect", "reconnect-after", "reconnect-before"):
            self._drop(self.mapToScene(event.position().toPoint()))
            return
        super().mouseReleaseEvent(event)
        if gesture == "move":
            moved = {}
            for step, place in self._grabbed.items():
                card = self.graph_scene.cards.get(step)
                if card is not None and (card.x(), card.y()) != place:
                    moved[step] = (card.x(), card.y())
            self._end_gesture()
            if moved:
                self.document.place_steps(moved)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            return
        point = self.mapToScene(event.position().toPoint())
        card = self.graph_scene.card_at(point)
        self._end_gesture()
        if card is not None:
            self.document.select((card.step_id,), (), current=card.step_id)
            self.rename_current()
        elif self.graph_scene.frame_at(point) is not None:
            self._rename_frame(point)
        else:
            self.add_step(self.graph_scene.snap(point) if self.snap else point)
