"""An editor in which every change is tracked: insertions underlined, deletions struck, a bar beside.

The text is core's (`core.editing.tracked`); the widget shows it and hands keys on. Qt's own undo is off:
undo is the workspace's, and survives closing.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter

from PySide6.QtCore import QEvent, QMimeData, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QDropEvent,
    QFocusEvent,
    QGuiApplication,
    QInputMethodEvent,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QPen,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QWheelEvent,
)
from PySide6.QtWidgets import QMenu, QTextEdit, QWidget

from app import theme
from app.pages.drafts.positions import Positions
from app.strings import say
from app.widgets.editors import leave
from app.widgets.reader import ReadingText
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
    place_after,
    place_before,
    reject,
)
from core.ids import now
from core.types.documents import Span

#: Above this many characters lines are not spaced one by one, and the editor scrolls inside itself.
LONG = 30_000
_BAR = 3
_KEYS = QKeySequence.StandardKey


@dataclass(frozen=True, slots=True)
class SupportMark:
    """A sentence of the current text and the token of its verdict."""

    start: int
    end: int
    token: str


class TrackedEditor(ReadingText):
    """One section. ``edited`` says that something waits to be saved."""

    edited = Signal()
    #: The change the writing mark stands in, '' for none.
    change_entered = Signal(str)
    moved = Signal()

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(name, parent)
        self.setProperty("role", "prose")
        self.setUndoRedoEnabled(False)
        self.person = ""
        self.tracked = Tracked("")
        self._saved = Tracked("")
        self._positions = Positions("")
        self._action = "typed"
        #: (start, end, token, number of the mark) in the displayed text's places.
        self._support: list[tuple[int, int, str, int]] = []
        self._current_change = ""
        self._applying = False
        self.add_menu_actions: Callable[[QMenu], None] | None = None
        self.cursorPositionChanged.connect(self._on_cursor)
        self.document().documentLayout().documentSizeChanged.connect(self._on_size)
        self._dress()

    # -- content -------------------------------------------------------------------------

    @property
    def long(self) -> bool:
        """Whether the text is so long that the editor scrolls inside itself."""
        return len(self.tracked.text) > LONG

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
    def changes(self) -> list[Change]:
        return list_changes(self.tracked)

    def change_at_place(self) -> str:
        """The id of the change at the writing mark; '' for none."""
        place = self.place
        for span in self.tracked.spans:
            if span.start <= place <= span.end:
                return span.change
        return ""

    def set_support(self, marks: Sequence[SupportMark]) -> None:
        """Show verdicts as a bar beside the lines of their sentences, in the current text's places."""
        deleted = [span for span in self.tracked.spans if span.kind == "deleted"]
        self._support = []
        shift = passed = 0
        for number, mark in enumerate(marks):
            while passed < len(deleted) and deleted[passed].start <= mark.start + shift:
                shift += deleted[passed].end - deleted[passed].start
                passed += 1
            inner, ahead = 0, passed
            while ahead < len(deleted) and deleted[ahead].start < mark.end + shift + inner:
                inner += deleted[ahead].end - deleted[ahead].start
                ahead += 1
            self._support.append((mark.start + shift, mark.end + shift + inner, mark.token, number))
        self.viewport().update()

    @property
    def support_marks(self) -> list[tuple[int, int, str, int]]:
        """(start, end, token, number) of the verdicts, in the displayed text's places."""
        return self._support

    def support_at(self, place: int) -> int:
        """The number of the verdict at a place of the displayed text; -1 for none."""
        for start, end, _token, number in self._support:
            if start <= place <= end:
                return number
        return -1

    def set_current_change(self, change: str) -> None:
        """Draw a frame around a change."""
        if change != self._current_change:
            self._current_change = change
            self._show_current()

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

    def _move_support(self, patch: Patch) -> None:
        """Verdicts stay beside their sentences; those of sentences that changed go."""
        end, shift = patch.start + patch.removed, len(patch.text) - patch.removed
        moved = []
        for first, last, token, number in self._support:
            if last <= patch.start:
                moved.append((first, last, token, number))
            elif first >= end:
                moved.append((first + shift, last + shift, token, number))
        self._support = moved

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
        cursor.endEditBlock()
        self._positions.replace(patch.start, end, patch.text)
        self._applying = False

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
        if not self.long:
            cursor.setBlockFormat(self.block_format())
        self._insert(cursor, self.tracked.text, self.tracked.spans)
        cursor.endEditBlock()
        cursor.setPosition(0)
        self.setTextCursor(cursor)
        self._applying = False
        self.updateGeometry()

    def _dress(self) -> None:
        super()._dress()
        if getattr(self, "tracked", None) is not None and self.tracked.text:
            place = self.place
            self._show_all()
            self._set_place(place)
            self._show_current()

    def block_format(self) -> QTextBlockFormat:
        made = super().block_format()
        made.setLeftMargin(theme.S)
        return made

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

    def _on_size(self) -> None:
        self.updateGeometry()

    # -- Qt ------------------------------------------------------------------------------

    def sizeHint(self) -> QSize:
        line = round(theme.READING_LINE * theme.current().scale)
        if self.long:
            return QSize(480, line * 18)
        height = round(self.document().size().height()) + 2 * self.frameWidth() + theme.S
        return QSize(480, max(height, line * 2))

    def minimumSizeHint(self) -> QSize:
        return QSize(160, self.sizeHint().height())

    def wheelEvent(self, event: QWheelEvent) -> None:
        # A section shown whole has nothing to scroll: the page does.
        if self.long:
            super().wheelEvent(event)
        else:
            event.ignore()

    def event(self, event: QEvent) -> bool:
        # Undo and redo are the workspace's.
        if (
            event.type() == QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and (event.matches(_KEYS.Undo) or event.matches(_KEYS.Redo))
        ):
            event.ignore()
            return False
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            leave(self)
        elif event.matches(_KEYS.Undo) or event.matches(_KEYS.Redo):
            event.ignore()
        elif event.matches(_KEYS.Cut):
            self.cut()
        elif event.matches(_KEYS.Paste):
            self.paste()
        elif event.matches(_KEYS.InsertParagraphSeparator) or event.matches(
            _KEYS.InsertLineSeparator
        ):
            self.replace_selection("\n")
        elif not self._delete_by_key(event) and not self._type_by_key(event):
            super().keyPressEvent(event)

    def _delete_by_key(self, event: QKeyEvent) -> bool:
        moves = {
            _KEYS.DeleteStartOfWord: QTextCursor.MoveOperation.PreviousWord,
            _KEYS.DeleteEndOfWord: QTextCursor.MoveOperation.NextWord,
            _KEYS.DeleteEndOfLine: QTextCursor.MoveOperation.EndOfBlock,
            _KEYS.DeleteCompleteLine: QTextCursor.MoveOperation.EndOfBlock,
        }
        start, end = self.selection
        for key, move in moves.items():
            if event.matches(key):
                if start == end:
                    cursor = self.textCursor()
                    cursor.movePosition(move)
                    other = self._positions.to_code_points(cursor.position())
                    start, end = sorted((start, other))
                self.replace(start, end, "")
                return True
        plain = event.modifiers() & ~Qt.KeyboardModifier.ShiftModifier
        if event.key() not in (Qt.Key.Key_Backspace, Qt.Key.Key_Delete) or plain not in (
            Qt.KeyboardModifier.NoModifier,
            Qt.KeyboardModifier.KeypadModifier,
        ):
            return False
        if start == end:
            look = place_before if event.key() == Qt.Key.Key_Backspace else place_after
            found = look(self.tracked, start)
            if found is None:
                return True
            start, end = found
        self.replace(start, end, "")
        return True

    def _type_by_key(self, event: QKeyEvent) -> bool:
        text = event.text()
        held = event.modifiers() & (
            Qt.KeyboardModifier.ControlModifier
            | Qt.KeyboardModifier.AltModifier
            | Qt.KeyboardModifier.MetaModifier
        )
        # AltGr comes as Ctrl+Alt on some systems.
        alt_gr = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier
        if not text or not text.isprintable() or (held and held != alt_gr):
            return False
        self.replace_selection(text)
        return True

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        committed = event.commitString()
        if committed:
            start, end = self.selection
            if event.replacementLength():
                base = self.textCursor().position() + event.replacementStart()
                start = self._positions.to_code_points(base)
                end = self._positions.to_code_points(base + event.replacementLength())
            super().inputMethodEvent(QInputMethodEvent("", []))
            self.replace(start, end, committed)
            return
        super().inputMethodEvent(QInputMethodEvent(event.preeditString(), event.attributes()))

    def insertFromMimeData(self, source: QMimeData) -> None:
        if source.hasText():
            self.replace_selection(source.text())

    def dropEvent(self, event: QDropEvent) -> None:
        if event.source() in (self, self.viewport()):
            # Qt would delete what was dragged behind the tracked text's back.
            event.ignore()
            return
        super().dropEvent(event)

    def cut(self) -> None:
        text = self.selected_text()
        if text:
            QGuiApplication.clipboard().setText(text)
            self.replace_selection("")

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        some = self.textCursor().hasSelection()
        for text, slot, enabled in (
            (say("Cut"), self.cut, some),
            (say("Copy"), self.copy, some),
            (say("Paste"), self.paste, self.canPaste()),
            (say("Select all"), self.selectAll, True),
        ):
            action = menu.addAction(text, slot)
            action.setEnabled(enabled)
        if self.add_menu_actions is not None:
            menu.addSeparator()
            self.add_menu_actions(menu)
        menu.popup(event.globalPos())

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._on_cursor()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        self._paint_bars(event)

    def _paint_bars(self, event: QPaintEvent) -> None:
        """A bar beside each line: a change, and in the margin the support of its sentence."""
        painter = QPainter(self.viewport())
        current = theme.current()
        layout = self.document().documentLayout()
        offset = -self.verticalScrollBar().value()
        area = event.rect()
        block = self.cursorForPosition(area.topLeft()).block()
        while block.isValid():
            box = layout.blockBoundingRect(block).translated(0, offset)
            if box.top() > area.bottom():
                break
            start = self._positions.to_code_points(block.position())
            end = self._positions.to_code_points(block.position() + block.length() - 1)
            for mark in self._shown_support(start, end):
                rect = self._lines_of(block, mark[0], mark[1], box)
                color = current.color(mark[2])
                painter.fillRect(QRectF(0, rect.top(), _BAR, rect.height()), color)
                if mark[2] != "supported":
                    # Not by colour alone: what is not supported has a broken bar.
                    painter.setPen(QPen(current.color("surface"), 2))
                    y = rect.top() + 4
                    while y < rect.bottom():
                        painter.drawLine(0, round(y), _BAR, round(y))
                        y += 6
            block = block.next()
        painter.end()

    def _shown_support(self, start: int, end: int) -> list[tuple[int, int, str]]:
        """Marks that touch a stretch of the displayed text."""
        found = []
        place = max(0, bisect_right(self._support, start, key=itemgetter(0)) - 1)
        while place < len(self._support) and self._support[place][0] < end:
            first, last, token, _number = self._support[place]
            if last > start:
                found.append((max(first, start), min(last, end), token))
            place += 1
        return found

    def _lines_of(self, block, start: int, end: int, box: QRectF) -> QRectF:  # type: ignore[no-untyped-def]
        first = self._positions.to_utf16(start) - block.position()
        last = max(first, self._positions.to_utf16(end) - block.position() - 1)
        top = block.layout().lineForTextPosition(first)
        bottom = block.layout().lineForTextPosition(last)
        if not top.isValid() or not bottom.isValid():
            return box
        return QRectF(0, box.top() + top.y(), _BAR, bottom.y() + bottom.height() - top.y())
