"""A graph against a gold graph, or two persons' graphs: what matches, is missing, extra or reversed.

Steps are matched by the assignment of the greatest total similarity; an expert's corrections come
first. The TaskLAMA metrics are those of `core.metrics`, over the same matching.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from core.graphs.model import StepGraph
from core.graphs.order import reachable_sets
from core.ids import new_id, now
from core.metrics.base import MetricScore
from core.metrics.registry import create
from core.metrics.steps import match_hungarian
from core.ports import Embedder
from core.storage.reads import Reads
from core.storage.transaction import Transaction
from core.types.graphs import GraphMatch, GraphScore, GraphStep, TaskGraph

Floats = npt.NDArray[np.float64]
Status = Literal["matched", "missing", "extra", "reversed", "implied"]
Pair = tuple[str, str]

#: Steps below this similarity are no match, though the published metrics pair them all the same.
MATCH_THRESHOLD = 0.5

#: The metrics of METRICS.md for graphs: those on steps, and those on dependencies.
STEP_METRICS = (
    "step_matching",
    "step_matching_relaxed",
    "document_rouge1",
    "document_rouge2",
    "document_rougeL",
)
EDGE_METRICS = ("in_degree", "out_degree", "step_proximity")
GRAPH_METRICS = (*STEP_METRICS, *EDGE_METRICS)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepPair:
    """Two steps taken for the same; ``corrected`` when an expert said so."""

    step: str
    gold: str
    similarity: float
    corrected: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeVerdict:
    """A dependency and what became of it. ``before`` and ``after`` are steps of the graph it is in.

    ``side`` says whether it was drawn in the compared graph or stands in the gold one.
    """

    side: Literal["graph", "gold"]
    dependency: str
    before: str
    after: str
    status: Status


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two graphs side by side."""

    pairs: tuple[StepPair, ...]
    extra: tuple[str, ...]
    missing: tuple[str, ...]
    edges: tuple[EdgeVerdict, ...]
    similarity: Floats = field(repr=False)
    notes: tuple[str, ...] = ()

    def step_status(self) -> dict[str, Status]:
        """Status by step id, of both graphs."""
        found: dict[str, Status] = {}
        for pair in self.pairs:
            found[pair.step] = found[pair.gold] = "matched"
        found |= dict.fromkeys(self.extra, "extra")
        found |= dict.fromkeys(self.missing, "missing")
        return found

    def edge_status(self) -> dict[str, Status]:
        """Status by dependency id, of both graphs."""
        return {verdict.dependency: verdict.status for verdict in self.edges}

    def count(self, status: Status) -> int:
        """How many dependencies have a status; each pair of matched ones counts once."""
        side = "gold" if status == "missing" else "graph"
        return sum(v.status == status and v.side == side for v in self.edges)


def similarities(
    steps: Sequence[GraphStep], gold: Sequence[GraphStep], embedder: Embedder | None
) -> Floats:
    """Similarity of each step to each gold step, shape (steps, gold steps), 0 to 1.

    Cosine of embeddings, negatives clipped; without an embedder the share of letters in common.
    """
    if not steps or not gold:
        return np.zeros((len(steps), len(gold)))
    left, right = [step.text for step in steps], [step.text for step in gold]
    if embedder is None:
        from rapidfuzz import fuzz, process

        scores = process.cdist(
            [text.casefold() for text in left],
            [text.casefold() for text in right],
            scorer=fuzz.token_sort_ratio,
            dtype=np.float64,
        )
        return np.asarray(scores / 100.0)
    distinct = list(dict.fromkeys([*left, *right]))
    vectors = np.array(embedder.embed(distinct), dtype=np.float64)
    place = {text: number for number, text in enumerate(distinct)}
    ours = vectors[[place[text] for text in left]]
    theirs = vectors[[place[text] for text in right]]
    return np.clip(ours @ theirs.T, 0.0, 1.0)


