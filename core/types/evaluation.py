"""Values of the evaluation rooms that are stored; see `core.types` for ids, times and positions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Json = Any

#: What an experiment does with an input longer than a model's context.
ContextPolicy = Literal["refuse", "truncate", "parts"]
JudgeAnswerKind = Literal["pair", "axis"]
Tick = Literal["yes", "no", "not_applicable"]
PairState = Literal["pending", "draft", "submitted", "skipped"]

CONTEXT_POLICIES: tuple[ContextPolicy, ...] = ("refuse", "truncate", "parts")

#: What can be wrong with an output, as people mark it while they look through failures.
OUTPUT_TAGS = ("lacking_depth", "verbose", "missing_information", "wrong", "structure")


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """Systems by examples by prompts, as one thing to run and to look at."""

    id: str
    name: str
    example_ids: tuple[str, ...] = ()
    policy: ContextPolicy = "refuse"
    notes: str = ""
    meta: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentRun:
    """A cell of an experiment's matrix: the run of one system with one prompt."""

    id: str
    experiment_id: str
    run_id: str
    prompt: str = ""
    position: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PairItem:
    """Two outputs of one example that a person is to compare, in the order and on the sides drawn.

    ``comment`` is the justification, ``seconds`` the time the pair was in view before it was handed in.
    """

    id: str
    person_id: str
    example_id: str
    left_output_id: str
    right_output_id: str
    position: int = 0
    state: PairState = "pending"
    comment: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Adjudication:
    """What was decided where people disagreed about a pair; ``first`` is the output with the smaller id."""

    id: str
    first_output_id: str
    second_output_id: str
    person_id: str
    choice: Literal["first", "second", "tie"]
    comment: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeAnswer:
    """One answer of a judge that is a language model.

    A pair is judged twice, the second time with the sides ``swapped``; ``choice`` always speaks of
    ``output_id`` ('first') and ``other_output_id`` ('second'), whatever the order they were shown in.
    An axis is rated from 1 to 5 in ``value``. ``probability`` is the judge's own for its answer.
    """

    id: str
    judge_id: str
    kind: JudgeAnswerKind
    output_id: str
    other_output_id: str | None = None
    swapped: bool = False
    axis: str = ""
    choice: str = ""
    value: float | None = None
    probability: float | None = None
    justification: str = ""
    unscored: str = ""
    seconds: float = 0.0
    signature: str = ""
    made: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputTag:
    """What a person found wrong with an output, or with the stretch from ``start`` to ``end`` of its text.

    Both are -1 where the whole output is meant.
    """

    id: str
    output_id: str
    person_id: str
    tag: str
    start: int = -1
    end: int = -1
    comment: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RubricTick:
    """Whether a person found an item of the rubric in an output, in the blind view."""

    id: str
    output_id: str
    person_id: str
    item_id: str
    tick: Tick


@dataclass(frozen=True, slots=True, kw_only=True)
class Blinding:
    """Whether a person works blind: then pages that name systems stay shut until their reviews are in."""

    id: str
    person_id: str
    blind: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportMapping:
    """How a file with these columns was read the last time; ``columns`` are their names in order, sorted."""

    id: str
    kind: str
    columns: str
    mapping: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunScore:
    """A metric's value for a whole run, where that is not the mean of its outputs' values."""

    id: str
    run_id: str
    metric: str
    value: float | None
    components: Mapping[str, Json] = field(default_factory=dict)
    unscored: str = ""
    signature: str = ""
    scored: str = ""


#: Stored kinds by the name of their table.
STORED: dict[str, type] = {
    "experiment": Experiment,
    "experiment_run": ExperimentRun,
    "pair_item": PairItem,
    "adjudication": Adjudication,
    "judge_answer": JudgeAnswer,
    "output_tag": OutputTag,
    "rubric_tick": RubricTick,
    "blinding": Blinding,
    "import_mapping": ImportMapping,
    "run_score": RunScore,
}
