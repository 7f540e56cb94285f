"""Hostile tables, row by row: what is imported, what is refused and where, and that nothing is left half."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from core.errors import ConflictError, InputError, UsageError
from core.exchange.imports import read_import
from core.exchange.records import read_records, read_text
from core.people import add_person
from core.storage import Transaction, Workspace
from core.storage.audit import check_chain
from core.types import (
    Example,
    Field,
    Rubric,
    RubricItem,
    Run,
    System,
    Task,
)
from tests.core.exchange_files import HEAD, take, task, workspace, write
from tests.core.test_results import write_runs

#: Fixtures, for the tests below.
__all__ = ["task", "workspace"]


@pytest.mark.parametrize(
    ("data", "texts"),
    [
        pytest.param(
            b"\xef\xbb\xbf" + (HEAD + "Write a note,Hi,There\n").encode(), ["Hi"], id="bom"
        ),
        pytest.param((HEAD + "Write a note,Hi,There\n").encode("utf-16"), ["Hi"], id="utf-16"),
        pytest.param(
            HEAD.encode() + b'Write a note,"line one\nline ""two""",x\n',
            ['line one\nline "two"'],
            id="quoted newline",
        ),
        pytest.param(
            (HEAD + "Write a note,Hi,There\n").replace(",", ";").encode(), ["Hi"], id="semicolon"
        ),
        pytest.param(
            (HEAD + "Write a note,Hi,There\n").replace("\n", "\r\n").encode(), ["Hi"], id="crlf"
        ),
        pytest.param(
            (
                HEAD + "Write a note,Der Patient trägt eine Brille und hört später auf zu zählen"
                " – “gut”,überprüft\n" * 1
            ).encode("cp1252"),
            ["Der Patient trägt eine Brille und hört später auf zu zählen – “gut”"],
            id="windows-1252",
        ),
        pytest.param(
            (HEAD + "Write a note,Le café était très chaud,x\n").encode("cp1252"),
            ["Le café était très chaud"],
            id="windows-1252, a few words",
        ),
        pytest.param(
            ("sep=;\n" + HEAD + "Write a note,Hi,There\n").replace(",", ";").encode(),
            ["Hi"],
            id="excel names its separator",
        ),
        pytest.param(
            ('task;"input,Transcript,x";output.Note\nWrite a note;Hi;There\n')
            .replace("input,Transcript,x", "input.a, b, c, d")
            .encode(),
            ["Hi"],
            id="commas in a quoted name",
        ),
        pytest.param(
            (HEAD + "Write a note,Hi,There\n").replace("\n", "\r").encode(), ["Hi"], id="cr alone"
        ),
    ],
)
def test_tables_of_the_wild_are_read(
    workspace: Workspace, task: Task, tmp_path: Path, data: bytes, texts: list[str]
) -> None:
    report = take(workspace, write(tmp_path, data))
    assert report.skipped == []
    assert [e.input[0].text for e in workspace.find(Example)] == texts


def test_short_long_and_empty_rows_are_told_with_their_line(
    workspace: Workspace, task: Task, tmp_path: Path
) -> None:
    rows = [
        "Write a note,one,ref",
        "Write a note,too short",
        "",
        "Write a note,too,long,by far",
        ",no task,ref",
        "Sing,unknown task,ref",
        '"Write a note","two\nlines",ref',
        "Write a note,last,ref",
    ]
    report = take(workspace, write(tmp_path, HEAD + "\n".join(rows) + "\n"))
    assert report.added == {"example": 3}
    assert [(s.line, s.reason.split(".")[0]) for s in report.skipped] == [
        (3, "2 cells where the header has 3"),
        (5, "4 cells where the header has 3"),
        (6, "it names no task"),
        (7, "There is no task 'Sing' in this workspace"),
    ]
    assert [e.input[0].text for e in workspace.find(Example)] == ["one", "two\nlines", "last"]


def test_duplicate_ids_are_refused_and_the_first_stays(
    workspace: Workspace, task: Task, tmp_path: Path
) -> None:
    text = (
        "id," + HEAD + "a,Write a note,first,x\na,Write a note,second,x\nb,Write a note,third,x\n"
    )
    report = take(workspace, write(tmp_path, text))
    assert report.added == {"example": 2}
    ((line, reason),) = [(s.line, s.reason) for s in report.skipped]
    assert line == 3
    assert "already" in reason
    assert workspace.get(Example, "a").input[0].text == "first"


def test_headers_that_cannot_be_used_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="two columns called 'task'"):
        read_import(write(tmp_path, "task,task\na,b\n"), "examples")
    with pytest.raises(InputError, match="is empty"):
        read_import(write(tmp_path, "  \n"), "examples")
    with pytest.raises(InputError, match="not a text file"):
        read_import(write(tmp_path, b"\x00\x01\x02" * 40), "examples")
    with pytest.raises(InputError, match="cannot be read"):
        read_import(tmp_path / "missing.csv", "examples")
    with pytest.raises(UsageError, match="cannot be imported"):
        read_import(write(tmp_path, HEAD), "poems")


def test_an_open_quote_refuses_its_row_and_names_its_line(
    workspace: Workspace, task: Task, tmp_path: Path
) -> None:
    report = take(workspace, write(tmp_path, HEAD + 'Write a note,fine,x\nWrite a note,"open,x\n'))
    assert report.added == {"example": 1}
    assert [s.line for s in report.skipped] == [3]
    assert "not valid CSV: its quote is never closed" in report.skipped[0].reason


