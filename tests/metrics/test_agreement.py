"""Agreement: known answers, other implementations, properties, reasons, intervals."""

from __future__ import annotations

import math
import random
from typing import Any

import krippendorff
import numpy as np
import pytest
import scipy.stats
import sklearn.metrics
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import UsageError
from core.metrics import agreement as agree
from core.metrics.agreement import LEVELS, Agreement, Level, Ratings
from core.metrics.correlation import correlate_metrics, kendall, pearson, spearman

QUICK = settings(max_examples=60, deadline=None)
FEW = 200  # resamples, where the interval is not what is looked at

# Krippendorff (2011), four coders and twelve units.
FOUR_CODERS: tuple[Ratings, ...] = (
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
)

LABEL = st.one_of(st.none(), st.integers(0, 4))
TABLE = st.integers(2, 4).flatmap(
    lambda raters: st.integers(1, 9).flatmap(
        lambda items: st.lists(
            st.lists(LABEL, min_size=items, max_size=items), min_size=raters, max_size=raters
        )
    )
)
PAIR = st.integers(1, 12).flatmap(
    lambda n: st.tuples(*[st.lists(LABEL, min_size=n, max_size=n)] * 2)
)


def _check(found: Agreement) -> None:
    """A value with an interval around it, or a reason in words; never nan."""
    if found.value is None:
        assert found.reason
        assert found.low is None
    else:
        assert math.isfinite(found.value)
        assert -1e9 < found.value <= 1 + 1e-9
        if found.low is None:
            assert found.reason
        else:
            assert found.high is not None and found.low <= found.high
            assert math.isfinite(found.low) and math.isfinite(found.high)


