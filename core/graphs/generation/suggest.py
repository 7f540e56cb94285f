"""A model's help on one graph: what it proposes becomes suggestions there."""

from __future__ import annotations

from core.errors import ConflictError
from core.graphs.generation.edges import generate_edges
from core.graphs.generation.scorer import latest_scorer, save_scorer, train_scorer
from core.graphs.generation.shots import choose_pairs, choose_shots
from core.graphs.generation.steps import SEQUENCES, generate_steps
from core.graphs.model import StepGraph, describe_assumptions, load_graph, load_graphs
from core.graphs.suggestions import suggest_dependencies, suggest_steps
from core.ports import (
    Cancellation,
    Embedder,
    ProgressCallback,
    TextGenerator,
    no_progress,
)
from core.storage.reads import Reads
from core.storage.transaction import Transaction
from core.storage.workspace import Workspace
from core.types.graphs import StepScorer, TaskGraph


def gold_graphs(reads: Reads) -> list[StepGraph]:
    """All gold graphs with their rows."""
    return load_graphs(reads, [graph.id for graph in reads.find(TaskGraph, "role = 'gold'")])


def ensure_scorer(workspace: Workspace, embedder: Embedder, person: str) -> StepScorer:
    """The newest scorer of this embedder; one is trained and saved where there is none.

    Raises
    ------
    ConflictError
        When there are too few gold graphs to train on.
    """
    found = latest_scorer(workspace, embedder)
    if found is not None:
        return found
    return retrain_scorer(workspace, embedder, person)


def retrain_scorer(workspace: Workspace, embedder: Embedder, person: str) -> StepScorer:
    """Train a scorer on the gold graphs as they are now and save it as the next version."""
    scorer = train_scorer(gold_graphs(workspace), embedder)
    return workspace.transact_job("Train scorer", person, save_scorer, scorer).value


def propose_steps(
    workspace: Workspace,
    graph_id: str,
    method: str,
    generator: TextGenerator,
    embedder: Embedder,
    *,
    person: str = "",
    assumption: bool = True,
    sequences: int = SEQUENCES,
    max_tokens: int = 220,
    seed: int = 0,
    progress: ProgressCallback = no_progress,
    cancel: Cancellation | None = None,
) -> int:
    """Let a model propose the steps of a graph's task; returns how many suggestions came of it."""
    graph = load_graph(workspace, graph_id)
    golds = gold_graphs(workspace)
    scorer = ensure_scorer(workspace, embedder, person) if method.endswith("sf") else None
    found = generate_steps(
        method,
        graph.graph.task,
        describe_assumptions(graph.graph.assumptions) if assumption else "",
        generator,
        embedder,
        shots=choose_shots(golds, graph.graph.task, seed=seed, assumption=assumption),
        scorer=scorer,
        sequences=sequences,
        max_tokens=max_tokens,
        seed=seed,
        progress=progress,
        cancel=cancel,
    )
    by = f"{generator.info.name}, {method}"
    return len(
        workspace.transact(
            "Suggest steps", person, suggest_steps, graph_id, [p.text for p in found], by
        ).value
    )


def propose_edges(
    workspace: Workspace,
    graph_id: str,
    method: str,
    generator: TextGenerator | None,
    *,
    person: str = "",
    assumption: bool = True,
    seed: int = 0,
    progress: ProgressCallback = no_progress,
    cancel: Cancellation | None = None,
) -> int:
    """Let a model propose dependencies between all steps of a graph, suggested steps included.

    Raises
    ------
    ConflictError
        When there are fewer than two steps.
    """
    graph = load_graph(workspace, graph_id)
    if len(graph.steps) < 2:
        raise ConflictError(
            "Dependencies need at least two steps.", remedy="Add steps, or let some be suggested."
        )
    edges = generate_edges(
        method,
        graph.graph.task,
        describe_assumptions(graph.graph.assumptions) if assumption else "",
        [step.text for step in graph.steps],
        generator,
        shots=choose_pairs(gold_graphs(workspace), graph.graph.task, seed=seed),
        seed=seed,
        progress=progress,
        cancel=cancel,
    )
    ids = [step.id for step in graph.steps]
    by = "a line" if generator is None or method == "linear" else f"{generator.info.name}, {method}"

    def suggest(tx: Transaction) -> int:
        return len(suggest_dependencies(tx, graph_id, [(ids[a], ids[b]) for a, b in edges], by))

    return workspace.transact("Suggest dependencies", person, suggest).value
