"""Mappers beside an expert: which items they found, and how much of the expert's words."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from core.checklists.verbs import Target, checklist_items, entries_of
from core.metrics.clear import Clear
from core.storage.reads import Reads
from core.types.rubrics import Checklist


@dataclass(frozen=True, slots=True, kw_only=True)
class MapperScore:
    """A mapper's checklists beside an expert's of the same texts.

    ``presence_f1`` asks only on which items there is something; ``f1`` is CLEAR's with containment
    reckoned by shared words, so that it needs no judge.
    """

    mapper: str
    kind: str
    texts: int
    presence_f1: float | None
    f1: float | None
    precision: float | None
    recall: float | None
    unscored: int
    signature: str


def compare_mappers(reads: Reads, rubric_id: str, person_id: str) -> list[MapperScore]:
    """Each mapper beside an expert's finished checklists, best F1 first."""
    expert = _by_target(reads, rubric_id, "person", person_id)
    rows = reads.query(
        "SELECT DISTINCT mapper_kind AS kind, mapper FROM checklist WHERE rubric_id = ?"
        " AND deleted = 0 AND NOT (mapper_kind = 'person' AND mapper = ?)",
        (rubric_id, person_id),
    )
    scores = []
    for row in rows:
        own = _by_target(reads, rubric_id, row["kind"], row["mapper"])
        both = [target for target in expert if target in own]
        if both:
            pairs = [(expert[target], own[target]) for target in both]
            scores.append(_score_mapper(reads, row["mapper"], row["kind"], pairs))
    return sorted(scores, key=lambda score: -(score.f1 or 0.0))


def _by_target(reads: Reads, rubric_id: str, kind: str, mapper: str) -> dict[Target, Checklist]:
    found = reads.find(
        Checklist,
        "rubric_id = ? AND mapper_kind = ? AND mapper = ? AND state = 'done'",
        (rubric_id, kind, mapper),
    )
    return {Target(c.rubric_id, c.example_id, c.output_id): c for c in found}


def _score_mapper(
    reads: Reads, mapper: str, kind: str, pairs: Sequence[tuple[Checklist, Checklist]]
) -> MapperScore:
    metric = Clear()
    samples: list[dict[str, Any]] = []
    hits = said = wanted = unscored = 0
    for expert, other in pairs:
        left, right = entries_of(reads, expert.id), entries_of(reads, other.id)
        entries = []
        for item in checklist_items(reads, expert):
            a, b = left.get(item.id), right.get(item.id)
            if b is not None and b.state == "unscored":
                unscored += 1
                continue
            one = a.text if a is not None and a.state == "filled" else ""
            two = b.text if b is not None and b.state == "filled" else ""
            hits += bool(one and two)
            wanted += bool(one)
            said += bool(two)
            entries.append(
                {
                    "reference": one,
                    "output": two,
                    "reference_in_output": shared_words(one, two),
                    "output_in_reference": shared_words(two, one),
                }
            )
        if entries:
            samples.append({"items": entries})
    score = metric.aggregate(samples) if samples else metric.unscored("Nothing to compare.")
    return MapperScore(
        mapper=mapper,
        kind=kind,
        texts=len(pairs),
        presence_f1=2 * hits / (said + wanted) if said + wanted else None,
        f1=score.value,
        precision=score.components.get("precision"),
        recall=score.components.get("recall"),
        unscored=unscored,
        signature=f"{score.signature}|containment:shared words",
    )


def shared_words(part: str, whole: str) -> float:
    """The share of a text's words that stand in another, repetitions counted; 1 for no words.

    Examples
    --------
    >>> shared_words("ramipril 5 mg", "takes ramipril 5 mg daily")
    1.0
    """
    wanted = re.findall(r"\w+", part.casefold())
    if not wanted:
        return 1.0
    left: dict[str, int] = defaultdict(int)
    for word in re.findall(r"\w+", whole.casefold()):
        left[word] += 1
    hits = 0
    for word in wanted:
        if left[word]:
            left[word] -= 1
            hits += 1
    return hits / len(wanted)
