"""Scoring a run's outputs against their examples' references; the old scores stay."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from core.errors import Cancelled, KnownError
from core.ids import new_id, now
from core.jobs import JobClock, add_job
from core.metrics.base import MetricScore
from core.ports import Cancellation, Progress, ProgressCallback, no_progress
from core.runs.verbs import task_and_field
from core.storage.transaction import Transaction
from core.storage.workspace import Workspace
from core.tasks.sections import align_sections, join_sections
from core.types import Example, Job, Output, Run, Score, System

#: Metrics that are also taken section by section, for results split by section.
SECTION_METRICS = frozenset({"rouge1", "rouge2", "rougeL", "rougeLsum", "bleu", "length"})

#: Scored after each run unless others are asked for.
DEFAULT_METRICS = ("section_presence", "rougeL", "length")

_BATCH = 32


class OutputMetric(Protocol):
    """What scoring needs of a metric (`core.metrics.base.Metric`)."""

    @property
    def signature(self) -> str: ...

    def score_one(self, item: Mapping[str, Any]) -> MetricScore: ...


def output_item(workspace: Workspace, output: Output) -> dict[str, Any]:
    """An output with all that any metric may ask for, in the shapes of the command line.

    An output in which sections were recognised is compared in the form in which the reference is
    written, so that markdown marks and numbering do not count as words.
    """
    example = workspace.get(Example, output.example_id)
    task, _ = task_and_field(workspace, example)
    reference = join_sections(example.output)
    return {
        "source": join_sections(example.input),
        "prediction": output.text,
        "references": [reference] if reference else [],
        "output_sections": [spec.title for spec in task.output_sections],
        "sections": [
            {"title": title, "reference": wanted, "prediction": written}
            for title, wanted, written in align_sections(example.output, output.sections)
        ],
    }


def score_output(metric: OutputMetric, name: str, output: Output, item: Mapping[str, Any]) -> Score:
    """One metric's score of one output; whatever stands in its way becomes the reason."""
    try:
        result = _score(metric, name, output, item)
    except KnownError as error:
        result = MetricScore(value=None, unscored=str(error), signature=metric.signature)
    more: dict[str, Any] = {"notes": result.notes} if result.notes else {}
    if result.value is not None and name in SECTION_METRICS:
        sections = _score_sections(metric, name, item)
        if sections:
            more["sections"] = sections
    return Score(
        id=new_id(),
        output_id=output.id,
        metric=name,
        value=result.value,
        components={**result.components, **more},
        unscored=result.unscored or "",
        signature=result.signature,
        scored=now(),
    )


def _score_sections(
    metric: OutputMetric, name: str, item: Mapping[str, Any]
) -> dict[str, float | None]:
    """The metric of each section against its own reference; None where a section was not written."""
    values: dict[str, float | None] = {}
    for section in item["sections"]:
        title, wanted, written = section["title"], section["reference"], section["prediction"]
        if not title or not wanted:
            continue
        if not written:
            values[title] = 0.0 if name == "length" else None
            continue
        values[title] = metric.score_one({"prediction": written, "references": [wanted]}).value
    return values


def _score(metric: OutputMetric, name: str, output: Output, item: Mapping[str, Any]) -> MetricScore:
    if output.state != "done":
        reason = output.error or "it was not written yet"
        return MetricScore(
            value=None, unscored=f"There is no output: {reason}", signature=metric.signature
        )
    if name == "length":
        return _score_length(metric, item)
    if name.startswith(("rouge", "bleu", "sari", "gleu", "em")) and not item["references"]:
        return MetricScore(
            value=None, unscored="The example has no reference output.", signature=metric.signature
        )
    return metric.score_one(item)


def _score_length(metric: OutputMetric, item: Mapping[str, Any]) -> MetricScore:
    """The output's length with the reference's beside it."""
    score = metric.score_one(item)
    components = dict(score.components)
    if item["references"]:
        reference = metric.score_one({"prediction": item["references"][0]})
        components["reference"] = reference.value
        if score.value is not None and reference.value:
            components["ratio"] = round(score.value / reference.value, 6)
    return MetricScore(
        value=score.value,
        components=components,
        unscored=score.unscored,
        signature=score.signature,
        notes=score.notes,
    )


def score_run(
    workspace: Workspace,
    run_id: str,
    metrics: Mapping[str, OutputMetric],
    *,
    person: str = "",
    progress: ProgressCallback = no_progress,
    cancel: Cancellation | None = None,
) -> Job:
    """Score every output of a run with every metric, as a job.

    Parameters
    ----------
    metrics
        Name to metric, from `core.metrics.registry.create`.
    """
    run = workspace.get(Run, run_id)
    system = workspace.get(System, run.system_id)
    outputs = workspace.find(Output, "run_id = ?", (run_id,), order_by="position")
    job = workspace.transact_job(
        "Score", person, _add_scoring_job, system.name, run_id, list(metrics), len(outputs)
    ).value
    clock = JobClock(workspace, job)
    done = unscored = 0
    try:
        for batch in _batches(outputs):
            scores: list[Score] = []
            for output in batch:
                if cancel is not None:
                    cancel.raise_if_cancelled()
                item = output_item(workspace, output)
                fresh = [score_output(m, name, output, item) for name, m in metrics.items()]
                unscored += any(score.unscored for score in fresh)
                scores += fresh
                done += 1
                progress(Progress(done, len(outputs), unscored))
            workspace.transact_job(job.label, person, _keep_scores, scores, clock, done, unscored)
    except Cancelled:
        return clock.finish("cancelled", "Stopped; what was scored is kept.")
    except KnownError as error:
        clock.finish("failed", str(error))
        raise
    return clock.finish("done", f"{unscored} outputs lack a score." if unscored else "")


def _batches(outputs: Sequence[Output]) -> Iterable[Sequence[Output]]:
    for start in range(0, len(outputs), _BATCH):
        yield outputs[start : start + _BATCH]


def _add_scoring_job(
    tx: Transaction, system: str, run_id: str, names: list[str], total: int
) -> Job:
    return add_job(
        tx, "score", f"Score {system}", total=total, spec={"run": run_id, "metrics": names}
    )


def _keep_scores(
    tx: Transaction, scores: Sequence[Score], clock: JobClock, done: int, unscored: int
) -> None:
    for score in scores:
        tx.insert(score)
    clock.set(tx, state="running", done=done, failed=unscored)
