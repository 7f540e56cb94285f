"""Small workspaces for tests, made through the same verbs as the application's."""

from __future__ import annotations

from core.examples.verbs import add_example
from core.runs.verbs import add_run, add_system
from core.storage import Transaction, Workspace
from core.tasks.verbs import add_task
from core.types import Example, Run, SectionSpec, SectionText, System, Task

SECTIONS = ("Subjective", "Objective")


def make_task(tx: Transaction, objective: str = "Write a note") -> Task:
    """A task with one input and two output sections."""
    return add_task(
        tx,
        field="Medicine",
        objective=objective,
        procedure="Read, then write.",
        input_sections=(SectionSpec(title="Transcript"),),
        output_sections=tuple(SectionSpec(title=title) for title in SECTIONS),
    )


def make_example(tx: Transaction, task_id: str, text: str = "The patient coughs.") -> Example:
    """An example whose reference stands in both sections."""
    return add_example(
        tx,
        task_id,
        title=text,
        input=(SectionText(title="Transcript", text=text),),
        output=tuple(SectionText(title=title, text=f"{title}: {text}") for title in SECTIONS),
    )


def make_run(
    workspace: Workspace, examples: int = 3, *, params: dict[str, object] | None = None
) -> tuple[Run, System]:
    """A run of a fake model on so many new examples, all pending."""

    def fill(tx: Transaction) -> tuple[Run, System]:
        task = make_task(tx)
        ids = [make_example(tx, task.id, f"Case {n} coughs.").id for n in range(examples)]
        system = add_system(tx, "Fake", model_id="fake-generator", params=params or {})
        return add_run(tx, system.id, ids), system

    return workspace.transact("Fill", "", fill).value
