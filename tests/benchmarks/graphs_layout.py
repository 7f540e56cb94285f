"""Layered layout of 100, 200 and 400 steps: milliseconds, crossings, and how the time grows.

    python -m tests.benchmarks.graphs_layout [ROUNDS]

Steps have one to three direct predecessors among the twenty before them. The extremes of the canvas are
timed besides: 2,000 steps in a line, and 500 steps with every possible dependency. Times are of the
processor, which other programs do not lengthen.
"""

from __future__ import annotations

import math
import random
import sys
import time
from collections.abc import Sequence

from core.graphs.layout import Layout, lay_out

SIZES = (100, 200, 400)
CARD = (184.0, 54.0)


def make_edges(size: int) -> list[tuple[int, int]]:
    """Dependencies of a graph such as long tasks have."""
    draw = random.Random(size)
    edges = []
    for node in range(1, size):
        near = range(max(0, node - 20), node)
        edges += [
            (other, node) for other in draw.sample(near, min(len(near), draw.choice((1, 1, 2, 3))))
        ]
    return edges


def measure(size: int, edges: Sequence[tuple[int, int]], rounds: int) -> tuple[float, Layout]:
    """The median time of a layout, and the layout."""
    seconds = []
    for _round in range(rounds):
        start = time.process_time()
        drawn = lay_out([CARD] * size, edges)
        seconds.append(time.process_time() - start)
    return sorted(seconds)[rounds // 2], drawn


def main() -> int:
    """Print the times; 1 when 400 steps take a second or more."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    times = {}
    for size in SIZES:
        edges = make_edges(size)
        times[size], drawn = measure(size, edges, rounds)
        print(
            f"{size:5} steps, {len(edges):5} dependencies: {times[size] * 1000:7.1f} ms,"
            f" {drawn.crossings} crossings"
        )
    growth = math.log(times[400] / times[100]) / math.log(4)
    print(f"growth from 100 to 400 steps: n^{growth:.2f}")
    for name, size, edges in (
        ("2,000 in a line", 2000, [(n, n + 1) for n in range(1999)]),
        ("500 dense", 500, [(a, b) for a in range(500) for b in range(a + 1, 500)]),
    ):
        seconds, _drawn = measure(size, edges, 1)
        print(f"{name}: {seconds * 1000:.0f} ms")
    return int(times[400] >= 1.0)


if __name__ == "__main__":
    raise SystemExit(main())
