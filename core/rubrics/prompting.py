"""The rubric shown to a system in its prompt, for the experiment whether that helps."""

from __future__ import annotations

from dataclasses import replace

from core.rubrics.verbs import example_of, rubric_items
from core.storage.reads import Reads
from core.types import RubricItem, Task

#: The prompt that shows the rubric, and otherwise asks as the plain one does.
RUBRIC_PROMPT = "rubric_long_form"


def rubric_for_prompt(reads: Reads, task_id: str) -> list[RubricItem]:
    """The items a prompt shows: the task's locked rubric's, else its latest one's; none without one.

    Items of single examples are left out, since they would tell what the example is about.
    """
    rows = reads.query(
        "SELECT id FROM rubric WHERE task_id = ? AND deleted = 0"
        " ORDER BY state = 'locked' DESC, id DESC LIMIT 1",
        (task_id,),
    )
    if not rows:
        return []
    return [item for item in rubric_items(reads, rows[0]["id"]) if not example_of(item)]


def with_rubric(reads: Reads, task: Task) -> Task:
    """The task with its rubric's items under its notes, which is where the prompt shows them."""
    items = rubric_for_prompt(reads, task.id)
    if not items:
        return task
    lines = [f"- {item.title}: {item.description}".rstrip(": ") for item in items]
    rubric = "\n".join(["The text is checked for these items:", *lines])
    return replace(task, notes=f"{task.notes}\n{rubric}".strip())