def compare_graphs(
    graph: StepGraph,
    gold: StepGraph,
    similarity: Floats | None = None,
    match: GraphMatch | None = None,
    *,
    threshold: float = MATCH_THRESHOLD,
) -> Comparison:
    """Compare a graph with a gold one.

    Parameters
    ----------
    similarity
        Of the accepted steps, shape (steps, gold steps); that of spelling unless given.
    match
        An expert's corrections of the matching.
    """
    ours, theirs = graph.accepted, gold.accepted
    if similarity is None:
        similarity = similarities(ours, theirs, None)
    corrected = correct_similarity(ours, theirs, similarity, match)
    together = set(match.together) if match else set()
    pairs = []
    for row, column in match_hungarian(corrected):
        ends = (ours[row].id, theirs[column].id)
        if ends in together or corrected[row, column] >= threshold:
            pairs.append(
                StepPair(
                    step=ends[0],
                    gold=ends[1],
                    similarity=float(similarity[row, column]),
                    corrected=ends in together,
                )
            )
    pairs.sort(key=lambda pair: graph.numbers[pair.step])
    matched = {pair.step for pair in pairs}
    matched_gold = {pair.gold for pair in pairs}
    return Comparison(
        pairs=tuple(pairs),
        extra=tuple(step.id for step in ours if step.id not in matched),
        missing=tuple(step.id for step in theirs if step.id not in matched_gold),
        edges=tuple(_judge_edges(graph, gold, {pair.step: pair.gold for pair in pairs})),
        similarity=corrected,
    )


def correct_similarity(
    ours: Sequence[GraphStep],
    theirs: Sequence[GraphStep],
    similarity: Floats,
    match: GraphMatch | None,
) -> Floats:
    """Similarities with an expert's word: 1 for what is the same, 0 for what is not."""
    made = np.array(similarity, dtype=np.float64)
    if match is None:
        return made
    rows = {step.id: number for number, step in enumerate(ours)}
    columns = {step.id: number for number, step in enumerate(theirs)}
    for step, gold in match.apart:
        if step in rows and gold in columns:
            made[rows[step], columns[gold]] = 0.0
    for step, gold in match.together:
        if step in rows and gold in columns:
            made[rows[step], :] = 0.0
            made[:, columns[gold]] = 0.0
            made[rows[step], columns[gold]] = 1.0
    return made


def _judge_edges(
    graph: StepGraph, gold: StepGraph, counterpart: Mapping[str, str]
) -> list[EdgeVerdict]:
    """Each dependency of both graphs with its status.

    One that the other graph says by way of further steps is 'implied', which is no mistake.
    """
    back = {theirs: ours for ours, theirs in counterpart.items()}
    verdicts = []
    for side, mine, other, across in (
        ("graph", graph, gold, counterpart),
        ("gold", gold, graph, back),
    ):
        direct = {(link.before_id, link.after_id) for link in other.links}
        reach = _reach(other)
        for link in mine.links:
            ends = (across.get(link.before_id, ""), across.get(link.after_id, ""))
            status: Status = "extra" if side == "graph" else "missing"
            if all(ends):
                if ends in direct:
                    status = "matched"
                elif ends[::-1] in direct or ends[0] in reach.get(ends[1], ()):
                    status = "reversed"
                elif ends[1] in reach.get(ends[0], ()):
                    status = "implied"
            verdicts.append(
                EdgeVerdict(
                    side=side,  # type: ignore[arg-type]
                    dependency=link.id,
                    before=link.before_id,
                    after=link.after_id,
                    status=status,
                )
            )
    return verdicts


def _reach(graph: StepGraph) -> dict[str, set[str]]:
    if graph.circle:
        return {}
    sets = reachable_sets(len(graph.steps), graph.edges)
    return {
        step.id: {graph.steps[n].id for n in range(len(graph.steps)) if sets[place] >> n & 1}
        for place, step in enumerate(graph.steps)
    }


