"""Train, validation and test splits by clusters of similar tasks: no test task is nearly trained on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from core.errors import UsageError
from core.ports import Embedder
from core.storage.transaction import Transaction
from core.storage.workspace import Workspace
from core.types.graphs import TaskGraph

Split = Literal["train", "validation", "test"]

#: Cosine above which two tasks may end in one cluster (average linkage).
SIMILAR = 0.6
DEFAULT_SHARES: Mapping[Split, float] = {"train": 0.6, "validation": 0.15, "test": 0.25}


def cluster_tasks(
    tasks: Sequence[str], embedder: Embedder, *, similar: float = SIMILAR
) -> list[int]:
    """The cluster of each task, from 0: average linkage over cosines, cut at ``similar``."""
    if not tasks:
        return []
    distinct = list(dict.fromkeys(tasks))
    if len(distinct) == 1:
        return [0] * len(tasks)
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import pdist

    vectors = np.array(embedder.embed(distinct), dtype=np.float64)
    distances = np.clip(pdist(vectors, metric="cosine"), 0.0, 2.0)
    labels = fcluster(linkage(distances, method="average"), t=1.0 - similar, criterion="distance")
    found = dict(zip(distinct, labels.tolist(), strict=True))
    return [int(found[task]) - 1 for task in tasks]


def split_clusters(
    clusters: Sequence[int], shares: Mapping[Split, float] = DEFAULT_SHARES, *, seed: int = 0
) -> list[Split]:
    """A split for each item, whole clusters together, sizes near the shares.

    Clusters are drawn in random order, larger ones first among equals of a draw; each goes to the
    split that is furthest below its share.

    Examples
    --------
    >>> split_clusters([0, 0, 1], {"train": 0.5, "test": 0.5}, seed=1)[:2] in (
    ...     ["train", "train"], ["test", "test"])
    True
    """
    total = sum(shares.values())
    if not shares or min(shares.values()) < 0 or total <= 0:
        raise UsageError(
            "The shares of a split must be positive.", remedy="For example 60, 15, 25."
        )
    groups: dict[int, list[int]] = {}
    for item, cluster in enumerate(clusters):
        groups.setdefault(cluster, []).append(item)
    generator = np.random.default_rng(seed)
    order = [list(groups)[n] for n in generator.permutation(len(groups))]
    order.sort(key=lambda cluster: -len(groups[cluster]))
    room: dict[Split, float] = {
        name: share / total * len(clusters) for name, share in shares.items()
    }
    found: dict[int, Split] = {}
    for cluster in order:
        name = max(room, key=lambda split: room[split])
        room[name] -= len(groups[cluster])
        for item in groups[cluster]:
            found[item] = name
    return [found[item] for item in range(len(clusters))]


def split_graphs(tx: Transaction, splits: Mapping[str, str]) -> None:
    """Write the split of each graph, by id."""
    for graph_id, split in splits.items():
        tx.update(TaskGraph, graph_id, split=split)


def split_golds(
    workspace: Workspace,
    embedder: Embedder,
    person: str = "",
    shares: Mapping[Split, float] = DEFAULT_SHARES,
    *,
    seed: int = 0,
) -> dict[str, int]:
    """Split all gold graphs of a workspace as one deed; returns how many went where."""
    graphs = workspace.find(TaskGraph, "role = 'gold'")
    splits = split_clusters(
        cluster_tasks([graph.task for graph in graphs], embedder), shares, seed=seed
    )
    by_id = {graph.id: split for graph, split in zip(graphs, splits, strict=True)}
    workspace.transact("Split graphs", person, split_graphs, by_id)
    return {name: splits.count(name) for name in shares}
