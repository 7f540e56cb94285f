"""Values of the graphs rooms that are stored; see `core.types` for ids, times and positions.

A *graph* holds the steps of one task under stated assumptions, and which must be done before which.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Json = Any

#: ``gold`` is what others are compared with, ``training`` is drawn for feedback against one.
GraphRole = Literal["gold", "annotation", "training", "model"]
GraphState = Literal["open", "done", "skipped"]

#: The one relation of the published data.
BEFORE = "Must be done before"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskGraph:
    """A task's steps under assumptions, as one person or model drew them.

    ``task`` is what is to be done, in words; ``task_id`` is that of a described task, or ''.
    ``gold_id`` names the graph it is to be compared with. ``made`` says by which method, model and
    seed a model's graph came about. ``aside`` keeps dependencies of a file that could not become
    part of the graph, each with its place, reason and text. ``extra`` keeps what else the file had.
    """

    id: str
    task: str
    assumptions: tuple[str, ...] = ()
    task_id: str = ""
    role: GraphRole = "annotation"
    state: GraphState = "open"
    person_id: str = ""
    gold_id: str = ""
    split: str = ""
    source_text: str = ""
    note: str = ""
    made: Mapping[str, Json] = field(default_factory=dict)
    aside: tuple[Mapping[str, Json], ...] = ()
    extra: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepGroup:
    """A named frame around steps of a graph."""

    id: str
    graph_id: str
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphStep:
    """One step. ``x`` and ``y`` are the centre of its card, None where nobody has placed it.

    ``suggested`` names who suggests a step that is not accepted yet; '' is part of the graph.
    """

    id: str
    graph_id: str
    position: float
    text: str
    x: float | None = None
    y: float | None = None
    group_id: str = ""
    suggested: str = ""
    extra: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependency:
    """One step must be done before another. ``suggested`` as in `GraphStep`."""

    id: str
    graph_id: str
    before_id: str
    after_id: str
    position: float
    relation: str = BEFORE
    suggested: str = ""
    extra: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphMatch:
    """An expert's corrections of which steps of two graphs are the same.

    ``together`` and ``apart`` hold (step of the compared graph, step of the gold graph).
    """

    id: str
    graph_id: str
    gold_id: str
    together: tuple[tuple[str, str], ...] = ()
    apart: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphScore:
    """A metric's value for a graph against its gold graph; as `core.types.Score` for outputs."""

    id: str
    graph_id: str
    gold_id: str
    metric: str
    value: float | None
    components: Mapping[str, Json] = field(default_factory=dict)
    unscored: str = ""
    signature: str = ""
    scored: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepScorer:
    """A saved logistic regression over embeddings that tells good steps of a task from others.

    ``version`` counts from 1; ``trained`` says on what and how well it did.
    """

    id: str
    version: int
    embedder_id: str
    embedder_sha256: str
    weights: tuple[float, ...]
    bias: float
    threshold: float
    trained: Mapping[str, Json] = field(default_factory=dict)


#: Stored kinds by the name of their table.
STORED: dict[str, type] = {
    "graph": TaskGraph,
    "step_group": StepGroup,
    "graph_step": GraphStep,
    "dependency": Dependency,
    "graph_match": GraphMatch,
    "graph_score": GraphScore,
    "step_scorer": StepScorer,
}
