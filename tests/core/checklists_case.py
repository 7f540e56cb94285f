"""A case to map and judge: a reference, an output of it, a rubric; and a mapper that is scripted."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from core.checklists import verbs
from core.checklists.verbs import Target
from core.errors import ModelError
from core.people import add_person
from core.ports import (
    Generation,
    GenerationRequest,
)
from core.rubrics.verbs import add_rubric, add_rubric_item, rubric_items
from core.runs.verbs import add_imported_output, add_system
from core.storage import Transaction, Workspace
from core.types import RubricItem, Run
from models.fake import FakeGenerator
from tests.factories import make_example, make_task

REFERENCE = "Onset: three days ago. Drugs: ramipril 5 mg daily. Plan: return in two weeks."


OUTPUT = "The cough began three days ago. He takes ramipril 10 mg daily. He is married."


@dataclass
class Case:
    """A rubric of five items with a reference and an output."""

    workspace: Workspace
    person: str
    rubric: str
    example: str
    output: str
    items: dict[str, RubricItem]

    @property
    def reference_target(self) -> Target:
        return Target(self.rubric, self.example)

    @property
    def output_target(self) -> Target:
        return Target(self.rubric, self.example, self.output)

    def do(self, verb: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return self.workspace.transact("Do", self.person, verb, *args, **kwargs).value

    def map_by_hand(self) -> tuple[str, str]:
        """Both checklists, filled; ids."""
        left = self.do(verbs.start_checklist, self.reference_target).id
        right = self.do(verbs.start_checklist, self.output_target).id
        for title, text in (
            ("Onset", "three days ago"),
            ("Drugs", "ramipril 5 mg daily"),
            ("Plan", "return in two weeks"),
        ):
            self.do(verbs.write_entry, left, self.items[title].id, text)
        for title, text in (
            ("Onset", "three days ago"),
            ("Drugs", "ramipril 10 mg daily"),
            ("Family", "He is married"),
        ):
            self.do(verbs.write_entry, right, self.items[title].id, text)
        self.do(verbs.finish_checklist, left)
        self.do(verbs.finish_checklist, right)
        return left, right


@pytest.fixture
def case(workspace: Workspace) -> Case:
    def fill(tx: Transaction) -> Case:
        person = add_person(tx, "Ann").id
        task = make_task(tx)
        example = make_example(tx, task.id, REFERENCE)
        example = tx.update(type(example), example.id, output=(example.output[0],))
        rubric = add_rubric(tx, task.id, "Note")
        for title, condition in (
            ("Onset", ""),
            ("Drugs", ""),
            ("Plan", ""),
            ("Family", ""),
            ("Doses", '"Drugs" is absent'),
        ):
            add_rubric_item(tx, rubric.id, title, condition=condition, group="All")
        system = add_system(tx, "Imported")
        run = tx.insert(Run(id="run", system_id=system.id))
        output = add_imported_output(
            tx, run.id, example.id, OUTPUT, sections=(), missing=(), position=0
        )
        items = {item.title: item for item in rubric_items(tx, rubric.id)}
        return Case(workspace, person, rubric.id, example.id, output.id, items)

    return workspace.transact("Fill", "", fill).value


@dataclass
class ScriptedMapper(FakeGenerator):
    """Answers by item title: plain texts, or errors to raise. Groups get JSON of the same."""

    texts: dict[str, Any] = field(default_factory=dict)
    group_answer: str | None = None
    asked: list[str] = field(default_factory=list)

    def generate(self, request: GenerationRequest, **kwargs: Any) -> Generation:
        prompt = request.messages[-1].content
        if request.grammar is not None:
            self.asked.append("group")
            if self.group_answer is not None:
                return Generation(text=self.group_answer)
            lines = [
                line.split(". ", 1)[1].split(":")[0].split(" (")[0]
                for line in prompt.splitlines()
                if line[:1].isdigit()
            ]
            return Generation(
                text=json.dumps({str(n): self._say(t) for n, t in enumerate(lines, 1)})
            )
        title = prompt.rsplit("Item: ", 1)[1].split(" (")[0].split(":")[0].strip()
        self.asked.append(title)
        answer = self._say(title)
        if isinstance(answer, Generation):
            return answer
        return Generation(text=answer)

    def _say(self, title: str) -> Any:
        answer = self.texts.get(title, "N/A")
        if isinstance(answer, ModelError):
            raise answer
        return answer
