"""The rubric and checklist verbs on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from app.cli.command import run_command
from core.exchange.demo import fill_demo
from core.storage import Workspace
from core.types import Example, Rubric


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "w.rifugio"
    with Workspace.create(made, None) as workspace:
        workspace.transact_job("Fill", "", fill_demo)
    return made


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    assert run_command([*map(str, arguments), "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_templates_are_listed_added_and_linted(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    listed = run(capsys, "rubrics", "templates")["templates"]
    assert [template["items"] for template in listed][:3] == [26, 41, 6]
    added = run(capsys, "rubrics", "add", path, "T7")
    assert added["items"] == 6
    titles = [rubric["title"] for rubric in run(capsys, "rubrics", "list", path)["rubrics"]]
    assert "Molecule description" in titles
    findings = run(capsys, "rubrics", "lint", path, "SOAP note")["findings"]
    assert [finding["flaw"] for finding in findings] == ["compound"]


def test_published_checklists_come_in_and_go_out_again(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Workspace.open(path) as workspace:
        task_id = workspace.find(Rubric)[0].task_id
        examples = workspace.find(Example, "task_id = ?", (task_id,))
    texts = {"Onset": "since yesterday", "Family history": "N/A"}
    file = tmp_path / "published lists.json"
    first = {**texts, "Only here": "N/A"}
    lists = {examples[0].title: {"checklist": first}, "nobody-1": {"checklist": texts}}
    file.write_text(json.dumps(lists))
    assert run_command(["rubrics", "import", str(path), str(file), "--task", task_id]) == 0
    assert "nobody-1: skipped" in capsys.readouterr().err
    out = tmp_path / "out.json"
    written = run(capsys, "checklists", "export", path, "--rubric", "published lists", "--out", out)
    assert written["count"] == 1
    assert json.loads(out.read_text()) == {examples[0].title: {"checklist": first}}
    again = run(
        capsys, "checklists", "import", path, out, "--rubric", "published lists", "--mapper", "Eve"
    )
    assert again["checklists"] == 1


def test_import_and_export_know_checklists_and_tables(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Workspace.open(path) as workspace:
        task_id = workspace.find(Rubric)[0].task_id
        title = workspace.find(Example, "task_id = ?", (task_id,))[0].title
    lists, table = tmp_path / "lists.json", tmp_path / "table.csv"
    lists.write_text(json.dumps({title: {"checklist": {"Onset": "N/A"}}}))
    table.write_text("Title,Description\nDose,with unit\n")
    made = run(capsys, "import", path, lists, "--as", "checklists", "--task", task_id)
    assert made["rubrics"][0]["checklists"] == 1
    made = run(capsys, "import", path, table, "--as", "rubrics", "--task", task_id)
    assert (made["rubrics"][0]["title"], made["rubrics"][0]["items"]) == ("table", 1)
    out = tmp_path / "out.json"
    assert run(capsys, "export", path, "--what", "checklists", "--out", out)["count"] == 1
    assert json.loads(out.read_text()) == {title: {"checklist": {"Onset": "N/A"}}}


def test_a_csv_is_imported_and_a_bad_one_refused(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Workspace.open(path) as workspace:
        task_id = workspace.find(Rubric)[0].task_id
    good = tmp_path / "good list.csv"
    good.write_text("Title;Description;Kind\nOnset;When it began;content\nFever;;yes/no\n")
    made = run(capsys, "rubrics", "import", path, good, "--task", task_id)["rubrics"]
    assert (made[0]["title"], made[0]["items"]) == ("good list", 2)
    bad = tmp_path / "bad.csv"
    bad.write_text("Title,Kind\nOnset,picture\n")
    assert run_command(["rubrics", "import", str(path), str(bad), "--task", task_id]) == 1
    assert "kind 'picture'" in capsys.readouterr().err
    assert run_command(["rubrics", "lint", str(path), "none such"]) == 1
