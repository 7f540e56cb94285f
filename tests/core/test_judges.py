"""Judges that are language models: both orders, five axes, resuming, reasons for no answer, biases."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from core.errors import ModelError, UsageError
from core.judges.answers import axis_means, judge_warnings, judged_rows, read_judged_pair
from core.judges.engine import add_judging, execute_judging, plan_judging
from core.judges.results import (
    PEOPLE,
    POOL,
    axis_values,
    bias_rows,
    judged_pairs,
    win_rates,
)
from core.ports import Cancellation, Choice, Message, Progress
from core.review.pairs import draw_pairs
from core.runs.verbs import add_system
from core.storage import Workspace
from core.types import RATING_AXES, Job, Output, Run, System
from core.types.evaluation import JudgeAnswer
from models.fake import FakeGenerator
from tests.core.test_results import compare_all, person, write_runs


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    """A plain workspace: deriving a key for each test would take longer than the tests."""
    with Workspace.create(tmp_path / "test.rifugio", None) as opened:
        yield opened


@dataclass
class ScriptedJudge(FakeGenerator):
    """Answers by a rule on the two documents it is shown, or on one; keeps what it was asked."""

    rule: Callable[[str, str], str] = lambda _first, _second: "A"
    mass: float = 0.9
    asked: list[Sequence[Message]] = field(default_factory=list)

    def choose(self, messages: Sequence[Message], options: Sequence[str]) -> Choice:
        self.asked.append(messages)
        prompt = next(m.content for m in messages if m.role == "user")
        first = _between(prompt, "<document A>", "</document A>") or _between(
            prompt, "<document>", "</document>"
        )
        second = _between(prompt, "<document B>", "</document B>")
        answer = self.rule(first, second)
        chosen = [0.8 if option == answer else 0.2 / (len(options) - 1) for option in options]
        return Choice(tuple(chosen), self.mass)


def _between(text: str, start: str, end: str) -> str:
    return text.partition(start)[2].partition(end)[0].strip()


def longer(first: str, second: str) -> str:
    return "A" if len(first) > len(second) else "B" if len(second) > len(first) else "tie"


def judge_all(
    workspace: Workspace, runs: list[Run], judges: dict[str, Any], kind: str = "pair"
) -> Job:
    """A judging job with scripted judges, by the name of their system."""
    ids = []
    for name in judges:
        found = workspace.find(System, "name = ?", (name,))
        made = found or [workspace.transact_job("Add", "", add_system, name, model_id="fake").value]
        ids.append(made[0].id)
    job = workspace.transact_job(
        "Judge", "", add_judging, [run.id for run in runs], ids, kind
    ).value
    return execute_judging(workspace, job.id, lambda system: judges[system.name])


def test_a_judge_that_weighs_content_says_the_same_in_both_orders(workspace: Workspace) -> None:
    runs = write_runs(workspace, 3)
    judge = ScriptedJudge(answers=("It has more detail.",), rule=longer)
    job = judge_all(workspace, runs, {"Judge": judge})
    assert (job.state, job.total, job.done, job.failed) == ("done", 6, 6, 0)
    answers = workspace.find(JudgeAnswer)
    assert len(answers) == 6
    assert {a.swapped for a in answers} == {True, False}
    assert {a.justification for a in answers} == {"It has more detail."}
    assert all("order:both" in a.signature and "sha256:" in a.signature for a in answers)
    (verdicts,) = judged_pairs(workspace).values()
    assert all(v.consistent and v.answers == 2 for v in verdicts)
    rates = win_rates(workspace, runs[0].system_id)
    assert [(r.judge, r.system, r.plain.value) for r in rates] == [("Judge", "Wordy", 1.0)]
    words = {
        row["name"]: len(row["text"].split())
        for row in workspace.query(
            "SELECT y.name, o.text FROM output o JOIN run r ON r.id = o.run_id"
            " JOIN system y ON y.id = r.system_id"
        )
    }
    assert rates[0].penalised.value == pytest.approx(words["Brief"] / words["Wordy"])


def test_a_judge_that_prefers_a_position_gives_ties_and_is_found_out(workspace: Workspace) -> None:
    runs = write_runs(workspace, 4)
    job = judge_all(workspace, runs, {"Judge": ScriptedJudge(answers=("First.",))})
    assert job.state == "done"
    (verdicts,) = judged_pairs(workspace).values()
    assert {v.choice for v in verdicts} == {"tie"}
    assert not any(v.consistent for v in verdicts)
    (bias,) = bias_rows(workspace)
    assert bias.first_shown.mean == 1.0
    assert bias.consistent.mean == 0.0
    assert bias.longer.n == 0
    assert win_rates(workspace, runs[0].system_id)[0].plain.value == 0.5


def test_a_judge_that_prefers_length_is_found_out_beside_people(workspace: Workspace) -> None:
    runs = write_runs(workspace, 3)
    judge_all(workspace, runs, {"Judge": ScriptedJudge(answers=("Long.",), rule=longer)})
    short = {o.id for o in workspace.find(Output, "run_id = ?", (runs[0].id,))}
    compare_all(workspace, person(workspace, "Ann"), lambda left, _r: 1 if left in short else 5)
    (bias,) = bias_rows(workspace)
    assert (bias.longer.mean, bias.people_longer.mean) == (1.0, 0.0)
    assert bias.first_shown.mean == 0.5
    by_judge = {r.judge: r.plain.value for r in win_rates(workspace, runs[0].system_id)}
    assert by_judge == {PEOPLE: 0.0, "Judge": 1.0}


def test_several_judges_make_a_pool(workspace: Workspace) -> None:
    runs = write_runs(workspace, 2)
    judge_all(
        workspace,
        runs,
        {
            "One": ScriptedJudge(answers=("a",), rule=longer),
            "Two": ScriptedJudge(answers=("b",), rule=longer),
            "Three": ScriptedJudge(answers=("c",), rule=lambda a, b: longer(b, a)),
        },
    )
    pool = judged_pairs(workspace)[POOL]
    assert len(pool) == 2
    rates = {r.judge: r.plain.value for r in win_rates(workspace, runs[0].system_id)}
    assert rates == {"One": 1.0, "Two": 1.0, "Three": 0.0, POOL: 1.0}


def test_axes_are_rated_from_one_to_five(workspace: Workspace) -> None:
    runs = write_runs(workspace, 2)
    judge = ScriptedJudge(
        answers=("Fine.",), rule=lambda first, _s: "4" if "Monday" in first else "2"
    )
    job = judge_all(workspace, runs, {"Judge": judge}, "axis")
    assert (job.total, job.done) == (4, 4)
    values = axis_values(workspace)["Judge"]
    assert len(values) == 4 * len(RATING_AXES)
    long = {o.id for o in workspace.find(Output, "run_id = ?", (runs[1].id,))}
    assert {v for (output, _a), v in values.items() if output in long} == {4.0}
    assert {v for (output, _a), v in values.items() if output not in long} == {2.0}


def test_what_has_an_answer_is_not_asked_again_and_what_failed_is(workspace: Workspace) -> None:
    runs = write_runs(workspace, 2)
    broken = ScriptedJudge(
        answers=("x",), rule=longer, fail_on={"Case 0": ModelError("The model gave up.")}
    )
    job = judge_all(workspace, runs, {"Judge": broken})
    assert (job.state, job.failed, job.message) == ("done", 2, "2 of 4 without an answer.")
    failed = workspace.find(JudgeAnswer, "unscored <> ''")
    assert {a.unscored for a in failed} == {"The model gave up."}
    assert {a.choice for a in failed} == {""}
    assert len(judged_pairs(workspace)["Judge"]) == 1
    assert bias_rows(workspace)[0].unanswered == 2
    mended = ScriptedJudge(answers=("x",), rule=longer)
    job = judge_all(workspace, runs, {"Judge": mended})
    assert len(mended.requests) == 2
    assert len(judged_pairs(workspace)["Judge"]) == 2


def test_a_stopped_job_goes_on_where_it_stopped(workspace: Workspace) -> None:
    runs = write_runs(workspace, 4)
    judge = ScriptedJudge(answers=("x",), rule=longer)
    system = workspace.transact_job("Add", "", add_system, "Judge", model_id="fake").value
    job = workspace.transact_job(
        "Judge", "", add_judging, [r.id for r in runs], [system.id], "pair"
    ).value
    cancel = Cancellation()

    def stop_at_three(progress: Progress) -> None:
        if progress.done == 3:
            cancel.cancel()

    stopped = execute_judging(
        workspace, job.id, lambda _s: judge, progress=stop_at_three, cancel=cancel
    )
    assert stopped.state == "cancelled"
    assert len(judge.requests) == 3
    done = execute_judging(workspace, job.id, lambda _s: judge)
    assert (done.state, done.done, len(judge.requests)) == ("done", 8, 8)


def test_an_answer_off_the_question_is_unscored(workspace: Workspace) -> None:
    runs = write_runs(workspace, 1)
    judge_all(workspace, runs, {"Judge": ScriptedJudge(answers=("x",), mass=1e-9)})
    assert {a.unscored for a in workspace.find(JudgeAnswer)} == {
        "The judge answered neither A, B nor tie."
    }
    assert judged_pairs(workspace) == {}


def test_judges_see_no_names_and_no_reference(workspace: Workspace) -> None:
    runs = write_runs(workspace, 2)
    judge = ScriptedJudge(answers=("x",))
    judge_all(workspace, runs, {"Judge": judge})
    judge_all(workspace, runs, {"Judge": judge}, "axis")
    text = "\n".join(m.content for request in judge.requests for m in request.messages)
    text += "\n".join(m.content for messages in judge.asked for m in messages)
    for secret in ("Brief", "Wordy", "fake-generator", "Subjective: Case"):
        assert secret not in text


def test_nothing_to_judge_and_judges_that_cannot_are_refused(workspace: Workspace) -> None:
    runs = write_runs(workspace, 1)
    judge = workspace.find(System)[0]
    imported = workspace.transact_job("Add", "", add_system, "Imported").value
    with pytest.raises(UsageError, match="nothing to judge"):
        workspace.transact_job("J", "", add_judging, [runs[0].id], [judge.id], "pair")
    with pytest.raises(UsageError, match="cannot judge"):
        workspace.transact_job("J", "", add_judging, [r.id for r in runs], [imported.id], "pair")
    with pytest.raises(UsageError, match="no judge"):
        workspace.transact_job("J", "", add_judging, [r.id for r in runs], [], "pair")
    asked = plan_judging(workspace, [r.id for r in runs], ["a", "b"], "pair")
    assert [item.judge_id for item in asked] == ["a", "a", "b", "b"]


def test_what_judges_said_is_read_pair_by_pair_with_its_reasons(workspace: Workspace) -> None:
    runs = write_runs(workspace, 3)
    ann = person(workspace, "Ann")
    steady = ScriptedJudge(answers=("It has more detail.",), rule=longer)
    fickle = ScriptedJudge(answers=("It comes first.",))
    judge_all(workspace, runs, {"Steady": steady, "Fickle": fickle})
    # Ann prefers the shorter one: the steady judge is against her each time.
    short = {output.id for output in workspace.find(Output, "run_id = ?", (runs[0].id,))}
    compare_all(workspace, ann, lambda left, _right: 1 if left in short else 5)
    rows, in_all = judged_rows(workspace, limit=4)
    assert (len(rows), in_all) == (4, 9)
    everything, _ = judged_rows(workspace)
    assert {row.judge for row in everything} == {"Steady", "Fickle", POOL}
    row = next(row for row in everything if row.judge == "Steady")
    assert (row.winner, row.system_of(row.people)) == ("Wordy", "Brief")
    assert row.consistent
    view = read_judged_pair(workspace, row, ann)
    assert not view.hidden
    assert [said.justification for said in view.said] == ["It has more detail."] * 2
    assert {said.first_shown for said in view.said} == {"Brief", "Wordy"}
    fickle_row = next(row for row in everything if row.judge == "Fickle")
    assert (fickle_row.winner, fickle_row.consistent) == ("", False)
    said = read_judged_pair(workspace, fickle_row, ann).said
    # Whatever is shown first: so the two orders choose different systems.
    assert {fickle_row.system_of(entry.choice) for entry in said} == {"Brief", "Wordy"}
    assert all(fickle_row.system_of(entry.choice) == entry.first_shown for entry in said)
    pool = next(row for row in everything if row.judge == POOL)
    assert len(read_judged_pair(workspace, pool, ann).said) == 4


def test_a_pair_one_has_yet_to_judge_stays_shut(workspace: Workspace) -> None:
    runs = write_runs(workspace, 2)
    judge_all(workspace, runs, {"Judge": ScriptedJudge(answers=("So.",), rule=longer)})
    ben = person(workspace, "Ben")
    workspace.transact("Draw", ben, draw_pairs, ben)
    row = judged_rows(workspace)[0][0]
    assert read_judged_pair(workspace, row, ben).hidden
    assert not read_judged_pair(workspace, row, person(workspace, "Ann")).hidden


def test_ratings_of_judges_are_averaged_by_system_and_axis(workspace: Workspace) -> None:
    runs = write_runs(workspace, 3)
    rule = lambda first, _second: "5" if len(first) > 60 else "2"  # noqa: E731
    judge_all(workspace, runs, {"Judge": ScriptedJudge(answers=("So.",), rule=rule)}, "axis")
    means = {row.system: row for row in axis_means(workspace)}
    expected: dict[str, list[float]] = {"Brief": [], "Wordy": []}
    names = {run.id: workspace.get(System, run.system_id).name for run in runs}
    for output in workspace.find(Output):
        expected[names[output.run_id]].append(5.0 if len(output.text.strip()) > 60 else 2.0)
    for name, values in expected.items():
        assert len(means[name].axes) == len(RATING_AXES)
        for mean in means[name].axes:
            assert mean is not None
            assert (mean.mean, mean.n) == (pytest.approx(sum(values) / len(values)), 3)


def test_a_judge_that_does_not_read_is_warned_of(workspace: Workspace) -> None:
    runs = write_runs(workspace, 4)
    reader = ScriptedJudge(answers=("So.",), rule=longer)
    judge_all(workspace, runs, {"Reader": reader, "First": ScriptedJudge(answers=("So.",))})
    ones = ScriptedJudge(answers=("So.",), rule=lambda _first, _second: "1")
    differs = ScriptedJudge(
        answers=("So.",), rule=lambda first, _second: "4" if len(first) > 60 else "2"
    )
    judge_all(workspace, runs, {"Ones": ones, "Differs": differs}, "axis")
    said = judge_warnings(bias_rows(workspace), axis_means(workspace))
    assert [text.split()[0] for text in said] == ["First", "Ones"]
    assert "shown first in 100 %" in said[0]
    assert "the rating 1" in said[1]
