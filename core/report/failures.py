"""Where systems fail: what people marked as wrong, sections left out, and the outputs at the bottom."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.runs.measures import LATEST, RATING_PREFIX, WITHOUT_BEST, Narrow
from core.runs.results import ResultRow, SystemCost
from core.storage.reads import Reads
from core.types.evaluation import OUTPUT_TAGS

#: Outputs at the bottom, and sections of a system, that are listed.
_WORST, _SECTIONS = 6, 3
#: The measure of outputs by what people rated, all axes together.
RATED = RATING_PREFIX + "all axes"


@dataclass(frozen=True, slots=True)
class Marked:
    """A system's outputs, how many of them people marked as wrong, and how many with each tag."""

    system: str
    outputs: int
    marked: int
    tags: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A section that a system's outputs lack, and in how many of them."""

    system: str
    title: str
    missing: int
    outputs: int


@dataclass(frozen=True, slots=True)
class Worst:
    """An output at the bottom of ``measure``."""

    system: str
    example: str
    output_id: str
    value: float


@dataclass(frozen=True, slots=True)
class Failures:
    """All of it; ``measure`` is what ``worst`` goes by."""

    marked: Sequence[Marked] = ()
    left_out: Sequence[LeftOut] = ()
    worst: Sequence[Worst] = ()
    measure: str = ""


def read_failures(
    reads: Reads,
    costs: Sequence[SystemCost],
    rows: Sequence[ResultRow],
    ratings: Sequence[ResultRow],
    *,
    narrow: Narrow,
) -> Failures:
    """Read where the systems of ``costs`` fail.

    Outputs are lowest by people's ratings; where nobody rated, by the first metric of which more is
    better.
    """
    metrics = [row.metric for row in rows if row.metric not in WITHOUT_BEST]
    measure = RATED if ratings else metrics[0] if metrics else ""
    return Failures(
        _marked(reads, costs, narrow), _left_out(reads, costs, narrow),
        _worst(reads, measure, narrow) if measure else (), measure,
    )  # fmt: skip


def _marked(reads: Reads, costs: Sequence[SystemCost], narrow: Narrow) -> list[Marked]:
    joins, where, parameters = narrow.sql()
    tagged: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for row in reads.query(
        "SELECT DISTINCT r.system_id, g.tag, o.id FROM output_tag g"
        " JOIN output o ON o.id = g.output_id AND o.deleted = 0"
        f" JOIN run r ON r.id = o.run_id AND r.deleted = 0{joins} WHERE g.deleted = 0{where}",
        parameters,
    ):
        tagged[row["system_id"]][row["tag"]].add(row["id"])
    if not tagged:
        return []
    return [
        Marked(
            cost.system,
            cost.outputs,
            len(set().union(*tagged[cost.system_id].values())),
            {tag: len(tagged[cost.system_id][tag]) for tag in OUTPUT_TAGS},
        )
        for cost in costs
    ]


def _left_out(reads: Reads, costs: Sequence[SystemCost], narrow: Narrow) -> list[LeftOut]:
    joins, where, parameters = narrow.sql()
    names = {cost.system_id: cost for cost in costs}
    found: dict[str, list[LeftOut]] = defaultdict(list)
    for row in reads.query(
        "SELECT r.system_id, j.value AS title, count(*) AS n FROM output o"
        f" JOIN run r ON r.id = o.run_id AND r.deleted = 0{joins}, json_each(o.missing) j"
        f" WHERE o.deleted = 0 AND o.state = 'done'{where}"
        " GROUP BY r.system_id, j.value ORDER BY n DESC, title",
        parameters,
    ):
        cost = names.get(row["system_id"])
        if cost is not None and len(found[cost.system_id]) < _SECTIONS:
            found[cost.system_id].append(LeftOut(cost.system, row["title"], row["n"], cost.outputs))
    return [row for cost in costs for row in found[cost.system_id]]


def _worst(reads: Reads, measure: str, narrow: Narrow) -> list[Worst]:
    joins, where, parameters = narrow.sql()
    if measure == RATED:
        source = (
            "(SELECT g.output_id, avg(g.value) AS value FROM rating g JOIN review_item v"
            " ON v.output_id = g.output_id AND v.person_id = g.person_id"
            " AND v.state = 'submitted' AND v.deleted = 0 WHERE g.deleted = 0 GROUP BY g.output_id)"
        )
    else:
        source = LATEST.format(metric=" AND n.metric = ?")
        parameters = [measure, *parameters]
    # The narrowing may have joined examples already.
    titles = "(SELECT title FROM example WHERE id = o.example_id)"
    return [
        Worst(row["system"], row["title"], row["id"], row["value"])
        for row in reads.query(
            f"SELECT y.name AS system, {titles} AS title, o.id, l.value FROM {source} l"
            " JOIN output o ON o.id = l.output_id AND o.deleted = 0"
            " JOIN run r ON r.id = o.run_id AND r.deleted = 0 JOIN system y ON y.id = r.system_id"
            f"{joins} WHERE l.value IS NOT NULL{where}"
            f" ORDER BY l.value, y.name, title LIMIT {_WORST}",
            parameters,
        )
    ]
