"""Verbs of evaluation: run, experiment, score, results, report."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from app.cli.common import (
    ProgressLine,
    add_common,
    cancel_on_interrupt,
    open_workspace,
    print_result,
)
from core.errors import UsageError
from core.storage import Workspace
from core.types import Job, Output, Run, System


def add_parsers(verbs: Any) -> None:
    """run, experiment, score, results, report."""
    run = verbs.add_parser("run", help="let a system write outputs")
    add_common(run, workspace=True)
    run.add_argument("--system", metavar="S")
    run.add_argument(
        "--examples",
        default="",
        metavar="Q",
        help="a number, split=NAME, task=OBJECTIVE, field=NAME, or text in titles",
    )
    run.add_argument("--prompt", default="", metavar="P", help="another prompt than the system's")
    run.add_argument(
        "--long-inputs",
        default="refuse",
        choices=("refuse", "truncate", "parts"),
        help="what happens to inputs longer than the model reads",
    )
    run.add_argument("--resume", metavar="RUN", help="go on with a run; 'last' for the latest")
    run.add_argument("--retry", action="store_true", help="with --resume: failed outputs again")
    run.set_defaults(run=_run)

    experiment = verbs.add_parser(
        "experiment", help="several systems, with several prompts, in turn"
    )
    add_common(experiment, workspace=True)
    experiment.add_argument("name", metavar="NAME", help="its name; that of an earlier one goes on")
    experiment.add_argument("--systems", default="", metavar="A,B")
    experiment.add_argument("--prompts", default="", metavar="P,Q", help="else each system's own")
    experiment.add_argument("--examples", default="", metavar="Q")
    experiment.add_argument(
        "--long-inputs", default="refuse", choices=("refuse", "truncate", "parts")
    )
    experiment.add_argument("--retry", action="store_true", help="failed outputs again")
    experiment.add_argument("--estimate", action="store_true", help="only say how long it may take")
    experiment.set_defaults(run=_experiment)

    score = verbs.add_parser("score", help="score a run's outputs")
    add_common(score, workspace=True)
    score.add_argument("--run", dest="run_id", required=True, metavar="RUN")
    score.add_argument("--metrics", default="", metavar="a,b,c")
    score.set_defaults(run=_score)

    results = verbs.add_parser("results", help="tables of scores")
    add_common(results, workspace=True)
    results.add_argument("--by", default="", metavar="field,length,...")
    results.set_defaults(run=_results)

    report = verbs.add_parser("report", help="a report for reading, as one HTML file or a PDF")
    add_common(report, workspace=True)
    report.add_argument("--out", required=True, type=Path, metavar="F.html|F.pdf")
    report.add_argument("--run", dest="run_id", metavar="RUN")
    report.add_argument("--redact", action="store_true", help="leave all texts out")
    report.add_argument("--question", default="", metavar="TEXT", help="what was asked")
    report.set_defaults(run=_report)


def _run(args: argparse.Namespace) -> int:
    from app import services
    from core.runs.engine import execute_run
    from core.runs.verbs import add_run, find_run, find_system, retry_failed, select_examples

    if bool(args.system) == bool(args.resume):
        raise UsageError(
            "Say which system is to write, or which run to resume.", remedy="--system or --resume."
        )
    with open_workspace(args) as workspace:
        if args.resume:
            run = find_run(workspace, args.resume)
            if args.retry:
                workspace.transact_job("Retry failed outputs", "", retry_failed, run.id)
            system = workspace.get(System, run.system_id)
        else:
            system = find_system(workspace, args.system)
            examples = select_examples(workspace, args.examples)
            run = workspace.transact_job(
                "Start run",
                "",
                add_run,
                system.id,
                examples,
                prompt=args.prompt,
                policy=args.long_inputs,
            ).value
        with cancel_on_interrupt() as cancel:
            generator = services.generator(system.model_id)
            try:
                job = execute_run(
                    workspace,
                    run.id,
                    generator,
                    progress=ProgressLine(f"Run {system.name}", "outputs"),
                    cancel=cancel,
                )
            finally:
                generator.close()
        value = run_summary(workspace, run.id, job)
    text = (
        f"Run {run.id}: {job.state}, {job.done} of {job.total} outputs, {job.failed} failed. "
        f"{job.message}"
    )
    for failure in value["failures"]:
        text += f"\n  {failure['example']}: {failure['error']}"
    print_result(args, value, text.strip())
    return 0 if job.state == "done" else 1


def _experiment(args: argparse.Namespace) -> int:
    from app import services
    from core.runs.engine import execute_run
    from core.runs.experiments import (
        add_experiment,
        estimate_time,
        experiment_cells,
        retry_experiment,
        unfinished_runs,
    )
    from core.runs.verbs import find_system, select_examples
    from core.types.evaluation import Experiment

    with open_workspace(args) as workspace:
        found = workspace.find(Experiment, "name = ? COLLATE NOCASE", (args.name,))
        names = [name.strip() for name in args.systems.split(",") if name.strip()]
        systems = [find_system(workspace, name).id for name in names]
        prompts = [name.strip() for name in args.prompts.split(",") if name.strip()] or [""]
        if args.estimate or not found:
            examples = select_examples(workspace, args.examples)
            guess = estimate_time(workspace, systems, len(examples), len(prompts))
            if args.estimate:
                time = "unknown" if guess.seconds is None else f"about {guess.seconds:.0f} s"
                value: dict[str, Any] = {
                    "outputs": guess.outputs,
                    "seconds": guess.seconds,
                    "not_timed": list(guess.unknown),
                }
                print_result(args, value, f"{guess.outputs} outputs, {time}.")
                return 0
            experiment = workspace.transact_job(
                "Start experiment", "", add_experiment, args.name, systems, examples,
                prompts=prompts, policy=args.long_inputs,
            ).value  # fmt: skip
        else:
            experiment = found[0]
        if args.retry:
            workspace.transact_job("Retry", "", retry_experiment, experiment.id)
        with cancel_on_interrupt() as cancel:
            # One system after the other: the models make room for each other.
            for run_id in unfinished_runs(workspace, experiment.id):
                system = workspace.get(System, workspace.get(Run, run_id).system_id)
                generator = services.generator(system.model_id)
                progress = ProgressLine(f"Run {system.name}", "outputs")
                execute_run(workspace, run_id, generator, progress=progress, cancel=cancel)
                if cancel.cancelled:
                    break
        cells = experiment_cells(workspace, experiment.id)
    value = {
        "experiment": experiment.id,
        "cells": [
            {
                "run": cell.run_id,
                "system": cell.system,
                "prompt": cell.prompt,
                "total": cell.total,
                "done": cell.done,
                "failed": cell.failed,
            }
            for cell in cells
        ],
    }
    text = "\n".join(
        f"{cell.system}, {cell.prompt}: {cell.done} of {cell.total}, {cell.failed} failed"
        for cell in cells
    )
    print_result(args, value, text)
    return 0 if all(cell.done + cell.failed == cell.total for cell in cells) else 1


def run_summary(workspace: Workspace, run_id: str, job: Job) -> dict[str, Any]:
    """A run's counts and failures, for JSON."""
    failures = workspace.query(
        """SELECT e.title AS example, o.error FROM output o JOIN example e ON e.id = o.example_id
           WHERE o.run_id = ? AND o.state = 'failed' AND o.deleted = 0 ORDER BY o.position""",
        (run_id,),
    )
    tokens = workspace.value(
        "SELECT sum(completion_tokens) FROM output WHERE run_id = ?", (run_id,)
    )
    return {
        "run": run_id,
        "state": job.state,
        "total": job.total,
        "done": job.done,
        "failed": job.failed,
        "seconds": job.seconds,
        "completion_tokens": tokens or 0,
        "message": job.message,
        "failures": failures,
    }


