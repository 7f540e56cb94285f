"""Twins: rows that two copies made of what there may be one of, such as a person's rating of an output."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

from core.storage.kinds import KINDS
from core.storage.transaction import Transaction
from core.types import Field, Person, Task
from core.types.documents import Document

#: What there is one of, by the columns that say of what.
_ONE_OF = {
    "rating": ("output_id", "person_id", "axis"),
    "preference": ("left_output_id", "right_output_id", "person_id"),
    "review_item": ("output_id", "person_id"),
    "pair_item": ("left_output_id", "right_output_id", "person_id"),
    "rubric_tick": ("output_id", "person_id", "item_id"),
    "task_validation": ("task_id", "person_id", "criterion"),
    "task_rating": ("task_id", "person_id", "axis"),
    "draft_rating": ("draft_id", "person_id", "axis"),
    "rater_profile": ("person_id",),
    "blinding": ("person_id",),
}


def settle_twins(tx: Transaction, kinds: Set[str]) -> int:
    """Keep of each set of twins the one written last, and of fields of one name the oldest.

    Parameters
    ----------
    kinds
        Which kinds to look at.

    Returns
    -------
    int
        How many rows gave way; each leaves its entry in the history.
    """
    gone = 0
    for kind in sorted(kinds & _ONE_OF.keys()):
        names = ", ".join(_ONE_OF[kind])
        rows = tx.query(
            f"SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY {names}"
            f' ORDER BY updated DESC, id DESC) AS place FROM "{kind}" WHERE deleted = 0)'
            " WHERE place > 1"
        )
        for row in rows:
            tx.delete(KINDS[kind].type, row["id"])
        gone += len(rows)
    if "field" in kinds:
        gone += _settle_fields(tx)
    if "person" in kinds:
        _tell_apart(tx)
    return gone


def _tell_apart(tx: Transaction) -> None:
    """Number people of one name, the oldest keeping it: whether two are one, only they know."""
    names: set[str] = set()
    for person in tx.find(Person, order_by="created, id"):
        name, number = person.name, 2
        while name.casefold() in names:
            name, number = f"{person.name} {number}", number + 1
        names.add(name.casefold())
        if name != person.name:
            tx.update(Person, person.id, name=name)


def _settle_fields(tx: Transaction) -> int:
    """Let what belongs to a younger field of the same name belong to the oldest."""
    oldest: dict[str, Any] = {}
    gone = 0
    for one in tx.find(Field, order_by="created, id"):
        kept = oldest.setdefault(one.name.casefold(), one)
        if kept.id == one.id:
            continue
        for task in tx.find(Task, "field_id = ?", (one.id,)):
            tx.update(Task, task.id, field_id=kept.id)
        for document in tx.find(Document, "field_id = ?", (one.id,)):
            tx.update(Document, document.id, field_id=kept.id)
        tx.delete(Field, one.id)
        gone += 1
    return gone
