"""Positions of a text that is being edited, code points to Qt's and back, kept up as it changes.

`app.text_offsets` does the same for a text that stands still; going through megabytes of text at each
key would be felt, so only the places of characters that take two units are kept here.
"""

from __future__ import annotations

from bisect import bisect_left

_WIDE = "\U00010000"


class Positions:
    """Places of the characters that take two UTF-16 units."""

    def __init__(self, text: str) -> None:
        self._wide = _wide_places(text)

    def to_utf16(self, offset: int) -> int:
        """Qt's position of a code-point offset."""
        return offset + bisect_left(self._wide, offset)

    def to_code_points(self, position: int) -> int:
        """The code-point offset of Qt's position; inside a pair, its beginning."""
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
        """The text from ``start`` to ``end`` gave way to another."""
        first, last = bisect_left(self._wide, start), bisect_left(self._wide, end)
        shift = len(text) - (end - start)
        after = self._wide[last:]
        if shift:
            after = [place + shift for place in after]
        self._wide[first:] = [place + start for place in _wide_places(text)] + after


def _wide_places(text: str) -> list[int]:
    if text.isascii() or max(text) < _WIDE:
        return []
    return [place for place, character in enumerate(text) if character >= _WIDE]
