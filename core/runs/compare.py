"""Two systems or runs side by side: what got better, what worse, and how sure one can be of it."""

from __future__ import annotations

from dataclasses import dataclass

from core.metrics.comparison import Difference, compare_systems
from core.runs.measures import LATEST, RATING_PREFIX, WITHOUT_BEST
from core.storage.reads import Reads

#: With fewer pairs not even the same sign in all of them is unlikely by chance (a sign test of five
#: gives p = 0.06); a bootstrap of so few knows no better.
FEWEST_FOR_CHANCE = 6


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison: a whole system, or one of its runs."""

    system_id: str
    run_id: str = ""


@dataclass(frozen=True, slots=True)
class PairedValue:
    """Both sides' values for an example, and the outputs they belong to."""

    example_id: str
    title: str
    first: float
    second: float
    first_output_id: str
    second_output_id: str

    @property
    def gain(self) -> float:
        """How much higher the second is."""
        return self.second - self.first


@dataclass(frozen=True, slots=True)
class Comparison:
    """The mean difference (second less first) with its interval, and the examples behind it.

    ``better`` and ``worse`` are those where the second side is higher and lower, the largest change
    first; ``same`` counts the rest.
    """

    metric: str
    difference: Difference
    better: tuple[PairedValue, ...]
    worse: tuple[PairedValue, ...]
    same: int


def common_metrics(reads: Reads, first: Side, second: Side) -> list[str]:
    """The measures that both sides have values of, those without a better and a worse last."""
    found = [_metrics_of(reads, side) for side in (first, second)]
    # What can be better or worse comes first: it is what is looked at first.
    return sorted(found[0] & found[1], key=lambda metric: (metric in WITHOUT_BEST, metric))


def _metrics_of(reads: Reads, side: Side) -> set[str]:
    where, parameters = _where(side)
    metrics = reads.query("SELECT DISTINCT metric FROM score INDEXED BY score_measure")
    found = set()
    for row in metrics:
        if reads.value(
            "SELECT EXISTS (SELECT 1 FROM run r JOIN output o ON o.run_id = r.id AND o.deleted = 0"
            " JOIN score s ON s.output_id = o.id AND s.metric = ? AND s.deleted = 0"
            f" WHERE r.deleted = 0 AND {where})",
            (row["metric"], *parameters),
        ):
            found.add(row["metric"])
    axes = reads.query(
        "SELECT DISTINCT g.axis FROM rating g JOIN output o ON o.id = g.output_id AND o.deleted = 0"
        f" JOIN run r ON r.id = o.run_id AND r.deleted = 0 WHERE g.deleted = 0 AND {where}",
        parameters,
    )
    return found | {RATING_PREFIX + row["axis"].replace("_", " ") for row in axes}


def compare_sides(reads: Reads, metric: str, first: Side, second: Side) -> Comparison:
    """Compare two sides on one measure over the examples both wrote for, by paired bootstrap.

    Where a side has several outputs of an example, their mean counts and the latest one is shown.
    """
    values = [_values_by_example(reads, metric, side) for side in (first, second)]
    titles = {
        row["id"]: row["title"]
        for row in reads.query("SELECT id, title FROM example WHERE deleted = 0")
    }
    common = sorted(values[0].keys() & values[1].keys())
    pairs = [
        PairedValue(
            example,
            titles.get(example, ""),
            values[0][example][0],
            values[1][example][0],
            values[0][example][1],
            values[1][example][1],
        )
        for example in common
    ]
    difference = compare_systems([p.second for p in pairs], [p.first for p in pairs])
    return Comparison(
        metric,
        difference,
        tuple(sorted((p for p in pairs if p.gain > 0), key=lambda p: -p.gain)),
        tuple(sorted((p for p in pairs if p.gain < 0), key=lambda p: p.gain)),
        sum(p.gain == 0 for p in pairs),
    )


def _where(side: Side) -> tuple[str, list[str]]:
    if side.run_id:
        return "r.id = ?", [side.run_id]
    return "r.system_id = ?", [side.system_id]


def _values_by_example(reads: Reads, metric: str, side: Side) -> dict[str, tuple[float, str]]:
    where, parameters = _where(side)
    if metric.startswith(RATING_PREFIX):
        axis = metric.removeprefix(RATING_PREFIX).replace(" ", "_")
        rows = reads.query(
            "SELECT o.example_id, avg(g.value) AS value, max(o.id) AS output FROM rating g"
            " JOIN review_item v ON v.output_id = g.output_id AND v.person_id = g.person_id"
            " AND v.state = 'submitted' AND v.deleted = 0"
            " JOIN output o ON o.id = g.output_id AND o.deleted = 0"
            " JOIN run r ON r.id = o.run_id AND r.deleted = 0"
            f" WHERE g.deleted = 0 AND g.axis = ? AND {where} GROUP BY o.example_id",
            (axis, *parameters),
        )
    else:
        latest = LATEST.format(metric=" AND n.metric = ?")
        rows = reads.query(
            f"SELECT o.example_id, avg(l.value) AS value, max(o.id) AS output FROM {latest} l"
            " JOIN output o INDEXED BY output_facts ON o.id = l.output_id AND o.deleted = 0"
            " JOIN run r ON r.id = o.run_id AND r.deleted = 0"
            f" WHERE l.value IS NOT NULL AND {where} GROUP BY o.example_id",
            (metric, *parameters),
        )
    return {row["example_id"]: (row["value"], row["output"]) for row in rows}


def in_words(comparison: Comparison, first: str, second: str) -> str:
    """A comparison in one sentence, for reports and screen readers."""
    difference = comparison.difference
    if difference.value is None:
        return difference.reason or "There is nothing to compare."
    way = "higher" if difference.value > 0 else "lower" if difference.value < 0 else "the same"
    digits = 3 if max(abs(difference.value), abs(difference.low or 0.0)) < 5 else 1
    text = (
        f"{second} is {abs(difference.value):.{digits}f} {way} than {first}"
        if way != "the same"
        else f"{second} and {first} are the same"
    )
    if difference.low is None or difference.p is None:
        return f"{text} on {difference.n} example; one example tells nothing about others."
    if difference.n < FEWEST_FOR_CHANCE:
        return (
            f"{text} over {difference.n} examples (95 % interval {difference.low:.{digits}f} to"
            f" {difference.high:.{digits}f}): too few to tell it from chance."
        )
    sure = (
        "a difference this large is unlikely by chance"
        if difference.p < 0.05
        else "chance alone may explain it"
    )
    return (
        f"{text} over {difference.n} examples (95 % interval {difference.low:.{digits}f} to"
        f" {difference.high:.{digits}f}, p {difference.p:.4f}): {sure}."
    )
