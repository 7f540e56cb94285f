"""CLEAR's numbers from checklists and verdicts: per item, sample and task, for one judge or a pool.

All numbers come from `core.metrics.clear.Clear`; here it is only decided what it is given. An item that
is unscored (not mapped, its judge failed, its condition cannot be told) is left out of its sample's means
and counted apart with its reason; a sample with nothing but such items is unscored.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from core.checklists.asking import CLOSE
from core.checklists.pairs import ItemPair, judgements_of, read_pairs, verdicts_of
from core.checklists.verbs import Target, checklists_of
from core.errors import NotFoundError
from core.ids import new_id, now
from core.metrics.base import MetricScore
from core.metrics.bootstrap import Interval, bootstrap_interval
from core.metrics.clear import Clear
from core.rubrics.versions import rubric_versions
from core.storage.reads import Reads
from core.storage.transaction import Transaction
from core.types import Output, Person, Rubric, RubricItem, Score
from core.types.rubrics import Checklist, Judgement, Verdict

Pooling = Literal["mean", "majority"]
#: Kinds of judges that a pool is made of; persons stay outside, so that it can be checked against them.
MACHINES = ("model", "nli")
#: What a reader sees of an item at a glance.
Status = Literal[
    "right", "incomplete", "excess", "wrong", "contradicted", "missing", "added", "absent",
    "not_applicable", "unscored",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Judge:
    """Who judged: a kind and a person's or model's id, or the pool of all models that judged."""

    kind: Literal["person", "model", "nli", "adjudication", "pool"]
    id: str = ""
    pooling: Pooling = "mean"

    @property
    def key(self) -> str:
        """One text for it, as in signatures: 'model:smollm2', 'pool:majority'."""
        return f"{self.kind}:{self.pooling if self.kind == 'pool' else self.id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemResult:
    """One item of one output under a judge. ``recall`` and ``precision`` are what the means take."""

    pair: ItemPair
    status: Status
    recall: float | None
    precision: float | None
    verdicts: tuple[Verdict, ...]
    reason: str

    @property
    def item(self) -> RubricItem:
        return self.pair.item


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleResult:
    """One output: its items and CLEAR's numbers for it."""

    target: Target
    reference_id: str
    checklist_id: str
    judge: Judge
    items: tuple[ItemResult, ...]
    score: MetricScore
    entry: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_void(self) -> bool:
        """Whether neither side has anything on any item, which CLEAR counts as all right."""
        return bool(self.items) and all(
            result.status in ("absent", "not_applicable") for result in self.items
        )


def judges_of(reads: Reads, rubric_id: str) -> list[Judge]:
    """Everybody who judged anything under a rubric, persons first; a pool where there are several."""
    rows = reads.query(
        "SELECT DISTINCT j.judge_kind AS kind, j.judge AS id FROM judgement j"
        " JOIN checklist c ON c.id = j.reference_id WHERE c.rubric_id = ? AND j.deleted = 0",
        (rubric_id,),
    )
    order = {"adjudication": 0, "person": 1, "model": 2, "nli": 3}
    found = [Judge(row["kind"], row["id"]) for row in rows]
    found.sort(key=lambda judge: (order[judge.kind], judge.id))
    if sum(judge.kind in MACHINES for judge in found) > 1:
        found += [Judge("pool", pooling="mean"), Judge("pool", pooling="majority")]
    return found


def judge_name(reads: Reads, judge: Judge) -> str:
    """A judge in words."""
    if judge.kind == "pool":
        return "Pool, mean" if judge.pooling == "mean" else "Pool, majority"
    if judge.kind in ("person", "adjudication"):
        try:
            name = reads.get(Person, judge.id).name
        except NotFoundError:
            name = "Somebody"
        return name if judge.kind == "person" else f"{name} (adjudication)"
    return judge.id if judge.kind == "model" else f"{judge.id} (entailment)"


