"""Verbs on rubrics and their items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from core.errors import ConflictError, UsageError
from core.ids import new_id
from core.rubrics.conditions import find_cycle, fold_title, parse_condition, rename_in_condition
from core.rubrics.drafts import ItemDraft
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


def edit_rubric(tx: Transaction, /, rubric_id: str, **fields: Any) -> Rubric:
    """Change a rubric's title or notes; a locked one has to be reopened first."""
    _refuse_locked(tx, rubric_id)
    if "title" in fields and not str(fields["title"]).strip():
        raise UsageError("A rubric needs a title.", remedy="Name what it is for.")
    return tx.update(Rubric, rubric_id, **fields)


def delete_rubric(tx: Transaction, rubric_id: str) -> None:
    """Delete a rubric with its items; a locked one has to be reopened first."""
    _refuse_locked(tx, rubric_id)
    for item in rubric_items(tx, rubric_id):
        tx.delete(RubricItem, item.id)
    tx.delete(Rubric, rubric_id)


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


def add_rubric_items(
    tx: Transaction, rubric_id: str, drafts: Sequence[ItemDraft], *, after: str = ""
) -> list[RubricItem]:
    """Add several items, after an item or at the end, in one transaction.

    Raises
    ------
    UsageError
        When there is none, or a condition cannot be read.
    """
    if not drafts:
        raise UsageError("There is no item in this text.", remedy="Put each item on its own line.")
    positions = _positions_after(tx, rubric_id, after, len(drafts))
    return [
        add_rubric_item(tx, rubric_id, draft.title, position=position, **draft.fields())
        for draft, position in zip(drafts, positions, strict=True)
    ]


def edit_rubric_item(tx: Transaction, /, item_id: str, **fields: Any) -> RubricItem:
    """Change some of an item's fields; conditions that name it by its old title follow a new one.

    Raises
    ------
    UsageError
        When a title is empty, or a condition cannot be read or leads in a circle.
    """
    item = tx.get(RubricItem, item_id)
    _refuse_locked(tx, item.rubric_id)
    if "title" in fields:
        fields["title"] = str(fields["title"]).strip()
        if not fields["title"]:
            raise UsageError(
                "An item needs a title.", remedy="Name in a few words what to look for."
            )
    if "condition" in fields:
        fields["condition"] = str(fields["condition"]).strip()
        parse_condition(fields["condition"])
    changed = tx.update(RubricItem, item_id, **fields)
    if fold_title(changed.title) != fold_title(item.title):
        _rename(tx, item.rubric_id, item.title, changed.title)
    if "condition" in fields:
        cycle = find_cycle(rubric_items(tx, item.rubric_id))
        if cycle:
            raise UsageError(
                f"These conditions depend on each other in a circle: {' → '.join(cycle)}.",
                remedy="Let one of the items apply always.",
            )
    return changed


def tag_rubric_items(tx: Transaction, item_ids: Sequence[str], tags: Sequence[str]) -> None:
    """Give items these tags in place of their own; blanks and repetitions are left out."""
    clean = list(dict.fromkeys(tag.strip() for tag in tags if tag.strip()))
    for item_id in item_ids:
        item = tx.get(RubricItem, item_id)
        edit_rubric_item(tx, item_id, extra=with_tags(item.extra, clean))


def assign_rubric_item(tx: Transaction, item_id: str, example_id: str) -> RubricItem:
    """Let an item count for one example only, or with '' for all."""
    item = tx.get(RubricItem, item_id)
    extra = {key: value for key, value in item.extra.items() if key != "example_id"}
    if example_id:
        extra["example_id"] = example_id
    return edit_rubric_item(tx, item_id, extra=extra)


def move_rubric_item(tx: Transaction, item_id: str, index: int) -> RubricItem:
    """Put an item at an index, counted from 0, among the items of its rubric."""
    item = tx.get(RubricItem, item_id)
    others = [other for other in rubric_items(tx, item.rubric_id) if other.id != item_id]
    index = max(0, min(index, len(others)))
    before = others[index - 1].position if index > 0 else None
    after = others[index].position if index < len(others) else None
    if before is not None and after is not None:
        position = (before + after) / 2
        if not before < position < after:
            # Halving has used up the digits between the two.
            return _renumber(tx, [*others[:index], item, *others[index:]], item_id)
    elif before is not None:
        position = before + 1.0
    else:
        position = after - 1.0 if after is not None else 1.0
    return edit_rubric_item(tx, item_id, position=position)


def move_rubric_items(tx: Transaction, item_ids: Sequence[str], place: int) -> None:
    """Put several items, in their order, before what stands at a place now, counted from 0."""
    if not item_ids:
        return
    moved = set(item_ids)
    items = rubric_items(tx, tx.get(RubricItem, item_ids[0]).rubric_id)
    block = [item for item in items if item.id in moved]
    others = [item for item in items if item.id not in moved]
    index = sum(item.id not in moved for item in items[:place])
    low = others[index - 1].position if index else None
    high = others[index].position if index < len(others) else None
    if low is None:
        low = (high or 0.0) - len(block) - 1.0
    if high is None:
        high = low + len(block) + 1.0
    step = (high - low) / (len(block) + 1)
    positions = [low + step * number for number in range(1, len(block) + 1)]
    if not low < positions[0] <= positions[-1] < high or len(set(positions)) < len(block):
        _renumber(tx, [*others[:index], *block, *others[index:]], block[0].id)
        return
    for item, position in zip(block, positions, strict=True):
        edit_rubric_item(tx, item.id, position=position)


