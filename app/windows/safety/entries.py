"""Lists of entries of two lines."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QWidget

from app import theme


class EntryList(QListWidget):
    """One entry is chosen at a time; each has a line in the plain and one below."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setProperty("role", "bare")
        self.setWordWrap(True)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setUniformItemSizes(True)

    def add(self, text: str) -> None:
        """Add an entry of two lines at the end."""
        item = QListWidgetItem(text)
        item.setToolTip(text)
        item.setData(Qt.ItemDataRole.AccessibleTextRole, text.replace("\n", ", "))
        item.setSizeHint(QSize(0, 2 * self.fontMetrics().height() + theme.M))
        self.addItem(item)
