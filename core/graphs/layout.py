"""Layered drawing of an acyclic graph: layers, few crossings, straight long edges; after Sugiyama.

Works on numbered boxes. Edges that a longer path says already do not shape the drawing. Parts that do
not hang together are laid out one by one and packed beside each other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from core.graphs.order import (
    Edge,
    acyclic_edges,
    components,
    redundant_edges,
    sort_topologically,
)
from core.graphs.routing import Rows, pass_layers, route_chain

Place = tuple[float, float]

#: Blanks between boxes of a layer, between layers, and between parts, in the units of the sizes.
GAP_ACROSS, GAP_DOWN, GAP_PARTS = 22.0, 42.0, 56.0
_DUMMY = 16.0
_SWEEPS = 14
_COORDINATE_SWEEPS = 8
#: With more than so many boxes and bends, fewer sweeps are made.
_MANY = 6_000
#: Width to height of several parts together: that of a canvas between a list and an outline.
_ASPECT = 1.0


@dataclass(frozen=True, slots=True)
class Layout:
    """Centres of the boxes, and the bends of each edge between them (only for edges that have any)."""

    places: list[Place]
    routes: dict[Edge, list[Place]]
    crossings: int


def lay_out(
    sizes: Sequence[tuple[float, float]], edges: Sequence[Edge], groups: Sequence[str] = ()
) -> Layout:
    """Place boxes so that every edge points down.

    Parameters
    ----------
    sizes
        Width and height of each box.
    edges
        Pairs of numbers of boxes; those that would close a circle are not heeded.
    groups
        Which group each box is in, '' for none: those of one stand beside each other where they can.

    Examples
    --------
    >>> lay_out([(100, 40), (100, 40)], [(0, 1)]).places
    [(50.0, 20.0), (50.0, 102.0)]
    """
    kept, _ = acyclic_edges(len(sizes), edges)
    redundant = redundant_edges(len(sizes), kept)
    shaping = [edge for edge in kept if edge not in redundant]
    parts = []
    for nodes in components(len(sizes), shaping):
        inner = {node: number for number, node in enumerate(nodes)}
        part = _Part(
            [sizes[node] for node in nodes],
            _inside(shaping, inner),
            _inside([edge for edge in kept if edge in redundant], inner),
            [groups[node] for node in nodes] if groups else [""] * len(nodes),
        )
        part.draw()
        parts.append((nodes, part))
    return _pack(parts, len(sizes))


def count_crossings(upper: Sequence[Sequence[int]], lower_size: int) -> int:
    """Crossings between two layers; ``upper`` holds each upper box's places in the lower one."""
    tree = [0] * (lower_size + 1)
    seen = crossings = 0
    for below in upper:
        for place in below:
            at, before = place + 1, 0
            while at > 0:
                before += tree[at]
                at -= at & -at
            crossings += seen - before
        for place in below:
            at = place + 1
            while at <= lower_size:
                tree[at] += 1
                at += at & -at
            seen += 1
    return crossings


def _inside(edges: Sequence[Edge], inner: dict[int, int]) -> list[Edge]:
    return [(inner[a], inner[b]) for a, b in edges if a in inner]


