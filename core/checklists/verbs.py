"""Verbs on checklists: a text mapped to a rubric by a person, a model or an import, always editable."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.checklists.spans import place_answer
from core.errors import ConflictError, UsageError
from core.ids import new_id
from core.metrics.clear import is_na
from core.rubrics.verbs import items_for
from core.rubrics.versions import current_items, rubric_versions
from core.storage.reads import Reads
from core.storage.transaction import Transaction
from core.tasks.sections import join_sections
from core.types import Example, Output, Rubric, RubricItem
from core.types.rubrics import Checklist, ChecklistEntry, EntryState, MapperKind


@dataclass(frozen=True, slots=True)
class Target:
    """What is mapped: an example's reference, or with ``output_id`` an output, to a rubric."""

    rubric_id: str
    example_id: str
    output_id: str = ""


def text_of(reads: Reads, target: Target) -> str:
    """The text a checklist is of. Positions in entries count in it.

    Raises
    ------
    ConflictError
        When there is none: the example has no reference, or the output was not written.
    """
    if target.output_id:
        output = reads.get(Output, target.output_id)
        if output.state != "done" or not output.text.strip():
            raise ConflictError(
                f"The output has no text: {output.error or 'it was not written yet'}.",
                remedy="Let it be written first.",
            )
        return output.text
    example = reads.get(Example, target.example_id)
    text = join_sections(example.output)
    if not text:
        raise ConflictError(
            f"The example '{example.title}' has no reference.", remedy="Write it under Examples."
        )
    return text


def text_hash(text: str) -> str:
    """SHA-256 by which a changed text is noticed."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def find_checklist(
    reads: Reads, target: Target, mapper_kind: MapperKind = "person", mapper: str = ""
) -> Checklist | None:
    """The latest checklist of a target by one mapper."""
    found = reads.find(
        Checklist,
        "rubric_id = ? AND example_id = ? AND output_id = ? AND mapper_kind = ? AND mapper = ?",
        (target.rubric_id, target.example_id, target.output_id, mapper_kind, mapper),
        order_by="id DESC",
        limit=1,
    )
    return found[0] if found else None


def checklists_of(reads: Reads, target: Target) -> list[Checklist]:
    """All checklists of a target: persons' first, then imported ones and models', each the latest first."""
    order = "CASE mapper_kind WHEN 'person' THEN 0 WHEN 'imported' THEN 1 ELSE 2 END, id DESC"
    return reads.find(
        Checklist,
        "rubric_id = ? AND example_id = ? AND output_id = ?",
        (target.rubric_id, target.example_id, target.output_id),
        order_by=order,
    )


def start_checklist(
    tx: Transaction,
    target: Target,
    *,
    mapper_kind: MapperKind = "person",
    mapper: str | None = None,
    signature: Mapping[str, Any] | None = None,
) -> Checklist:
    """The mapper's checklist of a target, made when there is none or when the text changed since."""
    name = tx.person if mapper is None else mapper
    digest = text_hash(text_of(tx, target))
    found = find_checklist(tx, target, mapper_kind, name)
    if found is not None and found.text_sha256 == digest:
        return found
    return tx.insert(
        Checklist(
            id=new_id(),
            rubric_id=tx.get(Rubric, target.rubric_id).id,
            example_id=target.example_id,
            output_id=target.output_id,
            version_id=_version_of_now(tx, target.rubric_id),
            mapper_kind=mapper_kind,
            mapper=name,
            text_sha256=digest,
            signature=dict(signature or {}),
        )
    )


def target_of(checklist: Checklist) -> Target:
    """What a checklist maps."""
    return Target(checklist.rubric_id, checklist.example_id, checklist.output_id)


def is_stale(reads: Reads, checklist: Checklist) -> bool:
    """Whether the text changed since it was mapped, so that positions no longer fit."""
    try:
        return text_hash(text_of(reads, target_of(checklist))) != checklist.text_sha256
    except ConflictError:
        return True


def entries_of(reads: Reads, checklist_id: str) -> dict[str, ChecklistEntry]:
    """A checklist's entries by item id; items nobody has looked at are not among them."""
    return {
        entry.item_id: entry
        for entry in reads.find(ChecklistEntry, "checklist_id = ?", (checklist_id,))
    }


def checklist_items(reads: Reads, checklist: Checklist) -> list[RubricItem]:
    """The items a checklist is about."""
    return items_for(reads, checklist.rubric_id, checklist.example_id)


def set_entry(tx: Transaction, /, checklist_id: str, item_id: str, **fields: Any) -> ChecklistEntry:
    """Write an entry, whether it is there or not."""
    found = tx.find(
        ChecklistEntry, "checklist_id = ? AND item_id = ?", (checklist_id, item_id), limit=1
    )
    if found:
        return tx.update(ChecklistEntry, found[0].id, **fields)
    tx.get(Checklist, checklist_id)
    return tx.insert(
        ChecklistEntry(id=new_id(), checklist_id=checklist_id, item_id=item_id, **fields)
    )


