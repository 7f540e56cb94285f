"""The view of an `IdTableModel`: fixed row height, place kept by id, right-to-left cells, keys."""

from __future__ import annotations

from PySide6.QtCore import QItemSelection, QModelIndex, QPersistentModelIndex, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from app import theme
from app.widgets.basics import is_right_to_left
from app.widgets.id_table import IdTableModel

_PADDING = 24
#: Characters that the column without a width of its own keeps.
_LEAST_REST = 16
#: The most that columns of fixed width take of a list's width.
_FIXED_SHARE = 0.6
_HAS_FOCUS = QStyle.StateFlag.State_HasFocus


class CellDelegate(QStyledItemDelegate):
    """Cells with text in its own direction, on one line."""

    def initStyleOption(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        super().initStyleOption(option, index)
        option.text = option.text.replace("\n", " ")
        if not option.text.isascii() and is_right_to_left(option.text):
            option.direction = Qt.LayoutDirection.RightToLeft
        # The row shows where the keyboard is; a frame around one cell would say less.
        option.state &= ~_HAS_FOCUS


class IdTableView(QTableView):
    """One selected row at a time unless ``many``. Enter and double click open it."""

    #: The id of the current row, '' for none.
    current_changed = Signal(str)
    #: Enter or a double click.
    opened = Signal(str)
    selection_changed = Signal()

    def __init__(
        self, model: IdTableModel, name: str, *, many: bool = False, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._ids = model
        self._kept = ""
        self._asked = ""
        self._kept_scroll = 0
        self._silent = False
        self.setAccessibleName(name)
        self.setModel(model)
        model.setParent(self)
        self.setItemDelegate(CellDelegate(self))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setProperty("role", "bare")
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        mode = QAbstractItemView.SelectionMode
        self.setSelectionMode(mode.ExtendedSelection if many else mode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setMouseTracking(True)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setMinimumSectionSize(48)
        header.setSortIndicatorShown(True)
        header.setSectionsClickable(True)
        header.setSortIndicatorClearable(True)
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        header.sortIndicatorChanged.connect(model.sort)
        model.modelAboutToBeReset.connect(self._keep)
        model.modelReset.connect(self._put_back)
        self.doubleClicked.connect(self._open_index)
        theme.notifier().changed.connect(self._fit)
        self._fit()

    @property
    def ids(self) -> IdTableModel:
        """The model."""
        return self._ids

    @property
    def current_id(self) -> str:
        """The id of the current row; '' for none."""
        return self._ids.id_at(self.currentIndex().row())

    @property
    def selected_ids(self) -> list[str]:
        """The ids of the selected rows, in order."""
        rows = sorted(index.row() for index in self.selectionModel().selectedRows())
        return [self._ids.id_at(row) for row in rows]

    def select_id(self, row_id: str) -> bool:
        """Make a row the current one; False when the list lacks it.

        A row that the list lacks yet, such as one just added, is selected once it is there, unless the
        person goes to another one meanwhile.
        """
        row = self._ids.row_of(row_id)
        self._asked = row_id if row < 0 else ""
        if row < 0:
            return False
        self.setCurrentIndex(self._ids.index(row, 0))
        return True

    def _fit(self) -> None:
        self.verticalHeader().setDefaultSectionSize(theme.current().px(36))
        self._share_room()

    def _share_room(self) -> None:
        """Give columns their widths: narrowed where there is little room, but not below what each keeps
        at least, and never below their titles.

        Where not even the titles have room, columns are left out from the right.
        """
        columns = self._ids.source.columns
        header = self.horizontalHeader()
        unit = self.fontMetrics().averageCharWidth()
        wanted = {n: c.width * unit + _PADDING for n, c in enumerate(columns) if c.width}
        titles = header.fontMetrics()
        least = {
            n: min(wanted[n], titles.horizontalAdvance(columns[n].title) + _PADDING) for n in wanted
        }
        room = float(self.viewport().width())
        if len(wanted) < len(columns):
            room = min(room * _FIXED_SHARE, room - _LEAST_REST * unit)
        keeping = {
            n: min(wanted[n], max(least[n], columns[n].least * unit + _PADDING)) for n in wanted
        }
        if sum(keeping.values()) <= room:
            least = keeping
        shown = sorted(wanted)
        kept = 0 if len(wanted) < len(columns) else 1
        while len(shown) > kept and sum(least[n] for n in shown) > room:
            shown.pop()
        spare = max(0.0, room - sum(least[n] for n in shown))
        more = sum(wanted[n] - least[n] for n in shown)
        factor = min(1.0, spare / more) if more else 1.0
        for number in range(len(columns)):
            header.setSectionHidden(number, number in wanted and number not in shown)
            if number in shown:
                header.setSectionResizeMode(number, QHeaderView.ResizeMode.Interactive)
                width = least[number] + (wanted[number] - least[number]) * factor
                self.setColumnWidth(number, max(48, round(width)))
            elif number not in wanted:
                header.setSectionResizeMode(number, QHeaderView.ResizeMode.Stretch)

    def _keep(self) -> None:
        self._kept = self.current_id or self._kept
        self._kept_scroll = self.verticalScrollBar().value()
        self._silent = True

    def _put_back(self) -> None:
        asked = self._ids.row_of(self._asked) if self._asked else -1
        kept = self._asked if asked >= 0 else self._kept
        row = self._ids.row_of(kept) if kept else -1
        if asked >= 0:
            self._asked = ""
        if row >= 0:
            self.setCurrentIndex(self._ids.index(row, 0))
            self.verticalScrollBar().setValue(self._kept_scroll)
            self.scrollTo(self._ids.index(row, 0))
        self._silent = False
        if row < 0 or kept != self._told:
            self._tell()

    _told = ""

    def _tell(self) -> None:
        current = self.current_id
        if not self._silent and current != self._told:
            self._told = current
            self._kept = current
            self.current_changed.emit(current)

    def _open_index(self, index: QModelIndex) -> None:
        self.opened.emit(self._ids.id_at(index.row()))

    # -- Qt ------------------------------------------------------------------------------

    def currentChanged(
        self,
        current: QModelIndex | QPersistentModelIndex,
        previous: QModelIndex | QPersistentModelIndex,
    ) -> None:
        super().currentChanged(current, previous)
        self._tell()

    def selectionChanged(self, selected: QItemSelection, deselected: QItemSelection) -> None:
        super().selectionChanged(selected, deselected)
        self.selection_changed.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._share_room()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._asked = ""
        super().mousePressEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        self._asked = ""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.current_id:
            self.opened.emit(self.current_id)
            return
        super().keyPressEvent(event)

    def sizeHint(self) -> QSize:
        return QSize(480, 320)

    def minimumSizeHint(self) -> QSize:
        return QSize(160, 120)
