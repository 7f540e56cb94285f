"""Undo and redo: exact, per person, across reopening, and refused in words where they would overwrite."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from core.errors import ConflictError, NotFoundError
from core.examples.verbs import add_example, delete_example
from core.people import add_person
from core.runs.verbs import add_run, add_system
from core.storage import Transaction, Workspace
from core.storage.audit import check_chain
from core.storage.undo import redo, redoable, undo, undoable
from core.tasks.verbs import add_task, delete_task, edit_task, ensure_field
from core.types import Example, Field, Person, Task


@pytest.fixture
def ann(workspace: Workspace) -> str:
    return workspace.transact_job("Add person", "", add_person, "Ann").value.id


@pytest.fixture
def bob(workspace: Workspace) -> str:
    return workspace.transact_job("Add person", "", add_person, "Bob").value.id


def make_task(workspace: Workspace, person: str, objective: str = "Write a note") -> Task:
    return workspace.transact(
        "Add task", person, add_task, field="Medicine", objective=objective
    ).value


def rename(workspace: Workspace, person: str, task_id: str, objective: str) -> None:
    workspace.transact("Edit task", person, edit_task, task_id, objective=objective)


def test_nothing_to_undo_at_first(workspace: Workspace, ann: str) -> None:
    assert undoable(workspace, ann) is None
    assert redoable(workspace, ann) is None
    with pytest.raises(NotFoundError):
        undo(workspace, ann)
    with pytest.raises(NotFoundError):
        redo(workspace, ann)


def test_edit_is_undone_and_redone(workspace: Workspace, ann: str) -> None:
    task = make_task(workspace, ann)
    rename(workspace, ann, task.id, "Write a letter")
    entry = undoable(workspace, ann)
    assert entry is not None and entry.label == "Edit task"
    outcome = undo(workspace, ann)
    assert outcome.changes.ids == {"task": frozenset({task.id})}
    assert workspace.get(Task, task.id) == task
    again = redoable(workspace, ann)
    assert again is not None and again.label == "Edit task"
    redo(workspace, ann)
    assert workspace.get(Task, task.id).objective == "Write a letter"
    assert redoable(workspace, ann) is None
    assert undoable(workspace, ann).label == "Edit task"  # type: ignore[union-attr]


def test_undo_of_an_addition_leaves_a_tombstone(workspace: Workspace, ann: str) -> None:
    task = make_task(workspace, ann)
    undo(workspace, ann)
    assert workspace.find(Task) == []
    assert workspace.value("SELECT deleted FROM task WHERE id = ?", (task.id,)) == 1
    redo(workspace, ann)
    assert workspace.get(Task, task.id) == task


def test_deletion_is_undone(workspace: Workspace, ann: str) -> None:
    task = make_task(workspace, ann)
    workspace.transact("Delete task", ann, delete_task, task.id)
    undo(workspace, ann)
    assert workspace.get(Task, task.id) == task


def test_who_refers_to_what_is_undone_is_asked_once_a_kind(
    workspace: Workspace, ann: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = make_task(workspace, ann)

    def fill(tx: Transaction, count: int) -> None:
        for number in range(count):
            add_example(tx, task.id, title=str(number), input=(), output=())

    asked: list[str] = []
    query = Transaction.query
    monkeypatch.setattr(
        Transaction, "query", lambda tx, sql, *more: (asked.append(sql), query(tx, sql, *more))[1]
    )
    costs = []
    for count in (3, 30):
        workspace.transact("Import", ann, fill, count)
        del asked[:]
        undo(workspace, ann)
        # What each row is now is asked row by row; who refers to it is not.
        costs.append(len(asked) - count)
    assert costs[0] == costs[1]
    assert workspace.find(Example) == []


def test_one_of_many_in_use_keeps_them_all(workspace: Workspace, ann: str, bob: str) -> None:
    task = make_task(workspace, ann)

    def fill(tx: Transaction) -> list[str]:
        return [add_example(tx, task.id, title=str(n), input=(), output=()).id for n in range(5)]

    ids = workspace.transact("Import", ann, fill).value
    system = workspace.transact("S", bob, add_system, "S", model_id="fake").value
    workspace.transact_job("R", bob, add_run, system.id, [ids[3]])
    with pytest.raises(ConflictError, match="in use by 1 output added since"):
        undo(workspace, ann)
    assert [example.id for example in workspace.find(Example)] == ids


def test_new_deed_ends_redo(workspace: Workspace, ann: str) -> None:
    task = make_task(workspace, ann)
    rename(workspace, ann, task.id, "B")
    undo(workspace, ann)
    rename(workspace, ann, task.id, "C")
    assert redoable(workspace, ann) is None
    undo(workspace, ann)
    assert workspace.get(Task, task.id) == task


def test_survives_closing_and_reopening(tmp_path: Path) -> None:
    path = tmp_path / "kept.rifugio"
    with Workspace.create(path, None) as workspace:
        person = workspace.transact_job("Add person", "", add_person, "Ann").value.id
        task = make_task(workspace, person)
        rename(workspace, person, task.id, "B")
        undo(workspace, person)
    with Workspace.open(path) as workspace:
        redo(workspace, person)
        assert workspace.get(Task, task.id).objective == "B"
    with Workspace.open(path) as workspace:
        undo(workspace, person)
        undo(workspace, person)
        assert workspace.find(Task) == []
        assert undoable(workspace, person) is None
        assert check_chain(workspace) == []


def test_each_person_has_a_history_of_their_own(workspace: Workspace, ann: str, bob: str) -> None:
    first = make_task(workspace, ann, "Ann's")
    second = make_task(workspace, bob, "Bob's")
    undo(workspace, ann)
    assert [task.id for task in workspace.find(Task)] == [second.id]
    undo(workspace, bob)
    assert workspace.find(Task) == []
    redo(workspace, ann)
    assert [task.id for task in workspace.find(Task)] == [first.id]


def test_field_made_on_the_way_stays_while_others_use_it(
    workspace: Workspace, ann: str, bob: str
) -> None:
    make_task(workspace, ann)
    other = make_task(workspace, bob)
    undo(workspace, ann)
    assert workspace.find(Task) == [other]
    undo(workspace, bob)
    redo(workspace, ann)
    assert workspace.count(Task) == 1


def test_refused_where_another_change_came_on_top(workspace: Workspace, ann: str, bob: str) -> None:
    task = make_task(workspace, ann)
    rename(workspace, ann, task.id, "Ann's words")
    rename(workspace, bob, task.id, "Bob's words")
    with pytest.raises(ConflictError, match=r"changed afterwards by Bob \('Edit task'\)"):
        undo(workspace, ann)
    assert workspace.get(Task, task.id).objective == "Bob's words"


def test_changes_to_other_columns_do_not_stand_in_the_way(
    workspace: Workspace, ann: str, bob: str
) -> None:
    task = make_task(workspace, ann)
    rename(workspace, ann, task.id, "Ann's words")
    workspace.transact("Edit task", bob, edit_task, task.id, notes="Bob's note")
    undo(workspace, ann)
    found = workspace.get(Task, task.id)
    assert (found.objective, found.notes) == (task.objective, "Bob's note")


def test_refused_where_something_was_added_to_it(workspace: Workspace, ann: str, bob: str) -> None:
    task = make_task(workspace, ann)
    workspace.transact("Add example", bob, add_example, task.id, title="E")
    with pytest.raises(ConflictError, match="in use by 1 example added since"):
        undo(workspace, ann)
    assert workspace.count(Task) == 1


def test_refused_where_what_it_belongs_to_is_gone(workspace: Workspace, ann: str, bob: str) -> None:
    task = make_task(workspace, ann)
    example = workspace.transact("Add example", bob, add_example, task.id, title="E").value
    workspace.transact("Delete example", bob, delete_example, example.id)
    undo(workspace, ann)
    with pytest.raises(ConflictError, match="the task it belongs to was deleted"):
        undo(workspace, bob)
    assert workspace.count(Example) == 0


def test_jobs_are_left_out(workspace: Workspace, ann: str) -> None:
    task = make_task(workspace, ann)
    workspace.transact_job("Run", ann, edit_task, task.id, notes="by a job")
    entry = undoable(workspace, ann)
    assert entry is not None and entry.label == "Add task"


def test_one_deed_on_many_rows_is_one_step(workspace: Workspace, ann: str) -> None:
    def add_several(tx: Transaction) -> list[str]:
        task = add_task(tx, field="Law", objective="Write")
        return [add_example(tx, task.id, title=f"E{number}").id for number in range(20)]

    ids = workspace.transact("Import", ann, add_several).value
    undo(workspace, ann)
    assert workspace.count(Example) == 0 and workspace.count(Task) == 0
    redo(workspace, ann)
    assert {example.id for example in workspace.find(Example)} == set(ids)


def test_a_field_comes_back_with_the_task_that_needs_it(workspace: Workspace) -> None:
    ann, bob = (
        workspace.transact_job("Add person", "", add_person, name).value.id
        for name in ("Ann", "Bob")
    )
    first = make_task(workspace, ann, "one")
    second = make_task(workspace, bob, "two")
    workspace.transact("Delete task", bob, delete_task, second.id)
    undo(workspace, ann)
    assert workspace.find(Field) == []
    undo(workspace, bob)
    assert [task.id for task in workspace.find(Task)] == [second.id]
    redo(workspace, ann)
    assert {task.id for task in workspace.find(Task)} == {first.id, second.id}
    assert len(workspace.find(Field)) == 1


class UndoMachine(RuleBasedStateMachine):
    """Two people edit tasks of their own, undo, redo and reopen; a plain model says what must be there."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "machine.rifugio"
        self.workspace = Workspace.create(self.path, None)
        self.people: list[str] = []
        self.state: dict[str, dict[str, str]] = {}
        self.past: dict[str, list[dict[str, str]]] = {}
        self.future: dict[str, list[dict[str, str]]] = {}

    @initialize()
    def add_people(self) -> None:
        # Both work in one field that is nobody's to take back: that it cannot go while something
        # of the other person is in it is another test's matter.
        self.workspace.transact_job("Add field", "", ensure_field, "Medicine")
        for name in ("Ann", "Bob"):
            person: Person = self.workspace.transact_job("Add person", "", add_person, name).value
            self.people.append(person.id)
            self.state[person.id] = {}
            self.past[person.id] = []
            self.future[person.id] = []

    def _deed(self, who: str) -> None:
        self.past[who].append(dict(self.state[who]))
        self.future[who].clear()

    @rule(who=st.integers(0, 1), text=st.text("abc", min_size=1, max_size=4))
    def add(self, who: int, text: str) -> None:
        person = self.people[who]
        self._deed(person)
        task = make_task(self.workspace, person, text)
        self.state[person][task.id] = text

    @rule(data=st.data(), who=st.integers(0, 1), text=st.text("xyz", min_size=1, max_size=4))
    def edit(self, data: Any, who: int, text: str) -> None:
        person = self.people[who]
        if not self.state[person]:
            return
        task_id = data.draw(st.sampled_from(sorted(self.state[person])))
        if self.state[person][task_id] == text:
            return
        self._deed(person)
        rename(self.workspace, person, task_id, text)
        self.state[person][task_id] = text

    @rule(data=st.data(), who=st.integers(0, 1))
    def remove(self, data: Any, who: int) -> None:
        person = self.people[who]
        if not self.state[person]:
            return
        task_id = data.draw(st.sampled_from(sorted(self.state[person])))
        self._deed(person)
        self.workspace.transact("Delete task", person, delete_task, task_id)
        del self.state[person][task_id]

    @rule(who=st.integers(0, 1))
    def undo(self, who: int) -> None:
        person = self.people[who]
        if not self.past[person]:
            assert undoable(self.workspace, person) is None
            return
        undo(self.workspace, person)
        self.future[person].append(self.state[person])
        self.state[person] = self.past[person].pop()

    @rule(who=st.integers(0, 1))
    def redo(self, who: int) -> None:
        person = self.people[who]
        if not self.future[person]:
            assert redoable(self.workspace, person) is None
            return
        redo(self.workspace, person)
        self.past[person].append(self.state[person])
        self.state[person] = self.future[person].pop()

    @precondition(lambda self: self.people)
    @rule()
    def reopen(self) -> None:
        self.workspace.close()
        self.workspace = Workspace.open(self.path)

    @invariant()
    def holds_what_it_should(self) -> None:
        expected = {key: text for tasks in self.state.values() for key, text in tasks.items()}
        assert {task.id: task.objective for task in self.workspace.find(Task)} == expected

    def teardown(self) -> None:
        assert check_chain(self.workspace) == []
        self.workspace.close()
        self.folder.cleanup()


TestUndoMachine = UndoMachine.TestCase
TestUndoMachine.settings = settings(
    max_examples=25,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
