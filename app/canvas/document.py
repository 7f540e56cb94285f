"""One open graph: what canvas and outline both show, where its cards stand, and what the person does to it.

Views never change rows themselves: they call the document, which runs a verb, and are told by `changed`
once the workspace has it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.canvas.cards import WIDTH, card_size
from app.operations import run_query, run_verb
from app.session import Session
from app.strings import count_of, say
from core.changes import Changes, Outcome
from core.errors import ConflictError, NotFoundError
from core.graphs import links, suggestions, verbs
from core.graphs.comparison import Status
from core.graphs.layout import GAP_ACROSS, GAP_DOWN, Layout, lay_out
from core.graphs.linter import Fix, StepIssue, lint_graph
from core.graphs.model import CycleError, StepGraph, load_graph
from core.graphs.suggestions import Accepted
from core.storage.reads import Reads
from core.storage.transaction import Transaction

Place = tuple[float, float]

KINDS = ("graph", "graph_step", "dependency", "step_group")


class GraphDocument(QObject):
    """The graph at hand with its selection; one a pane."""

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

        run_query(self._owner, lay_out, sizes, edges).success(take).failure(self.refused.emit)

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

    # -- verbs ---------------------------------------------------------------------------

    def run(
        self,
        label: str,
        verb: Callable[..., Any],
        *args: Any,
        then: Callable[[Any], object] | None = None,
        **kwargs: Any,
    ) -> None:
        """Run a verb; what is refused goes to `refused`, ``then`` gets its value."""
        if self.read_only:
            self.said.emit(say("The workspace is open for reading only."))
            return
        self.show_path(())

        def done(outcome: Outcome[Any]) -> None:
            if then is not None:
                then(outcome.value)

        run_verb(self._owner, label, verb, *args, **kwargs).success(done).failure(self._refuse)

    def _refuse(self, error: BaseException) -> None:
        if isinstance(error, CycleError):
            self.show_path(error.path)
        self.refused.emit(error)

    def add_step(
        self,
        text: str,
        *,
        place: Place | None = None,
        after: str = "",
        index: int | None = None,
    ) -> None:
        """Add a step, at a place on the canvas where one is given, after another where one is given."""
        if not text.strip() or not self.graph_id:
            return
        pins = dict(self.places) if place is not None and self.automatic else {}
        if place is None and self.graph is not None and not self.automatic and after:
            place = self._below(after)
        self.run(
            say("Add step"),
            _add_step,
            self.graph_id,
            text,
            index,
            place,
            after,
            pins,
            then=self._on_added,
        )

    def _below(self, step_id: str) -> Place | None:
        x, y = self.places.get(step_id, (0.0, 0.0))
        y += 60 + GAP_DOWN
        while any(abs(x - a) < WIDTH and abs(y - b) < 56 for a, b in self.places.values()):
            x += WIDTH + GAP_ACROSS
        return x, y

    def _on_added(self, step_id: str) -> None:
        self.steps, self.links, self.current = frozenset((step_id,)), frozenset(), step_id
        self.added.emit(step_id)
        self.selection_changed.emit()

    def rename_step(self, step_id: str, text: str) -> None:
        """Change a step's text; the same text changes nothing."""
        step = self.graph.by_id.get(step_id) if self.graph else None
        if step is not None and verbs.clean_text(text) != step.text:
            self.run(say("Rename step"), verbs.rename_step, step_id, text)

    def connect_steps(self, before: str, after: str) -> None:
        """Draw a dependency; refused with its path when it would close a circle."""
        self.run(say("Add dependency"), links.connect, self.graph_id, before, after)

    def reconnect(self, dependency: str, *, before: str = "", after: str = "") -> None:
        """Hang an end of a dependency on another step."""
        self.run(
            say("Move dependency"), links.reconnect, dependency, before_id=before, after_id=after
        )

    def would_close(self, before: str, after: str, without: str = "") -> tuple[str, ...]:
        """The path a dependency would close, asked while it is being drawn."""
        if self.graph is None or before == after:
            return (before,)
        if not without:
            return self.graph.closing_path(before, after)
        rest = tuple(link for link in self.graph.dependencies if link.id != without)
        return StepGraph(
            graph=self.graph.graph, steps=self.graph.steps, dependencies=rest
        ).closing_path(before, after)

    def set_parents(self, step_id: str, parents: Sequence[str]) -> None:
        """Make exactly these steps come before a step."""
        self.run(say("Edit dependencies"), links.set_parents, step_id, list(parents))

    def set_children(self, step_id: str, children: Sequence[str]) -> None:
        """Make exactly these steps come after a step."""
        self.run(say("Edit dependencies"), links.set_children, step_id, list(children))

    def move_step(self, step_id: str, by: int) -> None:
        """Move a step up or down the list."""
        if self.graph is None or step_id not in self.graph.numbers:
            return
        index = self.graph.numbers[step_id] - 1 + by
        if 0 <= index < len(self.graph.steps):
            self.run(say("Move step"), verbs.move_step, step_id, index)

    def place_steps(self, places: Mapping[str, Place]) -> None:
        """Keep where cards were put; from then on all stand where they are."""
        if not places:
            return
        kept = {**self.places, **places} if self.automatic else dict(places)
        self.places.update(places)
        self.run(say("Move on the canvas"), verbs.place_steps, kept)

    def lay_out(self) -> None:
        """Forget where cards were put: the layout is automatic again."""
        if self.graph is None:
            return
        if self.automatic:
            self.reload()
            return
        self.run(say("Lay out"), _forget_places, self.graph_id)

    def delete_selected(self) -> None:
        """Delete the selected steps and dependencies."""
        steps, ties = self.selected_in_order(), sorted(self.links)
        if not steps and not ties:
            return
        label = say("Delete steps") if steps else say("Delete dependencies")
        self.run(label, _delete, steps, ties)

    def group_selected(self, title: str) -> None:
        """Frame the selected steps."""
        ids = self.selected_in_order()
        if ids and title.strip():
            self.run(say("Group steps"), verbs.group_steps, self.graph_id, ids, title)

    def ungroup_selected(self) -> None:
        """Take the selected steps out of their frames."""
        ids = self.selected_in_order()
        if ids:
            self.run(say("Ungroup steps"), verbs.ungroup_steps, ids)

    def remove_shortcuts(self) -> None:
        """Delete dependencies that a longer path says already."""
        self.run(
            say("Remove shortcuts"),
            links.remove_shortcuts,
            self.graph_id,
            then=lambda count: self.said.emit(
                say("Removed {what}.", what=count_of(count, "dependency", "dependencies"))
            ),
        )

    def apply_fix(self, step_id: str, fix: Fix) -> None:
        """Apply a quick fix of the linter."""
        if fix.kind == "rename":
            self.run(say("Rename step"), verbs.rename_step, step_id, fix.texts[0])
        elif fix.kind == "merge":
            self.run(say("Merge steps"), verbs.merge_steps, fix.other, step_id)
        else:
            chain = fix.kind == "chain"
            self.run(say("Split step"), verbs.split_step, step_id, list(fix.texts), chain=chain)

    def paste(
        self,
        texts: Sequence[str],
        edges: Sequence[tuple[int, int]],
        places: Sequence[Place] | None,
    ) -> None:
        """Add copied steps with the dependencies between them, and select them."""
        if not texts or not self.graph_id:
            return

        def select(ids: list[str]) -> None:
            self.steps, self.links, self.current = frozenset(ids), frozenset(), ids[0]
            self.selection_changed.emit()

        self.run(
            say("Paste steps"),
            verbs.paste_steps,
            self.graph_id,
            list(texts),
            list(edges),
            None if self.automatic or places is None else list(places),
            then=select,
        )

    # -- suggestions ---------------------------------------------------------------------

    def suggested(self) -> tuple[list[str], list[str]]:
        """Ids of suggested steps and dependencies."""
        if self.graph is None:
            return [], []
        return (
            [step.id for step in self.graph.steps if step.suggested],
            [link.id for link in self.graph.dependencies if link.suggested],
        )

    def accept(self, steps: Iterable[str], ties: Iterable[str]) -> None:
        """Accept suggestions; what would close a circle stays and is told."""
        self.run(
            say("Accept suggestions"),
            suggestions.accept_suggestions,
            list(steps),
            list(ties),
            then=self._tell_accepted,
        )

    def reject(self, steps: Iterable[str], ties: Iterable[str]) -> None:
        """Reject suggestions."""
        self.run(say("Reject suggestions"), suggestions.reject_suggestions, list(steps), list(ties))

    def _tell_accepted(self, accepted: Accepted) -> None:
        if accepted.refused:
            self.refused.emit(
                ConflictError(
                    accepted.refused[0],
                    remedy=say(
                        "{count} stay suggested.",
                        count=count_of(len(accepted.refused), "dependency", "dependencies"),
                    ),
                )
            )


def _read(reads: Reads, graph_id: str) -> tuple[StepGraph, dict[str, list[StepIssue]]]:
    """A graph with what the linter says of it."""
    graph = load_graph(reads, graph_id)
    return graph, lint_graph(graph)


def _add_step(
    tx: Transaction,
    graph_id: str,
    text: str,
    index: int | None,
    place: Place | None,
    after: str,
    pins: Mapping[str, Place],
) -> str:
    verbs.place_steps(tx, pins)
    step = verbs.add_step(tx, graph_id, text, index=index, place=place)
    if after:
        links.connect(tx, graph_id, after, step.id)
    return step.id


def _forget_places(tx: Transaction, graph_id: str) -> None:
    from core.types.graphs import GraphStep

    for step in tx.find(GraphStep, "graph_id = ?", (graph_id,)):
        tx.update(GraphStep, step.id, x=None, y=None)


def _delete(tx: Transaction, steps: Sequence[str], ties: Sequence[str]) -> None:
    links.disconnect(tx, ties)
    verbs.delete_steps(tx, steps)
