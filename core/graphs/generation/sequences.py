"""Dependencies by sequence scoring: random swaps, log-likelihoods, the common order of the best.

A swap leaves the beginning of a sequence alone, so only the rest is scored, after a context that ends
where the sequences part; the generator keeps its reading of that context between calls. The difference
of two rests is that of the two whole sequences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.graphs.order import Edge, redundant_edges
from core.ports import Cancellation, Progress, ProgressCallback, TextGenerator, no_progress

Order = tuple[int, ...]

#: Rounds of swaps for each step, swaps tried a round, and sequences kept.
ROUNDS_PER_STEP = 3
SWAPS = 3
KEPT = 5


@dataclass(frozen=True, slots=True)
class ScoredOrders:
    """Orders with their log-likelihoods less that of the first order tried, the best first."""

    orders: tuple[Order, ...]
    scores: tuple[float, ...]
    calls: int


def sequence_context(task: str, assumption: str) -> str:
    """What stands before the steps."""
    lines = [f"Task: {task}"]
    if assumption:
        lines.append(f"Assumption: {assumption}")
    return "\n".join([*lines, "Steps in the order in which they are done:", ""])


def join_steps(steps: Sequence[str], order: Sequence[int]) -> str:
    """Steps as the sequence says them, a line each."""
    return "".join(f"{steps[number]}\n" for number in order)


def search_orders(
    generator: TextGenerator,
    task: str,
    assumption: str,
    steps: Sequence[str],
    *,
    rounds: int | None = None,
    swaps: int = SWAPS,
    kept: int = KEPT,
    seed: int = 0,
    progress: ProgressCallback = no_progress,
    cancel: Cancellation | None = None,
) -> ScoredOrders:
    """Climb from the order given by random swaps; returns the best orders seen."""
    size = len(steps)
    order: Order = tuple(range(size))
    scores: dict[Order, float] = {order: 0.0}
    if size < 2:
        return ScoredOrders((order,), (0.0,), 0)
    draw = np.random.default_rng(seed)
    context = sequence_context(task, assumption)
    total = ROUNDS_PER_STEP * size if rounds is None else rounds
    calls = 0
    for number in range(total):
        if cancel is not None:
            cancel.raise_if_cancelled()
        start = int(draw.integers(0, size - 1))
        ends = start + 1 + draw.permutation(size - 1 - start)[:swaps]
        fresh = []
        for end in ends.tolist():
            swapped = list(order)
            swapped[start], swapped[end] = swapped[end], swapped[start]
            if tuple(swapped) not in scores:
                fresh.append(tuple(swapped))
        if fresh:
            prefix = context + join_steps(steps, order[:start])
            rests = [join_steps(steps, candidate[start:]) for candidate in (order, *fresh)]
            values = [value.total for value in generator.log_likelihood(prefix, rests)]
            calls += 1
            for candidate, value in zip(fresh, values[1:], strict=True):
                scores[candidate] = scores[order] + value - values[0]
            order = max((order, *fresh), key=scores.__getitem__)
        progress(Progress(number + 1, total))
    best = sorted(scores, key=lambda found: -scores[found])[:kept]
    return ScoredOrders(tuple(best), tuple(scores[found] for found in best), calls)


def common_edges(orders: Sequence[Order]) -> list[Edge]:
    """The partial order that all sequences agree on, without what follows from it.

    Examples
    --------
    >>> common_edges([(0, 1, 2), (0, 2, 1)])
    [(0, 1), (0, 2)]
    """
    if not orders:
        return []
    size = len(orders[0])
    places = np.empty((len(orders), size), dtype=np.int64)
    for row, order in enumerate(orders):
        places[row, list(order)] = np.arange(size)
    before = (places[:, :, None] < places[:, None, :]).all(axis=0)
    edges = [(int(a), int(b)) for a, b in zip(*np.nonzero(before), strict=True)]
    redundant = redundant_edges(size, edges)
    return [edge for edge in edges if edge not in redundant]
