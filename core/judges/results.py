"""What judges say: verdicts over both orders, win rates against a base, and what sways each judge."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from core.metrics.base import MetricScore
from core.metrics.bootstrap import Interval, bootstrap_interval
from core.metrics.preferences import WinRate
from core.review.pairs import Chosen, decided_pairs
from core.runs.measures import WORDS
from core.storage.reads import Reads
from core.types import System

#: Who judged, where it is not one model: people together, and several models by majority.
PEOPLE, POOL = "people", "pool of judges"


@dataclass(frozen=True, slots=True)
class JudgedPair:
    """A judge's verdict on a pair; ``consistent`` says whether both orders gave the same."""

    first: str
    second: str
    choice: Chosen
    consistent: bool = True
    answers: int = 2


@dataclass(frozen=True, slots=True)
class OutputFact:
    """What win rates and biases need to know of an output."""

    system_id: str
    words: int


@dataclass(frozen=True, slots=True)
class WinRateRow:
    """How often a system beats the base in a judge's eyes, plain and with the length penalty."""

    judge: str
    system_id: str
    system: str
    base_id: str
    base: str
    plain: MetricScore
    penalised: MetricScore


@dataclass(frozen=True, slots=True)
class Bias:
    """What sways a judge besides the content.

    ``first_shown`` is the share of decided answers that prefer the document shown first (0.5 is
    none), ``consistent`` the share of pairs judged alike in both orders, ``longer`` the share of
    decided pairs in which the longer document won, each with its interval. ``people_longer`` is the
    same share of people's choices, which a judge without bias would share.
    """

    judge: str
    first_shown: Interval
    consistent: Interval
    longer: Interval
    people_longer: Interval
    unanswered: int


def unanimous_bounds(value: float | None, n: int) -> tuple[float, float] | None:
    """The exact 95 % interval of a share that is 0 or 1; None of any other.

    Resamples of judgements that are all alike are all alike too, so that a bootstrap of them has no
    width; that of three wins in three would claim what only hundreds could show. Source: Clopper and
    Pearson (1934).

    Examples
    --------
    >>> [round(bound, 2) for bound in unanimous_bounds(1.0, 12)]
    [0.74, 1.0]
    """
    if value not in (0.0, 1.0) or n < 2:
        return None
    bound = 0.025 ** (1 / n)
    return (bound, 1.0) if value else (0.0, 1.0 - bound)


def share_interval(values: Sequence[float]) -> Interval:
    """A share with its interval: seeded bootstrap, or the exact one where all judgements are alike."""
    found = bootstrap_interval(values)
    bounds = unanimous_bounds(found.mean, found.n)
    return found if bounds is None else replace(found, low=bounds[0], high=bounds[1])


def _rate(metric: WinRate, items: Sequence[Mapping[str, Any]]) -> MetricScore:
    """A win rate, its interval the exact one where one side won everything."""
    score = metric.aggregate(items)
    bounds = unanimous_bounds(score.value, int(score.components.get("n", 0)))
    if bounds is None:
        return score
    return replace(
        score,
        components={**score.components, "low": bounds[0], "high": bounds[1]},
        notes=(*score.notes, "All judgements are alike: the interval is the exact one."),
    )


def output_facts(reads: Reads, output_ids: Iterable[str]) -> dict[str, OutputFact]:
    """System and length of outputs."""
    wanted = set(output_ids)
    rows = reads.query(
        f"SELECT o.id, r.system_id, {WORDS} AS words FROM output o INDEXED BY output_facts"
        " JOIN run r ON r.id = o.run_id WHERE o.deleted = 0"
        " AND o.id IN (SELECT value FROM json_each(?))",
        (_json(sorted(wanted)),),
    )
    return {row["id"]: OutputFact(row["system_id"], int(row["words"])) for row in rows}


def _json(values: Sequence[str]) -> str:
    import json

    return json.dumps(values)


def pair_answers(reads: Reads) -> dict[str, dict[tuple[str, str], dict[bool, str]]]:
    """Judge name to pair to order (swapped or not) to the latest choice."""
    found: dict[str, dict[tuple[str, str], dict[bool, str]]] = defaultdict(
        lambda: defaultdict(dict)
    )
    for row in reads.query(
        "SELECT y.name, j.output_id, j.other_output_id, j.swapped, j.choice FROM judge_answer j"
        " JOIN system y ON y.id = j.judge_id JOIN output a ON a.id = j.output_id AND a.deleted = 0"
        " JOIN output b ON b.id = j.other_output_id AND b.deleted = 0"
        " WHERE j.kind = 'pair' AND j.deleted = 0 AND j.unscored = '' ORDER BY j.id"
    ):
        pair = (row["output_id"], row["other_output_id"])
        found[row["name"]][pair][bool(row["swapped"])] = row["choice"]
    return {name: dict(pairs) for name, pairs in found.items()}


def judged_pairs(reads: Reads) -> dict[str, list[JudgedPair]]:
    """Verdicts of each judge, and of the pool where there are two or more.

    Both orders together: the same choice stands, two different ones are a tie. A pair judged in one
    order alone counts as it is.
    """
    result: dict[str, list[JudgedPair]] = {}
    for judge, pairs in pair_answers(reads).items():
        verdicts = []
        for (first, second), orders in sorted(pairs.items()):
            choices = set(orders.values())
            only = _chosen(next(iter(choices))) if len(choices) == 1 else "tie"
            verdicts.append(JudgedPair(first, second, only, len(choices) == 1, len(orders)))
        result[judge] = verdicts
    if len(result) > 1:
        result[POOL] = _pool(result)
    return result


