"""A graph as one value: its steps, dependencies and groups, and the questions views ask of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from core.errors import ConflictError
from core.graphs.order import Edge, acyclic_edges, find_path, redundant_edges
from core.storage.reads import Reads
from core.types.graphs import Dependency, GraphStep, StepGroup, TaskGraph

_NAME_LENGTH = 40
_NAMES_SHOWN = 6


class CycleError(ConflictError):
    """A dependency was refused because it would close a circle.

    Parameters
    ----------
    path
        Ids of the steps from the one the dependency ends at round to the one it starts from.
    """

    def __init__(self, path: Sequence[str], texts: Mapping[str, str]) -> None:
        self.path = tuple(path)
        names = [quote_step(texts.get(step, "?")) for step in self.path]
        if len(names) == 1:
            message = f"{names[0]} cannot come before itself."
        else:
            message = (
                f"{names[-1]} cannot come before {names[0]}: it already comes after it, by way of "
                f"{join_path(names)}."
            )
        super().__init__(message, remedy="Remove one of these dependencies first.")


def quote_step(text: str) -> str:
    """A step's text as it stands in a message."""
    line = " ".join(text.split())
    return f"'{line if len(line) <= _NAME_LENGTH else line[: _NAME_LENGTH - 1].rstrip() + '…'}'"


def join_path(names: Sequence[str]) -> str:
    """Names with arrows, the middle of a long path left out."""
    if len(names) > _NAMES_SHOWN:
        kept = _NAMES_SHOWN // 2
        left = len(names) - 2 * kept
        names = [*names[:kept], f"{left:,} more", *names[-kept:]]
    return " → ".join(names)


@dataclass(frozen=True, kw_only=True)
class StepGraph:
    """A graph and all its rows. Steps and dependencies come in the order of their positions."""

    graph: TaskGraph
    steps: tuple[GraphStep, ...] = ()
    dependencies: tuple[Dependency, ...] = ()
    groups: tuple[StepGroup, ...] = ()

    @cached_property
    def by_id(self) -> Mapping[str, GraphStep]:
        """Steps by id, suggested ones included."""
        return {step.id: step for step in self.steps}

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        """The number of each step as lists show it, from 1."""
        return {step.id: number for number, step in enumerate(self.steps, start=1)}

    @cached_property
    def accepted(self) -> tuple[GraphStep, ...]:
        """The steps that are part of the graph, not merely suggested."""
        return tuple(step for step in self.steps if not step.suggested)

    @cached_property
    def links(self) -> tuple[Dependency, ...]:
        """The dependencies that are part of the graph."""
        return tuple(link for link in self.dependencies if not link.suggested)

    @cached_property
    def children(self) -> Mapping[str, tuple[str, ...]]:
        """Steps that come directly after each, in the order of the list."""
        return self._near("before_id", "after_id")

    @cached_property
    def parents(self) -> Mapping[str, tuple[str, ...]]:
        """Steps that come directly before each, in the order of the list."""
        return self._near("after_id", "before_id")

    @cached_property
    def edges(self) -> tuple[Edge, ...]:
        """Dependencies of the graph as pairs of places among all steps, from 0."""
        place = self.numbers
        return tuple((place[d.before_id] - 1, place[d.after_id] - 1) for d in self.links)

    @cached_property
    def shortcuts(self) -> frozenset[str]:
        """Ids of dependencies that a longer path says already.

        Two persons' undo can leave a circle between them; nothing counts as a shortcut then.
        """
        kept, left = acyclic_edges(len(self.steps), self.edges)
        if left:
            return frozenset()
        redundant = redundant_edges(len(self.steps), kept)
        return frozenset(
            link.id for link, edge in zip(self.links, self.edges, strict=True) if edge in redundant
        )

    @cached_property
    def circle(self) -> tuple[str, ...]:
        """Ids of the dependencies that must go for the graph to be free of circles; mostly none."""
        _, left = acyclic_edges(len(self.steps), self.edges)
        remaining = list(left)
        found = []
        for link, edge in zip(reversed(self.links), reversed(self.edges), strict=True):
            if edge in remaining:
                remaining.remove(edge)
                found.append(link.id)
        return tuple(found)

    def find_dependency(self, before_id: str, after_id: str) -> Dependency | None:
        """The dependency between two steps, accepted or suggested."""
        for link in self.dependencies:
            if (link.before_id, link.after_id) == (before_id, after_id):
                return link
        return None

    def closing_path(self, before_id: str, after_id: str) -> tuple[str, ...]:
        """The path from ``after_id`` to ``before_id`` that a new dependency would close; () if none."""
        return tuple(find_path(self.children, after_id, before_id) or ())

    def as_item(self) -> dict[str, Any]:
        """Steps and edges as metrics take them, without suggestions."""
        steps = self.accepted
        place = {step.id: number for number, step in enumerate(steps)}
        edges = [
            [place[d.before_id], place[d.after_id]]
            for d in self.links
            if d.before_id in place and d.after_id in place
        ]
        return {"steps": [step.text for step in steps], "edges": edges}

    def _near(self, key: str, value: str) -> dict[str, tuple[str, ...]]:
        found: dict[str, list[str]] = {step.id: [] for step in self.steps}
        for link in self.links:
            found[getattr(link, key)].append(getattr(link, value))
        place = self.numbers
        return {step: tuple(sorted(ids, key=place.__getitem__)) for step, ids in found.items()}


def load_graph(reads: Reads, graph_id: str) -> StepGraph:
    """A graph with all its rows.

    Raises
    ------
    NotFoundError
        When there is no such graph.
    """
    graph = reads.get(TaskGraph, graph_id)
    key = (graph_id,)
    return StepGraph(
        graph=graph,
        steps=tuple(reads.find(GraphStep, "graph_id = ?", key, order_by="position, id")),
        dependencies=tuple(reads.find(Dependency, "graph_id = ?", key, order_by="position, id")),
        groups=tuple(reads.find(StepGroup, "graph_id = ?", key)),
    )


def load_graphs(reads: Reads, ids: Iterable[str]) -> list[StepGraph]:
    """Several graphs with their rows."""
    return [load_graph(reads, graph_id) for graph_id in ids]


def describe_assumptions(assumptions: Sequence[str]) -> str:
    """The assumptions on one line; '' for none."""
    return "; ".join(text.strip() for text in assumptions if text.strip())
