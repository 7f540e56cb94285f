"""Suggested steps and dependencies: shown as ghosts, accepted or rejected one by one or all at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.errors import ConflictError
from core.graphs.links import connect
from core.graphs.model import CycleError, load_graph
from core.graphs.verbs import add_step, clean_text
from core.storage.transaction import Transaction
from core.types.graphs import Dependency, GraphStep


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """What accepting did; ``refused`` says of each dependency left as it was why."""

    steps: int = 0
    dependencies: int = 0
    refused: tuple[str, ...] = ()


def suggest_steps(tx: Transaction, graph_id: str, texts: Sequence[str], by: str) -> list[GraphStep]:
    """Add steps as suggestions of ``by``; what the graph says already, word for word, is left out."""
    there = {step.text.casefold() for step in load_graph(tx, graph_id).steps}
    made = []
    for text in texts:
        plain = clean_text(text)
        if plain and plain.casefold() not in there:
            there.add(plain.casefold())
            made.append(add_step(tx, graph_id, plain, suggested=by or "somebody"))
    return made


def suggest_dependencies(
    tx: Transaction, graph_id: str, pairs: Iterable[tuple[str, str]], by: str
) -> list[Dependency]:
    """Add dependencies between steps as suggestions; those that are there already are left out."""
    made = []
    for before_id, after_id in pairs:
        if before_id == after_id:
            continue
        try:
            made.append(connect(tx, graph_id, before_id, after_id, suggested=by or "somebody"))
        except ConflictError:
            continue
    return made


def accept_suggestions(
    tx: Transaction, steps: Iterable[str] = (), dependencies: Iterable[str] = ()
) -> Accepted:
    """Make suggestions part of the graph. A dependency brings its steps with it.

    One that would close a circle stays a suggestion and is told in the answer.
    """
    count = 0
    for step_id in dict.fromkeys(steps):
        if tx.get(GraphStep, step_id).suggested:
            tx.update(GraphStep, step_id, suggested="")
            count += 1
    linked, refused = 0, []
    for dependency_id in dict.fromkeys(dependencies):
        link = tx.get(Dependency, dependency_id)
        if not link.suggested:
            continue
        try:
            connect(tx, link.graph_id, link.before_id, link.after_id)
            linked += 1
        except CycleError as error:
            refused.append(error.message)
    return Accepted(steps=count, dependencies=linked, refused=tuple(refused))


def reject_suggestions(
    tx: Transaction, steps: Iterable[str] = (), dependencies: Iterable[str] = ()
) -> None:
    """Delete suggestions; a suggested step goes with the suggested dependencies that touch it."""
    for dependency_id in dict.fromkeys(dependencies):
        if tx.get(Dependency, dependency_id).suggested:
            tx.delete(Dependency, dependency_id)
    for step_id in dict.fromkeys(steps):
        if not tx.get(GraphStep, step_id).suggested:
            continue
        for link in tx.find(Dependency, "before_id = ? OR after_id = ?", (step_id, step_id)):
            tx.delete(Dependency, link.id)
        tx.delete(GraphStep, step_id)


def accept_all(tx: Transaction, graph_id: str) -> Accepted:
    """Accept every suggestion of a graph."""
    graph = load_graph(tx, graph_id)
    return accept_suggestions(
        tx,
        [step.id for step in graph.steps if step.suggested],
        [link.id for link in graph.dependencies if link.suggested],
    )


def reject_all(tx: Transaction, graph_id: str) -> None:
    """Reject every suggestion of a graph."""
    graph = load_graph(tx, graph_id)
    reject_suggestions(
        tx,
        [step.id for step in graph.steps if step.suggested],
        [link.id for link in graph.dependencies if link.suggested],
    )
