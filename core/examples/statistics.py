"""What examples are like, and what editing did to their drafts; contamination; splits; export.

After DOLOMITES, section 'Dataset statistics': sections present before and after post-editing, lengths,
reading grade, word-level edit distance, types of edits, likeness of outputs to their evidence.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.documents.readers import find_documents, read_document
from core.editing.edit_types import suggest_edit_type
from core.editing.tracked import Change, Tracked, apply_patch, edit, list_changes
from core.errors import InputError, UsageError
from core.examples.post_edit import PostEditState, load_post_edit
from core.metrics.edits import EditDistance
from core.metrics.overlap import Contamination, NgramCosine
from core.metrics.readability import FleschKincaid
from core.metrics.structure import SectionPresence
from core.ports import Cancellation, Progress, ProgressCallback, no_progress
from core.settings import write_atomically
from core.storage.reads import Reads
from core.storage.transaction import Transaction
from core.tasks.sections import join_sections
from core.types import Example, Field, SectionText, Task
from core.types.documents import DraftRating, PostEdit

#: Splits an example can be in: of tasks seen in development, and of tasks that are not.
DEV, TEST_SEEN, TEST_UNSEEN = "dev", "test_seen", "test_unseen"


@dataclass(slots=True)
class Pair:
    """A mean before editing and after; None where nothing was measured."""

    before: float | None = None
    after: float | None = None


@dataclass(slots=True)
class ExampleStatistics:
    """Means over examples. ``distances`` are words inserted, deleted or replaced, an example each."""

    examples: int = 0
    edited: int = 0
    tasks: int = 0
    fields: int = 0
    input_words: float | None = None
    sections: Pair = field(default_factory=Pair)
    words: Pair = field(default_factory=Pair)
    grade: Pair = field(default_factory=Pair)
    likeness: Pair = field(default_factory=Pair)
    distances: list[int] = field(default_factory=list)
    shares: list[float] = field(default_factory=list)
    edit_types: dict[str, int] = field(default_factory=dict)
    confirmed_types: int = 0
    ratings: dict[str, float] = field(default_factory=dict)
    minutes: float | None = None
    splits: dict[str, int] = field(default_factory=dict)
    signatures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Measured:
    before: dict[str, float | None]
    after: dict[str, float | None]


def study_examples(
    reads: Reads,
    *,
    field_id: str = "",
    progress: ProgressCallback = no_progress,
    cancel: Cancellation | None = None,
) -> ExampleStatistics:
    """Measure every example, of one field or of all."""
    where, parameters = "1", []
    if field_id:
        where = "task_id IN (SELECT id FROM task WHERE field_id = ?)"
        parameters = [field_id]
    examples = reads.find(Example, where, parameters)
    tasks = {task.id: task for task in reads.find(Task)}
    metrics = (SectionPresence(), FleschKincaid(), NgramCosine(), EditDistance())
    found = ExampleStatistics(
        examples=len(examples),
        tasks=len({example.task_id for example in examples}),
        fields=len({tasks[e.task_id].field_id for e in examples if e.task_id in tasks}),
        splits=dict(Counter(example.split or "none" for example in examples)),
        signatures=tuple(metric.signature for metric in metrics),
    )
    measured: list[_Measured] = []
    inputs: list[float] = []
    times: list[float] = []
    ratings: dict[str, list[int]] = {}
    for place, example in enumerate(examples):
        if cancel is not None:
            cancel.raise_if_cancelled()
        progress(Progress(place, len(examples)))
        inputs.append(sum(len(section.text.split()) for section in example.input))
        state = _state_of(reads, example)
        measured.append(_measure(example, tasks[example.task_id], state, metrics))
        if state is None:
            continue
        found.edited += 1
        times.append(state.post_edit.seconds / 60)
        _count_edits(found, example, state, metrics[3])
        for rating in reads.find(DraftRating, "draft_id = ?", (state.draft.id,)):
            ratings.setdefault(rating.axis, []).append(rating.value)
    progress(Progress(len(examples), len(examples)))
    for name in ("sections", "words", "grade", "likeness"):
        pair = Pair(
            _mean([m.before[name] for m in measured]), _mean([m.after[name] for m in measured])
        )
        setattr(found, name, pair)
    found.input_words = _mean(inputs)
    found.minutes = _mean(times)
    found.ratings = {axis: sum(values) / len(values) for axis, values in ratings.items()}
    return found


def _state_of(reads: Reads, example: Example) -> PostEditState | None:
    identifier = str(example.meta.get("post_edit", ""))
    if not identifier or not reads.find(PostEdit, "id = ?", (identifier,)):
        return None
    return load_post_edit(reads, identifier)


def _measure(
    example: Example, task: Task, state: PostEditState | None, metrics: Sequence[Any]
) -> _Measured:
    presence, grade, likeness, _distance = metrics
    titles = [section.title for section in task.output_sections]
    evidence = "\n".join(item.text for item in state.request.evidence) if state else ""

    def measure(sections: Sequence[SectionText], text: str) -> dict[str, float | None]:
        body = "\n\n".join(section.text for section in sections)
        return {
            "sections": presence.score_one({"output_sections": titles, "prediction": text}).value,
            "words": float(len(body.split())),
            "grade": grade.score_one({"prediction": body}).value if body.strip() else None,
            "likeness": likeness.score_one({"a": body, "b": evidence}).value if evidence else None,
        }

    nothing: dict[str, float | None] = dict.fromkeys(("sections", "words", "grade", "likeness"))
    before = nothing
    if state is not None:
        drafted = state.draft.sections[state.inputs :]
        before = measure(drafted, state.draft.text)
    written = [section for section in example.output if section.text.strip()]
    return _Measured(before, measure(example.output, join_sections(written)))


def _count_edits(
    found: ExampleStatistics, example: Example, state: PostEditState, distance: EditDistance
) -> None:
    drafted = "\n\n".join(s.text for s in state.draft.sections[state.inputs :])
    written = "\n\n".join(section.text for section in example.output)
    score = distance.score_one({"source": drafted, "prediction": written})
    found.distances.append(int(score.components["distance"]))
    found.shares.append(float(score.value or 0.0))
    confirmed = {
        (section, change.before.strip(), change.after.strip()): state.notes[change.id].edit_type
        for section, change in state.changes
        if change.id in state.notes and state.notes[change.id].edit_type
    }
    # From draft to what stands: a change that was accepted is an edit as much as one still marked.
    made = [
        (section, change)
        for section, text in enumerate(state.texts)
        for change in _whole_changes(text, state.draft.sections[section].text)
    ]
    for section, change in made:
        kind: str = confirmed.get((section, change.before.strip(), change.after.strip()), "")
        found.confirmed_types += bool(kind)
        kind = kind or suggest_edit_type(change, state.draft.sections[section].text, made)
        found.edit_types[kind] = found.edit_types.get(kind, 0) + 1


def _whole_changes(text: Tracked, before: str) -> list[Change]:
    """The changes from a section as drafted to the section as it stands."""
    start = Tracked(before)
    return list_changes(apply_patch(start, edit(start, 0, len(before), text.current)))


def _mean(values: Sequence[float | None]) -> float | None:
    kept = [value for value in values if value is not None]
    return sum(kept) / len(kept) if kept else None


@dataclass(frozen=True, slots=True)
class ContaminationReport:
    """Share of each example's 8-grams in a corpus; ``skipped`` names files that could not be read."""

    shares: tuple[tuple[str, str, float | None], ...]
    files: int
    skipped: tuple[str, ...]
    signature: str

    @property
    def contaminated(self) -> int:
        """How many examples have 70 % or more of their 8-grams in the corpus."""
        return sum(share is not None and share >= 0.7 for _, _, share in self.shares)


