"""F1: the help texts, the same files as the documentation, with a list of topics beside them."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, QUrl, Slot
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QTextBrowser,
    QWidget,
)

from app import theme
from app.pages import PAGES
from app.strings import say
from core.resources import resource_path

#: Order of the topics: as in the rail, between how to start and what holds everywhere.
_ORDER = ("start", *(entry.name for entry in PAGES), "keys", "packages", "safety")

#: A topic made from the metrics themselves.
_METRICS = "metrics"


def help_topics() -> list[tuple[str, str]]:
    """(name, title) of every help text, in reading order."""
    files = {path.stem: path for path in resource_path("docs", "help").glob("*.md")}
    names = [name for name in _ORDER if name in files]
    names += sorted(set(files) - set(names))
    return [*((name, _title(files[name])) for name in names), (_METRICS, say("Metrics"))]


def read_topic(name: str) -> str:
    """The Markdown text of a topic; the first one's when there is none of that name."""
    if name == _METRICS:
        return _metrics_text()
    path = resource_path("docs", "help", f"{name}.md")
    if not path.is_file():
        path = resource_path("docs", "help", "start.md")
    return path.read_text(encoding="utf-8")


def _metrics_text() -> str:
    """Every metric's formula, source, range and limits, as its own code states them."""
    from core.metrics.registry import describe, names

    parts = [f"## {name}\n\n{describe(name)}" for name in names()]
    return "\n\n".join(["# " + say("Metrics"), *parts])


def _title(path: Path) -> str:
    with path.open(encoding="utf-8") as stream:
        return stream.readline().lstrip("# ").strip() or path.stem


class HelpWindow(QDialog):
    """Beside the work, not over it: it can stay open."""

    def __init__(self, parent: QWidget, topic: str) -> None:
        super().__init__(parent)
        self.setWindowTitle(say("Help"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setModal(False)
        self.resize(theme.current().px(820), min(theme.current().px(620), parent.height()))
        layout = QHBoxLayout(self)
        layout.setContentsMargins(theme.M, theme.M, theme.M, theme.M)
        layout.setSpacing(theme.M)
        self.topics = QListWidget()
        self.topics.setAccessibleName(say("Topics"))
        self.topics.setFixedWidth(theme.current().px(200))
        for name, title in help_topics():
            item = QListWidgetItem(title)
            item.setData(Qt.ItemDataRole.UserRole, name)
            self.topics.addItem(item)
        self.text = QTextBrowser()
        self.text.setAccessibleName(say("Help text"))
        self.text.setProperty("role", "reader")
        self.text.setOpenLinks(False)
        self.text.anchorClicked.connect(self._follow)
        layout.addWidget(self.topics)
        layout.addWidget(self.text, 1)
        self.topics.currentItemChanged.connect(self._show_current)
        self.show_topic(topic)
        self.text.setFocus()

    def show_topic(self, name: str) -> None:
        """Show a topic and mark it in the list."""
        for row in range(self.topics.count()):
            if self.topics.item(row).data(Qt.ItemDataRole.UserRole) == name:
                self.topics.setCurrentRow(row)
                return
        self.topics.setCurrentRow(0)

    @Slot()
    def _show_current(self) -> None:
        item = self.topics.currentItem()
        if item is None:
            return
        current = theme.current()
        document = self.text.document()
        document.setDefaultFont(current.reading_font())
        self.text.setMarkdown(read_topic(item.data(Qt.ItemDataRole.UserRole)))
        document.setDocumentMargin(theme.M)
        _space_blocks(document, theme.READING_LINE * current.scale)
        self.text.verticalScrollBar().setValue(0)

    @Slot(QUrl)
    def _follow(self, url: QUrl) -> None:
        # Only between topics: a link to anywhere else would leave the machine.
        name = Path(url.path()).stem
        if not url.scheme() and name:
            self.show_topic(name)


def _space_blocks(document: QTextDocument, line: float) -> None:
    from PySide6.QtGui import QTextBlockFormat, QTextCursor

    cursor = QTextCursor(document)
    cursor.select(QTextCursor.SelectionType.Document)
    spacing = QTextBlockFormat()
    spacing.setLineHeight(line, QTextBlockFormat.LineHeightTypes.MinimumHeight.value)
    spacing.setBottomMargin(theme.S)
    cursor.mergeBlockFormat(spacing)