def _score(args: argparse.Namespace) -> int:
    from core.metrics.registry import create
    from core.runs.results import result_rows
    from core.runs.scoring import DEFAULT_METRICS, score_run
    from core.runs.verbs import find_run

    names = [name.strip() for name in args.metrics.split(",") if name.strip()]
    metrics = {name: create(name, **_services(name)) for name in names or DEFAULT_METRICS}
    with open_workspace(args) as workspace:
        run = find_run(workspace, args.run_id)
        with cancel_on_interrupt() as cancel:
            job = score_run(
                workspace,
                run.id,
                metrics,
                progress=ProgressLine("Scoring", "outputs"),
                cancel=cancel,
            )
        rows = result_rows(workspace, run_id=run.id)
        outputs = workspace.count(Output, "run_id = ?", (run.id,))
    value = {
        "run": run.id,
        "state": job.state,
        "outputs": outputs,
        "metrics": [_row(row) for row in rows if row.metric in metrics],
    }
    print_result(args, value, _table([row for row in rows if row.metric in metrics]))
    return 0 if job.state == "done" else 1


def _services(name: str) -> dict[str, Any]:
    """The models a metric takes, loaded only for those that do."""
    import inspect

    from app import services
    from core.metrics.registry import metric_class

    makers = {"entailment": services.entailment_model, "embedder": services.embedder}
    wanted = inspect.signature(metric_class(name)).parameters
    return {service: make() for service, make in makers.items() if service in wanted}


