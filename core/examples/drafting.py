"""Drafts of an example from evidence: up to ten, streamed, resumable; four different ones are offered."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from core.documents.search import gather_evidence
from core.errors import Cancelled, ContextOverflowError, KnownError, ModelError, UsageError
from core.examples.copied import choose_diverse
from core.examples.queries import propose_queries
from core.ids import new_id, new_pseudonym, now
from core.jobs import JobClock, add_job
from core.ports import (
    Cancellation,
    Embedder,
    GenerationRequest,
    Message,
    PairScorer,
    Piece,
    Progress,
    ProgressCallback,
    TextGenerator,
    no_progress,
)
from core.runs.prompts import prompt_hash, render_prompt
from core.storage.reads import Reads
from core.storage.transaction import Transaction
from core.storage.workspace import Workspace
from core.tasks.sections import normalise_title, parse_sections
from core.types import Field, Job, SectionSpec, SectionText, Task
from core.types.documents import (
    DRAFT_AXES,
    Draft,
    DraftRating,
    DraftRequest,
    Evidence,
    Setting,
)

PROMPT = "draft_example"
MOST_DRAFTS, OFFERED, TOP_PASSAGES = 10, 4, 5
DEFAULT_PARAMS: Mapping[str, Any] = {
    "max_tokens": 2048,
    "temperature": 0.8,
    "top_p": 0.95,
    "min_p": 0.02,
    "repeat_penalty": 1.1,
}
#: Drafts take turns at these, so that they differ by more than their seeds.
_WARMTH = (0.0, -0.3, 0.2)
_SMALLEST_ROOM = 64

DraftPieceCallback = Callable[[str, Piece], None]


def ignore_draft_piece(draft_id: str, piece: Piece) -> None:
    """Take a streamed piece and drop it."""


def add_request(
    tx: Transaction,
    task_id: str,
    *,
    queries: Sequence[str] = (),
    evidence: Sequence[Evidence] = (),
    document_ids: Sequence[str] = (),
    setting: Setting = "several",
    input: Sequence[SectionText] = (),
    title: str = "",
    count: int = MOST_DRAFTS,
    seed: int = 0,
    params: Mapping[str, Any] | None = None,
    model_id: str = "",
    model_sha256: str = "",
) -> DraftRequest:
    """Write down what is to be drafted, with its drafts still to be made.

    Raises
    ------
    UsageError
        When there is no evidence, or the number of drafts is not 1 to 10.
    """
    if not 1 <= count <= MOST_DRAFTS:
        raise UsageError(f"{count} drafts cannot be made.", remedy=f"Ask for 1 to {MOST_DRAFTS}.")
    if not evidence:
        raise UsageError(
            "There is no passage to draft from.",
            remedy="Import documents, or change the queries.",
        )
    task = tx.get(Task, task_id)
    job = add_job(tx, "draft", f"Draft {task.objective}", total=count, spec={"task": task_id})
    request = tx.insert(
        DraftRequest(
            id=new_id(),
            task_id=task_id,
            title=title.strip() or task.objective,
            input=tuple(input),
            queries=tuple(queries),
            setting=setting,
            document_ids=tuple(document_ids),
            evidence=tuple(evidence),
            count=count,
            params={**DEFAULT_PARAMS, **(params or {})},
            model_id=model_id,
            model_sha256=model_sha256,
            seed=seed,
            state="drafting",
            person_id=tx.person,
            job_id=job.id,
        )
    )
    for position in range(count):
        tx.insert(
            Draft(
                id=new_id(),
                request_id=request.id,
                pseudonym=new_pseudonym(),
                position=position,
                seed=seed + position,
            )
        )
    return request


def prepare_request(
    workspace: Workspace,
    task_id: str,
    generator: TextGenerator,
    person: str,
    *,
    embedder: Embedder | None = None,
    reranker: PairScorer | None = None,
    queries: Sequence[str] = (),
    document_ids: Sequence[str] = (),
    setting: Setting = "several",
    input: Sequence[SectionText] = (),
    count: int = MOST_DRAFTS,
    seed: int = 0,
    params: Mapping[str, Any] | None = None,
) -> DraftRequest:
    """Propose queries where none are given, find the evidence, and write the request down."""
    task = workspace.get(Task, task_id)
    field = workspace.get(Field, task.field_id).name
    if not queries:
        queries = propose_queries(generator, task, field, input=input, seed=seed)
    evidence = gather_evidence(
        workspace,
        queries,
        k=TOP_PASSAGES,
        one_document=setting == "one",
        embedder=embedder,
        reranker=reranker,
        document_ids=document_ids,
    )
    info = generator.info
    return workspace.transact_job(
        "Plan drafts",
        person,
        add_request,
        task_id,
        queries=queries,
        evidence=evidence,
        document_ids=document_ids,
        setting=setting,
        input=input,
        count=count,
        seed=seed,
        params=params,
        model_id=info.id,
        model_sha256=info.sha256,
    ).value


def wanted_sections(task: Task, request: DraftRequest) -> tuple[tuple[SectionSpec, ...], int]:
    """The sections a draft has, input first, and how many of them are input.

    Where the person gave the input it is not drafted. Two sections of one title are one.
    """
    inputs = () if request.input else task.input_sections
    specs: dict[str, SectionSpec] = {}
    for spec in (*inputs, *task.output_sections):
        specs.setdefault(normalise_title(spec.title), spec)
    made = tuple(specs.values())
    return made, sum(spec in inputs for spec in made)


def execute_request(
    workspace: Workspace,
    request_id: str,
    generator: TextGenerator,
    *,
    progress: ProgressCallback = no_progress,
    on_piece: DraftPieceCallback = ignore_draft_piece,
    cancel: Cancellation | None = None,
) -> Job:
    """Write every draft of a request that is still pending; returns the job as it ended.

    Called again after a crash or a stop it goes on where it stopped. A draft that fails is kept with
    its reason and the others go on.
    """
    cancel = cancel or Cancellation()
    request = workspace.get(DraftRequest, request_id)
    job = workspace.get(Job, request.job_id)
    clock = JobClock(workspace, job)
    done = workspace.count(Draft, "request_id = ? AND state <> 'pending'", (request_id,))
    failed = workspace.count(Draft, "request_id = ? AND state = 'failed'", (request_id,))
    pending = workspace.find(
        Draft, "request_id = ? AND state = 'pending'", (request_id,), order_by="position"
    )
    workspace.transact_job(job.label, job.person_id, _note_start, clock, done, failed)
    try:
        for draft in pending:
            progress(Progress(done, job.total, failed))
            cancel.raise_if_cancelled()
            written = _write_draft(workspace, request, draft, generator, on_piece, cancel)
            done += 1
            failed += written.state == "failed"
            workspace.transact_job(
                job.label, job.person_id, _keep_draft, written, clock, done, failed
            )
        progress(Progress(done, job.total, failed))
    except Cancelled:
        return clock.finish("cancelled", "Stopped; it can be resumed.")
    except KnownError as error:
        clock.finish("failed", str(error))
        raise
    return clock.finish("done", f"{failed} of {done} failed." if failed else "")


def _note_start(tx: Transaction, clock: JobClock, done: int, failed: int) -> None:
    clock.set(tx, state="running", done=done, failed=failed, message="")


def _keep_draft(tx: Transaction, draft: Draft, clock: JobClock, done: int, failed: int) -> None:
    names = (
        *("state", "text", "sections", "finish", "error", "recipe"),
        *("prompt_tokens", "completion_tokens", "seconds", "finished"),
    )
    tx.update(Draft, draft.id, **{name: getattr(draft, name) for name in names})
    clock.set(tx, done=done, failed=failed)


def _write_draft(
    workspace: Workspace,
    request: DraftRequest,
    draft: Draft,
    generator: TextGenerator,
    on_piece: DraftPieceCallback,
    cancel: Cancellation,
) -> Draft:
    task = workspace.get(Task, request.task_id)
    field = workspace.get(Field, task.field_id).name
    specs, _inputs = wanted_sections(task, request)
    params = {**DEFAULT_PARAMS, **request.params}
    warmth = max(0.0, float(params["temperature"]) + _WARMTH[draft.position % len(_WARMTH)])
    try:
        messages, used, room = _fit(generator, request, task, field, specs, params)
        answer = generator.generate(
            GenerationRequest(
                messages=messages,
                max_tokens=room,
                temperature=warmth,
                top_p=float(params["top_p"]),
                min_p=float(params["min_p"]),
                repeat_penalty=float(params["repeat_penalty"]),
                seed=draft.seed,
            ),
            on_piece=lambda piece: on_piece(draft.id, piece),
            cancel=cancel,
        )
    except ModelError as error:
        return replace(draft, state="failed", error=str(error), finished=now())
    if answer.finish == "cancelled":
        raise Cancelled
    info = generator.info
    recipe = {
        "prompt": PROMPT,
        "prompt_hash": prompt_hash(PROMPT),
        "model": info.id,
        "sha256": info.sha256,
        "device": info.device,
        "temperature": warmth,
        **{name: params[name] for name in ("top_p", "min_p", "repeat_penalty")},
        "max_tokens": room,
        "seed": draft.seed,
        "evidence": [evidence.passage_id for evidence in request.evidence[:used]],
        "evidence_sha256": [evidence.sha256 for evidence in request.evidence[:used]],
    }
    text = answer.text.strip()
    return replace(
        draft,
        state="done" if text else "failed",
        error="" if text else "The model answered with nothing.",
        text=text,
        sections=shape_sections(text, specs),
        finish=answer.finish,
        recipe=recipe,
        prompt_tokens=answer.prompt_tokens,
        completion_tokens=answer.completion_tokens,
        seconds=round(answer.seconds + answer.prompt_seconds, 3),
        finished=now(),
    )


def _fit(
    generator: TextGenerator,
    request: DraftRequest,
    task: Task,
    field: str,
    specs: Sequence[SectionSpec],
    params: Mapping[str, Any],
) -> tuple[tuple[Message, ...], int, int]:
    """The prompt with as many passages as fit, how many that is, and the room for the answer."""
    context = generator.info.context_tokens
    wanted = int(params["max_tokens"])
    tokens = 0
    for used in range(len(request.evidence), 0, -1):
        values = {
            "task": task,
            "field": field,
            "sections": specs,
            "input": request.input,
            "evidence": request.evidence[:used],
        }
        messages = render_prompt(PROMPT, values)
        if context is None:
            return messages, used, wanted
        tokens = generator.count_tokens(messages)
        # An answer is worth a third of the context before a further passage is.
        if context - tokens >= min(wanted, context // 3):
            return messages, used, min(wanted, context - tokens)
    if context is not None and context - tokens >= _SMALLEST_ROOM:
        return messages, 1, min(wanted, context - tokens)
    raise ContextOverflowError(
        f"A single passage and the task have {tokens:,} tokens and the model reads {context:,}.",
        prompt_tokens=tokens,
        context_tokens=context or 0,
        remedy="Cut the documents into shorter passages, or use a model with a longer context.",
    )


def shape_sections(text: str, specs: Sequence[SectionSpec]) -> tuple[SectionText, ...]:
    """A draft's text in the sections wanted, in their order, empty where missing; others follow."""
    parsed = parse_sections(text, specs)
    found = {section.title: section.text for section in parsed.sections}
    untitled = found.pop("", "")
    made = [SectionText(title=spec.title, text=found.pop(spec.title, "")) for spec in specs]
    if untitled:
        empty = next((n for n, section in enumerate(made) if not section.text), None)
        if empty is not None:
            made[empty] = SectionText(title=made[empty].title, text=untitled)
        else:
            made.append(SectionText(title="Preamble", text=untitled))
    made += [SectionText(title=title, text=body) for title, body in found.items() if body]
    return tuple(made)


