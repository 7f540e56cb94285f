"""Verbs on examples."""

from __future__ import annotations

from typing import Any

from core.errors import ConflictError
from core.ids import new_id
from core.storage.transaction import Transaction
from core.types import Example, Output, SectionText, Task

_TITLE_LENGTH = 80


def add_example(
    tx: Transaction,
    task_id: str,
    *,
    input: tuple[SectionText, ...] = (),
    output: tuple[SectionText, ...] = (),
    title: str = "",
    split: str = "",
    meta: dict[str, Any] | None = None,
    extra: dict[str, Any] | None = None,
    example_id: str | None = None,
) -> Example:
    """Add an example of a task; without a title, the beginning of its first text is taken."""
    return tx.insert(
        Example(
            id=example_id or new_id(),
            task_id=tx.get(Task, task_id).id,
            title=title.strip() or _make_title((*input, *output)),
            input=input,
            output=output,
            split=split,
            meta=meta or {},
            extra=extra or {},
        )
    )


def edit_example(tx: Transaction, /, example_id: str, **fields: Any) -> Example:
    """Change some of an example's fields."""
    for side in ("input", "output"):
        if side in fields:
            fields[side] = tuple(fields[side])
    return tx.update(Example, example_id, **fields)


def edit_example_section(
    tx: Transaction, example_id: str, side: str, index: int, text: str
) -> Example:
    """Change the text of one input or output section, counted from 0."""
    example = tx.get(Example, example_id)
    sections: list[SectionText] = list(getattr(example, side))
    sections[index] = SectionText(title=sections[index].title, text=text)
    return tx.update(Example, example_id, **{side: tuple(sections)})


def delete_example(tx: Transaction, example_id: str) -> None:
    """Delete an example that no run has used."""
    count = tx.count(Output, "example_id = ?", (example_id,))
    if count:
        raise ConflictError(
            f"{count} outputs were written for this example.",
            remedy="It stays, since results rest on it.",
        )
    tx.delete(Example, example_id)


def _make_title(sections: tuple[SectionText, ...]) -> str:
    for section in sections:
        words = " ".join(section.text.split())
        if words:
            cut = words[:_TITLE_LENGTH]
            return cut if len(words) <= _TITLE_LENGTH else cut.rsplit(" ", 1)[0] + " …"
    return "Untitled example"
