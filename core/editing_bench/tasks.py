"""EditEval's seven tasks: their instructions, their metrics, and what supervised systems reached.

Source: Dwivedi-Yu et al., 'EditEval: An Instruction-Based Benchmark for Text Improvements' (2022).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any

import msgspec

from core.errors import UsageError
from core.resources import resource_path

FIELD = "Text editing"
TEXT, EDITED = "Text", "Edited text"

#: The paper's main metrics of each task.
MAIN_METRICS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "fluency": ("sari", "gleu"),
        "clarity": ("sari", "gleu"),
        "coherence": ("sari", "gleu"),
        "neutralization": ("sari", "em"),
        "paraphrasing": ("sari",),
        "simplification": ("sari",),
        "updating": ("sari", "update_rouge1"),
    }
)
TASKS = tuple(MAIN_METRICS)

#: Beside the main ones, for the correlation of metrics.
MORE_METRICS = ("gleu", "em", "em_diff", "rougeL")

#: At most so many chunks of references are given to a model.
MOST_CHUNKS = 3

_MARK = re.compile(r"\s*\[\d+\]")


@dataclass(frozen=True, slots=True)
class Published:
    """What the best supervised system of the paper reached on a data set; 0 to 100."""

    dataset: str
    title: str
    task: str
    metric: str
    score: float


@cache
def _prompts() -> Mapping[str, tuple[str, ...]]:
    path = resource_path("editeval", "prompts.json")
    data: Any = msgspec.json.decode(path.read_bytes())
    return {task: tuple(prompts) for task, prompts in data["tasks"].items()}


def prompts_of(task: str) -> tuple[str, ...]:
    """The published instructions of a task, in the paper's order.

    Raises
    ------
    UsageError
        When there is no such task.
    """
    if task not in _prompts():
        raise UsageError(f"'{task}' is no editing task.", remedy=f"Use one of {', '.join(TASKS)}.")
    return _prompts()[task]


@cache
def published_scores() -> tuple[Published, ...]:
    """The supervised scores the paper sets beside its own."""
    path = resource_path("editeval", "published_scores.json")
    data: Any = msgspec.json.decode(path.read_bytes())
    return tuple(
        Published(row["dataset"], row["title"], row["task"], row["metric"], row["score"])
        for row in data["datasets"]
    )


def metrics_of(task: str) -> tuple[str, ...]:
    """Every metric a task's outputs are scored with, the main ones first."""
    return tuple(dict.fromkeys((*MAIN_METRICS[task], *MORE_METRICS)))


def strip_marks(text: str) -> str:
    """A text without its ``[i]`` citations.

    Examples
    --------
    >>> strip_marks("It was released in 1941 [0][2].")
    'It was released in 1941.'
    """
    return _MARK.sub("", text).strip()
