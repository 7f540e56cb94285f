"""Where in a text an answer comes from: the same words, else the most like ones. Code points throughout."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

#: Similarity (0 to 1) from which a stretch of text counts as what an answer was taken from.
LEAST_LIKE = 0.8
#: Share of a reworded answer's words that the sentence it is traced to has, at least, and how many.
LEAST_SHARED, FEWEST_SHARED = 0.5, 2
_SHORTEST_FUZZY = 8
#: Characters below which being alike takes a word in common.
_SHORT = 24
_PIECES = re.compile(r"\s*(?:;|\n|(?<=[.!?])\s)\s*")

_SENTENCE = re.compile(r"\S[^\n]*?(?:[.!?]+[\"'”’)\]]*(?=\s|$)|$)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a text and how like the answer it is, 1 for the same words."""

    start: int
    end: int
    likeness: float


def find_span(text: str, answer: str) -> Span | None:
    """The stretch of ``text`` an answer was taken from; None when nothing is like it.

    Case and white space are let pass; other differences lower the likeness.

    Examples
    --------
    >>> find_span("He takes Ramipril\\n5 mg daily.", "ramipril 5 mg")
    Span(start=9, end=22, likeness=1.0)
    """
    wanted = answer.strip().strip("\"'“”‘’").rstrip(".")
    if not wanted or not text:
        return None
    exact = text.find(wanted)
    if exact >= 0:
        return Span(exact, exact + len(wanted), 1.0)
    pattern = r"\s+".join(re.escape(word) for word in wanted.split())
    found = re.search(pattern, text, re.IGNORECASE)
    if found:
        return Span(found.start(), found.end(), 1.0)
    if len(wanted) < _SHORTEST_FUZZY:
        return None
    from rapidfuzz import fuzz

    alignment = fuzz.partial_ratio_alignment(
        _lower(wanted), _lower(text), score_cutoff=LEAST_LIKE * 100
    )
    if alignment is None or alignment.score < LEAST_LIKE * 100:
        return None
    # With the roles swapped inside, a text shorter than the answer is aligned whole.
    start, end = (alignment.dest_start, alignment.dest_end)
    start, end = _to_words(text, start, end)
    if len(wanted) < _SHORT and not _words(wanted) & _words(text[start:end]):
        # 'Education' is like 'medications' letter by letter, and has nothing to do with it.
        return None
    return Span(start, end, round(alignment.score / 100, 4)) if start < end else None


def stands_in(text: str, words: str) -> bool:
    """Whether a text has words in a row, but for case, white space and a closing full stop."""
    wanted = words.strip().rstrip(".").split()
    pattern = r"\s+".join(re.escape(word) for word in wanted)
    # Whole words only: '5 mg' does not stand in '15 mg'.
    return bool(wanted) and bool(re.search(rf"(?<!\w){pattern}(?!\w)", text, re.IGNORECASE))


def find_spans(text: str, answer: str) -> list[Span]:
    """The stretches an answer was taken from: of the whole of it, else of its sentences and list parts."""
    whole = find_span(text, answer)
    if whole is not None and whole.likeness == 1.0:
        return [whole]
    pieces = [piece for piece in _PIECES.split(answer) if len(piece.strip(" .-•")) >= 3]
    if len(pieces) < 2:
        return [whole] if whole is not None else []
    parts = [find_span(text, piece.strip(" -•")) for piece in pieces]
    found = [span for span in dict.fromkeys(parts) if span is not None]
    # Parts that stand in the text say more than a stretch that is like the whole.
    if whole is not None and (None in parts or any(span.likeness < 1.0 for span in found)):
        return [whole]
    return found


def best_sentence(text: str, query: str, *, least: float = 0.34) -> Span | None:
    """The sentence that shares most words with a query; None when it has less than ``least`` of them."""
    from core.nli.support import find_sentences

    return _best_of(text, find_sentences(text), query, least)


def nearest_spans(text: str, answer: str) -> list[Span]:
    """The sentences that a reworded answer is likest, part by part; none where words hardly agree.

    Sentences are told roughly, since a person's own words are traced while they wait: 'Mr.' ends one.
    """
    sentences = [match.span() for match in _SENTENCE.finditer(text)]
    found = [
        _best_of(text, sentences, piece, LEAST_SHARED)
        for piece in _PIECES.split(answer)
        if len(_words(piece)) >= FEWEST_SHARED
    ]
    return [span for span in dict.fromkeys(found) if span is not None]


def place_answer(text: str, answer: str) -> dict[str, Any]:
    """The fields of an entry that say where an answer stands in its text.

    ``check`` has the stretches as 'spans', and 'near' where the answer is only worded like them.
    """
    spans = find_spans(text, answer)
    check: dict[str, Any] = {}
    if not spans:
        spans = nearest_spans(text, answer)
        if spans:
            check["near"] = True
    check["spans"] = [[span.start, span.end] for span in spans]
    return {
        "start": spans[0].start if spans else -1,
        "end": spans[0].end if spans else -1,
        "check": check,
    }


def _best_of(
    text: str, sentences: Sequence[tuple[int, int]], query: str, least: float
) -> Span | None:
    wanted = _words(query)
    best: Span | None = None
    fewest = min(FEWEST_SHARED, len(wanted))
    for start, end in sentences if wanted else ():
        shared = len(wanted & _words(text[start:end]))
        share = shared / len(wanted)
        if shared >= fewest and share >= least and (best is None or share > best.likeness):
            best = Span(start, end, round(share, 4))
    return best


def _lower(text: str) -> str:
    """Lower case of the same length, so that places stay places."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def _to_words(text: str, start: int, end: int) -> tuple[int, int]:
    """Whole words: a bound inside a word moves to its nearer edge."""
    start, end = max(0, start), min(len(text), end)
    while 0 < start < end and text[start - 1].isalnum() and text[start].isalnum():
        start -= 1
    while start < end < len(text) and text[end - 1].isalnum() and text[end].isalnum():
        end += 1
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


_STOP = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be by for from has have in is it its of on or that the this to was were"
        " what when where which who whom whose why will with each any if not no how many such other",
    )
)


def _words(text: str) -> set[str]:
    return {
        word
        for word in re.findall(r"\w+", text.casefold())
        if (len(word) > 2 and word not in _STOP) or word.isdigit()
    }
