"""Versions of a rubric with their differences, comments, a second expert's review, and the lock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from core.errors import ConflictError, UsageError
from core.ids import new_id, now
from core.rubrics.verbs import example_of, rubric_items, tags_of
from core.storage.reads import Reads
from core.storage.transaction import Transaction
from core.types import Rubric, RubricItem
from core.types.rubrics import (
    ReviewDecision,
    RubricComment,
    RubricReview,
    RubricVersion,
    VersionItem,
)

ChangeKind = Literal["added", "removed", "changed", "moved"]
_COMPARED = (
    "title", "description", "example", "group", "kind", "options", "condition", "weight", "tags",
    "example_id",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemChange:
    """What became of one item between two versions; ``fields`` has (before, after) by field."""

    kind: ChangeKind
    item_id: str
    title: str
    fields: dict[str, tuple[Any, Any]] = field(default_factory=dict)


def snapshot(item: RubricItem) -> VersionItem:
    """An item as a version keeps it."""
    return VersionItem(
        id=item.id,
        title=item.title,
        description=item.description,
        example=item.example,
        group=item.group,
        kind=item.kind,
        options=item.options,
        condition=item.condition,
        weight=item.weight,
        tags=tags_of(item),
        example_id=example_of(item),
    )


def current_items(reads: Reads, rubric_id: str) -> tuple[VersionItem, ...]:
    """The items as they are now, in the form of a version."""
    return tuple(snapshot(item) for item in rubric_items(reads, rubric_id))


def rubric_versions(reads: Reads, rubric_id: str) -> list[RubricVersion]:
    """A rubric's versions, the latest first."""
    return reads.find(RubricVersion, "rubric_id = ?", (rubric_id,), order_by="number DESC")


def save_version(tx: Transaction, rubric_id: str, note: str = "") -> RubricVersion:
    """Keep the items as they are now under the next number.

    Raises
    ------
    ConflictError
        When nothing has changed since the last version, or there is no item.
    """
    items = current_items(tx, rubric_id)
    if not items:
        raise ConflictError("The rubric has no items.", remedy="Add some first.")
    versions = rubric_versions(tx, rubric_id)
    if versions and versions[0].items == items:
        raise ConflictError(
            f"Nothing has changed since version {versions[0].number}.", remedy="Go on with it."
        )
    return tx.insert(
        RubricVersion(
            id=new_id(),
            rubric_id=rubric_id,
            number=(versions[0].number if versions else 0) + 1,
            note=note.strip(),
            person_id=tx.person,
            made=now(),
            items=items,
        )
    )


def restore_version(tx: Transaction, version_id: str) -> None:
    """Make the items again what they were in a version; what was added since goes."""
    version = tx.get(RubricVersion, version_id)
    rubric = tx.get(Rubric, version.rubric_id)
    if rubric.state == "locked":
        raise ConflictError(
            f"The rubric '{rubric.title}' is locked.", remedy="Make a new version to change it."
        )
    wanted = {item.id: (place, item) for place, item in enumerate(version.items, 1)}
    for item in rubric_items(tx, version.rubric_id):
        if item.id not in wanted:
            tx.delete(RubricItem, item.id)
    live = {item.id for item in rubric_items(tx, version.rubric_id)}
    for item_id, (place, kept) in wanted.items():
        if item_id not in live:
            # The same row comes back, so that what was found for the item is still its own.
            tx.write_columns("rubric_item", item_id, {"deleted": 1}, {"deleted": 0})
        fields = {
            name: getattr(kept, name) for name in _COMPARED if name not in ("tags", "example_id")
        }
        old = tx.get(RubricItem, item_id).extra
        extra = {key: value for key, value in old.items() if key not in ("tags", "example_id")}
        if kept.tags:
            extra["tags"] = list(kept.tags)
        if kept.example_id:
            extra["example_id"] = kept.example_id
        tx.update(RubricItem, item_id, position=float(place), extra=extra, **fields)


def compare_items(before: Sequence[VersionItem], after: Sequence[VersionItem]) -> list[ItemChange]:
    """What changed from one list of items to the other, in the order of the later one, removed ones last.

    An item counts as moved when it left the longest run of items that kept their order.
    """
    old = {item.id: item for item in before}
    new = {item.id: item for item in after}
    places = {item.id: place for place, item in enumerate(before)}
    kept = _longest_rising([places[item.id] for item in after if item.id in old])
    stayed = {before[place].id for place in kept}
    changes = []
    for item in after:
        if item.id not in old:
            changes.append(ItemChange(kind="added", item_id=item.id, title=item.title))
            continue
        fields = {
            name: (getattr(old[item.id], name), getattr(item, name))
            for name in _COMPARED
            if getattr(old[item.id], name) != getattr(item, name)
        }
        if fields:
            changes.append(
                ItemChange(kind="changed", item_id=item.id, title=item.title, fields=fields)
            )
        if item.id not in stayed:
            changes.append(ItemChange(kind="moved", item_id=item.id, title=item.title))
    changes += [
        ItemChange(kind="removed", item_id=item.id, title=item.title)
        for item in before
        if item.id not in new
    ]
    return changes


