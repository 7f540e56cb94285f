"""Checklists in the published format: ``{sample_id: {"checklist": {item: text or "N/A"}}}``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.checklists.spans import place_answer
from core.checklists.verbs import (
    Target,
    checklist_items,
    entries_of,
    set_entry,
    start_checklist,
    text_of,
)
from core.errors import ConflictError, KnownError, NotFoundError
from core.metrics.clear import is_na
from core.rubrics.conditions import fold_title
from core.rubrics.imports import example_of_sample
from core.storage.reads import Reads
from core.storage.transaction import Transaction
from core.types import Example, Output, Rubric
from core.types.rubrics import Checklist


def add_imported_checklists(
    tx: Transaction,
    rubric_id: str,
    samples: Mapping[str, Mapping[str, str]],
    mapper: str,
    *,
    run_id: str = "",
) -> tuple[list[Checklist], list[tuple[str, str]]]:
    """Checklists of references, or with ``run_id`` of that run's outputs, found by sample id.

    Returns
    -------
    tuple
        The checklists made, and (sample id, reason) of those left out.
    """
    task_id = tx.get(Rubric, rubric_id).task_id
    made, skipped = [], []
    for sample, texts in samples.items():
        try:
            example = example_of_sample(tx, task_id, sample)
            output_id = _output_of(tx, run_id, example.id) if run_id else ""
            target = Target(rubric_id, example.id, output_id)
            text = text_of(tx, target)
            checklist = start_checklist(tx, target, mapper_kind="imported", mapper=mapper)
        except KnownError as error:
            skipped.append((sample, error.message))
            continue
        known = {fold_title(title): text for title, text in texts.items()}
        for item in checklist_items(tx, checklist):
            said = known.get(fold_title(item.title))
            if said is not None:
                set_entry(tx, checklist.id, item.id, **_fields(text, said))
        made.append(tx.update(Checklist, checklist.id, state="done"))
    return made, skipped


def export_checklists(
    reads: Reads, rubric_id: str, path: Path, *, run_id: str = "", mapper: str = ""
) -> int:
    """Write references' checklists, or with ``run_id`` its outputs', in the published format.

    Of each example the first mapper's is taken, persons before models, unless ``mapper`` names one.

    Returns
    -------
    int
        How many samples were written.

    Raises
    ------
    ConflictError
        When there is none.
    """
    from core.checklists.verbs import checklists_of

    found: dict[str, Any] = {}
    for example in reads.find(
        Example, "task_id = ?", (reads.get(Rubric, rubric_id).task_id,), order_by="id"
    ):
        try:
            output_id = _output_of(reads, run_id, example.id) if run_id else ""
        except NotFoundError:
            continue
        candidates = [
            checklist
            for checklist in checklists_of(reads, Target(rubric_id, example.id, output_id))
            if not mapper or checklist.mapper == mapper
        ]
        if candidates:
            found[_sample_name(found, example)] = {"checklist": _texts(reads, candidates[0])}
    if not found:
        raise ConflictError("There is no checklist to export.", remedy="Map a text first.")
    path.write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return len(found)


def _texts(reads: Reads, checklist: Checklist) -> dict[str, str]:
    entries = entries_of(reads, checklist.id)
    texts = {}
    for item in checklist_items(reads, checklist):
        entry = entries.get(item.id)
        filled = entry is not None and entry.state == "filled"
        texts[item.title] = entry.text if entry is not None and filled else "N/A"
    return texts


def _fields(text: str, said: str) -> dict[str, Any]:
    if is_na(said):
        return {"state": "na", "text": "", "start": -1, "end": -1}
    return {"state": "filled", "text": said.strip(), **place_answer(text, said)}


def _output_of(reads: Reads, run_id: str, example_id: str) -> str:
    found = reads.find(
        Output, "run_id = ? AND example_id = ?", (run_id, example_id), order_by="position", limit=1
    )
    if not found:
        raise NotFoundError("The run has no output of this example.")
    return found[0].id


def _sample_name(found: Mapping[str, Any], example: Example) -> str:
    return example.title if example.title and example.title not in found else example.id
