"""Win rates, their interval and their penalty on length."""

from __future__ import annotations

from typing import Any

import pytest

from core.errors import UsageError
from core.metrics.preferences import WinRate


def test_ties_count_half() -> None:
    found = WinRate().aggregate([{"winner": w} for w in ("candidate", "tie", "base", "tie")])
    assert found.value == 0.5
    assert (found.components["wins"], found.components["ties"]) == (1, 2)


def test_interval_holds_the_value_and_is_repeatable() -> None:
    items = [{"winner": "candidate" if k % 3 else "base"} for k in range(60)]
    found = WinRate().aggregate(items)
    assert found.components["low"] < (found.value or 0) < found.components["high"]
    assert found == WinRate().aggregate(items)
    assert found != WinRate(seed="7").aggregate(items)


@pytest.mark.parametrize(
    ("candidate", "base", "value"),
    [("a b c d", "a b", 0.5), ("a", "a b", 1.0), ("", "a", 0.0), (40, 10, 0.25), ("a", "", 0.0)],
)
def test_a_win_by_length_is_worth_less(candidate: Any, base: Any, value: float) -> None:
    item = {"winner": "candidate", "candidate": candidate, "base": base}
    assert WinRate(length_penalised="true").score_one(item).value == value
    assert WinRate().score_one(item).value == 1.0


def test_an_unjudged_pair_is_unscored_and_counted() -> None:
    assert WinRate().score_one({"winner": None}).unscored
    found = WinRate().aggregate([{"winner": None}, {"winner": "candidate"}])
    assert found.value == 1.0
    assert found.components["unscored_items"] == 1
    assert found.components["low"] is None
    assert found.notes
    assert WinRate().aggregate([]).value is None


@pytest.mark.parametrize("item", [{}, {"winner": "left"}, {"winner": 1}])
def test_other_words_are_wrong_usage(item: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        WinRate().score_one(item)


def test_the_penalty_needs_lengths() -> None:
    with pytest.raises(UsageError, match="candidate"):
        WinRate(length_penalised="true").score_one({"winner": "tie", "base": "a"})
