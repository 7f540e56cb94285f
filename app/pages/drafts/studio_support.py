"""The studio's support view: judging the text in the background, and the way from a claim to its passage."""

from __future__ import annotations

from functools import partial
from typing import Any

from PySide6.QtCore import Qt

from app.operations import run_query
from app.pages.drafts.studio_view import StudioView
from app.pages.drafts.tracked_editor import LONG, SupportMark
from app.pages.drafts.work import SupportAnswer, judge_support
from app.widgets.reader import Mark
from core.examples.grounding import Grounded
from core.ports import Cancellation

#: Of a very long section so much around the writing mark is judged.
_JUDGED = 12_000


class SupportWork(StudioView):
    """The studio's controls with the support view at work; the studio has state and editors."""

    _state: Any
    _editors: Any
    _field: str
    _focused: int
    _generation: int
    _judging: Cancellation
    _answer: SupportAnswer
    _offsets: list[int]
    _shown_window: tuple[int, int, int]
    _evidence_place: int
    _support_timer: Any

    def _on_moved(self, number: int) -> None:
        raise AssertionError("the studio says")

    def _reveal(self, editor: Any) -> None:
        raise AssertionError("the studio says")

    def _judge(self, *, whole: bool = False) -> None:
        """Judge the text as it stands: of a long section first the part around the writing mark, then
        the whole; of a very long one that part alone."""
        if self._state is None or not self.isVisible():
            return
        self._judging.cancel()
        self._judging = Cancellation()
        self._generation += 1
        texts, offsets, more = [], [], False
        for editor in self._editors:
            text = editor.tracked.current
            start = 0
            if len(text) > LONG or (len(text) > 2 * _JUDGED and not whole):
                more |= len(text) <= LONG
                start = _begin_before(text, max(0, editor.place - _JUDGED // 2))
                text = text[start : start + _JUDGED]
            texts.append(text)
            offsets.append(start)
        run_query(
            self,
            judge_support,
            self.session.models,
            texts,
            self._state.request.evidence,
            self._judging,
            self._field,
        ).success(partial(self._take_support, self._generation, offsets, more)).failure(
            self._ignore
        )

    def _take_support(
        self, generation: int, offsets: list[int], more: bool, answer: SupportAnswer
    ) -> None:
        if generation != self._generation or self._support_timer.isActive():
            return
        self._answer, self._offsets = answer, offsets
        for editor, claims, offset in zip(self._editors, answer.sections, offsets, strict=True):
            editor.set_support(
                [SupportMark(c.start + offset, c.end + offset, c.verdict) for c in claims]
            )
        self.support.show_answer(answer.sections, answer.by_words)
        if self._editors and self._editors[self._focused].hasFocus():
            self._on_moved(self._focused)
        if more:
            self._judge(whole=True)

    def _ignore(self, error: BaseException) -> None:
        """A judgement that was overtaken by typing is no fault."""

    def _show_claim(self, claim: Grounded) -> None:
        """Bring the passage of a sentence into view, with its window marked."""
        shown = (claim.passage, claim.window_start, claim.window_end)
        if shown == self._shown_window:
            return
        self._shown_window = shown
        if claim.passage < 0 or claim.window_start == claim.window_end:
            self.evidence.set_marks([])
            return
        self._evidence_place = claim.passage
        self.evidence.set_marks([Mark(claim.passage, claim.window_start, claim.window_end)])
        cursor = self.evidence.textCursor()
        cursor.setPosition(self.evidence.position_of(claim.passage, claim.window_end))
        self.evidence.setTextCursor(cursor)
        cursor.setPosition(self.evidence.position_of(claim.passage, claim.window_start))
        self.evidence.setTextCursor(cursor)
        self.evidence.ensureCursorVisible()

    def _go_to_claim(self, section: int, number: int) -> None:
        claim = self._answer.sections[section][number]
        editor = self._editors[section]
        for start, end, _verdict, mark in editor.support_marks:
            if mark == number:
                editor.select(start, end)
                break
        editor.setFocus(Qt.FocusReason.OtherFocusReason)
        self._reveal(editor)
        self._show_claim(claim)


def _begin_before(text: str, place: int) -> int:
    """Where a line, or in a very long one a sentence, begins that is not far before a place."""
    for sign in ("\n", ". ", " "):
        found = text.rfind(sign, max(0, place - _JUDGED // 2), place)
        if found >= 0:
            return found + len(sign)
    return max(0, place - _JUDGED // 2)
