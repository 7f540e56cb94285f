"""What a report says first: four questions, answered in plain sentences from what its tables show."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core.judges.results import PEOPLE, WinRateRow
from core.metrics.agreement import Agreement
from core.metrics.comparison import Difference
from core.report.failures import RATED, Failures
from core.report.verdict import SURE, Overall, say_best
from core.runs.compare import FEWEST_FOR_CHANCE
from core.runs.human_agreement import AgreementRow, HumanAgreement
from core.runs.measures import RATING_PREFIX, WITHOUT_BEST, measure_name
from core.runs.results import ResultRow

if TYPE_CHECKING:
    from core.report.content import ComparedPair

#: With fewer pairs a percentage of agreement is a matter of single pairs.
_FEWEST_PAIRS = 10
#: Krippendorff (2004): from here on data are good for tentative conclusions, and for firm ones.
_TENTATIVE, _FIRM = 0.667, 0.8

BEST = "Which system is best, and how sure is that?"
FAILS = "Where do systems fail?"
AGREE = "Do metrics and judges choose as people do?"


@dataclass(frozen=True, slots=True)
class Answer:
    """A question a report answers first, and the sentences that answer it."""

    question: str
    sentences: tuple[str, ...]


def summarise(
    *,
    rows: Sequence[ResultRow] = (),
    overall: Overall | None = None,
    rates: Sequence[WinRateRow] = (),
    compared: Sequence[ComparedPair] = (),
    failures: Failures | None = None,
    human: HumanAgreement | None = None,
    raters: Mapping[str, Any] | None = None,
    redact: bool = False,
) -> list[Answer]:
    """The questions that can be answered, with their sentences in the order of their weight.

    Parameters
    ----------
    overall
        Of `overall_ratings`.
    raters
        Of `rater_agreement`.
    redact
        Name no example.
    """
    people = [*(_choice(rate) for rate in rates if rate.judge == PEOPLE)]
    metrics = _metrics(rows, compared)
    best = [say_best(overall or {}), *people, *metrics]
    if metrics and not overall and not people:
        best.insert(
            0, "Nobody has rated or compared outputs: what experts would choose is not known."
        )
    agree = [*_agreement(human or HumanAgreement((), 0, "")), *_raters(raters or {})]
    answers = [
        Answer(question, tuple(sentence for sentence in sentences if sentence))
        for question, sentences in (
            (BEST, best),
            (FAILS, _failures(failures or Failures(), redact)),
            (AGREE, agree),
        )
    ]
    return [answer for answer in answers if answer.sentences]


def _failures(found: Failures, redact: bool) -> list[str]:
    sentences = []
    counts: Counter[str] = Counter()
    for row in found.marked:
        counts.update(row.tags)
    if counts:
        tag, often = counts.most_common(1)[0]
        marked, outputs = (
            sum(getattr(r, name) for r in found.marked) for name in ("marked", "outputs")
        )
        sentences.append(
            f"People marked something as wrong in {marked} of {outputs} outputs, most often"
            f" '{tag.replace('_', ' ')}' ({often})."
        )
    worst_sections = {row.system: row for row in reversed(found.left_out)}
    for left in reversed(worst_sections.values()):
        sentences.append(
            f"'{left.system}' leaves out '{left.title}' in {left.missing} of {left.outputs} outputs."
        )
    if found.worst:
        worst = found.worst[0]
        of = "" if redact else f", on '{worst.example}'"
        what = (
            "rated lowest by people"
            if found.measure == RATED
            else (f"lowest by {measure_name(found.measure)}")
        )
        value = f"{worst.value:.1f} of 5" if found.measure == RATED else f"{worst.value:.3g}"
        sentences.append(f"The output {what} is one of '{worst.system}'{of} ({value}).")
    return sentences


def _raters(found: Mapping[str, Any]) -> list[str]:
    """Whether people's choices are alike enough to lean on."""
    alpha: Agreement | None = found.get("alpha_nominal")
    if alpha is None or alpha.value is None or alpha.n < _FEWEST_PAIRS:
        return []
    how = (
        "enough for firm conclusions"
        if alpha.value >= _FIRM
        else "enough for tentative conclusions only"
        if alpha.value >= _TENTATIVE
        else "too little to take anybody's choices for the truth"
    )
    return [
        f"People among themselves: Krippendorff's alpha of their choices is {alpha.value:.2f} over"
        f" {alpha.n} pairs (1 is full agreement, 0 none beyond chance), {how}."
    ]


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
            if difference.p < SURE
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
    found = [f"{text}; 'the longer one wins' does in {_percent(length)}. {beats}"]
    for row in automatic:
        if row.kind == "judge" and row is not best and row.without_ties.n >= _FEWEST_PAIRS:
            share = _percent(row.without_ties.value or 0.0)
            found.append(f"The judge '{row.name}' does so in {share}.")
    return found


def _name(row: AgreementRow) -> str:
    return measure_name(row.name) if row.kind == "metric" else f"the judge '{row.name}'"


def _percent(value: float) -> str:
    return f"{value * 100:.0f} %"
