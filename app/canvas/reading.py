"""One open graph as the views see it: its rows, where its cards stand, what is selected and marked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.canvas.cards import WIDTH, card_size
from app.operations import run_query
from app.session import Session
from core.changes import Changes
from core.errors import NotFoundError
from core.graphs.comparison import Status
from core.graphs.layout import GAP_ACROSS, GAP_DOWN, Layout, lay_out
from core.graphs.linter import StepIssue, lint_graph
from core.graphs.model import StepGraph, load_graph
from core.storage.reads import Reads

Place = tuple[float, float]

KINDS = ("graph", "graph_step", "dependency", "step_group")


class GraphReading(QObject):
    """The graph at hand with its selection, read and laid out off the UI thread."""

    #: The graph was read anew, or another one opened.
    changed = Signal()
    #: Cards moved without a change of rows: the layout came.
    placed = Signal()
    selection_changed = Signal()
    #: Marks on steps and dependencies (checks, comparison) are others.
    marks_changed = Signal()
    #: Something was refused: the error, with the steps of a circle in ``path`` where it is one.
    refused = Signal(object)
    #: Something to tell in passing.
    said = Signal(str)
    #: A new step is in: its id.
    added = Signal(str)

    def __init__(self, session: Session, owner: QWidget) -> None:
        super().__init__(owner)
        self.session = session
        self._owner = owner
        self._generation = 0
        self.graph_id = ""
        self.graph: StepGraph | None = None
        #: Whether nobody placed a card: the layout is then made anew with each change.
        self.automatic = False
        self.places: dict[str, Place] = {}
        self.routes: dict[tuple[str, str], list[Place]] = {}
        self._laid_out: dict[str, Place] = {}
        self._pins: dict[str, Place] = {}
        self.steps: frozenset[str] = frozenset()
        self.links: frozenset[str] = frozenset()
        self.current = ""
        self.hide_shortcuts = False
        self.issues: dict[str, list[StepIssue]] = {}
        self.step_status: Mapping[str, Status] = {}
        self.link_status: Mapping[str, Status] = {}
        #: Steps of a circle that was just refused, to be shown.
        self.path: tuple[str, ...] = ()

    # -- reading -------------------------------------------------------------------------

    @property
    def read_only(self) -> bool:
        return not self.session.has_workspace or self.session.workspace.read_only

    def open(self, graph_id: str) -> None:
        """Show a graph; '' shows none."""
        if graph_id != self.graph_id:
            self.graph_id = graph_id
            self.graph, self.automatic = None, False
            self.places, self.routes, self._laid_out, self._pins = {}, {}, {}, {}
            self.steps, self.links, self.current, self.path = frozenset(), frozenset(), "", ()
            self.step_status, self.link_status, self.issues = {}, {}, {}
            self.changed.emit()
        self.reload()

    def reload(self) -> None:
        """Read the graph anew, off the UI thread."""
        self._generation += 1
        if not self.graph_id or not self.session.has_workspace:
            return
        generation = self._generation

        def take(found: tuple[StepGraph, dict[str, list[StepIssue]]]) -> None:
            if generation == self._generation:
                self._take(*found)

        def gone(error: BaseException) -> None:
            if generation != self._generation:
                return
            if isinstance(error, NotFoundError):
                self.open("")
            else:
                self.refused.emit(error)

        run_query(self._owner, _read, self.session.workspace, self.graph_id).success(take).failure(
            gone
        )

    def apply_changes(self, changes: Changes | None) -> None:
        """Read anew when a transaction touched graphs."""
        if changes is None or changes.touches(*KINDS):
            self.reload()

    def _take(self, graph: StepGraph, issues: dict[str, list[StepIssue]]) -> None:
        self.graph = graph
        self.issues = issues
        self.automatic = all(step.x is None for step in graph.steps)
        alive = set(graph.by_id)
        self.steps &= alive
        self.links &= {link.id for link in graph.dependencies}
        if self.current not in alive:
            self.current = next(iter(self.steps), "")
        self.path = tuple(step for step in self.path if step in alive)
        self._place_cards(graph)
        self.changed.emit()
        self.selection_changed.emit()
        self._lay_out_behind(graph)

    # -- places --------------------------------------------------------------------------

    def _place_cards(self, graph: StepGraph) -> None:
        """Places known now: stored ones, those of the last layout, and free room for new cards."""
        places: dict[str, Place] = {}
        for step in graph.steps:
            if step.x is not None and step.y is not None:
                places[step.id] = (step.x, step.y)
        if not places:
            places = {s.id: self._laid_out[s.id] for s in graph.steps if s.id in self._laid_out}
        if not places:
            # Rows of a list for the moment until the layout comes.
            for number, step in enumerate(graph.steps):
                line, column = divmod(number, 4)
                places[step.id] = (column * (WIDTH + GAP_ACROSS) + WIDTH / 2, line * 90.0 + 30.0)
        for step in graph.steps:
            if step.id not in places:
                places[step.id] = self._free_place(graph, step.id, places)
        self.places = places

    def _free_place(self, graph: StepGraph, step_id: str, places: Mapping[str, Place]) -> Place:
        parents = [places[p] for p in graph.parents.get(step_id, ()) if p in places]
        if parents:
            x = sum(p[0] for p in parents) / len(parents)
            y = max(p[1] for p in parents) + 60 + GAP_DOWN
        elif places:
            x = min(p[0] for p in places.values())
            y = max(p[1] for p in places.values()) + 60 + GAP_DOWN
        else:
            return WIDTH / 2, 30.0
        while any(abs(x - a) < WIDTH + 8 and abs(y - b) < 56 for a, b in places.values()):
            x += WIDTH + GAP_ACROSS
        return x, y

    def _lay_out_behind(self, graph: StepGraph) -> None:
        """Make the layout off the UI thread; where cards stand by hand it only gives edges their bends."""
        generation = self._generation
        sizes = [card_size(step.text) for step in graph.steps]
        number = graph.numbers
        edges = list(graph.edges)
        for link in graph.dependencies:
            # Suggested dependencies shape the layout, too, after the accepted ones.
            if link.suggested:
                edges.append((number[link.before_id] - 1, number[link.after_id] - 1))

        def take(layout: Layout) -> None:
            if generation == self._generation and self.graph is graph:
                self._take_layout(graph, layout)

        groups = [step.group_id for step in graph.steps] if graph.groups else []
        run_query(self._owner, lay_out, sizes, edges, groups).success(take).failure(
            self.refused.emit
        )

    def _take_layout(self, graph: StepGraph, layout: Layout) -> None:
        ids = [step.id for step in graph.steps]
        self._laid_out = dict(zip(ids, layout.places, strict=True))
        self.routes = {(ids[a], ids[b]): route for (a, b), route in layout.routes.items()}
        if self.automatic:
            self.places = dict(self._laid_out)
        self.placed.emit()

    def route(self, before: str, after: str) -> Sequence[Place]:
        """Bends of a dependency while both its steps stand where the layout put them."""
        found = self.routes.get((before, after), ())
        if not found:
            return ()
        for step in (before, after):
            here, there = self.places.get(step), self._laid_out.get(step)
            if here is None or there is None:
                return ()
            if abs(here[0] - there[0]) > 2 or abs(here[1] - there[1]) > 2:
                return ()
        return found

    # -- selection -----------------------------------------------------------------------

    def select(
        self, steps: Iterable[str] = (), links: Iterable[str] = (), *, current: str = ""
    ) -> None:
        """Select steps and dependencies; the current step is where the keyboard is."""
        chosen, ties = frozenset(steps), frozenset(links)
        current = current or (self.current if self.current in chosen else next(iter(chosen), ""))
        if (chosen, ties, current) == (self.steps, self.links, self.current):
            return
        self.steps, self.links, self.current = chosen, ties, current
        self.selection_changed.emit()

    def selected_in_order(self) -> list[str]:
        """The selected steps in the order of the list."""
        if self.graph is None:
            return []
        return [step.id for step in self.graph.steps if step.id in self.steps]

    def set_marks(self, steps: Mapping[str, Status], links: Mapping[str, Status]) -> None:
        """Show what a comparison found."""
        self.step_status, self.link_status = dict(steps), dict(links)
        self.marks_changed.emit()

    def show_path(self, path: Sequence[str]) -> None:
        """Mark the steps of a circle that was refused; () clears it."""
        if tuple(path) != self.path:
            self.path = tuple(path)
            self.marks_changed.emit()

    def set_hide_shortcuts(self, hidden: bool) -> None:
        """Leave out dependencies that a longer path says already; only from view."""
        self.hide_shortcuts = hidden
        self.changed.emit()


def _read(reads: Reads, graph_id: str) -> tuple[StepGraph, dict[str, list[StepIssue]]]:
    """A graph with what the linter says of it."""
    graph = load_graph(reads, graph_id)
    return graph, lint_graph(graph)
