"""What the keys of a comparison write, each as one verb; and the check of a checklist as a job."""

from __future__ import annotations

from typing import Any

from app.strings import say
from core.checklists.checks import CoverageCheck, EntryCheck, check_and_keep, check_coverage
from core.checklists.judging import record_verdict
from core.checklists.verbs import Target, fill_entry, mark_entry, start_checklist, write_entry
from core.ports import Cancellation, ProgressCallback
from core.storage.transaction import Transaction
from core.storage.workspace import Workspace
from core.types.rubrics import ChecklistEntry

_MOST_NAMED, _MOST_DIFFERENCES = 8, 4


def map_item(
    tx: Transaction,
    target: Target,
    checklist_id: str,
    item_id: str,
    what: str,
    fields: dict[str, Any],
) -> ChecklistEntry:
    """Write one entry ('fill', 'write' or 'mark'), into one's own checklist where none is chosen."""
    if not checklist_id:
        checklist_id = start_checklist(tx, target).id
    if what == "fill":
        return fill_entry(tx, checklist_id, item_id, **fields)
    if what == "write":
        return write_entry(tx, checklist_id, item_id, fields["text"])
    return mark_entry(tx, checklist_id, item_id, fields["state"])


def judge_item(
    tx: Transaction,
    reference_id: str,
    output_checklist_id: str,
    item_id: str,
    *,
    adjudicate: bool,
    **verdict: Any,
) -> None:
    """One's own verdict; where judges differ it also settles the item."""
    record_verdict(tx, reference_id, output_checklist_id, item_id, **verdict)
    if adjudicate:
        record_verdict(tx, reference_id, output_checklist_id, item_id, adjudicate=True, **verdict)


def run_checks(
    workspace: Workspace,
    models: Any,
    checklist_id: str,
    person_id: str,
    *,
    progress: ProgressCallback,
    cancel: Cancellation,
) -> tuple[list[EntryCheck], CoverageCheck]:
    """Both checks of a checklist.

    With ``models`` the default entailment model also looks whether reworded entries are in the text, and
    the default language model for items that may have been missed.
    """
    entailment = models.entailment() if models is not None else None
    checks = check_and_keep(workspace, checklist_id, entailment, person=person_id, cancel=cancel)
    generator = models.generator() if models is not None else None
    coverage = check_coverage(workspace, checklist_id, generator, progress=progress, cancel=cancel)
    return checks, coverage


def describe_checks(checks: list[EntryCheck], coverage: CoverageCheck) -> str:
    """What the checks found, in a few sentences."""
    lost = [check.item.title for check in checks if check.support == "not found"]
    other = [f"{check.item.title}: {check.differences[0]}" for check in checks if check.differences]
    parts = []
    entailed = [
        check.item.title
        for check in checks
        if check.support == "supported" and check.probability is not None
    ]
    if lost:
        titles = "; ".join(lost[:_MOST_NAMED])
        # Without a model nothing but the words themselves has been looked at.
        asked = any(check.probability is not None for check in checks)
        words = say("Not found in the text") if asked else say("Not word for word in the text")
        parts.append(f"{words}: {titles}.")
    else:
        parts.append(say("Every entry is in the text."))
    if entailed:
        titles = "; ".join(entailed[:_MOST_NAMED])
        parts.append(say("In other words in the text: {titles}.", titles=titles))
    if other:
        words = "; ".join(other[:_MOST_DIFFERENCES])
        parts.append(say("Otherwise in the text: {words}.", words=words))
    if coverage.share_used is not None and coverage.sentences:
        parts.append(
            say(
                "{share:.0%} of the sentences are behind an entry; the others are grey.",
                share=coverage.share_used,
            )
        )
    elif coverage.share_used is not None:
        parts.append(say("Every sentence is behind an entry."))
    if coverage.suspected:
        names = "; ".join(
            f"{item.title} ({share:.0%})" for item, share in coverage.suspected[:_MOST_NAMED]
        )
        parts.append(say("The model sees something on: {names}.", names=names))
    return " ".join(parts)
