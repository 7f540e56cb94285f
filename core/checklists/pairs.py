"""An output's checklist beside the reference's: for each item both texts, and whether it applies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from core.checklists.verbs import checklist_items, entries_of
from core.ids import new_id
from core.rubrics.conditions import find_applicable, fold_title
from core.storage.reads import Reads
from core.storage.transaction import Transaction
from core.types import RubricItem
from core.types.rubrics import Checklist, ChecklistEntry, JudgeKind, Judgement, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemPair:
    """One item on both sides. ``applies`` is None where its condition cannot be told.

    ``reference`` and ``output`` are '' where a side has nothing; ``open`` says in words which side has
    not been mapped, '' when both have.
    """

    item: RubricItem
    applies: bool | None
    reference: str
    output: str
    open: str
    reference_entry: ChecklistEntry | None
    output_entry: ChecklistEntry | None

    @property
    def asked(self) -> bool:
        """Whether a judge has to say something: both sides have content on an item that applies."""
        return bool(self.applies and self.reference and self.output and not self.open)


def read_pairs(reads: Reads, reference_id: str, output_checklist_id: str) -> list[ItemPair]:
    """All items of two checklists, in order. Conditions are reckoned from the reference's texts."""
    checklist = reads.get(Checklist, reference_id)
    items = checklist_items(reads, checklist)
    left = entries_of(reads, reference_id)
    right = entries_of(reads, output_checklist_id)
    applicable = find_applicable(
        items,
        {fold_title(item.title): _value(left.get(item.id)) for item in items},
        {
            item.id: False if _state(left.get(item.id)) == "not_applicable" else None
            for item in items
        },
    )
    pairs = []
    for item in items:
        reference, output = left.get(item.id), right.get(item.id)
        applies = applicable[item.id]
        pairs.append(
            ItemPair(
                item=item,
                applies=applies,
                reference=_text(reference),
                output=_text(output),
                open="" if applies is False else _open(item, applies, reference, output),
                reference_entry=reference,
                output_entry=output,
            )
        )
    return pairs


def judgement_of(
    reads: Reads, reference_id: str, output_checklist_id: str, kind: JudgeKind, judge: str
) -> Judgement | None:
    """A judge's comparison of two checklists."""
    found = reads.find(
        Judgement,
        "reference_id = ? AND output_checklist_id = ? AND judge_kind = ? AND judge = ?",
        (reference_id, output_checklist_id, kind, judge),
        limit=1,
    )
    return found[0] if found else None


def judgements_of(reads: Reads, reference_id: str, output_checklist_id: str) -> list[Judgement]:
    """All judges' comparisons of two checklists, persons' first."""
    order = (
        "CASE judge_kind WHEN 'adjudication' THEN 0 WHEN 'person' THEN 1 WHEN 'model' THEN 2"
        " ELSE 3 END, id"
    )
    return reads.find(
        Judgement,
        "reference_id = ? AND output_checklist_id = ?",
        (reference_id, output_checklist_id),
        order_by=order,
    )


def verdicts_of(reads: Reads, judgement_id: str) -> dict[str, Verdict]:
    """A judge's verdicts by item id."""
    return {
        verdict.item_id: verdict
        for verdict in reads.find(Verdict, "judgement_id = ?", (judgement_id,))
    }


def pairs_to_judge(reads: Reads, judgement: Judgement) -> list[ItemPair]:
    """What a judge still has to say: asked items without a verdict, or with one that failed."""
    known = verdicts_of(reads, judgement.id)
    return [
        pair
        for pair in read_pairs(reads, judgement.reference_id, judgement.output_checklist_id)
        if pair.asked and (pair.item.id not in known or known[pair.item.id].unscored)
    ]


def set_verdict(tx: Transaction, /, judgement_id: str, item_id: str, **fields: Any) -> Verdict:
    """Write a verdict, whether there is one or not."""
    found = tx.find(Verdict, "judgement_id = ? AND item_id = ?", (judgement_id, item_id), limit=1)
    if found:
        return tx.update(Verdict, found[0].id, **fields)
    return tx.insert(Verdict(id=new_id(), judgement_id=judgement_id, item_id=item_id, **fields))


def _state(entry: ChecklistEntry | None) -> str:
    return entry.state if entry is not None else "open"


def _value(entry: ChecklistEntry | None) -> str | None:
    """What conditions see: None where nobody has looked."""
    state = _state(entry)
    if state in ("open", "unscored"):
        return None
    return _text(entry)


def _text(entry: ChecklistEntry | None) -> str:
    return entry.text if entry is not None and entry.state == "filled" else ""


def _open(
    item: RubricItem,
    applies: bool | None,
    reference: ChecklistEntry | None,
    output: ChecklistEntry | None,
) -> str:
    if applies is None:
        return f"Whether '{item.title}' applies cannot be told: an item it depends on is open."
    for side, entry in (("reference", reference), ("output", output)):
        state = _state(entry)
        if state == "unscored" and entry is not None:
            return f"The {side} could not be mapped: {entry.reason}"
        if state == "open":
            return f"The {side} has not been mapped."
    return ""
