"""How well predicted dependencies follow the gold ones, on steps matched by similarity."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from core.errors import UsageError
from core.metrics.base import Metric, MetricScore
from core.metrics.options import read_choice
from core.metrics.rouge import Rouge1, Rouge2, RougeL
from core.metrics.steps import SimilarityMetric, match_hungarian, read_edges, read_graph
from core.ports import Embedder

_ROUGES = {"1": Rouge1, "2": Rouge2, "L": RougeL}


class _EdgeOverlap(SimilarityMetric):
    """Overlap of the neighbours' texts of matched steps."""

    side: ClassVar[Literal["parents", "children", "neighbours"]]

    def __init__(
        self, both_empty: str = "1", rouge: str = "1", embedder: Embedder | None = None
    ) -> None:
        super().__init__(embedder)
        self._both_empty = read_choice("both_empty", both_empty, ("1", "0", "skip"))
        self._rouge_name = read_choice("rouge", rouge, tuple(_ROUGES))
        self._rouge = _ROUGES[self._rouge_name]()

    @property
    def signature(self) -> str:
        return (
            f"{self.name}|both_empty:{self._both_empty}|rouge:{self._rouge_name}|"
            f"similarity:{self.similarity_name()}|version:{self.version}"
        )

    def score_one(self, item: Mapping[str, Any]) -> MetricScore:
        predicted, predicted_edges = read_graph(item, "predicted")
        gold, gold_edges = read_graph(item, "gold")
        pairs = pair_steps(self.read_similarity(item, predicted, gold))
        if not pairs:
            return self.unscored("Neither graph has a step.", pairs=0)
        written = _neighbour_texts(predicted, predicted_edges, self.side)
        wanted = _neighbour_texts(gold, gold_edges, self.side)
        values = []
        for row, column in pairs:
            left = written[row] if row is not None else None
            right = wanted[column] if column is not None else None
            if left is None and right is None:
                if self._both_empty != "skip":
                    values.append(float(self._both_empty))
            elif left is None or right is None:
                values.append(0.0)
            else:
                values.append(self._rouge.score_pair(right, left)[2])
        if not values:
            return self.unscored(f"No step has {self.side} on either side.", pairs=len(pairs))
        return MetricScore(
            value=sum(values) / len(values),
            components={"pairs": len(pairs), "compared": len(values)},
            signature=self.signature,
        )

    def aggregate(self, items: Sequence[Mapping[str, Any]]) -> MetricScore:
        scores = self.score_many(items)
        values = [score.value for score in scores if score.value is not None]
        if not values:
            return self.unscored("No item has a score.", n=0, n_unscored=len(scores))
        return MetricScore(
            value=sum(values) / len(values),
            components={"n": len(values), "n_unscored": len(scores) - len(values)},
            signature=self.signature,
        )


class InDegree(_EdgeOverlap):
    """In-degree: do matched steps come after the same steps, 0 to 1.

    Steps are matched by Hungarian assignment on the similarity; one left over is paired with a dummy
    without neighbours. For each pair, ROUGE-1 F1 of the parents' texts joined in index order; the mean
    over all pairs. Where neither side has parents the pair counts 1 (``both_empty=1``), 0, or not at
    all (``skip``); ``rouge=2`` and ``rouge=L`` as options. Equal graphs give 1. A corpus is the mean
    over graphs.

    Source: TaskLAMA (Yuan et al., 2023), section on dependency metrics; which ROUGE and what two empty
    sets count is not stated there.

    It cannot tell a missing edge from one whose steps are worded otherwise.
    """

    name = "in_degree"
    side = "parents"


class OutDegree(_EdgeOverlap):
    """Out-degree: do matched steps come before the same steps, 0 to 1.

    As in_degree, over the children of each step.

    Source: TaskLAMA (Yuan et al., 2023), section on dependency metrics.

    It cannot tell a missing edge from one whose steps are worded otherwise.
    """

    name = "out_degree"
    side = "children"


