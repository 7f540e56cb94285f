"""Marking what changed between two texts, word by word, while who changed what before stays known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from core.editing.words import changed_runs, common_end, common_length, is_word, split_words
from core.types.documents import Span


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of one kind: ``kind`` '' for what is unchanged."""

    text: str
    kind: str = ""
    change: str = ""
    person: str = ""
    time: str = ""
    source: str = ""


def mark_words(
    original: str,
    current: str,
    earlier: Sequence[Piece],
    mark: Piece,
    make_id: Callable[[], str],
) -> list[Piece]:
    """The words of both texts in one, marked; who changed what before stays known."""
    old, new = split_words(original), split_words(current)
    deleted = _Authors(earlier, ("", "deleted"))
    inserted = _Authors(earlier, ("", "inserted"))
    # What was inserted earlier is found again by where it stands in the text as it was before.
    former = "".join(piece.text for piece in earlier if piece.kind != "deleted")
    inserted.align(former, current)
    made: list[Piece] = []
    old_place = 0
    for start, end, begin, stop in changed_runs(old, new):
        same = "".join(old[old_place:start])
        if same:
            made.append(Piece(same))
        gone, come = "".join(old[start:end]), "".join(new[begin:stop])
        at_old, at_new = len("".join(old[:start])), len("".join(new[:begin]))
        pair = []
        if gone:
            owner = deleted.of(at_old, at_old + len(gone), mark)
            pair.append(replace(owner, text=gone, kind="deleted"))
        if come:
            pair += inserted.parts(new[begin:stop], at_new, mark)
        made += _with_ids(pair, make_id)
        old_place = end
    rest = "".join(old[old_place:])
    if rest:
        made.append(Piece(rest))
    return _distinct(made, make_id)


def _with_ids(pieces: Sequence[Piece], make_id: Callable[[], str]) -> list[Piece]:
    """A deletion and the insertion in its place as one change; further insertions are others."""
    change = next((piece.change for piece in pieces if piece.change), "") or make_id()
    paired = 2 if pieces[0].kind == "deleted" else 1
    made = [replace(piece, change=change) for piece in pieces[:paired]]
    used = {change}
    for piece in pieces[paired:]:
        change = piece.change if piece.change and piece.change not in used else make_id()
        used.add(change)
        made.append(replace(piece, change=change))
    return made


def _distinct(pieces: list[Piece], make_id: Callable[[], str]) -> list[Piece]:
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

    def __init__(self, pieces: Iterable[Piece], kinds: tuple[str, str]) -> None:
        self._runs: list[tuple[int, int, Piece]] = []
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
        back = common_end(former, current, size - self._prefix)
        self._shift = len(current) - len(former)
        self._from = len(former) - back

    def of(self, start: int, end: int, mark: Piece) -> Piece:
        """Who changed a stretch: whoever did all of it before, else the one who edits now."""
        owners: list[tuple[int, int, Piece]] = []
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

    def parts(self, words: Sequence[str], start: int, mark: Piece) -> list[Piece]:
        """Insertions, one beside the other where several wrote them: each keeps the words it wrote.

        Blanks and signs go with the words before them, the first with those after.
        """
        made: list[Piece] = []
        for word in words:
            owner = replace(self.of(start, start + len(word), mark), text=word, kind="inserted")
            start += len(word)
            last = made[-1] if made else None
            if last is None:
                made.append(owner)
            elif not _says(last.text) or not _says(word) or _who(last) == _who(owner):
                # Whose the words are, not the blanks and signs beside them, is what is told.
                kept, other = (last, owner) if _says(last.text) else (owner, last)
                made[-1] = replace(
                    kept,
                    text=last.text + word,
                    change=kept.change or other.change,
                    time=max(last.time, owner.time) if _who(last) == _who(owner) else kept.time,
                )
            else:
                made.append(owner)
        return made


def _who(piece: Piece) -> tuple[str, str]:
    return piece.person, piece.source


def _says(text: str) -> bool:
    return any(map(is_word, text))


def join_spans(spans: list[Span]) -> tuple[Span, ...]:
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


def to_spans(pieces: Sequence[Piece]) -> tuple[str, tuple[Span, ...]]:
    """The displayed text of pieces and the spans of those that are changed."""
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
    return "".join(piece.text for piece in pieces), join_spans(spans)


def place_in_pieces(pieces: Sequence[Piece], count: int) -> int:
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
