"""Typing on the canvas: steps and the names of frames where they stand, and steps put into words."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QPointF, QRect
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QWidget

from app.canvas.document import GraphDocument
from app.canvas.inline import InlineEditor
from app.canvas.looking import LookingView
from app.strings import say
from core.graphs.verbs import rename_group


class WritingView(LookingView):
    """A view on whose cards one can type."""

    def __init__(self, document: GraphDocument, name: str, parent: QWidget | None = None) -> None:
        super().__init__(document, name, parent)
        self.editor: InlineEditor | None = None

    def rename_current(self) -> None:
        """Type over the current card."""
        graph, step_id = self.document.graph, self.document.current
        card = self.graph_scene.cards.get(step_id)
        if graph is None or card is None or self.document.read_only:
            return
        self.reveal(step_id)
        box = self.mapFromScene(card.body.translated(card.pos())).boundingRect()
        before = [graph.by_id[parent].text for parent in graph.parents[step_id]]

        def done(text: str) -> None:
            if text:
                self.document.rename_step(step_id, text)

        self._edit(box, card.text, done, before)

    def add_step(self, place: QPointF | None = None, after: str = "") -> None:
        """Type a new step: at a point of the scene, or where there is room."""
        if self.document.read_only or not self.document.graph_id:
            return
        if place is not None:
            spot = self.mapFromScene(place)
        else:
            spot = self.viewport().rect().center()
        box = QRect(spot.x() - 100, spot.y() - 20, 200, 40)
        graph = self.document.graph
        before = [graph.by_id[after].text] if graph is not None and after in graph.by_id else []

        def done(text: str) -> None:
            if text:
                point = None if place is None else (place.x(), place.y())
                self.document.add_step(text, place=point, after=after)

        self._edit(box, "", done, before)

    def add_after(self) -> None:
        """Type a step that comes after the current one."""
        self.add_step(after=self.document.current)

    def _edit(
        self, box: QRect, text: str, done: Callable[[str], None], before: Sequence[str]
    ) -> None:
        if self.editor is not None:
            self.editor.finish(True)
        graph = self.document.graph
        assumptions = graph.graph.assumptions if graph is not None else ()
        editor = InlineEditor(
            self.viewport(), box, text, done, assumptions=assumptions, before=before
        )
        self.editor = editor
        editor.closed.connect(self._forget_editor)

    def _forget_editor(self) -> None:
        self.editor = None

    def _rename_frame(self, point: QPointF) -> None:
        frame = self.graph_scene.frame_at(point)
        bar = frame.title_at(point) if frame is not None else None
        if frame is None or bar is None or self.document.read_only:
            return
        group_id = frame.group_id

        def done(title: str) -> None:
            if title:
                self.document.run(say("Rename group"), rename_group, group_id, title)

        self._edit(self.mapFromScene(bar).boundingRect(), frame.title, done, [])

    # -- words ---------------------------------------------------------------------------

    def announce(self, text: str) -> None:
        """Tell a screen reader."""
        if QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, text))

    def describe(self, step_id: str) -> str:
        """A step in words, with what it comes after and before."""
        graph = self.document.graph
        if graph is None or step_id not in graph.by_id:
            return ""
        step = graph.by_id[step_id]
        words = [say("Step {number}: {words}.", number=graph.numbers[step_id], words=step.text)]
        if step.suggested:
            words.append(say("Suggested by {who}.", who=step.suggested))
        for near, text in (
            (graph.parents[step_id], say("Comes after {numbers}.")),
            (graph.children[step_id], say("Comes before {numbers}.")),
        ):
            if near:
                numbers = ", ".join(str(graph.numbers[other]) for other in near)
                words.append(text.replace("{numbers}", numbers))
        words += [issue.message for issue in self.document.issues.get(step_id, ())]
        return " ".join(words)
