"""Search queries for an example: proposed by a model, completed from the task itself."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.ports import Cancellation, GenerationRequest, TextGenerator
from core.runs.prompts import render_prompt
from core.types import SectionText, Task

#: How many queries a task gets (DOLOMITES, example creation).
QUERIES = 10
_TOKENS = 300
_LONGEST = 160
_MARK = re.compile(r"""^\s*(?:[-*•]|\(?\d{1,2}[.):])?\s*["'“”]?(.*?)["'“”]?[.;]?\s*$""")


def propose_queries(
    generator: TextGenerator,
    task: Task,
    field: str,
    *,
    input: Sequence[SectionText] = (),
    count: int = QUERIES,
    seed: int = 0,
    cancel: Cancellation | None = None,
) -> tuple[str, ...]:
    """Queries by a model; where it gives too few, the task's own words complete them."""
    sections = [section.title for section in (*task.input_sections, *task.output_sections)]
    messages = render_prompt(
        "draft_queries",
        {"task": task, "field": field, "sections": sections, "input": input, "count": count},
    )
    answer = generator.generate(
        GenerationRequest(messages=messages, max_tokens=_TOKENS, temperature=0.7, seed=seed),
        cancel=cancel,
    )
    if cancel is not None:
        cancel.raise_if_cancelled()
    return complete_queries(read_queries(answer.text), task, count)


def read_queries(text: str) -> list[str]:
    """The queries in a model's answer, one a line, without numbers, bullets and quotes."""
    found = []
    for line in text.splitlines():
        match = _MARK.match(line)
        query = " ".join((match.group(1) if match else line).split()).strip("*_` ")
        # A line that ends with a colon announces the queries and is none.
        said = query.endswith(":") or not any(c.isalpha() for c in query)
        if 2 < len(query) <= _LONGEST and not said:
            found.append(query)
    return list(dict.fromkeys(found))


def complete_queries(queries: Sequence[str], task: Task, count: int = QUERIES) -> tuple[str, ...]:
    """At most ``count`` queries; the objective, its sections and steps fill up what is missing."""
    own = [task.objective]
    own += [
        f"{section.title}: {section.description}" if section.description else section.title
        for section in (*task.input_sections, *task.output_sections)
    ]
    own += [line.strip("-*•0123456789.) ") for line in re.split(r"\n+|(?<=[.;])\s", task.procedure)]
    wanted = [*queries, *(query for query in own if len(query) > 2)]
    unique: dict[str, str] = {}
    for query in wanted:
        unique.setdefault(query.casefold(), query[:_LONGEST])
    return tuple(unique.values())[:count]
