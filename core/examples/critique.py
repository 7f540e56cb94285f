"""A model's critique of a text: points of one sentence, each to be settled by the expert."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.ports import Cancellation, GenerationRequest, TextGenerator
from core.runs.prompts import render_prompt
from core.types import SectionText, Task
from core.types.documents import Evidence

POINTS = 6
_TOKENS = 320
_MARK = re.compile(r"^\s*(?:[-*•]|\(?\d{1,2}[.):])?\s*")
_LEAST_WORDS = 4


def critique_text(
    generator: TextGenerator,
    task: Task,
    field: str,
    sections: Sequence[SectionText],
    evidence: Sequence[Evidence],
    *,
    count: int = POINTS,
    seed: int = 0,
    cancel: Cancellation | None = None,
) -> list[str]:
    """Up to ``count`` points; passages that do not fit beside the text are left out."""
    context = generator.info.context_tokens
    messages = None
    for used in range(len(evidence), -1, -1):
        messages = render_prompt(
            "critique_draft",
            {
                "task": task,
                "field": field,
                "sections": sections,
                "evidence": evidence[:used],
                "count": count,
            },
        )
        if context is None or generator.count_tokens(messages) + _TOKENS <= context:
            break
    assert messages is not None
    answer = generator.generate(
        GenerationRequest(messages=messages, max_tokens=_TOKENS, temperature=0.3, seed=seed),
        cancel=cancel,
    )
    if cancel is not None:
        cancel.raise_if_cancelled()
    return read_points(answer.text)[:count]


def read_points(text: str) -> list[str]:
    """The points in a model's answer, one a line, without bullets and numbers."""
    found = []
    for line in text.splitlines():
        point = _MARK.sub("", line).strip().strip("*_ ")
        if len(point.split()) >= _LEAST_WORDS:
            found.append(point)
    return list(dict.fromkeys(found))
