"""Verbs on graphs, their steps and groups. Dependencies are in `core.graphs.links`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from core.errors import ConflictError, NotFoundError, UsageError
from core.graphs.model import StepGraph, load_graph
from core.ids import new_id
from core.storage.reads import Reads
from core.storage.transaction import Transaction
from core.types.graphs import (
    Dependency,
    GraphMatch,
    GraphRole,
    GraphScore,
    GraphStep,
    StepGroup,
    TaskGraph,
)

Place = tuple[float, float]

_ID_START = re.compile(r"[0-9a-f-]{6,36}")


def add_graph(
    tx: Transaction,
    /,
    task: str,
    assumptions: Sequence[str] = (),
    *,
    role: GraphRole = "annotation",
    steps: Sequence[str] = (),
    edges: Iterable[tuple[int, int]] = (),
    graph_id: str | None = None,
    **fields: Any,
) -> TaskGraph:
    """Add a graph of a task, empty or with steps and edges between their places from 0.

    Raises
    ------
    CycleError
        When the edges have a circle.
    """
    task = " ".join(task.split())
    if not task:
        raise UsageError("A graph needs a task.", remedy="Say in a few words what is to be done.")
    fields.setdefault("person_id", tx.person)
    graph = tx.insert(
        TaskGraph(
            id=graph_id or new_id(),
            task=task,
            assumptions=clean_assumptions(assumptions),
            role=role,
            **fields,
        )
    )
    ids = [add_step(tx, graph.id, text).id for text in steps]
    if edges:
        from core.graphs.links import connect_many

        connect_many(tx, graph.id, [(ids[start], ids[end]) for start, end in edges])
    return graph


def edit_graph(tx: Transaction, /, graph_id: str, **fields: Any) -> TaskGraph:
    """Change some of a graph's fields: task, assumptions, role, state, split, source_text ..."""
    if not str(fields.get("task", "x")).strip():
        raise UsageError("A graph needs a task.", remedy="Say in a few words what is to be done.")
    if "assumptions" in fields:
        fields["assumptions"] = clean_assumptions(fields["assumptions"])
    return tx.update(TaskGraph, graph_id, **fields)


def delete_graph(tx: Transaction, graph_id: str) -> None:
    """Delete a graph with its steps, dependencies, groups, comparisons and scores."""
    of_graph = "graph_id = ?"
    for type_ in (Dependency, GraphStep, StepGroup):
        for row in tx.find(type_, of_graph, (graph_id,)):
            tx.delete(type_, row.id)  # type: ignore[attr-defined]
    compared = "graph_id = ? OR gold_id = ?"
    for match in tx.find(GraphMatch, compared, (graph_id, graph_id)):
        tx.delete(GraphMatch, match.id)
    for score in tx.find(GraphScore, compared, (graph_id, graph_id)):
        tx.delete(GraphScore, score.id)
    tx.delete(TaskGraph, graph_id)


def copy_graph(tx: Transaction, /, graph_id: str, **fields: Any) -> TaskGraph:
    """A graph with the same steps, dependencies and places, for example under other assumptions."""
    source = load_graph(tx, graph_id)
    fields = {
        "task_id": source.graph.task_id,
        "source_text": source.graph.source_text,
        "assumptions": source.graph.assumptions,
        **fields,
    }
    made = add_graph(tx, fields.pop("task", source.graph.task), **fields)
    copy_rows(tx, source, made.id)
    return made


def copy_rows(
    tx: Transaction, source: StepGraph, graph_id: str, *, offset: Place = (0.0, 0.0)
) -> dict[str, str]:
    """Put copies of all rows of one graph into another; returns new ids by old ones."""
    groups = {
        group.id: tx.insert(StepGroup(id=new_id(), graph_id=graph_id, title=group.title)).id
        for group in source.groups
    }
    last = _last_position(tx, "graph_step", graph_id)
    steps: dict[str, str] = {}
    for number, step in enumerate(source.steps, start=1):
        x = None if step.x is None else step.x + offset[0]
        y = None if step.y is None else step.y + offset[1]
        steps[step.id] = tx.insert(
            GraphStep(
                id=new_id(),
                graph_id=graph_id,
                position=last + number,
                text=step.text,
                x=x,
                y=y,
                group_id=groups.get(step.group_id, ""),
                suggested=step.suggested,
            )
        ).id
    last = _last_position(tx, "dependency", graph_id)
    for number, link in enumerate(source.dependencies, start=1):
        tx.insert(
            Dependency(
                id=new_id(),
                graph_id=graph_id,
                before_id=steps[link.before_id],
                after_id=steps[link.after_id],
                position=last + number,
                relation=link.relation,
                suggested=link.suggested,
            )
        )
    return steps


