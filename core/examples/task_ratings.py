"""Task validation by several raters (DOLOMITES): nine questions on a scale of 1 to 5, who the raters are,
how long they took, and tasks that are nearly the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz

from core.errors import UsageError
from core.ids import new_id
from core.ports import Embedder
from core.storage.reads import Reads
from core.storage.transaction import Transaction
from core.types import Person, Task
from core.types.documents import TASK_AXES, RaterProfile, TaskRating, TimeSpent

#: How many raters a task needs (DOLOMITES, task validation).
RATERS = 3
#: Likeness of words, 0 to 100, and of embeddings, from which tasks are called nearly the same.
_ALIKE_WORDS, _ALIKE_MEANING = 88.0, 0.9
#: Two short objectives in other words are alike only if they also share that much.
_LEAST_WORDS = 60.0


def rate_task(
    tx: Transaction, task_id: str, person_id: str, axis: str, value: int, comment: str | None = None
) -> TaskRating:
    """Record a person's answer to one of `TASK_AXES`; a later one replaces it."""
    if axis not in TASK_AXES:
        raise UsageError(f"'{axis}' is no question.", remedy=f"Use one of {', '.join(TASK_AXES)}.")
    if value not in range(1, 6):
        raise UsageError(f"{value} is no rating.", remedy="Use a whole number from 1 to 5.")
    earlier = _find(tx, task_id, person_id, axis)
    if earlier:
        kept = earlier[0].comment if comment is None else comment
        return tx.update(TaskRating, earlier[0].id, value=value, comment=kept)
    return tx.insert(
        TaskRating(
            id=new_id(),
            task_id=tx.get(Task, task_id).id,
            person_id=person_id,
            axis=axis,
            value=value,
            comment=comment or "",
        )
    )


def unrate_task(tx: Transaction, task_id: str, person_id: str, axis: str) -> None:
    """Take an answer back."""
    for rating in _find(tx, task_id, person_id, axis):
        tx.delete(TaskRating, rating.id)


def comment_on_task(
    tx: Transaction, task_id: str, person_id: str, axis: str, comment: str
) -> TaskRating:
    """Write free text beside an answer.

    Raises
    ------
    UsageError
        When the question is not answered yet.
    """
    found = _find(tx, task_id, person_id, axis)
    if not found:
        raise UsageError("Rate first, then comment.", remedy="Choose a number from 1 to 5.")
    return tx.update(TaskRating, found[0].id, comment=comment)


def _find(reads: Reads, task_id: str, person_id: str, axis: str) -> list[TaskRating]:
    return reads.find(
        TaskRating, "task_id = ? AND person_id = ? AND axis = ?", (task_id, person_id, axis)
    )


def task_ratings_of(reads: Reads, task_id: str, person_id: str) -> dict[str, TaskRating]:
    """A person's answers about a task, by question."""
    found = reads.find(TaskRating, "task_id = ? AND person_id = ?", (task_id, person_id))
    return {rating.axis: rating for rating in found}


def save_profile(
    tx: Transaction,
    person_id: str,
    *,
    field: str,
    qualification: str,
    years: int,
    consent: bool,
) -> RaterProfile:
    """Keep what a rater tells about themselves."""
    if not 0 <= years <= 80:
        raise UsageError(f"{years} years cannot be.", remedy="Give years of work in the field.")
    fields = {
        "field": field.strip(),
        "qualification": qualification.strip(),
        "years": years,
        "consent": consent,
    }
    found = tx.find(RaterProfile, "person_id = ?", (person_id,))
    if found:
        return tx.update(RaterProfile, found[0].id, **fields)
    return tx.insert(RaterProfile(id=new_id(), person_id=person_id, **fields))  # type: ignore[arg-type]


def profile_of(reads: Reads, person_id: str) -> RaterProfile | None:
    """A rater's profile, None when they gave none."""
    found = reads.find(RaterProfile, "person_id = ?", (person_id,), limit=1)
    return found[0] if found else None


def spend_time(
    tx: Transaction, kind: str, item_id: str, person_id: str, seconds: float
) -> TimeSpent:
    """Add to the seconds a person spent on an item."""
    found = tx.find(
        TimeSpent, "kind = ? AND item_id = ? AND person_id = ?", (kind, item_id, person_id)
    )
    if found:
        total = round(found[0].seconds + seconds, 1)
        return tx.update(TimeSpent, found[0].id, seconds=total)
    return tx.insert(
        TimeSpent(
            id=new_id(), kind=kind, item_id=item_id, person_id=person_id, seconds=round(seconds, 1)
        )
    )


@dataclass(frozen=True, slots=True)
class AxisSummary:
    """How often each of 1 to 5 was given to a question, and the comments with who wrote them."""

    axis: str
    counts: tuple[int, int, int, int, int]
    comments: tuple[tuple[str, str], ...]

    @property
    def raters(self) -> int:
        return sum(self.counts)

    @property
    def mean(self) -> float | None:
        """Mean rating; None of no ratings."""
        total = sum(value * count for value, count in enumerate(self.counts, 1))
        return total / self.raters if self.raters else None


def summarise_task(reads: Reads, task_id: str) -> list[AxisSummary]:
    """All raters' answers about a task, a summary a question."""
    names = {person.id: person.name for person in reads.find(Person)}
    ratings = reads.find(TaskRating, "task_id = ?", (task_id,))
    made = []
    for axis in TASK_AXES:
        mine = [rating for rating in ratings if rating.axis == axis]
        counts = [sum(rating.value == value for rating in mine) for value in range(1, 6)]
        comments = tuple(
            (names.get(rating.person_id, ""), rating.comment) for rating in mine if rating.comment
        )
        made.append(
            AxisSummary(axis, (counts[0], counts[1], counts[2], counts[3], counts[4]), comments)
        )
    return made


@dataclass(frozen=True, slots=True)
class SimilarTask:
    """Another task that is nearly the same; ``likeness`` from 0 to 1."""

    task: Task
    likeness: float


def find_similar_tasks(
    reads: Reads, task_id: str, embedder: Embedder | None = None
) -> list[SimilarTask]:
    """Tasks nearly the same as one, by their words, and by meaning where there is an embedder."""
    tasks = reads.find(Task)
    own = next(task for task in tasks if task.id == task_id)
    others = [task for task in tasks if task.id != task_id]
    words = [fuzz.token_set_ratio(_text(own), _text(task)) for task in others]
    meanings = _meanings(own, others, embedder)
    found = [
        SimilarTask(task, round(max(share / 100, meaning), 3))
        for task, share, meaning in zip(others, words, meanings, strict=True)
        if share >= _ALIKE_WORDS or (meaning >= _ALIKE_MEANING and share >= _LEAST_WORDS)
    ]
    return sorted(found, key=lambda similar: -similar.likeness)


def _meanings(own: Task, others: Sequence[Task], embedder: Embedder | None) -> list[float]:
    if embedder is None or not others:
        return [0.0] * len(others)
    first, *rest = embedder.embed([_text(own), *map(_text, others)])
    return [sum(a * b for a, b in zip(first, vector, strict=True)) for vector in rest]


def _text(task: Task) -> str:
    return f"{task.objective} {task.procedure}".casefold()
