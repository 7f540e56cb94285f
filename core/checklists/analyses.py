"""Results by tag, by skill, and by length; mappers compared; a pair of runs with and without the rubric.

Sources: Ruan et al., 'ExpertLongBench' (2025), analyses; lists of skills and levels are put in our words.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from core.checklists.scores import SampleResult
from core.checklists.verbs import Target, checklist_items, entries_of
from core.errors import ModelError, UsageError
from core.ids import new_id
from core.metrics.clear import Clear
from core.ports import (
    Cancellation,
    GenerationRequest,
    Progress,
    ProgressCallback,
    TextGenerator,
    no_progress,
)
from core.rubrics.prompting import RUBRIC_PROMPT, rubric_for_prompt
from core.rubrics.verbs import rubric_items, tags_of
from core.rubrics.versions import rubric_versions
from core.runs.prompts import WHOLE_PROMPT, render_prompt
from core.runs.verbs import add_run, add_system, select_examples
from core.storage.reads import Reads
from core.storage.transaction import Transaction
from core.storage.workspace import Workspace
from core.tasks.sections import join_sections
from core.types import Example, Output, Rubric, Run, System
from core.types.rubrics import Checklist, ItemSkills

#: The eight skills an item may ask for, key and words.
SKILLS: Mapping[str, str] = {
    "finding": "Finding what is said",
    "selecting": "Telling what matters from what does not",
    "combining": "Putting together what stands apart",
    "ordering": "Putting events in order",
    "reckoning": "Reckoning with numbers and units",
    "inferring": "Concluding what is not said",
    "judging": "Judging by professional standards",
    "explaining": "Explaining to a reader",
}
#: How much of a skill, of knowledge and of reasoning an item asks for.
LEVELS = ("a little", "some", "much", "all of it")
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


def skills_of(reads: Reads, rubric_id: str) -> dict[str, ItemSkills]:
    """The latest tagging of each item, a person's before a model's."""
    rows = reads.find(
        ItemSkills,
        "item_id IN (SELECT id FROM rubric_item WHERE rubric_id = ? AND deleted = 0)",
        (rubric_id,),
    )
    people = {row["id"] for row in reads.query("SELECT id FROM person WHERE deleted = 0")}
    found: dict[str, ItemSkills] = {}
    for tagged in rows:
        known = found.get(tagged.item_id)
        if known is None or tagged.source in people or known.source not in people:
            found[tagged.item_id] = tagged
    return found


def set_skills(
    tx: Transaction,
    item_id: str,
    skills: Mapping[str, int],
    *,
    knowledge: int = 0,
    reasoning: int = 0,
    source: str | None = None,
) -> ItemSkills:
    """Say which skills an item asks for, each from 1 to 4; levels of 0 are left out.

    Raises
    ------
    UsageError
        For an unknown skill or a level out of range.
    """
    for key, level in {**skills, "knowledge": knowledge, "reasoning": reasoning}.items():
        if key not in SKILLS and key not in ("knowledge", "reasoning"):
            raise UsageError(f"'{key}' is no skill.", remedy=f"Use one of {', '.join(SKILLS)}.")
        if not 0 <= level <= len(LEVELS):
            raise UsageError(f"The level {level} is out of range.", remedy="Use 1 to 4.")
    name = tx.person if source is None else source
    fields: dict[str, Any] = {
        "skills": {key: level for key, level in skills.items() if level},
        "knowledge": knowledge,
        "reasoning": reasoning,
    }
    found = tx.find(ItemSkills, "item_id = ? AND source = ?", (item_id, name), limit=1)
    if found:
        return tx.update(ItemSkills, found[0].id, **fields)
    return tx.insert(ItemSkills(id=new_id(), item_id=item_id, source=name, **fields))


def tag_with_model(
    workspace: Workspace,
    rubric_id: str,
    generator: TextGenerator,
    *,
    person: str = "",
    progress: ProgressCallback = no_progress,
    cancel: Cancellation | None = None,
) -> int:
    """Let a model tag every item nobody has tagged; returns how many it could not.

    An item whose answer has no level in it stays untagged.
    """
    known = skills_of(workspace, rubric_id)
    items = [item for item in rubric_items(workspace, rubric_id) if item.id not in known]
    failed = 0
    for done, item in enumerate(items):
        progress(Progress(done, len(items), failed))
        if cancel is not None:
            cancel.raise_if_cancelled()
        messages = render_prompt("rubric_skills", {"item": item, "skills": SKILLS})
        request = GenerationRequest(
            messages=messages, max_tokens=160, temperature=0.0, grammar=_skills_grammar()
        )
        try:
            answer = generator.generate(request, cancel=cancel)
        except ModelError:
            failed += 1
            continue
        skills, knowledge, reasoning = read_skills(answer.text)
        if not skills and not knowledge and not reasoning:
            failed += 1
            continue
        workspace.transact_job(
            "Tag skills",
            person,
            set_skills,
            item.id,
            skills,
            knowledge=knowledge,
            reasoning=reasoning,
            source=generator.info.id,
        )
    progress(Progress(len(items), len(items), failed))
    return failed


def _skills_grammar() -> str:
    keys = [*SKILLS, "knowledge", "reasoning"]
    members = ' "," ws '.join(f'"\\"{key}\\":" ws level' for key in keys)
    return f'root ::= "{{" {members} "}}"\nlevel ::= [0-4]\nws ::= [ ]?\n'


def read_skills(answer: str) -> tuple[dict[str, int], int, int]:
    """(skills, knowledge, reasoning) out of a model's JSON; what is no level is left out."""
    block = re.search(r"\{.*\}", answer, re.DOTALL)
    try:
        values = json.loads(block[0]) if block else {}
    except ValueError:
        values = {}
    levels: dict[str, int] = {}
    for key, value in values.items() if isinstance(values, Mapping) else ():
        if isinstance(value, int | float) and 1 <= int(value) <= len(LEVELS):
            levels[str(key).casefold()] = int(value)
    skills = {key: level for key, level in levels.items() if key in SKILLS}
    return skills, levels.get("knowledge", 0), levels.get("reasoning", 0)


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


def _count(text: str) -> int:
    return len(text.split())