# -- metrics -----------------------------------------------------------------------------


def score_graph(
    graph: StepGraph,
    gold: StepGraph,
    similarity: Floats,
    *,
    metrics: Sequence[str] = GRAPH_METRICS,
    similarity_name: str = "given",
    match: GraphMatch | None = None,
) -> dict[str, MetricScore]:
    """Every TaskLAMA metric of a graph against a gold one.

    Parameters
    ----------
    similarity_name
        What made the similarities, for the signature.
    """
    from dataclasses import replace

    corrected = correct_similarity(graph.accepted, gold.accepted, similarity, match)
    item = {"predicted": graph.as_item(), "gold": gold.as_item(), "similarity": corrected}
    note = similarity_name + ("|matching:corrected by a person" if match else "")
    scores = {}
    for name in metrics:
        score = create(name).score_one(item)
        signature = score.signature.replace("similarity:given", f"similarity:{note}")
        scores[name] = replace(score, signature=signature)
    return scores


def similarity_name(embedder: Embedder | None) -> str:
    """What a similarity is made from, for signatures."""
    if embedder is None:
        return "token sort ratio (rapidfuzz)"
    return f"cosine of {embedder.info.id} {embedder.info.sha256[:12]}"


def record_scores(
    tx: Transaction, graph_id: str, gold_id: str, scores: Mapping[str, MetricScore]
) -> list[GraphScore]:
    """Keep scores of a graph; earlier ones stay."""
    made = []
    for name, score in scores.items():
        components = {
            key: value
            for key, value in score.components.items()
            if isinstance(value, int | float | str)
        }
        made.append(
            tx.insert(
                GraphScore(
                    id=new_id(),
                    graph_id=graph_id,
                    gold_id=gold_id,
                    metric=name,
                    value=score.value,
                    components=components,
                    unscored=score.unscored or "",
                    signature=score.signature,
                    scored=now(),
                )
            )
        )
    return made


# -- the matching, corrected -------------------------------------------------------------


def find_match(reads: Reads, graph_id: str, gold_id: str) -> GraphMatch | None:
    """An expert's corrections of the matching of two graphs, if there are any."""
    found = reads.find(GraphMatch, "graph_id = ? AND gold_id = ?", (graph_id, gold_id))
    return found[0] if found else None


def match_steps(tx: Transaction, graph_id: str, gold_id: str, step: str, gold: str) -> GraphMatch:
    """Say that two steps are the same, whatever the similarity; a step has one counterpart."""
    match = _ensure_match(tx, graph_id, gold_id)
    kept = [pair for pair in match.together if step != pair[0] and gold != pair[1]]
    apart = tuple(pair for pair in match.apart if pair != (step, gold))
    return tx.update(GraphMatch, match.id, together=(*kept, (step, gold)), apart=apart)


def unmatch_steps(tx: Transaction, graph_id: str, gold_id: str, step: str, gold: str) -> GraphMatch:
    """Say that two steps are not the same."""
    match = _ensure_match(tx, graph_id, gold_id)
    together = tuple(pair for pair in match.together if pair != (step, gold))
    apart = tuple(dict.fromkeys([*match.apart, (step, gold)]))
    return tx.update(GraphMatch, match.id, together=together, apart=apart)


def reset_match(tx: Transaction, graph_id: str, gold_id: str) -> None:
    """Forget the corrections."""
    match = find_match(tx, graph_id, gold_id)
    if match is not None:
        tx.delete(GraphMatch, match.id)


def _ensure_match(tx: Transaction, graph_id: str, gold_id: str) -> GraphMatch:
    found = find_match(tx, graph_id, gold_id)
    if found is not None:
        return found
    tx.get(TaskGraph, graph_id)
    tx.get(TaskGraph, gold_id)
    return tx.insert(GraphMatch(id=new_id(), graph_id=graph_id, gold_id=gold_id))