def test_lines_are_counted_as_they_stand_in_the_file(tmp_path: Path) -> None:
    found = read_records(write(tmp_path, b'sep=;\na;b\n1;"x\ny"\n2\n'))
    assert [(r.line, r.values) for r in found.records] == [(3, {"a": "1", "b": "x\ny"})]
    assert [s.line for s in found.skipped] == [5]


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("a;b\nból głowy;od trzech dni, duszność i kołatanie\n", "cp1250"),
        ("а;б\nПривет, мир;как дела\n", "cp1251"),
        ("α;β\nΟ ασθενής;αναφέρει πόνο\n", "cp1253"),
        ("a;b\nDosis 5 µg;20 €\n", "cp1252"),
        ("a;b\nEl niño señala;¿dónde?\n", "cp1252"),
    ],
)
def test_few_letters_are_enough_to_tell_an_encoding(
    tmp_path: Path, text: str, encoding: str
) -> None:
    assert read_text(write(tmp_path, text.encode(encoding))) == text


def test_a_savepoint_takes_back_its_part_and_nothing_else(workspace: Workspace) -> None:
    def write_parts(tx: Transaction) -> None:
        add_person(tx, "Ann")
        with suppress(ConflictError), tx.savepoint():
            add_person(tx, "Bea")
            with suppress(ConflictError), tx.savepoint():
                add_person(tx, "Cid")
                raise ConflictError("inner")
            raise ConflictError("outer")
        with tx.savepoint():
            add_person(tx, "Dan")

    changes = workspace.transact("Add", "", write_parts).changes
    names = [row["name"] for row in workspace.query("SELECT name FROM person ORDER BY name")]
    assert names == ["Ann", "Dan"]
    assert len(changes.ids["person"]) == 2
    # The history knows nothing of what was taken back, and its chain is whole.
    assert workspace.value("SELECT count(*) FROM change WHERE kind = 'person'") == 2
    assert check_chain(workspace) == []


def test_an_output_that_cannot_be_kept_leaves_no_empty_run(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from core.exchange import imports

    write_runs(workspace, 2)
    runs = workspace.count(Run)
    first, second = (example.id for example in workspace.find(Example)[:2])
    real = imports.parse_sections

    def parse(text: str, sections: Any) -> Any:
        if text == "odd":
            raise ValueError("of a shape nobody thought of")
        return real(text, sections)

    monkeypatch.setattr(imports, "parse_sections", parse)
    report = take(
        workspace,
        write(tmp_path, f"example,system,output\n{first},One,odd\n{second},Two,fine\n"),
        "outputs",
    )
    assert report.added == {"system": 1, "output": 1}
    assert [s.line for s in report.skipped] == [2]
    assert workspace.count(Run) == runs + 1
    assert not workspace.find(System, "name = 'One'")


def test_no_record_is_ever_half_written(workspace: Workspace, task: Task, tmp_path: Path) -> None:
    """A rubric whose third item is impossible leaves neither the rubric nor its first two items."""
    rubric = {
        "task": "Write a note",
        "title": "Broken",
        "items": [{"title": "a"}, {"title": "b"}, {"title": " "}],
    }
    good = {"task": "Write a note", "title": "Good", "items": [{"title": "d"}]}
    lines = json.dumps(rubric) + "\n" + json.dumps(good) + "\n"
    report = take(workspace, write(tmp_path, lines, "r.jsonl"), "rubrics")
    assert report.added == {"rubric": 1, "rubric item": 1}
    assert [s.line for s in report.skipped] == [1]
    assert [r.title for r in workspace.find(Rubric)] == ["Good"]
    assert [i.title for i in workspace.find(RubricItem)] == ["d"]
    assert check_chain(workspace) == []


def test_a_task_made_on_the_way_goes_with_the_example_that_could_not_be_added(
    workspace: Workspace, tmp_path: Path
) -> None:
    record = {
        "objective": "Compose",
        "field": "Music",
        "input": [{"title": "Theme", "text": "do re mi"}],
        "output": [{"title": "Fugue", "text": "mi re do"}],
    }
    lines = [dict(record, id="x"), dict(record, id="x", objective="Arrange", field="Jazz")]
    path = write(tmp_path, "\n".join(map(json.dumps, lines)), "d.jsonl")
    report = take(workspace, path)
    assert report.added == {"task": 1, "example": 1}
    assert [t.objective for t in workspace.find(Task)] == ["Compose"]
    assert [f.name for f in workspace.find(Field)] == ["Music"]
    assert check_chain(workspace) == []


@pytest.mark.parametrize(
    "value",
    [
        {"input": 7, "output": [1, 2]},
        {"input": [{"text": "no title"}]},
        {"input": None, "output": None},
        {"input": {"a": {"b": 1}}, "meta": "text"},
        {"id": ["list"], "input": "x"},
    ],
)
def test_values_of_odd_shapes_cost_one_record_at_most(
    workspace: Workspace, task: Task, tmp_path: Path, value: dict[str, object]
) -> None:
    lines = [dict(value, task="Write a note"), {"task": "Write a note", "input": "good"}]
    path = write(tmp_path, "\n".join(map(json.dumps, lines)), "o.jsonl")
    report = take(workspace, path)
    assert report.added["example"] >= 1
    assert report.added["example"] + len(report.skipped) == 2
    assert check_chain(workspace) == []
