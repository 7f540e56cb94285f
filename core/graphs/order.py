"""Orders of numbered nodes: topological sorting, paths, and which edges say nothing new.

Sets of nodes are whole numbers whose bits stand for nodes, so that 500 steps with every possible
dependency take milliseconds; networkx, which the tests compare with, takes minutes there.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")
Edge = tuple[int, int]


def sort_topologically(size: int, edges: Iterable[Edge]) -> list[int] | None:
    """Nodes 0..size-1, each after all that point to it, lower numbers first; None where there is a cycle.

    Examples
    --------
    >>> sort_topologically(3, [(2, 0)])
    [1, 2, 0]
    """
    import heapq

    after: list[list[int]] = [[] for _ in range(size)]
    waiting = [0] * size
    for start, end in edges:
        after[start].append(end)
        waiting[end] += 1
    ready = [node for node in range(size) if not waiting[node]]
    heapq.heapify(ready)
    found = []
    while ready:
        node = heapq.heappop(ready)
        found.append(node)
        for end in after[node]:
            waiting[end] -= 1
            if not waiting[end]:
                heapq.heappush(ready, end)
    return found if len(found) == size else None


def find_path(
    next_of: Mapping[T, Iterable[T]] | Callable[[T], Iterable[T]], start: T, goal: T
) -> list[T] | None:
    """A shortest path from ``start`` to ``goal``, both included; None where there is none.

    Examples
    --------
    >>> find_path({"a": ["b"], "b": ["c"]}, "a", "c")
    ['a', 'b', 'c']
    """
    if start == goal:
        return [start]
    look = next_of if callable(next_of) else lambda node: next_of.get(node, ())
    came: dict[T, T] = {}
    seen = {start}
    queue = deque([start])
    while queue:
        node = queue.popleft()
        for follower in look(node):
            if follower in seen:
                continue
            came[follower] = node
            if follower == goal:
                path = [goal]
                while path[-1] != start:
                    path.append(came[path[-1]])
                return path[::-1]
            seen.add(follower)
            queue.append(follower)
    return None


def reachable_sets(size: int, edges: Sequence[Edge]) -> list[int]:
    """For each node of an acyclic graph the bit set of all that come after it.

    Raises
    ------
    ValueError
        When there is a cycle.
    """
    order = sort_topologically(size, edges)
    if order is None:
        raise ValueError("The graph has a cycle.")
    after: list[list[int]] = [[] for _ in range(size)]
    for start, end in edges:
        after[start].append(end)
    reach = [0] * size
    for node in reversed(order):
        found = 0
        for end in after[node]:
            found |= reach[end] | 1 << end
        reach[node] = found
    return reach


def redundant_edges(size: int, edges: Sequence[Edge]) -> set[Edge]:
    """Edges of an acyclic graph that a longer path says already: what transitive reduction removes.

    Examples
    --------
    >>> redundant_edges(3, [(0, 1), (1, 2), (0, 2)])
    {(0, 2)}
    """
    order = sort_topologically(size, edges)
    if order is None:
        raise ValueError("The graph has a cycle.")
    place = {node: number for number, node in enumerate(order)}
    after: list[set[int]] = [set() for _ in range(size)]
    for start, end in edges:
        after[start].add(end)
    reach = [0] * size
    redundant = set()
    for node in reversed(order):
        found = 0
        # Nearer followers first: a farther one that a nearer one reaches is no news.
        for end in sorted(after[node], key=place.__getitem__):
            if found >> end & 1:
                redundant.add((node, end))
            else:
                found |= reach[end] | 1 << end
        reach[node] = found
    return redundant


def acyclic_edges(size: int, edges: Iterable[Edge]) -> tuple[list[Edge], list[Edge]]:
    """Edges taken in order, and those left out: loops, repetitions, and what would close a cycle.

    Examples
    --------
    >>> acyclic_edges(2, [(0, 1), (1, 0)])
    ([(0, 1)], [(1, 0)])
    """
    kept: list[Edge] = []
    left: list[Edge] = []
    after: list[list[int]] = [[] for _ in range(size)]
    taken: set[Edge] = set()
    wanted = list(edges)
    distinct = list(dict.fromkeys(edge for edge in wanted if edge[0] != edge[1]))
    if len(distinct) == len(wanted) and sort_topologically(size, distinct) is not None:
        return distinct, []
    for edge in wanted:
        start, end = edge
        if start == end or edge in taken or find_path(after.__getitem__, end, start) is not None:
            left.append(edge)
            continue
        taken.add(edge)
        after[start].append(end)
        kept.append(edge)
    return kept, left


def components(size: int, edges: Iterable[Edge]) -> list[list[int]]:
    """Groups of nodes that hang together, each in order, in the order of their first nodes."""
    near: list[list[int]] = [[] for _ in range(size)]
    for start, end in edges:
        near[start].append(end)
        near[end].append(start)
    seen = [False] * size
    found = []
    for first in range(size):
        if seen[first]:
            continue
        seen[first] = True
        group, queue = [], [first]
        while queue:
            node = queue.pop()
            group.append(node)
            for other in near[node]:
                if not seen[other]:
                    seen[other] = True
                    queue.append(other)
        found.append(sorted(group))
    return found
