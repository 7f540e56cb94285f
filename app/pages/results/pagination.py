"""A rich text on pages: a heading stays with what it is the heading of, and each page has its number."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QFontMetricsF,
    QPainter,
    QPalette,
    QPdfWriter,
    QTextBlock,
    QTextCursor,
    QTextDocument,
    QTextFormat,
)

#: Two centimetres in dots of a screen; the layout scales them to the writer's.
_MARGIN, _SCREEN_DPI = int(2 / 2.54 * 96), 96

#: What must have room below a heading, in margins: some three lines.
_ROOM = 0.6

_BREAK = QTextFormat.PageBreakFlag.PageBreak_AlwaysBefore


def print_pages(document: QTextDocument, writer: QPdfWriter) -> None:
    """Lay a document out for a writer and draw it page by page; the document keeps that layout.

    `QTextDocument.print_` does the same but breaks pages between any two blocks.
    """
    page = QSizeF(writer.width(), writer.height())
    document.documentLayout().setPaintDevice(writer)
    form = document.rootFrame().frameFormat()
    form.setMargin(_MARGIN)
    document.rootFrame().setFrameFormat(form)
    document.setPageSize(page)
    margin = _MARGIN * writer.logicalDpiY() / _SCREEN_DPI
    _keep_headings(document, page.height(), page.height() - margin - _ROOM * margin)
    context = QAbstractTextDocumentLayout.PaintContext()
    # The window's theme may have white text.
    palette = QPalette()
    palette.setColor(QPalette.ColorRole.Text, Qt.GlobalColor.black)
    context.palette = palette
    painter = QPainter(writer)
    for number in range(document.pageCount()):
        if number:
            writer.newPage()
        painter.save()
        painter.translate(0, -number * page.height())
        context.clip = QRectF(QPointF(0, number * page.height()), page)
        painter.setClipRect(context.clip)
        document.documentLayout().draw(painter, context)
        painter.restore()
        painter.setFont(document.defaultFont())
        words = str(number + 1)
        wide = QFontMetricsF(document.defaultFont(), writer).horizontalAdvance(words)
        painter.drawText(QPointF(page.width() - margin - wide, page.height() - margin / 2), words)
    painter.end()


def _keep_headings(document: QTextDocument, height: float, lowest: float) -> None:
    """Begin a new page before headings that would stand at the end of one, apart from what follows.

    Parameters
    ----------
    height, lowest
        Of a page, and where on it what follows a heading may begin at the lowest.
    """
    for first, follower in _headings_and_next(document):
        # Breaks set before have moved what comes after them: each is looked at as it stands now.
        page = _top(first, document) // height
        if _top(follower, document) > page * height + lowest:
            cursor = QTextCursor(first)
            form = cursor.blockFormat()
            form.setPageBreakPolicy(_BREAK)
            cursor.setBlockFormat(form)


def _headings_and_next(document: QTextDocument) -> Iterator[tuple[QTextBlock, QTextBlock]]:
    """The first of headings that follow one another, and the first block with something in it after them."""
    first: QTextBlock | None = None
    block = document.begin()
    while block.isValid():
        if block.blockFormat().headingLevel():
            first = first or block
        elif first is not None and block.text():
            yield first, block
            first = None
        block = block.next()


def _top(block: QTextBlock, document: QTextDocument) -> float:
    """Where a block's first line stands; a picture that has no room is put below the block's top."""
    line = block.layout().lineAt(0)
    top = document.documentLayout().blockBoundingRect(block).top()
    return float(top + (line.y() if line.isValid() else 0.0))