def sample_result(
    reads: Reads, reference: Checklist, output: Checklist, judge: Judge
) -> SampleResult:
    """One output's items under a judge, and its score."""
    pairs = read_pairs(reads, reference.id, output.id)
    votes = _votes(reads, reference.id, output.id, judge)
    metric = Clear(judges=judge.pooling)
    items = []
    entries: list[dict[str, Any]] = []
    reasons: list[str] = []
    weights: list[float] = []
    for number, pair in enumerate(pairs, 1):
        verdicts = tuple(v for v in votes.get(pair.item.id, ()))
        entry = _entry(pair, verdicts)
        scored = None if pair.open else metric.score_item(entry, number)
        reason = pair.open or _unscored_reason(pair, verdicts, scored.reason if scored else "")
        if reason or scored is None:
            reasons.append(reason)
            items.append(_result(pair, verdicts, None, None, reason))
            continue
        entries.append(entry)
        weights.append(pair.item.weight)
        items.append(_result(pair, verdicts, scored.recall, scored.precision, ""))
    return SampleResult(
        target=Target(output.rubric_id, output.example_id, output.output_id),
        reference_id=reference.id,
        checklist_id=output.id,
        judge=judge,
        items=tuple(items),
        score=_score(metric, entries, reasons, items, weights),
        entry={"items": entries, "task": output.rubric_id},
    )


def samples_of(
    reads: Reads, rubric_id: str, judge: Judge, *, run_id: str = "", mapper: str = ""
) -> list[SampleResult]:
    """Every output that was mapped under a rubric, by the judge; outputs without text come last, empty.

    For each output the checklist the judge spoke about is taken, else the first of `checklists_of`.

    Parameters
    ----------
    mapper
        Take only outputs' checklists of this mapper.
    """
    where = "c.rubric_id = ? AND c.output_id != '' AND c.deleted = 0"
    parameters: list[Any] = [rubric_id]
    if run_id:
        where += " AND o.run_id = ?"
        parameters.append(run_id)
    rows = reads.query(
        "SELECT DISTINCT c.example_id, c.output_id FROM checklist c"
        f" JOIN output o ON o.id = c.output_id AND o.deleted = 0 WHERE {where}"
        " ORDER BY c.example_id, c.output_id",
        parameters,
    )
    found = []
    for row in rows:
        pair = choose_checklists(
            reads, Target(rubric_id, row["example_id"], row["output_id"]), judge, mapper=mapper
        )
        if pair is not None:
            found.append(sample_result(reads, *pair, judge))
    return found


def choose_checklists(
    reads: Reads, target: Target, judge: Judge, *, mapper: str = ""
) -> tuple[Checklist, Checklist] | None:
    """The reference's and the output's checklist a judge's numbers rest on; None where one is missing."""
    references = checklists_of(reads, Target(target.rubric_id, target.example_id))
    outputs = [
        checklist
        for checklist in checklists_of(reads, target)
        if not mapper or checklist.mapper == mapper
    ]
    if not references or not outputs:
        return None
    for output in outputs:
        for reference in references:
            judged = judgements_of(reads, reference.id, output.id)
            if any(_is_by(judgement, judge) for judgement in judged):
                return reference, output
    return references[0], outputs[0]


def task_score(samples: Sequence[SampleResult], judge: Judge, missing: int = 0) -> MetricScore:
    """The mean over samples with bootstrap errors; ``missing`` outputs count 0, as CLEAR has it."""
    metric = Clear(judges=judge.pooling)
    items: list[Mapping[str, Any]] = [s.entry for s in samples if s.entry["items"]]
    if not items and not missing:
        return metric.unscored("No sample has been judged.")
    gone = {"items": [{"reference": "x", "output": ""}], "missing_output": True}
    task = items[0]["task"] if items else ""
    score = metric.aggregate([*items, *[{**gone, "task": task}] * missing])
    unscored = sum(len(s.items) - len(s.entry["items"]) for s in samples)
    return MetricScore(
        value=score.value,
        components={**score.components, "unscored_items": unscored},
        unscored=score.unscored,
        signature=f"{score.signature}|judge:{judge.key}",
        notes=score.notes,
    )


