"""Running the editing benchmark: examples, a run for each system and instruction, the copy baseline.

Decoding is greedy, as published. A run's corpus scores are kept as `RunScore` rows, since a corpus value
is not the mean of sentences; sentence scores go where all scores are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from core.editing_bench.formats import EditRecords
from core.editing_bench.tasks import (
    EDITED,
    FIELD,
    MOST_CHUNKS,
    TASKS,
    TEXT,
    metrics_of,
    prompts_of,
    strip_marks,
)
from core.errors import ConflictError, KnownError, UsageError
from core.examples.verbs import add_example
from core.exchange.records import Skipped
from core.ids import new_id, now
from core.jobs import add_job
from core.metrics.base import MetricScore
from core.ports import Cancellation, Message, Progress, ProgressCallback, no_progress
from core.runs.prompts import prompt_hash, render_prompt
from core.runs.verbs import DEFAULT_PARAMS, add_imported_output, add_system
from core.storage.reads import Reads
from core.storage.transaction import Transaction
from core.storage.workspace import Workspace
from core.tasks.verbs import add_task
from core.types import Example, Output, Run, Score, SectionSpec, SectionText, System, Task
from core.types.evaluation import RunScore

BENCH = "editeval"
COPY = "Copy of the input"

#: As published: greedy, one answer.
GREEDY: Mapping[str, Any] = {
    "mode": "whole",
    "temperature": 0.0,
    "top_p": 1.0,
    "min_p": 0.0,
    "repeat_penalty": 1.0,
    "seed": 0,
}
_LONGEST = 512

PROMPTS = ("edit_eval_chat", "edit_eval_plain", "edit_eval_definition")
_BATCH = 64


def bench_task(tx: Transaction, task: str) -> Task:
    """The workspace's task for one of the seven, made where it is missing."""
    objective = f"EditEval: {task}"
    found = tx.find(Task, "objective = ?", (objective,))
    if found:
        return found[0]
    return add_task(
        tx,
        field=FIELD,
        objective=objective,
        procedure="",
        input_sections=(SectionSpec(title=TEXT),),
        output_sections=(SectionSpec(title=EDITED),),
    )


def import_edits(tx: Transaction, found: EditRecords) -> tuple[int, list[Skipped]]:
    """Add records as examples; returns how many, and those left out besides the file's own."""
    tasks: dict[str, Task] = {}
    skipped = list(found.skipped)
    count = 0
    for record in found.records:
        task = tasks.get(record.task) or bench_task(tx, record.task)
        tasks[record.task] = task
        try:
            if tx.count(Example, "task_id = ? AND title = ?", (task.id, record.id)):
                raise ConflictError(f"{record.id} is there already.", remedy="Keep one of them.")
            add_example(
                tx,
                task.id,
                title=record.id,
                input=(SectionText(title=TEXT, text=record.input),),
                output=(SectionText(title=EDITED, text=record.edits[0]),),
                split=record.split,
                meta={
                    "bench": BENCH,
                    "dataset": record.dataset,
                    "title": record.title,
                    "edits": list(record.edits),
                    "retrieved_documents": list(record.retrieved_documents),
                    "meta": dict(record.meta),
                },
            )
        except KnownError as error:
            skipped.append(Skipped(record.line, str(error)))
        else:
            count += 1
    return count, sorted(skipped, key=lambda entry: entry.line)


def bench_examples(reads: Reads, tasks: Sequence[str] = (), limit: int = 0) -> dict[str, list[str]]:
    """Example ids by (data set) for the tasks asked for, all where none is named."""
    for task in tasks:
        prompts_of(task)
    objectives = [f"EditEval: {task}" for task in (tasks or TASKS)]
    by_dataset: dict[str, list[str]] = defaultdict(list)
    for row in reads.query(
        "SELECT e.id, json_extract(e.meta, '$.dataset') AS dataset FROM example e"
        " JOIN task t ON t.id = e.task_id WHERE e.deleted = 0"
        f" AND t.objective IN ({', '.join('?' * len(objectives))}) ORDER BY e.id",
        tuple(objectives),
    ):
        ids = by_dataset[row["dataset"] or BENCH]
        if not limit or len(ids) < limit:
            ids.append(row["id"])
    return dict(by_dataset)


