"""The table of results on the page: one cell is looked at, the names give way before the numbers do."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QTableView, QWidget

from app import theme
from app.pages.results.table import ResultsModel
from app.strings import say
from app.widgets.id_view import CellDelegate

_CELL_CHARACTERS = 16
_ROW = 38


class ResultsTable(QTableView):
    """A view of `ResultsModel` as tall as its rows, six at most, three on a small screen."""

    def __init__(self, page: QWidget) -> None:
        super().__init__()
        self._page = page
        self.results = ResultsModel(self)
        self.setAccessibleName(say("Results by system"))
        self.setModel(self.results)
        self.setItemDelegate(CellDelegate(self))
        self.setProperty("role", "bare")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.verticalHeader().hide()
        self.horizontalHeader().setHighlightSections(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectItems)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        theme.notifier().changed.connect(self.fit)

    def fit(self) -> None:
        """Widths in characters, height by the rows and the room there is."""
        current = theme.current()
        self.verticalHeader().setDefaultSectionSize(current.px(_ROW))
        header = self.horizontalHeader()
        unit = self.fontMetrics().averageCharWidth()
        names = [name for _line, name in self.results.results.systems]
        first = max(18, min(34, max(map(len, names), default=0) + 2))
        for column in range(self.results.columnCount()):
            title = str(self.results.headerData(column, Qt.Orientation.Horizontal))
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Interactive)
            characters = first if column == 0 else max(_CELL_CHARACTERS, len(title) + 3)
            if column == self.results.columnCount() - 1:
                characters = 11
            width = characters * unit + 16
            if column == 0:
                # Where room is short, the names give way before the numbers do.
                width = min(width, max(current.px(120), round(self.viewport().width() * 0.4)))
            self.setColumnWidth(column, width)
        # On a small screen the table leaves room for what is under it.
        most = 6 if self._page.height() > current.px(640) else 3
        rows = min(most, max(1, self.results.rowCount()))
        bar = self.horizontalScrollBar().sizeHint().height()
        self.setFixedHeight(header.sizeHint().height() + rows * current.px(_ROW) + bar + 6)