def item_means(samples: Sequence[SampleResult]) -> dict[str, tuple[RubricItem, Interval, Interval]]:
    """(item, recall, precision) with intervals over samples, by item id; N/A-N/A samples left out."""
    recalls: dict[str, list[float]] = defaultdict(list)
    precisions: dict[str, list[float]] = defaultdict(list)
    items: dict[str, RubricItem] = {}
    for sample in samples:
        for result in sample.items:
            items.setdefault(result.item.id, result.item)
            if result.recall is None or result.precision is None:
                continue
            if result.status in ("absent", "not_applicable"):
                continue
            recalls[result.item.id].append(result.recall)
            precisions[result.item.id].append(result.precision)
    return {
        item_id: (
            item,
            bootstrap_interval(recalls[item_id]),
            bootstrap_interval(precisions[item_id]),
        )
        for item_id, item in items.items()
    }


def count_close(samples: Sequence[SampleResult]) -> int:
    """Verdicts whose Yes and No are within 0.01: rounding could turn them round."""
    return sum(
        abs(2 * probability - 1) < CLOSE
        for sample in samples
        for result in sample.items
        for verdict in result.verdicts
        for probability in (verdict.recall_probability, verdict.precision_probability)
        if probability is not None
    )


def find_disagreements(
    reads: Reads, reference_id: str, output_checklist_id: str
) -> list[tuple[ItemPair, list[tuple[Judge, Verdict]]]]:
    """Items on which judges differ and nobody has decided, with what each said."""
    judged = judgements_of(reads, reference_id, output_checklist_id)
    said: dict[str, list[tuple[Judge, Verdict]]] = defaultdict(list)
    settled: set[str] = set()
    for judgement in judged:
        for item_id, verdict in verdicts_of(reads, judgement.id).items():
            if verdict.unscored:
                continue
            if judgement.judge_kind == "adjudication":
                settled.add(item_id)
            else:
                said[item_id].append((Judge(judgement.judge_kind, judgement.judge), verdict))
    found = []
    for pair in read_pairs(reads, reference_id, output_checklist_id):
        voices = said.get(pair.item.id, [])
        ways = {(verdict.recall, verdict.precision) for _, verdict in voices}
        if pair.asked and len(ways) > 1 and pair.item.id not in settled:
            found.append((pair, voices))
    return found


def open_disagreements(reads: Reads, rubric_id: str) -> list[tuple[str, str, str, str]]:
    """The queue: (example id, output id, reference checklist id, output checklist id) still disputed."""
    rows = reads.query(
        "SELECT c.example_id, c.output_id, j.reference_id, j.output_checklist_id"
        " FROM judgement j JOIN checklist c ON c.id = j.output_checklist_id"
        " WHERE c.rubric_id = ? AND j.deleted = 0 AND c.deleted = 0"
        " GROUP BY j.reference_id, j.output_checklist_id HAVING count(*) > 1"
        " ORDER BY c.example_id, c.output_id",
        (rubric_id,),
    )
    return [
        (row["example_id"], row["output_id"], row["reference_id"], row["output_checklist_id"])
        for row in rows
        if find_disagreements(reads, row["reference_id"], row["output_checklist_id"])
    ]


def keep_score(tx: Transaction, sample: SampleResult) -> Score:
    """Write a sample's score among the other metrics' as 'clear'; earlier ones stay."""
    rubric = tx.get(Rubric, sample.target.rubric_id)
    versions = rubric_versions(tx, rubric.id)
    number = versions[0].number if versions else 0
    checklist = tx.get(Checklist, sample.checklist_id)
    signature = (
        f"{sample.score.signature}|rubric:{rubric.id}:v{number}"
        f"|mapper:{checklist.mapper_kind}:{checklist.mapper}|judge:{sample.judge.key}"
    )
    return tx.insert(
        Score(
            id=new_id(),
            output_id=tx.get(Output, sample.target.output_id).id,
            metric="clear",
            value=sample.score.value,
            components={**sample.score.components, "rubric": rubric.title},
            unscored=sample.score.unscored or "",
            signature=signature,
            scored=now(),
        )
    )


