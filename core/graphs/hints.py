"""Hints on a whole graph, after the mistakes TaskLAMA's annotators made most: lines, halves, tangles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from core.graphs.model import StepGraph
from core.graphs.order import components

HintKind = Literal["linear", "unconnected", "dense", "no_end", "half_drawn", "circle"]
HintFix = Literal["", "remove_shortcuts", "break_circles"]

#: The share of possible dependencies, after reduction, above which a graph is suspiciously dense.
DENSE = 0.4
_SMALLEST = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphHint:
    """Something about the graph worth a look, the steps it is about, and what could be done."""

    kind: HintKind
    message: str
    steps: tuple[str, ...] = ()
    fix: HintFix = ""
    fix_label: str = ""


def hint_graph(graph: StepGraph) -> list[GraphHint]:
    """Hints in the order of their weight; none for a graph of fewer than two steps."""
    steps = graph.accepted
    size = len(steps)
    hints = []
    if graph.circle:
        hints.append(
            GraphHint(
                kind="circle",
                message="Two persons' changes closed a circle: something would come before itself.",
                fix="break_circles",
                fix_label="Remove the latest dependency of it",
            )
        )
    if size < 2:
        return hints
    place = {step.id: number for number, step in enumerate(steps)}
    edges = [
        (place[d.before_id], place[d.after_id])
        for d in graph.links
        if d.before_id in place and d.after_id in place
    ]
    loose = [
        step.id for step in steps if not graph.parents[step.id] and not graph.children[step.id]
    ]
    hints += _unconnected(graph, loose, components(size, edges), bool(edges))
    if size >= _SMALLEST and _is_line(graph, size, len(edges)):
        hints.append(
            GraphHint(
                kind="linear",
                message="All steps stand in one line. Could some be done in either order, or side by side?",
            )
        )
    shortcuts = len(graph.shortcuts)
    needed = len(edges) - shortcuts
    if size >= _SMALLEST and shortcuts > max(1, needed // 2):
        hints.append(
            GraphHint(
                kind="dense",
                message=f"{shortcuts:,} of {len(edges):,} dependencies follow from the others.",
                fix="remove_shortcuts",
                fix_label="Remove those",
            )
        )
    elif size >= 2 * _SMALLEST and needed > DENSE * size * (size - 1) / 2:
        hints.append(
            GraphHint(
                kind="dense",
                message=f"{needed:,} dependencies among {size:,} steps are many. Is each one needed?",
            )
        )
    ends = [step.id for step in steps if graph.parents[step.id] and not graph.children[step.id]]
    if size >= _SMALLEST and len(ends) > 1 and len(ends) > size // 3:
        hints.append(
            GraphHint(
                kind="no_end",
                message=f"{len(ends)} steps lead nowhere. Is the step that finishes the task missing?",
                steps=tuple(ends),
            )
        )
    return hints


def _unconnected(
    graph: StepGraph, loose: list[str], parts: list[list[int]], any_edges: bool
) -> list[GraphHint]:
    if not any_edges:
        return [
            GraphHint(
                kind="half_drawn",
                message="No dependency is drawn yet: what must be done before what?",
            )
        ]
    if loose:
        numbers = ", ".join(str(graph.numbers[step]) for step in loose[:8])
        more = " …" if len(loose) > 8 else ""
        kind: HintKind = "half_drawn" if 2 * len(loose) > len(graph.accepted) else "unconnected"
        one = len(loose) == 1
        return [
            GraphHint(
                kind=kind,
                message=f"Step{'' if one else 's'} {numbers}{more} "
                f"{'has' if one else 'have'} no dependency. Can {'it' if one else 'they'} "
                "really be done at any time?",
                steps=tuple(loose),
            )
        ]
    if len(parts) > 1:
        return [
            GraphHint(
                kind="unconnected",
                message=f"The graph falls into {len(parts)} parts that do not hang together.",
            )
        ]
    return []


def _is_line(graph: StepGraph, size: int, edges: int) -> bool:
    if edges - len(graph.shortcuts) != size - 1:
        return False
    shortcuts = graph.shortcuts
    before: dict[str, int] = {}
    after: dict[str, int] = {}
    for link in graph.links:
        if link.id not in shortcuts:
            after[link.before_id] = after.get(link.before_id, 0) + 1
            before[link.after_id] = before.get(link.after_id, 0) + 1
    return all(count == 1 for near in (before, after) for count in near.values())