def offer_drafts(tx: Transaction, request_id: str, count: int = OFFERED) -> DraftRequest:
    """Choose drafts that differ from each other and shuffle them; drafts offered already stay so."""
    request = tx.get(DraftRequest, request_id)
    if request.shown:
        return request
    done = tx.find(Draft, "request_id = ? AND state = 'done'", (request_id,), order_by="position")
    if not done:
        raise UsageError("No draft could be written.", remedy="See the reason, and try again.")
    chosen = [done[i].id for i in choose_diverse([draft.text for draft in done], count)]
    random.Random(f"{request.id}{request.seed}").shuffle(chosen)
    return tx.update(DraftRequest, request_id, shown=tuple(chosen), state="choosing")


def shown_drafts(reads: Reads, request: DraftRequest) -> list[Draft]:
    """The drafts offered, in their shuffled order."""
    return [reads.get(Draft, draft_id) for draft_id in request.shown]


def choose_draft(tx: Transaction, request_id: str, draft_id: str) -> DraftRequest:
    """Pick the most plausible draft; it can be changed until it is edited."""
    return tx.update(DraftRequest, request_id, chosen_id=tx.get(Draft, draft_id).id)


def rate_draft(
    tx: Transaction, draft_id: str, person_id: str, axis: str, value: int
) -> DraftRating:
    """Record a 1-5 judgement of a draft before it is edited; a later one replaces it."""
    if axis not in DRAFT_AXES:
        raise UsageError(f"'{axis}' is no axis.", remedy=f"Use one of {', '.join(DRAFT_AXES)}.")
    if value not in range(1, 6):
        raise UsageError(f"{value} is no rating.", remedy="Use a whole number from 1 to 5.")
    earlier = tx.find(
        DraftRating, "draft_id = ? AND person_id = ? AND axis = ?", (draft_id, person_id, axis)
    )
    if earlier:
        return tx.update(DraftRating, earlier[0].id, value=value)
    return tx.insert(
        DraftRating(id=new_id(), draft_id=draft_id, person_id=person_id, axis=axis, value=value)
    )


def unrate_draft(tx: Transaction, draft_id: str, person_id: str, axis: str) -> None:
    """Take a rating back."""
    for rating in tx.find(
        DraftRating, "draft_id = ? AND person_id = ? AND axis = ?", (draft_id, person_id, axis)
    ):
        tx.delete(DraftRating, rating.id)


def draft_ratings(reads: Reads, draft_id: str, person_id: str) -> dict[str, int]:
    """A person's ratings of a draft, by axis."""
    found = reads.find(DraftRating, "draft_id = ? AND person_id = ?", (draft_id, person_id))
    return {rating.axis: rating.value for rating in found}
