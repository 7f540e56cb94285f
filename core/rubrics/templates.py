"""Rubric templates that ship: the eleven ExpertLongBench tasks, each a task description with a rubric.

Titles of items are the published topics where they are published ('adapted'); wording, examples and
conditions are ours. Where no items are published all of them are ours ('ours') and say so.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from core.errors import NotFoundError
from core.resources import resource_path
from core.rubrics.drafts import ItemDraft, draft_from
from core.rubrics.verbs import add_rubric, add_rubric_items
from core.storage.transaction import Transaction
from core.tasks.verbs import add_task
from core.types import Rubric, SectionSpec, Task

Origin = Literal["adapted", "ours"]

#: What a rubric made from a template says about itself.
LABELS: Mapping[Origin, str] = {
    "adapted": "Adapted from the benchmark's published topics",
    "ours": "Ours, not the benchmark's, not yet reviewed by an expert",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RubricTemplate:
    """A task with its rubric. ``code`` is the benchmark's name of the task, T1 to T11."""

    code: str
    origin: Origin
    source: str
    field: str
    objective: str
    procedure: str
    input: tuple[str, ...]
    output: tuple[str, ...]
    title: str
    items: tuple[ItemDraft, ...]

    @property
    def label(self) -> str:
        """Whose items these are."""
        return LABELS[self.origin]


@cache
def rubric_templates() -> tuple[RubricTemplate, ...]:
    """All templates, T1 first."""
    folder = resource_path("templates", "rubrics")
    return tuple(
        _read(tomllib.loads(path.read_text(encoding="utf-8")))
        for path in sorted(folder.glob("t*.toml"))
    )


def rubric_template(code: str) -> RubricTemplate:
    """The template of a task such as 'T6'.

    Raises
    ------
    NotFoundError
        When there is none; lists those there are.
    """
    for template in rubric_templates():
        if template.code.casefold() == code.strip().casefold():
            return template
    known = ", ".join(template.code for template in rubric_templates())
    raise NotFoundError(f"There is no template '{code}'.", remedy=f"Use one of {known}.")


def use_template(tx: Transaction, code: str, *, task_id: str = "") -> Rubric:
    """Add a template's rubric to a task, or with its own task, which is made where it is missing."""
    template = rubric_template(code)
    if not task_id:
        task_id = _task_of(tx, template).id
    rubric = add_rubric(
        tx,
        task_id,
        template.title,
        notes=f"{template.label}. {template.source}",
        extra={"template": template.code, "origin": template.origin},
    )
    add_rubric_items(tx, rubric.id, template.items)
    return rubric


def origin_label(rubric: Rubric) -> str:
    """Whose items a rubric made from a template has; '' for other rubrics."""
    labels = {str(name): words for name, words in LABELS.items()}
    return labels.get(str(rubric.extra.get("origin")), "")


def _task_of(tx: Transaction, template: RubricTemplate) -> Task:
    found = tx.find(Task, "objective = ? COLLATE NOCASE", (template.objective,), limit=1)
    if found:
        return found[0]
    return add_task(
        tx,
        field=template.field,
        objective=template.objective,
        procedure=template.procedure,
        input_sections=_sections(template.input),
        output_sections=_sections(template.output),
        notes=template.source,
    )


def _sections(titles: Sequence[str]) -> tuple[SectionSpec, ...]:
    specs = []
    for title in titles:
        # 'Objective: results' is a title; 'Record: complaint, history' has its description behind.
        head, colon, rest = title.partition(": ")
        described = bool(colon) and "," in rest
        specs.append(
            SectionSpec(title=head if described else title, description=rest if described else "")
        )
    return tuple(specs)


def _read(data: Mapping[str, Any]) -> RubricTemplate:
    task = data["task"]
    return RubricTemplate(
        code=data["code"],
        origin=data["origin"],
        source=data["source"],
        field=task["field"],
        objective=task["objective"],
        procedure=" ".join(task["procedure"].split()),
        input=tuple(task["input"]),
        output=tuple(task["output"]),
        title=data["rubric"]["title"],
        items=tuple(
            draft_from(item, where=f"{data['code']}, item {number}")
            for number, item in enumerate(data["items"], 1)
        ),
    )