def _row(row: Any) -> dict[str, Any]:
    return {
        "system": row.system,
        "metric": row.metric,
        "group": list(row.group),
        "mean": row.interval.mean,
        "low": row.interval.low,
        "high": row.interval.high,
        "standard_error": row.interval.error,
        "interval": row.method,
        "n": row.interval.n,
        "unscored": row.unscored,
        "reasons": dict(row.reasons),
        "signatures": list(row.signatures),
    }


def _table(rows: Any) -> str:
    lines = []
    for row in rows:
        mean = "unscored" if row.interval.mean is None else f"{row.interval.mean:.4f}"
        bounds = (
            f" [{row.interval.low:.4f}, {row.interval.high:.4f}]"
            if row.interval.low is not None
            else ""
        )
        group = f" ({', '.join(row.group)})" if row.group else ""
        missing = f", {row.unscored} unscored" if row.unscored else ""
        lines.append(
            f"{row.system}{group}  {row.metric}  {mean}{bounds}  n={row.interval.n}{missing}"
        )
    return "\n".join(lines) or "Nothing is scored yet."


def _results(args: argparse.Namespace) -> int:
    from core.runs.results import rating_rows, result_rows

    by = [name.strip() for name in args.by.split(",") if name.strip()]
    with open_workspace(args, write=False) as workspace:
        own = set(by) & {"section", "item", "expert"}
        rows = result_rows(workspace, by) + ([] if own else rating_rows(workspace, by))
    print_result(args, {"results": [_row(row) for row in rows]}, _table(rows))
    return 0


def _report(args: argparse.Namespace) -> int:
    from core.report.html import ReportOptions, print_report, write_report
    from core.runs.verbs import find_run

    suffix = args.out.suffix.casefold()
    if suffix not in (".html", ".htm", ".pdf"):
        raise UsageError(
            f"{args.out.name} ends neither in .html nor in .pdf.", remedy="Name it REPORT.html."
        )
    with open_workspace(args, write=False) as workspace:
        run: Run | None = find_run(workspace, args.run_id) if args.run_id else None
        options = ReportOptions(
            run_id=run.id if run else None, redact=args.redact, question=args.question
        )
        if suffix == ".pdf":
            # Qt is asked for its layout alone; no window is opened.
            from app.pages.results.pdf import QtPdfPrinter

            count = print_report(workspace, args.out, QtPdfPrinter(), options=options)
        else:
            count = write_report(workspace, args.out, options=options)
    print_result(
        args,
        {"report": str(args.out), "outputs": count, "redacted": args.redact},
        f"Wrote {args.out} with {count} outputs. It is not encrypted.",
    )
    return 0
