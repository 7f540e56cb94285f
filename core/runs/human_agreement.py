"""Do the automatic measures agree with the experts: every metric and judge against people's choices.

People's choices come from pairs they compared; where nobody compared pairs, from their ratings of two
outputs of the same example. The baseline that every measure has to beat is 'longer wins'.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

from core.judges.results import axis_values, judged_pairs, output_facts, unanimous_bounds
from core.metrics.agreement import Agreement
from core.metrics.comparison import Preference, compare_preferences, prefer_by_score
from core.review.pairs import decided_pairs
from core.runs.measures import LATEST
from core.storage.reads import Reads

Source = Literal["pairs", "ratings", ""]

LONGER = "longer wins"
_SIDES: dict[str, Preference] = {"first": "left", "second": "right", "tie": "tie"}


@dataclass(frozen=True, slots=True)
class AgreementRow:
    """How often a measure prefers what people prefer, with ties and without."""

    name: str
    kind: Literal["metric", "judge", "baseline"]
    with_ties: Agreement
    without_ties: Agreement


@dataclass(frozen=True, slots=True)
class HumanAgreement:
    """The rows, the highest agreement first, over how many pairs, and where the choices come from."""

    rows: tuple[AgreementRow, ...]
    pairs: int
    source: Source


@dataclass(frozen=True, slots=True)
class _Pair:
    first: str
    second: str
    choice: Preference


def human_agreement(reads: Reads) -> HumanAgreement:
    """Agreement of every metric, every judge and the baseline with people."""
    pairs: list[_Pair] = [_Pair(p.first, p.second, _SIDES[p.choice]) for p in decided_pairs(reads)]
    source: Source = "pairs" if pairs else ""
    if not pairs:
        pairs = _pairs_of_ratings(reads)
        source = "ratings" if pairs else ""
    if not pairs:
        return HumanAgreement((), 0, "")
    ids = sorted({output for pair in pairs for output in (pair.first, pair.second)})
    automatic: dict[str, list[Preference | None]] = {}
    kinds: dict[str, Literal["metric", "judge", "baseline"]] = {LONGER: "baseline"}
    for metric, values in _metric_values(reads, ids).items():
        automatic[metric] = prefer_by_score(
            [values.get(pair.first) for pair in pairs], [values.get(pair.second) for pair in pairs]
        )
        kinds[metric] = "metric"
    for judge, verdicts in judged_pairs(reads).items():
        choices = {(v.first, v.second): _SIDES[v.choice] for v in verdicts}
        automatic[judge] = [choices.get((pair.first, pair.second)) for pair in pairs]
        kinds[judge] = "judge"
    for judge, ratings in axis_values(reads).items():
        means: dict[str, list[float]] = defaultdict(list)
        for (output, _axis), value in ratings.items():
            means[output].append(value)
        overall = {output: sum(values) / len(values) for output, values in means.items()}
        name = f"{judge}, 1-5"
        automatic[name] = prefer_by_score(
            [overall.get(pair.first) for pair in pairs],
            [overall.get(pair.second) for pair in pairs],
        )
        kinds[name] = "judge"
    facts = output_facts(reads, ids)
    longer = prefer_by_score(
        [facts[pair.first].words for pair in pairs], [facts[pair.second].words for pair in pairs]
    )
    found = compare_preferences([pair.choice for pair in pairs], automatic, longer=longer)
    rows = [
        AgreementRow(name, kinds[name], _bounded(with_ties), _bounded(without))
        for name, (with_ties, without) in found.items()
    ]
    rows.sort(key=lambda row: (-(row.without_ties.value or -1.0), row.name))
    return HumanAgreement(tuple(rows), len(pairs), source)


def _bounded(found: Agreement) -> Agreement:
    """With an interval that has a width where all pairs say the same."""
    bounds = unanimous_bounds(found.value, found.n)
    return found if bounds is None else replace(found, low=bounds[0], high=bounds[1])


def _pairs_of_ratings(reads: Reads) -> list[_Pair]:
    """Outputs of one example, compared by the mean of all submitted ratings each got."""
    means: dict[str, dict[str, float]] = defaultdict(dict)
    for row in reads.query(
        "SELECT o.example_id, o.id, avg(g.value) AS mean FROM rating g"
        " JOIN review_item v ON v.output_id = g.output_id AND v.person_id = g.person_id"
        " AND v.state = 'submitted' AND v.deleted = 0"
        " JOIN output o ON o.id = g.output_id AND o.deleted = 0"
        " WHERE g.deleted = 0 GROUP BY o.id ORDER BY o.id"
    ):
        means[row["example_id"]][row["id"]] = row["mean"]
    pairs = []
    for outputs in means.values():
        for one, other in combinations(sorted(outputs), 2):
            choice = prefer_by_score([outputs[one]], [outputs[other]])[0]
            if choice is not None:
                pairs.append(_Pair(one, other, choice))
    return pairs


def _metric_values(reads: Reads, output_ids: Sequence[str]) -> dict[str, dict[str, float]]:
    """Latest scores of these outputs, by metric."""
    import json

    values: dict[str, dict[str, float]] = defaultdict(dict)
    latest = LATEST.format(metric=" AND n.output_id IN (SELECT value FROM json_each(?))")
    for row in reads.query(
        f"SELECT l.metric, l.output_id, l.value FROM {latest} l WHERE l.value IS NOT NULL",
        (json.dumps(list(output_ids)),),
    ):
        values[row["metric"]][row["output_id"]] = row["value"]
    return dict(sorted(values.items()))
