"""Graph metrics: bounds, symmetry, an embedder's similarities, wrong input, what is empty."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import UsageError
from core.metrics.graphs import remove_cycles
from core.metrics.registry import create
from core.metrics.steps import match_hungarian, match_twice
from models.fake import FakeEmbedder

QUICK = settings(max_examples=40, deadline=None)
STEPS = st.lists(st.text(alphabet="ab cé\n", max_size=8), max_size=5)


@st.composite
def graph_items(draw: st.DrawFn) -> dict[str, Any]:
    """Two graphs and a similarity matrix of numbers from 0 to 1."""
    sides = {}
    for key in ("gold", "predicted"):
        steps = draw(STEPS)
        ends = st.integers(0, len(steps) - 1)
        edges = draw(st.lists(st.tuples(ends, ends), max_size=8)) if steps else []
        sides[key] = {"steps": steps, "edges": [list(edge) for edge in edges]}
    rows, columns = len(sides["predicted"]["steps"]), len(sides["gold"]["steps"])
    number = st.floats(0, 1)
    row = st.lists(number, min_size=columns, max_size=columns)
    return {**sides, "similarity": draw(st.lists(row, min_size=rows, max_size=rows))}


MATCHING = ("step_matching", "step_matching_relaxed", "step_matching_max")
EDGES = ("in_degree", "out_degree", "step_proximity")
DOCUMENTS = ("document_rouge1", "document_rouge2", "document_rougeL")


@pytest.mark.parametrize("name", MATCHING + EDGES + DOCUMENTS)
@QUICK
@given(item=graph_items())
def test_bounds(name: str, item: dict[str, Any]) -> None:
    score = create(name).score_one(item)
    if score.value is None:
        assert score.unscored
    else:
        assert -1e-12 <= score.value <= 1 + 1e-12
    total = create(name).aggregate([item])
    assert total.value == pytest.approx(score.value)


@pytest.mark.parametrize("name", [*MATCHING, "step_proximity"])
@QUICK
@given(item=graph_items())
def test_swapping_sides_swaps_precision_and_recall(name: str, item: dict[str, Any]) -> None:
    rows, columns = len(item["predicted"]["steps"]), len(item["gold"]["steps"])
    turned = np.array(item["similarity"]).reshape(rows, columns).T.tolist()
    other = {"gold": item["predicted"], "predicted": item["gold"], "similarity": turned}
    one, two = create(name).score_one(item), create(name).score_one(other)
    if "precision" in one.components:
        assert one.components["precision"] == pytest.approx(two.components["recall"])
        assert one.components["recall"] == pytest.approx(two.components["precision"])


@pytest.mark.parametrize("name", MATCHING + EDGES + DOCUMENTS)
def test_a_graph_equals_itself(name: str) -> None:
    graph = {"steps": ["mix it all", "bake it long", "eat it hot"], "edges": [[0, 1], [1, 2]]}
    item = {"gold": graph, "predicted": graph, "similarity": np.eye(3).tolist()}
    assert create(name).score_one(item).value == pytest.approx(1.0)


@QUICK
@given(item=graph_items(), seed=st.randoms(use_true_random=False))
def test_order_of_steps_does_not_matter_to_matching(item: dict[str, Any], seed: Any) -> None:
    turn = list(range(len(item["predicted"]["steps"])))
    seed.shuffle(turn)
    other = {
        **item,
        "predicted": {"steps": [item["predicted"]["steps"][n] for n in turn]},
        "similarity": [item["similarity"][n] for n in turn],
    }
    for name in MATCHING:
        assert create(name).score_one(other).value == pytest.approx(
            create(name).score_one(item).value
        )


@QUICK
@given(
    matrix=st.integers(1, 4).flatmap(
        lambda width: st.lists(
            st.lists(st.integers(-5, 9), min_size=width, max_size=width), min_size=1, max_size=4
        )
    )
)
def test_matchings_are_the_best_there_are(matrix: list[list[int]]) -> None:
    similarity = np.array(matrix, dtype=np.float64)
    rows, columns = similarity.shape

    def best(slots: list[int]) -> float:
        if rows <= len(slots):
            return max(
                sum(similarity[row, c] for row, c in enumerate(chosen))
                for chosen in permutations(slots, rows)
            )
        return max(
            sum(similarity[row, c] for row, c in zip(chosen, slots, strict=True))
            for chosen in permutations(range(rows), len(slots))
        )

    found = sum(similarity[pair] for pair in match_hungarian(similarity))
    assert found == pytest.approx(best(list(range(columns))))
    twice = match_twice(similarity)
    assert sum(similarity[pair] for pair in twice) == pytest.approx(best([*range(columns)] * 2))
    assert len({row for row, _ in twice}) == len(twice)
    assert all(sum(c == column for _, c in twice) <= 2 for column in range(columns))


@QUICK
@given(edges=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=20))
def test_nothing_is_left_of_a_cycle(edges: list[tuple[int, int]]) -> None:
    left = remove_cycles(7, edges)
    assert nx.is_directed_acyclic_graph(nx.DiGraph(left))
    whole = nx.DiGraph(edges)
    components = [set(found) for found in nx.strongly_connected_components(whole)]
    inside = {e for e in edges for found in components if {*e} <= found}
    assert left == [edge for edge in dict.fromkeys(edges) if edge not in inside]


def test_an_embedder_makes_the_similarities() -> None:
    embedder = FakeEmbedder()
    steps = ["boil the water", "pour the tea", "boil the water"]
    item = {"gold": {"steps": steps[:2]}, "predicted": {"steps": steps}}
    metric = create("step_matching", embedder=embedder)
    score = metric.score_one(item)
    assert score.components["total"] >= 2 - 1e-9
    assert embedder.info.id in metric.signature
    assert create("in_degree", embedder=embedder).score_one(item).value == 1.0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"similarity": None}, "no embedder"),
        ({"similarity": [[1.0]]}, "2 rows"),
        ({"similarity": [[1.0, "x"], [0, 0]]}, "finite numbers"),
        ({"similarity": [[1.0, float("nan")], [0, 0]]}, "finite numbers"),
        ({"gold": None}, "'gold' is missing"),
        ({"gold": {"steps": ["a", 2]}}, "no text"),
        ({"predicted": {"steps": ["a", "b"], "edges": [[0, 2]]}}, "does not join"),
        ({"predicted": {"steps": ["a", "b"], "edges": [[0]]}}, "does not join"),
        ({"predicted": {"steps": ["a", "b"], "edges": 7}}, "does not join"),
    ],
)
def test_wrong_input_is_named(change: dict[str, Any], words: str) -> None:
    item = {
        "gold": {"steps": ["a", "b"], "edges": []},
        "predicted": {"steps": ["a", "b"], "edges": []},
        "similarity": [[1.0, 0.0], [0.0, 1.0]],
        **change,
    }
    for name in ("step_matching", "in_degree"):
        with pytest.raises(UsageError, match=words):
            create(name).score_one(item)


def test_empty_graphs() -> None:
    empty: dict[str, Any] = {"gold": {"steps": []}, "predicted": {"steps": []}}
    assert create("step_matching").score_one(empty).value == 0.0
    assert create("document_rouge1").score_one(empty).value == 0.0
    assert create("in_degree").score_one(empty).unscored == "Neither graph has a step."
    lonely = {**empty, "gold": {"steps": ["a"]}}
    assert create("in_degree").score_one(lonely).value == 1.0
    assert create("in_degree", {"both_empty": "skip"}).score_one(lonely).unscored
    assert create("cycles").score_one(empty).components["edges"] == []
    for name in ("step_matching", "in_degree", "cycles", "document_rougeL"):
        assert create(name).aggregate([]).unscored