def split_rubric_item(
    tx: Transaction, item_id: str, parts: Sequence[tuple[str, str]]
) -> list[RubricItem]:
    """Make several items of one: (title, description) each; the first keeps its id and history.

    Group, kind, condition and weight go to all parts, the example to the first.
    """
    if len(parts) < 2:
        raise UsageError(
            "An item is split into two or more.", remedy="Put the cursor where it shall part."
        )
    item = tx.get(RubricItem, item_id)
    positions = _positions_after(tx, item.rubric_id, item_id, len(parts) - 1)
    first = edit_rubric_item(tx, item_id, title=parts[0][0], description=parts[0][1].strip())
    made = [first]
    for (title, description), position in zip(parts[1:], positions, strict=True):
        made.append(
            add_rubric_item(
                tx,
                item.rubric_id,
                title,
                position=position,
                description=description.strip(),
                group=item.group,
                kind=item.kind,
                options=item.options,
                condition=item.condition,
                weight=item.weight,
                extra=dict(item.extra),
            )
        )
    return made


def merge_rubric_items(tx: Transaction, item_ids: Sequence[str], *, title: str = "") -> RubricItem:
    """Make one item of several of a rubric; the first in order keeps its id, the others go.

    Descriptions and examples are joined, tags united; conditions that named one of them name it.
    """
    rubric_id = tx.get(RubricItem, item_ids[0]).rubric_id if item_ids else ""
    items = [item for item in rubric_items(tx, rubric_id) if item.id in set(item_ids)]
    if len(items) < 2:
        raise UsageError("Two or more items are merged.", remedy="Select them with Shift or Ctrl.")
    first, rest = items[0], items[1:]
    tags = list(dict.fromkeys(tag for item in items for tag in tags_of(item)))
    own = {fold_title(item.title) for item in items}
    fields: dict[str, Any] = {
        "title": title.strip() or " and ".join(item.title for item in items),
        "description": _joined(item.description for item in items),
        "example": _joined(item.example for item in items),
        "extra": with_tags(first.extra, tags),
    }
    if parse_condition(first.condition).titles & own:
        fields["condition"] = ""
    for item in rest:
        tx.delete(RubricItem, item.id)
    merged = edit_rubric_item(tx, first.id, **fields)
    for item in rest:
        _rename(tx, rubric_id, item.title, merged.title)
    return merged


def delete_rubric_item(tx: Transaction, item_id: str) -> None:
    """Delete an item of a rubric that is not locked."""
    _refuse_locked(tx, tx.get(RubricItem, item_id).rubric_id)
    tx.delete(RubricItem, item_id)


def delete_rubric_items(tx: Transaction, item_ids: Sequence[str]) -> None:
    """Delete several items in one transaction."""
    for item_id in item_ids:
        delete_rubric_item(tx, item_id)


def rubric_items(reads: Reads, rubric_id: str) -> list[RubricItem]:
    """A rubric's items in order."""
    return reads.find(RubricItem, "rubric_id = ?", (rubric_id,), order_by="position, id")


def items_for(reads: Reads, rubric_id: str, example_id: str) -> list[RubricItem]:
    """The items that count for an example: those for all, and its own."""
    return [item for item in rubric_items(reads, rubric_id) if example_of(item) in ("", example_id)]


def tags_of(item: RubricItem) -> tuple[str, ...]:
    """An item's tags."""
    tags = item.extra.get("tags", ())
    return tuple(str(tag) for tag in tags) if isinstance(tags, list | tuple) else ()


def example_of(item: RubricItem) -> str:
    """The id of the one example an item counts for; '' for all."""
    return str(item.extra.get("example_id") or "")


def with_tags(extra: Mapping[str, Any], tags: Sequence[str]) -> dict[str, Any]:
    """An item's further fields with these tags."""
    found = {key: value for key, value in extra.items() if key != "tags"}
    if tags:
        found["tags"] = list(tags)
    return found


def _refuse_locked(tx: Transaction, rubric_id: str) -> None:
    rubric = tx.get(Rubric, rubric_id)
    if rubric.state == "locked":
        raise ConflictError(
            f"The rubric '{rubric.title}' is locked.", remedy="Make a new version to change it."
        )


def _rename(tx: Transaction, rubric_id: str, old: str, new: str) -> None:
    for other in rubric_items(tx, rubric_id):
        condition = rename_in_condition(other.condition, old, new)
        if condition != other.condition:
            tx.update(RubricItem, other.id, condition=condition)


def _positions_after(tx: Transaction, rubric_id: str, after: str, count: int) -> list[float]:
    """Positions for new items right after an item, or at the end."""
    items = rubric_items(tx, rubric_id)
    places = [place for place, item in enumerate(items) if item.id == after]
    low = items[places[0]].position if places else (items[-1].position if items else 0.0)
    high = None
    if places and places[0] + 1 < len(items):
        high = items[places[0] + 1].position
    if high is None:
        return [low + number for number in range(1, count + 1)]
    step = (high - low) / (count + 1)
    positions = [low + step * number for number in range(1, count + 1)]
    if step <= 0 or not low < positions[0] <= positions[-1] < high:
        _renumber(tx, items, items[0].id)
        return _positions_after(tx, rubric_id, after, count)
    return positions


def _renumber(tx: Transaction, items: Sequence[RubricItem], wanted: str) -> RubricItem:
    """Give items whole positions from 1 on in this order; returns the wanted one."""
    _refuse_locked(tx, items[0].rubric_id)
    for number, item in enumerate(items, 1):
        tx.update(RubricItem, item.id, position=float(number))
    return tx.get(RubricItem, wanted)


def _joined(texts: Any) -> str:
    return "\n".join(dict.fromkeys(text.strip() for text in texts if text.strip()))
