"""Results by tag, by skill, and by length; a pair of runs with and without the rubric.

Source: Ruan et al., 'ExpertLongBench' (2025), analyses.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from core.checklists.scores import SampleResult
from core.checklists.skills import LEVELS, SKILLS, skills_of
from core.errors import UsageError
from core.rubrics.prompting import RUBRIC_PROMPT, rubric_for_prompt
from core.rubrics.verbs import tags_of
from core.rubrics.versions import rubric_versions
from core.runs.prompts import WHOLE_PROMPT
from core.runs.verbs import add_run, add_system, select_examples
from core.storage.reads import Reads
from core.storage.transaction import Transaction
from core.tasks.sections import join_sections
from core.types import Example, Output, Rubric, Run, System

#: Normalised interquartile range from which lengths differ enough to be binned.
LEAST_SPREAD = 0.2
_BINS = ("short", "medium", "long")

#: What items are put together by.
TagKind = Literal["group", "tag", "skill", "knowledge", "reasoning"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TagRow:
    """Items under a name of a kind: mean precision and recall over their verdicts give F1."""

    kind: TagKind
    name: str
    f1: float | None
    precision: float | None
    recall: float | None
    items: int
    verdicts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthRow:
    """A third of the outputs by length, in words from ``low`` to ``high``."""

    name: str
    low: int
    high: int
    f1: float | None
    outputs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthBins:
    """Three balanced bins of one side's lengths, or the reason why there are none."""

    side: str
    spread: float | None
    rows: tuple[LengthRow, ...]
    reason: str = ""


def results_by_tag(samples: Sequence[SampleResult]) -> list[TagRow]:
    """A row for each tag and each group of items."""
    names: dict[str, list[tuple[TagKind, str]]] = {}
    for sample in samples:
        for result in sample.items:
            item = result.item
            found: list[tuple[TagKind, str]] = [("tag", tag) for tag in tags_of(item)]
            names[item.id] = [*found, ("group", item.group)] if item.group else found
    return _rows(samples, names)


def results_by_skill(reads: Reads, rubric_id: str, samples: Sequence[SampleResult]) -> list[TagRow]:
    """A row for each skill that items were tagged with, and for levels of knowledge and reasoning."""
    names: dict[str, list[tuple[TagKind, str]]] = {}
    for item_id, tagged in skills_of(reads, rubric_id).items():
        found: list[tuple[TagKind, str]] = [
            ("skill", SKILLS[key])
            for key, level in tagged.skills.items()
            if key in SKILLS and level > 1
        ]
        if tagged.knowledge:
            found.append(("knowledge", LEVELS[tagged.knowledge - 1]))
        if tagged.reasoning:
            found.append(("reasoning", LEVELS[tagged.reasoning - 1]))
        names[item_id] = found
    return _rows(samples, names)


def length_bins(reads: Reads, samples: Sequence[SampleResult]) -> list[LengthBins]:
    """F1 in three balanced bins of the inputs' and of the outputs' lengths."""
    inputs, outputs = [], []
    for sample in samples:
        if sample.score.value is None:
            continue
        example = reads.get(Example, sample.target.example_id)
        inputs.append((_count(join_sections(example.input)), sample.score.value))
        output = reads.get(Output, sample.target.output_id)
        outputs.append((_count(output.text), sample.score.value))
    return [bin_lengths("input", inputs), bin_lengths("output", outputs)]