def check_contamination(
    reads: Reads,
    folder: Path,
    *,
    progress: ProgressCallback = no_progress,
    cancel: Cancellation | None = None,
) -> ContaminationReport:
    """Compare every example's output with the texts in a folder.

    Raises
    ------
    UsageError
        When there is no file that can be read.
    """
    texts: list[str] = []
    skipped: list[str] = []
    files = find_documents([folder])
    for place, path in enumerate(files):
        if cancel is not None:
            cancel.raise_if_cancelled()
        progress(Progress(place, len(files)))
        try:
            texts.append(read_document(path).text)
        except InputError as error:
            skipped.append(" ".join(str(error).split()))
    if not texts:
        raise UsageError(
            f"There is no text in {folder}.", remedy="Choose a folder with PDF, DOCX or text files."
        )
    metric = Contamination()
    shares = []
    for example in reads.find(Example, order_by="title COLLATE NOCASE"):
        text = "\n".join(section.text for section in example.output)
        score = metric.score_one({"prediction": text, "corpus": texts})
        shares.append((example.id, example.title, score.value))
    progress(Progress(len(files), len(files)))
    return ContaminationReport(tuple(shares), len(texts), tuple(skipped), metric.signature)


def split_examples(
    tx: Transaction, *, dev_share: float = 0.5, unseen_share: float = 0.3, seed: int = 0
) -> dict[str, int]:
    """Divide examples into development and test, drawn from a seed; returns how many are in each.

    Of each field a share of the tasks is kept unseen: all of their examples are for testing. Of every
    other task a share of the examples is for development and the rest for testing.

    Raises
    ------
    UsageError
        When a share is not between 0 and 1.
    """
    for share in (dev_share, unseen_share):
        if not 0 <= share <= 1:
            raise UsageError(f"{share} is no share.", remedy="Give a number from 0 to 1.")
    draw = random.Random(seed)
    by_task: dict[str, list[Example]] = {}
    for example in tx.find(Example):
        by_task.setdefault(example.task_id, []).append(example)
    by_field: dict[str, list[str]] = {}
    for task in tx.find(Task):
        if task.id in by_task:
            by_field.setdefault(task.field_id, []).append(task.id)
    counts = {DEV: 0, TEST_SEEN: 0, TEST_UNSEEN: 0}
    for _field, ids in sorted(by_field.items()):
        draw.shuffle(ids)
        unseen = set(ids[: round(unseen_share * len(ids))])
        for task_id in sorted(ids):
            examples = by_task[task_id]
            draw.shuffle(examples)
            dev = round(dev_share * len(examples))
            for place, example in enumerate(examples):
                split = TEST_UNSEEN if task_id in unseen else DEV if place < dev else TEST_SEEN
                counts[split] += 1
                if example.split != split:
                    tx.update(Example, example.id, split=split)
    return counts