def is_bench(example: Example) -> bool:
    return example.meta.get("bench") == BENCH


def bench_item(example: Example, output: Output) -> dict[str, Any]:
    """An output in the shape that metrics take; ``[i]`` marks are gone from both sides."""
    reference = example.input[0].text if example.input else ""
    return {
        "source": reference,
        "prediction": strip_marks(output.text),
        "references": [strip_marks(edit) for edit in example.meta["edits"]],
    }


def bench_messages(run: Run, example: Example) -> tuple[Message, ...]:
    """What a model is asked: the run's instruction, the text, and at most three chunks of references."""
    documents = list(example.meta.get("retrieved_documents") or [])[:MOST_CHUNKS]
    return render_prompt(
        str(run.signature["template"]),
        {
            "instruction": run.signature["instruction"],
            "text": example.input[0].text,
            "documents": documents,
        },
    )


def add_bench_runs(
    tx: Transaction,
    system_id: str,
    tasks: Sequence[str] = (),
    *,
    prompts: str = "all",
    limit: int = 0,
) -> list[Run]:
    """Write down a run for each data set and instruction, before anything is written.

    Parameters
    ----------
    prompts
        'all', 'first', or numbers from 1 joined by commas.
    limit
        At most so many examples of each data set; 0 for all.
    """
    system = tx.get(System, system_id)
    if system.kind != "model":
        raise UsageError(
            f"The system '{system.name}' holds imported outputs and cannot edit.",
            remedy="Choose a system with a local model.",
        )
    datasets = bench_examples(tx, tasks, limit)
    if not datasets:
        raise UsageError(
            "There is nothing to edit in this workspace.",
            remedy="Import a data set first: rifugio import WS FILE --as edits.",
        )
    template = system.prompt if system.prompt in PROMPTS else PROMPTS[0]
    runs = []
    for dataset, ids in datasets.items():
        task = _task_of(tx, ids[0])
        for number, instruction in _chosen(prompts_of(task), prompts):
            params = {**DEFAULT_PARAMS, **system.params, **GREEDY}
            params["max_tokens"] = min(int(params["max_tokens"]), _LONGEST)
            run_id = new_id()
            job = add_job(
                tx, "run", f"Edit with {system.name}", total=len(ids),
                spec={"run": run_id, "system": system_id},
            )  # fmt: skip
            run = tx.insert(
                Run(
                    id=run_id,
                    system_id=system_id,
                    job_id=job.id,
                    started=now(),
                    prompt_hash=prompt_hash(template),
                    signature={
                        "system": system.name,
                        "model": system.model_id,
                        "sha256": system.model_sha256,
                        "prompt": template,
                        "params": params,
                        "bench": BENCH,
                        "dataset": dataset,
                        "task": task,
                        "template": template,
                        "prompt_number": number,
                        "instruction": instruction,
                    },
                )
            )
            _add_outputs(tx, run, ids)
            runs.append(run)
    return runs


def _add_outputs(tx: Transaction, run: Run, example_ids: Sequence[str]) -> None:
    from core.ids import new_pseudonym

    for position, example_id in enumerate(example_ids):
        tx.insert(
            Output(
                id=new_id(),
                run_id=run.id,
                example_id=example_id,
                pseudonym=new_pseudonym(),
                position=position,
            )
        )


def _task_of(reads: Reads, example_id: str) -> str:
    objective = reads.value(
        "SELECT t.objective FROM example e JOIN task t ON t.id = e.task_id WHERE e.id = ?",
        (example_id,),
    )
    return str(objective).removeprefix("EditEval: ")


def _chosen(instructions: Sequence[str], prompts: str) -> list[tuple[int, str]]:
    numbered = list(enumerate(instructions, 1))
    if prompts == "all":
        return numbered
    if prompts == "first":
        return numbered[:1]
    try:
        wanted = {int(part) for part in prompts.split(",")}
    except ValueError:
        raise UsageError(
            f"'{prompts}' names no instructions.", remedy="Use all, first, or numbers as 1,3."
        ) from None
    chosen = [entry for entry in numbered if entry[0] in wanted]
    if not chosen:
        raise UsageError(f"There is no instruction {prompts}.", remedy=f"Use 1 to {len(numbered)}.")
    return chosen