def find_graph(reads: Reads, id_or_task: str) -> TaskGraph:
    """A graph by id, by the beginning of its id, or by its task where only one graph has it.

    Raises
    ------
    NotFoundError
        When there is none, or several have that task.
    """
    found = reads.find(TaskGraph, "id = ?", (id_or_task,))
    if not found and _ID_START.fullmatch(id_or_task):
        found = reads.find(TaskGraph, "id LIKE ?", (f"{id_or_task}%",), limit=2)
    if not found:
        found = reads.find(
            TaskGraph, "task = ? COLLATE NOCASE", (" ".join(id_or_task.split()),), limit=2
        )
    if len(found) == 1:
        return found[0]
    problem = "There is no graph" if not found else "Several graphs are of the task"
    raise NotFoundError(
        f"{problem} '{id_or_task}' in this workspace.",
        remedy="Give the graph's id; 'rifugio graphs list' shows them.",
    )


# -- steps -------------------------------------------------------------------------------


def add_step(
    tx: Transaction,
    graph_id: str,
    text: str,
    *,
    index: int | None = None,
    place: Place | None = None,
    group_id: str = "",
    suggested: str = "",
    extra: Mapping[str, Any] | None = None,
) -> GraphStep:
    """Add a step at an index of the list, or at its end. A text of blanks alone is refused."""
    text = clean_text(text)
    if not text:
        raise UsageError("A step needs a text.", remedy="Say what is done, with a verb first.")
    if index is None:
        position = _last_position(tx, "graph_step", graph_id) + 1.0
    else:
        position = _position_at(_steps(tx, graph_id), index)
    return tx.insert(
        GraphStep(
            id=new_id(),
            graph_id=graph_id,
            position=position,
            text=text,
            x=None if place is None else float(place[0]),
            y=None if place is None else float(place[1]),
            group_id=group_id,
            suggested=suggested,
            extra=dict(extra or {}),
        )
    )


def rename_step(tx: Transaction, step_id: str, text: str) -> GraphStep:
    """Change a step's text."""
    text = clean_text(text)
    if not text:
        raise UsageError("A step needs a text.", remedy="Delete the step instead of emptying it.")
    return tx.update(GraphStep, step_id, text=text)


def move_step(tx: Transaction, step_id: str, index: int) -> GraphStep:
    """Put a step at an index, from 0, of its graph's list. Its place on the canvas stays."""
    step = tx.get(GraphStep, step_id)
    others = [other for other in _steps(tx, step.graph_id) if other.id != step_id]
    return tx.update(GraphStep, step_id, position=_position_at(others, index))


def place_steps(tx: Transaction, places: Mapping[str, Place]) -> None:
    """Set the centres of steps' cards on the canvas."""
    for step_id, (x, y) in places.items():
        tx.update(GraphStep, step_id, x=round(float(x), 1), y=round(float(y), 1))


def delete_steps(tx: Transaction, ids: Iterable[str]) -> None:
    """Delete steps with the dependencies that touch them, and groups left empty."""
    wanted = list(dict.fromkeys(ids))
    groups = set()
    for step_id in wanted:
        groups.add(tx.get(GraphStep, step_id).group_id)
        for link in tx.find(Dependency, "before_id = ? OR after_id = ?", (step_id, step_id)):
            tx.delete(Dependency, link.id)
    for step_id in wanted:
        tx.delete(GraphStep, step_id)
    _drop_empty_groups(tx, groups)


def merge_steps(tx: Transaction, kept_id: str, other_id: str) -> None:
    """Make two steps one: the first keeps its text and takes over the other's dependencies.

    Those that would close a circle, or are there already, are left out.
    """
    from core.graphs.links import connect_if_possible

    kept, other = tx.get(GraphStep, kept_id), tx.get(GraphStep, other_id)
    links = tx.find(Dependency, "before_id = ? OR after_id = ?", (other_id, other_id))
    delete_steps(tx, [other.id])
    for link in links:
        if link.suggested:
            continue
        if link.before_id == other_id:
            connect_if_possible(tx, kept.graph_id, kept_id, link.after_id)
        else:
            connect_if_possible(tx, kept.graph_id, link.before_id, kept_id)


