"""The command line's verbs of evaluation: import, judge, pairs, edit, results, report, export."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app import services
from app.cli.command import run_command
from core.runs.verbs import add_system
from core.storage import Workspace
from tests.core.test_editing_bench import write_jfleg
from tests.core.test_judges import ScriptedJudge, longer
from tests.core.test_results import person, write_runs

Call = Callable[..., tuple[int, Any, str]]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A plain workspace with two runs, a judge and an editor."""
    path = tmp_path / "w.rifugio"
    with Workspace.create(path, None) as workspace:
        write_runs(workspace, 2)
        for name in ("Judge", "Editor"):
            workspace.transact_job("S", "", add_system, name, model_id="m")
        person(workspace, "Ann")
    return path


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Call:
    """Runs a verb with --json and a scripted model; gives exit code, JSON and standard error."""
    judge = ScriptedJudge(answers=("He goes to school .",), rule=longer)
    monkeypatch.setattr(services, "generator", lambda _model=None: judge)

    def run(*arguments: object) -> tuple[int, Any, str]:
        code = run_command([str(argument) for argument in arguments])
        streams = capsys.readouterr()
        last = streams.out.strip().splitlines()[-1] if streams.out.strip() else "null"
        return code, json.loads(last) if last.startswith(("{", "[")) else last, streams.err

    return run


def runs_of(file: Path) -> list[str]:
    with Workspace.open(file, read_only=True) as workspace:
        return [row["id"] for row in workspace.query("SELECT id FROM run ORDER BY id")]


def test_judge_gives_win_rates_biases_and_ratings(file: Path, call: Call) -> None:
    runs = ",".join(runs_of(file))
    code, value, _ = call(
        "judge", file, "--runs", runs, "--judge", "Judge", "--base", "Brief", "--json"
    )
    assert (code, value["state"], value["asked"], value["unscored"]) == (0, "done", 4, 0)
    (rate,) = value["win_rates"]
    assert (rate["system"], rate["base"], rate["value"], rate["n"]) == ("Wordy", "Brief", 1.0, 2)
    assert value["biases"][0]["same_in_both_orders"] == 1.0
    assert value["warnings"] == []
    code, value, _ = call("judge", file, "--runs", runs, "--judge", "Judge", "--axes", "--json")
    assert code == 0
    assert {row["axis"] for row in value["ratings"]} >= {"depth", "coherence"}
    code, _text, _ = call("judge", file, "--resume", "last")
    assert code == 0
    code, _, err = call("judge", file, "--judge", "Judge")
    assert (code, "--runs" in err) == (2, True)
    code, _, err = call("judge", file, "--runs", runs, "--judge", "Nobody")
    assert code == 1
    assert "no system 'Nobody'" in err


def test_pairs_go_into_a_persons_queue(file: Path, call: Call) -> None:
    assert call("pairs", file, "--person", "ann", "--json")[1] == {"person": "Ann", "added": 2}
    assert call("pairs", file, "--person", "ann", "--json")[1]["added"] == 0


def test_edit_runs_all_instructions_beside_the_copy(file: Path, call: Call, tmp_path: Path) -> None:
    source = write_jfleg(tmp_path)
    code, value, _ = call("import", file, source, "--as", "edits", "--json")
    assert (code, value["files"][0]["added"], value["files"][0]["format"]) == (
        0,
        {"edit": 3},
        "jfleg",
    )
    code, value, err = call(
        "edit", file, "--system", "Editor", "--prompts", "all", "--limit", "2", "--json"
    )
    assert code == 0
    rows = {(row["system"], row["metric"]): row for row in value["tables"]}
    row = rows["Editor", "gleu"]
    assert len(row["prompts"]) == 11
    assert row["published"] == 62.4
    assert row["maximum"] >= row["average"] >= row["minimum"]
    assert {prompt["n"] for prompt in row["prompts"]} == {2}
    assert rows["Copy of the input", "sari"]["average"] == row_copy(rows)
    assert "11 of 11" in err
    code, _text, _ = call("edit", file, "--system", "Editor", "--resume")
    assert code == 0
    code, _, err = call("edit", file, "--tasks", "poetry")
    assert (code, "no editing task" in err) == (2, True)
    out = tmp_path / "edits.jsonl"
    assert call("export", file, "--what", "edits", "--out", out, "--json")[1]["count"] == 3
    record = json.loads(out.read_text().splitlines()[0])
    assert set(record) == {
        "id", "title", "input", "edits", "retrieved_documents", "tasks", "meta",
    }  # fmt: skip


def row_copy(rows: dict[tuple[str, str], dict[str, Any]]) -> float:
    return float(rows["Editor", "sari"]["copy"])


def test_results_split_and_reports_in_both_forms(
    file: Path, call: Call, tmp_path: Path, qapp: object
) -> None:
    for run in runs_of(file):
        assert call("score", file, "--run", run, "--metrics", "length,rougeL")[0] == 0
    code, value, _ = call("results", file, "--by", "length", "--json")
    assert code == 0
    assert {row["group"][0] for row in value["results"]} == {"0-99 words"}
    assert {row["interval"] for row in value["results"]} <= {"bootstrap", ""}
    code, _, err = call("results", file, "--by", "weather")
    assert (code, "cannot be split" in err) == (2, True)
    html, pdf = tmp_path / "r.html", tmp_path / "r.pdf"
    assert call("report", file, "--out", html, "--redact", "--json")[1]["redacted"] is True
    assert "Texts are left out" in html.read_text(encoding="utf-8")
    assert call("report", file, "--out", pdf)[0] == 0
    assert pdf.read_bytes().startswith(b"%PDF")
    code, _, err = call("report", file, "--out", tmp_path / "r.docx")
    assert (code, "neither in .html nor in .pdf" in err) == (2, True)


def test_an_experiment_is_estimated_run_and_goes_on(file: Path, call: Call) -> None:
    code, value, _ = call(
        "experiment", file, "Which?", "--systems", "Brief,Judge", "--examples", "1", "--estimate",
        "--json",
    )  # fmt: skip
    assert (code, value["outputs"], value["not_timed"]) == (0, 2, ["Brief", "Judge"])
    code, value, _ = call(
        "experiment", file, "Which?", "--systems", "Brief,Judge", "--examples", "1", "--prompts",
        "long_form,long_form_section", "--json",
    )  # fmt: skip
    assert code == 0
    assert [(c["system"], c["prompt"], c["done"]) for c in value["cells"]] == [
        ("Brief", "long_form", 1),
        ("Brief", "long_form_section", 1),
        ("Judge", "long_form", 1),
        ("Judge", "long_form_section", 1),
    ]
    again = call("experiment", file, "which?", "--retry", "--json")
    assert (again[0], again[1]["experiment"]) == (0, value["experiment"])
    assert call("experiment", file, "Other", "--systems", "Nobody")[0] == 1
