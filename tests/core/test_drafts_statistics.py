"""Statistics of examples, contamination, splits and the export that import takes back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.errors import UsageError
from core.examples.post_edit import load_post_edit, save_as_example
from core.examples.statistics import (
    check_contamination,
    export_studied,
    split_examples,
    study_examples,
)
from core.examples.verbs import add_example
from core.exchange.imports import import_records, read_import
from core.people import add_person
from core.storage import Workspace
from core.tasks.verbs import add_task
from core.types import Example, SectionSpec, SectionText
from core.types.documents import PostEdit
from tests.core.test_drafts import begin, edit_once
from tests.factories import make_example, make_task


@pytest.fixture
def edited(workspace: Workspace, tmp_path: Path) -> PostEdit:
    person = workspace.transact_job("Add", "", add_person, "Ann").value.id
    folder = tmp_path / "docs"
    folder.mkdir()
    post_edit = begin(workspace, folder, person)
    edit_once(workspace, post_edit.id, person, 1, ".", " with 40 mg of a new drug.")
    workspace.transact("Save", person, save_as_example, post_edit.id)
    return post_edit


def test_editing_is_measured(workspace: Workspace, edited: PostEdit) -> None:
    found = study_examples(workspace)
    assert (found.examples, found.edited, found.tasks, found.fields) == (1, 1, 1, 1)
    assert found.sections.before == found.sections.after == 1.0
    assert found.words.after is not None and found.words.before is not None
    assert found.words.after - found.words.before == 7
    # The word before the full stop was parted from it.
    assert found.distances == [8]
    assert found.edit_types == {"fact_addition": 1}
    assert found.likeness.after is not None
    assert len(found.signatures) == 4


def test_imported_examples_count_only_as_they_are(workspace: Workspace) -> None:
    task = workspace.transact("Task", "", make_task).value
    workspace.transact("Example", "", make_example, task.id)
    found = study_examples(workspace)
    assert (found.examples, found.edited) == (1, 0)
    assert found.words.before is None and found.words.after == 8
    assert found.distances == []


def test_contamination_is_found_in_a_folder(workspace: Workspace, tmp_path: Path) -> None:
    task = workspace.transact("Task", "", make_task).value
    text = "one two three four five six seven eight nine ten"
    for body in (text, "a b c d e f g h i j", "too short"):
        workspace.transact(
            "Add", "", add_example, task.id, output=(SectionText(title="A", text=body),)
        )
    (tmp_path / "corpus.txt").write_text(f"Before. {text} after.")
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.4 nothing")
    report = check_contamination(workspace, tmp_path)
    assert report.contaminated == 1
    assert sorted(share for _, _, share in report.shares if share is not None) == [0.0, 1.0]
    assert report.files == 1 and len(report.skipped) == 1
    (tmp_path / "corpus.txt").unlink()
    with pytest.raises(UsageError):
        check_contamination(workspace, tmp_path)


def test_a_split_is_seeded_and_keeps_tasks_unseen(workspace: Workspace) -> None:
    for n in range(4):
        task = workspace.transact(
            "Task",
            "",
            add_task,
            field="Medicine",
            objective=f"Task {n}",
            output_sections=(SectionSpec(title="A"),),
        ).value
        for m in range(4):
            workspace.transact("Example", "", make_example, task.id, f"Case {n} {m}")
    counts = workspace.transact("Split", "", split_examples, unseen_share=0.25, seed=3).value
    assert counts == {"dev": 6, "test_seen": 6, "test_unseen": 4}
    first = {e.id: e.split for e in workspace.find(Example)}
    unseen = {e.task_id for e in workspace.find(Example, "split = 'test_unseen'")}
    assert len(unseen) == 1
    assert not workspace.count(
        Example, "split <> 'test_unseen' AND task_id = ?", (next(iter(unseen)),)
    )
    workspace.transact("Split", "", split_examples, unseen_share=0.25, seed=3)
    assert {e.id: e.split for e in workspace.find(Example)} == first
    workspace.transact("Split", "", split_examples, unseen_share=0.25, seed=4)
    assert {e.id: e.split for e in workspace.find(Example)} != first
    with pytest.raises(UsageError):
        workspace.transact("Split", "", split_examples, dev_share=2)


def test_the_export_is_taken_back_under_other_names(
    workspace: Workspace, edited: PostEdit, tmp_path: Path
) -> None:
    path = tmp_path / "out.jsonl"
    assert export_studied(workspace, path, {"task": "task_id", "output": "target"}) == 1
    record = json.loads(path.read_text(encoding="utf-8"))
    assert "task" not in record and record["target"][0]["title"] == "Subjective"
    assert record["edits"][0]["after"].endswith("with 40 mg of a new drug")
    assert record["evidence"][0]["text"]
    found, _format = read_import(path, "examples", mapping={"task_id": "task", "target": "output"})
    example = workspace.find(Example)[0]
    with Workspace.create(tmp_path / "other.rifugio", None) as other:
        task = make_task_like(other, example.task_id)
        report = other.transact("Import", "", import_records, "out", "examples", found).value
        assert report.added == {"example": 1} and not report.skipped
        again = other.find(Example)[0]
        assert (again.id, again.input, again.output) == (example.id, example.input, example.output)
        assert again.meta == example.meta and again.task_id == task
    with pytest.raises(UsageError):
        export_studied(workspace, path, {"nothing": "x"})
    with pytest.raises(UsageError):
        export_studied(workspace, path, {"task": "title"})


def test_every_script_survives_editing_export_and_import(
    workspace: Workspace, edited: PostEdit, tmp_path: Path
) -> None:
    person = edited.person_id
    odd = "💩 👨🏻\u200d🚒 marked: المريض يأخذ 10 ملغ Ramipril, cafe\u0301\nnew line"
    edit_once(workspace, edited.id, person, 2, ".", f" {odd}.")
    state = load_post_edit(workspace, edited.id)
    assert odd in state.texts[2].current
    assert state.texts[2].original == state.draft.sections[2].text
    (change,) = [change for section, change in state.changes if section == 2]
    assert state.texts[2].text[change.start : change.end] == change.before + change.after
    workspace.transact("Save", person, save_as_example, edited.id)
    path = tmp_path / "out.jsonl"
    export_studied(workspace, path)
    record = json.loads(path.read_text(encoding="utf-8"))
    assert odd in record["output"][1]["text"]
    assert any(edit["after"] == change.after for edit in record["edits"])
    found, _format = read_import(path, "examples")
    example = workspace.find(Example)[0]
    with Workspace.create(tmp_path / "other.rifugio", None) as other:
        make_task_like(other, example.task_id)
        other.transact("Import", "", import_records, "out", "examples", found)
        again = other.find(Example)[0]
        assert again.output == example.output
        export_studied(other, tmp_path / "again.jsonl")
    second = json.loads((tmp_path / "again.jsonl").read_text(encoding="utf-8"))
    assert second["output"] == record["output"] and second["input"] == record["input"]


def make_task_like(workspace: Workspace, task_id: str) -> str:
    return workspace.transact(
        "Task",
        "",
        add_task,
        field="Medicine",
        objective="Write a note",
        task_id=task_id,
        output_sections=(SectionSpec(title="Subjective"), SectionSpec(title="Objective")),
    ).value.id