def ask_review(tx: Transaction, rubric_id: str, note: str = "") -> Rubric:
    """Hand a rubric to a second expert: what it is now becomes a version, if it is not one yet."""
    _refuse_state(tx, rubric_id, "draft", "It is handed over already, or locked.")
    _version_of_now(tx, rubric_id, note)
    return tx.update(Rubric, rubric_id, state="in_review")


def review_rubric(
    tx: Transaction, rubric_id: str, decision: ReviewDecision, comment: str = ""
) -> RubricReview:
    """A second expert approves a rubric, or asks for changes, which makes it a draft again.

    Raises
    ------
    ConflictError
        When it is not in review, or the reviewer made the version under review.
    """
    _refuse_state(tx, rubric_id, "in_review", "Ask for a review first.")
    version = rubric_versions(tx, rubric_id)[0]
    if version.person_id == tx.person:
        raise ConflictError(
            "A review takes a second expert, and you made this version.",
            remedy="Let somebody else review it; change who is working at the top right.",
        )
    if decision == "changes":
        if not comment.strip():
            raise UsageError("Say what should change.", remedy="Write a comment.")
        tx.update(Rubric, rubric_id, state="draft")
    return tx.insert(
        RubricReview(
            id=new_id(),
            rubric_id=rubric_id,
            version_id=version.id,
            person_id=tx.person,
            decision=decision,
            comment=comment.strip(),
            made=now(),
        )
    )


def lock_rubric(tx: Transaction, rubric_id: str) -> Rubric:
    """Make a rubric unchangeable, so that what is scored with it stays comparable."""
    rubric = tx.get(Rubric, rubric_id)
    if rubric.state == "locked":
        raise ConflictError(f"The rubric '{rubric.title}' is locked already.")
    _version_of_now(tx, rubric_id, "Locked")
    return tx.update(Rubric, rubric_id, state="locked")


def reopen_rubric(tx: Transaction, rubric_id: str) -> Rubric:
    """Make a locked rubric, or one in review, a draft again; its versions stay as they are."""
    return tx.update(Rubric, rubric_id, state="draft")


def reviews_of(reads: Reads, rubric_id: str) -> list[RubricReview]:
    """A rubric's reviews, the latest first."""
    return reads.find(RubricReview, "rubric_id = ?", (rubric_id,), order_by="made DESC, id DESC")


def is_reviewed(reads: Reads, rubric_id: str) -> bool:
    """Whether a second expert approved the items as they are now."""
    versions = rubric_versions(reads, rubric_id)
    if not versions or versions[0].items != current_items(reads, rubric_id):
        return False
    return any(
        review.version_id == versions[0].id and review.decision == "approved"
        for review in reviews_of(reads, rubric_id)
    )


def add_comment(tx: Transaction, rubric_id: str, text: str, *, item_id: str = "") -> RubricComment:
    """Say something about a rubric or one of its items."""
    if not text.strip():
        raise UsageError("The comment is empty.", remedy="Write what you think.")
    return tx.insert(
        RubricComment(
            id=new_id(),
            rubric_id=tx.get(Rubric, rubric_id).id,
            item_id=item_id,
            person_id=tx.person,
            text=text.strip(),
            made=now(),
        )
    )


def resolve_comment(tx: Transaction, comment_id: str, *, resolved: bool = True) -> RubricComment:
    """Mark a comment as settled, or open it again."""
    return tx.update(RubricComment, comment_id, state="resolved" if resolved else "open")


def comments_of(reads: Reads, rubric_id: str) -> list[RubricComment]:
    """A rubric's comments, the oldest first."""
    return reads.find(RubricComment, "rubric_id = ?", (rubric_id,), order_by="made, id")


def _version_of_now(tx: Transaction, rubric_id: str, note: str) -> RubricVersion:
    versions = rubric_versions(tx, rubric_id)
    if versions and versions[0].items == current_items(tx, rubric_id):
        return versions[0]
    return save_version(tx, rubric_id, note)


def _refuse_state(tx: Transaction, rubric_id: str, wanted: str, remedy: str) -> None:
    rubric = tx.get(Rubric, rubric_id)
    if rubric.state != wanted:
        words = {"draft": "a draft", "in_review": "in review", "locked": "locked"}
        raise ConflictError(f"The rubric '{rubric.title}' is {words[rubric.state]}.", remedy=remedy)


def _longest_rising(numbers: Sequence[int]) -> list[int]:
    """The longest rising subsequence, by patience: O(n log n)."""
    from bisect import bisect_left

    tails: list[int] = []
    places: list[int] = []
    back: list[int] = []
    for place, number in enumerate(numbers):
        spot = bisect_left(tails, number)
        back.append(places[spot - 1] if spot else -1)
        if spot == len(tails):
            tails.append(number)
            places.append(place)
        else:
            tails[spot], places[spot] = number, place
    found: list[int] = []
    place = places[-1] if places else -1
    while place >= 0:
        found.append(numbers[place])
        place = back[place]
    return found[::-1]
