"""The table of methods that `rifugio graphs methods` left in a workspace, with what chance gives below.

    python -m tests.benchmarks.graphs_methods WORKSPACE

Written in Markdown. Chance is, for steps, those of the other gold graphs, each in turn; for
dependencies, the gold graph's own steps in a line in random order, and without any dependency.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

#: Metrics shown, with the heads of their columns.
STEPS = {
    "step_matching": "matched F1",
    "step_matching_relaxed": "one to two F1",
    "document_rougeL": "ROUGE-L",
}
EDGES = {"in_degree": "in-degree", "out_degree": "out-degree", "step_proximity": "proximity"}
_LINES = 20


def main() -> int:
    """Print the table."""
    from app import services
    from core.graphs.generation.evaluation import latest_evaluation, method_rows
    from core.graphs.model import load_graphs
    from core.storage import Workspace
    from core.types.graphs import TaskGraph

    with Workspace.open(Path(sys.argv[1]), None, read_only=True) as workspace:
        job = latest_evaluation(workspace)
        if job is None:
            raise SystemExit("No methods were compared in this workspace.")
        rows = method_rows(workspace, job.id)
        ids = [graph.id for graph in workspace.find(TaskGraph, "role = 'gold'")]
        golds = [graph.as_item() for graph in load_graphs(workspace, ids)]
    embedder = services.embedder()
    print(
        f"{job.done} of {job.total} results over {len(golds)} gold graphs, seed"
        f" {job.spec['seed']}, similarity of {embedder.info.id}."
    )
    for part, metrics in (("steps", STEPS), ("edges", EDGES)):
        print(f"\n| {part} | assumption | n | {' | '.join(metrics.values())} |")
        print(f"| --- | --- | --- |{' --- |' * len(metrics)}")
        cells = {(r.method, r.assumption, r.metric): r.interval for r in rows if r.part == part}
        for method, told in dict.fromkeys((r.method, r.assumption) for r in rows if r.part == part):
            found = [cells[method, told, name] for name in metrics]
            print_row(method, "told" if told else "not told", found)
        for name, items in chances(part, golds, embedder):
            print_row(name, "", [average(metric, items) for metric in metrics])
    return 0


def print_row(name: str, told: str, found: list[Any]) -> None:
    """One method with its means and intervals."""
    texts = [
        f"{interval.mean:.3f}"
        + ("" if interval.low is None else f" [{interval.low:.2f}, {interval.high:.2f}]")
        for interval in found
    ]
    print(f"| {name} | {told} | {found[0].n} | {' | '.join(texts)} |")


def chances(
    part: str, golds: list[dict[str, Any]], embedder: Any
) -> Iterator[tuple[str, list[list[dict[str, Any]]]]]:
    """What knows nothing of the task: its name, and its items by gold graph."""

    def item(gold: dict[str, Any], steps: list[str], edges: list[list[int]]) -> dict[str, Any]:
        same = np.array(embedder.embed(steps)) @ np.array(embedder.embed(gold["steps"])).T
        return {"predicted": {"steps": steps, "edges": edges}, "gold": gold,
                "similarity": np.clip(same, 0.0, 1.0)}  # fmt: skip

    if part == "steps":
        yield (
            "steps of another task",
            [
                [item(gold, other["steps"], []) for other in golds if other is not gold]
                for gold in golds
            ],
        )
        return
    draw = np.random.default_rng(0)

    def lines(gold: dict[str, Any]) -> list[dict[str, Any]]:
        first = item(gold, gold["steps"], [])
        found = []
        for _ in range(_LINES):
            order = draw.permutation(len(gold["steps"])).tolist()
            edges = [list(pair) for pair in pairwise(order)]
            found.append({**first, "predicted": {"steps": gold["steps"], "edges": edges}})
        return found

    yield "a line in random order", [lines(gold) for gold in golds]
    yield "no dependency", [[item(gold, gold["steps"], [])] for gold in golds]


def average(metric: str, items: list[list[dict[str, Any]]]) -> Any:
    """The mean of a metric over gold graphs, each being the mean of its items."""
    from core.metrics.bootstrap import bootstrap_interval
    from core.metrics.registry import create

    score = create(metric).score_one
    means = [float(np.mean([score(item).value or 0.0 for item in group])) for group in items]
    return bootstrap_interval(means)


if __name__ == "__main__":
    raise SystemExit(main())
