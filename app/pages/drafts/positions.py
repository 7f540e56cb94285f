"""Positions of a text that is being edited, code points to Qt's and back, kept up as it changes.

`app.text_offsets` does the same for a text that stands still; going through megabytes of text at each
key would be felt, so only the places of characters that take two units are kept here, and those at
which a very long paragraph is parted for the screen: there the document has a character more.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort

from core.editing.words import is_joined

_WIDE = "\U00010000"
#: Paragraphs longer than this are parted: the layout of one is done anew whole at each key.
LONGEST = 8_000
_PART = 4_000
#: So far before the end of a part a better place is looked for.
_LOOK = 400


class Positions:
    """Places of the characters that take two UTF-16 units, and of the parted paragraphs' breaks."""

    def __init__(self, text: str) -> None:
        self._wide = _wide_places(text)
        self._breaks: list[int] = []

    @property
    def breaks(self) -> list[int]:
        """Where the document has a break that the text has not, in code points."""
        return self._breaks

    def to_utf16(self, offset: int) -> int:
        """Qt's position of a code-point offset; at a break, that after it."""
        return offset + bisect_left(self._wide, offset) + bisect_right(self._breaks, offset)

    def to_code_points(self, position: int) -> int:
        """The code-point offset of Qt's position; inside a pair, its beginning."""
        position -= self._breaks_before(position)
        low, high = 0, len(self._wide)
        while low < high:
            middle = (low + high) // 2
            if self._wide[middle] + middle < position:
                low = middle + 1
            else:
                high = middle
        if low and self._wide[low - 1] + low == position:
            return self._wide[low - 1]
        return position - low

    def replace(self, start: int, end: int, text: str) -> None:
        """The text from ``start`` to ``end`` gave way to another; breaks inside it went with it."""
        first, last = bisect_left(self._wide, start), bisect_left(self._wide, end)
        shift = len(text) - (end - start)
        after = self._wide[last:]
        if shift:
            after = [place + shift for place in after]
        self._wide[first:] = [place + start for place in _wide_places(text)] + after
        first, last = bisect_right(self._breaks, start), bisect_right(self._breaks, end)
        self._breaks[first:] = [place + shift for place in self._breaks[last:]]

    def add_break(self, place: int) -> None:
        """The document has a break before a place."""
        insort(self._breaks, place)

    def remove_break(self, place: int) -> None:
        """The document has no break there any more."""
        self._breaks.remove(place)

    def is_break(self, place: int) -> bool:
        """Whether the document has a break before a place that the text has not."""
        found = bisect_left(self._breaks, place)
        return found < len(self._breaks) and self._breaks[found] == place

    def _breaks_before(self, position: int) -> int:
        low, high = 0, len(self._breaks)
        while low < high:
            middle = (low + high) // 2
            place = self._breaks[middle]
            if place + bisect_left(self._wide, place) + middle < position:
                low = middle + 1
            else:
                high = middle
        return low


def part_places(paragraph: str) -> list[int]:
    """Where to part a long paragraph: after a sentence where one ends, after a word, or anywhere
    between two letters."""
    places: list[int] = []
    start = 0
    while len(paragraph) - start > _PART * 3 // 2:
        end = start + _PART
        place = max(paragraph.rfind(sign, end - _LOOK, end) for sign in (". ", "? ", "! ", "۔ "))
        place = place + 2 if place >= 0 else paragraph.rfind(" ", end - _LOOK, end) + 1
        if place <= start:
            place = end
            while place > start + 1 and is_joined(paragraph, place):
                place -= 1
        places.append(place)
        start = place
    return places


def _wide_places(text: str) -> list[int]:
    if text.isascii() or max(text) < _WIDE:
        return []
    return [place for place, character in enumerate(text) if character >= _WIDE]
