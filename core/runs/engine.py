"""Letting a system write its outputs: streamed, cancellable, resumable, never repeating finished work.

A failure of one output (a worker that died, an input too long) is written down with its reason and the
run goes on; a failure of the workspace itself stops it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from core.errors import Cancelled, ContextOverflowError, KnownError, ModelError
from core.ids import now
from core.jobs import JobClock
from core.ports import (
    Cancellation,
    Generation,
    GenerationRequest,
    Message,
    Piece,
    Progress,
    ProgressCallback,
    TextGenerator,
    no_progress,
)
from core.rubrics.prompting import RUBRIC_PROMPT, with_rubric
from core.runs.long_inputs import fit_input
from core.runs.prompts import example_prompt, writes_sections
from core.runs.verbs import DEFAULT_PARAMS, task_and_field
from core.storage.transaction import Transaction
from core.storage.workspace import Workspace
from core.tasks.sections import join_sections, parse_sections
from core.types import Example, Job, Output, Run, SectionSpec, SectionText, System, Task

#: Called with an output's id and each piece as it comes.
PieceCallback = Callable[[str, Piece], None]

_FLUSH_SECONDS = 1.0
_SMALLEST_ROOM = 64
_ROOM_FOR_ANSWER = 512


def ignore_piece(output_id: str, piece: Piece) -> None:
    """Take a streamed piece and drop it."""


@dataclass(frozen=True, slots=True)
class _Written:
    text: str
    thinking: str
    finish: str
    prompt_tokens: int
    completion_tokens: int
    seconds: float


def execute_run(
    workspace: Workspace,
    run_id: str,
    generator: TextGenerator,
    *,
    progress: ProgressCallback = no_progress,
    on_piece: PieceCallback = ignore_piece,
    cancel: Cancellation | None = None,
) -> Job:
    """Write every output of a run that is still pending; returns the job as it ended.

    Called again after a crash or a cancellation it goes on where it stopped. The job ends as 'done'
    also when some outputs failed, which it counts.
    """
    cancel = cancel or Cancellation()
    run = workspace.get(Run, run_id)
    system = workspace.get(System, run.system_id)
    job = workspace.get(Job, run.job_id)
    clock = JobClock(workspace, job)
    done = workspace.count(Output, "run_id = ? AND state IN ('done', 'failed')", (run_id,))
    failed = workspace.count(Output, "run_id = ? AND state = 'failed'", (run_id,))
    workspace.transact_job(
        job.label, job.person_id, _start_run, clock, run_id, generator, done, failed
    )
    pending = workspace.find(
        Output, "run_id = ? AND state = 'pending'", (run_id,), order_by="position"
    )
    try:
        for output in pending:
            progress(Progress(done, job.total, failed))
            cancel.raise_if_cancelled()
            finished = _write_output(
                workspace, output, run, system, generator, on_piece=on_piece, cancel=cancel
            )
            done += 1
            failed += finished.state == "failed"
            workspace.transact_job(
                job.label, job.person_id, _finish_output, finished, clock, done, failed
            )
        progress(Progress(done, job.total, failed))
    except Cancelled:
        return clock.finish("cancelled", "Stopped; it can be resumed.")
    except KnownError as error:
        clock.finish("failed", str(error))
        raise
    return clock.finish("done", f"{failed} of {done} failed." if failed else "")


def _start_run(
    tx: Transaction,
    clock: JobClock,
    run_id: str,
    generator: TextGenerator,
    done: int,
    failed: int,
) -> None:
    clock.set(tx, state="running", done=done, failed=failed, message="")
    run = tx.get(Run, run_id)
    info = generator.info
    seen = {"device": info.device, "model": info.id, "sha256": info.sha256}
    tx.update(Run, run_id, signature={**run.signature, **seen})


def _finish_output(
    tx: Transaction, output: Output, clock: JobClock, done: int, failed: int
) -> None:
    names = [
        "state",
        "text",
        "thinking",
        "sections",
        "missing",
        "finish",
        "error",
        "prompt_tokens",
        "completion_tokens",
        "seconds",
        "finished",
        "meta",
    ]
    tx.update(Output, output.id, **{name: getattr(output, name) for name in names})
    tx.execute_unlogged("DELETE FROM partial WHERE output_id = ?", (output.id,))
    clock.set(tx, done=done, failed=failed)


def _write_output(
    workspace: Workspace,
    output: Output,
    run: Run,
    system: System,
    generator: TextGenerator,
    *,
    on_piece: PieceCallback,
    cancel: Cancellation,
) -> Output:
    example = workspace.get(Example, output.example_id)
    task, field = task_and_field(workspace, example)
    params = {**DEFAULT_PARAMS, **system.params}
    prompt = str(run.signature.get("prompt") or system.prompt)
    if prompt == RUBRIC_PROMPT:
        task = with_rubric(workspace, task)
    stream = _PartialText(workspace, output.id, on_piece)
    meta = dict(output.meta)
    try:
        if run.signature.get("bench"):
            from core.editing_bench.bench import bench_messages

            messages = bench_messages(run, example)
            written = _write_whole(generator, messages, run.signature["params"], stream, cancel)
        else:
            wanted = _wanted_sections(prompt, task)
            fitted = fit_input(
                generator,
                str(run.signature.get("context_policy", "refuse")),
                partial(_longest_prompt, prompt, task, field, wanted),
                example,
                room=_least_room(params, len(wanted)),
                passages=int(params["retrieve"]),
            )
            meta |= fitted.meta
            example = fitted.example
            parts = fitted.parts or (example,)
            texts = [
                _write_part(generator, prompt, task, field, part, params, wanted, stream, cancel)
                for part in parts
            ]
            written = texts[0] if len(texts) == 1 else _join_parts(texts)
    except ModelError as error:
        stream.flush()
        details = f" ({error.details.strip().splitlines()[-1]})" if error.details.strip() else ""
        return replace(
            output, state="failed", text=stream.text, error=f"{error}{details}", finished=now()
        )
    if written.finish == "cancelled":
        stream.flush()
        raise Cancelled
    parsed = parse_sections(written.text, task.output_sections)
    empty = not written.text.strip()
    return replace(
        output,
        meta=meta,
        state="failed" if empty else "done",
        error="The model answered with nothing." if empty else "",
        text=written.text,
        thinking=written.thinking,
        sections=parsed.sections,
        missing=parsed.missing,
        finish=written.finish,
        prompt_tokens=written.prompt_tokens,
        completion_tokens=written.completion_tokens,
        seconds=round(written.seconds, 3),
        finished=now(),
    )


def _wanted_sections(prompt: str, task: Task) -> tuple[SectionSpec, ...]:
    """The sections asked for one by one; () for one answer. A task without sections gets one."""
    if not writes_sections(prompt):
        return ()
    if not task.output_sections:
        return (SectionSpec(title="Answer"),)
    return task.output_sections


def _longest_prompt(
    prompt: str, task: Task, field: str, wanted: Sequence[SectionSpec], example: Example
) -> tuple[Message, ...]:
    """The longest of the prompts an example leads to, for measuring."""
    if not wanted:
        return example_prompt(prompt, task, field, example)
    longest = max(wanted, key=lambda spec: len(spec.title) + len(spec.description))
    return example_prompt(prompt, task, field, example, longest)


def _least_room(params: Mapping[str, Any], sections: int) -> int:
    """Tokens to keep free for an answer."""
    return min(int(params["max_tokens"]) // max(1, sections), _ROOM_FOR_ANSWER)


def _write_part(
    generator: TextGenerator,
    prompt: str,
    task: Task,
    field: str,
    example: Example,
    params: Mapping[str, Any],
    wanted: Sequence[SectionSpec],
    stream: _PartialText,
    cancel: Cancellation,
) -> _Written:
    if wanted:
        return _write_sections(
            generator, prompt, replace(task, output_sections=tuple(wanted)), field, example,
            params, stream, cancel,
        )  # fmt: skip
    messages = example_prompt(prompt, task, field, example)
    return _write_whole(generator, messages, params, stream, cancel)


def _join_parts(texts: Sequence[_Written]) -> _Written:
    """What was written from the parts of a long input, one after the other."""
    finishes = [written.finish for written in texts]
    return _Written(
        "\n\n".join(written.text for written in texts if written.text),
        "\n\n".join(written.thinking for written in texts if written.thinking),
        next((finish for finish in ("cancelled", "length") if finish in finishes), "stop"),
        sum(written.prompt_tokens for written in texts),
        sum(written.completion_tokens for written in texts),
        sum(written.seconds for written in texts),
    )


def _write_whole(
    generator: TextGenerator,
    messages: tuple[Message, ...],
    params: Mapping[str, Any],
    stream: _PartialText,
    cancel: Cancellation,
) -> _Written:
    generation = _generate(generator, messages, params, stream, cancel)
    return _Written(
        generation.text.strip(),
        generation.thinking.strip(),
        generation.finish,
        generation.prompt_tokens,
        generation.completion_tokens,
        generation.seconds + generation.prompt_seconds,
    )


def _write_sections(
    generator: TextGenerator,
    prompt: str,
    task: Task,
    field: str,
    example: Example,
    params: Mapping[str, Any],
    stream: _PartialText,
    cancel: Cancellation,
) -> _Written:
    """One answer a section; what the prompts share is read by the model once and kept."""
    share = {**params, "max_tokens": max(1, params["max_tokens"] // len(task.output_sections))}
    sections: list[SectionText] = []
    generations: list[Generation] = []
    for spec in task.output_sections:
        stream.start_section(spec.title)
        messages = example_prompt(prompt, task, field, example, spec)
        generation = _generate(generator, messages, share, stream, cancel)
        generations.append(generation)
        sections.append(SectionText(title=spec.title, text=generation.text.strip()))
        if generation.finish == "cancelled":
            break
    finishes = [generation.finish for generation in generations]
    return _Written(
        join_sections(sections),
        "\n\n".join(g.thinking.strip() for g in generations if g.thinking.strip()),
        next((finish for finish in ("cancelled", "length") if finish in finishes), "stop"),
        sum(g.prompt_tokens for g in generations),
        sum(g.completion_tokens for g in generations),
        sum(g.seconds + g.prompt_seconds for g in generations),
    )


def _generate(
    generator: TextGenerator,
    messages: Sequence[Message],
    params: Mapping[str, Any],
    stream: _PartialText,
    cancel: Cancellation,
) -> Generation:
    request = GenerationRequest(
        messages=tuple(messages),
        max_tokens=_room(generator, messages, int(params["max_tokens"])),
        temperature=params["temperature"],
        top_p=params["top_p"],
        min_p=params["min_p"],
        repeat_penalty=params["repeat_penalty"],
        seed=int(params["seed"]),
    )
    return generator.generate(request, on_piece=stream.add, cancel=cancel)


def _room(generator: TextGenerator, messages: Sequence[Message], wanted: int) -> int:
    """New tokens that fit: what is wanted, or what the prompt leaves of the model's context.

    Raises
    ------
    ContextOverflowError
        When the prompt leaves hardly anything.
    """
    context = generator.info.context_tokens
    if context is None:
        return wanted
    used = generator.count_tokens(messages)
    left = context - used
    if left < min(wanted, _SMALLEST_ROOM):
        raise ContextOverflowError(
            f"The input has {used:,} tokens and the model reads {context:,}.",
            prompt_tokens=used,
            context_tokens=context,
            remedy="Use a model with a longer context, or shorten the input.",
        )
    return min(wanted, left)


class _PartialText:
    """Text as it streams in, kept in the workspace about once a second so that a crash leaves it."""

    def __init__(self, workspace: Workspace, output_id: str, on_piece: PieceCallback) -> None:
        self._workspace = workspace
        self._output_id = output_id
        self._on_piece = on_piece
        self._text: list[str] = []
        self._thinking: list[str] = []
        self._flushed = time.monotonic()

    @property
    def text(self) -> str:
        return "".join(self._text)

    def start_section(self, title: str) -> None:
        """Put a heading before what comes next."""
        self.add(Piece(("\n\n" if self._text else "") + f"# {title}\n\n"))

    def add(self, piece: Piece) -> None:
        (self._thinking if piece.thinking else self._text).append(piece.text)
        self._on_piece(self._output_id, piece)
        if time.monotonic() - self._flushed >= _FLUSH_SECONDS:
            self.flush()

    def flush(self) -> None:
        self._flushed = time.monotonic()
        self._workspace.transact_job(
            "Keep streamed text",
            "",
            _keep_partial,
            self._output_id,
            self.text,
            "".join(self._thinking),
        )


def _keep_partial(tx: Transaction, output_id: str, text: str, thinking: str) -> None:
    tx.execute_unlogged(
        "INSERT INTO partial VALUES (?, ?, ?, ?) ON CONFLICT (output_id) DO UPDATE SET"
        " text = excluded.text, thinking = excluded.thinking, updated = excluded.updated",
        (output_id, text, thinking, now()),
    )
