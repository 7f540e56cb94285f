"""The things experts work with, as immutable values. Stored rows and file formats are made from these.

Ids are UUIDv7 text, times UTC ISO-8601 with milliseconds, text positions Unicode code points.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

Json = Any
Role = Literal["expert", "reviewer", "lead"]
ItemKind = Literal["content", "yes_no", "one_of", "list"]
RubricState = Literal["draft", "in_review", "locked"]
SystemKind = Literal["model", "imported"]
JobState = Literal["queued", "running", "paused", "cancelled", "done", "failed"]
OutputState = Literal["pending", "running", "done", "failed"]
ReviewState = Literal["pending", "draft", "submitted", "skipped"]
Side = Literal["left", "right", "tie"]

ROLES: tuple[Role, ...] = ("expert", "reviewer", "lead")

#: The five axes on which a person rates an output from 1 to 5 (DOLOMITES, human evaluation).
RATING_AXES = (
    "task_adherence",
    "factual_correctness",
    "depth",
    "completeness",
    "coherence",
)

#: The paper's five criteria for a good task (DOLOMITES, task validation), key and question.
TASK_CRITERIA: Mapping[str, str] = MappingProxyType(
    {
        "textual_only": "Are input and output text only?",
        "needs_expertise": "Does it need expertise in the field?",
        "no_special_equipment": "Can it be done without special equipment or software?",
        "routine": "Is it something an expert does routinely?",
        "bounded": "Does it take time, yet an amount that can be bounded?",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionSpec:
    """A section that a task asks for."""

    title: str
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionText:
    """A section as written."""

    title: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody who works in the workspace."""

    id: str
    name: str
    role: Role = "expert"


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A field of expertise, such as medicine."""

    id: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A methodical writing task in the DOLOMITES template."""

    id: str
    field_id: str
    objective: str
    procedure: str = ""
    input_sections: tuple[SectionSpec, ...] = ()
    output_sections: tuple[SectionSpec, ...] = ()
    notes: str = ""
    author: str = ""
    extra: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskValidation:
    """One person's answer to one of `TASK_CRITERIA` about a task."""

    id: str
    task_id: str
    person_id: str
    criterion: str
    answer: bool
    comment: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """An instance of a task: input sections and the reference output sections."""

    id: str
    task_id: str
    title: str
    input: tuple[SectionText, ...] = ()
    output: tuple[SectionText, ...] = ()
    split: str = ""
    meta: Mapping[str, Json] = field(default_factory=dict)
    extra: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rubric:
    """A named list of items against which outputs of a task are checked."""

    id: str
    task_id: str
    title: str
    state: RubricState = "draft"
    notes: str = ""
    extra: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RubricItem:
    """One thing to look for. ``position`` orders items within a rubric and need not be whole."""

    id: str
    rubric_id: str
    position: float
    title: str
    description: str = ""
    example: str = ""
    group: str = ""
    kind: ItemKind = "content"
    options: tuple[str, ...] = ()
    condition: str = ""
    weight: float = 1.0
    extra: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """What writes outputs: a local model with parameters and a prompt, or imported outputs."""

    id: str
    name: str
    kind: SystemKind = "model"
    model_id: str = ""
    model_sha256: str = ""
    prompt: str = "long_form"
    params: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One system on a set of examples. ``signature`` records all that made the outputs."""

    id: str
    system_id: str
    job_id: str = ""
    started: str = ""
    prompt_hash: str = ""
    signature: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What a system wrote for an example.

    ``sections`` is the text parsed into the task's sections; extra sections are kept after them.
    ``error`` says why ``state`` is ``failed``.
    """

    id: str
    run_id: str
    example_id: str
    pseudonym: str
    position: int = 0
    state: OutputState = "pending"
    text: str = ""
    thinking: str = ""
    sections: tuple[SectionText, ...] = ()
    missing: tuple[str, ...] = ()
    finish: str = ""
    error: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    finished: str = ""
    meta: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """A metric's value for an output, with its signature; ``value`` is None when ``unscored`` says why."""

    id: str
    output_id: str
    metric: str
    value: float | None
    components: Mapping[str, Json] = field(default_factory=dict)
    unscored: str = ""
    signature: str = ""
    scored: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rating:
    """One person's 1-5 judgement of an output on one axis."""

    id: str
    output_id: str
    person_id: str
    axis: str
    value: int
    comment: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preference:
    """One person's (or judge's) choice between two outputs of one example.

    ``strength`` runs from 1 (left much better) over 3 (equal) to 5 (right much better);
    ``choice`` is the three-way answer that win rates use.
    """

    id: str
    left_output_id: str
    right_output_id: str
    person_id: str
    choice: Side
    strength: int = 3
    comment: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewItem:
    """Where one person stands with one output in the review queue."""

    id: str
    output_id: str
    person_id: str
    state: ReviewState = "pending"
    comment: str = ""
    position: int = 0
    scroll: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A piece of background work, as a row. Counts are of items; ``seconds`` is time spent working."""

    id: str
    kind: str
    label: str
    state: JobState = "queued"
    spec: Mapping[str, Json] = field(default_factory=dict)
    total: int = 0
    done: int = 0
    failed: int = 0
    seconds: float = 0.0
    message: str = ""
    person_id: str = ""
    created: str = ""
    updated: str = ""

    @property
    def rate(self) -> float | None:
        """Items a second while working; None before the first is done."""
        return self.done / self.seconds if self.done and self.seconds > 0 else None

    @property
    def seconds_left(self) -> float | None:
        """Estimate from the rate so far; None before the first item is done."""
        rate = self.rate
        return None if rate is None else (self.total - self.done) / rate
