"""What of the evidence is put beside a sentence: windows and sentences that share most words with it.

All of it is kept by sentence, since of a text being edited nearly all stays as it was.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from core.metrics.windows import split_pair
from core.nli.support import find_sentences

_WINDOWS = 3
#: Sentences of those windows that are put to the model by themselves: in a long premise it overlooks much.
_SENTENCES = 2
_WORD = re.compile(r"[^\W_]+")
_SAID = re.compile(r"\d+(?:[.,/:-]\d+)*%?|[^\W\d_]+|%")
#: Blanks around the words of a sentence that can be told to stand somewhere: of three words or more.
_LEAST_SAID = 4
_STOP_TEXT = (
    "a an and are as at be been but by for from had has have he her his in is it its of "
    "on or she so than that the their then there these they this those to was we were "
    "which who will with"
)
_STOP = frozenset(re.findall(r"\w+", _STOP_TEXT))
#: A text longer than any window, which makes `split_pair` cut the evidence.
_LONG = "x " * 2000


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of a passage that a model reads at once, and its words."""

    passage: int
    start: int
    end: int
    text: str
    words: frozenset[str]


@dataclass(frozen=True, slots=True)
class Premises:
    """What is put beside a sentence.

    ``near`` are windows with the share of the sentence's words in each, best first; ``close`` single
    sentences of them likewise. ``said`` is the window in which the sentence stands word for word.
    """

    near: tuple[tuple[Window, float], ...]
    close: tuple[tuple[Window, str, float], ...]
    said: Window | None

    @property
    def texts(self) -> tuple[str, ...]:
        """What a model reads as premises; nothing where the sentence needs no model."""
        if self.said is not None:
            return ()
        return (*(w.text for w, _share in self.near), *(text for _w, text, _share in self.close))


@lru_cache(maxsize=8192)
def find_premises(sentence: str, passages: tuple[str, ...]) -> Premises:
    """The windows and sentences of the passages that share most words with a sentence."""
    windows = _windows(passages)
    near = tuple(_nearest(sentence, windows))
    return Premises(near, tuple(_closest(sentence, near)), _said(sentence, windows))


def is_claim(sentence: str) -> bool:
    """Whether a sentence says something: headings, signs and questions do not."""
    return (
        _WORD.search(sentence) is not None
        and not sentence.startswith("#")
        and not sentence.rstrip().endswith(("?", "؟", "？"))
    )


def _said(sentence: str, windows: Sequence[Window]) -> Window | None:
    """The window in which a sentence stands word for word, whatever its signs and blanks."""
    plain = _plain(sentence)
    if plain.count(" ") < _LEAST_SAID:
        return None
    return next((window for window in windows if plain in _plain(window.text)), None)


def _closest(
    sentence: str, found: Sequence[tuple[Window, float]]
) -> list[tuple[Window, str, float]]:
    """(window, sentence, share of words) of the sentences that share most words with another."""
    # Numbers are what may differ in sentences that speak of the same.
    words = {word for word in _content(sentence) if not word[0].isdigit()}
    if not words:
        return []
    scored = [
        (len(words & _content(piece)) / len(words), -place, window, piece)
        for place, (window, _share) in enumerate(found)
        for piece in _pieces(window.text)
    ]
    scored.sort(key=lambda entry: entry[:2], reverse=True)
    return [(window, piece, share) for share, _place, window, piece in scored[:_SENTENCES] if share]


@lru_cache(maxsize=512)
def _pieces(text: str) -> tuple[str, ...]:
    flat = " ".join(text.split())
    return tuple(flat[start:end] for start, end in find_sentences(flat))


@lru_cache(maxsize=2048)
def _plain(text: str) -> str:
    """Words alone, with a blank on either side of each; numbers keep their signs."""
    return f" {' '.join(_SAID.findall(text.casefold()))} "


def _nearest(sentence: str, windows: Sequence[Window]) -> list[tuple[Window, float]]:
    """The windows that share most words with a sentence, and what share of its words that is."""
    words = _content(sentence)
    if not windows:
        return []
    scored = [
        (len(words & window.words) / len(words) if words else 0.0, -place)
        for place, window in enumerate(windows)
    ]
    best = sorted(scored, reverse=True)[:_WINDOWS]
    return [(windows[-place], share) for share, place in best]


def find_place(sentence: str, window: Window, passage: str) -> tuple[int, int]:
    """The sentence of a window that shares most words with another, in places of the passage."""
    words = _content(sentence)
    best, place = 0, (window.start, window.start)
    for start, end in _sentences(passage[window.start : window.end]):
        here = passage[window.start + start : window.start + end]
        shared = len(words & _content(here))
        if shared > best:
            best, place = shared, (window.start + start, window.start + end)
    return place


@lru_cache(maxsize=512)
def _sentences(text: str) -> tuple[tuple[int, int], ...]:
    return tuple(find_sentences(" ".join(text.split("\n"))))


@lru_cache(maxsize=16)
def _windows(passages: tuple[str, ...]) -> tuple[Window, ...]:
    """The passages cut into windows that an entailment model can read, with their places."""
    made = []
    for number, passage in enumerate(passages):
        pieces = [window for window, _ in split_pair(passage, _LONG)[0]]
        place = 0
        for piece in pieces:
            start, end = _find(passage, piece, place)
            place = start
            made.append(Window(number, start, end, piece, _content(piece)))
    return tuple(made)


def _find(passage: str, piece: str, after: int) -> tuple[int, int]:
    """Where a window stands in its passage, whatever the white space between its sentences."""
    words = piece.split()
    if not words:
        return after, after
    # A window may begin a sentence before the last one's end.
    start = passage.find(words[0], after)
    pattern = r"\s+".join(map(re.escape, words[:12]))
    match = re.compile(pattern).search(passage, after)
    if match is not None:
        start = match.start()
    if start < 0:
        return after, min(len(passage), after + len(piece))
    return start, min(len(passage), start + len(piece) + 8)


@lru_cache(maxsize=4096)
def _content(text: str) -> frozenset[str]:
    return frozenset(
        word[:7] for match in _WORD.findall(text) if (word := match.casefold()) not in _STOP
    )
