"""Experiments, inputs longer than the model's context, and inputs given as passages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.errors import ConflictError, ContextOverflowError, ModelError, UsageError
from core.runs.engine import execute_run
from core.runs.experiments import (
    add_experiment,
    estimate_time,
    experiment_cells,
    retry_experiment,
    unfinished_runs,
)
from core.runs.long_inputs import fit_input, rank_passages, split_passages
from core.runs.prompts import example_prompt
from core.runs.verbs import add_run, add_system, select_examples
from core.storage import Workspace
from core.tasks.sections import join_sections
from core.types import Example, Output, Run, SectionText, System, Task
from core.types.evaluation import Experiment
from models.fake import FakeGenerator
from tests.factories import make_example, make_task


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    """A plain workspace: deriving a key for each test would take longer than the tests."""
    with Workspace.create(tmp_path / "test.rifugio", None) as opened:
        yield opened


PARAGRAPH = "The patient has a cough that began on Monday and is worse at night. " * 6


def fill(workspace: Workspace, text: str = "The patient coughs.", examples: int = 2) -> list[str]:
    task = workspace.transact("T", "", make_task).value
    for number in range(examples):
        workspace.transact("E", "", make_example, task.id, f"{text} {number}")
    return select_examples(workspace)


def system(workspace: Workspace, name: str, **params: object) -> System:
    return workspace.transact("S", "", add_system, name, model_id="m", params=params).value


def test_an_experiment_is_systems_by_prompts_on_the_same_examples(workspace: Workspace) -> None:
    ids = fill(workspace)
    systems = [system(workspace, name) for name in ("A", "B")]
    made = workspace.transact_job(
        "X", "", add_experiment, "Which prompt?", [s.id for s in systems], ids,
        prompts=["", "long_form_section"], policy="truncate",
    ).value  # fmt: skip
    cells = experiment_cells(workspace, made.id)
    assert [(c.system, c.prompt, c.total, c.done) for c in cells] == [
        ("A", "long_form", 2, 0),
        ("A", "long_form_section", 2, 0),
        ("B", "long_form", 2, 0),
        ("B", "long_form_section", 2, 0),
    ]
    runs = [workspace.get(Run, cell.run_id) for cell in cells]
    assert {run.signature["context_policy"] for run in runs} == {"truncate"}
    assert {run.signature["experiment"] for run in runs} == {made.id}
    assert len({run.prompt_hash for run in runs}) == 2
    assert unfinished_runs(workspace, made.id) == [cell.run_id for cell in cells]
    assert workspace.get(Experiment, made.id).example_ids == tuple(ids)


def test_failed_outputs_of_an_experiment_are_tried_again(workspace: Workspace) -> None:
    ids = fill(workspace)
    one = system(workspace, "A")
    made = workspace.transact_job("X", "", add_experiment, "Try", [one.id], ids).value
    (run_id,) = unfinished_runs(workspace, made.id)
    broken = FakeGenerator(answers=("x",), fail_on={"coughs. 1": ModelError("Gone.")})
    execute_run(workspace, run_id, broken)
    assert [(c.done, c.failed) for c in experiment_cells(workspace, made.id)] == [(1, 1)]
    assert unfinished_runs(workspace, made.id) == []
    assert workspace.transact_job("R", "", retry_experiment, made.id).value == 1
    assert unfinished_runs(workspace, made.id) == [run_id]
    execute_run(workspace, run_id, FakeGenerator(answers=("y",)))
    assert [(c.done, c.failed) for c in experiment_cells(workspace, made.id)] == [(2, 0)]


def test_time_is_estimated_from_what_systems_took(workspace: Workspace) -> None:
    ids = fill(workspace)
    fast, fresh = system(workspace, "Fast"), system(workspace, "Fresh")
    assert estimate_time(workspace, [fast.id], 10).seconds is None
    run = workspace.transact_job("R", "", add_run, fast.id, ids).value
    execute_run(workspace, run.id, FakeGenerator(answers=("a b c",), delay=0.01))
    mean = workspace.value("SELECT avg(seconds) FROM output WHERE state = 'done'")
    found = estimate_time(workspace, [fast.id], 10, 2)
    assert (found.outputs, found.unknown) == (20, ())
    assert found.seconds == pytest.approx(mean * 20)
    both = estimate_time(workspace, [fast.id, fresh.id], 10)
    assert both.unknown == ("Fresh",)
    assert both.seconds == pytest.approx(mean * 20)


def test_experiments_without_sense_are_refused(workspace: Workspace) -> None:
    ids = fill(workspace)
    one = system(workspace, "A")

    def refuse(match: str, error: type[Exception], *args: object, **more: object) -> None:
        with pytest.raises(error, match=match):
            workspace.transact_job("X", "", add_experiment, *args, **more)

    refuse("needs a name", UsageError, " ", [one.id], ids)
    refuse("no systems", UsageError, "E", [], ids)
    refuse("no examples", UsageError, "E", [one.id], [])
    refuse("long inputs", UsageError, "E", [one.id], ids, policy="guess")
    workspace.transact_job("X", "", add_experiment, "E", [one.id], ids)
    refuse("already", ConflictError, "e", [one.id], ids)
    assert workspace.count(Experiment) == 1


# -- long inputs -----------------------------------------------------------------------------


def run_long(workspace: Workspace, policy: str, **params: object) -> tuple[Output, FakeGenerator]:
    """A run on an input of some 1,700 tokens with a model that reads 500."""
    text = "\n\n".join(f"Part {n}. {PARAGRAPH}" for n in range(20))
    ids = fill(workspace, text, 1)
    one = system(workspace, "Short", max_tokens=64, **params)
    run = workspace.transact_job("R", "", add_run, one.id, ids, policy=policy).value
    generator = FakeGenerator(answers=("# Subjective\n\nA cough.",), context_tokens=500)
    execute_run(workspace, run.id, generator)
    assert workspace.get(Run, run.id).signature["context_policy"] == policy
    return workspace.find(Output)[0], generator


def test_a_long_input_is_refused_with_both_counts(workspace: Workspace) -> None:
    output, generator = run_long(workspace, "refuse")
    assert output.state == "failed"
    assert "tokens and the model reads 500" in output.error
    assert generator.requests == []


def test_a_long_input_is_cut_so_that_it_just_fits(workspace: Workspace) -> None:
    output, generator = run_long(workspace, "truncate")
    assert output.state == "done"
    assert output.meta["context_policy"] == "truncate"
    assert 0 < output.meta["kept_characters"] < output.meta["of"]
    prompt = generator.requests[0].messages[-1].content
    assert "Part 0." in prompt
    assert "Part 19." not in prompt
    assert "left out" in prompt
    used = generator.count_tokens(generator.requests[0].messages)
    assert 500 - 64 - 60 < used <= 500 - 64


def test_a_long_input_is_worked_through_in_parts_that_leave_nothing_out(
    workspace: Workspace,
) -> None:
    output, generator = run_long(workspace, "parts")
    assert output.state == "done"
    assert output.meta["parts"] == len(generator.requests) > 3
    prompts = " ".join(r.messages[-1].content for r in generator.requests)
    for number in range(20):
        assert f"Part {number}." in prompts
    assert output.text.count("A cough.") == len(generator.requests)
    assert all(generator.count_tokens(r.messages) <= 500 - 64 for r in generator.requests)


def test_an_input_that_fits_is_left_alone(workspace: Workspace) -> None:
    ids = fill(workspace, examples=1)
    one = system(workspace, "S")
    run = workspace.transact_job("R", "", add_run, one.id, ids, policy="parts").value
    execute_run(workspace, run.id, FakeGenerator(answers=("x",)))
    assert workspace.find(Output)[0].meta == {}


def test_what_cannot_be_shortened_enough_is_refused() -> None:
    task = Task(id="t", field_id="f", objective="o " * 600)
    example = Example(
        id="e", task_id="t", title="", input=(SectionText(title="A", text="word " * 300),)
    )
    generator = FakeGenerator(context_tokens=300)
    for policy in ("truncate", "parts"):
        with pytest.raises(ContextOverflowError, match="also after shortening"):
            fit_input(
                generator,
                policy,
                lambda e: example_prompt("long_form", task, "Law", e),
                example,
                room=64,
            )


def test_retrieval_gives_the_passages_nearest_to_the_task(workspace: Workspace) -> None:
    """Of three long passages the one with the task's words is kept, and the output says which."""
    filler = "Weather was mild and the market sold apples. " * 88
    wanted = (
        "Write the note: the patient reads the transcript and writes subjective findings. " * 45
    )
    text = filler[:3_900] + wanted[:3_900] + filler[:3_900]
    task = workspace.transact("T", "", make_task).value
    workspace.transact("E", "", make_example, task.id, text)
    one = system(workspace, "RAG", retrieve=1)
    run = workspace.transact_job("R", "", add_run, one.id, select_examples(workspace)).value
    generator = FakeGenerator(answers=("x",), context_tokens=8_000)
    execute_run(workspace, run.id, generator)
    prompt = generator.requests[0].messages[-1].content
    assert prompt.count("subjective findings") > 20
    assert prompt.count("apples") < 10
    output = workspace.find(Output)[0]
    assert output.meta["passages"] == [[0, 3_900]]
    assert output.meta["of_passages"] == 3
    assert workspace.get(Run, run.id).signature["params"]["retrieve"] == 1
    with pytest.raises(UsageError, match="out of range"):
        system(workspace, "Bad", retrieve=-1)


def test_passages_are_4000_characters_with_100_of_overlap() -> None:
    text = "".join(chr(97 + n % 26) for n in range(9_000))
    passages = split_passages(text)
    assert [start for start, _ in passages] == [0, 3_900, 7_800]
    for start, passage in passages:
        assert text[start : start + 4_000] == passage
    assert split_passages("") == [(0, "")]


def test_ranking_prefers_rare_words_of_the_query() -> None:
    scores = rank_passages(["cough", "the"], ["the dog", "a cough", "the cat", "the sun"])
    assert scores[1] > max(scores[0], scores[2], scores[3]) > 0
    assert rank_passages(["x"], ["a", "b"]) == [0.0, 0.0]


def test_another_prompt_than_the_systems_own_is_used_and_signed(workspace: Workspace) -> None:
    ids = fill(workspace, examples=1)
    one = system(workspace, "S")
    run = workspace.transact_job("R", "", add_run, one.id, ids, prompt="long_form").value
    assert run.signature["prompt"] == "long_form"
    assert join_sections(workspace.get(Example, ids[0]).input)
