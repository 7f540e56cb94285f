"""Values of the documents rooms that are stored; see `core.types` for ids, times and positions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from core.types import Json, SectionText

DocumentFormat = Literal["pdf", "docx", "html", "markdown", "text"]
#: From how many documents the evidence of an example comes (DOLOMITES: single- and multi-document).
Setting = Literal["one", "several"]
RequestState = Literal["planned", "drafting", "choosing", "editing", "saved"]
DraftState = Literal["pending", "done", "failed"]
SpanKind = Literal["inserted", "deleted"]
EditType = Literal["fact_addition", "deletion", "update", "stylistic", "reorganisation"]
CritiqueState = Literal["open", "valid", "fixed", "rejected"]

EDIT_TYPES: tuple[EditType, ...] = (
    "fact_addition",
    "deletion",
    "update",
    "stylistic",
    "reorganisation",
)

#: What is rated of a draft before it is edited (DOLOMITES, example creation).
DRAFT_AXES = ("adherence", "correctness", "detail")

#: What raters say of a task on a scale from 1 to 5 (DOLOMITES, task validation), key and question.
TASK_AXES: Mapping[str, str] = MappingProxyType(
    {
        "representativeness": "How well does the task represent work in the field?",
        "complexity": "How complex is the task?",
        "time": "How long does an expert take for it?",
        "usefulness": "How useful would help by a language model be?",
        "anonymity": "Can it be done without giving away who somebody is?",
        "bias": "Could an output be unfair to some people?",
        "ethics": "Does it raise other ethical questions?",
        "workforce": "Could it cost people their work?",
        "accessibility": "Would help with it make the field open to more people?",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A file taken into the workspace. Its original, text and passages lie beside it in other tables.

    ``recognised`` lists pages (from 1) whose text was read from their picture; ``notes`` says in words
    what could not be read. ``window`` and ``overlap`` are how its passages were cut, in characters.
    """

    id: str
    title: str
    file: str
    format: DocumentFormat
    sha256: str
    text_sha256: str
    bytes: int
    pages: int
    characters: int
    field_id: str = ""
    window: int = 4000
    overlap: int = 100
    recognised: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    added: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A stretch of a document's text, at code points ``start`` to ``end``; pages count from 1."""

    id: str
    document_id: str
    number: int
    page: int
    page_end: int
    start: int
    end: int
    sha256: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A passage as it was when it was retrieved, so that it outlives its document."""

    passage_id: str
    document_id: str
    document: str
    page: int
    start: int
    end: int
    sha256: str
    text: str
    score: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftRequest:
    """An example in the making: what is asked, of which documents, and how far it has come.

    ``shown`` holds the ids of the drafts offered, in the order they were shuffled into.
    """

    id: str
    task_id: str
    title: str = ""
    input: tuple[SectionText, ...] = ()
    queries: tuple[str, ...] = ()
    setting: Setting = "several"
    document_ids: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    count: int = 10
    params: Mapping[str, Json] = field(default_factory=dict)
    model_id: str = ""
    model_sha256: str = ""
    seed: int = 0
    shown: tuple[str, ...] = ()
    chosen_id: str = ""
    state: RequestState = "planned"
    example_id: str = ""
    person_id: str = ""
    job_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A model-made candidate for an example. ``recipe`` records all that made it."""

    id: str
    request_id: str
    pseudonym: str
    position: int
    seed: int
    state: DraftState = "pending"
    text: str = ""
    sections: tuple[SectionText, ...] = ()
    finish: str = ""
    error: str = ""
    recipe: Mapping[str, Json] = field(default_factory=dict)
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    finished: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftRating:
    """One person's 1-5 judgement of a draft on one of `DRAFT_AXES`, before editing."""

    id: str
    draft_id: str
    person_id: str
    axis: str
    value: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PostEdit:
    """The editing of a draft. ``head`` is its latest revision, '' while nothing is changed."""

    id: str
    request_id: str
    draft_id: str
    person_id: str
    head: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A changed stretch of a tracked text, at code points ``start`` to ``end`` of what is displayed."""

    start: int
    end: int
    kind: SpanKind
    change: str
    person: str = ""
    time: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """One saved step of a post-edit: in a section, ``removed`` at ``start`` gave way to ``text``.

    Positions are of the displayed text, deleted words included; ``spans`` are those of the new text,
    counted from ``start``.
    """

    id: str
    post_edit_id: str
    parent: str
    number: int
    section: int
    start: int
    removed: str
    text: str
    spans: tuple[Span, ...] = ()
    action: str = "typed"
    person_id: str = ""
    time: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeNote:
    """What a person says of one tracked change: its type, and a comment."""

    id: str
    post_edit_id: str
    change: str
    edit_type: str = ""
    comment: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CritiquePoint:
    """One point of a model's critique of a draft, and what the expert made of it."""

    id: str
    post_edit_id: str
    position: int
    text: str
    state: CritiqueState = "open"
    model_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRating:
    """One rater's 1-5 answer about a task on one of `TASK_AXES`, with free text."""

    id: str
    task_id: str
    person_id: str
    axis: str
    value: int
    comment: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterProfile:
    """What a rater tells about themselves; ``consent`` to its being exported."""

    id: str
    person_id: str
    field: str = ""
    qualification: str = ""
    years: int = 0
    consent: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeSpent:
    """Seconds one person spent on one item, such as rating a task."""

    id: str
    kind: str
    item_id: str
    person_id: str
    seconds: float = 0.0


#: Stored kinds by the name of their table.
STORED: dict[str, type] = {
    "document": Document,
    "draft_request": DraftRequest,
    "draft": Draft,
    "draft_rating": DraftRating,
    "post_edit": PostEdit,
    "post_edit_revision": Revision,
    "change_note": ChangeNote,
    "critique_point": CritiquePoint,
    "task_rating": TaskRating,
    "rater_profile": RaterProfile,
    "time_spent": TimeSpent,
}
