"""Finding text that was copied word for word, and drafts that differ from each other."""

from __future__ import annotations

import re
from collections.abc import Sequence

_WORD = re.compile(r"\w+")
#: Words in a row that count as copied, as in tests for contamination.
COPIED_WORDS = 8


def find_copied(
    text: str, sources: Sequence[str], *, words: int = COPIED_WORDS
) -> list[tuple[int, int]]:
    """(start, end) in code points of stretches of at least so many words that stand in a source.

    Case and punctuation do not count.
    """
    known: set[tuple[str, ...]] = set()
    for source in sources:
        known.update(_grams([w.casefold() for w in _WORD.findall(source)], words))
    places = [(match.start(), match.end()) for match in _WORD.finditer(text)]
    plain = [text[start:end].casefold() for start, end in places]
    spans: list[tuple[int, int]] = []
    for place, gram in enumerate(_grams(plain, words)):
        if gram not in known:
            continue
        start, end = places[place][0], places[place + words - 1][1]
        if spans and start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return spans


def choose_diverse(texts: Sequence[str], count: int) -> list[int]:
    """Indexes of ``count`` texts that differ most, by shared pairs of words, greedily.

    The first is the one least like all others; each further one is the farthest from those chosen.
    """
    grams = [set(_grams([w.casefold() for w in _WORD.findall(text)], 2)) for text in texts]
    alike = [[_jaccard(one, other) for other in grams] for one in grams]
    left = list(range(len(texts)))
    if not left:
        return []
    chosen = [min(left, key=lambda i: (sum(alike[i]), i))]
    while len(chosen) < min(count, len(texts)):
        rest = [i for i in left if i not in chosen]
        chosen.append(min(rest, key=lambda i: (max(alike[i][j] for j in chosen), i)))
    return chosen


def _grams(words: Sequence[str], size: int) -> list[tuple[str, ...]]:
    return [tuple(words[i : i + size]) for i in range(len(words) - size + 1)]


def _jaccard(one: set[tuple[str, ...]], other: set[tuple[str, ...]]) -> float:
    return len(one & other) / len(one | other) if one or other else 1.0
