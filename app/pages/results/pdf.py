"""The PDF printer port on Qt's own layout and PDF writer; works off the UI thread and without a window."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QMarginsF, QSize, Qt, QThread, QUrl
from PySide6.QtGui import (
    QColor,
    QFont,
    QGuiApplication,
    QImage,
    QPageLayout,
    QPageSize,
    QPainter,
    QPdfWriter,
    QTextBlockFormat,
    QTextCursor,
    QTextDocument,
)
from PySide6.QtSvg import QSvgRenderer

from app.pages.results.pagination import print_pages
from app.theme import load_fonts
from app.widgets.basics import is_right_to_left
from core.settings import write_atomically

_RESOLUTION = 144
_FIGURE = re.compile(r"<svg\b.*?</svg>", re.DOTALL)
#: Room between the margins of a page, in the page's own pixels, and dots a pixel of a figure.
_PAGE_WIDTH, _FINE = 640, 3


def pdf_bytes(html: str, title: str = "Report") -> bytes:
    """A self-contained page as PDF, A4.

    Qt lays out a subset of HTML and CSS; the report's print form keeps within it. A QGuiApplication
    must be there for its fonts.
    """
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QPdfWriter(buffer)
    writer.setTitle(title)
    writer.setCreator("Rifugio")
    writer.setResolution(_RESOLUTION)
    writer.setPageSize(QPageSize(QPageSize.PageSizeId.A4))
    # The text brings its own margins.
    writer.setPageMargins(QMarginsF(0, 0, 0, 0), QPageLayout.Unit.Millimeter)
    document = QTextDocument()
    document.setDocumentMargin(0)
    font = document.defaultFont()
    # Inter draws a sign beside a capital or a figure higher, with a glyph that the file does not name:
    # '(Q4)' would be copied as '&Q4*'.
    font.setFeature(QFont.Tag("calt"), 0)
    document.setDefaultFont(font)
    document.setHtml(_place_figures(document, html))
    _turn_paragraphs(document)
    print_pages(document, writer)
    buffer.close()
    return bytes(data.data())


def _turn_paragraphs(document: QTextDocument) -> None:
    """Let each paragraph run as its first letter does, which a page asks for by ``dir="auto"``.

    Qt's rich text reads that as left to right, where a dose in an Arabic sentence changes its place.
    """
    right = QTextBlockFormat()
    right.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    cursor = QTextCursor(document)
    block = document.begin()
    while block.isValid():
        text = block.text()
        if not text.isascii() and is_right_to_left(text):
            cursor.setPosition(block.position())
            cursor.mergeBlockFormat(right)
        block = block.next()


def _place_figures(document: QTextDocument, html: str) -> str:
    """The page with its SVG figures as pictures of the document; Qt's rich text draws none itself."""

    def place(match: re.Match[str]) -> str:
        renderer = QSvgRenderer(QByteArray(match.group(0).encode()))
        size = renderer.defaultSize()
        if not renderer.isValid() or size.isEmpty():
            return ""
        image = QImage(size * _FINE, QImage.Format.Format_RGB32)
        image.fill(QColor("white"))
        painter = QPainter(image)
        renderer.render(painter)
        painter.end()
        name = f"figure:{match.start()}"
        document.addResource(QTextDocument.ResourceType.ImageResource, QUrl(name), image)
        shown = size.scaled(QSize(_PAGE_WIDTH, size.height()), Qt.AspectRatioMode.KeepAspectRatio)
        return f'<img src="{name}" width="{shown.width()}" height="{shown.height()}">'

    return _FIGURE.sub(place, html)


class _Printing(QThread):
    """Lays out on a thread of its own: a text document starts timers, which a thread of Python has not."""

    def __init__(self, html: str, title: str) -> None:
        super().__init__()
        self._html, self._title = html, title
        self.data = b""
        self.error: Exception | None = None

    def run(self) -> None:
        try:
            self.data = pdf_bytes(self._html, self._title)
        except Exception as error:
            self.error = error


class QtPdfPrinter:
    """`core.ports.PdfPrinter`; makes an application object without a display where there is none.

    Called off the window's thread it leaves that thread alone.
    """

    def print_html(self, html: str, path: Path) -> None:
        """Write the page as a PDF, all or nothing."""
        application = QGuiApplication.instance()
        if application is None:
            self._application = QGuiApplication([*sys.argv[:1], "-platform", "offscreen"])
            load_fonts()
        elif QThread.currentThread() is not application.thread():
            printing = _Printing(html, path.stem)
            printing.start()
            printing.wait()
            if printing.error is not None:
                raise printing.error
            write_atomically(path, printing.data)
            return
        write_atomically(path, pdf_bytes(html, path.stem))
