"""What an editor with tracked changes is apart from its keys: core's text, shown in a Qt document.

The text is core's (`core.editing.tracked`) and the document only shows it. Qt's own undo is off: undo is the
workspace's, and survives closing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtGui import (
    QColor,
    QTextBlock,
    QTextCharFormat,
    QTextCursor,
)
from PySide6.QtWidgets import QTextEdit

from app import theme
from app.pages.drafts.positions import LONGEST, Positions, part_places
from app.pages.drafts.support_bars import SupportBars
from core.editing.tracked import (
    Change,
    Patch,
    Tracked,
    accept,
    apply_patch,
    decide_all,
    difference,
    edit,
    list_changes,
    reject,
)
from core.ids import now
from core.types.documents import Span


class Tracking(SupportBars):
    """Mixed into a text edit before its Qt class, which brings the three signals named here."""

    edited: Any
    change_entered: Any
    moved: Any

    def start_tracking(self) -> None:
        """To be called once, by the constructor."""
        self.setUndoRedoEnabled(False)
        self.person = ""
        self.tracked = Tracked("")
        self._saved = Tracked("")
        self._positions = Positions("")
        self._action = "typed"
        self._support = []
        self._current_change = ""
        self._applying = False
        self.cursorPositionChanged.connect(self._on_cursor)

    def space_lines(self, cursor: QTextCursor) -> None:
        """Set the distance of lines before a text is shown."""

    # -- content -------------------------------------------------------------------------

    def load(self, tracked: Tracked) -> None:
        """Show what is in the workspace; the writing mark stays where the text is the same."""
        self._saved = tracked
        patch = difference(self.tracked, tracked)
        if patch is None:
            return
        if not self.tracked.text and not self.tracked.spans:
            self.tracked = tracked
            self._show_all()
            return
        place = self.place
        self.setExtraSelections([])
        self._apply(patch)
        self._move_support(patch)
        self.tracked = tracked
        self._current_change = ""
        end = patch.start + patch.removed
        if place >= end:
            place += len(patch.text) - patch.removed
        elif place > patch.start:
            place = patch.start + len(patch.text)
        self._set_place(place)

    def take_pending(self) -> tuple[Patch, str, str] | None:
        """What was changed since the last save: the patch, the text it replaced, and what was done."""
        patch = difference(self._saved, self.tracked)
        if patch is None:
            return None
        removed = self._saved.text[patch.start : patch.start + patch.removed]
        action, self._action = self._action, "typed"
        self._saved = self.tracked
        return patch, removed, action

    @property
    def dirty(self) -> bool:
        return self._saved != self.tracked

    def give_back(self, tracked: Tracked) -> None:
        """What was taken to be saved was not saved: it counts as changed again."""
        self._saved = tracked

    @property
    def saved(self) -> Tracked:
        return self._saved

    # -- places --------------------------------------------------------------------------

    @property
    def place(self) -> int:
        """Where the writing mark stands in the displayed text, in code points."""
        return self._positions.to_code_points(self.textCursor().position())

    @property
    def selection(self) -> tuple[int, int]:
        """The selected stretch of the displayed text, in code points."""
        cursor = self.textCursor()
        return (
            self._positions.to_code_points(cursor.selectionStart()),
            self._positions.to_code_points(cursor.selectionEnd()),
        )

    def select(self, start: int, end: int) -> None:
        """Select a stretch of the displayed text and bring it into view."""
        cursor = self.textCursor()
        cursor.setPosition(self._positions.to_utf16(end))
        cursor.setPosition(self._positions.to_utf16(start), QTextCursor.MoveMode.KeepAnchor)
        self.setTextCursor(cursor)
        self.ensureCursorVisible()

    def selected_text(self) -> str:
        """The selected words that are not deleted."""
        start, end = self.selection
        spans = tuple(
            replace(span, start=max(span.start, start) - start, end=min(span.end, end) - start)
            for span in self.tracked.spans
            if span.start < end and span.end > start
        )
        return Tracked(self.tracked.text[start:end], spans).current

    def _set_place(self, place: int) -> None:
        cursor = self.textCursor()
        cursor.setPosition(self._positions.to_utf16(place))
        self.setTextCursor(cursor)
        self._on_cursor()

    # -- editing -------------------------------------------------------------------------

    def replace_selection(self, text: str, *, source: str = "", action: str = "typed") -> None:
        """Put a text in the place of the selection, tracked."""
        start, end = self.selection
        self.replace(start, end, text, source=source, action=action)

    def replace(
        self, start: int, end: int, text: str, *, source: str = "", action: str = "typed"
    ) -> None:
        """Put a text in the place of a stretch of the displayed text, tracked."""
        text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\u2029", "\n")
        if start == end and not text:
            return
        patch = edit(self.tracked, start, end, text, person=self.person, time=now(), source=source)
        self._change(patch, action)

    def accept_change(self, change: str) -> bool:
        """Accept a change; False when there is none."""
        return self._decide(accept(self.tracked, change), "accept")

    def reject_change(self, change: str) -> bool:
        """Reject a change; False when there is none."""
        return self._decide(reject(self.tracked, change), "reject")

    def decide_all(self, *, accepted: bool) -> None:
        """Accept or reject every change of the section."""
        for patch in decide_all(self.tracked, accepted=accepted):
            self._change(patch, "accept all" if accepted else "reject all", keep_place=True)

    @property
    def is_parted(self) -> bool:
        """Whether a paragraph so long is in it that it is shown in parts."""
        return bool(self._positions.breaks)

    @property
    def changes(self) -> list[Change]:
        return list_changes(self.tracked)

    def change_at_place(self) -> str:
        """The id of the change at the writing mark; '' for none."""
        place = self.place
        for span in self.tracked.spans:
            if span.start <= place <= span.end:
                return span.change
        return ""

    # -- inside --------------------------------------------------------------------------

    def _decide(self, patch: Patch | None, action: str) -> bool:
        if patch is None:
            return False
        self._change(patch, action, keep_place=True)
        return True

    def _change(self, patch: Patch, action: str, *, keep_place: bool = False) -> None:
        place = self.place
        self._action = action
        # Frames around changes go first: their places are of the text as it was.
        self.setExtraSelections([])
        self._apply(patch)
        self._move_support(patch)
        self.tracked = apply_patch(self.tracked, patch)
        self._current_change = ""
        if keep_place:
            end = patch.start + patch.removed
            moved = place + len(patch.text) - patch.removed if place >= end else place
            self._set_place(max(0, min(moved, len(self.tracked.text))))
        else:
            self._set_place(patch.caret)
        self.ensureCursorVisible()
        self.edited.emit()

    def _apply(self, patch: Patch) -> None:
        """Redraw one stretch of the document."""
        self._applying = True
        cursor = QTextCursor(self.document())
        cursor.beginEditBlock()
        cursor.setPosition(self._positions.to_utf16(patch.start))
        end = patch.start + patch.removed
        cursor.setPosition(self._positions.to_utf16(end), QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()
        self._insert(cursor, patch.text, patch.spans)
        self._positions.replace(patch.start, end, patch.text)
        self._part_paragraphs(cursor, patch.start, patch.start + len(patch.text))
        cursor.endEditBlock()
        self._applying = False

    def _part_paragraphs(self, cursor: QTextCursor, start: int, end: int) -> None:
        """Part paragraphs too long to be laid out at each key, for the screen alone, where a stretch
        changed; join again what became short."""
        last = self._positions.to_utf16(end)
        block = self.document().findBlock(self._positions.to_utf16(start))
        if self._join_next(cursor, block.previous()):
            block = self.document().findBlock(self._positions.to_utf16(start))
        while block.isValid() and block.position() <= last:
            if block.length() > LONGEST:
                begin = self._positions.to_code_points(block.position())
                direction = block.textDirection()
                for cut in reversed(part_places(block.text())):
                    cursor.setPosition(self._positions.to_utf16(begin + cut))
                    cursor.insertBlock()
                    look = cursor.blockFormat()
                    look.setLayoutDirection(direction)
                    cursor.setBlockFormat(look)
                    self._positions.add_break(begin + cut)
                    last += 1
            else:
                self._join_next(cursor, block)
            block = block.next()

    def _join_next(self, cursor: QTextCursor, block: QTextBlock) -> bool:
        """Take the break after a block away where both parts together are short."""
        if not self._positions.breaks or not block.isValid() or not block.next().isValid():
            return False
        place = block.next().position()
        offset = self._positions.to_code_points(place)
        short = block.length() + block.next().length() < LONGEST // 2
        if not short or not self._positions.is_break(offset):
            return False
        cursor.setPosition(place)
        cursor.deletePreviousChar()
        self._positions.remove_break(offset)
        return True

    def _insert(self, cursor: QTextCursor, text: str, spans: Sequence[Span]) -> None:
        place = 0
        for span in spans:
            if span.start > place:
                cursor.insertText(text[place : span.start], self._format(""))
            cursor.insertText(text[span.start : span.end], self._format(span.kind))
            place = span.end
        if place < len(text):
            cursor.insertText(text[place:], self._format(""))

    def _format(self, kind: str) -> QTextCharFormat:
        current = theme.current()
        look = QTextCharFormat()
        look.setFont(current.reading_font())
        look.setForeground(current.color("text"))
        if kind == "inserted":
            look.setForeground(current.color("inserted"))
            look.setBackground(current.color("inserted_ground"))
            look.setFontUnderline(True)
        elif kind == "deleted":
            look.setForeground(current.color("deleted"))
            look.setBackground(current.color("deleted_ground"))
            look.setFontStrikeOut(True)
        return look

    def _show_all(self) -> None:
        self._positions = Positions(self.tracked.text)
        self._applying = True
        self.setExtraSelections([])
        self.document().clear()
        cursor = QTextCursor(self.document())
        cursor.beginEditBlock()
        self.space_lines(cursor)
        self._insert(cursor, self.tracked.text, self.tracked.spans)
        if max(map(len, self.tracked.text.split("\n"))) >= LONGEST:
            self._part_paragraphs(cursor, 0, len(self.tracked.text))
        cursor.endEditBlock()
        cursor.setPosition(0)
        self.setTextCursor(cursor)
        self._applying = False
        self.updateGeometry()

    def show_again(self) -> None:
        """Draw everything anew, as after a change of theme; the writing mark stays."""
        if self.tracked.text:
            place = self.place
            self._show_all()
            self._set_place(place)
            self._show_current()

    def _show_current(self) -> None:
        selections = []
        for span in self.tracked.spans:
            if span.change != self._current_change or not self._current_change:
                continue
            selection = QTextEdit.ExtraSelection()
            cursor = QTextCursor(self.document())
            cursor.setPosition(self._positions.to_utf16(span.start))
            cursor.setPosition(self._positions.to_utf16(span.end), QTextCursor.MoveMode.KeepAnchor)
            look = QTextCharFormat()
            look.setBackground(QColor(theme.current().tokens.accent_soft))
            look.setFontOverline(True)
            selection.cursor = cursor  # type: ignore[misc]
            selection.format = look  # type: ignore[misc]
            selections.append(selection)
        self.setExtraSelections(selections)

    def _on_cursor(self) -> None:
        if self._applying:
            return
        change = self.change_at_place()
        if change != self._current_change:
            self._current_change = change
            self._show_current()
            self.change_entered.emit(change)
        self.moved.emit()
