"""What a report says: systems, data, numbers, comparisons, people and judges, limits, signatures."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from core.exchange.privacy import PRIVATE_SQL
from core.judges.answers import AxisMeans, axis_means, judge_warnings
from core.judges.results import Bias, WinRateRow, bias_rows, win_rates
from core.report.failures import Failures, read_failures
from core.report.summary import Answer, summarise
from core.report.verdict import overall_ratings
from core.review.pairs import rater_agreement
from core.runs.compare import Comparison, Side, common_metrics, compare_sides, in_words
from core.runs.human_agreement import HumanAgreement, human_agreement
from core.runs.measures import Narrow
from core.runs.results import ResultRow, SystemCost, cost_rows, rating_rows, result_rows
from core.storage.workspace import Workspace
from core.types import Run, System

#: More systems than this are not compared with each other pair by pair.
_MOST_COMPARED = 6
_FEW = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportOptions:
    """What goes in: one run or all, with or without texts, and what was asked in a person's words."""

    run_id: str | None = None
    redact: bool = False
    question: str = ""


@dataclass(frozen=True, slots=True)
class DataRow:
    """The examples of a task that the runs are on."""

    task: str
    field: str
    examples: int
    private: int
    splits: str


@dataclass(frozen=True, slots=True)
class SystemRow:
    """A system as it ran: its cost and what made its outputs."""

    system: System
    cost: SystemCost
    signature: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ComparedPair:
    """Two systems on a metric, in words and numbers."""

    first: str
    second: str
    comparison: Comparison
    words: str


@dataclass(frozen=True, slots=True)
class Content:
    """All of a report but the outputs themselves."""

    data: list[DataRow]
    systems: list[SystemRow]
    rows: list[ResultRow]
    ratings: list[ResultRow]
    by_field: list[ResultRow]
    compared: list[ComparedPair]
    raters: dict[str, Any]
    rates: list[WinRateRow]
    biases: list[Bias]
    human: HumanAgreement
    short: list[Answer]
    failures: Failures
    judge_ratings: list[AxisMeans]
    limits: list[str]
    signatures: list[str]


def read_content(workspace: Workspace, options: ReportOptions) -> Content:
    """Read everything a report's numbers are made of."""
    narrow = Narrow(run_ids=(options.run_id,)) if options.run_id else Narrow()
    runs = (
        [workspace.get(Run, options.run_id)]
        if options.run_id
        else workspace.find(Run, order_by="started, id")
    )
    rows = result_rows(workspace, narrow=narrow)
    ratings = rating_rows(workspace, narrow=narrow)
    data = _data_rows(workspace, [run.id for run in runs])
    systems = _system_rows(workspace, runs, narrow)
    whole = options.run_id is None
    base = systems[0].system.id if systems else ""
    rates = win_rates(workspace, base) if whole and base else []
    biases = bias_rows(workspace) if whole else []
    human = human_agreement(workspace) if whole else HumanAgreement((), 0, "")
    by_field = (
        result_rows(workspace, ["field"], narrow=narrow)
        if len({row.field for row in data}) > 1
        else []
    )
    judge_ratings = axis_means(workspace) if whole else []
    compared = _compared(workspace, systems) if whole else []
    raters = rater_agreement(workspace) if whole else {"people": 0, "pairs": 0}
    costs = [row.cost for row in systems]
    failures = read_failures(workspace, costs, rows, ratings, narrow=narrow)
    return Content(
        data,
        systems,
        rows,
        ratings,
        by_field,
        compared,
        raters,
        rates,
        biases,
        human,
        summarise(
            rows=rows,
            overall=overall_ratings(workspace, narrow=narrow),
            rates=rates,
            compared=compared,
            failures=failures,
            human=human,
            raters=raters,
            redact=options.redact,
        ),
        failures,
        judge_ratings,
        _limits(workspace, rows + ratings, systems, biases, judge_ratings, human, data),
        _signatures(rows, workspace),
    )


def _data_rows(workspace: Workspace, run_ids: Sequence[str]) -> list[DataRow]:
    marks = ", ".join("?" * len(run_ids))
    found = workspace.query(
        "SELECT t.objective, f.name AS field, e.split, count(*) AS n,"
        f" sum({PRIVATE_SQL}) AS private FROM example e JOIN task t ON t.id = e.task_id"
        " JOIN field f ON f.id = t.field_id WHERE e.id IN (SELECT DISTINCT example_id FROM output"
        f" WHERE run_id IN ({marks}) AND deleted = 0) GROUP BY t.id, e.split"
        " ORDER BY f.name, t.objective, e.split",
        tuple(run_ids),
    )
    rows: dict[tuple[str, str], list[Any]] = defaultdict(list)
    for row in found:
        rows[row["objective"], row["field"]].append(row)
    return [
        DataRow(
            task,
            field,
            sum(row["n"] for row in members),
            sum(row["private"] or 0 for row in members),
            ", ".join(f"{row['split']} {row['n']}" for row in members if row["split"]),
        )
        for (task, field), members in rows.items()
    ]


