"""Items a model suggests: taken one by one by an expert, and compared with the expert's own.

A suggestion is in a table of its own. No checklist, judge or score ever sees one.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.errors import ConflictError, InputError
from core.ids import new_id
from core.ports import (
    Cancellation,
    Embedder,
    GenerationRequest,
    ProgressCallback,
    TextGenerator,
    no_progress,
)
from core.ports import Progress as _Progress
from core.rubrics.conditions import fold_title
from core.rubrics.drafts import parse_pasted
from core.rubrics.verbs import add_rubric_item, rubric_items
from core.runs.prompts import render_prompt
from core.storage.reads import Reads
from core.storage.transaction import Transaction
from core.storage.workspace import Workspace
from core.types import Example, Rubric, RubricItem, Task
from core.types.rubrics import RubricSuggestion, SuggestionFault

PROMPT = "rubric_suggest"
_MOST_TOKENS = 1_200
_REFERENCE_CHARACTERS = 3_000
_REFERENCES = 2
#: Cosine from which a model's item is said to ask what an expert's asks.
SAME = 0.6
_SAME_WORDS = 75

FAULTS: Mapping[SuggestionFault, str] = {
    "subjective": "Asks for an opinion",
    "unsuitable": "Does not belong to the task",
    "too_coarse": "Too coarse: asks for too much at once",
    "misread": "Misreads the task or the reference",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RubricComparison:
    """A model's items beside an expert's.

    ``matched`` pairs expert items with suggestions, ``omitted`` are expert items no suggestion asks
    for, ``faults`` counts what experts found wrong with suggestions, ``extra`` are suggestions that
    match no item and have no fault noted.
    """

    matched: tuple[tuple[str, str], ...]
    omitted: tuple[str, ...]
    extra: tuple[str, ...]
    faults: Mapping[str, int]
    signature: str

    @property
    def share_found(self) -> float | None:
        """Share of the expert's items the model thought of."""
        total = len(self.matched) + len(self.omitted)
        return len(self.matched) / total if total else None


def suggest_items(
    workspace: Workspace,
    rubric_id: str,
    generator: TextGenerator,
    *,
    person: str = "",
    progress: ProgressCallback = no_progress,
    cancel: Cancellation | None = None,
) -> list[RubricSuggestion]:
    """Let a model propose items from the task and up to two references, and keep those that are new.

    Raises
    ------
    InputError
        When the answer holds no items; says what it was instead.
    """
    rubric = workspace.get(Rubric, rubric_id)
    task = workspace.get(Task, rubric.task_id)
    examples = workspace.find(
        Example, "task_id = ? AND output != '[]'", (task.id,), limit=_REFERENCES
    )
    references = [
        "\n\n".join(section.text for section in example.output)[:_REFERENCE_CHARACTERS]
        for example in examples
    ]
    items = rubric_items(workspace, rubric_id)
    messages = render_prompt(PROMPT, {"task": task, "references": references, "items": items})
    progress(_Progress(0, 1))
    answer = generator.generate(
        GenerationRequest(messages=messages, max_tokens=_MOST_TOKENS, temperature=0.0),
        cancel=cancel,
    )
    if cancel is not None:
        cancel.raise_if_cancelled()
    found = read_suggestions(answer.text)
    if not found:
        start = " ".join(answer.text.split())[:80]
        raise InputError(
            f"The model suggested no items; it wrote '{start}'."
            if start
            else "The model answered with nothing.",
            remedy="Try again, or use a larger model.",
        )
    kept = workspace.transact_job(
        "Suggest items", person, keep_suggestions, rubric_id, found, generator.info.id
    ).value
    progress(_Progress(1, 1))
    return kept


def read_suggestions(answer: str) -> list[tuple[str, str, str]]:
    """(title, description, group) of each item in a model's answer: JSON, or a list in any form."""
    block = re.search(r"\[.*\]", answer, re.DOTALL)
    if block:
        try:
            values = json.loads(block[0])
        except ValueError:
            values = None
        if isinstance(values, list):
            found = [_from_json(value) for value in values]
            return [item for item in found if item[0]]
    lines = [
        line for line in answer.splitlines() if re.match(r"\s*(?:[-*•]|\d+[.)])\s+\S|.*:\s*$", line)
    ]
    return [
        (draft.title.replace("**", "").strip(), draft.description.replace("**", ""), draft.group)
        for draft in parse_pasted("\n".join(lines))
        if not draft.title.endswith(":")
    ]


