"""Words as tracked changes see them: with their accents, emoji whole, and what changed between two texts."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from rapidfuzz.distance import Levenshtein

#: A word with its accents and joined signs, a run of blanks, a line end, or any other character.
_TOKEN = re.compile(r"\w[\w\u0300-\u036f\u200c\u200d'’]*|[^\S\n]+|\n|.", re.DOTALL)
_JOINERS = "\u200d\u200c\ufe0f\ufe0e'’"


def split_words(text: str) -> list[str]:
    """Words, blanks and signs; joined together they are the text."""
    tokens: list[str] = []
    for token in _TOKEN.findall(text):
        # An emoji is what its joiners and skin colours make of it.
        if tokens and _continues(tokens[-1], token):
            tokens[-1] += token
        else:
            tokens.append(token)
    return tokens


def _continues(before: str, token: str) -> bool:
    return not before.isspace() and (
        unicodedata.category(token[0])[0] == "M"
        or token[0] in "\u200d\ufe0f\ufe0e"
        or before[-1] == "\u200d"
        or "\U0001f3fb" <= token[0] <= "\U0001f3ff"
    )


def is_word(character: str) -> bool:
    """Whether a character is part of a word, an emoji included."""
    return bool(character) and (
        character.isalnum()
        or character == "_"
        or character in _JOINERS
        or unicodedata.category(character)[0] == "M"
        or unicodedata.category(character) in ("So", "Sk", "Cs")
    )


def is_joined(text: str, place: int) -> bool:
    """Whether the character at a place belongs to the one before it."""
    here, before = text[place], text[place - 1]
    return (
        unicodedata.category(here)[0] == "M"
        or here in "\u200d\ufe0f\ufe0e"
        or before == "\u200d"
        or "\U0001f3fb" <= here <= "\U0001f3ff"
    )


def word_start(text: str, place: int) -> int:
    """Where the word that ends at a place begins."""
    while place > 0 and is_word(text[place - 1]):
        place -= 1
    return place


def word_end(text: str, place: int) -> int:
    """Where the word that begins at a place ends."""
    while place < len(text) and is_word(text[place]):
        place += 1
    return place


def changed_runs(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int, int, int]]:
    """(start, end) in the old words and (start, end) in the new ones of each change.

    Changes with only blanks between them are one: a phrase that gave way to another.
    """
    runs: list[tuple[int, int, int, int]] = []
    for step in Levenshtein.opcodes(old, new):
        if step.tag == "equal":
            continue
        start, end, begin, stop = step.src_start, step.src_end, step.dest_start, step.dest_end
        if runs:
            last = runs[-1]
            between = old[last[1] : start]
            if not "".join(between).strip(" \t\u00a0") and (
                not between
                or (last[1] > last[0] and stop > begin)
                or (end > start and last[3] > last[2])
            ):
                runs[-1] = (last[0], end, last[2], stop)
                continue
        runs.append((start, end, begin, stop))
    return runs


def common_length(one: str, other: str, most: int) -> int:
    """How many characters both begin with, by halving: comparing slices is fast in C."""
    if one[:most] == other[:most]:
        return most
    low, high = 0, most
    while low + 1 < high:
        middle = (low + high) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle
    return low


def common_end(one: str, other: str, most: int) -> int:
    """How many characters both end with, found as `common_length` does."""
    first, second = len(one), len(other)
    if one[first - most :] == other[second - most :]:
        return most
    low, high = 0, most
    while low + 1 < high:
        middle = (low + high) // 2
        if one[first - middle : first - low] == other[second - middle : second - low]:
            low = middle
        else:
            high = middle
    return low
