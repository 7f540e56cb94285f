"""Edges of a drawing go round the boxes they do not belong to."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from core.graphs.layout import Layout, lay_out
from core.graphs.routing import Rows, route_chain

Box = tuple[float, float]


def draw(seed: int) -> tuple[list[Box], list[tuple[int, int]], Layout]:
    """A random graph of boxes of many heights, shortcuts among its edges."""
    chance = random.Random(seed)
    size = chance.randrange(4, 26)
    edges = [
        (a, b)
        for b in range(1, size)
        for a in chance.sample(range(b), min(b, chance.choice((1, 1, 2, 3))))
    ]
    sizes = [(184.0, float(chance.choice((37, 54, 71, 88)))) for _ in range(size)]
    return sizes, edges, lay_out(sizes, edges)


def sample(points: list[Box]) -> list[Box]:
    """Points of the curve through others that leaves and enters each upright, as the canvas draws it."""
    found = []
    for (x1, y1), (x2, y2) in pairwise(points):
        pull = (y2 - y1) / 2
        for number in range(21):
            t = number / 20
            a, b, c, d = (1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3
            found.append(
                (a * x1 + b * x1 + c * x2 + d * x2,
                 a * y1 + b * (y1 + pull) + c * (y2 - pull) + d * y2)
            )  # fmt: skip
    return found


@pytest.mark.parametrize("seed", range(12))
def test_no_edge_runs_through_a_box(seed: int) -> None:
    sizes, edges, drawn = draw(seed)
    for start, end in edges:
        (x1, y1), (x2, y2) = drawn.places[start], drawn.places[end]
        first, last = (x1, y1 + sizes[start][1] / 2), (x2, y2 - sizes[end][1] / 2)
        bends = drawn.routes.get((start, end), [])
        assert all(a[1] <= b[1] for a, b in pairwise([first, *bends, last])), "it turns back"
        for x, y in sample([first, *bends, last]):
            for node, ((left, top), (width, height)) in enumerate(
                zip(drawn.places, sizes, strict=True)
            ):
                inside = abs(x - left) < width / 2 - 1 and abs(y - top) < height / 2 - 1
                assert not inside, (start, end, node)


def test_edges_side_by_side_do_not_lie_on_each_other() -> None:
    # Three edges past the same long chain.
    chain = [(n, n + 1) for n in range(5)]
    drawn = lay_out([(184.0, 37.0)] * 6, [*chain, (0, 5), (0, 4), (1, 5)])
    ways = [drawn.routes[edge] for edge in ((0, 5), (0, 4), (1, 5))]
    heights = {y for way in ways for _, y in way}
    for height in heights:
        columns = [x for way in ways for x, y in way if y == height]
        assert len({round(x) for x in columns}) == len(columns)


def test_the_nearest_free_place_is_found() -> None:
    rows = Rows(top=[0.0], bottom=[40.0])
    rows.take_box(0, 100.0, 60.0)
    rows.take_box(0, 172.0, 60.0)
    assert rows.find_way(0, 20.0) == 20.0
    assert rows.find_way(0, 100.0) == 63.0, "round the nearer side"
    assert rows.find_way(0, 170.0) == 209.0, "the gap between the two is too narrow"
    rows.take_edge(0, 63.0)
    assert rows.find_way(0, 63.0) == 58.0


def test_a_straight_way_has_no_bends() -> None:
    rows = Rows(top=[0.0, 80.0, 160.0], bottom=[40.0, 120.0, 200.0])
    start, end = ((50.0, 20.0), 40.0, 0), ((50.0, 180.0), 40.0, 2)
    assert route_chain(rows, start, end, [50.0]) == []
    assert route_chain(rows, start, end, [90.0]) == [(90.0, 80.0), (90.0, 120.0)]


@pytest.mark.parametrize("seed", range(6))
def test_a_group_is_not_torn_apart(seed: int) -> None:
    chance = random.Random(seed)
    size = 14
    edges = [(a, b) for b in range(4, size) for a in chance.sample(range(b), 2)]
    groups = ["kit" if node in (0, 2, 3) else "" for node in range(size)]
    drawn = lay_out([(184.0, 54.0)] * size, edges, groups)
    inside = [drawn.places[node] for node in (0, 2, 3)]
    assert len({y for _, y in inside}) == 1, "all begin, so all stand in one layer"
    left, right = min(x for x, _ in inside), max(x for x, _ in inside)
    between = [x for x, y in drawn.places if y == inside[0][1] and left <= x <= right]
    assert len(between) == 3, "nothing else stands among them"
