"""The command palette: type a few letters, press Enter."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
    Slot,
)
from PySide6.QtGui import QKeyEvent, QPainter, QPalette
from PySide6.QtWidgets import (
    QDialog,
    QLineEdit,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.pages.base import Command
from app.strings import say

_ROWS = 10


def rank(commands: Sequence[Command], wanted: str) -> list[Command]:
    """Commands that hold every word typed, those that begin with it first.

    Examples
    --------
    >>> [c.text for c in rank([Command("Unlock", print), Command("Lock", print)], "lock")]
    ['Lock', 'Unlock']
    """
    words = wanted.casefold().split()
    if not words:
        return list(commands)
    found: list[tuple[int, int, Command]] = []
    for place, command in enumerate(commands):
        text = f"{command.text} {command.group}".casefold()
        if not all(word in text for word in words):
            continue
        starts = [piece.startswith(words[0]) for piece in text.split()]
        score = 0 if text.startswith(words[0]) else 1 if any(starts) else 2
        found.append((score, place, command))
    return [command for _score, _place, command in sorted(found, key=lambda entry: entry[:2])]


class _Commands(QAbstractListModel):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.commands: list[Command] = []

    def show(self, commands: list[Command]) -> None:
        self.beginResetModel()
        self.commands = commands
        self.endResetModel()

    def rowCount(
        self,
        parent: QModelIndex | QPersistentModelIndex = QModelIndex(),
    ) -> int:
        return 0 if parent.isValid() else len(self.commands)

    def data(
        self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        if not index.isValid():
            return None
        command = self.commands[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return command.text
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{command.text} {command.refusal or command.hint}".strip()
        if role == Qt.ItemDataRole.ToolTipRole:
            return command.refusal or None
        if role == Qt.ItemDataRole.UserRole:
            return command
        return None


class _CommandDelegate(QStyledItemDelegate):
    """A command's words at the left, its key at the right, or why it cannot be run."""

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        command: Command = index.data(Qt.ItemDataRole.UserRole)
        option.state &= ~QStyle.StateFlag.State_HasFocus
        current = theme.current()
        if command.refusal:
            option.palette.setColor(QPalette.ColorRole.Text, current.color("muted"))
            option.palette.setColor(QPalette.ColorRole.HighlightedText, current.color("muted"))
        super().paint(painter, option, index)
        words = command.refusal or command.hint or command.group
        painter.save()
        painter.setFont(current.ui_font(theme.SMALL))
        painter.setPen(current.color("muted"))
        room: QRect = option.rect.adjusted(0, 0, -theme.M, 0)
        taken = option.fontMetrics.horizontalAdvance(command.text) + 2 * theme.M
        words = painter.fontMetrics().elidedText(
            words, Qt.TextElideMode.ElideRight, max(0, room.width() - taken)
        )
        painter.drawText(room, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, words)
        painter.restore()

    def sizeHint(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        return QSize(super().sizeHint(option, index).width(), theme.current().px(34))


class Palette(QDialog):
    """Runs the chosen command after it has closed, so that the command may open a dialog; one that
    cannot be run says why beside it, and leaves the palette open."""

    def __init__(self, commands: Sequence[Command], parent: QWidget) -> None:
        super().__init__(parent)
        self._all = list(commands)
        self.setWindowTitle(say("Search or run a command"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setModal(True)
        self.setProperty("role", "palette")
        self.setWindowFlag(Qt.WindowType.FramelessWindowHint)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.M, theme.M, theme.M, theme.M)
        layout.setSpacing(theme.S)
        self.field = QLineEdit()
        self.field.setPlaceholderText(say("What do you want to do?"))
        self.field.setAccessibleName(say("Search or run a command"))
        self.model = _Commands(self)
        self.list = QListView()
        self.list.setProperty("role", "bare")
        self.list.setAccessibleName(say("Commands"))
        self.list.setModel(self.model)
        self.list.setItemDelegate(_CommandDelegate(self.list))
        self.list.setUniformItemSizes(True)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        layout.addWidget(self.field)
        layout.addWidget(self.list)
        self.field.textChanged.connect(self._search)
        self.list.clicked.connect(self._run_index)
        width = min(theme.current().px(600), parent.width() - 80)
        self.setFixedSize(width, theme.current().px(34 * _ROWS + 80))
        place = parent.mapToGlobal(parent.rect().center())
        self.move(place.x() - width // 2, parent.mapToGlobal(parent.rect().topLeft()).y() + 80)
        self._search("")
        self.field.setFocus()

    def run_current(self) -> None:
        """Close and run the command under the bar."""
        index = self.list.currentIndex()
        if index.isValid():
            self._run_index(index)

    @Slot(str)
    def _search(self, text: str) -> None:
        self.model.show(rank(self._all, text))
        if self.model.commands:
            self.list.setCurrentIndex(self.model.index(0))

    def _run_index(self, index: QModelIndex) -> None:
        command: Command = index.data(Qt.ItemDataRole.UserRole)
        if command.refusal:
            return
        self.accept()
        command.run()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {
            Qt.Key.Key_Down: 1,
            Qt.Key.Key_Up: -1,
            Qt.Key.Key_PageDown: _ROWS,
            Qt.Key.Key_PageUp: -_ROWS,
        }.get(Qt.Key(event.key()))
        if step is not None and self.model.commands:
            last = len(self.model.commands) - 1
            row = max(0, min(last, self.list.currentIndex().row() + step))
            self.list.setCurrentIndex(self.model.index(row))
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.run_current()
        else:
            super().keyPressEvent(event)