@dataclass(slots=True)
class _Part:
    """One part that hangs together. Nodes past the boxes are bends of long edges."""

    sizes: list[tuple[float, float]]
    edges: list[Edge]
    shortcuts: list[Edge]
    groups: list[str]
    routes: dict[Edge, list[Place]] = field(default_factory=dict)
    layer: list[int] = field(default_factory=list)
    layers: list[list[int]] = field(default_factory=list)
    up: list[list[int]] = field(default_factory=list)
    down: list[list[int]] = field(default_factory=list)
    chains: dict[Edge, list[int]] = field(default_factory=dict)
    x: list[float] = field(default_factory=list)
    y: list[float] = field(default_factory=list)
    tops: list[float] = field(default_factory=list)
    crossings: int = 0
    width: float = 0.0
    height: float = 0.0

    def draw(self) -> None:
        if len(self.sizes) == 1:
            width, height = self.sizes[0]
            self.x, self.y, self.width, self.height = [width / 2], [height / 2], width, height
            return
        self._assign_layers()
        self._add_bends()
        self._order_layers()
        self._assign_x()
        self._assign_y()
        self._route()

    # -- layers --------------------------------------------------------------------------

    def _assign_layers(self) -> None:
        order = sort_topologically(len(self.sizes), self.edges) or []
        parents: list[list[int]] = [[] for _ in self.sizes]
        children: list[list[int]] = [[] for _ in self.sizes]
        for start, end in self.edges:
            parents[end].append(start)
            children[start].append(end)
        layer = [0] * len(self.sizes)
        for node in order:
            layer[node] = max((layer[parent] + 1 for parent in parents[node]), default=0)
        # A box with fewer edges above than below moves down towards what needs it: shorter edges.
        for node in reversed(order):
            # Those of a group stay, so that it is not torn apart.
            light = len(parents[node]) < len(children[node]) and not self.groups[node]
            if children[node] and light:
                layer[node] = min(layer[child] for child in children[node]) - 1
        self.layer = layer

    def _add_bends(self) -> None:
        self.layers = [[] for _ in range(max(self.layer) + 1)]
        for node, number in enumerate(self.layer):
            self.layers[number].append(node)
        self.up = [[] for _ in self.sizes]
        self.down = [[] for _ in self.sizes]
        for start, end in self.edges:
            chain = [start]
            for number in range(self.layer[start] + 1, self.layer[end]):
                bend = len(self.up)
                self.up.append([])
                self.down.append([])
                self.layers[number].append(bend)
                chain.append(bend)
            chain.append(end)
            self.groups += [""] * (len(self.up) - len(self.groups))
            for above, below in pairwise(chain):
                self.down[above].append(below)
                self.up[below].append(above)
            self.chains[start, end] = chain[1:-1]

    # -- order within layers -------------------------------------------------------------

    def _order_layers(self) -> None:
        self._first_order()
        place = [0.0] * len(self.up)
        for row in self.layers:
            for number, node in enumerate(row):
                place[node] = number
        best = [list(row) for row in self.layers]
        fewest = self._count(place)
        sweeps = _SWEEPS if len(self.up) <= _MANY else 3
        since = 0
        for sweep in range(sweeps):
            if not fewest:
                break
            downwards = sweep % 2 == 0
            numbers = range(1, len(self.layers))
            for number in numbers if downwards else reversed(range(len(self.layers) - 1)):
                self._sort_row(number, self.up if downwards else self.down, place)
            if len(self.up) <= _MANY:
                self._transpose(place)
            count = self._count(place)
            if count < fewest:
                fewest, best, since = count, [list(row) for row in self.layers], 0
            else:
                since += 1
                if since >= 4:
                    break
        self.layers = best
        self.crossings = fewest

    def _first_order(self) -> None:
        """Boxes in the order in which following the edges from the first source finds them."""
        seen: dict[int, int] = {}
        for source in self.layers[0]:
            stack = [source]
            while stack:
                node = stack.pop()
                if node in seen:
                    continue
                seen[node] = len(seen)
                stack += reversed(self.down[node])
        for number, row in enumerate(self.layers):
            row.sort(key=lambda node: seen.get(node, node + len(self.up)))
            self.layers[number] = self._gather(row)

    def _gather(self, row: list[int]) -> list[int]:
        """A layer with those of a group beside each other, in their middle."""
        if not any(self.groups[node] for node in row):
            return row
        middle: dict[str, float] = {}
        for group in {self.groups[node] for node in row} - {""}:
            found = [place for place, node in enumerate(row) if self.groups[node] == group]
            middle[group] = sum(found) / len(found)
        ranked = [
            (middle.get(self.groups[node], float(place)), self.groups[node], place, node)
            for place, node in enumerate(row)
        ]
        return [node for *_, node in sorted(ranked)]

    def _sort_row(self, number: int, near: list[list[int]], place: list[float]) -> None:
        row = self.layers[number]
        means = {}
        for node in row:
            others = sorted(place[other] for other in near[node])
            # The median keeps one far neighbour from pulling a box across; the mean settles ties.
            if others:
                middle = len(others) // 2
                median = (
                    others[middle] if len(others) % 2 else sum(others[middle - 1 : middle + 1]) / 2
                )
                means[node] = (median, sum(others) / len(others))
            else:
                means[node] = (place[node], place[node])
        row.sort(key=means.__getitem__)
        self.layers[number] = row = self._gather(row)
        for position, node in enumerate(row):
            place[node] = position

    def _transpose(self, place: list[float]) -> None:
        """Swap neighbours where that makes fewer crossings, until nothing improves."""
        for _round in range(4):
            improved = False
            for row in self.layers:
                for left in range(len(row) - 1):
                    a, b = row[left], row[left + 1]
                    if self.groups[a] != self.groups[b]:
                        continue
                    now = self._pair(a, b, place)
                    if now and self._pair(b, a, place) < now:
                        row[left], row[left + 1] = b, a
                        place[a], place[b] = place[b], place[a]
                        improved = True
            if not improved:
                return

    def _pair(self, left: int, right: int, place: list[float]) -> int:
        """Crossings among the edges of two neighbours, the first standing left."""
        total = 0
        for near in (self.up, self.down):
            ours = [place[node] for node in near[left]]
            theirs = [place[node] for node in near[right]]
            total += sum(mine > other for mine in ours for other in theirs)
        return total

    def _count(self, place: list[float]) -> int:
        return sum(
            count_crossings(
                [sorted(int(place[below]) for below in self.down[node]) for node in row],
                len(self.layers[number + 1]),
            )
            for number, row in enumerate(self.layers[:-1])
        )

    # -- coordinates ---------------------------------------------------------------------

    def _wide(self, node: int) -> float:
        return self.sizes[node][0] if node < len(self.sizes) else _DUMMY

    def _assign_x(self) -> None:
        count = len(self.up)
        bend = [node >= len(self.sizes) for node in range(count)]
        self.x = [0.0] * count
        offsets: list[list[float]] = []
        for row in self.layers:
            places, at = [], 0.0
            for number, node in enumerate(row):
                if number:
                    gap = GAP_ACROSS / 2 if bend[node] and bend[row[number - 1]] else GAP_ACROSS
                    at += (self._wide(row[number - 1]) + self._wide(node)) / 2 + gap
                places.append(at)
            offsets.append(places)
            for node, place in zip(row, places, strict=True):
                self.x[node] = place - places[-1] / 2
        weights = [4.0 if bend[node] else 1.0 for node in range(count)]
        for sweep in range(_COORDINATE_SWEEPS):
            rows = range(len(self.layers))
            last = sweep == _COORDINATE_SWEEPS - 1
            for number in rows if sweep % 2 == 0 else reversed(rows):
                row = self.layers[number]
                wanted = []
                for node in row:
                    near = self.up[node] if sweep % 2 == 0 else self.down[node]
                    if last or not near:
                        near = [*self.up[node], *self.down[node]]
                    pull = [(8.0 if bend[node] and bend[o] else 1.0, self.x[o]) for o in near]
                    total = sum(weight for weight, _ in pull)
                    wanted.append(sum(w * x for w, x in pull) / total if total else self.x[node])
                for node, x in zip(
                    row,
                    _spread(wanted, offsets[number], [weights[node] for node in row]),
                    strict=True,
                ):
                    self.x[node] = x
        left = min(self.x[node] - self._wide(node) / 2 for node in range(count))
        self.x = [x - left for x in self.x]
        self.width = max(self.x[node] + self._wide(node) / 2 for node in range(count))

    def _assign_y(self) -> None:
        self.y = [0.0] * len(self.up)
        top = 0.0
        for row in self.layers:
            tallest = max((self.sizes[n][1] for n in row if n < len(self.sizes)), default=0.0)
            self.tops.append(top)
            for node in row:
                self.y[node] = top + tallest / 2
            top += tallest + GAP_DOWN
        self.height = top - GAP_DOWN

    # -- edges ---------------------------------------------------------------------------

    def _route(self) -> None:
        bottoms = [top - GAP_DOWN for top in [*self.tops[1:], self.height + GAP_DOWN]]
        rows = Rows(top=self.tops, bottom=bottoms)
        for number, row in enumerate(self.layers):
            for node in row:
                if node < len(self.sizes):
                    rows.take_box(number, self.x[node], self.sizes[node][0])
                else:
                    rows.take_edge(number, self.x[node])
        passed = {edge: [self.x[n] for n in chain] for edge, chain in self.chains.items()}
        passed |= pass_layers(rows, self.shortcuts, self.x, self.layer)
        for (start, end), places in passed.items():
            points = route_chain(rows, self._box(start), self._box(end), places)
            if points:
                self.routes[start, end] = points

    def _box(self, node: int) -> tuple[Place, float, int]:
        return (self.x[node], self.y[node]), self.sizes[node][1], self.layer[node]


