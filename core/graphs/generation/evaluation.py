"""How well a model understands tasks: every method on every gold graph, a table with intervals.

Steps are generated from the task alone; dependencies between the gold graph's own steps, as published.
A line takes them in the order of the gold list; every other way is given them shuffled with the seed.
Each result is a graph of its own with its scores, written as it comes, so that a run goes on where it
stopped. The scorer that filters steps never saw the task it judges.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from core.errors import Cancelled, ConflictError, KnownError, ModelError, NotFoundError, UsageError
from core.graphs.comparison import (
    EDGE_METRICS,
    STEP_METRICS,
    record_scores,
    score_graph,
    similarities,
    similarity_name,
)
from core.graphs.generation.edges import EDGE_METHODS, edges_signature, generate_edges
from core.graphs.generation.scorer import train_scorer
from core.graphs.generation.shots import choose_pairs, choose_shots
from core.graphs.generation.steps import (
    SEQUENCES,
    STEP_METHODS,
    Proposal,
    filter_steps,
    generate_steps,
    steps_signature,
)
from core.graphs.links import connect_many
from core.graphs.model import StepGraph, describe_assumptions, load_graph, load_graphs
from core.graphs.verbs import add_graph, add_step
from core.jobs import JobClock, add_job
from core.metrics.base import MetricScore
from core.metrics.bootstrap import Interval, bootstrap_interval
from core.ports import (
    Cancellation,
    Embedder,
    Progress,
    ProgressCallback,
    TextGenerator,
    no_progress,
)
from core.storage.reads import Reads
from core.storage.transaction import Transaction
from core.storage.workspace import Workspace
from core.types import Job
from core.types.graphs import GraphScore, StepScorer, TaskGraph

Part = Literal["steps", "edges"]
JOB_KIND = "graph_methods"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """One thing to do: a method on a gold graph, told the assumption or not."""

    gold_id: str
    part: Part
    method: str
    assumption: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodRow:
    """A cell of the table: a metric of a method over all gold graphs."""

    part: Part
    method: str
    assumption: bool
    metric: str
    interval: Interval
    unscored: int


def start_evaluation(
    tx: Transaction,
    gold_ids: Sequence[str] = (),
    *,
    step_methods: Sequence[str] = STEP_METHODS,
    edge_methods: Sequence[str] = EDGE_METHODS,
    assumptions: Sequence[bool] = (True, False),
    sequences: int = SEQUENCES,
    max_tokens: int = 220,
    seed: int = 0,
) -> Job:
    """Write down an evaluation before any of it is done.

    Parameters
    ----------
    gold_ids
        Gold graphs to test on; all unless given.

    Raises
    ------
    NotFoundError
        When there is no gold graph.
    """
    for chosen, known in ((step_methods, STEP_METHODS), (edge_methods, EDGE_METHODS)):
        for method in chosen:
            if method not in known:
                raise UsageError(
                    f"'{method}' is no method.",
                    remedy=f"Use {', '.join([*STEP_METHODS, *EDGE_METHODS])}.",
                )
    golds = list(gold_ids) or [g.id for g in tx.find(TaskGraph, "role = 'gold'")]
    if not golds:
        raise NotFoundError(
            "There is no gold graph in this workspace.", remedy="Draw or import gold graphs first."
        )
    spec = {
        "golds": golds,
        "steps": list(step_methods),
        "edges": list(edge_methods),
        "assumptions": list(assumptions),
        "sequences": sequences,
        "max_tokens": max_tokens,
        "seed": seed,
    }
    total = len(plan_units(spec))
    return add_job(tx, JOB_KIND, "Compare methods on graphs", total=total, spec=spec)


def plan_units(spec: Mapping[str, Any]) -> list[Unit]:
    """What an evaluation consists of, one gold graph after the other.

    A line needs no model, so telling it the assumption makes no second case.
    """
    units = []
    for gold in spec["golds"]:
        for told in spec["assumptions"]:
            for part in ("steps", "edges"):
                for method in spec[part]:
                    if method == "linear" and told != spec["assumptions"][0]:
                        continue
                    units.append(Unit(gold_id=gold, part=part, method=method, assumption=told))
    return units


def execute_evaluation(
    workspace: Workspace,
    job_id: str,
    generator: TextGenerator,
    embedder: Embedder,
    *,
    progress: ProgressCallback = no_progress,
    cancel: Cancellation | None = None,
) -> Job:
    """Do what is not done yet; returns the job as it ended.

    A model that fails on one unit costs that unit, which is counted as unscored with the reason.
    """
    cancel = cancel or Cancellation()
    job = workspace.get(Job, job_id)
    clock = JobClock(workspace, job)
    finished = {_unit_of(graph) for graph in _results(workspace, job_id)}
    units = plan_units(job.spec)
    done = sum(unit in finished for unit in units)
    failed = sum(bool(graph.note) for graph in _results(workspace, job_id))
    workspace.transact_job(
        job.label, job.person_id, lambda tx: clock.set(tx, state="running", done=done, message="")
    )
    runner = _Runner(workspace, job, generator, embedder, cancel)
    try:
        for unit in units:
            progress(Progress(done, len(units), failed))
            if unit in finished:
                continue
            cancel.raise_if_cancelled()
            failed += runner.run(unit, clock, done + 1, failed)
            done += 1
        progress(Progress(done, len(units), failed))
    except Cancelled:
        return clock.finish("cancelled", "Stopped; it can be resumed.")
    except KnownError as error:
        clock.finish("failed", str(error))
        raise
    return clock.finish("done", f"{failed} of {done} failed." if failed else "")


def method_rows(reads: Reads, job_id: str) -> list[MethodRow]:
    """The table of an evaluation: means over gold graphs with 95 % bootstrap intervals."""
    results = _results(reads, job_id)
    values: dict[tuple[str, str, bool, str], list[float]] = {}
    unscored: dict[tuple[str, str, bool, str], int] = {}
    units = {graph.id: _unit_of(graph) for graph in results}
    marks = ", ".join("?" * len(units))
    scores = reads.find(GraphScore, f"graph_id IN ({marks})", list(units)) if units else []
    for score in scores:
        unit = units[score.graph_id]
        key = (unit.part, unit.method, unit.assumption, score.metric)
        values.setdefault(key, [])
        if score.value is None:
            unscored[key] = unscored.get(key, 0) + 1
        else:
            values[key].append(score.value)
    order = {"steps": STEP_METHODS, "edges": EDGE_METHODS}
    metrics = {name: n for n, name in enumerate([*STEP_METRICS, *EDGE_METRICS])}
    keys = sorted(
        values, key=lambda k: (k[0] != "steps", order[k[0]].index(k[1]), not k[2], metrics[k[3]])
    )
    return [
        MethodRow(
            part=key[0],  # type: ignore[arg-type]
            method=key[1],
            assumption=key[2],
            metric=key[3],
            interval=bootstrap_interval(values[key]),
            unscored=unscored.get(key, 0),
        )
        for key in keys
    ]


def latest_evaluation(reads: Reads) -> Job | None:
    """The evaluation started last, if there is one."""
    found = reads.find(Job, "kind = ?", (JOB_KIND,), order_by="id DESC", limit=1)
    return found[0] if found else None


@dataclass(slots=True)
class _Runner:
    """Does units one by one; keeps what several of one gold graph share."""

    workspace: Workspace
    job: Job
    generator: TextGenerator
    embedder: Embedder
    cancel: Cancellation
    _golds: list[StepGraph] | None = None
    _scorer: tuple[str, StepScorer] | None = None
    _samples: tuple[tuple[str, str, bool], list[Proposal]] | None = None

    def run(self, unit: Unit, clock: JobClock, done: int, failed: int) -> int:
        """Do one unit and write it down; 1 when it failed."""
        gold = load_graph(self.workspace, unit.gold_id)
        error = ""
        steps: list[str] = []
        edges: list[tuple[int, int]] = []
        try:
            if unit.part == "steps":
                steps = [proposal.text for proposal in self._steps(unit, gold)]
            else:
                steps = [step.text for step in gold.accepted]
                edges = self._edges(unit, gold, steps)
        except (ModelError, ConflictError) as caught:
            error = str(caught)
        self.workspace.transact_job(
            self.job.label,
            self.job.person_id,
            lambda tx: self._write(tx, unit, gold, steps, edges, error, clock, done, failed),
        )
        return int(bool(error))

    def golds(self) -> list[StepGraph]:
        if self._golds is None:
            ids = [graph.id for graph in self.workspace.find(TaskGraph, "role = 'gold'")]
            self._golds = load_graphs(self.workspace, ids)
        return self._golds

    def _scorer_without(self, task: str) -> StepScorer:
        """A scorer that never saw the task."""
        if self._scorer is None or self._scorer[0] != task:
            others = [g for g in self.golds() if g.graph.task.casefold() != task.casefold()]
            seed = self.job.spec["seed"]
            self._scorer = (task, train_scorer(others, self.embedder, seed=seed, measured=False))
        return self._scorer[1]

    def _steps(self, unit: Unit, gold: StepGraph) -> list[Proposal]:
        spec = self.job.spec
        task = gold.graph.task
        assumption = describe_assumptions(gold.graph.assumptions) if unit.assumption else ""
        shots = choose_shots(self.golds(), task, seed=spec["seed"], assumption=unit.assumption)
        plain = unit.method.removesuffix("+sf")
        scorer = None
        if unit.method.endswith("sf"):
            scorer = self._scorer_without(task)
        key = (unit.gold_id, plain, unit.assumption)
        if unit.method == "multseq+sf" and self._samples is not None and self._samples[0] == key:
            # The same sequences as MultSeq's, filtered.
            assert scorer is not None
            return filter_steps(task, self._samples[1], scorer, self.embedder)
        found = generate_steps(
            unit.method,
            task,
            assumption,
            self.generator,
            self.embedder,
            shots=shots,
            scorer=scorer,
            sequences=spec["sequences"],
            max_tokens=spec["max_tokens"],
            seed=spec["seed"],
            cancel=self.cancel,
        )
        if unit.method == "multseq":
            self._samples = (key, found)
        return found

    def _edges(self, unit: Unit, gold: StepGraph, steps: list[str]) -> list[tuple[int, int]]:
        spec = self.job.spec
        assumption = describe_assumptions(gold.graph.assumptions) if unit.assumption else ""
        order = list(range(len(steps)))
        if unit.method != "linear":
            # In the order of the gold list a model that always answers 'the first' would look wise.
            order = np.random.default_rng(spec["seed"]).permutation(len(steps)).tolist()
        found = generate_edges(
            unit.method,
            gold.graph.task,
            assumption,
            [steps[number] for number in order],
            self.generator,
            shots=choose_pairs(self.golds(), gold.graph.task, seed=spec["seed"]),
            seed=spec["seed"],
            cancel=self.cancel,
        )
        return [(order[first], order[second]) for first, second in found]

    def _write(
        self,
        tx: Transaction,
        unit: Unit,
        gold: StepGraph,
        steps: list[str],
        edges: list[tuple[int, int]],
        error: str,
        clock: JobClock,
        done: int,
        failed: int,
    ) -> None:
        seed = self.job.spec["seed"]
        if unit.part == "steps":
            signature = steps_signature(
                unit.method, self.generator, assumption=unit.assumption, seed=seed
            )
        else:
            signature = edges_signature(
                unit.method, self.generator, assumption=unit.assumption, seed=seed
            )
            signature += "|order:" + ("given" if unit.method == "linear" else "shuffled")
        made = {
            "job": self.job.id,
            "part": unit.part,
            "method": unit.method,
            "assumption": unit.assumption,
            "signature": signature,
        }
        graph = add_graph(
            tx,
            gold.graph.task,
            gold.graph.assumptions,
            role="model",
            gold_id=gold.graph.id,
            state="done",
            made=made,
            note=error,
            person_id="",
        )
        ids = [add_step(tx, graph.id, text).id for text in steps]
        connect_many(tx, graph.id, [(ids[a], ids[b]) for a, b in edges])
        metrics = STEP_METRICS if unit.part == "steps" else EDGE_METRICS
        if error:
            scores = {name: MetricScore(value=None, unscored=error) for name in metrics}
        else:
            written = load_graph(tx, graph.id)
            same = similarities(written.accepted, gold.accepted, self.embedder)
            scores = score_graph(
                written,
                gold,
                same,
                metrics=metrics,
                similarity_name=similarity_name(self.embedder),
            )
        record_scores(tx, graph.id, gold.graph.id, scores)
        clock.set(tx, done=done, failed=failed + bool(error))


def _results(reads: Reads, job_id: str) -> list[TaskGraph]:
    return reads.find(TaskGraph, "role = 'model' AND json_extract(made, '$.job') = ?", (job_id,))


def _unit_of(graph: TaskGraph) -> Unit:
    return Unit(
        gold_id=graph.gold_id,
        part=graph.made["part"],
        method=graph.made["method"],
        assumption=bool(graph.made["assumption"]),
    )
