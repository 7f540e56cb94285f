"""Whether one system is best by what people say of all its outputs, and how sure that is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean

from core.metrics.comparison import Difference, compare_systems
from core.runs.compare import FEWEST_FOR_CHANCE
from core.runs.measures import EVERYTHING, Narrow
from core.storage.reads import Reads

#: Below this a difference is called unlikely by chance.
SURE = 0.05
#: Systems that a sentence names.
_NAMED = 4

#: System to example to the mean of its ratings from 1 to 5: all axes, all people, all outputs.
Overall = Mapping[str, Mapping[str, float]]


def overall_ratings(reads: Reads, *, narrow: Narrow = EVERYTHING) -> Overall:
    """What people who handed in their reviews think of each system's outputs, by example."""
    joins, where, parameters = narrow.sql()
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for row in reads.query(
        "SELECT y.name, o.example_id, avg(g.value) AS value FROM rating g"
        " JOIN review_item v ON v.output_id = g.output_id AND v.person_id = g.person_id"
        " AND v.state = 'submitted' AND v.deleted = 0"
        " JOIN output o ON o.id = g.output_id AND o.deleted = 0"
        " JOIN run r ON r.id = o.run_id AND r.deleted = 0 JOIN system y ON y.id = r.system_id"
        f"{joins} WHERE g.deleted = 0{where} GROUP BY y.id, o.example_id"
        " ORDER BY y.name, o.example_id",
        parameters,
    ):
        found[row["name"]][row["example_id"]] = row["value"]
    return dict(found)


def say_best(overall: Overall) -> str:
    """The verdict in a sentence; '' where fewer than two systems were rated.

    The system with the highest mean is set against each other one over the examples both wrote for, by
    paired bootstrap; with k others p counts k times, so that the best of many is not best by luck.
    """
    if len(overall) < 2:
        return ""
    means = {system: fmean(values.values()) for system, values in overall.items()}
    order = sorted(means, key=lambda system: (-means[system], system))
    best, others = order[0], order[1:]
    found = {other: _difference(overall[best], overall[other]) for other in others}
    open_ = [other for other in others if not _is_sure(found[other], len(others))]
    listed = _listed([f"'{system}' {means[system]:.1f}" for system in order])
    if not open_:
        lead = found[others[0]]
        return (
            f"'{best}' is best by people's ratings, beyond what chance explains: the mean of all axes"
            f" on a scale from 1 to 5 is {listed}; over {lead.n} examples it lies"
            f" {lead.value:.1f} above '{others[0]}' (95 % interval {lead.low:.1f} to {lead.high:.1f})."
        )
    few = all(found[other].n < FEWEST_FOR_CHANCE for other in open_)
    why = (
        "on too few examples to tell its lead over"
        if few
        else "and chance may explain its lead over"
    )
    names = _listed([f"'{other}'" for other in open_])
    return (
        f"No system is shown to be best. People's ratings, the mean of all axes on a scale from 1 to 5:"
        f" {listed}. '{best}' is highest, {why} {names}{' from chance' if few else ''}."
    )


def _listed(names: Sequence[str]) -> str:
    """The first of them by name, the rest by number."""
    rest = len(names) - _NAMED
    if rest > 0:
        return f"{', '.join(names[:_NAMED])}, and {rest} {'other' if rest == 1 else 'others'}"
    return ", ".join(names) if len(names) != 2 else " and ".join(names)


def _difference(best: Mapping[str, float], other: Mapping[str, float]) -> Difference:
    common: Sequence[str] = sorted(best.keys() & other.keys())
    return compare_systems([best[e] for e in common], [other[e] for e in common])


def _is_sure(found: Difference, others: int) -> bool:
    return (
        found.p is not None
        and found.value is not None
        and found.value > 0
        and found.n >= FEWEST_FOR_CHANCE
        and found.p * others < SURE
    )
