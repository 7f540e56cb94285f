"""Each sentence of a text against its evidence: the best passage, whether it follows, exact checks.

Only the windows of the evidence that share most words with a sentence are put to the entailment model,
and of these the sentences that share most, so that an edited sentence is judged while the person goes on
typing. A sentence that stands word for word in the evidence needs no model. Without a model the words
alone decide, and the answer says so. Questions claim nothing and are left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from core.metrics.windows import split_pair
from core.nli.exact import Difference, check_exactly
from core.nli.support import THRESHOLD, Verdict, find_sentences
from core.ports import Cancellation, EntailmentModel
from core.types.documents import Evidence

Basis = Literal["entailment", "words"]

_WINDOWS = 3
#: Sentences of those windows that are put to the model by themselves: in a long premise it overlooks much.
_SENTENCES = 2
#: Share of a sentence's content words from which another sentence speaks of the same.
_SAME_MATTER = 0.6
#: And from which it can be compared at all: numbers of another matter are no difference.
_LIKE_MATTER = 0.35
#: Share of a sentence's content words in a window from which, without a model, it counts as found.
WORD_THRESHOLD = 0.7
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
class Grounded:
    """A sentence at code points ``start`` to ``end`` as its evidence has it.

    ``passage`` is the index of the evidence with the best window, -1 when there is no evidence;
    ``window_start`` and ``window_end`` are the place in the passage of the sentence of that window
    that shares most words, or its beginning twice where none shares any. ``support`` is
    P(entailment), or the share of words where ``basis`` is 'words'.
    """

    start: int
    end: int
    text: str
    verdict: Verdict
    support: float
    basis: Basis
    passage: int
    window_start: int
    window_end: int
    differences: tuple[Difference, ...]


@dataclass(frozen=True, slots=True)
class _Window:
    passage: int
    start: int
    end: int
    text: str
    words: frozenset[str]


def ground_text(
    text: str,
    evidence: Sequence[Evidence],
    model: EntailmentModel | None = None,
    *,
    tells_contradiction: bool = False,
    cancel: Cancellation | None = None,
) -> list[Grounded]:
    """Judge every sentence of ``text``; headings and lines without letters are left out.

    Parameters
    ----------
    model
        None goes by words. Wrap it in `CachedEntailment`, so that a sentence is put to it once.
    tells_contradiction
        Whether the model's precision for contradiction was measured for this kind of text.
    """
    windows = _windows(tuple(item.text for item in evidence))
    sentences = [
        (start, end, text[start:end])
        for start, end in find_sentences(text)
        if _is_claim(text[start:end])
    ]
    near = [_nearest(sentence, windows) for _, _, sentence in sentences]
    said = [_said(sentence, windows) for _, _, sentence in sentences]
    close = [
        _closest(sentence, found) for (_, _, sentence), found in zip(sentences, near, strict=True)
    ]
    pairs = [
        (premise, sentence)
        for (_, _, sentence), found, stands, like in zip(sentences, near, said, close, strict=True)
        if stands is None
        for premise in (
            *(window.text for window, _share in found),
            *(words for _w, words, _s in like),
        )
    ]
    answers = iter(model.entail(pairs, cancel=cancel) if model is not None and pairs else ())
    made = []
    for (start, end, sentence), found, stands, like in zip(
        sentences, near, said, close, strict=True
    ):
        if not found:
            made.append(Grounded(start, end, sentence, "not found", 0.0, "words", -1, 0, 0, ()))
            continue
        verdict: Verdict = "not found"
        basis: Basis = "words"
        if stands is not None:
            verdict, best, support = "supported", stands, 1.0
        elif model is None:
            best, support = max(found, key=lambda pair: pair[1])
            verdict = "supported" if support >= WORD_THRESHOLD else "not found"
        else:
            basis = "entailment"
            told = [(window, next(answers)) for window, _share in found]
            told += [(window, next(answers)) for window, _words, _share in like]
            best, answer = max(told, key=lambda pair: pair[1].entailment)
            support = answer.entailment
            against = max(told, key=lambda pair: pair[1].contradiction)
            if support >= THRESHOLD:
                verdict = "supported"
            elif (
                tells_contradiction
                and model.has_contradiction
                and against[1].contradiction >= THRESHOLD
            ):
                verdict, best = "contradicted", against[0]
            elif support < 0.1:
                # What the sentence speaks of is where its words are.
                best = found[0][0]
        differences: tuple[Difference, ...] = ()
        share = like[0][2] if like else 0.0
        if stands is None and share >= _SAME_MATTER:
            # Some passage says nearly the same: what it has otherwise is what wants a look.
            differences = _differences(sentence, like[0][1])
            best = like[0][0] if differences else best
        elif stands is None and share >= _LIKE_MATTER:
            differences = _differences(sentence, best.text)
        first, last = _place(sentence, best, evidence[best.passage].text)
        made.append(
            Grounded(
                start,
                end,
                sentence,
                verdict,
                support,
                basis,
                best.passage,
                first,
                last,
                differences,
            )
        )
    return made


def _is_claim(sentence: str) -> bool:
    return (
        _WORD.search(sentence) is not None
        and not sentence.startswith("#")
        and not sentence.rstrip().endswith(("?", "؟", "？"))
    )


def _said(sentence: str, windows: Sequence[_Window]) -> _Window | None:
    """The window in which a sentence stands word for word, whatever its signs and blanks."""
    plain = _plain(sentence)
    if plain.count(" ") < _LEAST_SAID:
        return None
    return next((window for window in windows if plain in _plain(window.text)), None)


def _closest(
    sentence: str, found: Sequence[tuple[_Window, float]]
) -> list[tuple[_Window, str, float]]:
    """(window, sentence, share of words) of the sentences that share most words with another."""
    words = _content(sentence)
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


def _nearest(sentence: str, windows: Sequence[_Window]) -> list[tuple[_Window, float]]:
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


def _place(sentence: str, window: _Window, passage: str) -> tuple[int, int]:
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
def _windows(passages: tuple[str, ...]) -> tuple[_Window, ...]:
    """The passages cut into windows that an entailment model can read, with their places."""
    made = []
    for number, passage in enumerate(passages):
        pieces = [window for window, _ in split_pair(passage, _LONG)[0]]
        place = 0
        for piece in pieces:
            start, end = _find(passage, piece, place)
            place = start
            made.append(_Window(number, start, end, piece, _content(piece)))
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


@lru_cache(maxsize=8192)
def _differences(sentence: str, window: str) -> tuple[Difference, ...]:
    """The exact checks, kept: a sentence that stays as it is costs nothing while others are edited."""
    return tuple(check_exactly(sentence, window))


@lru_cache(maxsize=4096)
def _content(text: str) -> frozenset[str]:
    return frozenset(
        word[:7] for match in _WORD.findall(text) if (word := match.casefold()) not in _STOP
    )
