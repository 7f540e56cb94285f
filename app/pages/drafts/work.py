"""What the Drafts page asks of the workspace and the models, off the UI thread."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.pages.documents.work import find_embedder, find_reranker
from app.strings import say
from core.documents.search import gather_evidence
from core.errors import KnownError
from core.examples.copied import find_copied
from core.examples.critique import critique_text
from core.examples.drafting import draft_ratings, shown_drafts
from core.examples.grounding import Grounded, ground_text
from core.examples.post_edit import PostEditState, load_post_edit, read_beside
from core.examples.queries import propose_queries
from core.nli.cache import CachedEntailment, MemoryCache
from core.nli.support import reads_contradiction
from core.ports import Cancellation, EntailmentModel, ProgressCallback
from core.storage.workspace import Workspace
from core.types import Field, Job, Person, SectionText, Task
from core.types.documents import Document, Draft, DraftRequest, Evidence, PostEdit, Setting

#: By which the drafts that are shown are told apart, in the order they are shown in.
LETTERS = "ABCDEFGHIJ"
_cache = MemoryCache()
#: After so long at work on text a thread rests for so long.
_WORK_SECONDS, _REST_SECONDS = 0.001, 0.0005
#: Fields whose texts are of a kind that entailment models are measured on (`build/nli`).
_KIND_OF_FIELD = {
    **dict.fromkeys(("law", "legal", "contracts"), "contracts"),
    **dict.fromkeys(("science", "school science", "education", "teaching"), "school science"),
    **dict.fromkeys(("history", "journalism", "encyclopaedia"), "encyclopaedia"),
}


@dataclass(frozen=True, slots=True)
class RequestView:
    """All that the page shows of a request."""

    request: DraftRequest
    task: Task
    job: Job
    drafts: tuple[Draft, ...]
    shown: tuple[Draft, ...]
    ratings: dict[str, dict[str, int]]
    copied: dict[str, tuple[tuple[tuple[int, int], ...], ...]]
    post_edit_id: str


def read_request(workspace: Workspace, request_id: str, person: str) -> RequestView:
    """A request, its drafts, this person's ratings of those shown, and what is copied in them."""
    request = workspace.get(DraftRequest, request_id)
    drafts = workspace.find(Draft, "request_id = ?", (request_id,), order_by="position")
    shown = shown_drafts(workspace, request)
    sources = [item.text for item in request.evidence]
    edits = workspace.find(
        PostEdit, "request_id = ? AND draft_id = ?", (request_id, request.chosen_id), limit=1
    )
    return RequestView(
        request,
        workspace.get(Task, request.task_id),
        workspace.get(Job, request.job_id),
        tuple(drafts),
        tuple(shown),
        {draft.id: draft_ratings(workspace, draft.id, person) for draft in shown},
        {
            draft.id: tuple(tuple(find_copied(section.text, sources)) for section in draft.sections)
            for draft in shown
        },
        edits[0].id if edits else "",
    )


def title_of(state: PostEditState) -> str:
    """The example in the making, and which of the drafts that were shown it comes from."""
    shown = state.request.shown
    if state.draft.id not in shown:
        return state.request.title
    letter = LETTERS[shown.index(state.draft.id)]
    return say("{title} · draft {letter}", title=state.request.title, letter=letter)


@dataclass(frozen=True, slots=True)
class PlanChoices:
    """What a new request can be made of."""

    tasks: tuple[Task, ...]
    documents: tuple[Document, ...]


def read_choices(workspace: Workspace) -> PlanChoices:
    """Tasks and documents, by name."""
    return PlanChoices(
        tuple(workspace.find(Task, order_by="objective COLLATE NOCASE")),
        tuple(workspace.find(Document, order_by="title COLLATE NOCASE")),
    )


def propose(
    workspace: Workspace,
    models: Any,
    task_id: str,
    *,
    progress: ProgressCallback,
    cancel: Cancellation,
) -> tuple[str, ...]:
    """Queries for a task by the model of this machine."""
    task = workspace.get(Task, task_id)
    field = workspace.get(Field, task.field_id).name
    return propose_queries(models.generator(None), task, field, cancel=cancel)


