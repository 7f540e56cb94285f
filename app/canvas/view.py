"""The canvas itself: everything of it by keyboard, and the view that follows its document."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QWidget

from app.canvas.document import GraphDocument
from app.canvas.drawing import DrawingView
from app.canvas.scene import GRID


class CanvasView(DrawingView):
    """Shows a `GraphDocument` and turns gestures and keys into its verbs."""

    #: Asked for a menu at a point of the screen.
    menu_asked = Signal(QPoint)

    def __init__(self, document: GraphDocument, name: str, parent: QWidget | None = None) -> None:
        super().__init__(document, name, parent)
        #: How many suggestions there were when the view last followed the document.
        self._suggested = 0
        document.changed.connect(self._on_changed)
        document.placed.connect(self._on_placed)
        document.selection_changed.connect(self._on_selection)
        document.marks_changed.connect(self._stir_map)

    # -- walking -------------------------------------------------------------------------

    def _arrow(self, event: QKeyEvent, x: int, y: int) -> None:
        chosen = self.document.selected_in_order()
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            if chosen and not self.document.read_only:
                by = GRID if self.snap else 1.0
                self.document.place_steps(
                    {
                        step: (
                            self.document.places[step][0] + x * by,
                            self.document.places[step][1] + y * by,
                        )
                        for step in chosen
                    }
                )
            return
        current = self.document.current
        if not current:
            graph = self.document.graph
            if graph is not None and graph.steps:
                self._go(graph.steps[0].id)
            return
        found = self._neighbour(current, x, y)
        if not found:
            return
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.document.select(self.document.steps | {found}, (), current=found)
            self.reveal(found)
        else:
            self._go(found)

    def _go(self, step_id: str) -> None:
        self.document.select((step_id,), (), current=step_id)
        self.reveal(step_id)

    # -- following -----------------------------------------------------------------------

    def _on_changed(self) -> None:
        if self.document.graph is None:
            self._wanted_view = True
        elif not self.document.graph.steps:
            # Nothing to look at: what is then drawn stays where it is drawn.
            if self._wanted_view:
                self.show_readably()
            self._wanted_view = False
        steps, links = self.document.suggested()
        came, self._suggested = len(steps) + len(links) > self._suggested, len(steps) + len(links)
        if came:
            # A model drew, not a hand: all of it is to be seen.
            self._wanted_view = True
        if self._wanted_view and self.document.graph is not None and not self.document.automatic:
            self._wanted_view = False
            self.show_readably()
        self._on_selection()
        self._stir_map()

    def _on_placed(self) -> None:
        if self._wanted_view:
            self._wanted_view = False
            self.show_readably()
        elif self.document.current and self.document.automatic:
            self.reveal(self.document.current)
        self._stir_map()

    def _on_selection(self) -> None:
        words = self.describe(self.document.current)
        if words != self.accessibleDescription():
            self.setAccessibleDescription(words)
            if words and self.hasFocus():
                self.announce(words)
        self._stir_map()

    # -- Qt ------------------------------------------------------------------------------

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        self.menu_asked.emit(event.globalPos())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        way = {
            Qt.Key.Key_Left: (-1, 0),
            Qt.Key.Key_Right: (1, 0),
            Qt.Key.Key_Up: (0, -1),
            Qt.Key.Key_Down: (0, 1),
        }.get(Qt.Key(event.key()))
        if self.gesture == "pick" and self._pick_key(event, way):
            return
        if way is not None:
            self._arrow(event, *way)
            return
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.rename_current()
            return
        if event.key() == Qt.Key.Key_Escape:
            if self.gesture:
                self._end_gesture()
            else:
                self.document.show_path(())
                self.document.select((), ())
            return
        if event.key() in (Qt.Key.Key_Home, Qt.Key.Key_End) and self.document.graph:
            steps = self.document.graph.steps
            if steps:
                self._go(steps[0 if event.key() == Qt.Key.Key_Home else -1].id)
            return
        super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if self.gesture == "pick":
            self._end_gesture()
        self.viewport().update()
