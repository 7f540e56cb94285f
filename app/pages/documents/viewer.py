"""A document page by page: a PDF's page as it looks, or its text, with a passage marked."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QImage, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QStackedWidget, QVBoxLayout, QWidget

from app import theme
from app.operations import run_query
from app.pages.documents.work import Leaf, read_leaf
from app.session import Session
from app.strings import say
from app.widgets.basics import ElidedLabel, label, row
from app.widgets.buttons import Button, IconButton
from app.widgets.inputs import spin_box
from app.widgets.reader import Mark, Reader

_NARROWEST = 200
#: A page is drawn anew when its place has kept its size for so long.
_RESIZED_MILLISECONDS = 80


class PageImage(QWidget):
    """A drawn page with boxes marked on it; marks have an edge, so that colour is not all."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._image = QImage()
        self._boxes: tuple[tuple[float, float, float, float], ...] = ()
        self.setAccessibleName(say("Page"))

    def set_page(
        self, image: QImage, boxes: tuple[tuple[float, float, float, float], ...], text: str
    ) -> None:
        """Show a page; its text is what assistive tools read."""
        self._image, self._boxes = image, boxes
        self.setAccessibleDescription(text)
        self.setFixedSize(image.deviceIndependentSize().toSize())
        self.update()

    @property
    def first_mark(self) -> float:
        """Where the first mark begins, as a share of the height."""
        return min((box[1] for box in self._boxes), default=0.0)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.drawImage(QPointF(0, 0), self._image)
        painter.setPen(QPen(theme.current().color("border"), 1))
        painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
        current = theme.current()
        edge = current.color("accent")
        fill = QColor(edge)
        fill.setAlpha(48)
        painter.setPen(QPen(edge, 0.8))
        painter.setBrush(fill)
        for left, top, right, bottom in self._boxes:
            wide, high = self.width(), self.height()
            painter.drawRect(
                QRectF(left * wide, top * high, (right - left) * wide, (bottom - top) * high)
            )


