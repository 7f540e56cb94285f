"""Two graphs compared for the window: what to compare with, and everything the comparison shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from app.strings import say, shorten
from core.errors import KnownError
from core.graphs.annotation import Feedback, give_feedback
from core.graphs.comparison import (
    Comparison,
    compare_graphs,
    find_match,
    score_graph,
    similarities,
    similarity_name,
)
from core.graphs.model import StepGraph, describe_assumptions, load_graph
from core.metrics.base import MetricScore
from core.storage.reads import Reads
from core.types import Person
from core.types.graphs import TaskGraph


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """A comparison with its scores, and what it was made from."""

    graph: StepGraph
    gold: StepGraph
    comparison: Comparison
    scores: dict[str, MetricScore]
    feedback: Feedback
    corrected: bool
    people: dict[str, str]
    note: str = ""


def list_others(reads: Reads, graph: TaskGraph) -> list[tuple[TaskGraph, str]]:
    """Graphs to compare with: of the same task first, gold before others; with their persons' names."""
    names = {person.id: person.name for person in reads.find(Person)}
    same_task = graph.task.casefold()

    def rank(other: TaskGraph) -> tuple[bool, bool, bool, str]:
        return (
            other.id != graph.gold_id,
            other.task.casefold() != same_task,
            other.role != "gold",
            other.id,
        )

    others = [other for other in reads.find(TaskGraph) if other.id != graph.id]
    return [(other, names.get(other.person_id, "")) for other in sorted(others, key=rank)]


def describe_other(graph: TaskGraph, person: str, beside: TaskGraph) -> str:
    """A graph as a list of choices names it, which stands beside another: what differs comes first."""
    kind = {
        "gold": say("Gold"),
        "model": str(graph.made.get("method") or say("Model")),
        "training": say("Training"),
    }.get(graph.role, person or say("Annotation"))
    parts = [kind, shorten(describe_assumptions(graph.assumptions), 40)]
    if graph.task.casefold() != beside.task.casefold():
        parts.insert(0, shorten(graph.task, 40))
    return " · ".join(part for part in parts if part)


def compare(reads: Reads, models: Any, graph_id: str, gold_id: str, meaning: bool) -> Compared:
    """Load two graphs and compare them; by spelling where no embedder can be had."""
    graph, gold = load_graph(reads, graph_id), load_graph(reads, gold_id)
    match = find_match(reads, graph_id, gold_id)
    embedder, note = None, ""
    if meaning:
        try:
            embedder = models.embedder()
            same = similarities(graph.accepted, gold.accepted, embedder)
        except KnownError as error:
            embedder, note = None, say("Matched by spelling: {why}", why=str(error))
    if embedder is None:
        same = similarities(graph.accepted, gold.accepted, None)
    found = compare_graphs(graph, gold, same, match)
    scores = score_graph(graph, gold, same, similarity_name=similarity_name(embedder), match=match)
    return Compared(
        graph=graph,
        gold=gold,
        comparison=found,
        scores=scores,
        feedback=give_feedback(graph, gold, found),
        corrected=match is not None and bool(match.together or match.apart),
        people={person.id: person.name for person in reads.find(Person)},
        note=note,
    )
