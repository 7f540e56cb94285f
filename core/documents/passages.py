"""Cutting a text into passages: 4,000 characters with 100 shared, as in DOLOMITES (example creation)."""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Sequence

from core.documents.readers import hash_text
from core.errors import UsageError
from core.types.documents import Passage

WINDOW, OVERLAP = 4000, 100
_JOINER = "\u200d"


def cut_passages(
    document_id: str,
    text: str,
    starts: Sequence[int] = (0,),
    *,
    window: int = WINDOW,
    overlap: int = OVERLAP,
) -> list[Passage]:
    """Passages of at most ``window`` characters, each sharing some ``overlap`` with the one before.

    A cut moves back to the last white space of the window's last tenth, so that words stay whole, and
    never parts a letter from its accents or an emoji from what it is joined with. Ids are made of the
    document's and the place, so that cutting again gives the same ones.

    Raises
    ------
    UsageError
        When the overlap is not smaller than half the window.
    """
    if window < 200 or not 0 <= overlap < window // 2:
        raise UsageError(
            f"Passages of {window} characters cannot share {overlap}.",
            remedy="Take at least 200 characters, and an overlap of less than half.",
        )
    passages: list[Passage] = []
    start, length = 0, len(text)
    while start < length:
        end = _cut(text, start, min(start + window, length))
        piece = text[start:end]
        if piece.strip():
            passages.append(
                Passage(
                    id=f"{document_id}:{start}-{end}",
                    document_id=document_id,
                    number=len(passages),
                    page=bisect_right(starts, start),
                    page_end=bisect_right(starts, end - 1),
                    start=start,
                    end=end,
                    sha256=hash_text(piece),
                    text=piece,
                )
            )
        if end >= length:
            break
        start = _begin(text, end - overlap, end)
    return passages


def _cut(text: str, start: int, end: int) -> int:
    if end >= len(text):
        return len(text)
    lowest = end - max(1, (end - start) // 10)
    for place in range(end, lowest, -1):
        if text[place - 1].isspace():
            return place
    while end > start + 1 and _is_joined(text, end):
        end -= 1
    return end


def _begin(text: str, start: int, end: int) -> int:
    """The beginning of the first word from ``start`` on."""
    for place in range(start, end):
        if text[place - 1].isspace():
            return place
    while start < end and _is_joined(text, start):
        start += 1
    return start


def _is_joined(text: str, place: int) -> bool:
    """Whether the character at a place belongs to the one before it."""
    here, before = text[place], text[place - 1]
    return (
        unicodedata.combining(here) != 0
        or unicodedata.category(here) in ("Mn", "Me", "Mc", "Cf")
        or before == _JOINER
        or "\U0001f3fb" <= here <= "\U0001f3ff"
    )
