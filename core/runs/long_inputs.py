"""Inputs longer than a model's context, and inputs given as passages instead of in full.

Three ways, named in the run's signature: *refuse* (the output fails and says why), *truncate* (the
longest section loses its end until the prompt fits, as the long-document benchmarks do), *parts* (the
longest section is divided at paragraphs and an answer is written from each part in turn, the answers
joined). What was done is kept with each output.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from core.errors import ContextOverflowError
from core.ports import Message, TextGenerator
from core.types import Example, SectionText

Measure = Callable[[Example], Sequence[Message]]

#: Characters of a passage and of its overlap with the next (DOLOMITES, evidence).
_PASSAGE, _OVERLAP = 4_000, 100
_SMALLEST = 200
#: More parts than this are refused: joined, they would be no answer any more.
_MOST_PARTS = 24

_CUT = "\n[The rest of this text does not fit and was left out.]"


@dataclass(frozen=True, slots=True)
class Fitted:
    """An example as the model reads it, or its ``parts``; ``meta`` says what was done to it."""

    example: Example
    parts: tuple[Example, ...] = ()
    meta: dict[str, Any] = field(default_factory=dict)


def fit_input(
    generator: TextGenerator,
    policy: str,
    measure: Measure,
    example: Example,
    *,
    room: int,
    passages: int = 0,
) -> Fitted:
    """Make an example's input fit into a model's context, by the policy.

    Parameters
    ----------
    measure
        The messages an example leads to.
    room
        Tokens to keep free for the answer.
    passages
        Give the model only so many passages of the input, those nearest to the task; 0 for all of it.
    """
    meta: dict[str, Any] = {}
    if passages:
        example, meta = _retrieve(example, measure, passages)
    context = generator.info.context_tokens
    if context is None:
        return Fitted(example, meta=meta)
    limit = context - room

    def tokens(candidate: Example) -> int:
        return generator.count_tokens(measure(candidate))

    used = tokens(example)
    if used <= limit or policy == "refuse":
        # What does not fit is refused where it is generated, with both counts.
        return Fitted(example, meta=meta)
    place = _longest(example)
    if policy == "truncate":
        text = _largest_that_fits(example, place, tokens, limit)
        kept = len(text)
        total = len(example.input[place].text)
        return Fitted(
            _with_text(example, place, text + _CUT),
            meta={**meta, "context_policy": "truncate", "kept_characters": kept, "of": total},
        )
    parts = _divide(example, place, tokens, limit, used)
    return Fitted(
        example,
        tuple(parts),
        {**meta, "context_policy": "parts", "parts": len(parts)},
    )


def _longest(example: Example) -> int:
    return max(range(len(example.input)), key=lambda place: len(example.input[place].text))


def _with_text(example: Example, place: int, text: str) -> Example:
    sections = list(example.input)
    sections[place] = SectionText(title=sections[place].title, text=text)
    return replace(example, input=tuple(sections))


def _largest_that_fits(
    example: Example, place: int, tokens: Callable[[Example], int], limit: int
) -> str:
    """The longest beginning of the section with which the prompt fits, cut at a word."""
    text = example.input[place].text
    low, high = 0, len(text)
    while high - low > _SMALLEST:
        middle = (low + high) // 2
        if tokens(_with_text(example, place, text[:middle] + _CUT)) <= limit:
            low = middle
        else:
            high = middle
    kept = text[:low]
    if tokens(_with_text(example, place, kept + _CUT)) > limit:
        raise _too_long(tokens(example), limit)
    return kept[: kept.rfind(" ")] if " " in kept[-40:] else kept


def _divide(
    example: Example, place: int, tokens: Callable[[Example], int], limit: int, used: int
) -> list[Example]:
    """Parts of the section at paragraphs, each fitting with the rest of the prompt."""
    rest = example.input[place].text
    parts: list[Example] = []
    while rest:
        if len(parts) >= _MOST_PARTS:
            raise _too_long(used, limit)
        whole = _with_text(example, place, rest)
        if tokens(whole) <= limit:
            parts.append(whole)
            break
        piece = _largest_that_fits(whole, place, tokens, limit)
        cut = max(piece.rfind("\n\n"), piece.rfind("\n"))
        if cut > len(piece) // 2:
            piece = piece[:cut]
        if len(piece) < _SMALLEST:
            raise _too_long(used, limit)
        parts.append(_with_text(example, place, piece))
        rest = rest[len(piece) :].lstrip()
    return parts


def _too_long(used: int, limit: int) -> ContextOverflowError:
    return ContextOverflowError(
        f"The input has {used:,} tokens and {limit:,} fit, also after shortening it.",
        prompt_tokens=used,
        context_tokens=limit,
        remedy="Use a model with a longer context, or shorten the input.",
    )


def split_passages(text: str) -> list[tuple[int, str]]:
    """Passages of at most 4,000 characters with 100 of overlap, and where each begins.

    Examples
    --------
    >>> [start for start, _ in split_passages("a" * 8000)]
    [0, 3900, 7800]
    """
    step = _PASSAGE - _OVERLAP
    return [(start, text[start : start + _PASSAGE]) for start in range(0, max(1, len(text)), step)]


_WORD = re.compile(r"\w+")


def _retrieve(example: Example, measure: Measure, count: int) -> tuple[Example, dict[str, Any]]:
    """The passages whose words say most about the task, in their order; by BM25 over the input itself."""
    empty = replace(example, input=tuple(replace(s, text="") for s in example.input))
    query = _WORD.findall(" ".join(m.content for m in measure(empty)).casefold())
    found: list[tuple[int, int, str]] = []
    for place, section in enumerate(example.input):
        found += [(place, start, text) for start, text in split_passages(section.text)]
    if len(found) <= count:
        return example, {"passages": len(found), "of_passages": len(found)}
    scores = rank_passages(query, [text for _place, _start, text in found])
    chosen = sorted(sorted(range(len(found)), key=lambda n: (-scores[n], n))[:count])
    texts: dict[int, list[str]] = {}
    for number in chosen:
        texts.setdefault(found[number][0], []).append(found[number][2])
    sections = tuple(
        replace(section, text="\n[…]\n".join(texts.get(place, ())))
        for place, section in enumerate(example.input)
    )
    return (
        replace(example, input=tuple(s for s in sections if s.text)),
        {
            "passages": [[found[n][0], found[n][1]] for n in chosen],
            "of_passages": len(found),
        },
    )


def rank_passages(query: Sequence[str], passages: Sequence[str]) -> list[float]:
    """BM25 (k1 1.2, b 0.75) of each passage for the query's words."""
    import math
    from collections import Counter

    counted = [Counter(_WORD.findall(text.casefold())) for text in passages]
    lengths = [sum(words.values()) for words in counted]
    mean = sum(lengths) / len(lengths) if lengths else 1.0
    within = Counter(word for words in counted for word in words)
    terms = set(query)
    scores = []
    for words, length in zip(counted, lengths, strict=True):
        score = 0.0
        for term in terms & words.keys():
            weight = math.log(1 + (len(passages) - within[term] + 0.5) / (within[term] + 0.5))
            times = words[term]
            score += weight * times * 2.2 / (times + 1.2 * (0.25 + 0.75 * length / (mean or 1.0)))
        scores.append(score)
    return scores
