"""What a report says first: in a few plain sentences, what its tables show and how sure that is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean
from typing import TYPE_CHECKING

from core.judges.results import PEOPLE, WinRateRow
from core.metrics.comparison import Difference
from core.runs.compare import FEWEST_FOR_CHANCE
from core.runs.human_agreement import AgreementRow, HumanAgreement
from core.runs.measures import RATING_PREFIX, WITHOUT_BEST, measure_name
from core.runs.results import ResultRow

if TYPE_CHECKING:
    from core.report.content import ComparedPair

#: Below this a difference is called unlikely by chance.
_SURE = 0.05
#: With fewer pairs a percentage of agreement is a matter of single pairs.
_FEWEST_PAIRS = 10


def summarise(
    rows: Sequence[ResultRow],
    ratings: Sequence[ResultRow],
    rates: Sequence[WinRateRow],
    human: HumanAgreement,
    compared: Sequence[ComparedPair],
) -> list[str]:
    """Sentences in the order of their weight: people's choices, people's ratings, metrics, judges."""
    found = [
        *(_choice(rate) for rate in rates if rate.judge == PEOPLE),
        *_ratings(ratings),
        *_metrics(rows, compared),
        *_agreement(human),
    ]
    return [sentence for sentence in found if sentence]


def _choice(rate: WinRateRow) -> str:
    parts = rate.plain.components
    if rate.plain.value is None:
        return ""
    low, high = parts.get("low"), parts.get("high")
    text = (
        f"People preferred '{rate.system}' to '{rate.base}' in {_percent(rate.plain.value)} of"
        f" {parts.get('n', 0)} pairs, a tie counting half"
    )
    if low is None or high is None:
        return f"{text}."
    sure = (
        "too few to tell it from chance"
        if parts.get("n", 0) < FEWEST_FOR_CHANCE
        else "more often than not"
        if low > 0.5
        else "less often than not"
        if high < 0.5
        else "the pairs leave open which of the two is better"
    )
    return f"{text} (95 % interval {low * 100:.0f} to {high * 100:.0f}): {sure}."


def _ratings(rows: Sequence[ResultRow]) -> list[str]:
    """Systems by the mean of their axes, the highest first."""
    means: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        if row.metric.startswith(RATING_PREFIX) and row.interval.mean is not None:
            means[row.system].append(row.interval.mean)
    if not means:
        return []
    order = sorted(means, key=lambda name: (-fmean(means[name]), name))
    listed = ", ".join(f"'{name}' {fmean(means[name]):.1f}" for name in order)
    return [f"People's ratings, the mean of the axes on a scale from 1 to 5: {listed}."]


def _metrics(rows: Sequence[ResultRow], compared: Sequence[ComparedPair]) -> list[str]:
    """The highest system of each metric, and whether the next one is beyond chance below it."""
    by_metric: dict[str, list[ResultRow]] = defaultdict(list)
    for row in rows:
        if row.interval.mean is not None and row.metric not in WITHOUT_BEST:
            by_metric[row.metric].append(row)
    sentences = []
    for metric, found in by_metric.items():
        order = sorted(found, key=lambda row: -(row.interval.mean or 0.0))
        if len(order) < 2 or metric.startswith(RATING_PREFIX):
            continue
        top = order[0].interval.mean
        alike = [row.system for row in order if row.interval.mean == top]
        if len(alike) > 1:
            listed = " and ".join(f"'{name}'" for name in alike)
            sentences.append(
                f"{measure_name(metric)} is the same for {listed}, and no other is higher."
            )
            continue
        best, second = order[0].system, order[1].system
        difference = _difference(metric, best, second, compared)
        if difference is None or difference.p is None:
            continue
        how = (
            f"on too few examples to tell the difference to '{second}' from chance"
            if difference.n < FEWEST_FOR_CHANCE
            else f"and the difference to '{second}' is unlikely by chance"
            if difference.p < _SURE
            else f"but chance alone may explain the difference to '{second}'"
        )
        sentences.append(f"{measure_name(metric)} is highest for '{best}', {how}.")
    return sentences


def _difference(
    metric: str, best: str, second: str, compared: Sequence[ComparedPair]
) -> Difference | None:
    for pair in compared:
        if pair.comparison.metric == metric and {pair.first, pair.second} == {best, second}:
            return pair.comparison.difference
    return None


def _agreement(human: HumanAgreement) -> list[str]:
    """The measure that agrees best with people, beside the rule that the longer output wins."""
    rows = [row for row in human.rows if row.without_ties.value is not None]
    automatic = [row for row in rows if row.kind != "baseline" and row.name != "length"]
    baseline = next((row for row in rows if row.kind == "baseline"), None)
    if not automatic:
        return []
    best = max(automatic, key=lambda row: row.without_ties.value or 0.0)
    if best.without_ties.n < _FEWEST_PAIRS:
        return [
            "Whether metrics and judges choose as people do cannot be told yet: it takes"
            f" {_FEWEST_PAIRS} pairs or more without a tie."
        ]
    value = best.without_ties.value or 0.0
    text = (
        f"Of the metrics and judges, {_name(best)} chooses as people do most often, in"
        f" {_percent(value)} of the {best.without_ties.n} pairs without a tie"
    )
    if baseline is None or baseline.without_ties.value is None:
        return [f"{text}."]
    length = baseline.without_ties.value
    low = best.without_ties.low
    beats = (
        "It does better than that rule."
        if low is not None and low > length
        else "That it does better than that rule is not shown."
    )
    return [f"{text}; 'the longer one wins' does in {_percent(length)}. {beats}"]


def _name(row: AgreementRow) -> str:
    return measure_name(row.name) if row.kind == "metric" else f"the judge '{row.name}'"


def _percent(value: float) -> str:
    return f"{value * 100:.0f} %"