def split_step(tx: Transaction, step_id: str, texts: Sequence[str], *, chain: bool) -> list[str]:
    """Make several steps of one; returns their ids, the first being the old one.

    With ``chain`` each part comes before the next. Without, each has the old one's dependencies.
    """
    from core.graphs.links import connect, disconnect

    step = tx.get(GraphStep, step_id)
    parts = [clean_text(text) for text in texts if text.strip()]
    if len(parts) < 2:
        raise UsageError("There is only one action.", remedy="Rename the step instead.")
    rename_step(tx, step_id, parts[0])
    ids = [step_id]
    index = [other.id for other in _steps(tx, step.graph_id)].index(step_id)
    for number, text in enumerate(parts[1:], start=1):
        place = None
        if step.x is not None and step.y is not None:
            place = (step.x + 40.0 * number, step.y + 80.0 * number)
        made = add_step(
            tx, step.graph_id, text, index=index + number, place=place, group_id=step.group_id
        )
        ids.append(made.id)
    after = tx.find(Dependency, "before_id = ? AND suggested = ''", (step_id,))
    before = tx.find(Dependency, "after_id = ? AND suggested = ''", (step_id,))
    if chain:
        for link in after:
            disconnect(tx, [link.id])
            connect(tx, step.graph_id, ids[-1], link.after_id)
        for first, second in pairwise(ids):
            connect(tx, step.graph_id, first, second)
    else:
        for made_id in ids[1:]:
            for link in after:
                connect(tx, step.graph_id, made_id, link.after_id)
            for link in before:
                connect(tx, step.graph_id, link.before_id, made_id)
    return ids


def paste_steps(
    tx: Transaction,
    graph_id: str,
    texts: Sequence[str],
    edges: Sequence[tuple[int, int]] = (),
    places: Sequence[Place] | None = None,
) -> list[str]:
    """Add steps with the dependencies between them, as copied elsewhere; returns their ids."""
    from core.graphs.links import connect_many

    ids = [
        add_step(tx, graph_id, text, place=places[number] if places else None).id
        for number, text in enumerate(texts)
        if text.strip()
    ]
    connect_many(tx, graph_id, [(ids[start], ids[end]) for start, end in edges])
    return ids


# -- groups ------------------------------------------------------------------------------


def group_steps(tx: Transaction, graph_id: str, ids: Sequence[str], title: str) -> StepGroup:
    """Put steps into a new named group, out of the ones they were in."""
    title = " ".join(title.split())
    if not title or not ids:
        raise UsageError(
            "A group needs a name and steps.", remedy="Select steps, then name the group."
        )
    group = tx.insert(StepGroup(id=new_id(), graph_id=graph_id, title=title))
    left = set()
    for step_id in ids:
        step = tx.get(GraphStep, step_id)
        if step.graph_id != graph_id:
            raise ConflictError("A step is of another graph.", remedy="Select steps of one graph.")
        left.add(step.group_id)
        tx.update(GraphStep, step_id, group_id=group.id)
    _drop_empty_groups(tx, left)
    return group


def rename_group(tx: Transaction, group_id: str, title: str) -> StepGroup:
    """Change a group's name."""
    title = " ".join(title.split())
    if not title:
        raise UsageError("A group needs a name.", remedy="Ungroup its steps instead.")
    return tx.update(StepGroup, group_id, title=title)


def ungroup_steps(tx: Transaction, ids: Iterable[str]) -> None:
    """Take steps out of their groups; groups left empty go."""
    left = set()
    for step_id in ids:
        left.add(tx.get(GraphStep, step_id).group_id)
        tx.update(GraphStep, step_id, group_id="")
    _drop_empty_groups(tx, left)


# -- inside ------------------------------------------------------------------------------


def clean_text(text: str) -> str:
    """A step's text on one line, blanks at the ends and doubled ones gone."""
    return " ".join(text.split())


def clean_assumptions(assumptions: Sequence[str]) -> tuple[str, ...]:
    """Assumptions without the empty ones; one text alone is one assumption."""
    if isinstance(assumptions, str):
        assumptions = (assumptions,)
    return tuple(text.strip() for text in assumptions if text.strip())


def _steps(tx: Transaction, graph_id: str) -> list[GraphStep]:
    return tx.find(GraphStep, "graph_id = ?", (graph_id,), order_by="position, id")


def _position_at(steps: Sequence[GraphStep], index: int) -> float:
    """A position that puts a row at an index among ``steps``."""
    if not steps:
        return 1.0
    index = max(0, min(index, len(steps)))
    if index == 0:
        return steps[0].position - 1.0
    if index == len(steps):
        return steps[-1].position + 1.0
    return (steps[index - 1].position + steps[index].position) / 2


def _last_position(tx: Transaction, table: str, graph_id: str) -> float:
    found = tx.value(
        f'SELECT max(position) FROM "{table}" WHERE graph_id = ? AND deleted = 0', (graph_id,)
    )
    return float(found or 0.0)


def _drop_empty_groups(tx: Transaction, ids: Iterable[str]) -> None:
    for group_id in ids:
        if group_id and not tx.count(GraphStep, "group_id = ?", (group_id,)):
            tx.delete(StepGroup, group_id)
