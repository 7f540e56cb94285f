"""Text positions: Unicode code points outside Qt, UTF-16 units inside it, converted here and nowhere else.

Lone surrogates count one in both. A position inside a surrogate pair is moved to its beginning.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right

_ASTRAL = 0x10000


def utf16_length(text: str) -> int:
    """How many UTF-16 units a text takes.

    Examples
    --------
    >>> utf16_length("a😀")
    3
    """
    return len(text) + sum(ord(character) >= _ASTRAL for character in text)


def to_utf16(text: str, offset: int) -> int:
    """Qt's position of a code-point offset.

    Examples
    --------
    >>> to_utf16("a😀b", 2)
    3
    """
    return offset + sum(ord(character) >= _ASTRAL for character in text[:offset])


def to_code_points(text: str, offset: int) -> int:
    """The code-point offset of Qt's position.

    Examples
    --------
    >>> to_code_points("a😀b", 3)
    2
    """
    return OffsetMap(text).to_code_points(offset)


class OffsetMap:
    """Both directions for one text, for many positions: built once in O(n), asked in O(log n)."""

    def __init__(self, text: str) -> None:
        self._length = len(text)
        #: Code-point offsets of the characters that take two units.
        self._wide = [index for index, character in enumerate(text) if ord(character) >= _ASTRAL]
        self._wide_utf16 = [offset + number for number, offset in enumerate(self._wide)]

    def to_utf16(self, offset: int) -> int:
        offset = max(0, min(offset, self._length))
        return offset + bisect_left(self._wide, offset)

    def to_code_points(self, offset: int) -> int:
        offset = max(0, min(offset, self._length + len(self._wide)))
        before = bisect_right(self._wide_utf16, offset - 1)
        if before and self._wide_utf16[before - 1] == offset - 1:
            return self._wide[before - 1]
        return offset - before
