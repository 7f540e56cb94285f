"""Tracked changes on a text, word by word, with who made each and when.

A `Tracked` text is what is displayed: words that were deleted still stand in it, marked so. What is
unmarked is as it was. Every operation answers with a `Patch`, a replacement of one stretch, so that an
editor redraws only that and a revision stores only that.

Whole words change: a letter typed inside a word deletes the word and inserts the new one, and typing
the old word again makes the change vanish. Positions are code points of the displayed text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from core.editing.marking import Piece, join_spans, mark_words, place_in_pieces, to_spans
from core.editing.words import (
    common_end,
    common_length,
    is_joined,
    is_word,
    word_end,
    word_start,
)
from core.ids import new_id
from core.types.documents import Span, SpanKind


@dataclass(frozen=True, slots=True)
class Tracked:
    """A displayed text and its changed stretches, in order and apart."""

    text: str
    spans: tuple[Span, ...] = ()

    @property
    def current(self) -> str:
        """The text with every change accepted."""
        return self._without("deleted")

    @property
    def original(self) -> str:
        """The text with every change rejected."""
        return self._without("inserted")

    def _without(self, kind: SpanKind) -> str:
        parts, place = [], 0
        for span in self.spans:
            if span.kind == kind:
                parts.append(self.text[place : span.start])
                place = span.end
        parts.append(self.text[place:])
        return "".join(parts)


@dataclass(frozen=True, slots=True)
class Patch:
    """Replace ``removed`` characters at ``start`` by ``text``, whose spans count from its beginning.

    ``caret`` is where the writing mark stands afterwards, in the new displayed text.
    """

    start: int
    removed: int
    text: str
    spans: tuple[Span, ...]
    caret: int


@dataclass(frozen=True, slots=True)
class Change:
    """One change: what stood there before, what stands there now, and where in the displayed text."""

    id: str
    start: int
    end: int
    before: str
    after: str
    person: str
    time: str
    source: str


def apply_patch(tracked: Tracked, patch: Patch) -> Tracked:
    """The text after a patch."""
    end = patch.start + patch.removed
    shift = len(patch.text) - patch.removed
    spans: list[Span] = []
    for span in tracked.spans:
        if span.start < patch.start:
            spans.append(span if span.end <= patch.start else replace(span, end=patch.start))
    for span in patch.spans:
        spans.append(replace(span, start=span.start + patch.start, end=span.end + patch.start))
    for span in tracked.spans:
        if span.end > end:
            start = max(span.start, end)
            spans.append(replace(span, start=start + shift, end=span.end + shift))
    text = tracked.text[: patch.start] + patch.text + tracked.text[end:]
    return Tracked(text, join_spans(spans))


def edit(
    tracked: Tracked,
    start: int,
    end: int,
    text: str,
    *,
    person: str = "",
    time: str = "",
    source: str = "",
    make_id: Callable[[], str] = new_id,
) -> Patch:
    """Put ``text`` in the place of what is displayed from ``start`` to ``end``.

    Deleted words inside stay deleted, inserted ones go, and words that the edit touches change whole.
    """
    first, last = _zone(tracked, start, end, text)
    pieces = _pieces(tracked, first, last)
    original = "".join(piece.text for piece in pieces if piece.kind != "inserted")
    before = "".join(p.text for p in _pieces(tracked, first, start) if p.kind != "deleted")
    after = "".join(p.text for p in _pieces(tracked, end, last) if p.kind != "deleted")
    current = before + text + after
    made = mark_words(original, current, pieces, Piece("", "", "", person, time, source), make_id)
    caret = place_in_pieces(made, len(before) + len(text))
    display, spans = to_spans(made)
    return Patch(first, last - first, display, spans, first + caret)


def list_changes(tracked: Tracked) -> list[Change]:
    """The changes in order; a deletion and the insertion in its place are one."""
    changes: list[Change] = []
    for span in tracked.spans:
        words = tracked.text[span.start : span.end]
        before, after = (words, "") if span.kind == "deleted" else ("", words)
        last = changes[-1] if changes else None
        if last is not None and last.id == span.change and last.end == span.start:
            changes[-1] = replace(
                last,
                end=span.end,
                before=last.before + before,
                after=last.after + after,
                time=max(last.time, span.time),
            )
        else:
            changes.append(
                Change(
                    span.change,
                    span.start,
                    span.end,
                    before,
                    after,
                    span.person,
                    span.time,
                    span.source,
                )
            )
    return changes


def accept(tracked: Tracked, change: str) -> Patch | None:
    """Make a change part of the text; None when there is no such change."""
    return _decide(tracked, change, gone="deleted")


def reject(tracked: Tracked, change: str) -> Patch | None:
    """Take a change back; None when there is no such change."""
    return _decide(tracked, change, gone="inserted")


def decide_all(tracked: Tracked, *, accepted: bool) -> list[Patch]:
    """Patches, to be applied in order, that accept or reject every change."""
    patches = []
    # From the end, so that the places of those before stay true.
    for change in dict.fromkeys(span.change for span in reversed(tracked.spans)):
        patch = (accept if accepted else reject)(tracked, change)
        if patch is not None:
            patches.append(patch)
            tracked = apply_patch(tracked, patch)
    return patches


def difference(before: Tracked, after: Tracked) -> Patch | None:
    """The smallest patch that makes one text the other; None when they are equal."""
    if before == after:
        return None
    size = min(len(before.text), len(after.text))
    start = common_length(before.text, after.text, size)
    back = common_end(before.text, after.text, size - start)
    first, last = _first_other_span(before, after), _last_other_end(before, after)
    if first is not None:
        start = min(start, first)
    if last is not None:
        back = min(back, len(before.text) - last[0], len(after.text) - last[1])
    back = max(0, min(back, size - start))
    end, stop = len(before.text) - back, len(after.text) - back
    spans = _clip(after.spans, start, stop)
    return Patch(start, end - start, after.text[start:stop], spans, start)


def place_before(tracked: Tracked, place: int) -> tuple[int, int] | None:
    """The last letter, with its accents, before a place that is not deleted, as (start, end)."""
    while place > 0:
        inside = next(
            (s for s in tracked.spans if s.kind == "deleted" and s.start < place <= s.end), None
        )
        if inside is None:
            start = place - 1
            while start > 0 and is_joined(tracked.text, start):
                start -= 1
            return start, place
        place = inside.start
    return None


def place_after(tracked: Tracked, place: int) -> tuple[int, int] | None:
    """The next letter, with its accents, from a place on that is not deleted, as (start, end)."""
    size = len(tracked.text)
    while place < size:
        inside = next(
            (s for s in tracked.spans if s.kind == "deleted" and s.start <= place < s.end), None
        )
        if inside is None:
            end = place + 1
            while end < size and is_joined(tracked.text, end):
                end += 1
            return place, end
        place = inside.end
    return None


# -- inside ------------------------------------------------------------------------------


def _zone(tracked: Tracked, start: int, end: int, text: str) -> tuple[int, int]:
    """What an edit touches: its own stretch, changes it meets, and the words they are part of.

    A word at the edge is touched when, before or after the edit, it goes on into the stretch.
    """
    shown = tracked.text
    first, last = _include_spans(tracked, start, end)
    while True:
        before = _pieces(tracked, first, start)
        after = _pieces(tracked, end, last)
        inside = _pieces(tracked, start, end)
        old = "".join(p.text for p in (*before, *inside, *after) if p.kind != "inserted")
        left = "".join(p.text for p in before if p.kind != "deleted")
        right = "".join(p.text for p in after if p.kind != "deleted")
        new = left + text + right
        if old == new:
            return first, last
        ahead, behind = shown[last : last + 1], shown[first - 1 : first] if first else ""
        begin, stop = first, last
        if is_word(behind) and (is_word((old or ahead)[:1]) or is_word((new or ahead)[:1])):
            begin = word_start(shown, first)
        if is_word(ahead) and (is_word((old or behind)[-1:]) or is_word((new or behind)[-1:])):
            stop = word_end(shown, last)
        begin, stop = _include_spans(tracked, begin, stop)
        if (begin, stop) == (first, last):
            return first, last
        first, last = begin, stop


def _include_spans(tracked: Tracked, first: int, last: int) -> tuple[int, int]:
    """Widen a stretch over the changes that it overlaps or touches."""
    grown = True
    while grown:
        grown = False
        for span in tracked.spans:
            if span.end < first or span.start > last:
                continue
            if span.start < first or span.end > last:
                first, last, grown = min(first, span.start), max(last, span.end), True
    return first, last


def _pieces(tracked: Tracked, first: int, last: int) -> list[Piece]:
    """A stretch of the displayed text, by kind."""
    pieces, place = [], first
    for span in tracked.spans:
        start, end = max(span.start, first), min(span.end, last)
        if start >= end:
            continue
        if start > place:
            pieces.append(Piece(tracked.text[place:start]))
        pieces.append(
            Piece(
                tracked.text[start:end],
                span.kind,
                span.change,
                span.person,
                span.time,
                span.source,
            )
        )
        place = end
    if place < last:
        pieces.append(Piece(tracked.text[place:last]))
    return pieces


def _decide(tracked: Tracked, change: str, gone: str) -> Patch | None:
    mine = [span for span in tracked.spans if span.change == change]
    if not mine:
        return None
    first, last = mine[0].start, mine[-1].end
    parts: list[Piece] = []
    for piece in _pieces(tracked, first, last):
        if piece.change != change or not piece.kind:
            parts.append(piece)
        elif piece.kind != gone:
            parts.append(Piece(piece.text))
    text, spans = to_spans(parts)
    return Patch(first, last - first, text, spans, first + len(text))


def _clip(spans: Sequence[Span], start: int, stop: int) -> tuple[Span, ...]:
    return tuple(
        replace(span, start=max(span.start, start) - start, end=min(span.end, stop) - start)
        for span in spans
        if span.start < stop and span.end > start
    )


def _first_other_span(before: Tracked, after: Tracked) -> int | None:
    for place in range(max(len(before.spans), len(after.spans))):
        one = before.spans[place] if place < len(before.spans) else None
        other = after.spans[place] if place < len(after.spans) else None
        if one != other:
            return min(span.start for span in (one, other) if span is not None)
    return None


def _last_other_end(before: Tracked, after: Tracked) -> tuple[int, int] | None:
    """Ends, in either text, of the last span that differs when both are counted from the end."""
    sizes = (len(before.text), len(after.text))
    for back in range(1, max(len(before.spans), len(after.spans)) + 1):
        one = before.spans[-back] if back <= len(before.spans) else None
        other = after.spans[-back] if back <= len(after.spans) else None
        left = replace(one, start=sizes[0] - one.start, end=sizes[0] - one.end) if one else None
        right = (
            replace(other, start=sizes[1] - other.start, end=sizes[1] - other.end)
            if other
            else None
        )
        if left != right:
            tail = min(
                sizes[0] - one.end if one else sizes[0], sizes[1] - other.end if other else sizes[1]
            )
            return sizes[0] - tail, sizes[1] - tail
    return None