def _chosen(text: str) -> Chosen:
    return "first" if text == "first" else "second" if text == "second" else "tie"


def _pool(judges: Mapping[str, Sequence[JudgedPair]]) -> list[JudgedPair]:
    votes: dict[tuple[str, str], Counter[Chosen]] = defaultdict(Counter)
    for verdicts in judges.values():
        for verdict in verdicts:
            votes[verdict.first, verdict.second][verdict.choice] += 1
    pooled = []
    for (first, second), counts in sorted(votes.items()):
        most = max(counts.values())
        leaders = [choice for choice, count in counts.items() if count == most]
        choice: Chosen = leaders[0] if len(leaders) == 1 else "tie"
        pooled.append(JudgedPair(first, second, choice, len(counts) == 1, sum(counts.values())))
    return pooled


def win_rates(reads: Reads, base_id: str) -> list[WinRateRow]:
    """Win rates of every system against the base, by judge: models, their pool, and people.

    ``(wins + ties / 2) / n`` over pairs of outputs of the same example, one of them the base's. The
    length-penalised variant is that of `core.metrics.preferences.WinRate`.
    """
    judges: dict[str, list[tuple[str, str, Chosen]]] = {
        judge: [(v.first, v.second, v.choice) for v in verdicts]
        for judge, verdicts in judged_pairs(reads).items()
    }
    people = [(pair.first, pair.second, pair.choice) for pair in decided_pairs(reads)]
    if people:
        judges[PEOPLE] = people
    facts = output_facts(
        reads, (output for pairs in judges.values() for pair in pairs for output in pair[:2])
    )
    names = {system.id: system.name for system in reads.find(System)}
    rows = []
    for judge, pairs in judges.items():
        items: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for first, second, choice in pairs:
            one, other = facts[first], facts[second]
            if (one.system_id == base_id) == (other.system_id == base_id):
                continue
            candidate_is_first = other.system_id == base_id
            candidate, base = (one, other) if candidate_is_first else (other, one)
            if choice == "tie":
                winner = "tie"
            else:
                winner = "candidate" if (choice == "first") == candidate_is_first else "base"
            items[candidate.system_id].append(
                {"winner": winner, "candidate": candidate.words, "base": base.words}
            )
        for system_id, found in items.items():
            rows.append(
                WinRateRow(
                    judge,
                    system_id,
                    names.get(system_id, ""),
                    base_id,
                    names.get(base_id, ""),
                    _rate(WinRate(), found),
                    _rate(WinRate(length_penalised="true"), found),
                )
            )
    return sorted(rows, key=lambda row: (row.judge != PEOPLE, row.judge, row.system))


def bias_rows(reads: Reads) -> list[Bias]:
    """Position and length bias of every judge that is a model."""
    answers = pair_answers(reads)
    verdicts = judged_pairs(reads)
    facts = output_facts(
        reads,
        (
            output
            for pairs in verdicts.values()
            for pair in pairs
            for output in (pair.first, pair.second)
        ),
    )
    people = [(pair.first, pair.second, pair.choice) for pair in decided_pairs(reads)]
    people_facts = output_facts(reads, (o for pair in people for o in pair[:2]))
    people_longer = _longer(people, people_facts)
    unanswered = {
        row["name"]: row["n"]
        for row in reads.query(
            "SELECT y.name, count(*) AS n FROM judge_answer j JOIN system y ON y.id = j.judge_id"
            " WHERE j.deleted = 0 AND j.unscored <> '' GROUP BY y.name"
        )
    }
    rows = []
    for judge, pairs in sorted(answers.items()):
        shown_first = [
            float((choice == "first") != swapped)
            for orders in pairs.values()
            for swapped, choice in orders.items()
            if choice != "tie"
        ]
        both = [v for v in verdicts[judge] if v.answers == 2]
        rows.append(
            Bias(
                judge,
                share_interval(shown_first),
                share_interval([float(v.consistent) for v in both]),
                share_interval(
                    _longer([(v.first, v.second, v.choice) for v in verdicts[judge]], facts)
                ),
                share_interval(people_longer),
                unanswered.get(judge, 0),
            )
        )
    return rows


def _longer(
    pairs: Sequence[tuple[str, str, Chosen]], facts: Mapping[str, OutputFact]
) -> list[float]:
    """1 where the longer document won, 0 where the shorter did; ties and equal lengths left out."""
    found = []
    for first, second, choice in pairs:
        one, other = facts[first].words, facts[second].words
        if choice != "tie" and one != other:
            found.append(float((choice == "first") == (one > other)))
    return found


def axis_values(reads: Reads) -> dict[str, dict[tuple[str, str], float]]:
    """Judge name to (output id, axis) to its latest rating from 1 to 5."""
    found: dict[str, dict[tuple[str, str], float]] = defaultdict(dict)
    for row in reads.query(
        "SELECT y.name, j.output_id, j.axis, j.value FROM judge_answer j"
        " JOIN system y ON y.id = j.judge_id JOIN output o ON o.id = j.output_id AND o.deleted = 0"
        " WHERE j.kind = 'axis' AND j.deleted = 0 AND j.value IS NOT NULL ORDER BY j.id"
    ):
        found[row["name"]][row["output_id"], row["axis"]] = row["value"]
    return dict(found)
