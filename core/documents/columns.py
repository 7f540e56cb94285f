"""The order of a PDF page's characters where its lines were drawn across two columns.

PDFium gives text in the order the file draws it. Most files draw one column after the other; some draw
line by line over both. Those have a strip, near the middle, that hardly any line enters and after which
lines begin below each other. The wide gaps of justified text stand now here, now there.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any

Rectangle = tuple[float, float, float, float]

_LEAST_LINES = 6
#: Of all rows of the page so many at least have the gap.
_ROWS_APART = 0.3
#: Of the rows that reach from one side to the other so many at most enter the strip.
_ROWS_ACROSS = 0.25
#: Widths in line heights: of a gap that may be a gutter's, of the strip that is left free.
_GAP, _STRIP = 1.0, 0.6
#: Points by which beginnings may differ that stand below each other.
_ALIGNED = 4.0
#: Line heights between words of one line, justified ones included.
_SAME_LINE = 3.0


@dataclass(frozen=True, slots=True)
class Gutter:
    """The free strip between two columns, in the page's points."""

    left: float
    right: float

    @property
    def middle(self) -> float:
        return (self.left + self.right) / 2


def column_order(page: Any, words: Any, raw: str) -> list[int] | None:
    """Places in ``raw`` in the order they are read, or None where that is the order they have.

    Lines over the whole width, such as a heading, stay whole: what stands above them in both columns is
    read before them.
    """
    lines = [(found.start(), found.end()) for found in re.finditer(r"[^\r\n]+", raw)]
    if len(lines) < _LEAST_LINES:
        return None
    boxes = [words.get_rect(number) for number in range(words.count_rects())]
    gutter = find_gutter(boxes, page.get_width())
    if gutter is None:
        return None
    order: list[int] = []
    columns: tuple[list[int], list[int]] = ([], [])
    crossing = False
    for start, end in lines:
        sides = [_side(words, place, raw, gutter) for place in range(start, end)]
        known = {side for side in sides if side is not None}
        parts = columns
        if known == {0, 1}:
            if not _is_apart(words, range(start, end), raw, gutter):
                order += columns[0] + columns[1]
                columns[0].clear()
                columns[1].clear()
                parts = (order, order)
            else:
                crossing = True
        side = next((s for s in sides if s is not None), 0)
        touched = set()
        for place, here in zip(range(start, end), sides, strict=True):
            side = side if here is None else here
            parts[side].append(place)
            touched.add(side)
        line_end = end + 1 if raw[end : end + 2] == "\r\n" else end
        if line_end < len(raw):
            for number in touched if parts is columns else (0,):
                parts[number].append(line_end)
    return order + columns[0] + columns[1] if crossing else None


def find_gutter(boxes: list[Rectangle], width: float) -> Gutter | None:
    """The strip near the middle that parts a page's rows in two; None where it has no columns.

    Parameters
    ----------
    boxes
        (left, bottom, right, top) of each run of text.
    """
    rows: dict[int, list[Rectangle]] = {}
    for box in boxes:
        rows.setdefault(round(box[1]), []).append(box)
    middle = width / 2
    gaps: list[tuple[float, float]] = []
    for row in rows.values():
        row.sort()
        for left, right in pairwise(row):
            height = max(left[3] - left[1], 1.0)
            if left[2] < middle < right[0] and right[0] - left[2] > _GAP * height:
                gaps.append((left[2], right[0]))
    if len(gaps) < _LEAST_LINES or len(gaps) < _ROWS_APART * len(rows):
        return None
    starts = sorted(right for _, right in gaps)
    # A column's lines begin below each other.
    aligned = max(bisect_right(starts, start + _ALIGNED) - n for n, start in enumerate(starts))
    spare = len(gaps) // 10
    gutter = Gutter(sorted(left for left, _ in gaps)[-1 - spare], starts[spare])
    height = median(max(box[3] - box[1], 1.0) for box in boxes)
    if aligned < len(gaps) / 2 or gutter.right - gutter.left < _STRIP * height:
        return None
    both = [
        row
        for row in rows.values()
        if row[0][0] < gutter.left and max(box[2] for box in row) > gutter.right
    ]
    edge = (gutter.right - gutter.left) / 4
    across = sum(
        any(box[0] < gutter.right - edge and box[2] > gutter.left + edge for box in row)
        for row in both
    )
    return None if across > _ROWS_ACROSS * len(both) else gutter


def _side(words: Any, place: int, raw: str, gutter: Gutter) -> int | None:
    """0 left of the gutter, 1 right of it, None for a blank."""
    if raw[place].isspace():
        return None
    left, _bottom, right, _top = words.get_charbox(place)
    return int((left + right) / 2 >= gutter.middle)


def _is_apart(words: Any, places: range, raw: str, gutter: Gutter) -> bool:
    """Whether no character of a line stands in the strip between the columns."""
    most = (gutter.right - gutter.left) / 4
    for place in places:
        if not raw[place].isspace():
            left, _bottom, right, _top = words.get_charbox(place)
            if left < gutter.middle + most and right > gutter.middle - most:
                return False
    return True


def join_rows(boxes: Iterable[Rectangle]) -> list[Rectangle]:
    """Runs of text as one box a line: files that draw word by word, or letter by letter, have many.

    Boxes come in reading order; what lies further apart than a line is high, as columns do, stays apart.
    """
    made: list[Rectangle] = []
    for box in boxes:
        last = made[-1] if made else None
        if last is not None:
            height = max(min(last[3] - last[1], box[3] - box[1]), 1.0)
            shared = min(last[3], box[3]) - max(last[1], box[1])
            gap = max(box[0] - last[2], last[0] - box[2])
            if shared > height / 2 and gap < _SAME_LINE * height:
                made[-1] = (
                    min(last[0], box[0]),
                    min(last[1], box[1]),
                    max(last[2], box[2]),
                    max(last[3], box[3]),
                )
                continue
        made.append(box)
    return made