def keep_suggestions(
    tx: Transaction, rubric_id: str, found: Sequence[tuple[str, str, str]], model: str
) -> list[RubricSuggestion]:
    """Write suggestions down, those left out whose title is an item's or an earlier suggestion's."""
    known = {fold_title(item.title) for item in rubric_items(tx, rubric_id)}
    known |= {fold_title(s.title) for s in suggestions_of(tx, rubric_id)}
    kept = []
    for title, description, group in found:
        if fold_title(title) in known:
            continue
        known.add(fold_title(title))
        kept.append(
            tx.insert(
                RubricSuggestion(
                    id=new_id(),
                    rubric_id=rubric_id,
                    title=title,
                    description=description,
                    group=group,
                    model=model,
                )
            )
        )
    return kept


def take_suggestion(tx: Transaction, suggestion_id: str) -> RubricItem:
    """Make a suggestion an item of its rubric; the item remembers where it came from."""
    suggestion = _open(tx, suggestion_id)
    item = add_rubric_item(
        tx,
        suggestion.rubric_id,
        suggestion.title,
        description=suggestion.description,
        group=suggestion.group,
        extra={"suggested_by": suggestion.model},
    )
    tx.update(RubricSuggestion, suggestion_id, state="taken", item_id=item.id)
    return item


def dismiss_suggestion(
    tx: Transaction, suggestion_id: str, fault: SuggestionFault = ""
) -> RubricSuggestion:
    """Turn a suggestion down, with what is wrong with it where it is one of `FAULTS`."""
    _open(tx, suggestion_id)
    return tx.update(RubricSuggestion, suggestion_id, state="dismissed", fault=fault)


def suggestions_of(
    reads: Reads, rubric_id: str, *, open_only: bool = False
) -> list[RubricSuggestion]:
    """A rubric's suggestions in the order they came."""
    where = "rubric_id = ? AND state = 'open'" if open_only else "rubric_id = ?"
    return reads.find(RubricSuggestion, where, (rubric_id,))


def compare_with_expert(
    items: Sequence[RubricItem],
    suggestions: Sequence[RubricSuggestion],
    embedder: Embedder | None = None,
) -> RubricComparison:
    """How a model's items stand beside the expert's, as the paper compares them.

    Items are paired one to one by the greatest total similarity; pairs below `SAME` do not count. A
    suggestion that was taken is paired with the item it became.
    """
    taken = {s.item_id: s.id for s in suggestions if s.item_id}
    own = [item for item in items if item.id not in taken]
    rest = [s for s in suggestions if not s.item_id]
    matched = [(item.id, taken[item.id]) for item in items if item.id in taken]
    signature = f"words:token_set>={_SAME_WORDS}"
    if embedder is not None:
        signature = f"embedder:{embedder.info.id}:{embedder.info.sha256[:12]}|cosine>={SAME}"
    if own and rest:
        matched += [(own[i].id, rest[j].id) for i, j in _pair(own, rest, embedder)]
    paired_items, paired = {a for a, _ in matched}, {b for _, b in matched}
    faults: Counter[str] = Counter(s.fault for s in suggestions if s.fault)
    return RubricComparison(
        matched=tuple(matched),
        omitted=tuple(item.id for item in items if item.id not in paired_items),
        extra=tuple(s.id for s in rest if s.id not in paired and not s.fault),
        faults={fault: faults.get(fault, 0) for fault in FAULTS},
        signature=signature,
    )


def _pair(
    items: Sequence[RubricItem], suggestions: Sequence[RubricSuggestion], embedder: Embedder | None
) -> list[tuple[int, int]]:
    import numpy as np
    from rapidfuzz import fuzz, process, utils
    from scipy.optimize import linear_sum_assignment

    left = [f"{item.title}. {item.description}" for item in items]
    right = [f"{s.title}. {s.description}" for s in suggestions]
    if embedder is None:
        likeness = np.asarray(
            process.cdist(left, right, scorer=fuzz.token_set_ratio, processor=utils.default_process)
        )
        least: float = _SAME_WORDS
    else:
        vectors = np.asarray(embedder.embed([*left, *right]))
        likeness, least = vectors[: len(left)] @ vectors[len(left) :].T, SAME
    rows, columns = linear_sum_assignment(-likeness)
    return [(int(i), int(j)) for i, j in zip(rows, columns, strict=True) if likeness[i, j] >= least]


def _from_json(value: Any) -> tuple[str, str, str]:
    if isinstance(value, Mapping):
        folded = {str(key).casefold(): str(text or "") for key, text in value.items()}
        title = folded.get("title") or folded.get("item") or folded.get("name") or ""
        return title.strip(), folded.get("description", "").strip(), folded.get("group", "").strip()
    return str(value or "").strip(), "", ""


def _open(tx: Transaction, suggestion_id: str) -> RubricSuggestion:
    suggestion = tx.get(RubricSuggestion, suggestion_id)
    if suggestion.state != "open":
        raise ConflictError(f"'{suggestion.title}' was {suggestion.state} already.")
    return suggestion