def _spread(wanted: list[float], offsets: list[float], weights: list[float]) -> list[float]:
    """Places nearest to the wanted ones, in least squares, that keep order and distances.

    Less the offsets, places must not fall: isotonic regression by pooling neighbours.
    """
    blocks: list[tuple[float, float, int]] = []
    for want, offset, weight in zip(wanted, offsets, weights, strict=True):
        value, mass, size = want - offset, weight, 1
        while blocks and blocks[-1][0] > value:
            before, heavy, many = blocks.pop()
            value = (before * heavy + value * mass) / (heavy + mass)
            mass, size = mass + heavy, size + many
        blocks.append((value, mass, size))
    flat = [value for value, _, size in blocks for _ in range(size)]
    return [value + offset for value, offset in zip(flat, offsets, strict=True)]


def _pack(parts: list[tuple[list[int], _Part]], count: int) -> Layout:
    """Put parts beside each other in rows, the largest first, single boxes last."""
    places: list[Place] = [(0.0, 0.0)] * count
    routes: dict[Edge, list[Place]] = {}
    area = sum((p.width + GAP_PARTS) * (p.height + GAP_PARTS) for _, p in parts)
    widest = max((part.width for _, part in parts), default=0.0)
    room = max(widest, math.sqrt(area * _ASPECT))
    order = sorted(range(len(parts)), key=lambda n: (-len(parts[n][0]), n))
    left = top = tallest = 0.0
    for number in order:
        nodes, part = parts[number]
        gap = GAP_PARTS if len(nodes) > 1 else GAP_ACROSS
        if left and left + part.width > room:
            left, top, tallest = 0.0, top + tallest + gap, 0.0
        for inner, node in enumerate(nodes):
            places[node] = (round(part.x[inner] + left, 1), round(part.y[inner] + top, 1))
        for (start, end), points in part.routes.items():
            routes[nodes[start], nodes[end]] = [
                (round(x + left, 1), round(y + top, 1)) for x, y in points
            ]
        left += part.width + gap
        tallest = max(tallest, part.height)
    return Layout(places, routes, sum(part.crossings for _, part in parts))
