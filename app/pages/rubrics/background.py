"""What models do for a rubric in the background: find overlaps, tag skills, suggest items."""

from __future__ import annotations

from typing import Any

from core.checklists.skills import tag_with_model
from core.ports import Cancellation, Progress, ProgressCallback
from core.rubrics.linter import Finding, lint_items
from core.rubrics.suggestions import suggest_items
from core.rubrics.verbs import rubric_items
from core.storage.workspace import Workspace


def find_overlaps(
    workspace: Workspace,
    models: Any,
    rubric_id: str,
    *,
    progress: ProgressCallback,
    cancel: Cancellation,
) -> dict[str, tuple[Finding, ...]]:
    """Items that mean the same to the embedder, by item id."""
    items = rubric_items(workspace, rubric_id)
    progress(Progress(0, len(items)))
    found: dict[str, tuple[Finding, ...]] = {}
    for finding in lint_items(items, models.embedder()):
        if finding.flaw == "overlapping":
            found[finding.item_id] = (*found.get(finding.item_id, ()), finding)
    progress(Progress(len(items), len(items)))
    return found


def tag_skills(
    workspace: Workspace,
    models: Any,
    rubric_id: str,
    person_id: str,
    *,
    progress: ProgressCallback,
    cancel: Cancellation,
) -> int:
    """Tag the items nobody has tagged; how many could not be."""
    return tag_with_model(
        workspace,
        rubric_id,
        models.generator(),
        person=person_id,
        progress=progress,
        cancel=cancel,
    )


def suggest(
    workspace: Workspace,
    models: Any,
    rubric_id: str,
    person_id: str,
    *,
    progress: ProgressCallback,
    cancel: Cancellation,
) -> list[Any]:
    """The suggestions that were kept."""
    return list(
        suggest_items(
            workspace,
            rubric_id,
            models.generator(),
            person=person_id,
            progress=progress,
            cancel=cancel,
        )
    )