def retrieve(
    workspace: Workspace,
    models: Any,
    queries: Sequence[str],
    setting: Setting,
    document_ids: Sequence[str],
) -> list[Evidence]:
    """The best passages for queries."""
    return gather_evidence(
        workspace,
        queries,
        one_document=setting == "one",
        embedder=find_embedder(models),
        reranker=find_reranker(models),
        document_ids=document_ids,
    )


def find_entailment(models: Any) -> EntailmentModel | None:
    """The entailment model of this machine with its answers kept; None where there is none."""
    make = getattr(models, "entailment", None)
    if make is None:
        return None
    try:
        return CachedEntailment(make(), _cache)
    except KnownError:
        return None


@dataclass(frozen=True, slots=True)
class SupportAnswer:
    """Verdicts of each section's sentences, and in words why they rest on words alone."""

    sections: tuple[tuple[Grounded, ...], ...]
    by_words: str = ""


def tells_contradiction(model: EntailmentModel, field: str) -> bool:
    """Whether the model's precision for contradiction was measured, and good, for a field's texts."""
    from models.catalog import default_model
    from models.evaluation import read_evaluation

    kind = _KIND_OF_FIELD.get(field.casefold())
    if kind is None:
        return False
    try:
        entry = default_model("nli")
        evaluation = read_evaluation(entry)
    except KnownError:
        return False
    if evaluation is None or evaluation.model_sha256 != model.info.sha256:
        return False
    return reads_contradiction(evaluation.raw, kind)


def judge_support(
    models: Any,
    texts: Sequence[str],
    evidence: Sequence[Evidence],
    cancel: Cancellation,
    field: str = "",
) -> SupportAnswer:
    """Judge every sentence of every section; a model that fails leaves it to the words."""
    breathe = Breath()
    model = find_entailment(models)
    reason = "" if model is not None else "there is no entailment model on this machine"
    if model is not None:
        try:
            told = tells_contradiction(model, field)
            return SupportAnswer(
                tuple(
                    tuple(
                        ground_text(
                            text,
                            evidence,
                            model,
                            tells_contradiction=told,
                            cancel=cancel,
                            breathe=breathe,
                        )
                    )
                    for text in texts
                )
            )
        except KnownError as error:
            cancel.raise_if_cancelled()
            reason = error.message
    return SupportAnswer(
        tuple(tuple(ground_text(text, evidence, breathe=breathe)) for text in texts), reason
    )


class Breath:
    """Lets the window's thread have the interpreter, so that a key need not wait for a long reading."""

    def __init__(self) -> None:
        self._last = time.perf_counter()

    def __call__(self) -> None:
        if time.perf_counter() - self._last > _WORK_SECONDS:
            time.sleep(_REST_SECONDS)
            self._last = time.perf_counter()


@dataclass(frozen=True, slots=True)
class StudioFacts:
    """What a post-edit is now, the names of people by id, and the task's field.

    ``same_text``: the text is what the studio has, and only what stands beside it was read.
    """

    state: PostEditState
    names: dict[str, str]
    field: str
    same_text: bool = False


def read_studio(
    workspace: Workspace, post_edit_id: str, known: PostEditState | None, head: str
) -> StudioFacts:
    """All that the studio shows; of the text only what it has not: a long one takes its time."""
    people = {person.id: person.name for person in workspace.find(Person)}
    same = (
        known is not None
        and known.post_edit.id == post_edit_id
        and workspace.get(PostEdit, post_edit_id).head == head
    )
    if same and known is not None:
        notes, points = read_beside(workspace, post_edit_id)
        state = replace(known, notes=notes, critique=points)
    else:
        state = load_post_edit(workspace, post_edit_id)
    field = workspace.get(Field, state.task.field_id).name
    return StudioFacts(state, people, field, same)


def criticise(
    workspace: Workspace,
    models: Any,
    post_edit_id: str,
    sections: Sequence[SectionText],
    *,
    progress: ProgressCallback,
    cancel: Cancellation,
) -> tuple[list[str], str]:
    """A critique of a text as it stands, and the model's id."""
    state = load_post_edit(workspace, post_edit_id)
    field = workspace.get(Field, state.task.field_id).name
    generator = models.generator(None)
    points = critique_text(
        generator, state.task, field, sections, state.request.evidence, cancel=cancel
    )
    return points, generator.info.id
