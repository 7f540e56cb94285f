"""The items of a rubric with each one's status for the text shown: a sign, the title, a word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QFont, QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app import theme
from app.pages.checklists.words import LOOKS
from app.strings import say
from core.checklists.scores import Status
from core.types import RubricItem

_HEIGHT = 34
AnyIndex = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True, slots=True)
class ResultRow:
    """An item with its status; ``left`` and ``right`` say whether the sides have been mapped."""

    item: RubricItem
    status: Status
    left: str
    right: str
    disputed: bool = False


class ResultModel(QAbstractListModel):
    """Rows in the rubric's order."""

    RowRole = Qt.ItemDataRole.UserRole + 1

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows: list[ResultRow] = []

    def load(self, rows: Sequence[ResultRow]) -> None:
        """Show rows; the place is kept where the items are the same."""
        same = [row.item.id for row in rows] == [row.item.id for row in self.rows]
        if same:
            self.rows = list(rows)
            if rows:
                self.dataChanged.emit(self.index(0), self.index(len(rows) - 1))
            return
        self.beginResetModel()
        self.rows = list(rows)
        self.endResetModel()

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self.rows)

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self.rows):
            return None
        row = self.rows[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return f"{index.row() + 1}. {row.item.title}"
        if role == self.RowRole:
            return row
        if role in (Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.ToolTipRole):
            parts = [f"{index.row() + 1}. {row.item.title}", say(LOOKS[row.status].word)]
            if row.disputed:
                parts.append(say("judges differ"))
            if role == Qt.ItemDataRole.AccessibleTextRole:
                parts += [
                    say("reference: {words}", words=row.left),
                    say("output: {words}", words=row.right),
                ]
            return ", ".join(parts)
        return None


class _ResultDelegate(QStyledItemDelegate):
    def sizeHint(self, option: QStyleOptionViewItem, index: AnyIndex) -> QSize:
        return QSize(160, theme.current().px(_HEIGHT))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        row: ResultRow | None = index.data(ResultModel.RowRole)
        if row is None:
            return
        current = theme.current()
        look = LOOKS[row.status]
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = QRect(option.rect).adjusted(2, 1, -2, -1)
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        if selected or option.state & QStyle.StateFlag.State_MouseOver:
            painter.setBrush(current.color("accent_soft" if selected else "hover"))
            painter.setPen(
                QPen(current.color("accent"), 1)
                if selected and option.state & QStyle.StateFlag.State_HasFocus
                else Qt.PenStyle.NoPen
            )
            painter.drawRoundedRect(area, theme.RADIUS_CONTROL, theme.RADIUS_CONTROL)
        side = current.px(22)
        badge = QRect(area.x() + 6, area.center().y() - side // 2, side, side)
        painter.setBrush(current.color(look.ground))
        painter.setPen(QPen(current.color(look.ink), 1))
        painter.drawRoundedRect(badge, 5, 5)
        painter.setFont(current.ui_font(weight=QFont.Weight.DemiBold))
        painter.drawText(badge, Qt.AlignmentFlag.AlignCenter, look.sign)
        word = say("judges differ") if row.disputed else say(look.word)
        painter.setFont(current.ui_font(theme.SMALL))
        painter.setPen(current.color("warning" if row.disputed else look.ink))
        width = painter.fontMetrics().horizontalAdvance(word)
        right = QRect(area.right() - width - 6, area.y(), width, area.height())
        painter.drawText(right, Qt.AlignmentFlag.AlignVCenter, word)
        painter.setFont(current.ui_font())
        quiet = row.status in ("absent", "not_applicable")
        painter.setPen(current.color("muted" if quiet else "text"))
        room = QRect(badge.right() + 8, area.y(), right.x() - badge.right() - 16, area.height())
        title = painter.fontMetrics().elidedText(
            row.item.title, Qt.TextElideMode.ElideRight, room.width()
        )
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, title)
        painter.restore()


class ResultList(QListView):
    """One current item; Up and Down move, other keys are the page's."""

    current_changed = Signal(str)

    def __init__(self, model: ResultModel, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._results = model
        self._kept = ""
        self._silent = False
        self.setAccessibleName(name)
        self.setModel(model)
        model.setParent(self)
        self.setItemDelegate(_ResultDelegate(self))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setProperty("role", "bare")
        self.setMouseTracking(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        model.modelAboutToBeReset.connect(self._keep)
        model.modelReset.connect(self._put_back)
        theme.notifier().changed.connect(self.scheduleDelayedItemsLayout)

    @property
    def current_id(self) -> str:
        """The current item's id; '' for none."""
        row = self.currentIndex().row()
        rows = self._results.rows
        return rows[row].item.id if 0 <= row < len(rows) else ""

    def select_id(self, item_id: str) -> None:
        """Make an item the current one, now or when it comes."""
        for place, row in enumerate(self._results.rows):
            if row.item.id == item_id:
                self.select_row(place)
                return
        self._kept = item_id

    def select_row(self, row: int) -> None:
        """Make a row the current one, within the list's bounds."""
        if self._results.rows:
            row = max(0, min(row, len(self._results.rows) - 1))
            self.setCurrentIndex(self._results.index(row))
            self.scrollTo(self._results.index(row))

    def _keep(self) -> None:
        self._kept = self._kept or self.current_id
        self._silent = True

    def _put_back(self) -> None:
        kept, self._kept, self._silent = self._kept, "", False
        place = next((n for n, r in enumerate(self._results.rows) if r.item.id == kept), 0)
        self.select_row(place)
        if not self._results.rows:
            self.current_changed.emit("")

    def currentChanged(self, current: QModelIndex, previous: QModelIndex) -> None:
        super().currentChanged(current, previous)
        if not self._silent:
            self.current_changed.emit(self.current_id)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        moves = (
            Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown,
            Qt.Key.Key_Home, Qt.Key.Key_End,
        )  # fmt: skip
        # A letter is a shortcut of the page, not the beginning of a title to jump to.
        if event.key() in moves or event.modifiers():
            super().keyPressEvent(event)
        else:
            event.ignore()

    def minimumSizeHint(self) -> QSize:
        return QSize(200, 100)