@pytest.mark.parametrize(
    ("level", "value"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_alpha_of_krippendorffs_example(level: Level, value: float) -> None:
    found = agree.krippendorff_alpha(*FOUR_CODERS, level=level)
    assert found.value == pytest.approx(value, abs=5e-4)
    # Of the twelve units one has only one rating, which pairs with nothing.
    assert found.n == 11
    _check(found)


@pytest.mark.parametrize("level", LEVELS)
@QUICK
@given(table=TABLE)
def test_alpha_equals_the_package(level: Level, table: list[list[int | None]]) -> None:
    found = agree.krippendorff_alpha(*table, level=level, samples=FEW)
    _check(found)
    data = np.array([[np.nan if v is None else v for v in row] for row in table])
    paired = (~np.isnan(data)).sum(axis=0) >= 2
    if len(np.unique(data[:, paired][~np.isnan(data[:, paired])])) < 2:
        assert found.value is None
        return
    wanted = krippendorff.alpha(data[:, paired], level_of_measurement=level)
    assert found.value == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("level", LEVELS)
@QUICK
@given(table=TABLE, shuffle=st.randoms(use_true_random=False))
def test_alpha_does_not_mind_the_order_of_raters_and_units(
    level: Level, table: list[list[int | None]], shuffle: random.Random
) -> None:
    units = list(zip(*table, strict=True))
    shuffle.shuffle(units)
    turned = [list(row) for row in zip(*units, strict=True)]
    shuffle.shuffle(turned)
    one = agree.krippendorff_alpha(*table, level=level, samples=FEW)
    two = agree.krippendorff_alpha(*turned, level=level, samples=FEW)
    assert (one.value is None) == (two.value is None)
    if one.value is not None:
        assert one.value == pytest.approx(two.value, abs=1e-9)


@pytest.mark.parametrize("weights", ["none", "linear", "quadratic"])
@QUICK
@given(pair=PAIR)
def test_cohen_equals_scikit_learn(weights: Any, pair: tuple[list[Any], list[Any]]) -> None:
    found = agree.cohen_kappa(*pair, weights=weights, samples=FEW)
    _check(found)
    both = [(a, b) for a, b in zip(*pair, strict=True) if a is not None and b is not None]
    assert found.n == len(both)
    if len({label for row in both for label in row}) < 2:
        assert found.value is None
        return
    labels = sorted({label for row in both for label in row})
    wanted = sklearn.metrics.cohen_kappa_score(
        *zip(*both, strict=True), labels=labels, weights=None if weights == "none" else weights
    )
    assert found.value == pytest.approx(wanted, abs=1e-9)
    turned = agree.cohen_kappa(pair[1], pair[0], weights=weights, samples=FEW)
    assert turned.value == pytest.approx(found.value, abs=1e-12)


def test_order_of_categories_is_given() -> None:
    first, second = ["poor", "good", "fair", "poor"], ["fair", "good", "good", "poor"]
    by_name = agree.cohen_kappa(first, second, weights="quadratic")
    in_order = agree.cohen_kappa(first, second, weights="quadratic", order=["poor", "fair", "good"])
    numbers = {"poor": 1, "fair": 2, "good": 3}
    as_numbers = agree.cohen_kappa(
        [numbers[v] for v in first], [numbers[v] for v in second], weights="quadratic"
    )
    assert in_order.value == as_numbers.value != by_name.value
    with pytest.raises(UsageError, match="'fair'"):
        agree.cohen_kappa(first, second, weights="linear", order=["poor", "good"])


def test_fleiss_of_his_worked_example() -> None:
    table = [
        [0, 0, 0, 0, 14],
        [0, 2, 6, 4, 2],
        [0, 0, 3, 5, 6],
        [0, 3, 9, 2, 0],
        [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0],
        [3, 2, 6, 3, 0],
        [2, 5, 3, 2, 2],
        [6, 5, 2, 1, 0],
        [0, 2, 2, 3, 7],
    ]
    items = [[label for label, n in enumerate(row) for _ in range(n)] for row in table]
    found = agree.fleiss_kappa(*zip(*items, strict=True))
    assert found.value == pytest.approx(0.20993, abs=5e-6)
    assert found.n == 10
    _check(found)


def test_fleiss_leaves_out_items_that_not_all_rated() -> None:
    found = agree.fleiss_kappa([1, 2, 1, None], [1, 2, 2, 1], [1, 2, 1, 1])
    assert found.n == 3
    assert "left_out:1" in found.signature


@QUICK
@given(table=TABLE)
def test_percentage_is_the_mean_over_items_of_equal_pairs(table: list[list[int | None]]) -> None:
    found = agree.percentage(*table, samples=FEW)
    _check(found)
    shares = []
    for row in zip(*table, strict=True):
        given = [label for label in row if label is not None]
        pairs = [(a, b) for n, a in enumerate(given) for b in given[n + 1 :]]
        if pairs:
            shares.append(sum(a == b for a, b in pairs) / len(pairs))
    if shares:
        assert found.value == pytest.approx(sum(shares) / len(shares))
        assert found.n == len(shares)
    else:
        assert found.value is None


def test_percentage_with_and_without_ties() -> None:
    first, second = ["left", "tie", "right", "tie"], ["left", "left", "left", "tie"]
    assert agree.percentage(first, second).value == 0.5
    without = agree.percentage(first, second, ignore=("tie",))
    assert (without.value, without.n) == (0.5, 2)
    assert without.measure == "percentage_without_ties"


NUMBER = st.one_of(st.none(), st.floats(-1e6, 1e6), st.integers(-3, 3).map(float))
SERIES = st.integers(1, 25).flatmap(
    lambda n: st.tuples(*[st.lists(NUMBER, min_size=n, max_size=n)] * 2)
)


@pytest.mark.parametrize(
    ("function", "reference"),
    [
        (pearson, scipy.stats.pearsonr),
        (spearman, scipy.stats.spearmanr),
        (kendall, scipy.stats.kendalltau),
    ],
    ids=["pearson", "spearman", "kendall"],
)
@QUICK
@given(series=SERIES)
def test_correlations_equal_scipy(function: Any, reference: Any, series: Any) -> None:
    found = function(*series, samples=FEW)
    _check(found)
    both = [(a, b) for a, b in zip(*series, strict=True) if a is not None and b is not None]
    if len(both) < 2 or any(len(set(side)) < 2 for side in zip(*both, strict=True)):
        assert found.value is None
        return
    x, y = map(np.array, zip(*both, strict=True))
    if function is pearson and min(np.ptp(x) / np.abs(x).max(), np.ptp(y) / np.abs(y).max()) < 1e-6:
        return  # Nearly constant: rounding decides, in scipy too.
    assert found.value == pytest.approx(reference(x, y).statistic, abs=1e-7)
    assert function(series[1], series[0], samples=FEW).value == pytest.approx(found.value)


def test_kendall_of_more_items_than_pairs_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = random.Random(5)
    x = [generator.gauss(0, 1) for _ in range(40)]
    y = [value + generator.gauss(0, 1) for value in x]
    pairwise = kendall(x, y, samples=FEW)
    monkeypatch.setattr("core.metrics.correlation._MOST_PAIRWISE", 10)
    sorting = kendall(x, y, samples=FEW)
    assert (sorting.value, sorting.low, sorting.high) == pytest.approx(
        (pairwise.value, pairwise.low, pairwise.high)
    )


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (agree.cohen_kappa([1, None], [None, 1]), "No item was rated by both"),
        (agree.cohen_kappa([1, 1], [1, 1]), "are the same"),
        (agree.cohen_kappa([], []), "No item was rated by both"),
        (agree.fleiss_kappa([1, 1]), "only one rater"),
        (agree.fleiss_kappa([1, None], [None, 1]), "by every rater"),
        (agree.fleiss_kappa([1, 1], [1, 1]), "are the same"),
        (agree.krippendorff_alpha([1, None], [None, 1]), "two raters"),
        (agree.krippendorff_alpha([1.5, 1.5], [1.5, 1.5], level="interval"), "are the same"),
        (agree.krippendorff_alpha(), "two raters"),
        (agree.percentage([None], [1]), "two raters"),
        (pearson([1], [2]), "Only one item"),
        (spearman([], []), "No item was rated by both"),
        (kendall([1, 1, 1], [1, 2, 3]), "same value everywhere"),
        (pearson([0.1, 0.1, 0.1], [1, 2, 3]), "same value everywhere"),
    ],
)
def test_what_cannot_be_computed_has_a_reason(found: Agreement, words: str) -> None:
    assert found.value is None
    assert found.low is found.high is None
    assert found.reason is not None and words in found.reason


