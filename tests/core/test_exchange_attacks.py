"""Hostile tables, row by row: what is imported, what is refused and where, and that nothing is left half."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from core.errors import ConflictError, InputError, UsageError
from core.exchange.exports import EXPORTS, export_data
from core.exchange.imports import ImportReport, import_records, read_import
from core.exchange.mappings import (
    guess_from_values,
    missing_targets,
    remember_mapping,
    suggest_mapping,
)
from core.exchange.privacy import NOT_SHOWN, is_private_meta
from core.exchange.records import read_records, read_text
from core.people import add_person, find_person
from core.storage import Transaction, Workspace
from core.storage.audit import check_chain
from core.types import (
    Example,
    Field,
    Output,
    Preference,
    Rating,
    ReviewItem,
    Rubric,
    RubricItem,
    Run,
    System,
    Task,
)
from tests.core.test_results import write_runs
from tests.factories import make_task


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    """A plain workspace: deriving a key for each test would take longer than the tests."""
    with Workspace.create(tmp_path / "test.rifugio", None) as opened:
        yield opened


HEAD = "task,input.Transcript,output.Subjective\n"


def take(workspace: Workspace, path: Path, kind: str = "examples", **more: object) -> ImportReport:
    """Import a file as the dialog and the command line do."""
    found, _format = read_import(path, kind, **more)  # type: ignore[arg-type]
    return workspace.transact("Import", "", import_records, path.name, kind, found).value


@pytest.fixture
def task(workspace: Workspace) -> Task:
    return workspace.transact("Task", "", make_task).value


def write(tmp_path: Path, data: bytes | str, name: str = "x.csv") -> Path:
    path = tmp_path / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


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


# -- judgements of people --------------------------------------------------------------------


def test_ratings_come_in_row_by_row_and_go_out_again(workspace: Workspace, tmp_path: Path) -> None:
    write_runs(workspace, 2)
    text = (
        "example;system;person;axis;value;comment\n"
        "Case 0 coughs.;Brief;Dr Weiß;depth;4;\n"
        "Case 0 coughs.;Brief;Dr Weiß;depth;five;\n"
        "Case 0 coughs.;Nobody;Dr Weiß;depth;4;\n"
        "Case 0 coughs.;Brief;;depth;4;\n"
        "Case 0 coughs.;Brief;Dr Weiß;beauty;4;\n"
        "Case 0 coughs.;Brief;Dr Weiß;coherence;9;\n"
        "Case 1 coughs.;Wordy;Dr Weiß;Factual correctness;2;wrong day\n"
    )
    report = take(workspace, write(tmp_path, text), "ratings")
    assert report.added == {"rating": 2}
    assert [s.line for s in report.skipped] == [3, 4, 5, 6, 7]
    assert find_person(workspace, "dr weiß")
    assert workspace.count(ReviewItem, "state = 'submitted'") == 2
    out = tmp_path / "out.csv"
    assert export_data(workspace, "ratings", out) == 2
    before = {(r.output_id, r.axis): (r.value, r.comment) for r in workspace.find(Rating)}
    assert take(workspace, out, "ratings").skipped == []
    after = {(r.output_id, r.axis): (r.value, r.comment) for r in workspace.find(Rating)}
    assert before == after


def test_preferences_come_in_row_by_row_and_go_out_again(
    workspace: Workspace, tmp_path: Path
) -> None:
    write_runs(workspace, 2)
    text = (
        "example,left,right,person,choice,strength\n"
        "Case 0 coughs.,Brief,Wordy,Ann,right,\n"
        "Case 1 coughs.,Brief,Wordy,Ann,,1\n"
        "Case 1 coughs.,Brief,Wordy,Ben,left,5\n"
        "Case 1 coughs.,Brief,Brief,Ben,left,\n"
        "Case 1 coughs.,Brief,Wordy,Ben,both,\n"
    )
    report = take(workspace, write(tmp_path, text), "preferences")
    assert report.added == {"preference": 2}
    assert [s.line for s in report.skipped] == [4, 5, 6]
    assert [(p.choice, p.strength) for p in workspace.find(Preference)] == [
        ("right", 4),
        ("left", 1),
    ]
    out = tmp_path / "out.csv"
    assert export_data(workspace, "preferences", out) == 2
    assert take(workspace, out, "preferences").skipped == []
    assert workspace.count(Preference) == 2


# -- published formats, private references, other tools --------------------------------------


def test_dolomites_examples_bring_their_task_under_any_of_its_names(
    workspace: Workspace, tmp_path: Path
) -> None:
    record = {
        "task_objective": "Draft a lesson plan",
        "task_procedure": "Think, then write.",
        "domain": "Education",
        "example_input": "**Topic**\nFractions\n\n**Class**\nYear 5",
        "example_output": "# Aim\nCompare fractions.\n# Steps\nDraw, then name.",
        "source": "kept",
    }
    report = take(workspace, write(tmp_path, json.dumps(record), "d.jsonl"))
    assert report.added == {"task": 1, "example": 1}
    (example,) = workspace.find(Example)
    assert [(s.title, s.text) for s in example.input] == [
        ("Topic", "Fractions"),
        ("Class", "Year 5"),
    ]
    assert [s.title for s in example.output] == ["Aim", "Steps"]
    assert example.extra == {"source": "kept"}
    (task,) = workspace.find(Task)
    assert (task.objective, task.procedure) == ("Draft a lesson plan", "Think, then write.")
    assert [s.title for s in task.output_sections] == ["Aim", "Steps"]


def test_expert_long_bench_requests_and_outputs_come_together(
    workspace: Workspace, tmp_path: Path
) -> None:
    requests = [
        {
            "id": "T01-0",
            "system_prompt": "Summarise.",
            "sample": "Opinion A",
            "max_output_tokens": 99,
        },
        {"id": "T01-1", "system_prompt": "Summarise.", "sample": "", "max_output_tokens": 99},
    ]
    path = write(tmp_path, "\n".join(map(json.dumps, requests)), "T01.jsonl")
    report = take(workspace, path)
    assert report.added == {"task": 1, "example": 1}
    assert [s.line for s in report.skipped] == [2]
    outputs = write(tmp_path, json.dumps({"id": "T01-0", "output": "A summary."}), "out.jsonl")
    assert take(workspace, outputs, "outputs").added["output"] == 1
    predictions = tmp_path / "p.jsonl"
    assert export_data(workspace, "outputs", predictions, "predictions") == 1
    assert json.loads(predictions.read_text()) == {"id": "T01-0", "output": "A summary."}


@pytest.mark.parametrize(
    ("split", "meta"),
    [("private", {}), ("test", {"subset": "Private"}), ("", {"private": True})],
)
def test_private_references_never_leave(
    workspace: Workspace, task: Task, tmp_path: Path, split: str, meta: dict[str, object]
) -> None:
    from core.report.html import render_report
    from core.runs.engine import execute_run
    from core.runs.scoring import score_run
    from core.runs.verbs import add_run, add_system
    from models.fake import FakeGenerator

    assert is_private_meta(split, meta)
    secret = "the secret answer is forty-two"
    record = {
        "id": "p",
        "task": "Write a note",
        "split": split,
        "meta": meta,
        "input": [{"title": "Transcript", "text": "What is the answer?"}],
        "output": [{"title": "Subjective", "text": secret}],
        "gold": secret,
    }
    public = dict(
        record, id="q", split="", meta={}, output=[{"title": "Subjective", "text": "open"}]
    )
    public["gold"] = "open"
    path = write(tmp_path, json.dumps(record) + "\n" + json.dumps(public), "e.jsonl")
    assert take(workspace, path).added == {"example": 2}
    system = workspace.transact("Add", "", add_system, "S", model_id="m").value
    run = workspace.transact_job("Run", "", add_run, system.id, ["p", "q"]).value
    generator = FakeGenerator(answers=("# Subjective\n\nSomething else.",))
    execute_run(workspace, run.id, generator)
    from core.metrics.registry import create

    score_run(workspace, run.id, {"rougeL": create("rougeL")})
    left = [str(generator.requests), render_report(workspace)[0]]
    for what, formats in EXPORTS.items():
        for format in formats:
            if what in ("graphs",):
                continue
            out = tmp_path / f"{what}.{format}"
            export_data(workspace, what, out, format)
            left.append(out.read_text())
    assert NOT_SHOWN in render_report(workspace)[0]
    for text in left:
        assert secret not in text
    assert "open" in (tmp_path / "examples.jsonl").read_text()
    assert workspace.get(Example, "p").output[0].text == secret


def test_tasks_for_other_tools_hold_prompt_and_target(workspace: Workspace, tmp_path: Path) -> None:
    write_runs(workspace, 2)
    path = tmp_path / "my-task.jsonl"
    assert export_data(workspace, "examples", path, "inspect") == 2
    sample = json.loads(path.read_text().splitlines()[0])
    assert set(sample) == {"id", "input", "target", "metadata"}
    assert [m["role"] for m in sample["input"]] == ["system", "user"]
    code = path.with_suffix(".py").read_text()
    compile(code, "task.py", "exec")
    assert "def my_task():" in code
    assert export_data(workspace, "examples", path, "lm-eval") == 2
    document = json.loads(path.read_text().splitlines()[0])
    assert set(document) == {"id", "prompt", "reference"}
    definition = path.with_suffix(".yaml").read_text()
    assert "task: my_task" in definition
    # The harness loads a metric it does not have from a hub; these it has.
    assert re.findall(r"- metric: (\w+)", definition) == ["bleu", "chrf"]
    assert 'test: "my-task.jsonl"' in definition
    assert 'doc_to_target: "{{reference}}"' in definition


def test_a_mapping_is_remembered_for_files_with_the_same_columns(workspace: Workspace) -> None:
    columns = ["model", "example_id", "response", "note"]
    assert suggest_mapping(workspace, "outputs", columns) == {
        "model": "system",
        "example_id": "example",
        "response": "output",
    }
    chosen = {"note": "output", "model": "system", "example_id": "example"}
    workspace.transact("Keep", "", remember_mapping, "outputs", columns, chosen)
    assert suggest_mapping(workspace, "outputs", list(reversed(columns))) == chosen
    workspace.transact("Keep", "", remember_mapping, "outputs", columns, {})
    assert suggest_mapping(workspace, "outputs", columns) == {}
    assert suggest_mapping(workspace, "outputs", ["output", "prediction"]) == {}


def test_unknown_exports_are_refused(workspace: Workspace, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be exported"):
        export_data(workspace, "poems", tmp_path / "x")
    with pytest.raises(UsageError, match="not known for tasks"):
        export_data(workspace, "tasks", tmp_path / "x", "csv")
    assert workspace.count(Output) == 0


def test_columns_are_told_by_what_stands_in_them(workspace: Workspace) -> None:
    write_runs(workspace, 4)
    titles = [example.title for example in workspace.find(Example)]
    rows = [
        {
            "Fall": title,
            "Modell": model,
            "Antwort": "A text of some length. " * 4,
            "Nr": str(n),
            "Prüfer": "M",
        }
        for n, title in enumerate(titles)
        for model in ("Nord", "Süd")
    ]
    guessed = guess_from_values(workspace, rows, {})
    assert guessed == {"Fall": "example", "Modell": "system", "Antwort": "output"}
    # What is mapped stays, and nothing is guessed where nothing tells.
    assert guess_from_values(workspace, rows, {"Nr": "output"}) == {
        "Nr": "output", "Fall": "example", "Modell": "system"
    }  # fmt: skip
    assert guess_from_values(workspace, [{"a": "x", "b": "y"}], {}) == {}
    assert missing_targets("outputs", {"system"}) == ["example", "output"]
    assert missing_targets("preferences", {"example", "left", "right", "person", "choice"}) == []
    assert missing_targets("edits", ()) == []
