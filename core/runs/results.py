"""Tables of results: the latest score of each output and metric, averaged by system, with intervals."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import msgspec
import numpy as np

from core.metrics.bootstrap import Interval, bootstrap_interval
from core.runs.measures import (
    EVERYTHING,
    GROUPINGS,
    Narrow,
    check_groupings,
    item_query,
    ratings_query,
    section_query,
    values_query,
)
from core.storage.reads import Reads
from core.storage.workspace import Workspace
from core.types import System

__all__ = [
    "GROUPINGS",
    "MOST_BOOTSTRAPPED",
    "Narrow",
    "ResultRow",
    "SystemCost",
    "cost_rows",
    "rating_rows",
    "result_rows",
    "result_values",
]

#: Up to here the interval of a mean is a bootstrap; above it is the normal one, which by then agrees
#: with it in the digits shown, and which costs nothing.
MOST_BOOTSTRAPPED = 400
#: More dots than this in a plot say no more.
MOST_DOTS = 150
_Z = 1.959963984540054
_ROWS = 4_096

#: (system id, metric, groups)
Key = tuple[str, str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class ResultRow:
    """One system's mean on one metric; ``group`` holds the values of the groupings asked for.

    ``dots`` are values to draw, all of them or `MOST_DOTS` spread evenly over them.
    """

    system_id: str
    system: str
    metric: str
    interval: Interval
    unscored: int
    reasons: Mapping[str, int] = field(default_factory=dict)
    signatures: tuple[str, ...] = ()
    group: tuple[str, ...] = ()
    dots: tuple[float, ...] = ()

    @property
    def method(self) -> str:
        """How the interval came about: 'bootstrap', 'normal', or '' where there is none."""
        if self.interval.low is None:
            return ""
        return "bootstrap" if self.interval.n <= MOST_BOOTSTRAPPED else "normal"


def result_rows(
    reads: Reads,
    by: Sequence[str] = (),
    run_id: str | None = None,
    *,
    narrow: Narrow = EVERYTHING,
) -> list[ResultRow]:
    """Means by system and metric, with 95 % intervals.

    Parameters
    ----------
    by
        Further groupings, of `GROUPINGS`. By 'section' and 'item' the rows are of sections and of
        rubric items; by 'expert' they are people's ratings.
    run_id
        Only this run.
    narrow
        Only these outputs.
    """
    check_groupings(by)
    if run_id:
        narrow = Narrow(run_ids=(run_id,))
    if "expert" in by:
        return _rows(reads, *ratings_query(by, narrow), groups=len(by))
    if "section" in by:
        return _rows(reads, *section_query(narrow), groups=1)
    if "item" in by:
        return _rows(reads, *item_query(narrow), groups=1)
    query, parameters = values_query(by, narrow)
    rows = _rows(reads, query, parameters, groups=len(by))
    signatures = _signatures(reads, {row.metric for row in rows})
    return [
        replace(
            row,
            signatures=signatures.get(
                (row.system_id, row.metric), signatures.get(("", row.metric), ())
            ),
        )
        for row in rows
    ]


def rating_rows(
    reads: Reads, by: Sequence[str] = (), *, narrow: Narrow = EVERYTHING
) -> list[ResultRow]:
    """Means of people's 1-5 ratings by system and axis, of reviews that were handed in."""
    query, parameters = ratings_query(by, narrow)
    return _rows(reads, query, parameters, groups=len(by))


def result_values(
    reads: Reads, metric: str, system_id: str, *, limit: int = 0, narrow: Narrow = EVERYTHING
) -> list[float]:
    """The values behind a cell, of a score or a rating; ``limit`` 0 for all."""
    narrow = Narrow(
        run_ids=narrow.run_ids,
        system_ids=(system_id,),
        field=narrow.field,
        task_id=narrow.task_id,
        split=narrow.split,
    )
    if metric.startswith("rating: "):
        query, parameters = ratings_query((), narrow)
        found = (row[2] for row in _stream(reads, query, parameters) if row[1] == metric)
    else:
        query, parameters = values_query((), narrow, metric)
        found = (row[2] for row in _stream(reads, query, parameters) if row[2] is not None)
    return list(islice(found, limit) if limit else found)


def _rows(reads: Reads, query: str, parameters: Sequence[Any], *, groups: int) -> list[ResultRow]:
    """Average a query of `core.runs.measures`.

    SQLite gathers the values and hands over one text a group: 400,000 rows that become Python objects
    hold up every other thread of the window.
    """
    names = ["system_id", "metric", *(f"group_{n}" for n in range(groups))]
    keys = ", ".join(names)
    values: dict[Key, list[float]] = defaultdict(list)
    reasons: dict[Key, Counter[str]] = defaultdict(Counter)
    # Materialized: otherwise the measures' expressions are worked out anew for each use.
    for row in reads.query(
        f"WITH m({keys}, value, reason) AS MATERIALIZED ({query})"
        f" SELECT {keys}, reason, count(*) - count(value) AS missing,"
        " json_group_array(value) FILTER (WHERE value IS NOT NULL) AS found"
        f" FROM m GROUP BY {keys}, reason",
        parameters,
    ):
        key = (row["system_id"], row["metric"], tuple(str(row[name]) for name in names[2:]))
        values[key] += msgspec.json.decode(row["found"], type=list[float])
        if row["missing"]:
            reasons[key][row["reason"] or "no reason was kept"] += row["missing"]
    systems = {system.id: system.name for system in reads.find(System)}
    rows = [
        ResultRow(
            key[0],
            systems.get(key[0], ""),
            key[1],
            mean_interval(found),
            sum(reasons[key].values()),
            dict(reasons[key]),
            (),
            key[2],
            tuple(found[:: max(1, math.ceil(len(found) / MOST_DOTS))]),
        )
        for key, found in values.items()
    ]
    return sorted(rows, key=lambda row: (row.system, row.metric, row.group))


