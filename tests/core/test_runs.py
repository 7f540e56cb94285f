"""Runs: every output written once, failures told, stopped work picked up, scores that say what they are."""

from __future__ import annotations

import threading

import pytest

from core.errors import (
    ConflictError,
    ContextOverflowError,
    NotFoundError,
    UsageError,
    WorkerDiedError,
)
from core.jobs import recover_jobs
from core.metrics.registry import create
from core.ports import Cancellation, Piece, Progress
from core.runs.engine import execute_run
from core.runs.prompts import example_prompt
from core.runs.results import result_rows
from core.runs.scoring import DEFAULT_METRICS, score_run
from core.runs.verbs import (
    add_run,
    add_system,
    check_params,
    find_run,
    retry_failed,
    select_examples,
    task_and_field,
)
from core.storage import Workspace
from core.types import Example, Job, Output, Run, Score, SectionSpec
from models.fake import FakeGenerator
from tests.factories import make_example, make_run, make_task

ANSWER = "# Subjective\n\nThe patient coughs.\n\n# Objective\n\nNothing."


def test_a_run_writes_every_output_and_reads_its_sections(workspace: Workspace) -> None:
    run, _ = make_run(workspace)
    assert workspace.count(Output, "state = 'pending'") == 3
    seen: list[Progress] = []
    job = execute_run(workspace, run.id, FakeGenerator(answers=[ANSWER]), progress=seen.append)
    assert (job.state, job.done, job.failed, job.total) == ("done", 3, 0, 3)
    assert [progress.done for progress in seen] == [0, 1, 2, 3]
    for output in workspace.find(Output):
        assert output.state == "done"
        assert [section.title for section in output.sections] == ["Subjective", "Objective"]
        assert output.missing == ()
    assert workspace.value("SELECT count(*) FROM partial") == 0
    assert workspace.get(Run, run.id).signature["device"] == "none (scripted)"


def test_section_by_section_asks_once_a_section(workspace: Workspace) -> None:
    run, _ = make_run(workspace, 1, params={"mode": "sections", "max_tokens": 40})
    generator = FakeGenerator(answers=["First.", "Second."])
    execute_run(workspace, run.id, generator)
    assert [request.max_tokens for request in generator.requests] == [20, 20]
    output = workspace.find(Output)[0]
    assert output.text == "# Subjective\n\nFirst.\n\n# Objective\n\nSecond."


def test_pieces_stream_out_and_partial_text_survives_a_stop(workspace: Workspace) -> None:
    run, _ = make_run(workspace)
    cancel = Cancellation()
    pieces: list[str] = []

    def on_piece(output_id: str, piece: Piece) -> None:
        pieces.append(piece.text)
        if len(pieces) == 3:
            cancel.cancel()

    job = execute_run(
        workspace, run.id, FakeGenerator(answers=[ANSWER]), on_piece=on_piece, cancel=cancel
    )
    assert (job.state, job.done) == ("cancelled", 0)
    assert workspace.value("SELECT text FROM partial") == "".join(pieces)
    generator = FakeGenerator(answers=[ANSWER])
    assert execute_run(workspace, run.id, generator).state == "done"
    assert len(generator.requests) == 3
    assert workspace.value("SELECT count(*) FROM partial") == 0


def test_finished_work_is_never_repeated(workspace: Workspace) -> None:
    run, _ = make_run(workspace)
    cancel = Cancellation()
    first = FakeGenerator(answers=[ANSWER])
    execute_run(
        workspace,
        run.id,
        first,
        cancel=cancel,
        progress=lambda progress: cancel.cancel() if progress.done == 2 else None,
    )
    before = {o.id: o.text for o in workspace.find(Output, "state = 'done'")}
    assert len(before) == 2
    second = FakeGenerator(answers=["# Subjective\n\nOther."])
    job = execute_run(workspace, run.id, second)
    assert (job.state, job.done) == ("done", 3)
    assert len(second.requests) == 1
    assert {o.id: o.text for o in workspace.find(Output) if o.id in before} == before


def test_a_failure_costs_one_output_and_says_why(workspace: Workspace) -> None:
    run, _ = make_run(workspace)
    died = WorkerDiedError(
        "The model's process was ended by the signal SIGSEGV.", details="a\nlast"
    )
    job = execute_run(workspace, run.id, FakeGenerator(answers=[ANSWER], fail_on={"Case 1 ": died}))
    assert (job.state, job.done, job.failed) == ("done", 3, 1)
    failed = workspace.find(Output, "state = 'failed'")
    assert len(failed) == 1
    assert "SIGSEGV" in failed[0].error
    assert "last" in failed[0].error
    assert workspace.transact_job("Retry", "", retry_failed, run.id).value == 1
    assert execute_run(workspace, run.id, FakeGenerator(answers=[ANSWER])).failed == 0


def test_an_input_too_long_is_refused_with_both_counts(workspace: Workspace) -> None:
    run, _ = make_run(workspace, 1)
    job = execute_run(workspace, run.id, FakeGenerator(context_tokens=80))
    assert job.failed == 1
    error = workspace.find(Output)[0].error
    assert "80" in error
    assert "tokens" in error
    with pytest.raises(ContextOverflowError) as caught:
        FakeGenerator(context_tokens=1).generate(_request())
    assert caught.value.context_tokens == 1


def _request():  # type: ignore[no-untyped-def]
    from core.ports import GenerationRequest, Message

    return GenerationRequest(messages=(Message("user", "a b c"),), max_tokens=5)


