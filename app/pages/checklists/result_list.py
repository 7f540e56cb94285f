"""The items of a rubric with each one's status for the text shown: a sign, the title, a word."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QFont, QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app import theme
from app.pages.checklists.words import LOOKS, Shown
from app.strings import say
from app.widgets.kept_list import AnyIndex, KeptList, RowModel, paint_ground
from core.types import RubricItem

_HEIGHT = 30
#: Share of a row that its title keeps, at least, when the words at the right are many.
_TITLE_SHARE = 0.45


@dataclass(frozen=True, slots=True)
class ResultRow:
    """An item with its status; ``left`` and ``right`` are what the two sides have on it, in words."""

    item: RubricItem
    status: Shown
    left: str
    right: str
    disputed: bool = False


class ResultModel(RowModel):
    """`ResultRow`s in the rubric's order."""

    RowRole = Qt.ItemDataRole.UserRole + 1

    def id_of(self, row: ResultRow) -> str:
        return row.item.id

    # -- Qt ------------------------------------------------------------------------------

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row: ResultRow | None = self.row_at(index)
        if row is None:
            return None
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
        paint_ground(painter, area, option)
        side = current.px(21)
        badge = QRect(area.x() + 6, area.center().y() - side // 2, side, side)
        painter.setBrush(current.color(look.ground))
        painter.setPen(QPen(current.color(look.ink), 1))
        painter.drawRoundedRect(badge, 5, 5)
        painter.setFont(current.ui_font(weight=QFont.Weight.DemiBold))
        painter.drawText(badge, Qt.AlignmentFlag.AlignCenter, look.sign)
        painter.setFont(current.ui_font(theme.SMALL))
        painter.setPen(current.color("warning" if row.disputed else look.ink))
        word = say(look.word)
        if row.disputed:
            both = say("{status}, judges differ", status=word)
            room = area.width() * (1 - _TITLE_SHARE)
            fits = painter.fontMetrics().horizontalAdvance(both) <= room
            word = both if fits else say("judges differ")
        width = painter.fontMetrics().horizontalAdvance(word)
        right = QRect(area.right() - width - 6, area.y(), width, area.height())
        painter.drawText(right, Qt.AlignmentFlag.AlignVCenter, word)
        painter.setFont(current.ui_font())
        quiet = row.status in ("absent", "not_applicable")
        painter.setPen(current.color("muted" if quiet else "text"))
        middle = QRect(badge.right() + 8, area.y(), right.x() - badge.right() - 16, area.height())
        title = painter.fontMetrics().elidedText(
            row.item.title, Qt.TextElideMode.ElideRight, middle.width()
        )
        painter.drawText(middle, Qt.AlignmentFlag.AlignVCenter, title)
        painter.restore()


class ResultList(KeptList):
    """One current item; Up and Down move, other keys are the page's."""

    def __init__(self, model: ResultModel, name: str, parent: QWidget | None = None) -> None:
        super().__init__(model, name, parent=parent)
        self.setItemDelegate(_ResultDelegate(self))

    # -- Qt ------------------------------------------------------------------------------

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