def mean_interval(values: Sequence[float]) -> Interval:
    """A mean with its 95 % interval: seeded bootstrap, or the normal one past `MOST_BOOTSTRAPPED`."""
    n = len(values)
    if n <= MOST_BOOTSTRAPPED:
        return bootstrap_interval(values)
    mean = math.fsum(values) / n
    error = float(np.std(values, ddof=1)) / math.sqrt(n)
    return Interval(mean, mean - _Z * error, mean + _Z * error, error, n)


def _stream(reads: Reads, query: str, parameters: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    """Rows as tuples, without keeping them all; inside a transaction, where they are few, from a list."""
    if not isinstance(reads, Workspace):
        for row in reads.query(query, parameters):
            yield tuple(row.values())
        return
    with reads.reader() as db:
        cursor = db.conn.execute(query, tuple(parameters))
        try:
            while rows := cursor.fetchmany(_ROWS):
                yield from rows
        finally:
            cursor.close()


def _signatures(reads: Reads, metrics: set[str]) -> dict[tuple[str, str], tuple[str, ...]]:
    """Signatures by (system id, metric); where a metric has only one, under ('', metric)."""
    found: dict[str, list[str]] = defaultdict(list)
    for row in reads.query(
        "SELECT DISTINCT metric, signature FROM score INDEXED BY score_signature WHERE deleted = 0"
    ):
        found[row["metric"]].append(row["signature"])
    signatures: dict[tuple[str, str], tuple[str, ...]] = {}
    for metric in metrics:
        if len(found[metric]) <= 1:
            signatures["", metric] = tuple(found[metric])
            continue
        by_system: dict[str, set[str]] = defaultdict(set)
        for row in reads.query(
            "SELECT DISTINCT r.system_id AS system, s.signature FROM score s"
            " JOIN output o INDEXED BY output_facts ON o.id = s.output_id AND o.deleted = 0"
            " JOIN run r ON r.id = o.run_id AND r.deleted = 0"
            " WHERE s.metric = ? AND s.deleted = 0 AND NOT EXISTS (SELECT 1 FROM score n"
            " WHERE n.output_id = s.output_id AND n.metric = s.metric AND n.deleted = 0"
            " AND n.id > s.id)",
            (metric,),
        ):
            by_system[row["system"]].add(row["signature"])
        for system, texts in by_system.items():
            signatures[system, metric] = tuple(sorted(texts))
    return signatures


@dataclass(frozen=True, slots=True)
class SystemCost:
    """What a system's outputs cost: counts, tokens, and seconds of this machine's time."""

    system_id: str
    system: str
    outputs: int
    failed: int
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    words: float

    @property
    def tokens_a_second(self) -> float | None:
        return self.completion_tokens / self.seconds if self.seconds > 0 else None

    @property
    def seconds_an_output(self) -> float | None:
        """Shown by the template of the report."""
        return self.seconds / self.outputs if self.outputs and self.seconds > 0 else None


def cost_rows(reads: Reads, *, narrow: Narrow = EVERYTHING) -> list[SystemCost]:
    """Time and tokens of each system, from the index alone."""
    from core.runs.measures import WORDS

    joins, where, parameters = narrow.sql()
    rows = reads.query(
        "SELECT r.system_id, y.name, sum(o.state = 'done') AS outputs, sum(o.state = 'failed') AS"
        " failed, sum(o.prompt_tokens) AS prompt_tokens, sum(o.completion_tokens) AS"
        f" completion_tokens, sum(o.seconds) AS seconds, avg(CASE WHEN o.state = 'done' THEN {WORDS}"
        " END) AS words FROM run r JOIN system y ON y.id = r.system_id"
        " JOIN output o INDEXED BY output_run_facts ON o.run_id = r.id AND o.deleted = 0"
        f"{joins} WHERE r.deleted = 0{where} GROUP BY r.system_id"
        " ORDER BY y.name COLLATE NOCASE",
        parameters,
    )
    return [
        SystemCost(
            row["system_id"],
            row["name"],
            row["outputs"] or 0,
            row["failed"] or 0,
            row["prompt_tokens"] or 0,
            row["completion_tokens"] or 0,
            row["seconds"] or 0.0,
            row["words"] or 0.0,
        )
        for row in rows
    ]
