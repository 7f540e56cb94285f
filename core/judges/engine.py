"""Letting language models judge outputs: as a job, one answer at a time, resumable, never silent.

A judge first writes its reasons, then its verdict is read from the probabilities of the possible
answers, so that a small model's rambling is no failure. An answer that cannot be had is kept with the
reason why. Neither the prompt nor the answer names a system, and no reference is shown.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from core.errors import Cancelled, KnownError, ModelError, UsageError
from core.ids import new_id, now
from core.jobs import JobClock, add_job
from core.ports import (
    Cancellation,
    GenerationRequest,
    Message,
    Progress,
    ProgressCallback,
    TextGenerator,
    no_progress,
)
from core.runs.prompts import prompt_hash, render_prompt
from core.runs.verbs import task_and_field
from core.storage.reads import Reads
from core.storage.transaction import Transaction
from core.storage.workspace import Workspace
from core.types import RATING_AXES, Example, Job, Output, System
from core.types.evaluation import JudgeAnswer, JudgeAnswerKind

PAIR_PROMPT, AXES_PROMPT = "judge_pair", "judge_axes"

#: Tokens of a justification.
REASONS = 160
#: Below this share of all probability the model did not answer the question at all.
LEAST_MASS = 1e-4

_PAIR_QUESTION = "Which document is better? Answer with one word: A, B or tie."
_AXIS_QUESTIONS = {
    "task_adherence": "how well it does what the task asks",
    "factual_correctness": "whether what it says is right",
    "depth": "how deep it goes",
    "completeness": "whether everything is there",
    "coherence": "how well it hangs together",
}

#: Gives the model behind a judge.
GeneratorFor = Callable[[System], TextGenerator]


@dataclass(frozen=True, slots=True)
class Asked:
    """One thing to ask a judge: a pair in one order, or an output on all axes."""

    judge_id: str
    first: str
    second: str = ""
    swapped: bool = False


def add_judging(
    tx: Transaction, run_ids: Sequence[str], judge_ids: Sequence[str], kind: JudgeAnswerKind
) -> Job:
    """Write down a judging job: every pair of outputs of an example in both orders, or every output.

    Raises
    ------
    UsageError
        When a judge is no model, or there is nothing to judge.
    """
    for judge_id in judge_ids:
        judge = tx.get(System, judge_id)
        if judge.kind != "model":
            raise UsageError(
                f"The system '{judge.name}' holds imported outputs and cannot judge.",
                remedy="Choose a system with a local model.",
            )
    if not judge_ids:
        raise UsageError("There is no judge.", remedy="Name a system with a local model.")
    asked = plan_judging(tx, run_ids, judge_ids, kind)
    if not asked:
        raise UsageError(
            "There is nothing to judge.",
            remedy="Pairs need outputs of two runs for the same example."
            if kind == "pair"
            else "The run has no finished output.",
        )
    names = ", ".join(tx.get(System, judge_id).name for judge_id in judge_ids)
    return add_job(
        tx,
        "judge",
        f"Judge with {names}",
        total=len(asked),
        spec={"runs": list(run_ids), "judges": list(judge_ids), "kind": kind},
    )


def plan_judging(
    reads: Reads, run_ids: Sequence[str], judge_ids: Sequence[str], kind: JudgeAnswerKind
) -> list[Asked]:
    """Everything a judging job asks, one judge after the other so that one model is loaded at a time."""
    by_example: dict[str, list[str]] = defaultdict(list)
    marks = ", ".join("?" * len(run_ids))
    for row in reads.query(
        f"SELECT id, example_id FROM output WHERE run_id IN ({marks}) AND state = 'done'"
        " AND deleted = 0 ORDER BY position, id",
        tuple(run_ids),
    ):
        by_example[row["example_id"]].append(row["id"])
    asked = []
    for judge_id in judge_ids:
        for outputs in by_example.values():
            if kind == "axis":
                asked += [Asked(judge_id, output) for output in outputs]
            else:
                for one, other in combinations(sorted(outputs), 2):
                    asked += [Asked(judge_id, one, other, swapped) for swapped in (False, True)]
    return asked


def execute_judging(
    workspace: Workspace,
    job_id: str,
    generator_for: GeneratorFor,
    *,
    progress: ProgressCallback = no_progress,
    cancel: Cancellation | None = None,
) -> Job:
    """Ask every question of a judging job that has no answer yet; returns the job as it ended."""
    cancel = cancel or Cancellation()
    job = workspace.get(Job, job_id)
    spec = job.spec
    asked = plan_judging(workspace, spec["runs"], spec["judges"], spec["kind"])
    clock = JobClock(workspace, job)
    answered = _answered(workspace, spec["kind"])
    todo = [item for item in asked if _key(item) not in answered]
    done, failed = len(asked) - len(todo), 0

    def start(tx: Transaction) -> None:
        clock.set(tx, state="running", total=len(asked), done=done, failed=0, message="")

    workspace.transact_job(job.label, job.person_id, start)
    loaded: tuple[str, TextGenerator] | None = None
    try:
        for item in todo:
            progress(Progress(done, len(asked), failed))
            cancel.raise_if_cancelled()
            judge = workspace.get(System, item.judge_id)
            if loaded is None or loaded[0] != judge.id:
                loaded = (judge.id, generator_for(judge))
            answers = ask_judge(workspace, loaded[1], judge, item, cancel=cancel)
            done += 1
            failed += any(answer.unscored for answer in answers)
            workspace.transact_job(
                job.label, job.person_id, _keep_answers, answers, clock, done, failed
            )
        progress(Progress(done, len(asked), failed))
    except Cancelled:
        return clock.finish("cancelled", "Stopped; what was judged is kept.")
    except KnownError as error:
        clock.finish("failed", str(error))
        raise
    return clock.finish("done", f"{failed} of {done} without an answer." if failed else "")


def _keep_answers(
    tx: Transaction, answers: Sequence[JudgeAnswer], clock: JobClock, done: int, failed: int
) -> None:
    for answer in answers:
        tx.insert(answer)
    clock.set(tx, done=done, failed=failed)


def _key(item: Asked) -> tuple[str, str, str, bool]:
    return item.judge_id, item.first, item.second, item.swapped


def _answered(reads: Reads, kind: str) -> set[tuple[str, str, str, bool]]:
    """What has an answer; one without a verdict is asked again."""
    return {
        (
            row["judge_id"],
            row["output_id"],
            row["other_output_id"] or "",
            bool(row["swapped"]),
        )
        for row in reads.query(
            "SELECT DISTINCT judge_id, output_id, other_output_id, swapped FROM judge_answer"
            " WHERE kind = ? AND deleted = 0 AND unscored = ''",
            (kind,),
        )
    }


def ask_judge(
    workspace: Workspace,
    generator: TextGenerator,
    judge: System,
    item: Asked,
    *,
    cancel: Cancellation,
) -> list[JudgeAnswer]:
    """Ask a judge about one pair in one order, or about one output on every axis."""
    started = time.monotonic()
    kind: JudgeAnswerKind = "pair" if item.second else "axis"
    base: dict[str, Any] = {
        "judge_id": judge.id,
        "kind": kind,
        "output_id": item.first,
        "other_output_id": item.second or None,
        "swapped": item.swapped,
        "signature": judge_signature(generator, judge, kind),
    }
    axes = [""] if kind == "pair" else list(RATING_AXES)
    try:
        messages, reasons = _reason(workspace, generator, judge, item, cancel)
        answers = [_decide(generator, messages, axis, item.swapped) for axis in axes]
    except ModelError as error:
        reasons = ""
        answers = [{"unscored": str(error)} for _axis in axes]
    seconds = round((time.monotonic() - started) / len(axes), 3)
    return [
        JudgeAnswer(
            id=new_id(),
            axis=axis,
            justification=reasons,
            seconds=seconds,
            made=now(),
            **base,
            **answer,
        )
        for axis, answer in zip(axes, answers, strict=True)
    ]


def judge_signature(generator: TextGenerator, judge: System, kind: JudgeAnswerKind) -> str:
    """What makes a judge's answers repeatable."""
    info = generator.info
    prompt = PAIR_PROMPT if kind == "pair" else AXES_PROMPT
    order = "both" if kind == "pair" else "one"
    return (
        f"lm_judge|kind:{kind}|judge:{judge.name}|model:{info.id}|sha256:{info.sha256}|"
        f"prompt:{prompt}:{prompt_hash(prompt)[:16]}|order:{order}|reference:none|"
        f"seed:{int(judge.params.get('seed', 0))}|version:1"
    )


