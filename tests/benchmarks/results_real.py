"""Three systems on real encounters, judged by two people blind and one language model, and reported.

    python -m tests.benchmarks.results_real [--examples 20] [--tokens 160] [--judged 20]
        [--second sections|warm] [--out DIR]

Systems: the default model in one answer and section by section (or, with ``--second warm``, in one
answer drawn at a higher temperature, which reads each input once instead of once a section), and
imported outputs (the references with every third sentence left out). ``--judged`` bounds the examples
that the language model judges, six questions each; on two busy cores one takes up to a minute.

The two people are scripted: each compares and rates by how much of the reference an output's words
cover, one of them with some noise. Everything else is as a person would do it from the command line.
Prints where the workspace and the report are, and what each step took.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from core.exchange.imports import import_records, read_import
from core.exchange.records import Record, Records
from core.judges.engine import add_judging, execute_judging
from core.metrics.registry import create
from core.people import add_person
from core.ports import Cancellation, Progress
from core.report.html import print_report, write_report
from core.review.pairs import draw_pairs, submit_pair
from core.review.verbs import fill_queue, record_rating, submit_review
from core.runs.engine import execute_run
from core.runs.experiments import add_experiment, unfinished_runs
from core.runs.results import result_rows
from core.runs.scoring import DEFAULT_METRICS, score_run
from core.runs.verbs import add_system, select_examples
from core.storage import Workspace
from core.tasks.sections import join_sections
from core.types import RATING_AXES, Example, Output, ReviewItem, Run, System
from core.types.evaluation import PairItem
from tests.shared_data import shared_path


@contextmanager
def step(name: str) -> Iterator[None]:
    """Say what a step took."""
    start = time.perf_counter()
    yield
    print(f"{name}: {time.perf_counter() - start:.1f} s", flush=True)


def thin_out(text: str) -> str:
    """A text without every third sentence: outputs of an imaginary other program."""
    sentences = re.split(r"(?<=[.!?])\s+", text)
    return " ".join(s for n, s in enumerate(sentences) if n % 3 != 2)


def coverage(workspace: Workspace, output_id: str) -> float:
    """How much of its reference an output's words cover."""
    output = workspace.get(Output, output_id)
    example = workspace.get(Example, output.example_id)
    want = set(join_sections(example.output).casefold().split())
    return len(want & set(output.text.casefold().split())) / max(1, len(want))


def review_as(workspace: Workspace, name: str, noise: float) -> None:
    """One scripted person: every pair and every output, blind as everybody."""
    draw = random.Random(name)
    who = workspace.transact("Add", "", add_person, name).value.id
    workspace.transact("Draw", who, draw_pairs, who)
    worth: dict[str, float] = {}

    def value(output_id: str) -> float:
        if output_id not in worth:
            worth[output_id] = coverage(workspace, output_id) + draw.gauss(0, noise)
        return worth[output_id]

    for item in workspace.find(PairItem, "person_id = ?", (who,), order_by="position"):
        gap = value(item.right_output_id) - value(item.left_output_id)
        strength = 3 + (gap > 0.02) + (gap > 0.15) - (gap < -0.02) - (gap < -0.15)
        workspace.transact("Choose", who, submit_pair, item.id, strength, "", seconds=5.0)
    workspace.transact("Fill", who, fill_queue, who, 1)
    for review in workspace.find(ReviewItem, "person_id = ?", (who,)):
        grade = max(1, min(5, 1 + round(value(review.output_id) * 8)))
        for axis in RATING_AXES:
            workspace.transact("Rate", who, record_rating, review.output_id, who, axis, grade)
        workspace.transact("Submit", who, submit_review, review.id, "")


def main() -> int:
    """Do it all; returns 0."""
    from app import services
    from app.pages.results.pdf import QtPdfPrinter
    from models.catalog import default_model

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=20)
    parser.add_argument("--tokens", type=int, default=160)
    parser.add_argument("--judged", type=int, default=20)
    parser.add_argument("--second", choices=("sections", "warm"), default="sections")
    parser.add_argument("--out", type=Path, default=Path("build/work/results"))
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    path = arguments.out / "Three systems.rifugio"
    path.unlink(missing_ok=True)
    model = default_model("generator")
    with Workspace.create(path, None) as workspace:
        found, _ = read_import(shared_path("data", "aci-bench", "valid.csv"), "examples")
        workspace.transact("Import", "", import_records, "valid.csv", "examples", found)
        ids = select_examples(workspace, str(arguments.examples))
        second = {
            "sections": ("by sections", {"mode": "sections"}),
            "warm": ("warm", {"mode": "whole", "temperature": 0.8, "seed": 7}),
        }[arguments.second]
        systems = [
            workspace.transact(
                "Add", "", add_system, f"{model.name}, {words}", model_id=model.id,
                model_sha256=model.sha256,
                params={"max_tokens": arguments.tokens, "repeat_penalty": 1.1, **params},
            ).value
            for words, params in (("one answer", {"mode": "whole"}), second)
        ]  # fmt: skip
        experiment = workspace.transact_job(
            "Experiment", "", add_experiment, f"One answer or {second[0]}?",
            [system.id for system in systems], ids, policy="truncate",
        ).value  # fmt: skip
        generator = services.generator(model.id)
        for run_id in unfinished_runs(workspace, experiment.id):
            with step(f"run {run_id[-6:]}"):
                execute_run(workspace, run_id, generator)
        lines = [
            {"example": i, "system": "Imported", "output": thin_out(join_sections(e.output))}
            for i in ids
            for e in [workspace.get(Example, i)]
        ]
        records = Records([Record(n, line) for n, line in enumerate(lines, 1)])
        workspace.transact("Import", "", import_records, "other.jsonl", "outputs", records)
        runs = workspace.find(Run)
        with step("score"):
            for run in runs:
                score_run(workspace, run.id, {name: create(name) for name in DEFAULT_METRICS})
        with step("two people"):
            review_as(workspace, "Reviewer A", 0.0)
            review_as(workspace, "Reviewer B", 0.08)
        judge = workspace.find(System, "id = ?", (systems[0].id,))[0]
        with step("one judge"):
            job = workspace.transact_job(
                "Judge", "", add_judging, [run.id for run in runs], [judge.id], "pair"
            ).value
            most = arguments.judged * len(runs) * (len(runs) - 1)
            cancel = Cancellation()

            def stop_at(progress: Progress) -> None:
                if progress.done >= most:
                    cancel.cancel()

            job = execute_judging(
                workspace, job.id, lambda _system: generator, progress=stop_at, cancel=cancel
            )
        print(f"judge: {job.done} of {job.total} answers, {job.failed} without one", flush=True)
        report = arguments.out / "report.html"
        with step("report"):
            count = write_report(workspace, report)
            print_report(workspace, report.with_suffix(".pdf"), QtPdfPrinter())
        print(json.dumps({row.system + " " + row.metric: row.interval.mean
                          for row in result_rows(workspace)}, indent=1))  # fmt: skip
        print(f"{count} outputs in {report}, workspace {path}")
    generator.close()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
