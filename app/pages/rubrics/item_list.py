"""The items of a rubric as a list: two lines each, flaws marked, moved by dragging or with Alt and arrows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QByteArray, QMimeData, QModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFont, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app import icons, theme
from app.pages.rubrics.words import KINDS, describe_findings
from app.strings import count_of, say
from app.widgets.basics import is_right_to_left
from app.widgets.kept_list import AnyIndex, KeptList, RowModel, paint_ground
from core.rubrics.linter import Finding
from core.rubrics.verbs import example_of
from core.types import RubricItem

_MIME = "application/x-rifugio-rubric-items"
_HEIGHT, _GROUP = 46, 22


class ItemModel(RowModel):
    """Items in their order. A drop asks for a move and changes nothing itself."""

    #: (item ids, index among the items before the move)
    move_asked = Signal(object, int)

    ItemRole = Qt.ItemDataRole.UserRole + 1
    FindingsRole = Qt.ItemDataRole.UserRole + 2
    GroupRole = Qt.ItemDataRole.UserRole + 3

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._findings: dict[str, tuple[Finding, ...]] = {}
        self._comments: dict[str, int] = {}
        self.locked = False

    @property
    def items(self) -> Sequence[RubricItem]:
        return self.rows

    def load(
        self,
        items: Sequence[RubricItem],
        findings: Any,
        comments: dict[str, int],
        *,
        locked: bool,
    ) -> None:
        """Show items with what the linter and commenters say on them."""
        self._findings = dict(findings)
        self._comments = comments
        self.locked = locked
        self.set_rows(items)

    # -- Qt ------------------------------------------------------------------------------

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        item: RubricItem | None = self.row_at(index)
        if item is None:
            return None
        findings = self._findings.get(item.id, ())
        if role == Qt.ItemDataRole.DisplayRole:
            return f"{index.row() + 1}. {item.title}"
        if role == self.ItemRole:
            return item
        if role == self.FindingsRole:
            return findings
        if role == self.GroupRole:
            before = self.rows[index.row() - 1].group if index.row() else ""
            return item.group if item.group != before else ""
        if role == Qt.ItemDataRole.ToolTipRole:
            return describe_findings(findings) or None
        if role == Qt.ItemDataRole.AccessibleTextRole:
            parts = [f"{index.row() + 1}. {item.title}", say(KINDS[item.kind])]
            if item.group:
                parts.append(say("group {group}", group=item.group))
            if findings:
                parts.append(describe_findings(findings))
            if self._comments.get(item.id):
                parts.append(count_of(self._comments[item.id], "open comment", "open comments"))
            return ", ".join(parts)
        return None

    def comments_on(self, item_id: str) -> int:
        """How many comments on an item are open."""
        return self._comments.get(item_id, 0)

    def flags(self, index: AnyIndex) -> Qt.ItemFlag:
        base = super().flags(index)
        if self.locked:
            return base
        if index.isValid():
            return base | Qt.ItemFlag.ItemIsDragEnabled
        return base | Qt.ItemFlag.ItemIsDropEnabled

    def supportedDropActions(self) -> Qt.DropAction:
        return Qt.DropAction.MoveAction

    def mimeTypes(self) -> list[str]:
        return [_MIME]

    def mimeData(self, indexes: Sequence[QModelIndex]) -> QMimeData:
        data = QMimeData()
        rows = sorted(index.row() for index in indexes)
        data.setData(_MIME, QByteArray("\n".join(self.rows[r].id for r in rows).encode()))
        return data

    def dropMimeData(
        self, data: QMimeData, action: Qt.DropAction, row: int, column: int, parent: AnyIndex
    ) -> bool:
        if self.locked or not data.hasFormat(_MIME):
            return False
        place = row if row >= 0 else (parent.row() if parent.isValid() else len(self.rows))
        ids = bytes(data.data(_MIME).data()).decode().split("\n")
        self.move_asked.emit(ids, place)
        # The rows move when the workspace has it, so the view must not take them out.
        return False


class _ItemDelegate(QStyledItemDelegate):
    """A group's name above its first item; number and title; what to look for; marks at the right."""

    def sizeHint(self, option: QStyleOptionViewItem, index: AnyIndex) -> QSize:
        group = index.data(ItemModel.GroupRole)
        current = theme.current()
        return QSize(160, current.px(_HEIGHT) + (current.px(_GROUP) if group else 0))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        item: RubricItem | None = index.data(ItemModel.ItemRole)
        if item is None:
            return
        current = theme.current()
        painter.save()
        area = QRect(option.rect)
        group = index.data(ItemModel.GroupRole)
        if group:
            head = QRect(area.x() + theme.M, area.y(), area.width() - theme.M, current.px(_GROUP))
            painter.setFont(current.ui_font(theme.SMALL, weight=QFont.Weight.DemiBold))
            painter.setPen(current.color("muted"))
            painter.drawText(
                head,
                Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom,
                painter.fontMetrics().elidedText(
                    group, Qt.TextElideMode.ElideRight, head.width() - theme.M
                ),
            )
            area.setTop(area.top() + current.px(_GROUP))
        area.adjust(2, 1, -2, -1)
        paint_ground(painter, area, option)
        self._paint_words(painter, area.adjusted(theme.S, 4, -theme.S, -4), item, index)
        painter.restore()

    def _paint_words(
        self, painter: QPainter, area: QRect, item: RubricItem, index: AnyIndex
    ) -> None:
        current = theme.current()
        right = self._paint_marks(painter, area, item, index)
        top = QRect(area.x(), area.y(), right - area.x() - theme.S, area.height() // 2)
        bottom = QRect(area.x(), top.bottom() + 1, area.width(), area.height() - top.height())
        number = f"{index.row() + 1}"
        painter.setFont(current.ui_font(theme.SMALL))
        painter.setPen(current.color("muted"))
        room = painter.fontMetrics().horizontalAdvance("000") + 4
        painter.drawText(
            QRect(top.x(), top.y(), room, top.height()), Qt.AlignmentFlag.AlignVCenter, number
        )
        painter.setFont(current.ui_font(weight=QFont.Weight.Medium))
        painter.setPen(current.color("text"))
        self._line(painter, top.adjusted(room, 0, 0, 0), item.title)
        painter.setFont(current.ui_font(theme.SMALL))
        painter.setPen(current.color("muted"))
        self._line(painter, bottom.adjusted(room, 0, 0, 0), item.description or say("no words yet"))

    def _paint_marks(
        self, painter: QPainter, area: QRect, item: RubricItem, index: AnyIndex
    ) -> int:
        """Draw signs from the right edge leftwards; returns where the title has to end."""
        current = theme.current()
        side = current.px(15)
        right = area.right()
        marks = []
        if index.data(ItemModel.FindingsRole):
            marks.append(("warning", "warning"))
        model = index.model()
        if isinstance(model, ItemModel) and model.comments_on(item.id):
            marks.append(("comment", "accent"))
        if item.condition:
            marks.append(("filter", "muted"))
        if example_of(item):
            marks.append(("examples", "muted"))
        for icon, token in marks:
            picture = icons.pixmap(icon, getattr(current.tokens, token), side)
            painter.drawPixmap(right - side, area.y() + (area.height() // 2 - side) // 2, picture)
            right -= side + 4
        if item.kind != "content":
            painter.setFont(current.ui_font(theme.SMALL - 0.5))
            painter.setPen(current.color("muted"))
            words = say(KINDS[item.kind])
            width = painter.fontMetrics().horizontalAdvance(words)
            painter.drawText(
                QRect(right - width, area.y(), width, area.height() // 2),
                Qt.AlignmentFlag.AlignVCenter,
                words,
            )
            right -= width + 4
        return right

    @staticmethod
    def _line(painter: QPainter, area: QRect, text: str) -> None:
        line = " ".join(text.split())
        shown = painter.fontMetrics().elidedText(line, Qt.TextElideMode.ElideRight, area.width())
        side = Qt.AlignmentFlag.AlignLeft
        if not line.isascii() and is_right_to_left(line):
            side = Qt.AlignmentFlag.AlignRight
        painter.drawText(area, Qt.AlignmentFlag.AlignVCenter | side, shown)


class ItemList(KeptList):
    """The list. Enter or F2 goes to the item's fields; Alt and arrows move it; several can be selected."""

    edit_asked = Signal()

    def __init__(self, model: ItemModel, name: str, parent: QWidget | None = None) -> None:
        super().__init__(model, name, many=True, parent=parent)
        self.setItemDelegate(_ItemDelegate(self))
        self.setDragDropMode(QAbstractItemView.DragDropMode.InternalMove)
        self.setDefaultDropAction(Qt.DropAction.MoveAction)
        self.setDragDropOverwriteMode(False)
        self.doubleClicked.connect(self._on_double_click)

    def _on_double_click(self) -> None:
        self.edit_asked.emit()

    # -- Qt ------------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:
        plain = event.modifiers() in (
            Qt.KeyboardModifier.NoModifier,
            Qt.KeyboardModifier.KeypadModifier,
        )
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_F2) and plain:
            self.edit_asked.emit()
            return
        if event.modifiers() & Qt.KeyboardModifier.AltModifier:
            event.ignore()
            return
        super().keyPressEvent(event)

    def minimumSizeHint(self) -> QSize:
        return QSize(200, 120)
