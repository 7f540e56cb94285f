"""The benchmark's tables: corpus scores of each instruction, how much they depend on it, and by what they
stand beside; sentence scores for box plots and the correlation of metrics."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.editing_bench.bench import BENCH, COPY
from core.editing_bench.tasks import MAIN_METRICS, Published, published_scores
from core.metrics.agreement import Agreement
from core.metrics.correlation import correlate_metrics
from core.storage.reads import Reads
from core.types import Run


@dataclass(frozen=True, slots=True)
class PromptScore:
    """A run's corpus score: one system, one instruction. ``missing`` counts sentences without output."""

    number: int
    instruction: str
    value: float | None
    run_id: str
    n: int
    missing: int = 0
    unscored: str = ""


@dataclass(frozen=True, slots=True)
class BenchRow:
    """A system on a data set by one metric, over its instructions.

    ``variation`` is the coefficient of variation (standard deviation over mean, of the population of
    instructions tried), None for one instruction or a mean of 0.
    """

    dataset: str
    task: str
    metric: str
    system_id: str
    system: str
    main: bool
    prompts: tuple[PromptScore, ...]
    mean: float | None
    highest: float | None
    lowest: float | None
    variation: float | None
    copy: float | None
    published: Published | None
    signature: str

    @property
    def is_copy(self) -> bool:
        return self.system == COPY

    @property
    def scale(self) -> float:
        """What one point of the published score is here."""
        return 1.0 if self.metric in ("sari", "bleu") else 100.0


def bench_tables(reads: Reads) -> list[BenchRow]:
    """Every system, data set and metric of the benchmark, the latest run of each instruction."""
    runs: dict[str, Run] = {
        run.id: run
        for run in reads.find(
            Run, "json_extract(signature, '$.bench') = ?", (BENCH,), order_by="started, id"
        )
    }
    if not runs:
        return []
    names = {row["id"]: row["name"] for row in reads.query("SELECT id, name FROM system")}
    counts = {
        row["run_id"]: row["n"]
        for row in reads.query(
            "SELECT run_id, count(*) AS n FROM output WHERE deleted = 0 AND state = 'done'"
            " GROUP BY run_id"
        )
    }
    cells: dict[tuple[str, str, str, str], dict[int, PromptScore]] = defaultdict(dict)
    signatures: dict[tuple[str, str, str, str], str] = {}
    for row in reads.query(
        "SELECT run_id, metric, value, unscored, signature,"
        " coalesce(json_extract(components, '$.missing'), 0) AS missing FROM run_score"
        " WHERE deleted = 0 ORDER BY id"
    ):
        run = runs.get(row["run_id"])
        if run is None:
            continue
        signature = run.signature
        key = (signature["dataset"], signature["task"], row["metric"], run.system_id)
        number = int(signature["prompt_number"])
        cells[key][number] = PromptScore(
            number,
            str(signature["instruction"]),
            row["value"],
            run.id,
            counts.get(run.id, 0),
            row["missing"],
            row["unscored"],
        )
        signatures[key] = row["signature"]
    copies = _copy_scores(reads, runs, names, counts)
    rows = []
    for key, prompts in cells.items():
        dataset, task, metric, system_id = key
        values = [p.value for p in prompts.values() if p.value is not None]
        mean = statistics.fmean(values) if values else None
        spread = statistics.pstdev(values) if len(values) > 1 else None
        rows.append(
            BenchRow(
                dataset,
                task,
                metric,
                system_id,
                names.get(system_id, ""),
                metric in MAIN_METRICS[task],
                tuple(prompts[number] for number in sorted(prompts)),
                mean,
                max(values, default=None),
                min(values, default=None),
                spread / mean if spread is not None and mean else None,
                copies.get((dataset, metric, _size(prompts.values()))),
                _published(dataset, metric),
                signatures[key],
            )
        )
    order = {task: place for place, task in enumerate(MAIN_METRICS)}
    return sorted(
        rows,
        key=lambda r: (order[r.task], r.dataset, not r.main, r.metric, not r.is_copy, r.system),
    )


def _size(prompts: Iterable[PromptScore]) -> int:
    return max((prompt.n + prompt.missing for prompt in prompts), default=0)