class DocumentViewer(QFrame):
    """Shows one document. ``shown`` tells the page that is in view."""

    shown = Signal(object)

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self.setProperty("role", "card")
        self.setAccessibleName(say("Document"))
        self._document = ""
        self._page = 1
        self._span: tuple[int, int] | None = None
        self._leaf: Leaf | None = None
        self._generation = 0
        self._width = 0
        self._resized = QTimer(self)
        self._resized.setSingleShot(True)
        self._resized.setInterval(_RESIZED_MILLISECONDS)
        self._resized.timeout.connect(self._fit)
        self.title = ElidedLabel()
        self.title.setProperty("role", "strong")
        self.back = IconButton("chevron-left", say("Page before"))
        self.forth = IconButton("chevron-right", say("Page after"))
        self.number = spin_box(say("Page number"), 1, 1, 1)
        self.number.setKeyboardTracking(False)
        self.of = label("", "small")
        self.as_text = Button(say("As text"), "choice")
        self.as_text.setCheckable(True)
        self.as_text.setMinimumWidth(self.as_text.sizeHint().width())
        self.back.clicked.connect(lambda: self.turn(-1))
        self.forth.clicked.connect(lambda: self.turn(1))
        self.number.valueChanged.connect(self._on_number)
        self.as_text.toggled.connect(self._show_leaf)
        self.image = PageImage()
        self.page_area = QScrollArea()
        self.page_area.setWidget(self.image)
        self.page_area.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
        self.page_area.setAccessibleName(say("Page as it looks"))
        self.page_area.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.text = Reader(say("Text of the page"))
        self.stack = QStackedWidget()
        self.stack.addWidget(self.text)
        self.stack.addWidget(self.page_area)
        box = QVBoxLayout(self)
        box.setContentsMargins(theme.L, theme.M, theme.L, theme.L)
        box.setSpacing(theme.S)
        head = row(self.title)
        head.setStretch(0, 1)
        for part in (self.as_text, self.back, self.number, self.of, self.forth):
            head.addWidget(part)
        box.addLayout(head)
        box.addWidget(self.stack, 1)
        self._dress()
        self._show_leaf()

    @property
    def document_id(self) -> str:
        return self._document

    @property
    def page(self) -> int:
        """The page in view, from 1."""
        return self._page

    def show_document(
        self, document_id: str, *, page: int = 1, span: tuple[int, int] | None = None
    ) -> None:
        """Show a page; with a ``span`` of the document's text and page 0, the page it begins on."""
        self._document, self._span = document_id, span
        self._read(page)

    def clear(self) -> None:
        """Show nothing."""
        self._generation += 1
        self._document, self._leaf, self._span = "", None, None
        self._show_leaf()

    def turn(self, by: int) -> None:
        """Go so many pages on."""
        if self._leaf is not None:
            wanted = max(1, min(self._leaf.count, self._page + by))
            if wanted != self._page:
                self._read(wanted)

    def _read(self, page: int) -> None:
        if not self._document:
            return
        self._generation += 1
        generation = self._generation
        self._width = self._page_width()

        def take(leaf: Leaf) -> None:
            if generation == self._generation:
                self._take(leaf)

        pixels = round(self._width * self.devicePixelRatioF())
        run_query(
            self, read_leaf, self.session.workspace, self._document, page, self._span, pixels
        ).success(take)

    def _take(self, leaf: Leaf) -> None:
        self._leaf, self._page = leaf, leaf.page
        self._show_leaf()
        self.shown.emit(leaf.page)

    def _show_leaf(self) -> None:
        leaf = self._leaf
        several = leaf is not None and leaf.count > 1
        for part in (self.back, self.number, self.of, self.forth):
            part.setVisible(several)
        self.as_text.setVisible(leaf is not None and leaf.drawn is not None)
        if leaf is None:
            self.title.setText(say("No document chosen"))
            self.text.set_sections(())
            self.stack.setCurrentWidget(self.text)
            return
        self.title.setText(leaf.document.title)
        was = self.number.blockSignals(True)
        self.number.setRange(1, leaf.count)
        self.number.setValue(leaf.page)
        self.number.blockSignals(was)
        self.of.setText(say("of {count}", count=leaf.count))
        self.back.setEnabled(leaf.page > 1)
        self.forth.setEnabled(leaf.page < leaf.count)
        self.text.set_text(leaf.text or say("There is no text on this page."))
        self.text.set_marks([Mark(0, *leaf.marked)] if leaf.marked else [])
        if leaf.drawn is not None and not self.as_text.isChecked():
            self._show_image(leaf)
        else:
            self.stack.setCurrentWidget(self.text)
            if leaf.marked:
                self._scroll_to_mark(leaf.marked[0])

    def _show_image(self, leaf: Leaf) -> None:
        assert leaf.drawn is not None
        drawn = leaf.drawn
        image = QImage(
            drawn.pixels, drawn.width, drawn.height, drawn.stride, QImage.Format.Format_RGB32
        ).copy()
        image.setDevicePixelRatio(self.devicePixelRatioF())
        self.image.set_page(image, leaf.boxes, leaf.text)
        self.stack.setCurrentWidget(self.page_area)
        top = round(self.image.first_mark * self.image.height()) - theme.current().px(80)
        self.page_area.verticalScrollBar().setValue(max(0, top) if leaf.boxes else 0)

    def _scroll_to_mark(self, start: int) -> None:
        cursor = self.text.textCursor()
        cursor.setPosition(self.text.position_of(0, start))
        self.text.setTextCursor(cursor)
        self.text.ensureCursorVisible()

    def _on_number(self, page: int) -> None:
        self._read(page)

    def _page_width(self) -> int:
        bar = self.page_area.verticalScrollBar().sizeHint().width()
        return max(_NARROWEST, self.stack.width() - bar - 4)

    def _dress(self) -> None:
        self.number.setMinimumWidth(theme.current().px(64))

    def _fit(self) -> None:
        """Draw the page anew where it got too wide for its place, or much too narrow."""
        wanted = self._page_width()
        if wanted < self._width or wanted > self._width + 40:
            self._read(self._page)

    # -- Qt ------------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._leaf is not None and self._leaf.drawn is not None:
            self._resized.start()

    def sizeHint(self) -> QSize:
        return QSize(520, 640)
