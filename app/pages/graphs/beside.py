"""The pane beside: another graph of the same task, under another assumption or by another hand."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSplitter, QVBoxLayout, QWidget

from app import theme
from app.operations import run_query
from app.pages.graphs.compared import describe_other, list_others
from app.pages.graphs.pane import GraphPane
from app.session import Session
from app.strings import say
from app.widgets.basics import row
from app.widgets.buttons import IconButton
from app.widgets.inputs import ComboBox
from core.types.graphs import TaskGraph

#: The least width, in pixels of usual text, at which two canvases stand side by side.
_SIDE_BY_SIDE = 600


class BesidePane(QWidget):
    """A choice of graphs over a canvas of its own, which can be edited as well."""

    closed = Signal()

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self.choice = ComboBox(say("Graph shown beside"), stretch=True)
        self.choice.currentIndexChanged.connect(self._on_choice)
        self.close_button = IconButton("close", say("Close the graph beside"))
        self.close_button.clicked.connect(self.closed)
        self.pane = GraphPane(session, say("Graph beside on the canvas"))
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(theme.XS)
        box.addLayout(row(self.choice, self.close_button))
        box.addWidget(self.pane, 1)

    def offer(self, graph: TaskGraph, wanted: str = "") -> None:
        """Offer the graphs that can stand beside one, and show the wanted one or the nearest."""

        def fill(others: Sequence[tuple[TaskGraph, str]]) -> None:
            ids = [other.id for other, _ in others]
            self.choice.fill([(describe_other(o, name, graph), o.id) for o, name in others])
            if ids:
                self.choice.choose(wanted if wanted in ids else ids[0])
            self._on_choice()

        run_query(self, list_others, self.session.workspace, graph).success(fill)

    @Slot()
    def _on_choice(self) -> None:
        chosen = str(self.choice.value or "")
        if chosen != self.pane.document.graph_id:
            self.pane.document.open(chosen)


class Canvases(QSplitter):
    """One canvas, or two: side by side where each has room for a card or two, else one above the other."""

    def __init__(self) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self.setChildrenCollapsible(False)
        self.setHandleWidth(theme.M)

    def share(self) -> None:
        """Give both canvases the same room."""
        self._turn()
        length = self.width() if self.orientation() == Qt.Orientation.Horizontal else self.height()
        self.setSizes([length // 2, length // 2])

    def _turn(self) -> None:
        upright = self.width() < theme.current().px(_SIDE_BY_SIDE)
        wanted = Qt.Orientation.Vertical if upright else Qt.Orientation.Horizontal
        if self.orientation() != wanted:
            self.setOrientation(wanted)
            for pane in self.findChildren(GraphPane):
                pane.canvas.view_anew()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._turn()