def fill_entry(
    tx: Transaction,
    checklist_id: str,
    item_id: str,
    *,
    start: int,
    end: int,
    add: bool = False,
) -> ChecklistEntry:
    """Fill an item with a stretch of the text, or add it to what is there.

    Raises
    ------
    UsageError
        When the stretch is empty or outside the text.
    """
    checklist = tx.get(Checklist, checklist_id)
    text = text_of(tx, target_of(checklist))
    if not 0 <= start < end <= len(text) or not text[start:end].strip():
        raise UsageError("No text is selected.", remedy="Select what the text says on the item.")
    old = entries_of(tx, checklist_id).get(item_id)
    spans = [[start, end]]
    if add and old is not None and old.state == "filled":
        spans = sorted([*spans_of(old), spans[0]])
    return set_entry(
        tx,
        checklist_id,
        item_id,
        state="filled",
        text="; ".join(" ".join(text[a:b].split()) for a, b in spans),
        start=spans[0][0],
        end=spans[0][1],
        reason="",
        probability=None,
        edited=_is_edit(checklist),
        check={"spans": spans},
    )


def write_entry(tx: Transaction, checklist_id: str, item_id: str, text: str) -> ChecklistEntry:
    """Fill an item with words of one's own; where they stand in the text is found where they do."""
    checklist = tx.get(Checklist, checklist_id)
    if is_na(text):
        return mark_entry(tx, checklist_id, item_id, "na")
    return set_entry(
        tx,
        checklist_id,
        item_id,
        state="filled",
        text=text.strip(),
        reason="",
        probability=None,
        edited=_is_edit(checklist),
        **place_answer(text_of(tx, target_of(checklist)), text),
    )


def mark_entry(
    tx: Transaction, checklist_id: str, item_id: str, state: EntryState
) -> ChecklistEntry:
    """Say that the text has nothing on an item, that the item does not apply, or open it again."""
    if state not in ("open", "na", "not_applicable"):
        raise UsageError(f"An entry cannot be marked '{state}'.", remedy="Fill it instead.")
    checklist = tx.get(Checklist, checklist_id)
    return set_entry(
        tx,
        checklist_id,
        item_id,
        state=state,
        text="",
        start=-1,
        end=-1,
        reason="",
        probability=None,
        edited=_is_edit(checklist),
        check={},
    )


def finish_checklist(tx: Transaction, checklist_id: str, *, rest: EntryState = "na") -> Checklist:
    """Close a checklist: items not looked at are marked as not in the text.

    Raises
    ------
    ConflictError
        When a model left an item unscored.
    """
    checklist = tx.get(Checklist, checklist_id)
    entries = entries_of(tx, checklist_id)
    for item in checklist_items(tx, checklist):
        entry = entries.get(item.id)
        if entry is not None and entry.state == "unscored":
            raise ConflictError(
                f"'{item.title}' is unscored: {entry.reason}", remedy="Fill it, or mark it N/A."
            )
        if entry is None or entry.state == "open":
            mark_entry(tx, checklist_id, item.id, rest)
    return tx.update(Checklist, checklist_id, state="done")


def delete_checklist(tx: Transaction, checklist_id: str) -> None:
    """Delete a checklist with its entries; what was judged by it goes, too."""
    from core.types.rubrics import Judgement, Verdict

    for judgement in tx.find(
        Judgement, "reference_id = ? OR output_checklist_id = ?", (checklist_id, checklist_id)
    ):
        for verdict in tx.find(Verdict, "judgement_id = ?", (judgement.id,)):
            tx.delete(Verdict, verdict.id)
        tx.delete(Judgement, judgement.id)
    for entry in entries_of(tx, checklist_id).values():
        tx.delete(ChecklistEntry, entry.id)
    tx.delete(Checklist, checklist_id)


def spans_of(entry: ChecklistEntry) -> list[list[int]]:
    """All stretches of the text an entry rests on."""
    spans = entry.check.get("spans") if entry.check else None
    if isinstance(spans, Sequence) and spans:
        return [[int(a), int(b)] for a, b in spans]
    return [[entry.start, entry.end]] if 0 <= entry.start < entry.end else []


def _is_edit(checklist: Checklist) -> bool:
    return checklist.mapper_kind != "person"


def _version_of_now(reads: Reads, rubric_id: str) -> str:
    """The latest version's id when the items are still those; '' for a draft beyond it."""
    versions = rubric_versions(reads, rubric_id)
    if versions and versions[0].items == current_items(reads, rubric_id):
        return versions[0].id
    return ""
