"""Which judge may be believed for which rubric: judges against an expert, on a sample drawn for it.

Verdicts are compared item by item and direction by direction: Cohen's kappa of yes and no, Pearson's r of
the judge's probabilities (or yes and no) with the expert's, and Pearson's r of samples' F1. Rules of thumb
decide, and say on how much they rest; a judge nobody was checked against is never believed silently.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from core.checklists.pairs import verdicts_of
from core.checklists.scores import Judge, SampleResult, judges_of, samples_of, task_score
from core.errors import ConflictError
from core.ids import new_id
from core.metrics.agreement import Agreement, cohen_kappa, percentage
from core.metrics.correlation import pearson
from core.storage.reads import Reads
from core.storage.transaction import Transaction
from core.types import Rubric
from core.types.rubrics import TrustSample, Verdict

Belief = Literal["believe", "caution", "distrust", "unchecked"]

#: Kappa from which a judge may be believed, and below which not at all (Landis and Koch: substantial, fair).
GOOD_KAPPA, POOR_KAPPA = 0.6, 0.4
#: Verdicts below which nothing is said for sure.
LEAST_VERDICTS = 40
_SAMPLES = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """A judge beside an expert under one rubric. ``items`` has kappa by item id."""

    rubric_id: str
    judge: Judge
    expert: Judge | None
    kappa: Agreement | None
    percentage: Agreement | None
    pearson: Agreement | None
    sample_pearson: Agreement | None
    items: dict[str, Agreement] = field(default_factory=dict)
    outputs: int = 0
    belief: Belief = "unchecked"
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difficulty:
    """How hard a rubric is and how far judges agree on it: a point of the plot."""

    rubric_id: str
    title: str
    judge: Judge
    f1: float
    kappa: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CoveragePoint:
    """One output: share of the reference's items it has something on, and how much of that is right."""

    output_id: str
    coverage: float
    correctness: float


def draw_sample(tx: Transaction, rubric_id: str, count: int, seed: int) -> list[TrustSample]:
    """Draw outputs for an expert to judge, evenly over examples, in place of an earlier sample.

    Raises
    ------
    ConflictError
        When no output has been mapped under the rubric.
    """
    rows = tx.query(
        "SELECT DISTINCT c.example_id, c.output_id FROM checklist c"
        " JOIN output o ON o.id = c.output_id AND o.deleted = 0"
        " WHERE c.rubric_id = ? AND c.deleted = 0 ORDER BY c.example_id, c.output_id",
        (rubric_id,),
    )
    if not rows:
        raise ConflictError(
            "No output has been mapped under this rubric.", remedy="Map some outputs first."
        )
    for old in sample_of(tx, rubric_id):
        tx.delete(TrustSample, old.id)
    draw = random.Random(seed)
    by_example: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        by_example[row["example_id"]].append(row["output_id"])
    for outputs in by_example.values():
        draw.shuffle(outputs)
    examples = sorted(by_example)
    draw.shuffle(examples)
    chosen: list[str] = []
    while len(chosen) < min(count, len(rows)):
        for example in examples:
            if by_example[example] and len(chosen) < count:
                chosen.append(by_example[example].pop())
    return [
        tx.insert(
            TrustSample(
                id=new_id(), rubric_id=rubric_id, output_id=output_id, position=place, seed=seed
            )
        )
        for place, output_id in enumerate(chosen)
    ]


def sample_of(reads: Reads, rubric_id: str) -> list[TrustSample]:
    """The outputs drawn for checking, in order."""
    return reads.find(TrustSample, "rubric_id = ?", (rubric_id,), order_by="position")


def compare_judges(
    reads: Reads, rubric_id: str, judge: Judge, expert: Judge, *, samples: int = _SAMPLES
) -> Trust:
    """A judge beside another under a rubric, on what both judged."""
    left, right = (
        _values(reads, rubric_id, judge),
        _values(reads, rubric_id, expert),
    )
    keys = sorted(left.keys() & right.keys())
    ours = [left[key] for key in keys]
    theirs = [right[key] for key in keys]
    mine = [probability >= 0.5 for probability in ours]
    yours = [probability >= 0.5 for probability in theirs]
    by_item: dict[str, list[int]] = defaultdict(list)
    for place, key in enumerate(keys):
        by_item[key[1]].append(place)
    kappa = cohen_kappa(mine, yours, samples=samples)
    outputs = {key[0] for key in keys}
    belief, words = _decide(kappa, len(keys))
    return Trust(
        rubric_id=rubric_id,
        judge=judge,
        expert=expert,
        kappa=kappa,
        percentage=percentage(mine, yours, samples=samples),
        pearson=pearson(ours, theirs, samples=samples),
        sample_pearson=_sample_pearson(reads, rubric_id, judge, expert, samples),
        items={
            item_id: cohen_kappa([mine[p] for p in places], [yours[p] for p in places], samples=200)
            for item_id, places in by_item.items()
        },
        outputs=len(outputs),
        belief=belief,
        words=words,
    )


def trust_table(reads: Reads, rubric_id: str) -> list[Trust]:
    """Every judge that is no person beside the expert who judged most; unchecked ones are said to be."""
    judges = judges_of(reads, rubric_id)
    expert = main_expert(reads, rubric_id)
    rows = []
    for judge in judges:
        if judge.kind in ("person", "adjudication"):
            if expert is not None and judge.kind == "person" and judge != expert:
                rows.append(compare_judges(reads, rubric_id, judge, expert))
            continue
        if expert is None:
            words = "Nobody has checked this judge: its numbers are not to be relied upon."
            rows.append(
                Trust(
                    rubric_id=rubric_id,
                    judge=judge,
                    expert=None,
                    kappa=None,
                    percentage=None,
                    pearson=None,
                    sample_pearson=None,
                    words=words,
                )
            )
            continue
        rows.append(compare_judges(reads, rubric_id, judge, expert))
    return rows


