"""Rubrics out of files: CSV or TSV tables, our JSONL, and the published checklist format.

Published format (ExpertLongBench): ``{sample_id: {"checklist": {item: text or "N/A"}}}``. Its item names
are a rubric; where samples have items of their own, these count for that sample's example only.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.errors import InputError, NotFoundError, UsageError
from core.exchange.records import read_text
from core.rubrics.conditions import fold_title
from core.rubrics.drafts import ItemDraft, draft_from, read_rows
from core.rubrics.verbs import add_rubric, add_rubric_items, assign_rubric_item
from core.storage.transaction import Transaction
from core.tasks.verbs import find_task
from core.types import Example, Rubric


@dataclass(frozen=True, slots=True, kw_only=True)
class RubricFile:
    """A rubric as a file holds it. ``samples`` maps a sample's id to its texts by item title."""

    title: str
    items: tuple[ItemDraft, ...]
    task: str = ""
    notes: str = ""
    own_items: Mapping[str, tuple[ItemDraft, ...]] = field(default_factory=dict)
    samples: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)


def read_rubric_files(path: Path) -> list[RubricFile]:
    """The rubrics of a file, whatever of the formats it is in.

    Raises
    ------
    InputError
        When it is none of them, or an item cannot be used; names the line or the sample.
    """
    text = read_text(path)
    name = path.stem.replace("_", " ").strip() or "Rubric"
    head = text.lstrip()[:1]
    if path.suffix.casefold() in (".csv", ".tsv") or head not in ("{", "["):
        return [_read_table(path, text, name)]
    try:
        value = json.loads(text)
    except ValueError:
        return _read_lines(path, text, name)
    if isinstance(value, list):
        return [_read_record(path, entry, n, name) for n, entry in enumerate(value, 1)]
    if isinstance(value, Mapping) and "items" in value:
        return [_read_record(path, value, 1, name)]
    return [read_published(path, value, name)]


def is_published(value: Any) -> bool:
    """Whether a JSON value has the published checklist format."""
    return (
        isinstance(value, Mapping)
        and bool(value)
        and all(
            isinstance(entry, Mapping) and isinstance(entry.get("checklist"), Mapping)
            for entry in value.values()
        )
    )


def read_published(path: Path, value: Any, name: str) -> RubricFile:
    """A file in the published checklist format as a rubric with its checklists."""
    if not is_published(value):
        raise InputError(
            "is no rubric and no checklist in the published format.",
            path=path,
            remedy='Give {"sample-1": {"checklist": {"item": "text or N/A"}}}, JSONL or CSV.',
        )
    samples = {
        str(sample): {
            " ".join(str(title).split()): "" if text is None else str(text)
            for title, text in entry["checklist"].items()
        }
        for sample, entry in value.items()
    }
    everywhere = set.intersection(*(set(map(fold_title, texts)) for texts in samples.values()))
    common: dict[str, str] = {}
    own: dict[str, tuple[ItemDraft, ...]] = {}
    for sample, texts in samples.items():
        for title in texts:
            if fold_title(title) in everywhere:
                common.setdefault(fold_title(title), title)
        rest = [title for title in texts if fold_title(title) not in everywhere]
        if rest:
            own[sample] = tuple(ItemDraft(title=title) for title in rest)
    return RubricFile(
        title=name,
        items=tuple(ItemDraft(title=title) for title in common.values()),
        own_items=own,
        samples=samples,
        notes=f"Items of the checklists in {path.name}.",
        extra={"imported_from": path.name},
    )


def add_rubric_file(tx: Transaction, found: RubricFile, *, task: str = "") -> Rubric:
    """Write an imported rubric down; items of single samples are bound to the examples of that title.

    Parameters
    ----------
    task
        Id or objective of the task of a rubric that names none.

    Raises
    ------
    UsageError, NotFoundError
        When there is no task to put it under.
    """
    named = found.task or task
    if not named:
        raise UsageError(
            f"The rubric '{found.title}' names no task.", remedy="Choose the task it is for."
        )
    rubric = add_rubric(
        tx, find_task(tx, named).id, found.title, notes=found.notes, extra=dict(found.extra)
    )
    if found.items:
        add_rubric_items(tx, rubric.id, found.items)
    for sample, drafts in found.own_items.items():
        try:
            example = example_of_sample(tx, rubric.task_id, sample)
        except NotFoundError:
            # Its items would count for no example here; its checklist is reported as left out.
            continue
        for item in add_rubric_items(tx, rubric.id, drafts):
            assign_rubric_item(tx, item.id, example.id)
    return rubric


def example_of_sample(tx: Transaction, task_id: str, sample: str) -> Example:
    """The example a published sample id stands for: by id or title, or by the part after its hyphen."""
    for name in (sample, sample.partition("-")[2]):
        if not name:
            continue
        found = tx.find(
            Example, "task_id = ? AND (id = ? OR title = ?)", (task_id, name, name), limit=2
        )
        if len(found) == 1:
            return found[0]
    raise NotFoundError(
        f"There is no single example '{sample}' of this task.",
        remedy="Import the examples first, with the sample's id as their title.",
    )


def _read_table(path: Path, text: str, name: str) -> RubricFile:
    first = text.split("\n", 1)[0]
    delimiter = max(",;\t", key=first.count)
    rows = [row for row in csv.reader(io.StringIO(text), delimiter=delimiter) if any(row)]
    try:
        items = read_rows(rows)
    except UsageError as error:
        raise InputError(error.message, path=path, remedy=error.remedy) from error
    if not items:
        raise InputError("has no items.", path=path, remedy="Put one item on each line.")
    return RubricFile(title=name, items=tuple(items))


def _read_lines(path: Path, text: str, name: str) -> list[RubricFile]:
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except ValueError as error:
            raise InputError(
                f"is no JSON: {error}.", path=path, line=number, remedy="Mend or remove the line."
            ) from error
        found.append(_read_record(path, value, number, name))
    return found


def _read_record(path: Path, value: Any, line: int, name: str) -> RubricFile:
    if not isinstance(value, Mapping) or not isinstance(value.get("items"), Sequence):
        raise InputError(
            "is no rubric.",
            path=path,
            line=line,
            remedy='Give {"task": ..., "title": ..., "items": [{"title": ...}]}.',
        )
    try:
        items = tuple(
            draft_from(
                entry if isinstance(entry, Mapping) else {"title": entry}, where=f"place {number}"
            )
            for number, entry in enumerate(value["items"], 1)
        )
    except UsageError as error:
        raise InputError(error.message, path=path, line=line, remedy=error.remedy) from error
    return RubricFile(
        title=str(value.get("title") or name),
        items=items,
        task=str(value.get("task") or ""),
        notes=str(value.get("notes") or ""),
        extra={
            key: text
            for key, text in value.items()
            if key not in ("id", "task", "title", "notes", "items")
        },
    )
