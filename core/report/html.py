"""The HTML report of a workspace's runs: one self-contained file, without scripts or links."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from core.ids import now
from core.metrics.bootstrap import SAMPLES, SEED
from core.resources import resource_path
from core.runs.results import rating_rows, result_rows
from core.runs.verbs import task_and_field
from core.settings import write_atomically
from core.storage.workspace import Workspace
from core.tasks.sections import align_sections
from core.types import Example, Job, Output, Run, Score, System

#: Metrics whose scale is 0 to 1 are shown with three digits, others with one.
_WHOLE = frozenset({"length"})


@dataclass(frozen=True, slots=True)
class _Section:
    title: str
    reference: str
    written: str
    extra: bool = False


def write_report(workspace: Workspace, path: Path, *, run_id: str | None = None) -> int:
    """Write the report of all runs, or of one; returns how many outputs it shows.

    The file is written all or nothing. It holds the workspace's text unencrypted, and says so.
    """
    html, count = render_report(workspace, run_id=run_id)
    write_atomically(path, html.encode())
    return count


def render_report(workspace: Workspace, *, run_id: str | None = None) -> tuple[str, int]:
    """The report's HTML and how many outputs it shows."""
    environment = Environment(
        loader=FileSystemLoader(resource_path("templates")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = _number
    runs = [_run_values(workspace, run) for run in _runs(workspace, run_id)]
    html = environment.get_template("report.html.j2").render(
        name=workspace.path.stem,
        encrypted=workspace.encrypted,
        written=now(),
        rows=result_rows(workspace, run_id=run_id),
        ratings=rating_rows(workspace) if run_id is None else [],
        runs=runs,
        samples=SAMPLES,
        seed=SEED,
    )
    return html, sum(len(run["outputs"]) for run in runs)


def _runs(workspace: Workspace, run_id: str | None) -> list[Run]:
    if run_id is not None:
        return [workspace.get(Run, run_id)]
    return workspace.find(Run)


def _run_values(workspace: Workspace, run: Run) -> dict[str, Any]:
    outputs = workspace.find(Output, "run_id = ?", (run.id,), order_by="position")
    return {
        "run": run,
        "system": workspace.get(System, run.system_id),
        "job": workspace.get(Job, run.job_id) if run.job_id else None,
        "outputs": [_output_values(workspace, output) for output in outputs],
    }


def _output_values(workspace: Workspace, output: Output) -> dict[str, Any]:
    example = workspace.get(Example, output.example_id)
    task, field = task_and_field(workspace, example)
    scores: dict[str, Score] = {
        score.metric: score for score in workspace.find(Score, "output_id = ?", (output.id,))
    }
    return {
        "output": output,
        "example": example,
        "task": task,
        "field": field,
        "sections": _pair_sections(example, output),
        "scores": list(scores.values()),
    }


def _pair_sections(example: Example, output: Output) -> list[_Section]:
    """Reference and output section by section, then what the output has besides."""
    pairs = [_Section(*row) for row in align_sections(example.output, output.sections)]
    titles = {section.title for section in pairs}
    rest = [
        _Section(section.title or "Before the first heading", "", section.text, True)
        for section in output.sections
        if section.title not in titles and not any(section.text == pair.written for pair in pairs)
    ]
    return pairs + rest


def _number(value: float | None, metric: str = "") -> str:
    if value is None:
        return "–"
    return f"{value:,.1f}" if metric in _WHOLE or abs(value) > 1.5 else f"{value:.3f}"
