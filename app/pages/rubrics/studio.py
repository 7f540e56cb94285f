"""What the rubric page reads in one go: the rubric, its items with their flaws, and its history."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from core.rubrics.linter import Finding, lint_items
from core.rubrics.suggestions import RubricComparison, compare_with_expert, suggestions_of
from core.rubrics.templates import origin_label
from core.rubrics.verbs import rubric_items
from core.rubrics.versions import (
    ItemChange,
    comments_of,
    compare_items,
    is_reviewed,
    reviews_of,
    rubric_versions,
    snapshot,
)
from core.storage.workspace import Workspace
from core.types import Example, Person, Rubric, RubricItem, Task
from core.types.rubrics import RubricComment, RubricReview, RubricSuggestion, RubricVersion

_EXAMPLES = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Studio:
    """A rubric with all that its page shows."""

    rubric: Rubric
    task: Task
    items: tuple[RubricItem, ...]
    findings: Mapping[str, tuple[Finding, ...]]
    versions: tuple[RubricVersion, ...]
    changes: tuple[ItemChange, ...]
    comments: tuple[RubricComment, ...]
    reviews: tuple[RubricReview, ...]
    reviewed: bool
    suggestions: tuple[RubricSuggestion, ...]
    comparison: RubricComparison
    people: Mapping[str, str]
    examples: tuple[tuple[str, str], ...]
    origin: str

    @property
    def locked(self) -> bool:
        return self.rubric.state == "locked"

    def item(self, item_id: str) -> RubricItem | None:
        """An item by id."""
        return next((item for item in self.items if item.id == item_id), None)

    def name_of(self, person_id: str) -> str:
        """A person's name; '' when nobody is known."""
        return self.people.get(person_id, "")


def read_studio(
    workspace: Workspace, rubric_id: str, overlaps: Mapping[str, tuple[Finding, ...]]
) -> Studio:
    """Read it all.

    Parameters
    ----------
    overlaps
        What the embedder found earlier, by item id, shown beside what words alone tell.
    """
    rubric = workspace.get(Rubric, rubric_id)
    items = tuple(rubric_items(workspace, rubric_id))
    found: dict[str, list[Finding]] = {}
    for finding in lint_items(items):
        found.setdefault(finding.item_id, []).append(finding)
    known = {item.id for item in items}
    for item_id, extra in overlaps.items():
        own = found.setdefault(item_id, [])
        own += [f for f in extra if f.other_id in known and f.flaw not in {o.flaw for o in own}]
    versions = tuple(rubric_versions(workspace, rubric_id))
    now = tuple(snapshot(item) for item in items)
    suggestions = tuple(suggestions_of(workspace, rubric_id))
    return Studio(
        rubric=rubric,
        task=workspace.get(Task, rubric.task_id),
        items=items,
        findings={item_id: tuple(f) for item_id, f in found.items() if item_id in known},
        versions=versions,
        changes=tuple(compare_items(versions[0].items, now)) if versions else (),
        comments=tuple(comments_of(workspace, rubric_id)),
        reviews=tuple(reviews_of(workspace, rubric_id)),
        reviewed=is_reviewed(workspace, rubric_id),
        suggestions=suggestions,
        comparison=compare_with_expert(items, suggestions),
        people={person.id: person.name for person in workspace.find(Person)},
        examples=tuple(
            (example.id, example.title)
            for example in workspace.find(
                Example, "task_id = ?", (rubric.task_id,), order_by="title", limit=_EXAMPLES
            )
        ),
        origin=origin_label(rubric),
    )