def add_copy_baseline(tx: Transaction, tasks: Sequence[str] = (), *, limit: int = 0) -> list[Run]:
    """Runs in which every output is its input, the least any system has to beat; made once."""
    found = tx.find(System, "name = ?", (COPY,))
    system = found[0] if found else add_system(tx, COPY)
    runs = []
    for dataset, ids in bench_examples(tx, tasks, limit).items():
        earlier = [
            run
            for run in tx.find(Run, "system_id = ?", (system.id,))
            if run.signature.get("dataset") == dataset and run.signature.get("examples") == len(ids)
        ]
        if earlier:
            runs.append(earlier[-1])
            continue
        run = tx.insert(
            Run(
                id=new_id(),
                system_id=system.id,
                started=now(),
                signature={
                    "system": COPY,
                    "bench": BENCH,
                    "dataset": dataset,
                    "task": _task_of(tx, ids[0]),
                    "instruction": "",
                    "prompt_number": 0,
                    "examples": len(ids),
                },
            )
        )
        for position, example_id in enumerate(ids):
            text = tx.get(Example, example_id).input[0].text
            add_imported_output(
                tx,
                run.id,
                example_id,
                text,
                sections=(SectionText(title=EDITED, text=text),),
                missing=(),
                position=position,
            )
        runs.append(run)
    return runs


def score_bench_run(
    workspace: Workspace,
    run_id: str,
    *,
    normalisation: str = "editeval",
    progress: ProgressCallback = no_progress,
    cancel: Cancellation | None = None,
) -> dict[str, MetricScore]:
    """Score a run's sentences and its corpus with every metric of its task; returns the corpus scores.

    A sentence without an output is unscored with its reason, and counted in the corpus score's
    components as ``missing``; it is not part of the corpus value.
    """
    from core.metrics.registry import create, options_of

    run = workspace.get(Run, run_id)
    outputs = workspace.find(Output, "run_id = ?", (run_id,), order_by="position")
    done = [output for output in outputs if output.state == "done"]
    items = [bench_item(workspace.get(Example, o.example_id), o) for o in done]
    names = metrics_of(str(run.signature["task"]))
    corpus: dict[str, MetricScore] = {}
    scores: list[Score] = []
    for number, name in enumerate(names):
        if cancel is not None:
            cancel.raise_if_cancelled()
        options = {"normalisation": normalisation} if "normalisation" in options_of(name) else {}
        metric = create(name, options)
        if items:
            corpus[name] = metric.aggregate(items)
            singles = metric.score_many(items, cancel=cancel)
        else:
            corpus[name] = metric.unscored("The run has no finished output.")
            singles = []
        scores += [
            Score(
                id=new_id(),
                output_id=output.id,
                metric=name,
                value=single.value,
                components=dict(single.components),
                unscored=single.unscored or "",
                signature=single.signature,
                scored=now(),
            )
            for output, single in zip(done, singles, strict=True)
        ]
        scores += [
            Score(
                id=new_id(),
                output_id=output.id,
                metric=name,
                value=None,
                unscored=f"There is no output: {output.error or 'it was not written yet'}",
                signature=metric.signature,
                scored=now(),
            )
            for output in outputs
            if output.state != "done"
        ]
        progress(Progress(number + 1, len(names)))
    missing = len(outputs) - len(done)
    workspace.transact_job("Score edits", "", _keep_scores, run_id, corpus, scores, missing)
    return corpus


def _keep_scores(
    tx: Transaction,
    run_id: str,
    corpus: Mapping[str, MetricScore],
    scores: Sequence[Score],
    missing: int,
) -> None:
    for score in scores:
        tx.insert(score)
    for name, value in corpus.items():
        tx.insert(
            RunScore(
                id=new_id(),
                run_id=run_id,
                metric=name,
                value=value.value,
                components={**value.components, **({"missing": missing} if missing else {})},
                unscored=value.unscored or "",
                signature=value.signature,
                scored=now(),
            )
        )
