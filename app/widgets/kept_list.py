"""A short list painted row by row: its place and selection are kept by id when the rows are read anew."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QListView,
    QStyle,
    QStyleOptionViewItem,
    QWidget,
)

from app import theme

AnyIndex = QModelIndex | QPersistentModelIndex


class RowModel(QAbstractListModel):
    """Rows in their order. Subclasses give `data`, and `id_of` where rows have no ``id`` of their own."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows: list[Any] = []

    def id_of(self, row: Any) -> str:
        """The id of one of the rows."""
        return str(row.id)

    def set_rows(self, rows: Sequence[Any]) -> None:
        """Show rows; where the ids are the same only what they say changes."""
        same = [self.id_of(row) for row in rows] == [self.id_of(row) for row in self.rows]
        if same:
            self.rows = list(rows)
            if rows:
                self.dataChanged.emit(self.index(0), self.index(len(rows) - 1))
            return
        self.beginResetModel()
        self.rows = list(rows)
        self.endResetModel()

    def id_at(self, place: int) -> str:
        """The id of the row at a place; '' where there is none."""
        return self.id_of(self.rows[place]) if 0 <= place < len(self.rows) else ""

    def place_of(self, row_id: str) -> int:
        """Where a row is; -1 when it is not here."""
        return next((n for n, row in enumerate(self.rows) if self.id_of(row) == row_id), -1)

    def row_at(self, index: AnyIndex) -> Any:
        """The row of an index, or None."""
        return self.rows[index.row()] if 0 <= index.row() < len(self.rows) else None

    # -- Qt ------------------------------------------------------------------------------

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self.rows)


class KeptList(QListView):
    """The view of a `RowModel`. ``many`` lets several rows be selected."""

    #: The id of the current row, '' for none.
    current_changed = Signal(str)

    def __init__(
        self, model: RowModel, name: str, *, many: bool = False, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._rows = model
        self._kept = ""
        self._kept_selection: set[str] = set()
        self._place = -1
        self._silent = False
        self.setAccessibleName(name)
        self.setModel(model)
        model.setParent(self)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setProperty("role", "bare")
        self.setMouseTracking(True)
        mode = QAbstractItemView.SelectionMode
        self.setSelectionMode(mode.ExtendedSelection if many else mode.SingleSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        model.modelAboutToBeReset.connect(self._keep)
        model.modelReset.connect(self._put_back)
        theme.notifier().changed.connect(self.scheduleDelayedItemsLayout)

    @property
    def current_id(self) -> str:
        """The current row's id; '' for none."""
        return self._rows.id_at(self.currentIndex().row())

    @property
    def selected_ids(self) -> list[str]:
        """The selected rows' ids, in order."""
        places = sorted(index.row() for index in self.selectionModel().selectedRows())
        return [self._rows.id_at(place) for place in places]

    def select_id(self, row_id: str) -> bool:
        """Make a row the current one; one that is not here yet is waited for, and False returned."""
        place = self._rows.place_of(row_id)
        if place < 0:
            self._kept = row_id
            return False
        # One that is current already keeps what is selected with it.
        if place != self.currentIndex().row():
            self.select_row(place)
        return True

    def select_row(self, place: int) -> None:
        """Make the row at a place the current one, within the list's bounds."""
        if self._rows.rows:
            index = self._rows.index(max(0, min(place, len(self._rows.rows) - 1)))
            self.setCurrentIndex(index)
            self.scrollTo(index)

    def _keep(self) -> None:
        self._kept = self._kept or self.current_id
        self._kept_selection = set(self.selected_ids)
        self._place = self.currentIndex().row()
        self._silent = True

    def _put_back(self) -> None:
        place = self._rows.place_of(self._kept)
        together = self._kept in self._kept_selection
        self._kept, self._silent = "", False
        if not self._rows.rows:
            self.current_changed.emit("")
            return
        # What was current may be gone: its place is the next best.
        self.select_row(place if place >= 0 else self._place)
        if place >= 0 and together:
            for number in range(len(self._rows.rows)):
                if self._rows.id_at(number) in self._kept_selection:
                    self.selectionModel().select(
                        self._rows.index(number), QItemSelectionModel.SelectionFlag.Select
                    )

    # -- Qt ------------------------------------------------------------------------------

    def currentChanged(self, current: AnyIndex, previous: AnyIndex) -> None:
        super().currentChanged(current, previous)
        if not self._silent:
            self.current_changed.emit(self.current_id)

    def minimumSizeHint(self) -> QSize:
        return QSize(200, 100)


def paint_ground(painter: QPainter, area: QRect, option: QStyleOptionViewItem) -> None:
    """The ground of a row under the mouse, selected, or with the keyboard."""
    current = theme.current()
    selected = bool(option.state & QStyle.StateFlag.State_Selected)
    if not selected and not option.state & QStyle.StateFlag.State_MouseOver:
        return
    focused = selected and bool(option.state & QStyle.StateFlag.State_HasFocus)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setBrush(current.color("accent_soft" if selected else "hover"))
    painter.setPen(QPen(current.color("accent"), 1) if focused else Qt.PenStyle.NoPen)
    painter.drawRoundedRect(area, theme.RADIUS_CONTROL, theme.RADIUS_CONTROL)