def bin_lengths(side: str, pairs: Sequence[tuple[int, float]]) -> LengthBins:
    """Three bins of as many texts each, where lengths spread enough; (words, F1) pairs."""
    import numpy as np

    if len(pairs) < 3:
        return LengthBins(
            side=side, spread=None, rows=(), reason=f"Too few outputs to bin by {side} length."
        )
    ordered = sorted(pairs)
    lengths = np.array([length for length, _ in ordered], dtype=np.float64)
    low, middle, high = np.quantile(lengths, [0.25, 0.5, 0.75])
    spread = float((high - low) / middle) if middle else 0.0
    if spread <= LEAST_SPREAD:
        words = (
            f"The {side}s are of like length (interquartile range over median {spread:.2f}, "
            f"{LEAST_SPREAD} is the least to bin by)."
        )
        return LengthBins(side=side, spread=spread, rows=(), reason=words)
    rows = []
    for name, part in zip(_BINS, np.array_split(np.arange(len(ordered)), 3), strict=True):
        chosen = [ordered[int(place)] for place in part]
        rows.append(
            LengthRow(
                name=name,
                low=chosen[0][0],
                high=chosen[-1][0],
                f1=sum(f1 for _, f1 in chosen) / len(chosen),
                outputs=len(chosen),
            )
        )
    return LengthBins(side=side, spread=spread, rows=tuple(rows))


def start_rubric_pair(tx: Transaction, system_id: str, rubric_id: str) -> tuple[Run, Run]:
    """Two runs on all examples of the rubric's task, alike but that the second is shown the rubric.

    Both are written down and pending; whoever calls starts them. The second belongs to a system of its
    own, 'NAME, rubric in the prompt', so that results show the two beside each other.

    Raises
    ------
    UsageError
        When the system holds imported outputs or writes section by section, or there are no examples.
    """
    base, rubric = tx.get(System, system_id), tx.get(Rubric, rubric_id)
    if base.kind == "model" and base.prompt != WHOLE_PROMPT:
        raise UsageError(
            f"The system '{base.name}' has the prompt '{base.prompt}', which has no twin with a rubric.",
            remedy=f"Choose a system with the prompt '{WHOLE_PROMPT}'.",
        )
    versions = rubric_versions(tx, rubric_id)
    shown = rubric_for_prompt(tx, rubric.task_id)
    if not shown or shown[0].rubric_id != rubric_id:
        raise UsageError(
            f"'{rubric.title}' is not the rubric that this task's prompts show.",
            remedy="Lock it: of several rubrics the locked one is shown.",
        )
    signature = {
        "experiment": "rubric in the prompt",
        "rubric": rubric_id,
        "rubric_version": versions[0].number if versions else 0,
    }
    examples = select_examples(tx, f"task={rubric.task_id}")
    plain = add_run(tx, base.id, examples, signature=signature)
    name = f"{base.name}, rubric in the prompt"
    found = tx.find(System, "name = ? COLLATE NOCASE", (name,), limit=1)
    twin = (
        found[0]
        if found
        else add_system(
            tx,
            name,
            model_id=base.model_id,
            model_sha256=base.model_sha256,
            params=dict(base.params),
            prompt=RUBRIC_PROMPT,
        )
    )
    return plain, add_run(tx, twin.id, examples, signature=signature)


def _rows(
    samples: Sequence[SampleResult], names: Mapping[str, Sequence[tuple[TagKind, str]]]
) -> list[TagRow]:
    pairs: dict[tuple[TagKind, str], list[tuple[float, float]]] = defaultdict(list)
    items: dict[tuple[TagKind, str], set[str]] = defaultdict(set)
    for sample in samples:
        for result in sample.items:
            if result.recall is None or result.precision is None:
                continue
            if result.status in ("absent", "not_applicable"):
                continue
            for name in names.get(result.item.id, ()):
                pairs[name].append((result.recall, result.precision))
                items[name].add(result.item.id)
    rows = []
    for name in sorted(pairs):
        found = pairs[name]
        recall = sum(r for r, _ in found) / len(found)
        precision = sum(p for _, p in found) / len(found)
        both = recall + precision
        rows.append(
            TagRow(
                kind=name[0],
                name=name[1],
                f1=2 * recall * precision / both if both > 0 else 0.0,
                precision=precision,
                recall=recall,
                items=len(items[name]),
                verdicts=len(found),
            )
        )
    return rows


def _count(text: str) -> int:
    return len(text.split())
