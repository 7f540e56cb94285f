"""Reading and writing review items; for threads of the pool and the writer, never the UI thread.

Nothing read here names a system, a model or a run: what the page does not have it cannot show.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from core.review.blinding import is_blind
from core.review.verbs import (
    clear_rating,
    edit_review,
    ratings_of,
    record_rating,
    refill_queue,
)
from core.storage.reads import Reads
from core.storage.transaction import Transaction
from core.storage.workspace import Workspace
from core.types import Example, ReviewItem, SectionText, Task

STATES = ("pending", "draft", "submitted", "skipped")

_LIVE = """review_item v JOIN output o ON o.id = v.output_id AND o.deleted = 0
    JOIN example e ON e.id = o.example_id"""


@dataclass(frozen=True, slots=True)
class OwnCounts:
    """How many of one person's items are in which state, and whether they work blind."""

    mine: Mapping[str, int] = field(default_factory=dict)
    blind: bool = False

    @property
    def open(self) -> int:
        """Those that wait."""
        return self.mine.get("pending", 0) + self.mine.get("draft", 0)

    @property
    def total(self) -> int:
        return sum(self.mine.values())


@dataclass(frozen=True, slots=True)
class QueueCounts(OwnCounts):
    """Outputs to rate; ``team`` is everybody's together."""

    team: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReviewView:
    """All that is shown of one item."""

    item: ReviewItem
    pseudonym: str
    place: int
    task: Task
    title: str
    source: tuple[SectionText, ...]
    reference: tuple[SectionText, ...]
    written: tuple[SectionText, ...]
    ratings: Mapping[str, int]


def prepare_queue(workspace: Workspace, person_id: str) -> QueueCounts:
    """Put what was written since into a person's queue, and count it."""
    if person_id and not workspace.read_only:
        refill_queue(workspace, person_id)
    return count_queue(workspace, person_id)


def count_queue(reads: Reads, person_id: str) -> QueueCounts:
    """Counts by state."""
    rows = reads.query(
        f"SELECT v.state, v.person_id = ? AS mine, count(*) AS n FROM {_LIVE}"
        " WHERE v.deleted = 0 GROUP BY 1, 2",
        (person_id,),
    )
    mine = dict.fromkeys(STATES, 0)
    team = dict.fromkeys(STATES, 0)
    for row in rows:
        team[row["state"]] += row["n"]
        if row["mine"]:
            mine[row["state"]] += row["n"]
    return QueueCounts(mine, is_blind(reads, person_id), team)


def queue_ids(reads: Reads, person_id: str) -> list[tuple[str, str]]:
    """(id, state) of a person's items in their order."""
    rows = reads.query(
        f"SELECT v.id, v.state FROM {_LIVE} WHERE v.deleted = 0 AND v.person_id = ?"
        " ORDER BY v.position, v.id",
        (person_id,),
    )
    return [(row["id"], row["state"]) for row in rows]


def pick_item(items: list[tuple[str, str]], wanted: str, step: int = 0) -> str:
    """Which item to show.

    Parameters
    ----------
    wanted
        The item to show or to go from; '' or one that is gone for the first that waits.
    step
        0 for the item itself, 1 and -1 for its neighbours whatever their state, 2 for the next one that
        waits, from there on and then from the start.

    Returns
    -------
    str
        '' when there is none; with steps 1 and -1 the item itself at the ends.
    """
    ids = [item_id for item_id, _state in items]
    if wanted in ids and step in (0, 1, -1):
        return ids[max(0, min(len(ids) - 1, ids.index(wanted) + step))]
    start = ids.index(wanted) + 1 if wanted in ids else 0
    rotated = items[start:] + items[:start]
    if not wanted:
        # Half-done work first.
        rotated = sorted(rotated, key=lambda item: item[1] != "draft")
    return next(
        (i for i, state in rotated if state in ("pending", "draft") and i != wanted),
        "",
    )


def read_review(workspace: Workspace, person_id: str, wanted: str, step: int) -> ReviewView | None:
    """The item to show, with its texts and the person's own ratings."""
    items = queue_ids(workspace, person_id)
    item_id = pick_item(items, wanted, step)
    if not item_id:
        return None
    item = workspace.get(ReviewItem, item_id)
    output = workspace.query(
        "SELECT example_id, pseudonym, text FROM output WHERE id = ?", (item.output_id,)
    )[0]
    example = workspace.get(Example, output["example_id"])
    sections = _written_sections(workspace, item.output_id)
    place = [known for known, _state in items].index(item_id) + 1
    return ReviewView(
        item=item,
        pseudonym=output["pseudonym"],
        place=place,
        task=workspace.get(Task, example.task_id),
        title=example.title,
        source=example.input,
        reference=example.output,
        written=sections or (SectionText(title="", text=output["text"]),),
        ratings={r.axis: r.value for r in ratings_of(workspace, item.output_id, person_id)},
    )


def _written_sections(reads: Reads, output_id: str) -> tuple[SectionText, ...]:
    from core.types import Output

    return reads.get(Output, output_id).sections


def save_rating(tx: Transaction, item_id: str, axis: str, value: int | None) -> ReviewItem:
    """Record or take back a rating; a pending or skipped item becomes a draft with it."""
    item = tx.get(ReviewItem, item_id)
    if value is None:
        clear_rating(tx, item.output_id, item.person_id, axis)
    else:
        record_rating(tx, item.output_id, item.person_id, axis, value)
    return _touch(tx, item)


def save_comment(tx: Transaction, item_id: str, comment: str) -> ReviewItem:
    """Keep a comment as it is typed."""
    item = edit_review(tx, item_id, comment=comment)
    return _touch(tx, item)


def _touch(tx: Transaction, item: ReviewItem) -> ReviewItem:
    if item.state in ("pending", "skipped"):
        return edit_review(tx, item.id, state="draft")
    return item
