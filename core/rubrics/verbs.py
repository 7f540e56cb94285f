"""Verbs on rubrics and their items."""

from __future__ import annotations

from typing import Any

from core.errors import ConflictError, UsageError
from core.ids import new_id
from core.storage.reads import Reads
from core.storage.transaction import Transaction
from core.types import Rubric, RubricItem, Task


def add_rubric(
    tx: Transaction,
    task_id: str,
    title: str,
    *,
    notes: str = "",
    extra: dict[str, Any] | None = None,
    rubric_id: str | None = None,
) -> Rubric:
    """Add an empty rubric to a task."""
    if not title.strip():
        raise UsageError("A rubric needs a title.", remedy="Name what it is for.")
    return tx.insert(
        Rubric(
            id=rubric_id or new_id(),
            task_id=tx.get(Task, task_id).id,
            title=title.strip(),
            notes=notes,
            extra=extra or {},
        )
    )


def add_rubric_item(
    tx: Transaction, rubric_id: str, title: str, *, position: float | None = None, **fields: Any
) -> RubricItem:
    """Add an item at a position, or at the end. ``fields`` are further ones of `RubricItem`."""
    _refuse_locked(tx, rubric_id)
    if not title.strip():
        raise UsageError("An item needs a title.", remedy="Name in a few words what to look for.")
    if position is None:
        last = tx.value(
            "SELECT max(position) FROM rubric_item WHERE rubric_id = ? AND deleted = 0",
            (rubric_id,),
        )
        position = (last or 0.0) + 1.0
    return tx.insert(
        RubricItem(
            id=new_id(), rubric_id=rubric_id, position=position, title=title.strip(), **fields
        )
    )


def edit_rubric_item(tx: Transaction, item_id: str, **fields: Any) -> RubricItem:
    """Change some of an item's fields."""
    _refuse_locked(tx, tx.get(RubricItem, item_id).rubric_id)
    return tx.update(RubricItem, item_id, **fields)


def move_rubric_item(tx: Transaction, item_id: str, index: int) -> RubricItem:
    """Put an item at an index, counted from 0, among the items of its rubric."""
    item = tx.get(RubricItem, item_id)
    others = [other for other in rubric_items(tx, item.rubric_id) if other.id != item_id]
    before = others[index - 1].position if index > 0 else None
    after = others[index].position if index < len(others) else None
    if before is not None and after is not None:
        position = (before + after) / 2
    elif before is not None:
        position = before + 1.0
    else:
        position = after - 1.0 if after is not None else 1.0
    return edit_rubric_item(tx, item_id, position=position)


def delete_rubric_item(tx: Transaction, item_id: str) -> None:
    """Delete an item of a rubric that is not locked."""
    _refuse_locked(tx, tx.get(RubricItem, item_id).rubric_id)
    tx.delete(RubricItem, item_id)


def rubric_items(reads: Reads, rubric_id: str) -> list[RubricItem]:
    """A rubric's items in order."""
    return reads.find(RubricItem, "rubric_id = ?", (rubric_id,), order_by="position, id")


def _refuse_locked(tx: Transaction, rubric_id: str) -> None:
    rubric = tx.get(Rubric, rubric_id)
    if rubric.state == "locked":
        raise ConflictError(
            f"The rubric '{rubric.title}' is locked.", remedy="Make a new version to change it."
        )
