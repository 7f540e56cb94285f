"""The statistics of results against scipy and against sums written down by hand from the stored rows."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean

import numpy as np
import pytest
from scipy import stats

from core.judges.results import PEOPLE, bias_rows, unanimous_bounds, win_rates
from core.runs.compare import Side, compare_sides
from core.runs.human_agreement import LONGER, human_agreement
from core.runs.results import rating_rows, result_rows
from core.runs.scoring import score_run
from core.storage import Workspace
from core.types import Output, Preference, Rating, Run, Score
from tests.core.test_judges import ScriptedJudge, judge_all, longer
from tests.core.test_results import FixedMetric, compare_all, person, rate, write_runs

EXAMPLES = 12
#: What each chose for each example: the brief output, the wordy one, or neither.
PEOPLE_CHOOSE = {"Ann": "wwwwb=bww=bw", "Ben": "wwwbb=www=bw"}
SEEDED = np.random.default_rng(11)


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Workspace, list[Run]]]:
    """Two systems on twelve examples: a metric, two raters, pairs by both, one judge. Only read."""
    folder: Path = tmp_path_factory.mktemp("statistics")
    draw = random.Random(3)
    with Workspace.create(folder / "test.rifugio", None) as workspace:
        runs = write_runs(workspace, EXAMPLES)
        for run, higher in zip(runs, (0.0, 0.1), strict=True):
            values: list[float | None] = [draw.random() + higher for _ in range(EXAMPLES - 1)]
            score_run(workspace, run.id, {"m": FixedMetric([*values, None])})
        # By the example alone: what order people see their queue in is drawn anew each time.
        place = {output.id: output.position for output in workspace.find(Output)}
        brief = {output.id for output in workspace.find(Output, "run_id = ?", (runs[0].id,))}
        for name, choices in PEOPLE_CHOOSE.items():
            who = person(workspace, name)

            def mark(output: str, axis: str, name: str = name) -> int:
                return (
                    7 * place[output] + 3 * (output in brief) + len(axis) + (name == "Ben")
                ) % 5 + 1

            def choose(left: str, _right: str, choices: str = choices) -> int:
                wanted = choices[place[left]]
                return 3 if wanted == "=" else 1 if (wanted == "b") == (left in brief) else 5

            rate(workspace, who, mark)
            compare_all(workspace, who, choose)
        judge = ScriptedJudge(answers=("So.",), rule=longer)
        judge_all(workspace, runs, {"Judge": judge})
        yield workspace, runs


Measured = tuple[Workspace, list[Run]]


def scores_of(workspace: Workspace, run: Run) -> dict[str, float]:
    """Example to value of the metric."""
    outputs = {o.id: o for o in workspace.find(Output, "run_id = ?", (run.id,))}
    return {
        outputs[score.output_id].example_id: score.value
        for score in workspace.find(Score)
        if score.output_id in outputs and score.value is not None
    }


def scipy_interval(values: list[float]) -> tuple[float, float]:
    found = stats.bootstrap(
        (values,), np.mean, n_resamples=20_000, method="percentile", rng=SEEDED
    ).confidence_interval
    return float(found.low), float(found.high)


def test_intervals_of_means_are_scipys(measured: Measured) -> None:
    workspace, runs = measured
    rows = {row.system_id: row.interval for row in result_rows(workspace) if row.metric == "m"}
    for run in runs:
        values = list(scores_of(workspace, run).values())
        found = rows[run.system_id]
        assert (found.mean, found.n) == (pytest.approx(fmean(values)), EXAMPLES - 1)
        assert (found.low, found.high) == pytest.approx(scipy_interval(values), abs=0.01)
        assert found.error == pytest.approx(
            np.std(values) / np.sqrt(EXAMPLES - 1), abs=0.003
        )  # The plug-in error of a mean, which resamples give.


def test_two_raters_of_one_output_are_one_value(measured: Measured) -> None:
    workspace, _runs = measured
    by_output: dict[str, list[float]] = defaultdict(list)
    for rating in workspace.find(Rating, "axis = 'depth'"):
        by_output[rating.output_id].append(rating.value)
    assert {len(values) for values in by_output.values()} == {2}
    outputs = {o.id: o for o in workspace.find(Output)}
    for row in rating_rows(workspace):
        if row.metric != "rating: depth":
            continue
        mine = [
            fmean(values)
            for output, values in by_output.items()
            if workspace.get(Run, outputs[output].run_id).system_id == row.system_id
        ]
        assert (row.interval.mean, row.interval.n) == (pytest.approx(fmean(mine)), EXAMPLES)
        assert (row.interval.low, row.interval.high) == pytest.approx(
            scipy_interval(mine), abs=0.05
        )
    by_person = rating_rows(workspace, ["expert"])
    assert {row.group for row in by_person} == {("Ann",), ("Ben",)}
    assert {row.interval.n for row in by_person} == {EXAMPLES}


def test_the_comparison_of_two_is_the_paired_bootstrap_spread_for_few(measured: Measured) -> None:
    workspace, runs = measured
    first, second = (scores_of(workspace, run) for run in runs)
    common = sorted(first.keys() & second.keys())
    gaps = [second[example] - first[example] for example in common]
    found = compare_sides(workspace, "m", *(Side(run.system_id) for run in runs))
    difference = found.difference
    assert (difference.n, len(gaps)) == (EXAMPLES - 1, EXAMPLES - 1)
    assert difference.value == pytest.approx(fmean(gaps))
    n = len(gaps)
    spread = np.sqrt(n / (n - 1)) * stats.t.ppf(0.975, n - 1) / stats.norm.ppf(0.975)
    wanted = [fmean(gaps) + spread * (bound - fmean(gaps)) for bound in scipy_interval(gaps)]
    assert difference.low == pytest.approx(wanted[0], abs=0.015)
    assert difference.high == pytest.approx(wanted[1], abs=0.015)
    # Not paired, the interval would be another one: the sides go up and down together or not.
    test = stats.ttest_rel([second[e] for e in common], [first[e] for e in common])
    assert difference.p == pytest.approx(test.pvalue, abs=0.07)
    assert len(found.better) == sum(gap > 0 for gap in gaps)
    assert len(found.worse) == sum(gap < 0 for gap in gaps)
    assert found.same + len(found.better) + len(found.worse) == n


def decisions(workspace: Workspace) -> dict[frozenset[str], str]:
    """Pair of outputs to the one both people chose; '' where they differ or chose a tie."""
    votes: dict[frozenset[str], list[str]] = defaultdict(list)
    for row in workspace.find(Preference):
        sides = {"left": row.left_output_id, "right": row.right_output_id}
        pair = frozenset(sides.values())
        votes[pair].append(sides.get(row.choice, ""))
    assert {len(chosen) for chosen in votes.values()} == {2}
    return {pair: one if one == other else "" for pair, (one, other) in votes.items()}


def test_win_rates_and_their_intervals_by_hand(measured: Measured) -> None:
    workspace, runs = measured
    base, candidate = runs
    outputs = {o.id: o for o in workspace.find(Output)}
    points = []
    penalised = []
    for pair, chosen in decisions(workspace).items():
        by_run = {outputs[output].run_id: outputs[output] for output in pair}
        own, other = by_run[candidate.id], by_run[base.id]
        points.append(0.5 if not chosen else float(chosen == own.id))
        ratio = len(other.text.split()) / len(own.text.split())
        penalised.append(points[-1] * min(1.0, ratio))
    rates = {row.judge: row for row in win_rates(workspace, base.system_id)}
    found = rates[PEOPLE].plain
    assert found.value == pytest.approx(fmean(points))
    assert found.components["n"] == len(points) == EXAMPLES
    assert (found.components["low"], found.components["high"]) == pytest.approx(
        scipy_interval(points), abs=0.045
    )
    assert rates[PEOPLE].penalised.value == pytest.approx(fmean(penalised))
    # The judge always took the longer one: twelve of twelve are not certainty.
    judge = rates["Judge"].plain
    exact = stats.binomtest(EXAMPLES, EXAMPLES).proportion_ci(0.95, "exact")
    assert judge.value == 1.0
    assert (judge.components["low"], judge.components["high"]) == pytest.approx(tuple(exact))
    (bias,) = bias_rows(workspace)
    assert bias.longer.low == pytest.approx(exact.low)
    assert bias.consistent.low == pytest.approx(exact.low)


def test_agreement_with_people_by_hand(measured: Measured) -> None:
    workspace, runs = measured
    outputs = {o.id: o for o in workspace.find(Output)}
    values = {s.output_id: s.value for s in workspace.find(Score)}
    words = {o.id: len(o.text.split()) for o in outputs.values()}
    rows = {row.name: row for row in human_agreement(workspace).rows}
    for name, measure in (("m", values), (LONGER, words)):
        alike: list[float] = []
        alike_decided: list[float] = []
        for pair, chosen in decisions(workspace).items():
            one, other = sorted(pair)
            a, b = measure[one], measure[other]
            if a is None or b is None:
                continue
            preferred = "" if a == b else one if a > b else other
            alike.append(float(preferred == chosen))
            if chosen and preferred:
                alike_decided.append(float(preferred == chosen))
        found = rows[name]
        assert (found.with_ties.value, found.with_ties.n) == (
            pytest.approx(fmean(alike)),
            len(alike),
        )
        assert found.without_ties.value == pytest.approx(fmean(alike_decided))
        assert found.without_ties.n == len(alike_decided)
        assert (found.with_ties.low, found.with_ties.high) == pytest.approx(
            scipy_interval(alike), abs=0.1
        )
    assert rows[LONGER].without_ties.value == rows["Judge"].without_ties.value
    assert len(runs) == 2


@pytest.mark.parametrize("n", [2, 12, 400])
def test_bounds_of_the_unanimous_are_clopper_and_pearsons(n: int) -> None:
    for wins in (0, n):
        exact = stats.binomtest(wins, n).proportion_ci(0.95, "exact")
        assert unanimous_bounds(wins / n, n) == pytest.approx(tuple(exact))
    assert unanimous_bounds(0.5, n) is None
    assert unanimous_bounds(None, 0) is None
    assert unanimous_bounds(1.0, 1) is None