def export_studied(reads: Reads, path: Path, mapping: Mapping[str, str] | None = None) -> int:
    """Write examples as JSONL with their draft, evidence, edits and ratings; returns how many.

    Parameters
    ----------
    mapping
        Our names to those wanted in the file, as ``{"task": "task_id"}``. Import maps them back.
    """
    names = dict(mapping or {})
    known = {*_EXPORTED}
    unknown = sorted(set(names) - known)
    if unknown:
        raise UsageError(
            f"'{unknown[0]}' is no name of ours.", remedy=f"Use {', '.join(_EXPORTED)}."
        )
    if len(set(names.values()) | (known - set(names))) < len(known):
        raise UsageError("Two names became one.", remedy="Give each a name of its own.")
    lines = [
        json.dumps(
            {names.get(key, key): value for key, value in record.items()}, ensure_ascii=False
        )
        for record in _records(reads)
    ]
    write_atomically(path, "".join(f"{line}\n" for line in lines).encode())
    return len(lines)


_EXPORTED = (
    *("id", "task", "objective", "field", "title", "input", "output", "split", "meta"),
    *("draft", "evidence", "edits", "ratings"),
)


def _records(reads: Reads) -> Iterator[dict[str, Any]]:
    fields = {field.id: field.name for field in reads.find(Field)}
    tasks = {task.id: task for task in reads.find(Task)}
    for example in reads.find(Example):
        task = tasks[example.task_id]
        state = _state_of(reads, example)
        record: dict[str, Any] = {
            "id": example.id,
            "task": example.task_id,
            "objective": task.objective,
            "field": fields[task.field_id],
            "title": example.title,
            "input": _texts(example.input),
            "output": _texts(example.output),
            "split": example.split,
            "meta": dict(example.meta),
            "draft": [],
            "evidence": [],
            "edits": [],
            "ratings": {},
        }
        if state is not None:
            record["draft"] = _texts(state.draft.sections)
            record["evidence"] = [
                {
                    "document": e.document,
                    "page": e.page,
                    "start": e.start,
                    "end": e.end,
                    "sha256": e.sha256,
                    "text": e.text,
                }
                for e in state.request.evidence
            ]
            record["edits"] = [
                {
                    "section": state.titles[section],
                    "before": change.before,
                    "after": change.after,
                    "time": change.time,
                    "by_model": bool(change.source),
                    "type": state.notes[change.id].edit_type if change.id in state.notes else "",
                    "comment": state.notes[change.id].comment if change.id in state.notes else "",
                }
                for section, change in state.changes
            ]
            found = reads.find(DraftRating, "draft_id = ?", (state.draft.id,))
            record["ratings"] = {rating.axis: rating.value for rating in found}
        yield record


def _texts(sections: Sequence[SectionText]) -> list[dict[str, str]]:
    return [{"title": section.title, "text": section.text} for section in sections]