def test_an_empty_answer_is_a_failure_not_an_output(workspace: Workspace) -> None:
    run, _ = make_run(workspace, 1)
    assert execute_run(workspace, run.id, FakeGenerator(answers=["  "])).failed == 1
    assert "nothing" in workspace.find(Output)[0].error


def test_jobs_that_were_running_are_paused_on_opening(workspace: Workspace) -> None:
    run, _ = make_run(workspace, 1)
    paused = workspace.transact_job("Recover", "", recover_jobs).value
    assert [job.state for job in paused] == ["paused"]
    assert execute_run(workspace, run.id, FakeGenerator(answers=[ANSWER])).state == "done"
    job = workspace.get(Job, run.job_id)
    assert job.rate is None or job.rate > 0


def test_scores_carry_signatures_and_old_ones_stay(workspace: Workspace) -> None:
    run, _ = make_run(workspace)
    died = WorkerDiedError("Gone.")
    execute_run(workspace, run.id, FakeGenerator(answers=[ANSWER], fail_on={"Case 0 ": died}))
    metrics = {name: create(name) for name in DEFAULT_METRICS}
    job = score_run(workspace, run.id, metrics)
    assert (job.state, job.done, job.failed) == ("done", 3, 1)
    scores = workspace.find(Score)
    assert len(scores) == 9
    for score in scores:
        assert score.signature.startswith(score.metric)
        assert (score.value is None) == bool(score.unscored)
    rows = {row.metric: row for row in result_rows(workspace)}
    assert rows["section_presence"].interval.mean == 1.0
    assert (rows["rougeL"].interval.n, rows["rougeL"].unscored) == (2, 1)
    assert "Gone." in next(iter(rows["rougeL"].reasons))
    score_run(workspace, run.id, metrics)
    assert workspace.count(Score) == 18
    assert {row.metric: row.interval for row in result_rows(workspace)} == {
        name: row.interval for name, row in rows.items()
    }


def test_results_are_split_as_asked(workspace: Workspace) -> None:
    run, _ = make_run(workspace)
    execute_run(workspace, run.id, FakeGenerator(answers=[ANSWER]))
    score_run(workspace, run.id, {"length": create("length")})
    assert [row.group for row in result_rows(workspace, ["field", "length"])] == [
        ("Medicine", "0-99 words")
    ]
    with pytest.raises(UsageError, match="split by 'moon'"):
        result_rows(workspace, ["moon"])


def test_a_prompt_holds_task_and_input_and_reads_no_template_in_them(workspace: Workspace) -> None:
    def fill(tx):  # type: ignore[no-untyped-def]
        return make_example(tx, make_task(tx).id, "{{ 7 * 7 }} {% raw %} <b>").id

    example = workspace.get(Example, workspace.transact("Fill", "", fill).value)
    task, field = task_and_field(workspace, example)
    system, user = example_prompt("long_form", task, field, example)
    assert system.role == "system"
    assert "{{ 7 * 7 }} {% raw %} <b>" in user.content
    assert "# Subjective" in user.content
    section = SectionSpec(title="Objective", description="Findings.")
    user = example_prompt("long_form_section", task, field, example, section)[-1]
    assert "'Objective': Findings." in user.content


def test_systems_and_runs_refuse_nonsense_in_words(workspace: Workspace) -> None:
    run, system = make_run(workspace)

    def refuse(error: type[Exception], match: str, verb, *args, **kwargs) -> None:  # type: ignore[no-untyped-def]
        with pytest.raises(error, match=match):
            workspace.transact("x", "", verb, *args, **kwargs)

    refuse(ConflictError, "already", add_system, "FAKE", model_id="m")
    refuse(UsageError, "name", add_system, " ", model_id="m")
    refuse(UsageError, "no parameter", add_system, "B", model_id="m", params={"heat": 1})
    refuse(NotFoundError, "no prompt", add_system, "B", model_id="m", prompt="none")
    refuse(UsageError, "no examples", add_run, system.id, [])
    refuse(NotFoundError, "no example", add_run, system.id, ["x"])
    imported = workspace.transact("x", "", add_system, "Imported").value
    refuse(UsageError, "imported", add_run, imported.id, ["x"])
    assert check_params({"temperature": "0.5", "max_tokens": "12"}) == {
        "temperature": 0.5,
        "max_tokens": 12,
    }
    for bad in ({"temperature": "hot"}, {"temperature": 3}, {"mode": "odd"}, {"max_tokens": 0}):
        with pytest.raises(UsageError):
            check_params(bad)
    assert find_run(workspace, "last") == run
    assert find_run(workspace, run.id[:20]) == run
    with pytest.raises(NotFoundError):
        find_run(workspace, "%")


def test_examples_are_selected_by_count_split_task_field_and_text(workspace: Workspace) -> None:
    make_run(workspace)
    assert len(select_examples(workspace)) == 3
    assert len(select_examples(workspace, "2")) == 2
    assert len(select_examples(workspace, "Case 1")) == 1
    assert len(select_examples(workspace, "field=medicine,1")) == 1
    assert select_examples(workspace, "split=test") == []
    assert len(select_examples(workspace, "task=Write a note")) == 3
    assert select_examples(workspace, "100%_") == []


def test_two_threads_may_read_while_a_run_writes(workspace: Workspace) -> None:
    run, _ = make_run(workspace, 5)
    errors: list[Exception] = []
    stop = threading.Event()

    def read() -> None:
        try:
            while not stop.is_set():
                workspace.find(Output)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    execute_run(workspace, run.id, FakeGenerator(answers=[ANSWER], delay=0.002))
    stop.set()
    for thread in threads:
        thread.join()
    assert errors == []
