"""Keeping a model's reasoning trace apart from its answer while it streams."""

from __future__ import annotations

from core.ports import Piece

#: (opening, closing) marks of known families.
MARKS = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<reasoning>", "</reasoning>"),
    ("<|channel|>analysis<|message|>", "<|end|>"),
    ("[THINK]", "[/THINK]"),
)

#: Marks that say only that the answer begins.
DROPPED = ("<|start|>assistant", "<|channel|>final<|message|>", "<|channel|>commentary<|message|>")

#: Control tokens that marks are made of: to be kept apart they must be written out.
MARK_TOKENS = frozenset(
    {"<|start|>", "<|channel|>", "<|message|>", "<|end|>"}.union(*(pair for pair in MARKS))
)


class ReasoningSplitter:
    """Feed it text as it comes; it gives back pieces, holding text that may be the start of a mark.

    Parameters
    ----------
    inside
        True when the prompt already opened a trace (templates that end in ``<think>``).

    Examples
    --------
    >>> splitter = ReasoningSplitter()
    >>> splitter.feed("<thi") + splitter.feed("nk>why</think>So") + splitter.finish()
    [Piece(text='why', thinking=True), Piece(text='So', thinking=False)]
    """

    def __init__(self, *, inside: bool = False) -> None:
        self._closing = MARKS[0][1] if inside else ""
        self._held = ""

    def feed(self, text: str) -> list[Piece]:
        self._held += text
        pieces: list[Piece] = []
        while self._step(pieces):
            pass
        return pieces

    def finish(self) -> list[Piece]:
        """What was still held; an unclosed trace stays a trace."""
        held, self._held = self._held, ""
        return [Piece(held, bool(self._closing))] if held else []

    def _step(self, pieces: list[Piece]) -> bool:
        marks = (
            (self._closing,) if self._closing else (*(opening for opening, _ in MARKS), *DROPPED)
        )
        found = [(self._held.find(mark), mark) for mark in marks if mark in self._held]
        if found:
            position, mark = min(found)
            self._emit(pieces, self._held[:position])
            self._held = self._held[position + len(mark) :]
            self._closing = "" if self._closing else dict(MARKS).get(mark, "")
            return True
        keep = max(_overlap(self._held, mark) for mark in marks)
        self._emit(pieces, self._held[: len(self._held) - keep])
        self._held = self._held[len(self._held) - keep :]
        return False

    def _emit(self, pieces: list[Piece], text: str) -> None:
        if text:
            pieces.append(Piece(text, bool(self._closing)))


def _overlap(text: str, mark: str) -> int:
    """The longest end of ``text`` that is a beginning of ``mark``."""
    for size in range(min(len(text), len(mark) - 1), 0, -1):
        if text.endswith(mark[:size]):
            return size
    return 0
