"""The scene mirrors a document: one card a step, one curve a dependency, one frame a group."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import TypeVar

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtWidgets import QGraphicsItem, QGraphicsScene

from app import theme
from app.canvas.curves import DraftEdge, EdgeItem
from app.canvas.document import GraphDocument
from app.canvas.items import GroupItem, StepItem
from app.canvas.reading import Place
from core.graphs.model import StepGraph

Drawn = TypeVar("Drawn", bound=QGraphicsItem)

GRID = 8.0
#: More dependencies than this are not drawn all: those that follow from others are left out.
MOST_EDGES = 2_500
#: Free ground round the cards. Wider than any view, so that a view never centres what it shows by
#: itself: cards stay under the hand while others come and go.
_MARGIN = 6_000.0


class GraphScene(QGraphicsScene):
    """Takes over what the document says; asks it for nothing but to be told."""

    def __init__(self, document: GraphDocument) -> None:
        super().__init__(document)
        self.document = document
        self.cards: dict[str, StepItem] = {}
        self.curves: dict[str, EdgeItem] = {}
        self.frames: dict[str, GroupItem] = {}
        self._at: dict[str, list[EdgeItem]] = {}
        self.snapping = False
        #: Whether cards that move wait for `draw_moved`, as many may move at once.
        self.gathering = False
        self._moved: set[str] = set()
        self.crowded = False
        self._quiet = False
        self._content: QRectF | None = None
        #: Cards whose size changed since the curves were last drawn.
        self._resized: set[str] = set()
        self.setSceneRect(-_MARGIN, -_MARGIN, 2 * _MARGIN, 2 * _MARGIN)
        self.draft = DraftEdge()
        self.draft.hide()
        self.addItem(self.draft)
        document.changed.connect(self.sync)
        document.placed.connect(self.move_all)
        document.selection_changed.connect(self.show_selection)
        document.marks_changed.connect(self.show_marks)
        theme.notifier().changed.connect(self.redress)
        self.selectionChanged.connect(self._take_selection)
        self.sync()

    # -- following the document ----------------------------------------------------------

    def sync(self) -> None:
        """Show the document's graph."""
        graph = self.document.graph
        self._quiet = True
        if graph is None:
            self._drop(self.cards, {})
            self._drop(self.curves, {})
            self._drop(self.frames, {})
            self._at = {}
        else:
            self._sync_steps(graph)
            self._sync_links(graph)
        self.move_all()
        self.show_marks()
        self._quiet = False
        self.show_selection()

    def _sync_steps(self, graph: StepGraph) -> None:
        self._drop(self.cards, graph.by_id)
        for step in graph.steps:
            card = self.cards.get(step.id)
            if card is None:
                card = self.cards[step.id] = StepItem(step.id)
                self.addItem(card)
            if card.show_step(
                step.text,
                graph.numbers[step.id],
                step.suggested,
                len(self.document.issues.get(step.id, ())),
            ):
                self._resized.add(step.id)

    def _sync_links(self, graph: StepGraph) -> None:
        shortcuts = graph.shortcuts
        self.crowded = len(graph.dependencies) > MOST_EDGES
        hidden = self.document.hide_shortcuts or self.crowded
        shown = {
            link.id: link for link in graph.dependencies if not (hidden and link.id in shortcuts)
        }
        self._drop(self.curves, shown)
        self._at = {step: [] for step in graph.by_id}
        for link in shown.values():
            curve = self.curves.get(link.id)
            if curve is None:
                curve = self.curves[link.id] = EdgeItem(link.id, link.before_id, link.after_id)
                self.addItem(curve)
            curve.show_link(
                link.before_id, link.after_id, link.suggested, shortcut=link.id in shortcuts
            )
            self._at[link.before_id].append(curve)
            self._at[link.after_id].append(curve)

    def _drop(self, items: dict[str, Drawn], wanted: Mapping[str, object]) -> None:
        for key in [key for key in items if key not in wanted]:
            self.removeItem(items.pop(key))

    def move_all(self) -> None:
        """Put every card where the document says, and after it the curves that this touches."""
        self._content = None
        was, self._quiet = self._quiet, True
        snapping, self.snapping = self.snapping, False
        moved, self._resized = self._resized, set()
        for step_id, card in self.cards.items():
            place = self.document.places.get(step_id)
            if place is not None and (card.x(), card.y()) != place:
                card.setPos(*place)
                moved.add(step_id)
        self._quiet, self.snapping = was, snapping
        for curve in self.curves.values():
            bends = self.document.route(curve.before, curve.after)
            if curve.bends != bends or curve.before in moved or curve.after in moved:
                self._run(curve, bends)
        self._frame_groups()
        self._fit_scene()

    def follow(self, step_id: str) -> None:
        """A card moves: its curves and frame go with it, at once or with those that move besides."""
        if self._quiet:
            return
        card = self.cards[step_id]
        self.document.places[step_id] = (card.x(), card.y())
        self._content = None
        self._moved.add(step_id)
        if not self.gathering:
            self.draw_moved()

    def draw_moved(self) -> None:
        """Draw the curves and frames of the cards that moved, each once."""
        moved, self._moved = self._moved, set()
        curves = {curve.link_id: curve for step in moved for curve in self._at.get(step, ())}
        for curve in curves.values():
            self._run(curve, self.document.route(curve.before, curve.after))
        graph = self.document.graph
        if graph is not None and any(
            graph.by_id[step].group_id for step in moved if step in graph.by_id
        ):
            self._frame_groups()

    def snap(self, point: QPointF) -> QPointF:
        """The nearest point of the grid."""
        return QPointF(round(point.x() / GRID) * GRID, round(point.y() / GRID) * GRID)

    def _run(self, curve: EdgeItem, bends: Sequence[Place]) -> None:
        start, end = self.cards[curve.before], self.cards[curve.after]
        curve.run(start.body.translated(start.pos()), end.body.translated(end.pos()), bends)

    def _frame_groups(self) -> None:
        graph = self.document.graph
        if graph is None:
            return
        boxes: dict[str, list[QRectF]] = {}
        groups = {}
        if graph.groups:
            for step in graph.steps:
                card = self.cards[step.id]
                boxes.setdefault(step.group_id, []).append(card.body.translated(card.pos()))
            groups = {group.id: group for group in graph.groups if group.id in boxes}
        self._drop(self.frames, groups)
        for group_id, group in groups.items():
            frame = self.frames.get(group_id)
            if frame is None:
                frame = self.frames[group_id] = GroupItem(group_id)
                self.addItem(frame)
            others = [box for key, found in boxes.items() if key != group_id for box in found]
            frame.show_group(group.title, boxes[group_id], others)

    def content_rect(self) -> QRectF:
        """The room all cards, curves and frames take."""
        if self._content is None:
            self._content = self._measure()
        return self._content

    def _measure(self) -> QRectF:
        room = QRectF()
        for card in self.cards.values():
            room = room.united(card.body.translated(card.pos()))
        for curve in self.curves.values():
            room = room.united(curve.room)
        for frame in self.frames.values():
            room = room.united(frame.boundingRect())
        return room

    def _fit_scene(self) -> None:
        ground = self.content_rect().adjusted(-_MARGIN, -_MARGIN, _MARGIN, _MARGIN)
        if not self.sceneRect().contains(ground):
            self.setSceneRect(self.sceneRect().united(ground))

    # -- selection and marks -------------------------------------------------------------

    def show_selection(self) -> None:
        """Take over the document's selection."""
        was, self._quiet = self._quiet, True
        for step_id, card in self.cards.items():
            current = step_id == self.document.current
            chosen = step_id in self.document.steps
            if card.isSelected() != chosen:
                card.setSelected(chosen)
            if card.current != current:
                card.current = current
                card.update()
        for link_id, curve in self.curves.items():
            chosen = link_id in self.document.links
            if curve.chosen != chosen:
                curve.chosen = chosen
                curve.setZValue(8 if chosen else 5)
                curve.update()
        self._quiet = was

    def show_marks(self) -> None:
        """Take over the marks of a comparison and of a refused circle."""
        document = self.document
        path = set(document.path)
        steps = set(pairwise(document.path))
        for step_id, card in self.cards.items():
            status = document.step_status.get(step_id, "")
            if (card.status, card.in_path) != (status, step_id in path):
                card.status, card.in_path = status, step_id in path
                card.update()
        for link_id, curve in self.curves.items():
            status = document.link_status.get(link_id, "")
            on_path = (curve.before, curve.after) in steps
            if (curve.status, curve.in_path) != (status, on_path):
                curve.status, curve.in_path = status, on_path
                curve.update()

    def redress(self) -> None:
        """The theme is another."""
        self.update()

    def _take_selection(self) -> None:
        if self._quiet:
            return
        steps = {item.step_id for item in self.selectedItems() if isinstance(item, StepItem)}
        self.document.select(steps, self.document.links if not steps else ())

    @contextmanager
    def unmarked(self) -> Iterator[None]:
        """Without selection and hovering, as a picture shows it."""
        was, self._quiet = self._quiet, True
        chosen = [card for card in self.cards.values() if card.isSelected()]
        for card in chosen:
            card.setSelected(False)
        for card in self.cards.values():
            card.hovered = False
        for curve in self.curves.values():
            curve.chosen = False
        try:
            yield
        finally:
            for card in chosen:
                card.setSelected(True)
            self._quiet = was
            self.show_selection()

    # -- looking up ----------------------------------------------------------------------

    def card_at(self, point: QPointF) -> StepItem | None:
        """The card at a point of the scene, its handle included."""
        for item in self.items(point):
            if isinstance(item, StepItem):
                return item
        return None

    def curve_at(self, point: QPointF, reach: float = 6.0) -> EdgeItem | None:
        """The curve nearest under a point."""
        box = QRectF(point.x() - reach, point.y() - reach, 2 * reach, 2 * reach)
        for item in self.items(box):
            if isinstance(item, EdgeItem) and item.near(point, reach):
                return item
        return None

    def frame_at(self, point: QPointF) -> GroupItem | None:
        """The frame whose name is at a point."""
        for frame in self.frames.values():
            if frame.title_at(point) is not None:
                return frame
        return None
