"""The rubric page's words for kinds, flaws, states and fields."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from app.strings import say
from core.rubrics.linter import Finding
from core.rubrics.versions import ItemChange
from core.types import RubricItem

KINDS = {
    "content": "content",
    "yes_no": "yes or no",
    "one_of": "one of",
    "list": "list",
}
STATES = {"draft": "Draft", "in_review": "In review", "locked": "Locked"}
FLAWS = {
    "subjective": "Subjective",
    "compound": "Compound",
    "overlapping": "Overlapping",
    "unanswerable": "Unanswerable",
    "untestable": "Untestable",
    "condition": "Condition",
    "options": "Options",
}
_FIELDS = {
    "title": "title",
    "description": "what to look for",
    "example": "example",
    "group": "group",
    "kind": "kind",
    "options": "options",
    "condition": "condition",
    "weight": "weight",
    "tags": "tags",
    "example_id": "the example it counts for",
}
_CHANGES = {
    "added": "Added",
    "removed": "Removed",
    "changed": "Changed",
    "moved": "Moved",
}


def describe_kind(item: RubricItem) -> str:
    """An item's kind, with its options where it has them."""
    words = say(KINDS[item.kind])
    return f"{words}: {', '.join(item.options)}" if item.options else words


def describe_findings(findings: Sequence[Finding]) -> str:
    """Flaws in one line, for tooltips and assistive tools."""
    return "; ".join(f"{say(FLAWS[f.flaw])}: {f.message}" for f in findings)


def describe_change(change: ItemChange) -> str:
    """One difference between two versions, in words."""
    head = f"{say(_CHANGES[change.kind])}: {change.title}"
    parts = [
        say(
            "{field} was '{before}', is '{after}'",
            field=say(_FIELDS[name]),
            before=_short(before),
            after=_short(after),
        )
        for name, (before, after) in change.fields.items()
    ]
    return f"{head} ({'; '.join(parts)})" if parts else head


def human_preview(item: RubricItem) -> str:
    """How a person is asked for an item."""
    lines = [item.title + (f" ({describe_kind(item)})" if item.kind != "content" else "")]
    if item.description:
        lines.append(item.description)
    if item.example:
        lines.append(say("For example: {words}", words=item.example))
    if item.condition:
        lines.append(say("Applies: {words}", words=item.condition))
    return "\n".join(lines)


def _short(value: Any) -> str:
    if isinstance(value, tuple):
        value = ", ".join(str(part) for part in value)
    text = " ".join(str(value).split())
    return text if len(text) <= 60 else text[:59] + "…"
