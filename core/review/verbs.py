"""Verbs on ratings, preferences and the review queue."""

from __future__ import annotations

import hashlib
import random
from typing import Any

from core.errors import UsageError
from core.ids import new_id
from core.storage.reads import Reads
from core.storage.transaction import Transaction
from core.storage.workspace import Workspace
from core.types import RATING_AXES, Output, Preference, Rating, ReviewItem, Side

#: Outputs people are asked about: those of the editing benchmark are thousands of lines for metrics.
REVIEWED = (
    "o.run_id NOT IN (SELECT id FROM run WHERE json_extract(signature, '$.bench') IS NOT NULL)"
)
#: Finished outputs that a person has no review item for.
_UNQUEUED = f"""o.state = 'done' AND o.deleted = 0 AND {REVIEWED} AND NOT EXISTS
    (SELECT 1 FROM review_item r WHERE r.output_id = o.id AND r.person_id = ? AND r.deleted = 0)"""


def record_rating(
    tx: Transaction, output_id: str, person_id: str, axis: str, value: int, comment: str = ""
) -> Rating:
    """Record a person's 1-5 judgement on one of `RATING_AXES`; a later one replaces it."""
    if axis not in RATING_AXES:
        raise UsageError(f"'{axis}' is no axis.", remedy=f"Use one of {', '.join(RATING_AXES)}.")
    if value not in range(1, 6):
        raise UsageError(f"{value} is no rating.", remedy="Use a whole number from 1 to 5.")
    earlier = tx.find(
        Rating, "output_id = ? AND person_id = ? AND axis = ?", (output_id, person_id, axis)
    )
    if earlier:
        return tx.update(Rating, earlier[0].id, value=value, comment=comment)
    return tx.insert(
        Rating(
            id=new_id(),
            output_id=tx.get(Output, output_id).id,
            person_id=person_id,
            axis=axis,
            value=value,
            comment=comment,
        )
    )


def clear_rating(tx: Transaction, output_id: str, person_id: str, axis: str) -> None:
    """Take a rating back."""
    for rating in tx.find(
        Rating, "output_id = ? AND person_id = ? AND axis = ?", (output_id, person_id, axis)
    ):
        tx.delete(Rating, rating.id)


def record_preference(
    tx: Transaction,
    left_output_id: str,
    right_output_id: str,
    person_id: str,
    strength: int,
    comment: str = "",
) -> Preference:
    """Record which of two outputs is better, from 1 (left much better) to 5 (right much better)."""
    if strength not in range(1, 6):
        raise UsageError(f"{strength} is no strength.", remedy="Use a whole number from 1 to 5.")
    choice: Side = "left" if strength < 3 else "right" if strength > 3 else "tie"
    earlier = tx.find(
        Preference,
        "left_output_id = ? AND right_output_id = ? AND person_id = ?",
        (left_output_id, right_output_id, person_id),
    )
    if earlier:
        return tx.update(
            Preference, earlier[0].id, choice=choice, strength=strength, comment=comment
        )
    return tx.insert(
        Preference(
            id=new_id(),
            left_output_id=left_output_id,
            right_output_id=right_output_id,
            person_id=person_id,
            choice=choice,
            strength=strength,
            comment=comment,
        )
    )


def fill_queue(tx: Transaction, person_id: str, seed: int) -> int:
    """Put every finished output that a person has no review item for into their queue.

    New items come in an order drawn from ``seed``, after the ones already there, so that the order
    tells nothing of the runs. Returns how many were added.
    """
    missing = [
        row["id"]
        for row in tx.query(
            f"SELECT o.id FROM output o WHERE {_UNQUEUED} ORDER BY o.pseudonym", (person_id,)
        )
    ]
    random.Random(seed).shuffle(missing)
    start = tx.count(ReviewItem, "person_id = ?", (person_id,))
    for offset, output_id in enumerate(missing):
        tx.insert(
            ReviewItem(
                id=new_id(), output_id=output_id, person_id=person_id, position=start + offset
            )
        )
    return len(missing)


def refill_queue(workspace: Workspace, person_id: str) -> None:
    """Put what was written since into a person's queue; nothing is written where nothing is missing.

    The order is drawn from the person's id: random per person, the same when made again, and kept in
    each item's position.
    """
    if workspace.query(f"SELECT 1 FROM output o WHERE {_UNQUEUED} LIMIT 1", (person_id,)):
        seed = int.from_bytes(hashlib.sha256(person_id.encode()).digest()[:8], "big")
        workspace.transact_job("Fill the queue", person_id, fill_queue, person_id, seed)


def edit_review(tx: Transaction, /, review_id: str, **fields: Any) -> ReviewItem:
    """Change a review item's state, comment or place."""
    return tx.update(ReviewItem, review_id, **fields)


def submit_review(tx: Transaction, review_id: str, comment: str) -> ReviewItem:
    """Hand in a review: all five axes must be rated; it stays editable."""
    item = tx.get(ReviewItem, review_id)
    rated = {rating.axis for rating in ratings_of(tx, item.output_id, item.person_id)}
    missing = [axis.replace("_", " ") for axis in RATING_AXES if axis not in rated]
    if missing:
        raise UsageError(
            f"Not rated yet: {', '.join(missing)}.", remedy="Rate these, or skip the output."
        )
    return tx.update(ReviewItem, review_id, state="submitted", comment=comment)


def ratings_of(reads: Reads, output_id: str, person_id: str) -> list[Rating]:
    """A person's ratings of an output."""
    return reads.find(Rating, "output_id = ? AND person_id = ?", (output_id, person_id))
