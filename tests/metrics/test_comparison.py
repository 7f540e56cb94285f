"""Comparing systems and judges; resamples as weights."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import UsageError
from core.metrics.bootstrap import bootstrap_interval
from core.metrics.comparison import (
    compare_preferences,
    compare_systems,
    prefer_by_score,
    prefer_longer,
    sample_pairs,
)
from core.metrics.resampling import average_ranks, bootstrap_statistic, draw_weights

QUICK = settings(max_examples=50, deadline=None)


def test_paired_bootstrap_sees_a_small_but_steady_difference() -> None:
    generator = np.random.default_rng(2)
    base = generator.normal(0, 5, 60)
    better = base + generator.normal(0.3, 0.2, 60)
    found = compare_systems(better.tolist(), base.tolist())
    assert found.value == pytest.approx(float((better - base).mean()))
    assert found.low is not None and found.low > 0
    assert found.p is not None and found.p < 0.01
    turned = compare_systems(base.tolist(), better.tolist())
    assert turned.value == pytest.approx(-found.value)
    assert turned.p == found.p


def test_few_items_are_no_surer_than_students_t() -> None:
    generator = np.random.default_rng(4)
    for n in (6, 10, 20, 60):
        gaps = generator.normal(0.4, 1.0, n)
        found = compare_systems(gaps.tolist(), [0.0] * n)
        wanted = scipy.stats.ttest_1samp(gaps, 0.0)
        low, high = wanted.confidence_interval(0.95)
        assert found.low is not None and found.high is not None and found.p is not None
        slack = 0.12 * (high - low)
        assert (found.low, found.high) == (
            pytest.approx(low, abs=slack),
            pytest.approx(high, abs=slack),
        )
        assert found.p == pytest.approx(wanted.pvalue, abs=0.8 / n)
    # Where all items agree there is nothing to resample: their signs alone give this.
    assert compare_systems([0.3] * 6, [0.1] * 6).p == 2.0**-5
    many = compare_systems([0.3] * 60, [0.1] * 60)
    assert many.p == pytest.approx(2 / 10_001)


@pytest.mark.parametrize("n", [6, 10, 20])
def test_equal_systems_are_told_apart_by_chance_alone_in_one_of_twenty(n: int) -> None:
    generator = np.random.default_rng(n)
    alarms = 0
    for _trial in range(400):
        gaps = generator.normal(size=n).tolist()
        found = compare_systems(gaps, [0.0] * n, samples=500)
        alarms += found.p is not None and found.p < 0.05
    assert 0.02 <= alarms / 400 <= 0.09


def test_equal_systems_do_not_differ() -> None:
    found = compare_systems([0.1, 0.9, 0.4], [0.1, 0.9, 0.4])
    assert (found.value, found.low, found.high, found.p) == (0.0, 0.0, 0.0, 1.0)


def test_missing_scores_are_left_out_in_pairs() -> None:
    found = compare_systems([1.0, None, 3.0], [0.5, 1.0, 2.5])
    assert (found.value, found.n) == (0.5, 2)
    alone = compare_systems([1.0, None], [0.5, 1.0])
    assert (alone.value, alone.low, alone.p) == (0.5, None, None)
    assert alone.reason
    assert compare_systems([None], [1.0]).value is None
    with pytest.raises(UsageError, match="1 and 2 scores"):
        compare_systems([1.0], [1.0, 2.0])


def test_sampled_pairs_are_distinct_seeded_and_of_two_systems() -> None:
    outputs = {"one": ["x", "y", "z"], "two": ["x", "y", "x"], "three": ["x"]}
    pairs = sample_pairs(outputs, count=10, seed=4)
    assert len(pairs) == 4
    assert len({(p.example, frozenset((p.left, p.right))) for p in pairs}) == 4
    assert all(p.left != p.right and p.example != "three" for p in pairs)
    assert sample_pairs(outputs, count=10, seed=4) == pairs
    assert sample_pairs(outputs, count=0) == []
    many = {str(n): ["x", "y"] for n in range(400)}
    sides = Counter(pair.left for pair in sample_pairs(many, count=400))
    assert 140 < sides["x"] < 260


def test_preferences_against_people_and_the_longer_text() -> None:
    human = ["left", "right", "tie", "left", None]
    scores = prefer_by_score([1.0, 0.2, 0.5, None, 1.0], [0.0, 0.4, 0.5, 1.0, 0.0])
    assert scores == ["left", "right", "tie", None, "left"]
    longer = prefer_longer(["a b", "a b", "a", "a", "a"], ["a", "a", "a b", "a b", "a"])
    assert longer == ["left", "left", "right", "right", "tie"]
    table = compare_preferences(human, {"metric": scores}, longer=longer)
    assert list(table) == ["metric", "longer wins"]
    with_ties, without = table["metric"]
    assert (with_ties.value, with_ties.n) == (1.0, 3)
    assert (without.value, without.n) == (1.0, 2)
    baseline, _ = table["longer wins"]
    assert (baseline.value, baseline.n) == (0.25, 4)
    assert prefer_by_score([1.0], [1.05], margin=0.1) == ["tie"]


@QUICK
@given(
    values=st.lists(st.integers(0, 5), min_size=1, max_size=12),
    data=st.data(),
)
def test_weighted_ranks_are_the_ranks_of_the_resample(
    values: list[int], data: st.DataObject
) -> None:
    weights = data.draw(
        st.lists(st.integers(0, 3), min_size=len(values), max_size=len(values)).filter(any)
    )
    found = average_ranks(np.array(values, dtype=float), np.array([weights], dtype=float))[0]
    drawn = np.repeat(np.arange(len(values)), weights)
    wanted = scipy.stats.rankdata(np.array(values)[drawn])
    assert found[drawn] == pytest.approx(wanted)


@pytest.mark.parametrize("counts", [[1] * 20, [300, 200, 1]])
def test_weights_are_resamples_of_all_units(counts: list[int]) -> None:
    kinds = np.array(counts)
    weights = draw_weights(np.random.default_rng(0), kinds, 4_000)
    assert (weights.sum(axis=1) == kinds.sum()).all()
    assert weights.mean(axis=0) == pytest.approx(kinds, rel=0.1, abs=0.1)
    variance = kinds * (1 - kinds / kinds.sum())
    assert weights.var(axis=0) == pytest.approx(variance, rel=0.15, abs=0.1)


def test_the_mean_has_the_interval_of_a_mean() -> None:
    values = np.random.default_rng(1).normal(size=50)
    ones = np.ones(50, dtype=np.int64)
    bounds = bootstrap_statistic(lambda w: (w @ values) / 50, ones)
    plain = bootstrap_interval(values.tolist())
    assert bounds.low == pytest.approx(plain.low, abs=0.02)
    assert bounds.high == pytest.approx(plain.high, abs=0.02)
    error = values.std(ddof=1) / 50**0.5
    assert plain.error == pytest.approx(error, rel=0.06)


def test_statistics_without_values_have_no_interval() -> None:
    ones = np.ones(5, dtype=np.int64)
    nothing = bootstrap_statistic(lambda w: np.full(len(w), np.nan), ones)
    assert (nothing.low, nothing.high) == (None, None)
    assert bootstrap_statistic(lambda w: w[:, 0], ones[:1]).low is None
