"""Deleting a run takes along all that rests on it, nothing else, and undo brings it back as it was."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.cli.command import run_command
from core.checklists.verbs import Target, start_checklist
from core.errors import ConflictError, NotFoundError
from core.exchange.demo import fill_demo
from core.jobs import set_job
from core.metrics.registry import create
from core.people import add_person
from core.review.pairs import adjudicate, draw_pairs, submit_pair
from core.review.verbs import fill_queue, record_rating
from core.runs.deletion import contents_of, delete_run
from core.runs.engine import execute_run
from core.runs.experiments import add_experiment
from core.runs.scoring import DEFAULT_METRICS, score_run
from core.runs.tags import tag_output
from core.runs.verbs import add_run, add_system, select_examples
from core.storage import Workspace
from core.storage.audit import check_chain
from core.storage.kinds import KINDS
from core.storage.references import References
from core.storage.undo import redo, undo
from core.types import Output, Run
from core.types.evaluation import Experiment, ExperimentRun, PairItem
from models.fake import FakeGenerator
from tests.core.test_judges import ScriptedJudge, judge_all

ANSWER = "# Subjective\n\nA cough.\n\n# Plan\n\nRest."


@pytest.fixture
def workspace(filled: Path) -> Iterator[Workspace]:
    with Workspace.open(filled) as opened:
        yield opened


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """Two runs of two systems on two examples, with everything that can be said of an output."""
    path = tmp_path / "w.rifugio"
    with Workspace.create(path, None) as workspace:
        workspace.transact_job("Fill", "", fill_demo)
        runs = []
        for name in ("One", "Two"):
            system = workspace.transact_job("S", "", add_system, name, model_id="fake").value
            ids = select_examples(workspace, "2")
            run = workspace.transact_job("R", "", add_run, system.id, ids).value
            execute_run(workspace, run.id, FakeGenerator(answers=(f"{ANSWER} {name}.",)))
            score_run(workspace, run.id, {metric: create(metric) for metric in DEFAULT_METRICS})
            runs.append(run)
        judge_all(workspace, runs, {"One": ScriptedJudge(answers=("So.",))})
        person = workspace.transact_job("P", "", add_person, "Ann").value.id
        workspace.transact_job("Q", person, fill_queue, person, 1)
        workspace.transact_job("D", person, draw_pairs, person)
        for item in workspace.find(PairItem):
            workspace.transact_job("C", person, submit_pair, item.id, 1)
        for output in workspace.find(Output):
            workspace.transact_job("R", person, record_rating, output.id, person, "depth", 4)
            workspace.transact_job("T", person, tag_output, output.id, person, "wrong")
            rubric = workspace.value(
                "SELECT r.id FROM rubric r JOIN example e ON e.task_id = r.task_id WHERE e.id = ?",
                (output.example_id,),
            )
            if rubric:
                target = Target(rubric, output.example_id, output.id)
                workspace.transact_job("L", person, start_checklist, target)
    return path


def ann(workspace: Workspace) -> str:
    return str(workspace.value("SELECT id FROM person WHERE name = 'Ann'"))


def run_of(workspace: Workspace, name: str) -> str:
    return str(
        workspace.value(
            "SELECT r.id FROM run r JOIN system y ON y.id = r.system_id WHERE y.name = ?", (name,)
        )
    )


def dump(workspace: Workspace) -> dict[str, list[object]]:
    """All live values, by kind."""
    return {kind.name: workspace.find(kind.type) for kind in KINDS.values() if kind.logged}


def test_all_that_rests_on_a_run_goes_and_comes_back(workspace: Workspace) -> None:
    before, one, two = dump(workspace), run_of(workspace, "One"), run_of(workspace, "Two")
    contents = contents_of(workspace, one)
    assert contents.outputs == 2
    assert contents.scores >= 2 * len(DEFAULT_METRICS) + 4
    assert contents.judgements >= 6
    person = ann(workspace)
    assert workspace.transact("Delete run", person, delete_run, one).value == contents
    after = dump(workspace)
    references = References(workspace)
    for kind, rows in after.items():
        assert not list(references.lost_parents(kind, [row.id for row in rows])), kind  # type: ignore[attr-defined]
    assert [run.id for run in after["run"]] == [two]  # type: ignore[attr-defined]
    kept = {"person", "task", "example", "system", "rubric", "rubric_item", "field"}
    assert all(after[kind] == before[kind] for kind in kept)
    others = {output.id for output in workspace.find(Output)}
    assert others == {o.id for o in before["output"] if o.run_id == two}  # type: ignore[attr-defined]
    for kind in ("score", "rating", "output_tag", "review_item", "checklist"):
        assert {row.output_id for row in after[kind]} <= others  # type: ignore[attr-defined]
        assert len(after[kind]) * 2 == len(before[kind]) > 0, kind
    for kind in ("preference", "pair_item", "judge_answer"):
        assert before[kind] and not after[kind]
    undo(workspace, person)
    assert dump(workspace) == before
    redo(workspace, person)
    assert dump(workspace) == after
    undo(workspace, person)
    assert dump(workspace) == before
    assert check_chain(workspace) == []


def test_a_run_at_work_stays(workspace: Workspace) -> None:
    run = workspace.get(Run, run_of(workspace, "One"))
    workspace.transact_job("W", "", set_job, run.job_id, state="running")
    with pytest.raises(ConflictError, match="still at work"):
        workspace.transact("Delete run", ann(workspace), delete_run, run.id)
    workspace.transact_job("W", "", set_job, run.job_id, state="cancelled")
    workspace.transact("Delete run", ann(workspace), delete_run, run.id)
    with pytest.raises(NotFoundError):
        workspace.transact("Delete run", ann(workspace), delete_run, run.id)


def test_an_experiment_goes_with_the_last_of_its_runs(workspace: Workspace) -> None:
    systems = [workspace.get(Run, run_of(workspace, name)).system_id for name in ("One", "Two")]
    workspace.transact_job(
        "E", "", add_experiment, "Which?", systems, select_examples(workspace, "1")
    )
    runs = [cell.run_id for cell in workspace.find(ExperimentRun)]
    person = ann(workspace)
    workspace.transact("Delete run", person, delete_run, runs[0])
    assert workspace.count(Experiment) == 1
    workspace.transact("Delete run", person, delete_run, runs[1])
    assert workspace.count(Experiment) == 0
    undo(workspace, person)
    undo(workspace, person)
    assert [cell.run_id for cell in workspace.find(ExperimentRun)] == runs


def test_a_decided_pair_goes_with_either_of_its_runs(workspace: Workspace) -> None:
    item, person = workspace.find(PairItem)[0], ann(workspace)
    first, second = sorted((item.left_output_id, item.right_output_id))
    workspace.transact("A", person, adjudicate, first, second, person, "first", "It has the dose.")
    workspace.transact("Delete run", person, delete_run, run_of(workspace, "Two"))
    assert workspace.value("SELECT count(*) FROM adjudication WHERE deleted = 0") == 0


def test_on_the_command_line_it_is_said_first(
    filled: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["runs", "list", str(filled), "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["runs"]
    assert [(run["system"], run["outputs"]) for run in listed] == [("Two", 2), ("One", 2)]
    assert run_command(["runs", "delete", str(filled), "last"]) == 1
    said = capsys.readouterr().err
    assert "2 outputs" in said and "--yes" in said
    assert run_command(["runs", "delete", str(filled), "last", "--yes", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["deleted"]["outputs"] == 2
    assert run_command(["runs", "list", str(filled), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["runs"]) == 1
