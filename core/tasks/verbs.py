"""Verbs on fields and tasks."""

from __future__ import annotations

from typing import Any

from core.errors import ConflictError, NotFoundError, UsageError
from core.ids import new_id
from core.storage.reads import Reads
from core.storage.transaction import Transaction
from core.types import (
    TASK_CRITERIA,
    Example,
    Field,
    Rubric,
    SectionSpec,
    Task,
    TaskValidation,
)


def ensure_field(tx: Transaction, name: str) -> Field:
    """The field of that name, made if it is new. Case does not tell fields apart."""
    name = name.strip() or "General"
    for field in tx.find(Field):
        if field.name.casefold() == name.casefold():
            return field
    return tx.insert(Field(id=new_id(), name=name))


def add_task(
    tx: Transaction,
    *,
    field: str,
    objective: str,
    procedure: str = "",
    input_sections: tuple[SectionSpec, ...] = (),
    output_sections: tuple[SectionSpec, ...] = (),
    notes: str = "",
    author: str = "",
    extra: dict[str, Any] | None = None,
    task_id: str | None = None,
) -> Task:
    """Add a task. Its objective is its name in lists."""
    if not objective.strip():
        raise UsageError(
            "A task needs an objective.", remedy="Say in one sentence what is written."
        )
    _check_sections(input_sections, "input")
    _check_sections(output_sections, "output")
    return tx.insert(
        Task(
            id=task_id or new_id(),
            field_id=ensure_field(tx, field).id,
            objective=objective.strip(),
            procedure=procedure,
            input_sections=input_sections,
            output_sections=output_sections,
            notes=notes,
            author=author,
            extra=extra or {},
        )
    )


def edit_task(tx: Transaction, /, task_id: str, **fields: Any) -> Task:
    """Change some of a task's fields; ``field`` is given by name.

    Examples
    --------
    ``edit_task(tx, task.id, objective="Write a SOAP note", field="Medicine")``
    """
    if "field" in fields:
        fields["field_id"] = ensure_field(tx, fields.pop("field")).id
    for side in ("input", "output"):
        if f"{side}_sections" in fields:
            fields[f"{side}_sections"] = tuple(fields[f"{side}_sections"])
            _check_sections(fields[f"{side}_sections"], side)
    if not str(fields.get("objective", "x")).strip():
        raise UsageError(
            "A task needs an objective.", remedy="Say in one sentence what is written."
        )
    return tx.update(Task, task_id, **fields)


def delete_task(tx: Transaction, task_id: str) -> None:
    """Delete a task that nothing depends on."""
    for type_, word in ((Example, "examples"), (Rubric, "rubrics")):
        count = tx.count(type_, "task_id = ?", (task_id,))
        if count:
            raise ConflictError(
                f"The task still has {count} {word}.", remedy=f"Delete its {word} first."
            )
    tx.delete(Task, task_id)


def validate_task(
    tx: Transaction, task_id: str, person_id: str, criterion: str, answer: bool, comment: str = ""
) -> TaskValidation:
    """Record one person's answer to one of the paper's five criteria; a later answer replaces it."""
    if criterion not in TASK_CRITERIA:
        raise UsageError(
            f"'{criterion}' is no criterion.", remedy=f"Use one of {', '.join(TASK_CRITERIA)}."
        )
    earlier = tx.find(
        TaskValidation,
        "task_id = ? AND person_id = ? AND criterion = ?",
        (task_id, person_id, criterion),
    )
    if earlier:
        return tx.update(TaskValidation, earlier[0].id, answer=answer, comment=comment)
    return tx.insert(
        TaskValidation(
            id=new_id(),
            task_id=tx.get(Task, task_id).id,
            person_id=person_id,
            criterion=criterion,
            answer=answer,
            comment=comment,
        )
    )


def clear_validation(tx: Transaction, task_id: str, person_id: str, criterion: str) -> None:
    """Take back a person's answer to a criterion."""
    for earlier in tx.find(
        TaskValidation,
        "task_id = ? AND person_id = ? AND criterion = ?",
        (task_id, person_id, criterion),
    ):
        tx.delete(TaskValidation, earlier.id)


def find_task(reads: Reads, id_or_objective: str) -> Task:
    """A task by id or, whatever the case, by objective.

    Raises
    ------
    NotFoundError
        When there is none, or several have that objective.
    """
    by_id = reads.find(Task, "id = ?", (id_or_objective,))
    found = by_id or reads.find(
        Task, "objective = ? COLLATE NOCASE", (id_or_objective.strip(),), limit=2
    )
    if len(found) == 1:
        return found[0]
    problem = "There is no task" if not found else "Several tasks are called"
    raise NotFoundError(
        f"{problem} '{id_or_objective}' in this workspace.",
        remedy="Give the task's id; 'rifugio info' lists tasks.",
    )


def _check_sections(sections: tuple[SectionSpec, ...], side: str) -> None:
    titles = [section.title.strip().casefold() for section in sections]
    if not all(titles):
        raise UsageError(f"An {side} section has no title.", remedy="Give each section a title.")
    doubled = {title for title in titles if titles.count(title) > 1}
    if doubled:
        raise ConflictError(
            f"Two {side} sections are called '{sorted(doubled)[0]}'.",
            remedy="Give each section a title of its own.",
        )