class StepProximity(_EdgeOverlap):
    """Step proximity: do matched steps have the same neighbours, whatever the direction, 0 to 1.

    As in_degree, over parents and children together. A graph with all edges turned round gives 1.

    Source: TaskLAMA (Yuan et al., 2023), section on dependency metrics.

    It cannot tell before from after, which in_degree and out_degree do.
    """

    name = "step_proximity"
    side = "neighbours"


class Cycles(Metric):
    """Edges that are left when cycles are removed, and their count, 0 upwards.

    Every edge inside a strongly connected component goes, self-loops with them: steps on a cycle can
    be done in any order. ``edges`` lists what is left in the order given, ``removed`` what went. Takes
    ``{"predicted": {"steps", "edges"}}``, or ``{"n_steps", "edges"}``. The value is the number of edges
    left; a corpus is the mean.

    Source: TaskLAMA (Yuan et al., 2023), treatment of cycles in generated graphs.

    It cannot tell which edge of a cycle was the wrong one.
    """

    name = "cycles"
    high = float("inf")

    @property
    def signature(self) -> str:
        return f"cycles|rule:strongly connected components|version:{self.version}"

    def score_one(self, item: Mapping[str, Any]) -> MetricScore:
        if "predicted" in item:
            steps, edges = read_graph(item, "predicted")
            size = len(steps)
        else:
            size = item.get("n_steps", -1)
            if not isinstance(size, int) or size < 0:
                raise UsageError(
                    "'predicted' is missing.",
                    remedy='Give {"predicted": {"steps": ["..."], "edges": [[0, 1]]}}.',
                )
            edges = read_edges(item.get("edges") or (), size, "edges")
        left = remove_cycles(size, edges)
        kept = set(left)
        removed = [edge for edge in dict.fromkeys(edges) if edge not in kept]
        return MetricScore(
            value=float(len(left)),
            components={
                "edges": [list(edge) for edge in left],
                "removed": [list(edge) for edge in removed],
                "was_acyclic": not removed,
            },
            signature=self.signature,
        )

    def aggregate(self, items: Sequence[Mapping[str, Any]]) -> MetricScore:
        scores = self.score_many(items)
        if not scores:
            return self.unscored("There is no item.")
        return MetricScore(
            value=sum(score.value or 0.0 for score in scores) / len(scores),
            components={
                "removed": sum(len(score.components["removed"]) for score in scores),
                "acyclic": sum(score.components["was_acyclic"] for score in scores),
                "n": len(scores),
            },
            signature=self.signature,
        )


def remove_cycles(steps: int, edges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Distinct edges between different strongly connected components, in the order given.

    Examples
    --------
    >>> remove_cycles(3, [(0, 1), (1, 0), (1, 2)])
    [(1, 2)]
    """
    distinct = list(dict.fromkeys(edges))
    if not distinct:
        return []
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    ends = np.array(distinct, dtype=np.int64)
    matrix = coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(steps, steps))
    _, component = connected_components(matrix.tocsr(), directed=True, connection="strong")
    return [edge for edge in distinct if component[edge[0]] != component[edge[1]]]


def pair_steps(similarity: Any) -> list[tuple[int | None, int | None]]:
    """Matched (predicted, gold) steps, then those left over on either side with None for the dummy."""
    matched = match_hungarian(similarity)
    rows, columns = {row for row, _ in matched}, {column for _, column in matched}
    height, width = similarity.shape
    return [
        *matched,
        *((row, None) for row in range(height) if row not in rows),
        *((None, column) for column in range(width) if column not in columns),
    ]


def _neighbour_texts(
    steps: Sequence[str], edges: Sequence[tuple[int, int]], side: str
) -> list[str | None]:
    """Each step's neighbours' texts joined in index order; None without neighbours."""
    near: list[set[int]] = [set() for _ in steps]
    for before, after in edges:
        if side != "children":
            near[after].add(before)
        if side != "parents":
            near[before].add(after)
    return [" ".join(steps[n] for n in sorted(found)) if found else None for found in near]
