"""The history of a row, going back to any state of it, and what the chain of changes finds."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import ConflictError, NotFoundError
from core.examples.verbs import add_example, delete_example
from core.ids import new_id
from core.people import add_person
from core.storage import Transaction, Workspace, log_file
from core.storage.audit import chain_heads, check_chain, check_rows, export_audit
from core.storage.history import restore_row, row_history
from core.storage.undo import undo
from core.tasks.verbs import add_task, delete_task, edit_task
from core.types import Example, Field, Task


def add_field(tx: Transaction, name: str) -> Field:
    return tx.insert(Field(id=new_id(), name=name))


def tamper(workspace: Workspace, sql: str) -> None:
    workspace.transact_job("Tamper", "", lambda tx: tx.execute_unlogged(sql))


@pytest.fixture
def three(workspace: Workspace) -> Workspace:
    for number in range(3):
        workspace.transact("Add field", "", add_field, str(number))
    assert check_chain(workspace) == []
    return workspace


def messages(workspace: Workspace) -> list[str]:
    return [finding.message for finding in check_chain(workspace)]


def test_who_when_before_and_after(workspace: Workspace) -> None:
    ann = workspace.transact_job("Add person", "", add_person, "Ann").value.id
    task = workspace.transact("Add task", ann, add_task, field="Law", objective="A").value
    workspace.transact("Edit task", ann, edit_task, task.id, objective="B")
    workspace.transact_job("Job", "", edit_task, task.id, notes="by a job")
    history = row_history(workspace, "task", task.id)
    assert (history.name, history.deleted) == ("B", False)
    assert [(e.label, e.person) for e in history.entries] == [
        ("Job", ""), ("Edit task", "Ann"), ("Add task", "Ann"),
    ]  # fmt: skip
    assert history.entries[1].before == {"objective": "A"}
    assert history.entries[1].after == {"objective": "B"}
    assert history.entries[2].made
    with pytest.raises(NotFoundError):
        row_history(workspace, "task", "none")


def test_any_state_comes_back_and_undo_takes_it_back(workspace: Workspace) -> None:
    ann = workspace.transact_job("Add person", "", add_person, "Ann").value.id
    task = workspace.transact("Add task", ann, add_task, field="Law", objective="A").value
    workspace.transact("Edit", ann, edit_task, task.id, objective="B", notes="n")
    workspace.transact("Edit", ann, edit_task, task.id, objective="C")
    first, second = (row_history(workspace, "task", task.id).entries[n].change for n in (-1, 1))
    assert workspace.transact("Back", ann, restore_row, "task", task.id, first).value
    assert workspace.get(Task, task.id) == task
    assert not workspace.transact("Back", ann, restore_row, "task", task.id, first).value
    undo(workspace, ann)
    assert workspace.get(Task, task.id).objective == "C"
    workspace.transact("Back", ann, restore_row, "task", task.id, second)
    found = workspace.get(Task, task.id)
    assert (found.objective, found.notes) == ("B", "n")
    assert check_rows(workspace) == []
    with pytest.raises(NotFoundError, match="no such state"):
        workspace.transact("Back", ann, restore_row, "task", task.id, "none")


def test_a_deleted_row_comes_back_only_with_what_it_belongs_to(workspace: Workspace) -> None:
    task = workspace.transact("Add", "", add_task, field="Law", objective="A").value
    example = workspace.transact("Add", "", add_example, task.id, title="E").value
    made = row_history(workspace, "example", example.id).entries[0].change
    workspace.transact("Delete", "", delete_example, example.id)
    workspace.transact("Delete", "", delete_task, task.id)
    with pytest.raises(ConflictError, match="task it belonged to"):
        workspace.transact("Back", "", restore_row, "example", example.id, made)
    task_made = row_history(workspace, "task", task.id).entries[-1].change
    workspace.transact("Back", "", restore_row, "task", task.id, task_made)
    workspace.transact("Back", "", restore_row, "example", example.id, made)
    assert workspace.get(Example, example.id) == example


def test_a_cut_off_end_is_found_also_after_further_work(three: Workspace) -> None:
    tamper(three, "DELETE FROM change WHERE seq = 3")
    assert messages(three) == ["Change 3 is missing."]
    three.transact("Add field", "", add_field, "later")
    assert messages(three) == ["Change 3 is missing."]


def test_a_whole_history_removed_is_found(three: Workspace) -> None:
    tamper(three, "DELETE FROM change")
    assert messages(three) == ["Changes 1 to 3 are missing."]


def test_a_removed_or_altered_end_mark_is_found(three: Workspace) -> None:
    tamper(three, "UPDATE head SET hash = 'x'")
    assert messages(three) == ["The history does not end where it says it does."]
    tamper(three, "DELETE FROM head")
    assert messages(three) == ["Where the history ends was removed."]


@pytest.mark.parametrize("column", ["label", "after", "time", "person", "row", "verb"])
def test_every_altered_column_is_found(three: Workspace, column: str) -> None:
    tamper(three, f"UPDATE change SET {column} = '{{}}' WHERE seq = 2")
    assert messages(three) == ["The change was altered after it was written."]


def test_reordered_entries_are_found(three: Workspace) -> None:
    tamper(three, "UPDATE change SET seq = 9 WHERE seq = 1")
    tamper(three, "UPDATE change SET seq = 1 WHERE seq = 2")
    tamper(three, "UPDATE change SET seq = 2 WHERE seq = 9")
    found = check_chain(three)
    assert {"change 1", "change 2"} <= {finding.place.split(" of ")[0] for finding in found}


def test_a_row_changed_behind_its_history_is_found(three: Workspace) -> None:
    assert check_rows(three) == []
    tamper(three, "UPDATE field SET name = 'other' WHERE name = '1'")
    assert len(check_rows(three)) == 1


def test_the_export_holds_every_change_and_each_end(three: Workspace, tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    assert export_audit(three, path) == 3
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [line["seq"] for line in lines[:-1]] == [1, 2, 3]
    assert lines[-1] == {"origin": three.origin, "head": chain_heads(three)[0].hash}
    assert [p.name for p in tmp_path.iterdir() if "audit" in p.name] == ["audit.jsonl"]


@given(st.binary(min_size=8, max_size=800), st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1))
def test_the_checksum_of_a_log_is_sqlites(data: bytes, a: int, b: int) -> None:
    data = data[: len(data) // 8 * 8]
    for order in "<>":
        x, y = a, b
        words = struct.unpack(f"{order}{len(data) // 4}I", data)
        for first, second in zip(words[::2], words[1::2], strict=True):
            x = (x + first + y) & 0xFFFFFFFF
            y = (y + second + x) & 0xFFFFFFFF
        assert log_file._checksum(data, (a, b), order) == (x, y)
