"""Keys, paste, drop and input methods of an editor whose changes are tracked: each becomes a replacement."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QEvent, QMimeData, Qt
from PySide6.QtGui import (
    QContextMenuEvent,
    QDropEvent,
    QGuiApplication,
    QInputMethodEvent,
    QKeyEvent,
    QKeySequence,
    QTextCursor,
)
from PySide6.QtWidgets import QMenu

from app.strings import say
from app.widgets.editors import leave
from core.editing.tracked import place_after, place_before

_KEYS = QKeySequence.StandardKey


class TrackingKeys:
    """Mixed into a text edit before its Qt class; needs `Tracking`'s ``replace`` and places."""

    #: Adds to the context menu.
    add_menu_actions: Callable[[QMenu], None] | None = None
    tracked: Any
    replace: Callable[..., None]
    replace_selection: Callable[..., None]
    selected_text: Callable[[], str]
    _positions: Any

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
            self._move_by_key(event)

    def _move_by_key(self, event: QKeyEvent) -> None:
        """Leave it to Qt; where it only crossed the parting of a long paragraph, which is none in the
        text, once more."""
        was = self.textCursor().position()
        super().keyPressEvent(event)
        now = self.textCursor().position()
        if was != now and self._positions.to_code_points(was) == self._positions.to_code_points(
            now
        ):
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
                    if other == start:
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

    def createMimeDataFromSelection(self) -> QMimeData:
        # What is deleted is not taken along, nor the breaks at which a long paragraph is parted.
        data = QMimeData()
        data.setText(self.selected_text())
        return data

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
