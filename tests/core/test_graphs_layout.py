"""Orders and layouts of graphs: against networkx, without overlaps, without chance, of any size."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence

import networkx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.graphs import links
from core.graphs.hints import hint_graph
from core.graphs.layout import count_crossings, lay_out
from core.graphs.model import CycleError
from core.graphs.order import (
    acyclic_edges,
    components,
    find_path,
    redundant_edges,
    sort_topologically,
)
from core.storage import Workspace
from tests.core.test_graphs import ids, make

dags = st.integers(1, 14).flatmap(
    lambda n: st.tuples(
        st.just(n),
        st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=40),
    )
)


@settings(max_examples=50)
@given(graph=dags)
def test_orders_agree_with_networkx(graph: tuple[int, list[tuple[int, int]]]) -> None:
    size, edges = graph
    oracle = networkx.DiGraph()
    oracle.add_nodes_from(range(size))
    oracle.add_edges_from(edges)
    acyclic = networkx.is_directed_acyclic_graph(oracle)
    assert (sort_topologically(size, set(edges)) is not None) == acyclic
    kept, left = acyclic_edges(size, edges)
    assert sort_topologically(size, kept) is not None
    assert len(kept) + len(left) == len(edges) or len(edges) != len(set(edges))
    dag = networkx.DiGraph(kept)
    dag.add_nodes_from(range(size))
    reduced = set(networkx.transitive_reduction(dag).edges)
    assert set(kept) - redundant_edges(size, kept) == reduced
    assert sorted(map(sorted, networkx.connected_components(dag.to_undirected()))) == sorted(
        components(size, kept)
    )
    near = {node: list(dag.successors(node)) for node in dag}
    path = find_path(near, 0, size - 1)
    assert (path is not None) == networkx.has_path(dag, 0, size - 1)


def overlaps(places: Sequence[tuple[float, float]], sizes: Sequence[tuple[float, float]]) -> bool:
    boxes = sorted(
        (x - w / 2, x + w / 2, y - h / 2, y + h / 2)
        for (x, y), (w, h) in zip(places, sizes, strict=True)
    )
    for number, first in enumerate(boxes):
        for second in boxes[number + 1 :]:
            if second[0] >= first[1] - 0.2:
                break
            if second[2] < first[3] - 0.2 and first[2] < second[3] - 0.2:
                return True
    return False


@settings(max_examples=40)
@given(graph=dags, heights=st.lists(st.integers(30, 90), min_size=14, max_size=14))
def test_layout_points_down_and_never_overlaps(
    graph: tuple[int, list[tuple[int, int]]], heights: list[int]
) -> None:
    size, edges = graph
    sizes = [(180.0, float(height)) for height in heights[:size]]
    drawn = lay_out(sizes, edges)
    assert not overlaps(drawn.places, sizes)
    kept, _ = acyclic_edges(size, edges)
    for start, end in kept:
        assert drawn.places[start][1] < drawn.places[end][1]


def test_crossings_are_counted_and_avoided() -> None:
    assert count_crossings([[1], [0]], 2) == 1
    assert count_crossings([[0, 1], [0, 1]], 2) == 1
    # Two chains whose ends are swapped in the list need not cross.
    edges = [(0, 3), (1, 2), (2, 4), (3, 5), (6, 0), (6, 1), (4, 7), (5, 7)]
    assert lay_out([(100, 40)] * 8, edges).crossings == 0


@pytest.mark.parametrize(
    ("size", "edges"),
    [
        (0, []),
        (2000, [(n, n + 1) for n in range(1999)]),
        (500, [(a, b) for a in range(500) for b in range(a + 1, 500)]),
        (500, []),
    ],
    ids=["empty", "line of 2,000", "500 dense", "500 loose"],
)
def test_extreme_graphs_are_laid_out(size: int, edges: list[tuple[int, int]]) -> None:
    start = time.process_time()
    drawn = lay_out([(184.0, 54.0)] * size, edges)
    assert time.process_time() - start < 10
    assert len(drawn.places) == size
    assert not overlaps(drawn.places, [(184.0, 54.0)] * size)


def test_the_layout_does_not_depend_on_chance() -> None:
    draw = random.Random(5)
    edges = [(a, b) for b in range(60) for a in draw.sample(range(b), min(b, 2))]
    assert lay_out([(100, 40)] * 60, edges) == lay_out([(100, 40)] * 60, edges)


def test_extreme_graphs_in_a_workspace(workspace: Workspace) -> None:
    line = [f"step {n}" for n in range(2000)]
    graph = make(workspace, line, [(n, n + 1) for n in range(1999)])
    assert graph.shortcuts == frozenset()
    with pytest.raises(CycleError):
        workspace.transact("C", "", links.connect, graph.graph.id, ids(graph)[-1], ids(graph)[0])
    assert [hint.kind for hint in hint_graph(graph)] == ["linear"]
    assert hint_graph(make(workspace, [])) == []
