"""Judgements of people, published formats, private references and other tools, in and out."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from core.errors import UsageError
from core.exchange.exports import EXPORTS, export_data
from core.exchange.mappings import (
    guess_from_values,
    missing_targets,
    remember_mapping,
    suggest_mapping,
)
from core.exchange.privacy import NOT_SHOWN, is_private_meta
from core.people import find_person
from core.storage import Workspace
from core.types import (
    Example,
    Output,
    Preference,
    Rating,
    ReviewItem,
    Task,
)
from tests.core.exchange_files import take, task, workspace, write
from tests.core.test_results import write_runs

#: Fixtures, for the tests below.
__all__ = ["task", "workspace"]


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
