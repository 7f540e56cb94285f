"""Verbs on dependencies. What would close a circle is refused with the path it would close."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from core.errors import ConflictError, UsageError
from core.graphs.model import CycleError, load_graph, quote_step
from core.graphs.order import acyclic_edges, find_path
from core.ids import new_id
from core.storage.transaction import Transaction
from core.types.graphs import BEFORE, Dependency, GraphStep


def connect(
    tx: Transaction, graph_id: str, before_id: str, after_id: str, *, suggested: str = ""
) -> Dependency:
    """Say that one step must be done before another.

    A suggested dependency between the two is accepted by it.

    Raises
    ------
    CycleError
        When it would close a circle; a suggestion is checked when it is accepted.
    ConflictError
        When it is there already.
    """
    before, after = tx.get(GraphStep, before_id), tx.get(GraphStep, after_id)
    if before.graph_id != graph_id or after.graph_id != graph_id:
        raise ConflictError(
            "A dependency joins two steps of one graph.", remedy="Select steps of one graph."
        )
    if before_id == after_id:
        raise CycleError([before_id], {before_id: before.text})
    there = tx.find(Dependency, "before_id = ? AND after_id = ?", (before_id, after_id))
    if there and (suggested or not there[0].suggested):
        raise ConflictError(
            f"{quote_step(before.text)} comes before {quote_step(after.text)} already.",
            remedy="Nothing needs to be done.",
        )
    if not suggested:
        _refuse_circle(tx, graph_id, before_id, after_id)
        for step in (before, after):
            if step.suggested:
                tx.update(GraphStep, step.id, suggested="")
    if there:
        return tx.update(Dependency, there[0].id, suggested="")
    return tx.insert(
        Dependency(
            id=new_id(),
            graph_id=graph_id,
            before_id=before_id,
            after_id=after_id,
            position=_last_position(tx, graph_id) + 1.0,
            relation=BEFORE,
            suggested=suggested,
        )
    )


def connect_if_possible(tx: Transaction, graph_id: str, before_id: str, after_id: str) -> bool:
    """Like `connect`, but leaves out what is there already or would close a circle."""
    try:
        connect(tx, graph_id, before_id, after_id)
    except ConflictError:
        return False
    return True


def connect_many(tx: Transaction, graph_id: str, pairs: Sequence[tuple[str, str]]) -> None:
    """Add many dependencies between steps without any yet, checked together.

    Raises
    ------
    CycleError
        When they close a circle; nothing is written then.
    """
    if not pairs:
        return
    steps = tx.find(GraphStep, "graph_id = ?", (graph_id,))
    place = {step.id: number for number, step in enumerate(steps)}
    texts = {step.id: step.text for step in steps}
    wanted = list(dict.fromkeys(pairs))
    kept, left = acyclic_edges(len(steps), [(place[a], place[b]) for a, b in wanted])
    if left:
        after: dict[int, list[int]] = {}
        for start, end in kept:
            after.setdefault(start, []).append(end)
        path = find_path(after, left[0][1], left[0][0]) or [left[0][0]]
        raise CycleError([steps[number].id for number in path], texts)
    last = _last_position(tx, graph_id)
    for number, (before_id, after_id) in enumerate(wanted, start=1):
        tx.insert(
            Dependency(
                id=new_id(),
                graph_id=graph_id,
                before_id=before_id,
                after_id=after_id,
                position=last + number,
            )
        )


def reconnect(
    tx: Transaction, dependency_id: str, *, before_id: str = "", after_id: str = ""
) -> Dependency:
    """Hang one end of a dependency, or both, on another step; refused as by `connect`."""
    link = tx.get(Dependency, dependency_id)
    before_id, after_id = before_id or link.before_id, after_id or link.after_id
    if (before_id, after_id) == (link.before_id, link.after_id):
        return link
    for step_id in (before_id, after_id):
        if tx.get(GraphStep, step_id).graph_id != link.graph_id:
            raise ConflictError(
                "A dependency joins two steps of one graph.", remedy="Select steps of one graph."
            )
    if tx.count(Dependency, "before_id = ? AND after_id = ?", (before_id, after_id)):
        before, after = tx.get(GraphStep, before_id), tx.get(GraphStep, after_id)
        raise ConflictError(
            f"{quote_step(before.text)} comes before {quote_step(after.text)} already.",
            remedy="Delete this dependency instead.",
        )
    _refuse_circle(tx, link.graph_id, before_id, after_id, without=link.id)
    return tx.update(Dependency, link.id, before_id=before_id, after_id=after_id)


def disconnect(tx: Transaction, ids: Iterable[str]) -> None:
    """Delete dependencies."""
    for dependency_id in dict.fromkeys(ids):
        tx.delete(Dependency, dependency_id)


def set_parents(tx: Transaction, step_id: str, parents: Sequence[str]) -> None:
    """Make exactly these steps come directly before a step, as typed in the outline."""
    _set_near(tx, step_id, parents, "after_id", "before_id")


def set_children(tx: Transaction, step_id: str, children: Sequence[str]) -> None:
    """Make exactly these steps come directly after a step."""
    _set_near(tx, step_id, children, "before_id", "after_id")


def remove_shortcuts(tx: Transaction, graph_id: str) -> int:
    """Delete every dependency that a longer path says already; returns how many."""
    shortcuts = load_graph(tx, graph_id).shortcuts
    disconnect(tx, sorted(shortcuts))
    return len(shortcuts)


def break_circles(tx: Transaction, graph_id: str) -> int:
    """Delete the latest dependencies of circles that two persons' undo left; returns how many."""
    ids = load_graph(tx, graph_id).circle
    disconnect(tx, ids)
    return len(ids)