def _votes(
    reads: Reads, reference_id: str, output_id: str, judge: Judge
) -> dict[str, list[Verdict]]:
    """Verdicts by item: the judge's, or all models' for a pool; what was adjudicated holds for a pool."""
    votes: dict[str, list[Verdict]] = defaultdict(list)
    settled: dict[str, Verdict] = {}
    for judgement in judgements_of(reads, reference_id, output_id):
        if judge.kind == "pool" and judgement.judge_kind == "adjudication":
            settled |= verdicts_of(reads, judgement.id)
        elif _is_by(judgement, judge):
            for item_id, verdict in verdicts_of(reads, judgement.id).items():
                votes[item_id].append(verdict)
    for item_id, verdict in settled.items():
        votes[item_id] = [verdict]
    return votes


def _is_by(judgement: Judgement, judge: Judge) -> bool:
    if judge.kind == "pool":
        return judgement.judge_kind in MACHINES
    return judgement.judge_kind == judge.kind and judgement.judge == judge.id


def _entry(pair: ItemPair, verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """The item as `Clear` takes it."""
    return {
        "applies": bool(pair.applies),
        "reference": pair.reference,
        "output": pair.output,
        "reference_in_output": [verdict.recall for verdict in verdicts],
        "output_in_reference": [verdict.precision for verdict in verdicts],
    }


def _unscored_reason(pair: ItemPair, verdicts: Sequence[Verdict], reason: str) -> str:
    if not reason:
        return ""
    failed = next((verdict.unscored for verdict in verdicts if verdict.unscored), "")
    return f"The judge failed: {failed}" if failed else "It has not been judged."


def _result(
    pair: ItemPair,
    verdicts: tuple[Verdict, ...],
    recall: float | None,
    precision: float | None,
    reason: str,
) -> ItemResult:
    said = next((verdict.reason for verdict in verdicts if verdict.reason), "")
    return ItemResult(
        pair=pair,
        status=_status(pair, verdicts, recall, precision),
        recall=recall,
        precision=precision,
        verdicts=verdicts,
        reason=reason or said,
    )


def _status(
    pair: ItemPair,
    verdicts: Sequence[Verdict],
    recall: float | None,
    precision: float | None,
) -> Status:
    if pair.applies is False:
        return "not_applicable"
    if recall is None or precision is None:
        return "unscored"
    if not pair.reference and not pair.output:
        return "absent"
    if not pair.output:
        return "missing"
    if not pair.reference:
        return "added"
    has, only = recall > 0.5, precision > 0.5
    if has and only:
        return "right"
    if 2 * sum(verdict.contradicted for verdict in verdicts) >= len(verdicts) > 0:
        return "contradicted"
    if has:
        return "excess"
    return "incomplete" if only else "wrong"


def _score(
    metric: Clear,
    entries: Sequence[Mapping[str, Any]],
    reasons: Sequence[str],
    items: Sequence[ItemResult],
    weights: Sequence[float],
) -> MetricScore:
    unscored: dict[str, Any] = {"unscored_items": len(reasons)}
    if reasons:
        unscored["reasons"] = {reason: reasons.count(reason) for reason in dict.fromkeys(reasons)}
    if not entries:
        first = reasons[0] if reasons else "The rubric has no items."
        return metric.unscored(first, **unscored)
    score = metric.score_one({"items": entries})
    components = {**score.components, **unscored}
    if len(set(weights)) > 1 and sum(weights) > 0:
        components["weighted"] = _weighted(items, weights)
    notes = score.notes
    if reasons:
        notes = (*notes, f"{len(reasons)} of {len(items)} items are unscored and left out.")
    return MetricScore(
        value=score.value,
        components=components,
        unscored=score.unscored,
        signature=score.signature,
        notes=notes,
    )


def _weighted(items: Sequence[ItemResult], weights: Sequence[float]) -> dict[str, float]:
    """The same means with the rubric's weights, which CLEAR itself does not have."""
    scored = [item for item in items if item.recall is not None and item.precision is not None]
    total = sum(weights)
    recall = sum((r.recall or 0) * w for r, w in zip(scored, weights, strict=True)) / total
    precision = sum((r.precision or 0) * w for r, w in zip(scored, weights, strict=True)) / total
    both = recall + precision
    return {
        "precision": precision,
        "recall": recall,
        "f1": 2 * precision * recall / both if both > 0 else 0.0,
    }
