"""Rows of the list of graphs: the task, and under it in small what tells graphs of a task apart."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QApplication, QStyle, QStyleOptionViewItem

from app import theme
from app.widgets.basics import is_right_to_left
from app.widgets.id_view import CellDelegate, IdTableView

_HEIGHT = 54
#: Where the style has the text of other cells begin, and the sheet that of headers.
_SIDE = theme.S + 3


class TwoLineDelegate(CellDelegate):
    """Paints the first line of a cell's text as ever, the rest small and muted."""

    def __init__(self, view: IdTableView) -> None:
        super().__init__(view)
        self._view = view
        # After the view's own answer, which is one line.
        theme.notifier().changed.connect(self._fit)
        self._fit()

    def _fit(self) -> None:
        self._view.verticalHeader().setDefaultSectionSize(theme.current().px(_HEIGHT))

    # -- Qt ------------------------------------------------------------------------------

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        shown = QStyleOptionViewItem(option)
        self.initStyleOption(shown, index)
        shown.text = ""
        widget = option.widget
        style = widget.style() if widget is not None else QApplication.style()
        style.drawControl(QStyle.ControlElement.CE_ItemViewItem, shown, painter, widget)
        first, _, second = str(index.data() or "").partition("\n")
        box = option.rect.adjusted(_SIDE, theme.XS, -_SIDE, -theme.XS)
        current = theme.current()
        small = QFont(option.font)
        small.setPixelSize(current.px(12))
        painter.save()
        _draw(painter, box.adjusted(0, 0, 0, -box.height() // 2), first, option.font, "text",
              Qt.AlignmentFlag.AlignBottom)  # fmt: skip
        _draw(painter, box.adjusted(0, box.height() // 2, 0, 0), second, small, "muted",
              Qt.AlignmentFlag.AlignTop)  # fmt: skip
        painter.restore()


def _draw(
    painter: QPainter, box: QRect, text: str, font: QFont, token: str, place: Qt.AlignmentFlag
) -> None:
    reversed_ = not text.isascii() and is_right_to_left(text)
    side = Qt.AlignmentFlag.AlignRight if reversed_ else Qt.AlignmentFlag.AlignLeft
    painter.setLayoutDirection(
        Qt.LayoutDirection.RightToLeft if reversed_ else Qt.LayoutDirection.LeftToRight
    )
    painter.setFont(font)
    painter.setPen(theme.current().color(token))
    cut = QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideRight, box.width())
    painter.drawText(box, side | Qt.AlignmentFlag.AlignAbsolute | place, cut)