def main_expert(reads: Reads, rubric_id: str) -> Judge | None:
    """The person with most verdicts under a rubric."""
    rows = reads.query(
        "SELECT j.judge, count(*) AS n FROM judgement j"
        " JOIN checklist c ON c.id = j.reference_id"
        " JOIN verdict v ON v.judgement_id = j.id AND v.deleted = 0 AND v.unscored = ''"
        " WHERE c.rubric_id = ? AND j.judge_kind = 'person' AND j.deleted = 0"
        " GROUP BY j.judge ORDER BY n DESC, j.judge LIMIT 1",
        (rubric_id,),
    )
    return Judge("person", rows[0]["judge"]) if rows else None


def difficulty_points(reads: Reads) -> list[Difficulty]:
    """A point for each rubric and judge that was checked: the expert's mean F1 and kappa.

    The paper found that judges agree less on harder tasks; the plot shows whether it is so here.
    """
    points = []
    for rubric in reads.find(Rubric, order_by="title"):
        expert = main_expert(reads, rubric.id)
        if expert is None:
            continue
        score = task_score(samples_of(reads, rubric.id, expert), expert)
        if score.value is None:
            continue
        for row in trust_table(reads, rubric.id):
            if row.kappa is not None and row.kappa.value is not None:
                points.append(
                    Difficulty(
                        rubric_id=rubric.id,
                        title=rubric.title,
                        judge=row.judge,
                        f1=score.value,
                        kappa=row.kappa.value,
                    )
                )
    return points


def coverage_points(samples: Sequence[SampleResult]) -> list[CoveragePoint]:
    """Coverage against correctness, output by output.

    Correctness is the mean of precision over items on which both sides say something. High coverage
    with low correctness is the danger the paper found: much is written, and wrong.
    """
    points = []
    for sample in samples:
        both = [
            result.precision
            for result in sample.items
            if result.precision is not None and result.pair.asked
        ]
        coverage = sample.score.components.get("coverage")
        if both and coverage is not None:
            points.append(
                CoveragePoint(
                    output_id=sample.target.output_id,
                    coverage=float(coverage),
                    correctness=sum(both) / len(both),
                )
            )
    return points


def _values(reads: Reads, rubric_id: str, judge: Judge) -> dict[tuple[str, str, str], float]:
    """The judge's probabilities by (output's checklist pair, item, direction)."""
    where = "c.rubric_id = ? AND j.deleted = 0"
    parameters: list[str] = [rubric_id]
    if judge.kind == "pool":
        where += " AND j.judge_kind IN ('model', 'nli')"
    else:
        where += " AND j.judge_kind = ? AND j.judge = ?"
        parameters += [judge.kind, judge.id]
    rows = reads.query(
        "SELECT j.id, j.reference_id || j.output_checklist_id AS pair FROM judgement j"
        f" JOIN checklist c ON c.id = j.reference_id WHERE {where}",
        parameters,
    )
    found: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for row in rows:
        for item_id, verdict in verdicts_of(reads, row["id"]).items():
            for side, value in _sides(verdict, soft=judge.pooling == "mean"):
                found[row["pair"], item_id, side].append(value)
    return {key: _pool(values, judge) for key, values in found.items()}


def _sides(verdict: Verdict, *, soft: bool) -> list[tuple[str, float]]:
    if verdict.recall is None or verdict.precision is None:
        return []
    recall, precision = verdict.recall, verdict.precision
    if soft and verdict.recall_probability is not None:
        recall = verdict.recall_probability
    if soft and verdict.precision_probability is not None:
        precision = verdict.precision_probability
    return [("recall", recall), ("precision", precision)]


def _pool(values: Sequence[float], judge: Judge) -> float:
    mean = sum(values) / len(values)
    if judge.kind == "pool" and judge.pooling == "majority":
        return float(mean > 0.5)
    return mean


def _sample_pearson(
    reads: Reads, rubric_id: str, judge: Judge, expert: Judge, samples: int
) -> Agreement:
    ours = {s.target.output_id: s.score.value for s in samples_of(reads, rubric_id, judge)}
    theirs = {s.target.output_id: s.score.value for s in samples_of(reads, rubric_id, expert)}
    both = sorted(ours.keys() & theirs.keys())
    return pearson([ours[k] for k in both], [theirs[k] for k in both], samples=samples)


def _decide(kappa: Agreement, verdicts: int) -> tuple[Belief, str]:
    if verdicts == 0:
        return (
            "unchecked",
            "Nobody judged what this judge judged: its numbers are not to be relied upon.",
        )
    if kappa.value is None:
        return "unchecked", kappa.reason or "Agreement cannot be computed."
    on = f"kappa {kappa.value:.2f} on {verdicts} verdicts"
    if verdicts < LEAST_VERDICTS:
        return "caution", f"Too little was checked to say ({on}; {LEAST_VERDICTS} are the least)."
    if kappa.value >= GOOD_KAPPA and (kappa.low is None or kappa.low >= POOR_KAPPA):
        return "believe", f"May be believed for this rubric ({on})."
    if kappa.value < POOR_KAPPA:
        return "distrust", f"Not to be believed for this rubric ({on})."
    return "caution", f"Agrees only in part: look at its verdicts ({on})."
