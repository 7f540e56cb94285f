"""A graph outside the workspace: what every file format is read into and written from.

Whatever a file says that cannot become part of an acyclic graph is set aside with its reason, and
goes back into the file at its place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.graphs.model import StepGraph, join_path, quote_step
from core.graphs.order import acyclic_edges, find_path
from core.graphs.verbs import add_graph, clean_text
from core.ids import new_id
from core.storage.transaction import Transaction
from core.types.graphs import BEFORE, Dependency, GraphStep, StepGroup, TaskGraph


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftStep:
    """A step of a file. ``group`` is the number of its group, None for none."""

    text: str
    x: float | None = None
    y: float | None = None
    group: int | None = None
    suggested: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftLink:
    """A dependency between the places of two steps, from 0; ``at`` is its own place in the file."""

    before: int
    after: int
    at: int
    relation: str = BEFORE
    suggested: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class GraphDraft:
    """A graph of a file. ``problems`` are sentences about what was set aside; ``line`` from 1."""

    task: str
    assumptions: tuple[str, ...] = ()
    steps: list[DraftStep] = field(default_factory=list)
    links: list[DraftLink] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)
    fields: dict[str, Any] = field(default_factory=dict)
    aside: list[dict[str, Any]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    line: int = 1

    def set_aside(self, where: str, at: int, value: Any, reason: str) -> None:
        """Keep something for the way back and say why it is not in the graph."""
        self.aside.append({"list": where, "at": at, "value": value, "reason": reason})
        self.problems.append(reason)

    def settle(self) -> GraphDraft:
        """Set aside repeated dependencies and those that close a circle; returns the draft itself."""
        firm = [link for link in self.links if not link.suggested]
        seen: set[tuple[int, int]] = set()
        single = []
        for link in firm:
            pair = (link.before, link.after)
            if pair in seen:
                names = [quote_step(self.steps[number].text) for number in pair]
                self._drop(link, f"{names[0]} before {names[1]} is said twice.")
            else:
                seen.add(pair)
                single.append(link)
        pairs = [(link.before, link.after) for link in single]
        kept, left = acyclic_edges(len(self.steps), pairs)
        if left:
            after: dict[int, list[int]] = {}
            for start, end in kept:
                after.setdefault(start, []).append(end)
            closing = set(left)
            for link in single:
                if (link.before, link.after) in closing:
                    self._drop(link, self._circle(after, link))
            single = [link for link in single if (link.before, link.after) not in closing]
        self.links = [*single, *(link for link in self.links if link.suggested)]
        self.links.sort(key=lambda link: link.at)
        return self

    def _circle(self, after: Mapping[int, Sequence[int]], link: DraftLink) -> str:
        path = find_path(after, link.after, link.before) or [link.before]
        names = [quote_step(self.steps[number].text) for number in [link.before, *path]]
        if len(path) == 1:
            return f"{names[0]} comes before itself; set aside."
        return f"A dependency closes the circle {join_path(names)}; set aside."

    def _drop(self, link: DraftLink, reason: str) -> None:
        record = link.extra.get("record")
        value = record if record is not None else {"before": link.before, "after": link.after}
        self.set_aside("dependencies", link.at, value, reason)


def write_draft(tx: Transaction, /, draft: GraphDraft, **fields: Any) -> TaskGraph:
    """Make a draft a graph of the workspace."""
    draft.settle()
    graph = add_graph(
        tx,
        draft.task,
        draft.assumptions,
        **{"aside": tuple(draft.aside), **draft.fields, **fields},
    )
    groups = [
        tx.insert(StepGroup(id=new_id(), graph_id=graph.id, title=title)).id
        for title in draft.groups
    ]
    ids = []
    for number, step in enumerate(draft.steps, start=1):
        made = GraphStep(
            id=new_id(),
            graph_id=graph.id,
            position=float(number),
            text=clean_text(step.text),
            x=step.x,
            y=step.y,
            group_id="" if step.group is None else groups[step.group],
            suggested=step.suggested,
            extra=dict(step.extra),
        )
        ids.append(tx.insert(made).id)
    for link in draft.links:
        tx.insert(
            Dependency(
                id=new_id(),
                graph_id=graph.id,
                before_id=ids[link.before],
                after_id=ids[link.after],
                position=float(link.at + 1),
                relation=link.relation,
                suggested=link.suggested,
                extra=dict(link.extra),
            )
        )
    return graph


def draft_of(graph: StepGraph, *, suggestions: bool = True) -> GraphDraft:
    """A graph of the workspace as a draft, to be written to a file."""
    steps = graph.steps if suggestions else graph.accepted
    place = {step.id: number for number, step in enumerate(steps)}
    groups = {group.id: number for number, group in enumerate(graph.groups)}
    links = [
        DraftLink(
            before=place[link.before_id],
            after=place[link.after_id],
            at=number,
            relation=link.relation,
            suggested=link.suggested,
            extra=link.extra,
        )
        for number, link in enumerate(graph.dependencies if suggestions else graph.links)
        if link.before_id in place and link.after_id in place
    ]
    return GraphDraft(
        task=graph.graph.task,
        assumptions=graph.graph.assumptions,
        steps=[
            DraftStep(
                text=step.text,
                x=step.x,
                y=step.y,
                group=groups.get(step.group_id),
                suggested=step.suggested,
                extra=step.extra,
            )
            for step in steps
        ],
        links=links,
        groups=[group.title for group in graph.groups],
        aside=[dict(entry) for entry in graph.graph.aside],
        fields={
            name: getattr(graph.graph, name)
            for name in ("role", "state", "split", "source_text", "note", "extra")
        },
    )
