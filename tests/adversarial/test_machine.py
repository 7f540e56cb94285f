"""Any order of verbs, undo, redo, closing, reopening and being killed, against a plain model of it."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from core.examples.verbs import add_example, delete_example, edit_example
from core.people import add_person
from core.rubrics.verbs import add_rubric, add_rubric_item, delete_rubric_item, edit_rubric_item
from core.storage import Transaction, Workspace
from core.storage.audit import check_chain, check_rows
from core.storage.cipher import Key
from core.storage.undo import redo, redoable, undo, undoable
from core.tasks.verbs import add_task, edit_task
from core.types import Example, RubricItem, Task
from tests.conftest import PASSPHRASE

Rows = dict[str, str]
TEXTS = st.sampled_from(["a", "b", "ü 🩺", "שלום", "x" * 3000, "line\nline"])


class _Template:
    """An encrypted workspace with a person, a task and a rubric, made once: making one is slow."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self.path = Path(self._folder.name) / "template.rifugio"
        with Workspace.create(self.path, PASSPHRASE) as workspace:
            assert workspace.key is not None
            self.key: Key = workspace.key.copy()
            self.person = workspace.transact_job("Add", "", add_person, "Ann").value.id
            task = workspace.transact_job("Add", "", add_task, field="Law", objective="base").value
            self.task = task.id
            self.rubric = workspace.transact_job("Add", "", add_rubric, task.id, "R").value.id


_template: list[_Template] = []


def template() -> _Template:
    """The template of this process."""
    if not _template:
        _template.append(_Template())
    return _template[0]


class SafetyMachine(RuleBasedStateMachine):
    """The model is the texts by id, with a stack of states for undo and one for redo."""

    def __init__(self) -> None:
        super().__init__()
        self.base = template()
        self.folder = tempfile.TemporaryDirectory()
        self.number = 0
        self.path = self._next_path()
        shutil.copyfile(self.base.path, self.path)
        self.workspace = self._open()
        self.rows: Rows = {}
        self.past: list[Rows] = []
        self.future: list[Rows] = []

    def _next_path(self) -> Path:
        self.number += 1
        folder = Path(self.folder.name) / str(self.number)
        folder.mkdir()
        return folder / "w.rifugio"

    def _open(self) -> Workspace:
        return Workspace.open_with_key(self.path, self.base.key.copy())

    def _do(self, verb: Any, *args: Any, **more: Any) -> Any:
        return self.workspace.transact("Deed", self.base.person, verb, *args, **more).value

    def _became(self, rows: Rows) -> None:
        if rows != self.rows:
            self.past.append(self.rows)
            self.future.clear()
            self.rows = rows

    def _pick(self, data: Any, kind: str) -> str:
        names = sorted(name for name in self.rows if name.startswith(kind))
        return str(data.draw(st.sampled_from(names))) if names else ""

    @rule(text=TEXTS)
    def add_example(self, text: str) -> None:
        made = self._do(add_example, self.base.task, title=text)
        self._became({**self.rows, f"example {made.id}": made.title})

    @rule(text=TEXTS)
    def add_item(self, text: str) -> None:
        made = self._do(add_rubric_item, self.base.rubric, text)
        self._became({**self.rows, f"item {made.id}": made.title})

    @rule(text=TEXTS)
    def edit_base(self, text: str) -> None:
        self._do(edit_task, self.base.task, notes=text)
        self._became({**self.rows, "task": text})

    @rule(data=st.data(), text=TEXTS)
    def edit(self, data: Any, text: str) -> None:
        name = self._pick(data, data.draw(st.sampled_from(["example", "item"])))
        if not name:
            return
        kind, row = name.split()
        if kind == "example":
            self._do(edit_example, row, title=text)
        else:
            self._do(edit_rubric_item, row, title=text)
        self._became({**self.rows, name: text})

    @rule(data=st.data())
    def delete(self, data: Any) -> None:
        name = self._pick(data, data.draw(st.sampled_from(["example", "item"])))
        if not name:
            return
        kind, row = name.split()
        self._do(delete_example if kind == "example" else delete_rubric_item, row)
        self._became({key: text for key, text in self.rows.items() if key != name})

    @rule(texts=st.lists(TEXTS, min_size=2, max_size=5))
    def import_several(self, texts: list[str]) -> None:
        def add_all(tx: Transaction) -> Rows:
            made = [add_example(tx, self.base.task, title=text) for text in texts]
            return {f"example {example.id}": example.title for example in made}

        self._became(self.rows | self._do(add_all))

    @rule()
    def undo(self) -> None:
        if not self.past:
            assert undoable(self.workspace, self.base.person) is None
            return
        undo(self.workspace, self.base.person)
        self.future.append(self.rows)
        self.rows = self.past.pop()

    @rule()
    def redo(self) -> None:
        if not self.future:
            assert redoable(self.workspace, self.base.person) is None
            return
        redo(self.workspace, self.base.person)
        self.past.append(self.rows)
        self.rows = self.future.pop()

    @rule()
    def reopen(self) -> None:
        self.workspace.close()
        self.workspace = self._open()

    @rule()
    def kill(self) -> None:
        """Go on with the files as they lie on the disk now; the process that had them is gone."""
        self._go_on_with(self._copy_files())

    @rule()
    def kill_within_a_verb(self) -> None:
        """The same in the middle of a transaction, of which nothing may be left."""
        copies: list[Path] = []

        def half(tx: Transaction) -> None:
            add_example(tx, self.base.task, title="never committed")
            edit_task(tx, self.base.task, notes="never committed")
            copies.append(self._copy_files())

        self._do(half)
        self._go_on_with(copies[0])

    def _copy_files(self) -> Path:
        target = self._next_path()
        for source in self.path.parent.iterdir():
            if source.is_file() and not source.name.startswith("."):
                shutil.copyfile(source, target.with_name(source.name))
        return target

    def _go_on_with(self, path: Path) -> None:
        self.workspace.close()
        self.path = path
        self.workspace = self._open()
        assert self.workspace.notes == []

    @invariant()
    def holds_what_the_model_says(self) -> None:
        found = {f"example {e.id}": e.title for e in self.workspace.find(Example)}
        found |= {f"item {item.id}": item.title for item in self.workspace.find(RubricItem)}
        notes = self.workspace.get(Task, self.base.task).notes
        if notes:
            found["task"] = notes
        assert found == {name: text for name, text in self.rows.items() if text}

    def teardown(self) -> None:
        assert check_chain(self.workspace) == []
        assert check_rows(self.workspace) == []
        self.workspace.close()
        self.folder.cleanup()


TestSafetyMachine = SafetyMachine.TestCase
TestSafetyMachine.settings = settings(
    max_examples=12,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
