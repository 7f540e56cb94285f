"""Values of the rubrics rooms that are stored; see `core.types` for ids, times and positions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Json = Any

EntryState = Literal["open", "filled", "na", "not_applicable", "unscored"]
MapperKind = Literal["person", "model", "imported"]
JudgeKind = Literal["person", "model", "nli", "adjudication"]
CommentState = Literal["open", "resolved"]
ReviewDecision = Literal["approved", "changes"]
SuggestionState = Literal["open", "taken", "dismissed"]
#: What experts found wrong with items that models wrote (ExpertLongBench, analysis of rubrics).
SuggestionFault = Literal["", "subjective", "unsuitable", "too_coarse", "misread"]
ChecklistState = Literal["draft", "done"]


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionItem:
    """An item as it was in a version."""

    id: str
    title: str
    description: str = ""
    example: str = ""
    group: str = ""
    kind: str = "content"
    options: tuple[str, ...] = ()
    condition: str = ""
    weight: float = 1.0
    tags: tuple[str, ...] = ()
    example_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RubricVersion:
    """A rubric's items at one moment, under a number that counts from 1."""

    id: str
    rubric_id: str
    number: int
    note: str = ""
    person_id: str = ""
    made: str = ""
    items: tuple[VersionItem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RubricComment:
    """What somebody said about a rubric, or about one item of it ('' for the whole)."""

    id: str
    rubric_id: str
    item_id: str = ""
    person_id: str = ""
    text: str = ""
    state: CommentState = "open"
    made: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RubricReview:
    """A second expert's decision on a version of a rubric."""

    id: str
    rubric_id: str
    version_id: str
    person_id: str
    decision: ReviewDecision
    comment: str = ""
    made: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RubricSuggestion:
    """An item a model proposed; it is in no rubric until an expert takes it (then ``item_id`` is it)."""

    id: str
    rubric_id: str
    title: str
    description: str = ""
    group: str = ""
    model: str = ""
    state: SuggestionState = "open"
    fault: SuggestionFault = ""
    item_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemSkills:
    """What an item asks of a writer, as one person or model sees it.

    ``skills`` maps keys of `core.checklists.skills.SKILLS` to levels 1 to 4; ``knowledge`` and
    ``reasoning`` are levels 1 to 4, 0 for not said.
    """

    id: str
    item_id: str
    source: str
    skills: Mapping[str, Json] = field(default_factory=dict)
    knowledge: int = 0
    reasoning: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Checklist:
    """A text mapped to a rubric by one mapper: an output, or with ``output_id`` '' the reference."""

    id: str
    rubric_id: str
    example_id: str
    output_id: str = ""
    version_id: str = ""
    mapper_kind: MapperKind = "person"
    mapper: str = ""
    state: ChecklistState = "draft"
    text_sha256: str = ""
    signature: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChecklistEntry:
    """What a text says on one item. ``start`` and ``end`` are where, in code points; -1 for nowhere.

    ``state`` 'na' means that the text says nothing, 'not_applicable' that the item's condition does
    not hold, 'unscored' that the mapper failed for ``reason``. ``probability`` is the mapper's own
    for what it says, ``edited`` that a person changed a model's answer.
    """

    id: str
    checklist_id: str
    item_id: str
    state: EntryState = "open"
    text: str = ""
    start: int = -1
    end: int = -1
    probability: float | None = None
    reason: str = ""
    edited: bool = False
    check: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """One judge's comparison of an output's checklist with the reference's."""

    id: str
    reference_id: str
    output_checklist_id: str
    judge_kind: JudgeKind
    judge: str
    state: ChecklistState = "draft"
    signature: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One item of a judgement: is either side's content contained in the other's, 0 to 1.

    ``recall`` is the reference in the output, ``precision`` the output in the reference; both None
    with ``unscored`` saying why. Probabilities are the judge's own, None for a person.
    """

    id: str
    judgement_id: str
    item_id: str
    recall: float | None = None
    precision: float | None = None
    recall_probability: float | None = None
    precision_probability: float | None = None
    contradicted: bool = False
    reason: str = ""
    unscored: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustSample:
    """An output drawn for a person to judge, so that other judges can be checked against them."""

    id: str
    rubric_id: str
    output_id: str
    position: int
    seed: int


#: Stored kinds by the name of their table.
STORED: dict[str, type] = {
    "rubric_version": RubricVersion,
    "rubric_comment": RubricComment,
    "rubric_review": RubricReview,
    "rubric_suggestion": RubricSuggestion,
    "item_skills": ItemSkills,
    "checklist": Checklist,
    "checklist_entry": ChecklistEntry,
    "judgement": Judgement,
    "verdict": Verdict,
    "trust_sample": TrustSample,
}
