"""Searching passages: a field, where to look, and what was found with the words around it."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import (
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app import theme
from app.operations import run_query
from app.pages.documents.work import search
from app.session import Session
from app.strings import count_of, say
from app.widgets.basics import Card, is_right_to_left, label
from app.widgets.inputs import ComboBox, SearchField
from core.documents.search import Hit
from core.storage.workspace import Workspace
from core.types import Field
from core.types.documents import Document

_SNIPPET = 220
_LINES = 3


class _HitDelegate(QStyledItemDelegate):
    """A line that says where, and some lines of what stands there."""

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        current = theme.current()
        painter.save()
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        if chosen:
            painter.fillRect(option.rect, current.color("accent_soft"))
            painter.fillRect(
                QRect(option.rect.topLeft(), QSize(3, option.rect.height())),
                current.color("accent"),
            )
        where, snippet = str(index.data(Qt.ItemDataRole.DisplayRole)).split("\n", 1)
        area = option.rect.adjusted(theme.M, theme.S, -theme.S, -theme.S)
        painter.setFont(current.ui_font(theme.SMALL, weight=600))
        painter.setPen(current.color("accent" if chosen else "muted"))
        metrics = painter.fontMetrics()
        line = metrics.height()
        painter.drawText(
            QRect(area.topLeft(), QSize(area.width(), line)),
            Qt.AlignmentFlag.AlignLeft,
            metrics.elidedText(where, Qt.TextElideMode.ElideMiddle, area.width()),
        )
        painter.setFont(current.ui_font(theme.SMALL + 1))
        painter.setPen(current.color("text"))
        side = Qt.AlignmentFlag.AlignRight if is_right_to_left(snippet) else Qt.AlignmentFlag(0)
        painter.drawText(
            area.adjusted(0, line + 2, 0, 0),
            int(Qt.TextFlag.TextWordWrap) | int(side.value),
            snippet,
        )
        painter.restore()

    def sizeHint(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        current = theme.current()
        small = QFontMetrics(current.ui_font(theme.SMALL, weight=600)).height()
        lines = QFontMetrics(current.ui_font(theme.SMALL + 1)).lineSpacing() * _LINES
        return QSize(120, small + 2 + lines + 2 * theme.S)


class SearchPanel(Card):
    """Emits the chosen hit."""

    chosen = Signal(object)

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(say("Search passages"), parent=parent)
        self.session = session
        self._hits: list[Hit] = []
        self._query = ""
        self._generation = 0
        self.current_document = ""
        self.field = SearchField(say("Words, or a question"))
        self.where = ComboBox(say("Where to search"))
        self.where.setMinimumWidth(10)
        self.where.setSizeAdjustPolicy(
            ComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self.results = QListWidget()
        self.results.setAccessibleName(say("Passages found"))
        self.results.hide()
        self.results.setItemDelegate(_HitDelegate(self.results))
        self.results.setProperty("role", "bare")
        self.results.setFrameShape(QListWidget.Shape.NoFrame)
        self.results.setVerticalScrollMode(QListWidget.ScrollMode.ScrollPerPixel)
        self.results.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.state = label(
            say("Finds passages by their words and by what they mean."), "small", wrap=True
        )
        for part in (self.field, self.where, self.state):
            self.add(part)
        self.add(self.results, 1)
        self.box.addStretch()
        self.field.searched.connect(self.search)
        self.field.left_down.connect(self.results.setFocus)
        self.where.activated.connect(lambda _index: self.search(self._query))
        self.results.currentRowChanged.connect(self._choose)
        self.results.itemActivated.connect(lambda _item: self._choose(self.results.currentRow()))
        self._fill_where([])

    @property
    def hits(self) -> list[Hit]:
        return self._hits

    def refresh(self) -> None:
        """Read the fields that documents are of; search again."""
        run_query(self, _read_fields, self.session.workspace).success(self._fill_where)
        if self._query:
            self.search(self._query)

    def search(self, query: str) -> None:
        """Search; an answer that a later one overtakes is dropped."""
        self._query = query.strip()
        self._generation += 1
        generation = self._generation
        if not self._query:
            self._take([], True)
            self.state.setText(say("Finds passages by their words and by what they mean."))
            return
        kind, value = self.where.value or ("all", "")
        documents = (self.current_document,) if kind == "this" and self.current_document else ()

        def take(answer: tuple[list[Hit], bool]) -> None:
            if generation == self._generation:
                self._take(*answer)

        run_query(
            self,
            search,
            self.session.workspace,
            self.session.models,
            self._query,
            documents,
            value if kind == "field" else "",
        ).success(take)

    def _take(self, hits: list[Hit], by_meaning: bool) -> None:
        self._hits = hits
        was = self.results.blockSignals(True)
        self.results.clear()
        for hit in hits:
            item = QListWidgetItem(f"{_where(hit)}\n{snippet_of(hit, self._query)}")
            self.results.addItem(item)
        self.results.blockSignals(was)
        self.results.setVisible(bool(hits))
        words = count_of(len(hits), say("passage"), say("passages"))
        if not by_meaning:
            words += say(", by words alone: there is no embedding model")
        self.state.setText(words)

    def _choose(self, place: int) -> None:
        if 0 <= place < len(self._hits):
            self.chosen.emit(self._hits[place])

    def _fill_where(self, fields: list[Field]) -> None:
        kept = self.where.value
        entries: list[tuple[str, object]] = [
            (say("In all documents"), ("all", "")),
            (say("In the document shown"), ("this", "")),
        ]
        entries += [(say("In documents of {field}", field=f.name), ("field", f.id)) for f in fields]
        self.where.fill(entries)
        values = [value for _text, value in entries]
        self.where.setCurrentIndex(values.index(kept) if kept in values else 0)


def _read_fields(workspace: Workspace) -> list[Field]:
    used = {d.field_id for d in workspace.find(Document, "field_id <> ''")}
    return [field for field in workspace.find(Field, order_by="name") if field.id in used]


def _where(hit: Hit) -> str:
    """The document and the page, or pages, over which the passage goes."""
    first, last = hit.passage.page, hit.passage.page_end
    if last > first:
        return say(
            "{document}, pages {first}–{last}", document=hit.document, first=first, last=last
        )
    return say("{document}, page {page}", document=hit.document, page=first)


def snippet_of(hit: Hit, query: str) -> str:
    """Some lines of a passage around the first word of the query, else from its best window."""
    text = hit.passage.text
    lowered = text.casefold()
    places = [lowered.find(word) for word in query.casefold().split() if len(word) > 2]
    found = [place for place in places if place >= 0]
    start = max(0, min(found) - 60) if found else hit.start
    # From the next word on.
    blank = text.find(" ", start) + 1 if start and not text[start - 1].isspace() else 0
    start = blank if blank and blank <= start + 30 else start
    piece = " ".join(text[start : start + _SNIPPET].split())
    return ("… " if start else "") + piece + (" …" if start + _SNIPPET < len(text) else "")
