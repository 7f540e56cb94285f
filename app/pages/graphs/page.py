"""The graph studio: a list of graphs, one of them on the canvas, and its twin and helpers beside it."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

from PySide6.QtCore import Qt, QTimer, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSplitter, QTabWidget, QWidget

from app import theme
from app.canvas.reading import KINDS
from app.operations import run_job, run_verb
from app.pages.base import Command
from app.pages.base import Page as BasePage
from app.pages.graphs.about import AboutTab
from app.pages.graphs.actions import bind_keys, list_commands
from app.pages.graphs.beside import BesidePane, Canvases
from app.pages.graphs.checks import ChecksTab
from app.pages.graphs.compare import CompareTab
from app.pages.graphs.dialogs import ExportDialog, NewGraphDialog
from app.pages.graphs.importing import choose_and_import
from app.pages.graphs.methods import MethodsDialog
from app.pages.graphs.outline import OutlineView
from app.pages.graphs.outline_tab import OutlineTab
from app.pages.graphs.pane import GraphPane
from app.pages.graphs.rows import TwoLineDelegate
from app.pages.graphs.source import FILTERS, SOURCE
from app.pages.graphs.suggest import SuggestTab
from app.pages.listing import Listing
from app.strings import say
from app.widgets.basics import Card
from app.widgets.buttons import Button, IconButton
from app.widgets.dialogs import ask
from app.widgets.empty import EmptyState
from app.widgets.inputs import ComboBox
from core.changes import Changes
from core.graphs.samples import fill_graphs
from core.graphs.splits import split_golds
from core.graphs.verbs import copy_graph, delete_graph
from core.ports import Cancellation, ProgressCallback

#: Below this width the list makes room for the canvas until it is asked for.
_NARROW = 1060


class Page(BasePage):
    """List, canvas, outline."""

    name = "graphs"
    title = "Graphs"
    kinds = (*KINDS, "graph_match", "graph_score", "step_scorer", "person")

    def build(self) -> None:
        self._wanted = ""
        self._list_wanted = True
        self.list_button = IconButton("columns", say("Show or hide the list of graphs"))
        self.list_button.setCheckable(True)
        self.list_button.setChecked(True)
        self.list_button.toggled.connect(self._toggle_list)
        self.beside_button = IconButton("compare", say("Show or hide another graph beside"))
        self.beside_button.setCheckable(True)
        self.beside_button.clicked.connect(self.toggle_beside)
        self.import_button = Button(say("Import"), icon="import")
        self.import_button.clicked.connect(self.show_import)
        self.export_button = Button(say("Export"), icon="export")
        self.export_button.clicked.connect(self.show_export)
        self.new_button = Button(
            say("New graph"), "primary", icon="plus", shortcuts=self.session.shortcuts, action="new"
        )
        self.new_button.clicked.connect(self.show_new)
        for button in (
            self.list_button, self.beside_button, self.import_button, self.export_button,
            self.new_button,
        ):  # fmt: skip
            self.action_row.addWidget(button)
        self.listing = Listing(
            self.session, SOURCE, say("Graphs"), say("Search tasks and assumptions"), self
        )
        self.listing.view.setItemDelegate(TwoLineDelegate(self.listing.view))
        self.filter = ComboBox(say("Which graphs are listed"))
        self.filter.fill([(say(text), name) for name, text, _ in FILTERS], "all")
        self.filter.currentIndexChanged.connect(self._on_filter)
        self.listing.box.insertWidget(1, self.filter)
        self.listing.view.current_changed.connect(self._on_current)
        self.listing.model.loaded.connect(self._on_loaded)
        self.pane = GraphPane(self.session, say("Graph on the canvas"))
        self.pane.said.connect(self.said)
        self.document = self.pane.document
        self.outline = OutlineTab(self.document)
        self.checks = ChecksTab(self.session, self.document)
        self.checks.edit_asked.connect(self.edit_step)
        self.suggest = SuggestTab(self.session, self.document)
        self.suggest.methods_asked.connect(self.show_methods)
        self.compare = CompareTab(self.session, self.document)
        self.compare.beside_asked.connect(self.show_beside)
        self.compare.settled.connect(self._on_made)
        self.about = AboutTab(self.session, self.document)
        self.about.training_made.connect(self._on_made)
        self.about.said.connect(self.said)
        self.about.another_asked.connect(self.show_another)
        self.about.copy_asked.connect(self.copy_current)
        self.about.delete_asked.connect(self.delete_current)
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        self.tabs.tabBar().setDrawBase(False)
        # Five tabs share the width of a column.
        self.tabs.tabBar().setStyleSheet("QTabBar::tab { padding: 6px 7px; }")
        self.tabs.tabBar().setAccessibleName(say("Views of the graph"))
        for tab, text in (
            (self.outline, say("Outline")),
            (self.checks, say("Checks")),
            (self.suggest, say("Suggest")),
            (self.compare, say("Compare")),
            (self.about, say("About")),
        ):
            self.tabs.addTab(tab, text)
        self.tabs.currentChanged.connect(self._on_tab)
        self.beside: BesidePane | None = None
        self.canvases = Canvases()
        self.canvases.addWidget(self.pane)
        side = Card()
        side.box.setContentsMargins(theme.M, theme.XS, theme.M, theme.M)
        side.add(self.tabs, 1)
        self.split = QSplitter(Qt.Orientation.Horizontal)
        self.split.setChildrenCollapsible(False)
        self.split.setHandleWidth(theme.M)
        for number, part in enumerate((self.listing, self.canvases, side)):
            self.split.addWidget(part)
            self.split.setStretchFactor(number, (0, 1, 0)[number])
        self.split.setSizes([theme.current().px(width) for width in (270, 580, 368)])
        self.body.addWidget(self.split, 1)
        self.document.changed.connect(self._on_document)
        bind_keys(self)

    def refresh(self, changes: Changes | None) -> None:
        self._on_filter()
        self.listing.model.apply_changes(changes)
        self.document.apply_changes(changes)
        if changes is None or changes.touches("person"):
            self.about.read_people()
        if self.beside is not None and self.beside.isVisible():
            self.beside.pane.document.apply_changes(changes)

    def place(self) -> dict[str, Any]:
        return {
            "graph": self.document.graph_id or self._wanted,
            "tab": self.tabs.currentIndex(),
        }

    def restore(self, place: dict[str, Any]) -> None:
        self._wanted = str(place.get("graph", ""))
        tab = place.get("tab", 0)
        if isinstance(tab, int) and 0 <= tab < self.tabs.count():
            self.tabs.setCurrentIndex(tab)
        if self._wanted and self.listing.view.select_id(self._wanted):
            self._wanted = ""

    def settle(self) -> Sequence[Future[Any]]:
        if self.pane.canvas.editor is not None:
            self.pane.canvas.editor.finish(True)
        if self.outline.view.state() == OutlineView.State.EditingState:
            # A cell that is being typed in is written when the keyboard leaves it.
            self.outline.view.setFocus(Qt.FocusReason.OtherFocusReason)
        future = self.about.saver.flush()
        return [future] if future is not None else []

    def first_focus(self) -> QWidget | None:
        return self.new_button if self.is_empty_shown else self.pane.canvas

    def commands(self) -> list[Command]:
        return list_commands(self)

    # -- what the person does ------------------------------------------------------------

    @Slot()
    def show_new(self) -> None:
        """Ask for a task and assumptions, and make a graph of them."""
        NewGraphDialog(self, self._on_made).open()

    @Slot()
    def show_another(self) -> None:
        """A further graph of the same task under another assumption."""
        graph = self.document.graph
        if graph is not None:
            NewGraphDialog(self, self._on_made, task=graph.graph.task).open()
        else:
            self._say_none()

    @Slot()
    def copy_current(self) -> None:
        """A copy of the graph to change."""
        if self.document.graph is not None:
            run_verb(self, say("Copy graph"), copy_graph, self.document.graph_id).success(
                lambda outcome: self._on_made(outcome.value.id)
            )
        else:
            self._say_none()

    @Slot()
    def delete_current(self) -> None:
        """Delete the graph, after asking; undo brings it back."""
        graph = self.document.graph
        if graph is None:
            self._say_none()
            return
        ask(
            self,
            say("Delete the graph?"),
            say("'{task}' with its steps and dependencies. Undo brings it back.",
                task=graph.graph.task),
            say("Delete"),
            lambda: run_verb(self, say("Delete graph"), delete_graph, graph.graph.id),
            danger=True,
        )  # fmt: skip

    @Slot()
    def show_import(self) -> None:
        """Choose a file of graphs."""
        choose_and_import(self, self._on_imported)

    @Slot()
    def show_export(self) -> None:
        """Write graphs or a picture."""
        if self.document.graph is not None:
            ExportDialog(self, self.document, self.pane.canvas.graph_scene).open()
        else:
            self._say_none()

    def _say_none(self) -> None:
        self.said.emit(say("There is no graph yet. Make one, or import some, first."))

    @Slot()
    def show_methods(self) -> None:
        """Every method on the gold graphs, in a table."""
        MethodsDialog(self).open()

    @Slot()
    def split_golds(self) -> None:
        """Split the gold graphs into training, validation and test by clusters of like tasks."""
        session = self.session

        def work(*, progress: ProgressCallback, cancel: Cancellation) -> dict[str, int]:
            return split_golds(session.workspace, session.models.embedder(), session.person_id)

        def tell(counts: dict[str, int]) -> None:
            self.said.emit(
                say("Split: {what}", what=", ".join(f"{n} {name}" for name, n in counts.items()))
            )

        run_job(self, say("Splitting the gold graphs"), work).success(tell)

    @Slot()
    def toggle_beside(self) -> None:
        """Show another graph of the task beside, or close it."""
        if self.beside is not None and not self.beside.isHidden():
            self.show_beside("")
        elif self.document.graph is not None:
            self._open_beside("")
        else:
            self._say_none()
        self.beside_button.setChecked(self.beside is not None and not self.beside.isHidden())

    @Slot(str)
    def show_beside(self, graph_id: str) -> None:
        """Show a graph beside; '' closes it."""
        if graph_id and self.document.graph is not None:
            self._open_beside(graph_id)
        elif self.beside is not None and not self.beside.isHidden():
            self.beside.hide()
            self.list_button.setChecked(self._list_wanted)
            self.pane.canvas.view_anew()
            self.beside.pane.document.open("")
        self.beside_button.setChecked(bool(graph_id) and self.beside is not None)

    def _open_beside(self, wanted: str) -> None:
        if self.beside is None:
            self.beside = BesidePane(self.session)
            self.beside.hide()
            self.beside.closed.connect(self._close_beside)
            self.beside.pane.said.connect(self.said)
            self.canvases.addWidget(self.beside)
            self.compare.watch_other(self.beside.pane.document)
        if self.beside.isHidden():
            # Two canvases want the room of the list.
            self._list_wanted = self.list_button.isChecked()
            self.list_button.setChecked(False)
            self.beside.show()
            # The list gives its room away only once the window is laid out anew.
            QTimer.singleShot(0, self, self._share_canvases)
        assert self.document.graph is not None
        self.beside.offer(self.document.graph.graph, wanted)

    def _share_canvases(self) -> None:
        self.canvases.share()
        self.pane.canvas.show_readably()

    @Slot()
    def _close_beside(self) -> None:
        self.show_beside("")

    @Slot()
    def add_samples(self) -> None:
        """Add ten tasks with gold graphs."""
        run_verb(self, say("Add the sample graphs"), fill_graphs)

    @Slot()
    def add_step(self) -> None:
        """Type a new step where the keyboard is: on the canvas or in the outline."""
        if self._in_outline():
            self.outline.field.setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            self.pane.canvas.add_step()

    @Slot()
    def add_after(self) -> None:
        """Type a step that comes after the current one."""
        self.pane.canvas.add_after()

    @Slot()
    def rename(self) -> None:
        """Type over the current step."""
        if self._in_outline():
            self.outline.view.edit_current()
        else:
            self.pane.canvas.rename_current()

    @Slot(str)
    def edit_step(self, step_id: str) -> None:
        """Type over a step on the canvas."""
        self.document.select((step_id,), (), current=step_id)
        self.pane.canvas.rename_current()

    @Slot()
    def change_sides(self) -> None:
        """Take the keyboard from the canvas to the outline, or back."""
        if self._in_outline():
            self.pane.canvas.setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            self.tabs.setCurrentWidget(self.outline)
            target = self.outline.view if self.document.graph else self.outline.field
            if self.document.graph is not None and not self.document.graph.steps:
                target = self.outline.field
            target.setFocus(Qt.FocusReason.OtherFocusReason)

    def _in_outline(self) -> bool:
        focus = self.window().focusWidget()
        return focus is not None and (focus is self.outline or self.outline.isAncestorOf(focus))

    # -- inside --------------------------------------------------------------------------

    def _on_made(self, graph_id: str) -> None:
        self._wanted = graph_id
        if self.filter.value != "all":
            self.filter.choose("all")
            self._on_filter()
        if self.listing.view.select_id(graph_id):
            self._wanted = ""
        self.pane.canvas.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_imported(self, words: str, first: str) -> None:
        self.said.emit(words)
        if first:
            self._on_made(first)

    @Slot()
    def _on_filter(self) -> None:
        sql = next(sql for name, _, sql in FILTERS if name == self.filter.value)
        self.listing.model.set_filter(sql, [self.session.person_id] if "?" in sql else [])

    @property
    def _is_bare(self) -> bool:
        """Whether there is no graph at all."""
        model = self.listing.model
        plain = self.filter.value == "all" and not self.listing.search.text().strip()
        return model.loaded_once and not model.ids and plain

    @Slot(str)
    def _on_current(self, graph_id: str) -> None:
        self.about.saver.flush()
        self.document.open(graph_id)

    @Slot()
    def _on_loaded(self) -> None:
        count = len(self.listing.model.ids)
        self.set_subtitle(f"{count:,}" if count else "")
        self.listing.count.setText(say("{count} listed", count=f"{count:,}"))
        if self._wanted and self.listing.view.select_id(self._wanted):
            self._wanted = ""
        self.list_button.setEnabled(not self._is_bare)
        if self._is_bare:
            self.document.open("")
            self.show_empty(
                EmptyState(
                    "graphs",
                    say("No graphs yet"),
                    say(
                        "A graph holds the steps of a task under stated assumptions, and which must "
                        "be done before which. Draw one, import TaskLAMA's files, or look at the "
                        "samples first."
                    ),
                    (say("New graph"), self.show_new),
                    (say("Import graphs"), self.show_import),
                    (say("Add the samples"), self.add_samples),
                )
            )
        else:
            self.show_empty(None)

    @Slot()
    def _on_document(self) -> None:
        for button in (self.export_button, self.beside_button):
            button.setEnabled(self.document.graph is not None)
        count = self.checks.count
        self.tabs.setTabText(1, say("Checks {count}", count=count) if count else say("Checks"))

    @Slot(int)
    def _on_tab(self, number: int) -> None:
        shown = self.tabs.widget(number)
        self.compare.set_active(shown is self.compare)
        if shown is self.suggest:
            self.suggest.look_around()
        elif shown is self.about:
            self.about.read_people()

    def _toggle_list(self, shown: bool) -> None:
        self.listing.setVisible(shown)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        was, now = event.oldSize().width(), event.size().width()
        narrow = theme.current().px(_NARROW)
        if (was < 0 or was >= narrow) and now < narrow:
            self.list_button.setChecked(False)
        elif 0 <= was < narrow <= now:
            self.list_button.setChecked(True)