def test_missing_is_never_a_label() -> None:
    nan = float("nan")
    found = agree.krippendorff_alpha([1, 2, None, nan], [1, 2, None, nan])
    assert (found.value, found.n) == (1.0, 2)


def test_wrong_calls_are_named() -> None:
    with pytest.raises(UsageError, match="2 to 3 ratings"):
        agree.percentage([1, 2, 3], [1, 2])
    with pytest.raises(UsageError, match="'a' is no number"):
        agree.krippendorff_alpha(["a", 1], ["a", 1], level="interval")
    with pytest.raises(UsageError, match="no number"):
        pearson(["a", "b"], [1, 2])  # type: ignore[list-item]
    with pytest.raises(UsageError, match="not finite"):
        pearson([math.inf, 1], [1, 2])


def test_intervals_are_seeded_and_cover() -> None:
    """Of many samples of raters who agree on 70 % by construction, most intervals hold 0.7."""
    generator = random.Random(11)
    held = 0
    for _ in range(60):
        truth = [generator.random() < 0.5 for _ in range(80)]
        other = [t if generator.random() < 0.7 else not t for t in truth]
        found = agree.percentage(truth, other, samples=500)
        assert found.low is not None and found.high is not None
        held += found.low <= 0.7 <= found.high
    assert held >= 52
    assert agree.percentage(truth, other) == agree.percentage(truth, other)
    assert agree.percentage(truth, other, seed=1).signature != found.signature


def test_correlation_matrix_is_symmetric() -> None:
    scores: dict[str, list[float | None]] = {
        "a": [1.0, 2.0, 3.0, None],
        "b": [2.0, 1.0, 3.0, 4.0],
        "c": [5.0] * 4,
    }
    matrix = correlate_metrics(scores, method="kendall")
    assert len(matrix) == 9
    assert matrix["a", "b"] is matrix["b", "a"]
    assert matrix["a", "a"].value == pytest.approx(1.0)
    assert matrix["a", "b"].n == 3
    assert matrix["a", "c"].value is None
