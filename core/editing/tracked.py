"""Tracked changes on a text, word by word, with who made each and when.

A `Tracked` text is what is displayed: words that were deleted still stand in it, marked so. What is
unmarked is as it was. Every operation answers with a `Patch`, a replacement of one stretch, so that an
editor redraws only that and a revision stores only that.

Whole words change: a letter typed inside a word deletes the word and inserts the new one, and typing
the old word again makes the change vanish. Positions are code points of the displayed text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from core.editing.words import (
    changed_runs,
    common_length,
    is_joined,
    is_word,
    split_words,
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


@dataclass(frozen=True, slots=True)
class _Piece:
    """A stretch of one kind: ``kind`` '' for what is unchanged."""

    text: str
    kind: str = ""
    change: str = ""
    person: str = ""
    time: str = ""
    source: str = ""


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
    return Tracked(text, _joined(spans))


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
    made = _mark_words(original, current, pieces, _Piece("", "", "", person, time, source), make_id)
    caret = _place_in_pieces(made, len(before) + len(text))
    display, spans = _to_spans(made)
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
    back = common_length(before.text[::-1], after.text[::-1], size - start)
    first, last = _first_other_span(before, after), _last_other_end(before, after)
    if first is not None:
        start = min(start, first)
    if last is not None:
        back = min(back, len(before.text) - last[0], len(after.text) - last[1])
    back = max(0, min(back, size - start))
    end, stop = len(before.text) - back, len(after.text) - back
    spans = _clip(after.spans, start, stop)
    return Patch(start, end - start, after.text[start:stop], spans, start)


def is_displaced(tracked: Tracked, place: int) -> bool:
    """Whether a place lies inside a deleted stretch, where nothing can be deleted again."""
    return any(s.kind == "deleted" and s.start <= place < s.end for s in tracked.spans)


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


def _pieces(tracked: Tracked, first: int, last: int) -> list[_Piece]:
    """A stretch of the displayed text, by kind."""
    pieces, place = [], first
    for span in tracked.spans:
        start, end = max(span.start, first), min(span.end, last)
        if start >= end:
            continue
        if start > place:
            pieces.append(_Piece(tracked.text[place:start]))
        pieces.append(
            _Piece(
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
        pieces.append(_Piece(tracked.text[place:last]))
    return pieces


def _mark_words(
    original: str,
    current: str,
    earlier: Sequence[_Piece],
    mark: _Piece,
    make_id: Callable[[], str],
) -> list[_Piece]:
    """The words of both texts in one, marked; who changed what before stays known."""
    old, new = split_words(original), split_words(current)
    deleted = _Authors(earlier, ("", "deleted"))
    inserted = _Authors(earlier, ("", "inserted"))
    # What was inserted earlier is found again by where it stands in the text as it was before.
    former = "".join(piece.text for piece in earlier if piece.kind != "deleted")
    inserted.align(former, current)
    made: list[_Piece] = []
    old_place = 0
    for start, end, begin, stop in changed_runs(old, new):
        same = "".join(old[old_place:start])
        if same:
            made.append(_Piece(same))
        gone, come = "".join(old[start:end]), "".join(new[begin:stop])
        at_old, at_new = len("".join(old[:start])), len("".join(new[:begin]))
        pair = [
            replace(authors.of(place, place + len(words), mark), text=words, kind=kind)
            for authors, place, words, kind in (
                (deleted, at_old, gone, "deleted"),
                (inserted, at_new, come, "inserted"),
            )
            if words
        ]
        change = next((piece.change for piece in pair if piece.change), "") or make_id()
        made += [replace(piece, change=change) for piece in pair]
        old_place = end
    rest = "".join(old[old_place:])
    if rest:
        made.append(_Piece(rest))
    return _distinct(made, make_id)


def _distinct(pieces: list[_Piece], make_id: Callable[[], str]) -> list[_Piece]:
    """Changes parted by unchanged text have ids of their own."""
    seen: set[str] = set()
    renamed: dict[str, str] = {}
    made = []
    for place, piece in enumerate(pieces):
        if not piece.kind:
            seen |= {p.change for p in pieces[:place] if p.kind}
            renamed = {}
        elif piece.change in seen:
            renamed.setdefault(piece.change, make_id())
        made.append(replace(piece, change=renamed.get(piece.change, piece.change)))
    return made


class _Authors:
    """Who changed which characters of a text, and in which change."""

    def __init__(self, pieces: Iterable[_Piece], kinds: tuple[str, str]) -> None:
        self._runs: list[tuple[int, int, _Piece]] = []
        self._length = 0
        for piece in pieces:
            if piece.kind in kinds:
                start = self._length
                self._length += len(piece.text)
                if piece.kind:
                    self._runs.append((start, self._length, piece))
        self._prefix = self._length
        self._shift = 0
        self._from = self._length

    def align(self, former: str, current: str) -> None:
        """Say how the text became another one: by one replacement between a common start and end."""
        size = min(len(former), len(current))
        self._prefix = common_length(former, current, size)
        back = common_length(former[::-1], current[::-1], size - self._prefix)
        self._shift = len(current) - len(former)
        self._from = len(former) - back

    def of(self, start: int, end: int, mark: _Piece) -> _Piece:
        """Who changed a stretch: whoever did all of it before, else the one who edits now."""
        owners: list[tuple[int, int, _Piece]] = []
        for first, last, piece in self._runs:
            for low, high, move in (
                (first, min(last, self._prefix), 0),
                (max(first, self._from), last, self._shift),
            ):
                low, high = max(low + move, start), min(high + move, end)
                if low < high:
                    owners.append((low, high, piece))
        if not owners:
            return mark
        owners.sort(key=lambda owner: owner[0])
        changes = {piece.change for _, _, piece in owners}
        if sum(high - low for low, high, _ in owners) >= end - start and len(changes) == 1:
            return owners[0][2]
        return replace(mark, change=owners[0][2].change)


def _joined(spans: list[Span]) -> tuple[Span, ...]:
    """Neighbouring spans that are alike as one; empty ones are left out."""
    made: list[Span] = []
    for span in spans:
        if span.start >= span.end:
            continue
        last = made[-1] if made else None
        if (
            last is not None
            and last.end == span.start
            and replace(last, start=0, end=0) == replace(span, start=0, end=0)
        ):
            made[-1] = replace(last, end=span.end)
        else:
            made.append(span)
    return tuple(made)


def _to_spans(pieces: Sequence[_Piece]) -> tuple[str, tuple[Span, ...]]:
    spans, place = [], 0
    for piece in pieces:
        end = place + len(piece.text)
        if piece.kind:
            spans.append(
                Span(
                    start=place,
                    end=end,
                    kind="deleted" if piece.kind == "deleted" else "inserted",
                    change=piece.change,
                    person=piece.person,
                    time=piece.time,
                    source=piece.source,
                )
            )
        place = end
    return "".join(piece.text for piece in pieces), _joined(spans)


def _place_in_pieces(pieces: Sequence[_Piece], count: int) -> int:
    """Where, in what is displayed, the first ``count`` characters that are not deleted end."""
    place, left = 0, count
    for piece in pieces:
        if piece.kind != "deleted":
            if left <= len(piece.text):
                return place + left if left else (place if count else 0)
            left -= len(piece.text)
        elif not left:
            return place
        place += len(piece.text)
    return place


def _decide(tracked: Tracked, change: str, gone: str) -> Patch | None:
    mine = [span for span in tracked.spans if span.change == change]
    if not mine:
        return None
    first, last = mine[0].start, mine[-1].end
    parts: list[_Piece] = []
    for piece in _pieces(tracked, first, last):
        if piece.change != change or not piece.kind:
            parts.append(piece)
        elif piece.kind != gone:
            parts.append(_Piece(piece.text))
    text, spans = _to_spans(parts)
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
