"""Ways of edges through a layered drawing: straight past the boxes of a layer, curved between layers."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from core.graphs.order import Edge

Place = tuple[float, float]

#: Blank between an edge and a box it passes, and between two edges side by side.
_BESIDE_BOX, _BESIDE_EDGE = 7.0, 5.0
#: Edges that shape no layer look for their way while no more layers than this were passed in all.
_MOST_PASSED = 8_000
_SAME, _STRAIGHT = 0.5, 4.0


@dataclass(slots=True, kw_only=True)
class Rows:
    """The layers as drawn: ``top`` and ``bottom`` of each, and where boxes and edges stand in it."""

    top: Sequence[float]
    bottom: Sequence[float]
    taken: list[list[tuple[float, float]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not self.taken:
            self.taken = [[] for _ in self.top]

    def take_box(self, row: int, x: float, width: float) -> None:
        """A box stands in a layer."""
        reach = width / 2 + _BESIDE_BOX
        self._take(row, x - reach, x + reach)

    def take_edge(self, row: int, x: float) -> None:
        """An edge passes a layer."""
        self._take(row, x - _BESIDE_EDGE, x + _BESIDE_EDGE)

    def find_way(self, row: int, wanted: float) -> float:
        """The free place of a layer that is nearest to the wanted one."""
        low = high = wanted
        taken = self.taken[row]
        for left, right in reversed(taken):
            if left < low < right:
                low = left
        for left, right in taken:
            if left < high < right:
                high = right
        return low if wanted - low <= high - wanted else high

    def _take(self, row: int, left: float, right: float) -> None:
        """Keep what is taken in order; overlapping stretches become one."""
        taken = self.taken[row]
        place = bisect_left(taken, (left, right))
        if place and taken[place - 1][1] >= left:
            place -= 1
            left, right = taken[place][0], max(right, taken[place][1])
        end = place
        while end < len(taken) and taken[end][0] <= right:
            right = max(right, taken[end][1])
            end += 1
        taken[place:end] = [(left, right)]


def route_chain(
    rows: Rows,
    start: tuple[Place, float, int],
    end: tuple[Place, float, int],
    passed: Sequence[float],
) -> list[Place]:
    """The bends of an edge.

    Parameters
    ----------
    start, end
        Centre, height and layer of the boxes it joins.
    passed
        Where it passes each layer between them.
    """
    ((start_x, start_y), start_height, first), ((end_x, end_y), end_height, last) = start, end
    points: list[Place] = []
    # Past taller neighbours in their own layers, too.
    if rows.bottom[first] - (start_y + start_height / 2) > _SAME:
        points.append((start_x, rows.bottom[first]))
    column = start_x
    for row, x in enumerate(passed, start=first + 1):
        # A way that is nearly straight is straight.
        x = column = column if abs(x - column) < _STRAIGHT else x
        points += [(x, rows.top[row]), (x, rows.bottom[row])]
    if (end_y - end_height / 2) - rows.top[last] > _SAME:
        points.append((end_x, rows.top[last]))
    whole = [(start_x, start_y), *points, (end_x, end_y)]
    return [
        here
        for before, here, after in zip(whole[:-2], points, whole[2:], strict=True)
        if abs(before[0] - here[0]) > _SAME or abs(after[0] - here[0]) > _SAME
    ]


def pass_layers(
    rows: Rows, edges: Sequence[Edge], x: Sequence[float], layer: Sequence[int]
) -> Mapping[Edge, list[float]]:
    """Where edges that shaped no layer pass those between their ends; short ones choose first.

    Edges past the limit are left out: in such a tangle none could be followed anyway.
    """
    found: dict[Edge, list[float]] = {}
    spent = 0
    for edge in sorted(edges, key=lambda e: (layer[e[1]] - layer[e[0]], e)):
        first, last = layer[edge[0]], layer[edge[1]]
        spent += last - first
        if spent > _MOST_PASSED:
            break
        at, goal = x[edge[0]], x[edge[1]]
        passed = []
        for row in range(first + 1, last):
            at = rows.find_way(row, at + (goal - at) / (last - row + 1))
            rows.take_edge(row, at)
            passed.append(at)
        found[edge] = passed
    return found
