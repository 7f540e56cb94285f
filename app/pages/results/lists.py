"""Small tables of numbers that are read at once: time and tokens, agreement, win rates, changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QTableView

from app import theme
from app.widgets.id_view import CellDelegate

AnyIndex = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True, slots=True)
class RowsColumn:
    """A heading, its width in characters (0 for the rest of the room), and on which side text stands."""

    title: str
    width: int = 12
    right: bool = False


class RowsModel(QAbstractTableModel):
    """Rows of text that are all in memory; each may carry a thing it stands for."""

    def __init__(self, columns: Sequence[RowsColumn], parent: Any = None) -> None:
        super().__init__(parent)
        self.columns = tuple(columns)
        self.rows: tuple[tuple[str, ...], ...] = ()
        self.things: tuple[Any, ...] = ()

    def show(self, rows: Sequence[Sequence[str]], things: Sequence[Any] = ()) -> None:
        """Show other rows."""
        self.beginResetModel()
        self.rows = tuple(tuple(row) for row in rows)
        self.things = tuple(things)
        self.endResetModel()

    def thing(self, row: int) -> Any:
        """What a row stands for, None where nothing was given."""
        return self.things[row] if 0 <= row < len(self.things) else None

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: AnyIndex = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self.columns)

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        text = self.rows[index.row()][index.column()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return text
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{self.columns[index.column()].title}: {text}"
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(self.columns[index.column()])
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(self.columns):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self.columns[section].title
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(self.columns[section])
        return None


def _alignment(column: RowsColumn) -> int:
    side = Qt.AlignmentFlag.AlignRight if column.right else Qt.AlignmentFlag.AlignLeft
    return int(side | Qt.AlignmentFlag.AlignVCenter)


class RowsTable(QTableView):
    """A table of `RowsModel`. Enter and double click open a row; it is as tall as its rows."""

    #: The thing a row stands for.
    opened = Signal(object)

    def __init__(
        self, columns: Sequence[RowsColumn], name: str, *, most: int = 12, grow: bool = False
    ) -> None:
        super().__init__()
        self._grow = grow
        self.setAccessibleName(name)
        self._most = most
        self.rows = RowsModel(columns, self)
        self.setModel(self.rows)
        self.setItemDelegate(CellDelegate(self))
        self.setProperty("role", "bare")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.horizontalHeader().setHighlightSections(False)
        self.doubleClicked.connect(self._open)
        theme.notifier().changed.connect(self.fit)
        self.rows.modelReset.connect(self.fit)
        self.fit()

    @property
    def current_thing(self) -> Any:
        """What the current row stands for."""
        return self.rows.thing(self.currentIndex().row())

    def fit(self) -> None:
        """Widths in characters, height by the rows."""
        current = theme.current()
        self.verticalHeader().setDefaultSectionSize(current.px(34))
        unit = self.fontMetrics().averageCharWidth()
        header = self.horizontalHeader()
        for number, column in enumerate(self.rows.columns):
            if column.width:
                header.setSectionResizeMode(number, QHeaderView.ResizeMode.Interactive)
                self.setColumnWidth(number, max(column.width, len(column.title) + 1) * unit + 18)
            else:
                header.setSectionResizeMode(number, QHeaderView.ResizeMode.Stretch)
                header.setMinimumSectionSize(current.px(64))
        count = min(self._most, max(1, self.rows.rowCount()))
        bar = self.horizontalScrollBar().sizeHint().height()
        height = header.sizeHint().height() + count * current.px(34) + bar + 4
        if self._grow:
            self.setMinimumHeight(height)
        else:
            self.setFixedHeight(height)

    def _open(self, index: QModelIndex) -> None:
        thing = self.rows.thing(index.row())
        if thing is not None:
            self.opened.emit(thing)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._open(self.currentIndex())
            return
        super().keyPressEvent(event)