def _reason(
    workspace: Workspace,
    generator: TextGenerator,
    judge: System,
    item: Asked,
    cancel: Cancellation,
) -> tuple[tuple[Message, ...], str]:
    """The conversation up to the judge's reasons, and these."""
    output = workspace.get(Output, item.first)
    example = workspace.get(Example, output.example_id)
    task, field = task_and_field(workspace, example)
    texts = [output.text]
    if item.second:
        texts.append(workspace.get(Output, item.second).text)
        if item.swapped:
            texts.reverse()
    values = {"task": task, "field": field, "input": example.input, "first": texts[0]}
    if item.second:
        values["second"] = texts[1]
    messages = render_prompt(PAIR_PROMPT if item.second else AXES_PROMPT, values)
    generation = generator.generate(
        GenerationRequest(
            messages=messages,
            max_tokens=REASONS,
            temperature=0.0,
            repeat_penalty=1.1,
            seed=int(judge.params.get("seed", 0)),
        ),
        cancel=cancel,
    )
    if generation.finish == "cancelled":
        raise Cancelled
    reasons = generation.text.strip()
    return (*messages, Message("assistant", reasons or "I have no reasons.")), reasons


def _decide(
    generator: TextGenerator, messages: tuple[Message, ...], axis: str, swapped: bool
) -> dict[str, Any]:
    """The verdict: a choice between the two, or 1 to 5 on an axis; else why there is none."""
    if not axis:
        choice = generator.choose((*messages, Message("user", _PAIR_QUESTION)), ("A", "B", "tie"))
        if choice.mass < LEAST_MASS:
            return {"unscored": _NO_ANSWER.format(options="A, B nor tie")}
        shown = ("first", "second", "tie")[choice.best]
        if swapped and shown != "tie":
            shown = "second" if shown == "first" else "first"
        return {"choice": shown, "probability": round(choice.probabilities[choice.best], 6)}
    question = (
        f"Rate the document from 1 (worst) to 5 (best): {_AXIS_QUESTIONS[axis]}. "
        "Answer with one number."
    )
    choice = generator.choose((*messages, Message("user", question)), ("1", "2", "3", "4", "5"))
    if choice.mass < LEAST_MASS:
        return {"unscored": _NO_ANSWER.format(options="1, 2, 3, 4 nor 5")}
    return {
        "value": float(choice.best + 1),
        "probability": round(choice.probabilities[choice.best], 6),
    }


_NO_ANSWER = "The judge answered neither {options}."
