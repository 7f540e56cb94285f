"""The verbs on graphs as somebody types them, with scripted models."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app import services
from app.cli.command import run_command
from core.storage import Workspace
from core.types.graphs import TaskGraph
from models.fake import FakeEmbedder, FakeGenerator

Run = Callable[..., dict[str, Any]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "w.rifugio"
    Workspace.create(path, None).close()
    return path


@pytest.fixture
def rifugio(path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    answers = ["Boil the water\n2. Pour the water", "Answer: A"]
    monkeypatch.setattr(services, "generator", lambda model=None: FakeGenerator(answers=answers))
    monkeypatch.setattr(services, "embedder", lambda model=None: FakeEmbedder())

    def run(*words: str, code: int = 0) -> dict[str, Any]:
        verb = [words[0]] if words[0] != "graphs" else list(words[:2])
        rest = words[len(verb) :]
        assert run_command([*verb, "--json", str(path), *rest]) == code
        captured = capsys.readouterr()
        return json.loads(captured.out) if code == 0 else {"error": captured.err}

    return run


def test_steps_and_edges_of_a_task(rifugio: Run, path: Path) -> None:
    made = rifugio("steps", "--task", "make tea", "--method", "icl", "--assumption", "with leaves")
    assert made["steps"] == ["Boil the water", "Pour the water"]
    found = rifugio("edges", "--graph", made["graph"], "--method", "linear")
    assert found["dependencies"] == [[1, 2]]
    listed = rifugio("graphs", "list")["graphs"]
    assert listed == [
        {
            "id": made["graph"], "task": "make tea", "assumptions": ["with leaves"],
            "role": "model", "state": "open", "split": "", "steps": 2, "dependencies": 1,
        }
    ]  # fmt: skip
    assert rifugio("edges", "--graph", "make tea", "--method", "cot")["dependencies"] == [[1, 2]]


def test_samples_are_checked_split_written_and_compared(
    rifugio: Run, path: Path, tmp_path: Path
) -> None:
    ids = rifugio("graphs", "samples")["graphs"]
    assert len(ids) == 10
    checked = rifugio("graphs", "check")["graphs"]
    assert all(not graph["issues"] and not graph["hints"] for graph in checked)
    split = rifugio("graphs", "split", "--shares", "50,25,25", "--seed", "4")
    assert split["train"] + split["validation"] + split["test"] == 10
    assert rifugio("graphs", "split", "--shares", "50,25,25", "--seed", "4") == split
    out = tmp_path / "g.dot"
    rifugio("graphs", "write", "--graph", ids[0], "--format", "dot", "--out", str(out))
    assert out.read_text(encoding="utf-8").startswith("digraph")
    same = rifugio("graphs", "compare", "--graph", ids[0], "--gold", ids[0], "--spelling")
    assert same["scores"]["in_degree"]["value"] == 1.0
    assert "token sort ratio" in same["scores"]["step_matching"]["signature"]
    told = rifugio("graphs", "compare", "--graph", ids[0], "--gold", ids[1])
    assert "fake-embedder" in told["scores"]["step_matching"]["signature"]


def test_methods_give_a_table_and_can_be_read_again(rifugio: Run, path: Path) -> None:
    rifugio("graphs", "samples")
    words = ("--steps", "icl", "--edges", "linear,cot", "--golds", "2", "-k", "1")
    table = rifugio("graphs", "methods", *words)
    assert (table["state"], table["done"], table["total"]) == ("done", 10, 10)
    row = table["rows"][0]
    assert (row["part"], row["method"], row["metric"], row["n"]) == (
        "steps", "icl", "step_matching", 2
    )  # fmt: skip
    assert rifugio("graphs", "methods", "--table")["rows"] == table["rows"]
    with Workspace.open(path) as workspace:
        assert workspace.count(TaskGraph, "role = 'model'") == 10


def test_graphs_are_marked_as_gold(rifugio: Run, path: Path) -> None:
    rifugio("steps", "--task", "make tea", "--method", "icl")
    graph = rifugio("graphs", "list")["graphs"][0]
    assert (graph["role"], graph["split"]) == ("model", "")
    rifugio("graphs", "mark", "--as", "gold", "--split", "test", "--graph", graph["id"])
    marked = rifugio("graphs", "list")["graphs"][0]
    assert (marked["role"], marked["split"]) == ("gold", "test")
    assert "Nothing is to be marked" in rifugio("graphs", "mark", code=2)["error"]


def test_mistakes_are_said_in_a_line(rifugio: Run) -> None:
    assert "no graph 'x'" in rifugio("edges", "--graph", "x", code=1)["error"]
    assert "no gold graph" in rifugio("graphs", "methods", code=1)["error"]
    assert "Leave the option out" in rifugio("graphs", "methods", "--table", code=1)["error"]
    assert "no three shares" in rifugio("graphs", "split", "--shares", "1", code=2)["error"]
