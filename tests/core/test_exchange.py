"""Import and export: published files as they are, bad lines told, nothing lost on the way back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.errors import InputError, UsageError
from core.exchange.aci_bench import DIVISIONS
from core.exchange.demo import fill_demo
from core.exchange.exports import export_jsonl
from core.exchange.imports import ImportReport, import_records, read_import
from core.exchange.records import parse_map, read_records
from core.storage import Workspace
from core.types import Example, Output, Rubric, RubricItem, Run, System, Task
from tests.shared_data import shared_path

TASK = {
    "id": "t1",
    "field": "Law",
    "objective": "Summarise a case",
    "procedure": "Read.",
    "input_sections": [{"title": "Case", "description": ""}],
    "output_sections": [{"title": "Facts", "description": "What happened."}],
    "notes": "n",
    "author": "A",
    "colour": {"unknown": ["kept", 1]},
}
EXAMPLE = {
    "id": "e1",
    "task": "t1",
    "title": "قضية 👩‍⚖️",
    "input": [{"title": "Case", "text": "Müller v. Weiß\nשלום"}],
    "output": [{"title": "Facts", "text": "A sued B."}],
    "split": "dev",
    "meta": {"source": "x"},
    "odd key": None,
}


def write_jsonl(path: Path, *values: object) -> Path:
    path.write_text("".join(json.dumps(v) + "\n" for v in values), encoding="utf-8")
    return path


def bring_in(workspace: Workspace, path: Path, kind: str, **options: str) -> ImportReport:
    mapping = parse_map(options.pop("map", ""))
    task = options.pop("task", "")
    found, _ = read_import(path, kind, mapping=mapping, **options)
    return workspace.transact("Import", "", import_records, path.name, kind, found, task=task).value


def test_our_own_files_come_back_the_same(workspace: Workspace, tmp_path: Path) -> None:
    bring_in(workspace, write_jsonl(tmp_path / "t.jsonl", TASK), "tasks")
    bring_in(workspace, write_jsonl(tmp_path / "e.jsonl", EXAMPLE), "examples")
    for what, wanted in (("tasks", TASK), ("examples", EXAMPLE)):
        out = tmp_path / f"{what}.out.jsonl"
        assert export_jsonl(workspace, what, out) == 1
        assert json.loads(out.read_text(encoding="utf-8")) == wanted


def test_the_published_aci_bench_file_imports_whole(workspace: Workspace) -> None:
    report = bring_in(workspace, shared_path("data", "aci-bench", "valid.csv"), "examples")
    assert report.added == {"task": 1, "example": 20}
    assert report.skipped == []
    for example in workspace.find(Example):
        note = str(example.meta["note"])
        kept = " ".join(section.text for section in example.output)
        assert {section.title for section in example.output} <= set(DIVISIONS)
        for word in note.split():
            assert word in kept
        assert example.input[0].text.startswith("[doctor]")
    first = workspace.find(Example, "title = 'D2N068'")[0]
    assert "congestive heart failure" in first.output[-1].text


def test_the_published_json_twin_gives_the_same_texts(workspace: Workspace) -> None:
    bring_in(workspace, shared_path("data", "aci-bench", "valid.csv"), "examples")
    twin = read_import(shared_path("data", "aci-bench", "valid.json"), "examples")[0]
    assert len(twin.records) == 20
    texts = {example.input[0].text for example in workspace.find(Example)}
    assert {record.values["input"][0]["text"] for record in twin.records} == texts


def test_bad_lines_are_skipped_with_number_and_reason(workspace: Workspace, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(
        f'{json.dumps(TASK)}\n{{"broken\n[1]\n\n{{"field": "Law"}}\n{json.dumps(TASK)}\n',
        encoding="utf-8",
    )
    report = bring_in(workspace, path, "tasks")
    assert report.added == {"task": 1}
    assert [skipped.line for skipped in report.skipped] == [2, 3, 5, 6]
    reasons = [skipped.reason for skipped in report.skipped]
    assert "not valid JSON" in reasons[0]
    assert "objective" in reasons[2]
    assert "already" in reasons[3]


def test_a_csv_is_mapped_to_sections(workspace: Workspace, tmp_path: Path) -> None:
    path = tmp_path / "notes.csv"
    path.write_text(
        'q;a;extra\n"multi\nline";"yes ""quoted""";z\nshort;row\n', encoding="utf-8-sig"
    )
    bring_in(workspace, write_jsonl(tmp_path / "t.jsonl", TASK), "tasks")
    report = bring_in(
        workspace, path, "examples", map="q=input.Case,a=output.Facts", task="summarise A case"
    )
    assert report.added == {"example": 1}
    assert report.skipped[0].line == 4
    example = workspace.find(Example)[0]
    assert example.input[0].text == "multi\nline"
    assert example.output[0].text == 'yes "quoted"'
    assert example.extra == {"extra": "z"}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_text_in_any_encoding_is_read(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "t.csv"
    text = "objective\nPrüfung der Größe für Ärzte – „schön“ übersetzt für Häuser\n"
    path.write_bytes(text.encode(encoding))
    values = read_records(path).records[0].values
    assert values["objective"].startswith("Prüfung der Größe")


def test_files_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    binary = tmp_path / "b.csv"
    binary.write_bytes(bytes(range(256)))
    doubled = tmp_path / "d.csv"
    doubled.write_text("a,a\n1,2\n")
    for path, word in ((empty, "empty"), (binary, "b.csv"), (doubled, "two columns")):
        with pytest.raises(InputError, match=word):
            read_records(path)
    with pytest.raises(InputError, match="cannot be read"):
        read_records(tmp_path / "none.csv")
    with pytest.raises(UsageError, match="cannot be imported"):
        read_import(empty, "moons")
    with pytest.raises(InputError, match="mapping"):
        parse_map("a")


def test_outputs_of_other_models_make_runs(workspace: Workspace, tmp_path: Path) -> None:
    bring_in(workspace, write_jsonl(tmp_path / "t.jsonl", TASK), "tasks")
    bring_in(workspace, write_jsonl(tmp_path / "e.jsonl", EXAMPLE), "examples")
    path = write_jsonl(
        tmp_path / "o.jsonl",
        {"example": "e1", "system": "Cloud", "output": "# Facts\n\nA sued B.", "meta": {"k": 1}},
        {"example": "e1", "system": "Cloud", "output": "again"},
        {"example": "e1", "system": "Other", "output": "Facts: yes"},
        {"example": "zz", "system": "Cloud", "output": "x"},
        {"example": "e1", "system": "Third", "output": " "},
    )
    report = bring_in(workspace, path, "outputs")
    assert report.added == {"system": 2, "output": 2}
    assert [skipped.line for skipped in report.skipped] == [2, 4, 5]
    assert workspace.count(System) == workspace.count(Run) == 2
    assert all(output.missing == () for output in workspace.find(Output))
    out = tmp_path / "back.jsonl"
    assert export_jsonl(workspace, "outputs", out) == 2


def test_rubrics_keep_order_and_unknown_keys(workspace: Workspace, tmp_path: Path) -> None:
    bring_in(workspace, write_jsonl(tmp_path / "t.jsonl", TASK), "tasks")
    rubric = {
        "id": "r1",
        "task": "t1",
        "title": "R",
        "items": [
            {"title": "B", "description": "b", "group": "g", "weight": 2.0, "why": "x"},
            {"title": "A", "kind": "one_of", "options": ["x", "y"], "condition": "if B"},
        ],
        "more": 1,
    }
    bring_in(workspace, write_jsonl(tmp_path / "r.jsonl", rubric), "rubrics")
    assert workspace.count(Rubric) == 1
    titles = [item.title for item in workspace.find(RubricItem, order_by="position")]
    assert titles == ["B", "A"]
    out = tmp_path / "r.out.jsonl"
    export_jsonl(workspace, "rubrics", out)
    back = json.loads(out.read_text(encoding="utf-8"))
    assert back["more"] == 1
    assert back["items"][0]["why"] == "x"
    assert back["items"][1]["options"] == ["x", "y"]


def test_the_demo_has_three_fields_and_no_skipped_record(workspace: Workspace) -> None:
    report = workspace.transact("Demo", "", fill_demo).value
    assert report.skipped == []
    assert report.added["task"] == workspace.count(Task) == 3
    assert report.added["example"] >= 4
    assert workspace.value("SELECT count(*) FROM field") == 3
    for example in workspace.find(Example):
        task = workspace.get(Task, example.task_id)
        assert [s.title for s in example.output] == [s.title for s in task.output_sections]