def _copy_scores(
    reads: Reads, runs: Mapping[str, Run], names: Mapping[str, str], counts: Mapping[str, int]
) -> dict[tuple[str, str, int], float | None]:
    """The copy baseline by data set, metric and number of examples, so that like is set beside like."""
    found: dict[tuple[str, str, int], float | None] = {}
    for row in reads.query(
        "SELECT run_id, metric, value FROM run_score WHERE deleted = 0 ORDER BY id"
    ):
        run = runs.get(row["run_id"])
        if run is not None and names.get(run.system_id) == COPY:
            size = counts.get(run.id, 0)
            found[run.signature["dataset"], row["metric"], size] = row["value"]
    return found


def _published(dataset: str, metric: str) -> Published | None:
    for entry in published_scores():
        if (entry.dataset, entry.metric) == (dataset, metric):
            return entry
    return None


@dataclass(frozen=True, slots=True)
class Box:
    """The five numbers of a box plot of sentence scores: of a system, or of an instruction to it."""

    system: str
    number: int
    instruction: str
    low: float
    lower_quartile: float
    median: float
    upper_quartile: float
    high: float
    n: int

    @property
    def name(self) -> str:
        """System, and number and words of the instruction where there is one."""
        if not self.instruction:
            return self.system
        return f"{self.system} · {self.number} {self.instruction}"


def bench_boxes(reads: Reads, dataset: str, metric: str, *, by: str = "prompt") -> list[Box]:
    """Sentence scores of a data set, a box for each instruction of each system, or for each system."""
    values: dict[tuple[str, int, str], list[float]] = defaultdict(list)
    for row in _sentence_scores(reads, dataset, metric):
        number = row["number"] if by == "prompt" else 0
        values[row["system"], number, row["instruction"] if by == "prompt" else ""].append(
            row["value"]
        )
    return [_box(*key, found) for key, found in sorted(values.items())]


def _sentence_scores(reads: Reads, dataset: str, metric: str) -> list[dict[str, Any]]:
    return reads.query(
        "SELECT y.name AS system, json_extract(r.signature, '$.prompt_number') AS number,"
        " json_extract(r.signature, '$.instruction') AS instruction, s.value FROM run r"
        " JOIN system y ON y.id = r.system_id JOIN output o ON o.run_id = r.id AND o.deleted = 0"
        " JOIN score s ON s.output_id = o.id AND s.metric = ? AND s.deleted = 0"
        " AND s.value IS NOT NULL"
        " WHERE r.deleted = 0 AND json_extract(r.signature, '$.bench') = ?"
        " AND json_extract(r.signature, '$.dataset') = ? AND s.id = (SELECT max(n.id) FROM score n"
        " WHERE n.output_id = o.id AND n.metric = s.metric AND n.deleted = 0)",
        (metric, BENCH, dataset),
    )


def _box(system: str, number: int, instruction: str, values: Sequence[float]) -> Box:
    ordered = sorted(values)
    if len(ordered) == 1:
        ordered *= 2
    lower, median, upper = statistics.quantiles(ordered, n=4, method="inclusive")
    five = (ordered[0], lower, median, upper, ordered[-1])
    return Box(system, number, instruction, *five, len(values))


def metric_correlations(
    reads: Reads, dataset: str = ""
) -> tuple[list[str], dict[tuple[str, str], Agreement]]:
    """Pearson's correlation of every two metrics over sentences; metrics' names and the matrix."""
    more = " AND json_extract(r.signature, '$.dataset') = ?" if dataset else ""
    by_output: dict[str, dict[str, float]] = defaultdict(dict)
    metrics: dict[str, None] = {}
    for row in reads.query(
        "SELECT s.output_id, s.metric, s.value FROM run r"
        " JOIN output o ON o.run_id = r.id AND o.deleted = 0"
        " JOIN score s ON s.output_id = o.id AND s.deleted = 0 AND s.value IS NOT NULL"
        f" WHERE r.deleted = 0 AND json_extract(r.signature, '$.bench') = ?{more} ORDER BY s.id",
        (BENCH, dataset) if dataset else (BENCH,),
    ):
        by_output[row["output_id"]][row["metric"]] = row["value"]
        metrics.setdefault(row["metric"])
    names = sorted(metrics)
    series = {name: [values.get(name) for values in by_output.values()] for name in names}
    return names, correlate_metrics(series, method="pearson", samples=1_000) if names else {}
