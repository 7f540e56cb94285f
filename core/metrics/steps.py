"""How well predicted steps cover gold steps: matching on similarities, and overlap as documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from core.errors import UsageError
from core.metrics.base import Metric, MetricScore
from core.metrics.rouge import Rouge1, Rouge2, RougeL
from core.ports import Embedder

Floats = npt.NDArray[np.float64]
Graph = tuple[list[str], list[tuple[int, int]]]


def read_graph(item: Mapping[str, Any], key: str) -> Graph:
    """The steps and edges of one side of an item.

    Raises
    ------
    UsageError
        When the side is missing, a step is no text, or an edge names a step that is not there.
    """
    side = item.get(key)
    if not isinstance(side, Mapping) or not isinstance(side.get("steps"), list | tuple):
        raise UsageError(
            f"'{key}' is missing or has no list of steps.",
            remedy=f'Give {{"{key}": {{"steps": ["..."], "edges": [[0, 1]]}}}}.',
        )
    steps = list(side["steps"])
    if not all(isinstance(step, str) for step in steps):
        raise UsageError(f"A step of '{key}' is no text.", remedy="Give steps as texts.")
    return steps, read_edges(side.get("edges") or (), len(steps), key)


def read_edges(edges: Any, steps: int, key: str) -> list[tuple[int, int]]:
    """Edges as pairs of step numbers from 0."""
    found: list[tuple[int, int]] = []
    for edge in edges if isinstance(edges, list | tuple) else [edges]:
        pair = list(edge) if isinstance(edge, list | tuple) else []
        if len(pair) != 2 or not all(isinstance(end, int) and 0 <= end < steps for end in pair):
            raise UsageError(
                f"The edge {edge!r} of '{key}' does not join two of its {steps} steps.",
                remedy=f"Give edges as pairs of step numbers from 0 to {max(steps - 1, 0)}.",
            )
        found.append((int(pair[0]), int(pair[1])))
    return found


def match_hungarian(similarity: Floats) -> list[tuple[int, int]]:
    """The one-to-one matching of the greatest total similarity, pairs of (row, column)."""
    from scipy.optimize import linear_sum_assignment

    if not similarity.size:
        return []
    rows, columns = linear_sum_assignment(similarity, maximize=True)
    return list(zip(rows.tolist(), columns.tolist(), strict=True))


def match_twice(similarity: Floats) -> list[tuple[int, int]]:
    """The best matching in which a row is used once at most and a column twice at most."""
    width = similarity.shape[1]
    pairs = match_hungarian(np.hstack([similarity, similarity]))
    return [(row, column % width) for row, column in pairs]


def f_scores(precision: float, recall: float) -> tuple[float, float]:
    """F1 and F2; 0 where both sides are."""
    f1 = precision + recall
    f2 = 4 * precision + recall
    return (
        2 * precision * recall / f1 if f1 else 0.0,
        5 * precision * recall / f2 if f2 else 0.0,
    )


class SimilarityMetric(Metric):
    """Common part of metrics that match steps: the similarity given, or made by an embedder.

    Parameters
    ----------
    embedder
        Makes the similarities of items that bring none: cosines, negatives clipped to 0.
    """

    def __init__(self, embedder: Embedder | None = None) -> None:
        self._embedder = embedder

    def similarity_name(self) -> str:
        """Where similarities come from, for the signature."""
        if self._embedder is None:
            return "given"
        info = self._embedder.info
        return f"given or cosine of {info.id} {info.sha256[:12]}"

    def read_similarity(
        self, item: Mapping[str, Any], predicted: Sequence[str], gold: Sequence[str]
    ) -> Floats:
        """Similarities, shape (predicted steps, gold steps).

        Raises
        ------
        UsageError
            When the matrix has another shape, or there is neither a matrix nor an embedder.
        """
        shape = (len(predicted), len(gold))
        given = item.get("similarity")
        if given is None:
            if not predicted or not gold:
                return np.zeros(shape)
            return self._embed(predicted, gold)
        try:
            matrix = np.array(given, dtype=np.float64)
        except (TypeError, ValueError):
            matrix = np.full((1, 1, 1), np.nan)
        if matrix.size == 0 and 0 in shape:
            return np.zeros(shape)
        if matrix.shape != shape or not np.isfinite(matrix).all():
            raise UsageError(
                f"'similarity' is no matrix of {shape[0]} rows (predicted steps) and {shape[1]} "
                "columns (gold steps) of finite numbers.",
                remedy="Give a row a predicted step and a column a gold step.",
            )
        return matrix

    def _embed(self, predicted: Sequence[str], gold: Sequence[str]) -> Floats:
        if self._embedder is None:
            raise UsageError(
                "The item brings no 'similarity', and there is no embedder to make one.",
                remedy="Add the matrix, or name an embedder.",
            )
        distinct = list(dict.fromkeys([*predicted, *gold]))
        vectors = np.array(self._embedder.embed(distinct), dtype=np.float64)
        vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        place = {text: number for number, text in enumerate(distinct)}
        left = vectors[[place[text] for text in predicted]]
        right = vectors[[place[text] for text in gold]]
        return np.clip(left @ right.T, 0.0, 1.0)


class _Matching(SimilarityMetric):
    """Precision, recall, F1 and F2 of matched steps; a corpus is the mean over graphs."""

    @property
    def signature(self) -> str:
        return f"{self.name}|similarity:{self.similarity_name()}|version:{self.version}"

    def score_one(self, item: Mapping[str, Any]) -> MetricScore:
        predicted, _ = read_graph(item, "predicted")
        gold, _ = read_graph(item, "gold")
        similarity = self.read_similarity(item, predicted, gold)
        if not predicted or not gold:
            components: dict[str, Any] = {"precision": 0.0, "recall": 0.0, "f1": 0.0, "f2": 0.0}
        else:
            components = self.match(similarity)
        return MetricScore(value=components["f1"], components=components, signature=self.signature)

    def aggregate(self, items: Sequence[Mapping[str, Any]]) -> MetricScore:
        scores = self.score_many(items)
        if not scores:
            return self.unscored("There is no item.")
        means = mean_components(scores, ("precision", "recall", "f1", "f2"))
        return MetricScore(
            value=means["f1"], components={**means, "n": len(scores)}, signature=self.signature
        )

    def match(self, similarity: Floats) -> dict[str, Any]:
        """Components of a matrix that has rows and columns."""
        raise AssertionError(self)


class StepMatching(_Matching):
    """Step matching by Hungarian assignment, F1, 0 to 1 where similarities are.

    ``T`` is the total similarity of the one-to-one matching that makes it greatest; ``P = T/|U|`` over
    predicted steps U, ``R = T/|V|`` over gold steps V, ``F1 = 2PR/(P+R)``, ``F2 = 5PR/(4P+R)``. An empty
    list gives 0. A matrix given is used as it is, negatives too; cosines of an embedder are clipped at
    0. Equal lists with similarity 1 of equal steps give 1. A corpus is the mean over graphs.

    Source: TaskLAMA (Yuan et al., 2023), section on metrics. The paper's Universal Sentence Encoder is
    not available offline; the embedder named in the signature stands in for it.

    It cannot tell the order of steps, and one step that says two things matches only one.
    """

    name = "step_matching"

    def match(self, similarity: Floats) -> dict[str, Any]:
        pairs = match_hungarian(similarity)
        total = _total(similarity, pairs)
        return _scores(
            total / similarity.shape[0],
            total / similarity.shape[1],
            total=total,
            pairs=[list(pair) for pair in pairs],
        )


class StepMatchingRelaxed(_Matching):
    """Step matching where a step may be matched twice, F1, 0 to 1 where similarities are.

    Two matchings, so that neither side passes 1: for precision each predicted step has one gold step
    at most and a gold step is used twice at most; for recall each gold step has one predicted step at
    most and a predicted step is used twice at most. Totals over ``|U|`` and ``|V|``, F1 and F2 as for
    step_matching. An empty list gives 0. The paper's example: one near-copy more leaves 0.4 / 0.3,
    where Hungarian assignment gives 0.2 / 0.3.

    Source: TaskLAMA (Yuan et al., 2023), relaxed matching; the paper leaves open how one-to-two enters
    precision and recall, and this is our reading.

    It cannot tell the order of steps, and three steps for one are still punished.
    """

    name = "step_matching_relaxed"

    def match(self, similarity: Floats) -> dict[str, Any]:
        for_precision = match_twice(similarity)
        for_recall = match_twice(np.ascontiguousarray(similarity.T))
        precision_total = _total(similarity, for_precision)
        recall_total = _total(similarity.T, for_recall)
        return _scores(
            precision_total / similarity.shape[0],
            recall_total / similarity.shape[1],
            precision_total=precision_total,
            recall_total=recall_total,
            precision_pairs=[list(pair) for pair in for_precision],
            recall_pairs=[[row, column] for column, row in for_recall],
        )


class StepMatchingMax(_Matching):
    """Step matching by each step's best counterpart, F1, 0 to 1 where similarities are.

    ``P`` is the mean over predicted steps of the greatest similarity to any gold step, ``R`` the mean
    over gold steps of the greatest to any predicted step. An empty list gives 0.

    Source: Zhang et al. (2021), the older measure that TaskLAMA compares with.

    It cannot tell copies: saying one right step ten times gives precision 1.
    """

    name = "step_matching_max"

    def match(self, similarity: Floats) -> dict[str, Any]:
        return _scores(float(similarity.max(axis=1).mean()), float(similarity.max(axis=0).mean()))


class _DocumentRouge(Metric):
    """ROUGE of the steps joined by one blank each."""

    rouge: type[Rouge1] | type[Rouge2] | type[RougeL]

    def __init__(self, stemmer: str = "false", tokenizer: str = "rouge") -> None:
        self._rouge = self.rouge(stemmer=stemmer, tokenizer=tokenizer)

    @property
    def signature(self) -> str:
        inner = self._rouge.signature.split("|", 1)[1].replace("|references:best", "")
        return f"{self.name}|steps:joined by a blank|{inner}"

    def score_one(self, item: Mapping[str, Any]) -> MetricScore:
        predicted, _ = read_graph(item, "predicted")
        gold, _ = read_graph(item, "gold")
        precision, recall, _ = self._rouge.score_pair(" ".join(gold), " ".join(predicted))
        components = _scores(precision, recall)
        return MetricScore(value=components["f1"], components=components, signature=self.signature)

    def aggregate(self, items: Sequence[Mapping[str, Any]]) -> MetricScore:
        scores = self.score_many(items)
        if not scores:
            return self.unscored("There is no item.")
        means = mean_components(scores, ("precision", "recall", "f1", "f2"))
        return MetricScore(
            value=means["f1"], components={**means, "n": len(scores)}, signature=self.signature
        )


class DocumentRouge1(_DocumentRouge):
    """ROUGE-1 of all predicted steps against all gold steps as one text each, F1, 0 to 1.

    Steps are joined by one blank; precision, recall, F1 and ``F2 = 5PR/(4P+R)``. Equal lists give 1,
    empty ones 0. A corpus is the mean over graphs.

    Source: TaskLAMA (Yuan et al., 2023); rouge-score 0.1.2 without stemmer (the paper names neither
    package nor joiner).

    It cannot tell where one step ends, nor their order or meaning.
    """

    name = "document_rouge1"
    rouge = Rouge1


class DocumentRouge2(_DocumentRouge):
    """ROUGE-2 of all predicted steps against all gold steps as one text each, F1, 0 to 1.

    As document_rouge1, over pairs of neighbouring words, also across the border of two steps.

    Source: TaskLAMA (Yuan et al., 2023); rouge-score 0.1.2 without stemmer.

    It cannot tell where one step ends, nor meaning.
    """

    name = "document_rouge2"
    rouge = Rouge2


class DocumentRougeL(_DocumentRouge):
    """ROUGE-L of all predicted steps against all gold steps as one text each, F1, 0 to 1.

    As document_rouge1, by the longest common subsequence of words.

    Source: TaskLAMA (Yuan et al., 2023); rouge-score 0.1.2 without stemmer.

    It cannot tell meaning, and takes one legitimate order of steps for the only one.
    """

    name = "document_rougeL"
    rouge = RougeL


def mean_components(scores: Sequence[MetricScore], keys: Sequence[str]) -> dict[str, float]:
    """Means of named components over scores that all have them."""
    return {key: sum(score.components[key] for score in scores) / len(scores) for key in keys}


def _total(similarity: Floats, pairs: Sequence[tuple[int, int]]) -> float:
    return float(sum(similarity[row, column] for row, column in pairs))


def _scores(precision: float, recall: float, **more: Any) -> dict[str, Any]:
    f1, f2 = f_scores(precision, recall)
    return {"precision": precision, "recall": recall, "f1": f1, "f2": f2, **more}
