"""Lists of entries of two lines, and moments as a person writes them."""

from __future__ import annotations

from datetime import datetime

from PySide6.QtCore import QLocale, QSize, Qt
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


def format_moment(moment: datetime) -> str:
    """A date and a time of day here: '30 Nov 2026, 08:44'."""
    return QLocale().toString(moment.astimezone().replace(tzinfo=None), "d MMM yyyy, HH:mm")
