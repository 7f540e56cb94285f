"""What the person does to the open graph: every deed is a verb of the domain, told back by `changed`.

Views never change rows themselves: they call the document.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from app.canvas.cards import WIDTH
from app.canvas.reading import GraphReading, Place
from app.operations import run_verb
from app.strings import count_of, say
from core.changes import Outcome
from core.errors import ConflictError
from core.graphs import links, suggestions, verbs
from core.graphs.layout import GAP_ACROSS, GAP_DOWN
from core.graphs.linter import Fix
from core.graphs.model import CycleError, StepGraph
from core.graphs.suggestions import Accepted
from core.storage.transaction import Transaction


class GraphDocument(GraphReading):
    """The graph at hand; one a pane."""

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
            then=partial(self._on_added, self.graph_id),
        )

    def _below(self, step_id: str) -> Place | None:
        x, y = self.places.get(step_id, (0.0, 0.0))
        y += 60 + GAP_DOWN
        while any(abs(x - a) < WIDTH and abs(y - b) < 56 for a, b in self.places.values()):
            x += WIDTH + GAP_ACROSS
        return x, y

    def _on_added(self, graph_id: str, step_id: str) -> None:
        if graph_id != self.graph_id:
            # The person went on to another graph while it was written.
            return
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
