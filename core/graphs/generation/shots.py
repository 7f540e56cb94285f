"""Worked examples for prompts, taken from gold graphs of other tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.graphs.model import StepGraph, describe_assumptions
from core.graphs.order import reachable_sets


@dataclass(frozen=True, slots=True)
class Shot:
    """A worked task for the prompt that asks for steps."""

    task: str
    assumption: str
    steps: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PairShot:
    """A worked pair for the prompt that asks for an order; the answer is A, B or C."""

    task: str
    first: str
    second: str
    answer: str


def other_golds(golds: Sequence[StepGraph], task: str) -> list[StepGraph]:
    """Gold graphs with steps that are of other tasks; those of a training split, where there are any."""
    found = [
        gold
        for gold in golds
        if gold.accepted and gold.graph.task.casefold() != task.strip().casefold()
    ]
    return [gold for gold in found if gold.graph.split == "train"] or found


def choose_shots(
    golds: Sequence[StepGraph], task: str, *, count: int = 2, seed: int = 0, assumption: bool = True
) -> list[Shot]:
    """Some worked tasks, drawn with the seed from gold graphs of other tasks."""
    pool = other_golds(golds, task)
    generator = np.random.default_rng(seed)
    picks = generator.permutation(len(pool))[:count]
    return [
        Shot(
            task=pool[n].graph.task,
            assumption=describe_assumptions(pool[n].graph.assumptions) if assumption else "",
            steps=tuple(step.text for step in pool[n].accepted),
        )
        for n in sorted(picks.tolist())
    ]


def choose_pairs(
    golds: Sequence[StepGraph], task: str, *, count: int = 6, seed: int = 0
) -> list[PairShot]:
    """Some worked pairs with the answers A, B and C in turn, drawn with the seed."""
    generator = np.random.default_rng(seed)
    needed: list[PairShot] = []
    free: list[PairShot] = []
    for gold in other_golds(golds, task):
        steps = gold.accepted
        item = gold.as_item()
        edges = [(a, b) for a, b in item["edges"]]
        reach = reachable_sets(len(steps), edges)
        for a, b in edges:
            needed.append(PairShot(gold.graph.task, steps[a].text, steps[b].text, "A"))
        for a in range(len(steps)):
            for b in range(a + 1, len(steps)):
                if not (reach[a] >> b & 1 or reach[b] >> a & 1):
                    free.append(PairShot(gold.graph.task, steps[a].text, steps[b].text, "C"))
    needed = [needed[n] for n in generator.permutation(len(needed))]
    free = [free[n] for n in generator.permutation(len(free))]
    found: list[PairShot] = []
    for number in range(count):
        if number % 3 == 2 and free:
            found.append(free.pop())
        elif needed:
            shot = needed.pop()
            if number % 3 == 1:
                shot = PairShot(shot.task, shot.second, shot.first, "B")
            found.append(shot)
    return found
