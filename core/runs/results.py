"""Tables of results: the latest score of each output and metric, averaged by system, with intervals."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.errors import UsageError
from core.metrics.bootstrap import Interval, bootstrap_interval
from core.storage.reads import Reads

#: What results can be split by besides the system.
GROUPINGS = ("field", "task", "split", "length")

_LENGTH_BOUNDS = (100, 300, 600)

_LATEST_SCORES = """
    SELECT s.output_id, s.metric, s.value, s.unscored, s.signature, s.components,
           y.id AS system_id, y.name AS system, o.run_id, o.state, e.split, e.id AS example_id,
           e.title, t.objective AS task, f.name AS field,
           length(o.text) - length(replace(o.text, ' ', '')) + 1 AS words
    FROM score s
    JOIN output o ON o.id = s.output_id AND o.deleted = 0
    JOIN run r ON r.id = o.run_id AND r.deleted = 0
    JOIN system y ON y.id = r.system_id
    JOIN example e ON e.id = o.example_id
    JOIN task t ON t.id = e.task_id
    JOIN field f ON f.id = t.field_id
    WHERE s.deleted = 0 AND s.id = (
        SELECT max(n.id) FROM score n
        WHERE n.output_id = s.output_id AND n.metric = s.metric AND n.deleted = 0)
"""


@dataclass(frozen=True, slots=True)
class ResultRow:
    """One system's mean on one metric; ``group`` holds the values of the groupings asked for."""

    system_id: str
    system: str
    metric: str
    interval: Interval
    unscored: int
    reasons: Mapping[str, int] = field(default_factory=dict)
    signatures: tuple[str, ...] = ()
    group: tuple[str, ...] = ()


def result_rows(reads: Reads, by: Sequence[str] = (), run_id: str | None = None) -> list[ResultRow]:
    """Means by system and metric, with seeded 95 % bootstrap intervals.

    Parameters
    ----------
    by
        Further groupings, of `GROUPINGS`.
    run_id
        Only this run.
    """
    for name in by:
        if name not in GROUPINGS:
            raise UsageError(
                f"Results cannot be split by '{name}'.", remedy=f"Use {', '.join(GROUPINGS)}."
            )
    where = " AND o.run_id = ?" if run_id else ""
    scores = reads.query(
        f"{_LATEST_SCORES}{where} ORDER BY y.name, s.metric, o.id", (run_id,) if run_id else ()
    )
    groups: dict[tuple[str, str, str, tuple[str, ...]], list[dict[str, Any]]] = defaultdict(list)
    for score in scores:
        group = tuple(_group_value(score, name) for name in by)
        groups[score["system_id"], score["system"], score["metric"], group].append(score)
    rows = []
    for (system_id, system, metric, group), members in groups.items():
        values = [member["value"] for member in members if member["value"] is not None]
        reasons: dict[str, int] = defaultdict(int)
        for member in members:
            if member["value"] is None:
                reasons[member["unscored"] or "no reason was kept"] += 1
        rows.append(
            ResultRow(
                system_id,
                system,
                metric,
                bootstrap_interval(values),
                sum(reasons.values()),
                dict(reasons),
                tuple(sorted({member["signature"] for member in members})),
                group,
            )
        )
    return rows


def rating_rows(reads: Reads) -> list[ResultRow]:
    """Means of people's 1-5 ratings by system and axis."""
    ratings = reads.query(
        """SELECT y.id AS system_id, y.name AS system, g.axis, g.value
           FROM rating g JOIN output o ON o.id = g.output_id JOIN run r ON r.id = o.run_id
           JOIN system y ON y.id = r.system_id
           JOIN review_item v ON v.output_id = g.output_id AND v.person_id = g.person_id
                AND v.state = 'submitted' AND v.deleted = 0
           WHERE g.deleted = 0 AND o.deleted = 0 ORDER BY y.name, g.axis, g.id"""
    )
    groups: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for rating in ratings:
        groups[rating["system_id"], rating["system"], rating["axis"]].append(rating["value"])
    return [
        ResultRow(system_id, system, f"rating: {axis.replace('_', ' ')}", bootstrap_interval(v), 0)
        for (system_id, system, axis), v in groups.items()
    ]


def _group_value(score: Mapping[str, Any], name: str) -> str:
    if name != "length":
        return str(score[name])
    words = int(score["words"])
    low = 0
    for bound in _LENGTH_BOUNDS:
        if words < bound:
            return f"{low}-{bound - 1} words"
        low = bound
    return f"{low} words or more"
