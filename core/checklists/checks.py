"""Checks of a checklist against its text: is each entry in the text, and is anything of the text left out?

Faithfulness: an entry is supported when it stands in the text word for word, or an entailment model
finds each of its sentences there; numbers, doses, dates and negations are compared exactly besides.
Coverage: sentences of the text that no entry rests on, and items marked N/A on which a model sees
something in the text (all asked at once from one evaluation of the text).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from core.checklists.asking import choose_each
from core.checklists.spans import find_spans
from core.checklists.verbs import (
    checklist_items,
    entries_of,
    set_entry,
    spans_of,
    target_of,
    text_of,
)
from core.errors import ModelError
from core.nli.exact import check_exactly
from core.nli.support import find_sentences, find_support
from core.ports import (
    Cancellation,
    Choice,
    EntailmentModel,
    Progress,
    ProgressCallback,
    TextGenerator,
    no_progress,
)
from core.runs.prompts import render_prompt
from core.runs.verbs import task_and_field
from core.storage.reads import Reads
from core.storage.transaction import Transaction
from core.storage.workspace import Workspace
from core.types import Example, RubricItem
from core.types.rubrics import Checklist, ChecklistEntry

Support = Literal["verbatim", "supported", "not found"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryCheck:
    """Whether an entry is in its text; ``differences`` says what it has otherwise than the text."""

    item: RubricItem
    support: Support
    probability: float | None
    differences: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageCheck:
    """What may be missing. ``sentences`` are (start, end) that no entry rests on."""

    sentences: tuple[tuple[int, int], ...]
    share_used: float | None
    suspected: tuple[tuple[RubricItem, float], ...]
    failed: int = 0


def check_faithfulness(
    reads: Reads,
    checklist_id: str,
    model: EntailmentModel | None = None,
    *,
    cancel: Cancellation | None = None,
) -> list[EntryCheck]:
    """Each filled entry against the text. Without a model what is not verbatim counts as not found."""
    checklist = reads.get(Checklist, checklist_id)
    text = text_of(reads, target_of(checklist))
    entries = entries_of(reads, checklist_id)
    found = []
    for item in checklist_items(reads, checklist):
        entry = entries.get(item.id)
        if entry is None or entry.state != "filled":
            continue
        if cancel is not None:
            cancel.raise_if_cancelled()
        found.append(_check_entry(item, entry, text, model, cancel))
    return found


def check_coverage(
    reads: Reads,
    checklist_id: str,
    generator: TextGenerator | None = None,
    *,
    progress: ProgressCallback = no_progress,
    cancel: Cancellation | None = None,
) -> CoverageCheck:
    """Sentences no entry rests on; with a model also N/A items on which it says Yes, likelier than not."""
    checklist = reads.get(Checklist, checklist_id)
    text = text_of(reads, target_of(checklist))
    entries = entries_of(reads, checklist_id)
    used = [span for entry in entries.values() for span in spans_of(entry)]
    sentences = find_sentences(text)
    unused = [
        (start, end)
        for start, end in sentences
        if not any(a < end and start < b for a, b in used) and _says_something(text[start:end])
    ]
    said = sum(_says_something(text[start:end]) for start, end in sentences)
    items = [
        item
        for item in checklist_items(reads, checklist)
        if item.id in entries and entries[item.id].state == "na"
    ]
    answers: list[Choice | ModelError] = []
    if generator is not None and items:
        task, field = task_and_field(reads, reads.get(Example, checklist.example_id))
        values = {"field": field, "objective": task.objective, "text": text}
        questions = [render_prompt("clear_present", {**values, "item": item}) for item in items]
        progress(Progress(0, len(items)))
        answers = choose_each(generator, questions, [("Yes", "No")] * len(questions), cancel=cancel)
        progress(Progress(len(items), len(items)))
    suspected = [
        (item, answer.probabilities[0])
        for item, answer in zip(items, answers, strict=False)
        if isinstance(answer, Choice) and answer.probabilities[0] >= 0.5
    ]
    return CoverageCheck(
        sentences=tuple(unused),
        share_used=(said - len(unused)) / said if said else None,
        suspected=tuple(sorted(suspected, key=lambda pair: -pair[1])),
        failed=sum(isinstance(answer, ModelError) for answer in answers),
    )


def keep_checks(tx: Transaction, checklist_id: str, checks: Sequence[EntryCheck]) -> None:
    """Write what was found beside the entries."""
    entries = entries_of(tx, checklist_id)
    for check in checks:
        entry = entries.get(check.item.id)
        if entry is not None:
            note: dict[str, Any] = {**entry.check, "support": check.support}
            note["differences"] = list(check.differences)
            if check.probability is not None:
                note["support_probability"] = round(check.probability, 4)
            set_entry(tx, checklist_id, check.item.id, check=note)


def check_and_keep(
    workspace: Workspace,
    checklist_id: str,
    model: EntailmentModel | None = None,
    *,
    person: str = "",
    cancel: Cancellation | None = None,
) -> list[EntryCheck]:
    """`check_faithfulness`, with the findings kept beside the entries."""
    found = check_faithfulness(workspace, checklist_id, model, cancel=cancel)
    workspace.transact_job("Check checklist", person, keep_checks, checklist_id, found)
    return found


def _check_entry(
    item: RubricItem,
    entry: ChecklistEntry,
    text: str,
    model: EntailmentModel | None,
    cancel: Cancellation | None,
) -> EntryCheck:
    spans = find_spans(text, entry.text)
    if spans and all(span.likeness == 1.0 for span in spans):
        return EntryCheck(item=item, support="verbatim", probability=None, differences=())
    chosen = item.kind in ("yes_no", "one_of")
    if chosen:
        # 'Yes' stands in no text; where it came from is for the reader to see.
        support: Support = "supported" if spans_of(entry) else "not found"
        return EntryCheck(item=item, support=support, probability=None, differences=())
    near = " ".join(text[a:b] for a, b in spans_of(entry)) or text
    differences = tuple(str(found) for found in check_exactly(entry.text, near))
    if model is None:
        return EntryCheck(item=item, support="not found", probability=None, differences=differences)
    claims = find_support(entry.text, text, model, cancel=cancel)
    probability = min((claim.support for claim in claims), default=0.0)
    return EntryCheck(
        item=item,
        support="supported" if probability >= 0.5 else "not found",
        probability=probability,
        differences=differences,
    )


def _says_something(sentence: str) -> bool:
    """Not a heading, a label or a stray mark."""
    words = sentence.split()
    return len(words) > 3 and not sentence.lstrip().startswith("#") and sentence != sentence.upper()
