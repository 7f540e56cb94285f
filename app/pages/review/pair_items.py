"""Reading and writing pairs to compare; for threads of the pool and the writer, never the UI thread.

Nothing read here names a system, a model, a run or another person: what the page lacks it cannot show.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from app.pages.review.items import OwnCounts, pick_item
from core.ids import new_id
from core.review.blinding import is_blind
from core.review.pairs import preference_of
from core.review.verbs import REVIEWED
from core.rubrics.verbs import rubric_items
from core.runs.differences import Difference, word_differences
from core.storage.reads import Reads
from core.storage.transaction import Transaction
from core.storage.workspace import Workspace
from core.types import Example, Output, Rubric, RubricItem, SectionText, Task
from core.types.evaluation import PairItem, RubricTick, Tick


@dataclass(frozen=True, slots=True)
class PairCounts(OwnCounts):
    """Pairs to compare; ``team`` is everybody's together."""

    team_done: int = 0
    team: int = 0
    #: Pairs of outputs of the same example that could be compared.
    possible: int = 0


@dataclass(frozen=True, slots=True)
class PairView:
    """All that is shown of one pair."""

    item: PairItem
    place: int
    task: Task
    title: str
    source: tuple[SectionText, ...]
    reference: tuple[SectionText, ...]
    left: tuple[SectionText, ...]
    right: tuple[SectionText, ...]
    names: tuple[str, str]
    strength: int | None
    rubric: tuple[RubricItem, ...]
    ticks: Mapping[tuple[str, str], Tick]
    difference: Difference


def count_pairs(reads: Reads, person_id: str) -> PairCounts:
    """Counts by state, and how many pairs there could be."""
    mine = {
        row["state"]: row["n"]
        for row in reads.query(
            "SELECT state, count(*) AS n FROM pair_item WHERE person_id = ? AND deleted = 0"
            " GROUP BY state",
            (person_id,),
        )
    }
    team = reads.query(
        "SELECT count(*) AS n, coalesce(sum(state = 'submitted'), 0) AS done FROM pair_item"
        " WHERE deleted = 0"
    )[0]
    possible = reads.value(
        "SELECT coalesce(sum(n * (n - 1) / 2), 0) FROM (SELECT count(*) AS n FROM output o"
        f" WHERE o.state = 'done' AND o.deleted = 0 AND {REVIEWED} GROUP BY o.example_id)"
    )
    return PairCounts(
        mine,
        is_blind(reads, person_id),
        team_done=team["done"],
        team=team["n"],
        possible=int(possible or 0),
    )


def pair_ids(reads: Reads, person_id: str) -> list[tuple[str, str]]:
    """(id, state) of a person's pairs in their order."""
    rows = reads.query(
        "SELECT id, state FROM pair_item WHERE person_id = ? AND deleted = 0 ORDER BY position, id",
        (person_id,),
    )
    return [(row["id"], row["state"]) for row in rows]


def read_pair(workspace: Workspace, person_id: str, wanted: str, step: int) -> PairView | None:
    """The pair to show, with its texts, the person's own choice and their own ticks."""
    items = pair_ids(workspace, person_id)
    item_id = pick_item(items, wanted, step)
    if not item_id:
        return None
    item = workspace.get(PairItem, item_id)
    example = workspace.get(Example, item.example_id)
    outputs = [
        workspace.get(Output, output_id)
        for output_id in (item.left_output_id, item.right_output_id)
    ]
    left, right = (o.sections or (SectionText(title="", text=o.text),) for o in outputs)
    rubrics = workspace.find(Rubric, "task_id = ?", (example.task_id,), limit=1)
    items_of = rubric_items(workspace, rubrics[0].id) if rubrics else []
    ticks = workspace.find(
        RubricTick,
        "person_id = ? AND output_id IN (?, ?)",
        (person_id, item.left_output_id, item.right_output_id),
    )
    preference = preference_of(workspace, item)
    return PairView(
        item=item,
        place=[known for known, _state in items].index(item_id) + 1,
        task=workspace.get(Task, example.task_id),
        title=example.title,
        source=example.input,
        reference=example.output,
        left=left,
        right=right,
        names=(outputs[0].pseudonym, outputs[1].pseudonym),
        strength=preference.strength if preference else None,
        rubric=tuple(items_of),
        ticks={(tick.output_id, tick.item_id): tick.tick for tick in ticks},
        difference=word_differences(left, right),
    )


def save_pair_comment(tx: Transaction, item_id: str, comment: str) -> PairItem:
    """Keep a justification as it is typed."""
    item = tx.get(PairItem, item_id)
    state = "draft" if item.state in ("pending", "skipped") else item.state
    return tx.update(PairItem, item_id, comment=comment, state=state)


def set_tick(
    tx: Transaction, output_id: str, person_id: str, item_id: str, tick: Tick | None
) -> None:
    """Tick a rubric item for an output, or take the tick back with None."""
    found = tx.find(
        RubricTick,
        "output_id = ? AND person_id = ? AND item_id = ?",
        (output_id, person_id, item_id),
    )
    if tick is None:
        for old in found:
            tx.delete(RubricTick, old.id)
    elif found:
        tx.update(RubricTick, found[0].id, tick=tick)
    else:
        tx.insert(
            RubricTick(
                id=new_id(), output_id=output_id, person_id=person_id, item_id=item_id, tick=tick
            )
        )