def _system_rows(workspace: Workspace, runs: Sequence[Run], narrow: Narrow) -> list[SystemRow]:
    costs = {cost.system_id: cost for cost in cost_rows(workspace, narrow=narrow)}
    latest = {run.system_id: run for run in runs}
    rows = []
    for system_id, run in latest.items():
        if system_id in costs:
            system = workspace.get(System, system_id)
            rows.append(SystemRow(system, costs[system_id], dict(run.signature)))
    return rows


def _compared(workspace: Workspace, systems: Sequence[SystemRow]) -> list[ComparedPair]:
    """Every two systems on every measure both have."""
    if len(systems) > _MOST_COMPARED:
        return []
    found = []
    for one, other in combinations([row.system for row in systems], 2):
        first, second = Side(one.id), Side(other.id)
        for metric in common_metrics(workspace, first, second):
            comparison = compare_sides(workspace, metric, first, second)
            found.append(
                ComparedPair(
                    one.name, other.name, comparison, in_words(comparison, one.name, other.name)
                )
            )
    return found


def _signatures(rows: Sequence[ResultRow], workspace: Workspace) -> list[str]:
    judges = workspace.query(
        "SELECT DISTINCT signature FROM judge_answer WHERE deleted = 0 ORDER BY signature"
    )
    scores = sorted({signature for row in rows for signature in row.signatures})
    return scores + [row["signature"] for row in judges]


def _limits(
    workspace: Workspace,
    rows: Sequence[ResultRow],
    systems: Sequence[SystemRow],
    biases: Sequence[Bias],
    ratings: Sequence[AxisMeans],
    human: HumanAgreement,
    data: Sequence[DataRow],
) -> list[str]:
    """What these numbers cannot tell, from what they are."""
    limits = []
    examples = sum(row.examples for row in data)
    if examples < _FEW:
        limits.append(
            f"There are {examples} examples. Intervals this wide say little; single examples may "
            "decide a mean."
        )
    unscored = sum(row.unscored for row in rows)
    if unscored:
        reasons: Counter[str] = Counter()
        for row in rows:
            reasons.update(row.reasons)
        commonest = reasons.most_common(1)[0][0]
        limits.append(
            f"{unscored} scores could not be had and are left out of the means, most often because: "
            f"{commonest}"
        )
    repeated = workspace.query(
        "SELECT y.name FROM output o JOIN run r ON r.id = o.run_id AND r.deleted = 0"
        " JOIN system y ON y.id = r.system_id WHERE o.deleted = 0 AND o.state = 'done'"
        " GROUP BY y.id HAVING count(*) > count(DISTINCT o.example_id) ORDER BY y.name"
    )
    several = {row["name"] for row in repeated} & {row.system.name for row in systems}
    if several:
        limits.append(
            f"{', '.join(sorted(several))}: several outputs of the same examples count as separate values"
            " in tables of means, whose intervals are narrower than as many other examples would give."
            " Comparisons count each example once."
        )
    failed = sum(row.cost.failed for row in systems)
    if failed:
        limits.append(f"{failed} outputs failed; means are over the outputs that exist.")
    cut = workspace.value("SELECT count(*) FROM output WHERE finish = 'length' AND deleted = 0")
    if cut:
        limits.append(f"{cut} outputs were cut off at the longest output allowed.")
    for policy, words in (
        ("truncate", "cut inputs longer than its context, as the benchmark does"),
        ("parts", "worked through long inputs in parts"),
    ):
        names = [r.system.name for r in systems if r.signature.get("context_policy") == policy]
        if names:
            limits.append(f"{', '.join(names)}: {words}.")
    if not human.rows:
        limits.append(
            "Nobody has compared or rated outputs yet: whether the metrics agree with experts on "
            "this task is not known."
        )
    warned = judge_warnings(biases, ratings)
    for bias in biases:
        if any(text.startswith(bias.judge) for text in warned):
            continue
        if bias.first_shown.low is not None and not (
            bias.first_shown.low <= 0.5 <= (bias.first_shown.high or 1.0)
        ):
            limits.append(
                f"The judge {bias.judge} prefers a position: the document shown first wins "
                f"{(bias.first_shown.mean or 0) * 100:.0f} % of its decisions. Both orders were asked "
                "and contradictions count as ties."
            )
    overlap = [row for row in rows if row.metric.startswith("rouge")]
    if overlap:
        limits.append(
            "ROUGE counts common words; it cannot tell a right statement from its negation, and "
            "drops letters outside a-z unless its Unicode tokenizer is chosen."
        )
    return limits + warned
