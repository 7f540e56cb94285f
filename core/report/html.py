"""The report of a workspace's runs: one self-contained HTML page, without scripts or links; or for print."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from core.editing_bench.results import BenchRow, bench_tables
from core.exchange.privacy import NOT_SHOWN, is_private
from core.ids import now
from core.metrics.agreement import Agreement
from core.metrics.bootstrap import SAMPLES, SEED, Interval
from core.ports import Cancellation, PdfPrinter, Progress, ProgressCallback, no_progress
from core.report.content import Content, ReportOptions, read_content
from core.report.failures import RATED
from core.report.figures import Line, means_figure, shares_figure
from core.resources import resource_path
from core.runs.compare import FEWEST_FOR_CHANCE
from core.runs.measures import LATEST, RATING_PREFIX, measure_name
from core.runs.results import MOST_BOOTSTRAPPED, ResultRow
from core.runs.verbs import task_and_field
from core.settings import write_atomically
from core.storage.workspace import Workspace
from core.tasks.sections import align_sections
from core.types import RATING_AXES, Example, Job, Output, Run, Score, System
from core.types.evaluation import OUTPUT_TAGS

__all__ = ["ReportOptions", "print_report", "render_report", "write_report"]

#: Metrics shown with one digit, whatever their size.
_WHOLE = frozenset({"length", "sari", "bleu", "sari_hf", "flesch_kincaid"})
_MOST_BESIDE = 5


@dataclass(frozen=True, slots=True)
class _Section:
    title: str
    reference: str
    written: str
    extra: bool = False


def write_report(
    workspace: Workspace,
    path: Path,
    *,
    run_id: str | None = None,
    options: ReportOptions | None = None,
    progress: ProgressCallback = no_progress,
    cancel: Cancellation | None = None,
) -> int:
    """Write the report of all runs, or of one; returns how many outputs it shows.

    The file is written all or nothing. It holds the workspace's text unencrypted, and says so.
    """
    options = options or ReportOptions(run_id=run_id)
    html, count = render_report(workspace, options=options, progress=progress, cancel=cancel)
    write_atomically(path, html.encode())
    return count


def print_report(
    workspace: Workspace,
    path: Path,
    printer: PdfPrinter,
    *,
    options: ReportOptions | None = None,
    progress: ProgressCallback = no_progress,
    cancel: Cancellation | None = None,
) -> int:
    """Write the report as a PDF; returns how many outputs it shows."""
    html, count = render_report(
        workspace, options=options, for_print=True, progress=progress, cancel=cancel
    )
    printer.print_html(html, path)
    return count


def render_report(
    workspace: Workspace,
    *,
    run_id: str | None = None,
    options: ReportOptions | None = None,
    for_print: bool = False,
    progress: ProgressCallback = no_progress,
    cancel: Cancellation | None = None,
) -> tuple[str, int]:
    """The report's HTML and how many outputs it shows (0 where texts are left out).

    Parameters
    ----------
    for_print
        Keep to the plain HTML that a printer lays out, with figures that are drawn apart; no folding.
    """
    options = options or ReportOptions(run_id=run_id)
    environment = Environment(
        loader=FileSystemLoader(resource_path("templates")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = _number
    environment.filters["percent"] = _percent
    environment.filters["measure"] = measure_name
    environment.filters["setting"] = _setting
    environment.filters["points"] = _points
    content = read_content(workspace, options)
    runs = [] if options.redact else _read_runs(workspace, options, progress, cancel)
    html = environment.get_template("report.html.j2").render(
        name="Report" if options.redact else workspace.path.stem,
        encrypted=workspace.encrypted,
        written=now(),
        options=options,
        content=content,
        rows=content.rows,
        ratings=content.ratings,
        bench=bench_tables(workspace),
        pivot=_pivot(content.rows + content.ratings),
        figures=_figures(content, for_print=for_print),
        agreement_figure=_agreement_figure(content, for_print=for_print),
        runs=runs,
        shown_outputs={item["output"].id for run in runs for item in run["outputs"]},
        fails=_has_failures(content, options),
        worst_by=_worst_by(content),
        judged=bool(
            content.raters["pairs"] or content.rates or content.human.rows or content.judge_ratings
        ),
        tags=OUTPUT_TAGS,
        axes=[axis.replace("_", " ").capitalize() for axis in RATING_AXES],
        fewest=FEWEST_FOR_CHANCE,
        samples=SAMPLES,
        seed=SEED,
        most_bootstrapped=MOST_BOOTSTRAPPED,
        for_print=for_print,
    )
    if for_print:
        # Qt's rich text takes a table's width from the table alone.
        html = html.replace("<table>", '<table width="100%" cellspacing="0">')
    return html, sum(len(run["outputs"]) for run in runs)


def _has_failures(content: Content, options: ReportOptions) -> bool:
    found = content.failures
    return bool(found.marked or found.left_out or (found.worst and not options.redact))


def _worst_by(content: Content) -> str:
    """What the outputs at the bottom are at the bottom of."""
    measure = content.failures.measure
    return "people's ratings, the mean of all axes" if measure == RATED else measure_name(measure)


def _runs(workspace: Workspace, options: ReportOptions) -> list[Run]:
    if options.run_id is not None:
        return [workspace.get(Run, options.run_id)]
    return [run for run in workspace.find(Run) if run.signature.get("bench") != "editeval"]


def _read_runs(
    workspace: Workspace,
    options: ReportOptions,
    progress: ProgressCallback,
    cancel: Cancellation | None,
) -> list[dict[str, Any]]:
    """Every run with its outputs; told output by output, since there may be thousands."""
    found = []
    by_run = [
        (run, workspace.find(Output, "run_id = ?", (run.id,), order_by="position"))
        for run in _runs(workspace, options)
    ]
    total, done = sum(len(outputs) for _run, outputs in by_run), 0
    for run, outputs in by_run:
        values = []
        for output in outputs:
            if cancel is not None:
                cancel.raise_if_cancelled()
            progress(Progress(done, total))
            values.append(_output_values(workspace, output))
            done += 1
        found.append(
            {
                "run": run,
                "system": workspace.get(System, run.system_id),
                "job": workspace.get(Job, run.job_id) if run.job_id else None,
                "outputs": values,
            }
        )
    progress(Progress(done, total))
    return found


def _output_values(workspace: Workspace, output: Output) -> dict[str, Any]:
    example = workspace.get(Example, output.example_id)
    task, field = task_and_field(workspace, example)
    latest = LATEST.format(metric=" AND n.output_id = ?")
    ids = [row["id"] for row in workspace.query(f"SELECT l.id FROM {latest} l", (output.id,))]
    scores = [workspace.get(Score, score_id) for score_id in ids]
    return {
        "output": output,
        "example": example,
        "task": task,
        "field": field,
        "sections": _pair_sections(example, output),
        "scores": scores,
        "private": is_private(example),
    }


def _pair_sections(example: Example, output: Output) -> list[_Section]:
    """Reference and output section by section, then what the output has besides."""
    private = is_private(example)
    pairs = [
        _Section(title, NOT_SHOWN if private and reference else reference, written)
        for title, reference, written in align_sections(example.output, output.sections)
    ]
    titles = {section.title for section in pairs}
    rest = [
        _Section(section.title or "Before the first heading", "", section.text, True)
        for section in output.sections
        if section.title not in titles and not any(section.text == pair.written for pair in pairs)
    ]
    return pairs + rest


@dataclass(frozen=True, slots=True)
class _Figure:
    title: str
    svg: Markup


@dataclass(frozen=True, slots=True)
class _Pivot:
    """Systems beside each other, a line a measure."""

    systems: tuple[str, ...]
    lines: tuple[tuple[str, tuple[ResultRow | None, ...]], ...]


def _pivot(rows: list[ResultRow]) -> _Pivot | None:
    """The table to read first; None where more systems stand beside each other than a page is wide."""
    systems = tuple(dict.fromkeys((row.system_id, row.system) for row in rows))
    if not 2 <= len(systems) <= _MOST_BESIDE:
        return None
    cells = {(row.system_id, row.metric): row for row in rows}
    return _Pivot(
        tuple(name for _id, name in systems),
        tuple(
            (metric, tuple(cells.get((system_id, metric)) for system_id, _name in systems))
            for metric in dict.fromkeys(row.metric for row in rows)
        ),
    )


def _figures(content: Content, *, for_print: bool) -> list[_Figure]:
    """A figure for each measure, a line a system."""
    by_metric: dict[str, list[ResultRow]] = {}
    for row in content.rows + content.ratings:
        if row.interval.mean is not None:
            by_metric.setdefault(row.metric, []).append(row)
    figures = []
    for metric, rows in by_metric.items():
        low, high = _scale(metric, rows)
        lines = [
            Line(
                row.system,
                row.interval.mean,
                row.interval.low,
                row.interval.high,
                _number(row.interval.mean, metric),
                row.dots[:200],
            )
            for row in rows
        ]
        title = measure_name(metric)
        svg = means_figure(title, lines, low=low, high=high, for_print=for_print)
        figures.append(_Figure(title, Markup(svg)))
    return figures


def _scale(metric: str, rows: list[ResultRow]) -> tuple[float, float]:
    if metric.startswith(RATING_PREFIX):
        return 1.0, 5.0
    values = [value for row in rows for value in row.dots]
    low, high = min(0.0, *values), max(values)
    return (0.0, 1.0) if low >= 0 and high <= 1 else (low, high)


def _agreement_figure(content: Content, *, for_print: bool) -> Markup | None:
    if not content.human.rows:
        return None
    lines = [
        Line(
            row.name if row.kind == "judge" else measure_name(row.name),
            row.without_ties.value,
            row.without_ties.low,
            row.without_ties.high,
            _percent(row.without_ties.value),
            (),
            row.kind == "baseline",
        )
        for row in content.human.rows
    ]
    title = "Agreement with people, ties left out"
    return Markup(shares_figure(title, lines, for_print=for_print))


def _points(value: float | None, row: BenchRow) -> str:
    """A score of the editing benchmark on the scale of the published ones."""
    return "–" if value is None else f"{value * row.scale:.1f}"


def _setting(value: Any) -> str:
    """What stands in a signature, in words: a mapping as its names and values."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_setting(entry)}" for name, entry in value.items())
    return str(value)


def _number(value: float | None, metric: str = "") -> str:
    if value is None:
        return "–"
    return f"{value:,.1f}" if metric in _WHOLE or abs(value) > 5.0 else f"{value:.3f}"


def _percent(value: float | Interval | Agreement | None) -> str:
    """A share in per cent, with its bounds where it has some."""
    if isinstance(value, Interval | Agreement):
        number = value.mean if isinstance(value, Interval) else value.value
        text = _percent(number)
        if value.low is not None and value.high is not None:
            text += f" [{value.low * 100:.0f}, {value.high * 100:.0f}]"
        return text
    return "–" if value is None else f"{value * 100:.0f} %"
