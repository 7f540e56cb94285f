"""What judges said one by one: each pair with both orders and the reasons, and means of 1-5 ratings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from core.judges.results import Bias, judged_pairs
from core.metrics.bootstrap import Interval
from core.review.pairs import Chosen, decided_pairs
from core.runs.results import mean_interval
from core.storage.reads import Reads
from core.types import RATING_AXES, Output, SectionText

#: With fewer answers nothing is said of a judge.
_FEW = 6
_NEARLY_ALL = 0.9


@dataclass(frozen=True, slots=True)
class JudgedRow:
    """A judge's verdict on a pair, with what people decided ('' where nobody compared it)."""

    judge: str
    example: str
    first_output_id: str
    second_output_id: str
    first_system: str
    second_system: str
    choice: Chosen
    consistent: bool
    people: Chosen | str

    @property
    def winner(self) -> str:
        """The system that won; '' for a tie."""
        return self.system_of(self.choice)

    def system_of(self, choice: str) -> str:
        """The system a choice means; '' for a tie or none."""
        return {"first": self.first_system, "second": self.second_system}.get(choice, "")


@dataclass(frozen=True, slots=True)
class Said:
    """One answer: which output was shown first, what was chosen, how sure the judge was, and why."""

    first_shown: str
    choice: str
    probability: float | None
    justification: str
    unscored: str


@dataclass(frozen=True, slots=True)
class JudgedPairView:
    """Everything about one pair and one judge. ``hidden`` while the person has yet to judge it."""

    row: JudgedRow
    texts: tuple[tuple[SectionText, ...], tuple[SectionText, ...]]
    said: tuple[Said, ...]
    hidden: bool


@dataclass(frozen=True, slots=True)
class AxisMeans:
    """A judge's mean ratings of a system, an interval an axis (None where it rated none)."""

    judge: str
    system: str
    axes: tuple[Interval | None, ...]


def judged_rows(reads: Reads, *, limit: int = 0) -> tuple[list[JudgedRow], int]:
    """Verdicts of every judge, those against people's first, then contradictory ones; and how many
    there are in all."""
    people = {(pair.first, pair.second): pair.choice for pair in decided_pairs(reads)}
    places = {
        row["id"]: (row["title"], row["name"])
        for row in reads.query(
            "SELECT o.id, e.title, y.name FROM output o JOIN example e ON e.id = o.example_id"
            " JOIN run r ON r.id = o.run_id JOIN system y ON y.id = r.system_id"
            " WHERE o.id IN (SELECT output_id FROM judge_answer WHERE deleted = 0"
            " UNION SELECT other_output_id FROM judge_answer WHERE deleted = 0)"
        )
    }
    rows = [
        JudgedRow(
            judge,
            places[verdict.first][0],
            verdict.first,
            verdict.second,
            places[verdict.first][1],
            places[verdict.second][1],
            verdict.choice,
            verdict.consistent,
            people.get((verdict.first, verdict.second), ""),
        )
        for judge, verdicts in judged_pairs(reads).items()
        for verdict in verdicts
    ]
    rows.sort(key=_weight)
    return (rows[:limit] if limit else rows), len(rows)


def _weight(row: JudgedRow) -> tuple[bool, bool, str, str]:
    against = bool(row.people) and row.people != row.choice
    return not against, row.consistent, row.example, row.judge


def read_judged_pair(reads: Reads, row: JudgedRow, person_id: str) -> JudgedPairView:
    """Both texts and what the judge said in each order."""
    ids = (row.first_output_id, row.second_output_id)
    hidden = reads.value(
        "SELECT EXISTS (SELECT 1 FROM review_item WHERE output_id IN (?, ?) AND person_id = ?"
        " AND state IN ('pending', 'draft') AND deleted = 0) OR EXISTS (SELECT 1 FROM pair_item"
        " WHERE left_output_id IN (?, ?) AND right_output_id IN (?, ?) AND person_id = ?"
        " AND state IN ('pending', 'draft') AND deleted = 0)",
        (*ids, person_id, *ids, *ids, person_id),
    )
    latest: dict[tuple[str, bool], Said] = {}
    for answer in reads.query(
        "SELECT y.name, j.swapped, j.choice, j.probability, j.justification, j.unscored"
        " FROM judge_answer j JOIN system y ON y.id = j.judge_id WHERE j.output_id = ?"
        " AND j.other_output_id = ? AND j.kind = 'pair' AND j.deleted = 0 ORDER BY j.id",
        ids,
    ):
        swapped = bool(answer["swapped"])
        latest[answer["name"], swapped] = Said(
            row.second_system if swapped else row.first_system,
            answer["choice"],
            answer["probability"],
            answer["justification"],
            answer["unscored"],
        )
    said = [
        entry
        for (name, _swapped), entry in sorted(latest.items())
        # The pool is several judges: all of them have their say.
        if name == row.judge or not any(known == row.judge for known, _s in latest)
    ]
    return JudgedPairView(row, _texts(reads, ids), tuple(said), bool(hidden))


def _texts(
    reads: Reads, ids: Sequence[str]
) -> tuple[tuple[SectionText, ...], tuple[SectionText, ...]]:
    first, second = (reads.get(Output, output_id) for output_id in ids)
    return (
        first.sections or (SectionText(title="", text=first.text),),
        second.sections or (SectionText(title="", text=second.text),),
    )


def axis_means(reads: Reads) -> list[AxisMeans]:
    """Every judge's mean 1-5 ratings of every system, over the latest rating of each output and axis."""
    found: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in reads.query(
        "SELECT y.name AS judge, s.name AS system, j.axis, j.value, max(j.id)"
        " FROM judge_answer j JOIN system y ON y.id = j.judge_id"
        " JOIN output o ON o.id = j.output_id AND o.deleted = 0"
        " JOIN run r ON r.id = o.run_id AND r.deleted = 0 JOIN system s ON s.id = r.system_id"
        " WHERE j.kind = 'axis' AND j.deleted = 0 AND j.value IS NOT NULL"
        " GROUP BY j.judge_id, j.output_id, j.axis ORDER BY j.output_id"
    ):
        found[row["judge"], row["system"]][row["axis"]].append(row["value"])
    return [
        AxisMeans(
            judge,
            system,
            tuple(mean_interval(values[axis]) if axis in values else None for axis in RATING_AXES),
        )
        for (judge, system), values in sorted(found.items())
    ]


def judge_warnings(biases: Sequence[Bias], ratings: Sequence[AxisMeans]) -> list[str]:
    """What makes a judge's verdicts worthless, in sentences: a position it always prefers, one rating
    for everything."""
    found = []
    for bias in biases:
        share = bias.first_shown
        if share.mean is None or share.n < _FEW:
            continue
        if share.mean >= _NEARLY_ALL or share.mean <= 1 - _NEARLY_ALL:
            place = "first" if share.mean >= _NEARLY_ALL else "second"
            found.append(
                f"{bias.judge} prefers what it is shown {place} in"
                f" {max(share.mean, 1 - share.mean) * 100:.0f} % of its decisions: its verdicts say"
                " nothing of the texts."
            )
    by_judge: dict[str, list[Interval]] = defaultdict(list)
    for row in ratings:
        by_judge[row.judge] += [mean for mean in row.axes if mean is not None]
    for judge, means in by_judge.items():
        values = {mean.mean for mean in means}
        alike = all(mean.error in (None, 0.0) for mean in means)
        if len(values) == 1 and alike and sum(mean.n for mean in means) >= _FEW:
            found.append(
                f"{judge} gives everything the rating {values.pop():.0f}: it does not tell outputs"
                " apart."
            )
    return found
