"""Dependencies from a model: a line, pairs judged in context, pairs thought over, sequences scored."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations

from core.errors import UsageError
from core.graphs.generation.sequences import common_edges, search_orders
from core.graphs.generation.shots import PairShot
from core.graphs.order import Edge, redundant_edges
from core.metrics.graphs import remove_cycles
from core.ports import (
    Cancellation,
    GenerationRequest,
    Progress,
    ProgressCallback,
    TextGenerator,
    no_progress,
)
from core.runs.prompts import prompt_hash, render_prompt

#: Each step after the one before it; pairs in context; with a chain of thought; sequence scoring.
EDGE_METHODS = ("linear", "icl", "cot", "scoring")
PAIR_PROMPT, THOUGHT_PROMPT = "graph_edge_pair", "graph_edge_thought"
_THOUGHT_TOKENS = 72
_ANSWER = re.compile(r"answer\s*[:\-]?\s*\(?([ABC])\b", re.IGNORECASE)


def generate_edges(
    method: str,
    task: str,
    assumption: str,
    steps: Sequence[str],
    generator: TextGenerator | None,
    *,
    shots: Sequence[PairShot] = (),
    seed: int = 0,
    progress: ProgressCallback = no_progress,
    cancel: Cancellation | None = None,
) -> list[Edge]:
    """Propose dependencies between steps, as pairs of places from 0.

    Circles are resolved as published: every edge inside a strongly connected component goes. Edges
    that follow from others are left out, as annotators leave them out.

    Raises
    ------
    UsageError
        For an unknown method, or a missing generator.
    """
    if method not in EDGE_METHODS:
        raise UsageError(
            f"'{method}' is no way to find dependencies.", remedy=f"Use {', '.join(EDGE_METHODS)}."
        )
    if method == "linear":
        return [(number, number + 1) for number in range(len(steps) - 1)]
    if generator is None:
        raise UsageError("This way needs a model.", remedy="Choose a generator.")
    if method == "scoring":
        found = search_orders(
            generator, task, assumption, steps, seed=seed, progress=progress, cancel=cancel
        )
        return common_edges(found.orders)
    edges = []
    pairs = list(combinations(range(len(steps)), 2))
    for number, (first, second) in enumerate(pairs):
        if cancel is not None:
            cancel.raise_if_cancelled()
        texts = (steps[first], steps[second])
        if method == "icl":
            answer = judge_pair(generator, task, assumption, *texts, shots=shots)
        else:
            answer = think_pair(generator, task, assumption, *texts, seed=seed, cancel=cancel)
        if answer == "A":
            edges.append((first, second))
        elif answer == "B":
            edges.append((second, first))
        progress(Progress(number + 1, len(pairs)))
    return resolve_edges(len(steps), edges)


def resolve_edges(size: int, edges: Sequence[Edge]) -> list[Edge]:
    """Edges without circles and without those that follow from others.

    Examples
    --------
    >>> resolve_edges(4, [(0, 1), (1, 0), (1, 2), (2, 3), (1, 3)])
    [(1, 2), (2, 3)]
    """
    left = remove_cycles(size, edges)
    redundant = redundant_edges(size, left)
    return [edge for edge in left if edge not in redundant]


def judge_pair(
    generator: TextGenerator,
    task: str,
    assumption: str,
    first: str,
    second: str,
    *,
    shots: Sequence[PairShot] = (),
) -> str:
    """A, B or C, by the probabilities of the letters."""
    messages = render_prompt(
        PAIR_PROMPT,
        {
            "shots": list(shots),
            "task": task,
            "assumption": assumption,
            "first": first,
            "second": second,
        },
    )
    return "ABC"[generator.choose(messages, ("A", "B", "C")).best]


def think_pair(
    generator: TextGenerator,
    task: str,
    assumption: str,
    first: str,
    second: str,
    *,
    seed: int = 0,
    cancel: Cancellation | None = None,
) -> str:
    """A, B or C at the end of a written thought; a thought without an answer counts as C."""
    messages = render_prompt(
        THOUGHT_PROMPT,
        {"task": task, "assumption": assumption, "first": first, "second": second},
    )
    answer = generator.generate(
        GenerationRequest(
            messages=messages,
            max_tokens=_THOUGHT_TOKENS,
            temperature=0.0,
            seed=seed,
            stop=("\n\n", "Task:"),
            answer_prefix="Thought:",
        ),
        cancel=cancel,
    )
    if answer.finish == "cancelled" and cancel is not None:
        cancel.raise_if_cancelled()
    return read_answer(answer.text)


def read_answer(text: str) -> str:
    """The last letter said after 'Answer:'; C where there is none."""
    found = _ANSWER.findall(text)
    return found[-1].upper() if found else "C"


def edges_signature(
    method: str, generator: TextGenerator | None, *, assumption: bool, seed: int
) -> str:
    """All that makes the dependencies repeatable."""
    parts = [f"edges:{method}"]
    if generator is not None and method != "linear":
        parts.append(f"model:{generator.info.id} {generator.info.sha256[:12]}")
        prompt = {"icl": PAIR_PROMPT, "cot": THOUGHT_PROMPT}.get(method)
        if prompt:
            parts.append(f"prompt:{prompt_hash(prompt)[:12]}")
        parts += [f"assumption:{'with' if assumption else 'without'}", f"seed:{seed}"]
    return "|".join(parts)