def parse_numbers(text: str, size: int) -> list[int]:
    """Read step numbers as typed: '1, 3-5' or '1 3'; from 1 to ``size``, each once.

    Raises
    ------
    UsageError
        When something is no number of a step.

    Examples
    --------
    >>> parse_numbers("1, 3-5", 6)
    [1, 3, 4, 5]
    """
    found: list[int] = []
    for part in text.replace(",", " ").replace(";", " ").replace("–", "-").split():
        first, dash, last = part.partition("-")
        try:
            low = int(first)
            high = int(last) if dash else low
        except ValueError:
            raise UsageError(
                f"'{part}' is no number of a step.", remedy="Type numbers such as 1, 3-5."
            ) from None
        if not 1 <= low <= high <= size:
            raise UsageError(
                f"There is no step {part}; they run from 1 to {size}.",
                remedy="Type numbers such as 1, 3-5.",
            )
        found += range(low, high + 1)
    return list(dict.fromkeys(found))


def _set_near(tx: Transaction, step_id: str, wanted: Sequence[str], own: str, other: str) -> None:
    step = tx.get(GraphStep, step_id)
    have = {
        getattr(link, other): link
        for link in tx.find(Dependency, f"{own} = ? AND suggested = ''", (step_id,))
    }
    for near, link in have.items():
        if near not in wanted:
            tx.delete(Dependency, link.id)
    for near in dict.fromkeys(wanted):
        if near in have:
            continue
        if own == "after_id":
            connect(tx, step.graph_id, near, step_id)
        else:
            connect(tx, step.graph_id, step_id, near)


def _refuse_circle(
    tx: Transaction, graph_id: str, before_id: str, after_id: str, *, without: str = ""
) -> None:
    if before_id == after_id:
        raise CycleError([before_id], {before_id: tx.get(GraphStep, before_id).text})
    rows = tx.query(
        "SELECT before_id, after_id FROM dependency"
        " WHERE graph_id = ? AND deleted = 0 AND suggested = '' AND id != ?",
        (graph_id, without),
    )
    after: dict[str, list[str]] = {}
    for row in rows:
        after.setdefault(row["before_id"], []).append(row["after_id"])
    path = find_path(after, after_id, before_id)
    if path is not None:
        texts = {step_id: tx.get(GraphStep, step_id).text for step_id in path}
        raise CycleError(path, texts)


def _last_position(tx: Transaction, graph_id: str) -> float:
    found = tx.value(
        "SELECT max(position) FROM dependency WHERE graph_id = ? AND deleted = 0", (graph_id,)
    )
    return float(found or 0.0)
