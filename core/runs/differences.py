"""Where two texts of the same sections differ, word by word, as stretches to mark in each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rapidfuzz.distance import LCSseq

from core.tasks.sections import normalise_title
from core.types import SectionText

_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of a section's text, in code points."""

    section: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Difference:
    """What only the first says, and what only the second says."""

    first: tuple[Stretch, ...]
    second: tuple[Stretch, ...]


def word_differences(first: Sequence[SectionText], second: Sequence[SectionText]) -> Difference:
    """Compare sections of the same title, and those without a counterpart as a whole.

    Words are equal when they are but for case and the punctuation around them, so that what is marked
    is a difference in substance.

    Examples
    --------
    >>> from core.types import SectionText
    >>> a = [SectionText(title="", text="No fever today.")]
    >>> b = [SectionText(title="", text="Fever today")]
    >>> word_differences(a, b).first
    (Stretch(section=0, start=0, end=2),)
    """
    places: dict[str, list[int]] = {}
    for place, section in enumerate(second):
        places.setdefault(normalise_title(section.title), []).append(place)
    left: list[Stretch] = []
    right: list[Stretch] = []
    for place, section in enumerate(first):
        waiting = places.get(normalise_title(section.title), [])
        if waiting:
            other = waiting.pop(0)
            one_side, other_side = _compare(section.text, second[other].text)
            left += [Stretch(place, *span) for span in one_side]
            right += [Stretch(other, *span) for span in other_side]
        elif section.text:
            left.append(Stretch(place, 0, len(section.text)))
    for waiting in places.values():
        right += [
            Stretch(place, 0, len(second[place].text)) for place in waiting if second[place].text
        ]
    return Difference(tuple(left), tuple(sorted(right, key=lambda s: (s.section, s.start))))


Span = tuple[int, int]


def _compare(first: str, second: str) -> tuple[list[Span], list[Span]]:
    words = [[match.span() for match in _WORD.finditer(text)] for text in (first, second)]
    keys = [
        [_key(text[start:end]) for start, end in spans]
        for text, spans in zip((first, second), words, strict=True)
    ]
    left: list[Span] = []
    right: list[Span] = []
    for step in LCSseq.opcodes(keys[0], keys[1]):
        if step.tag == "equal":
            continue
        if step.src_end > step.src_start:
            left.append((words[0][step.src_start][0], words[0][step.src_end - 1][1]))
        if step.dest_end > step.dest_start:
            right.append((words[1][step.dest_start][0], words[1][step.dest_end - 1][1]))
    return left, right


def _key(word: str) -> str:
    return word.casefold().strip(".,;:!?()[]\"'*#") or word
