"""The PDF printer port on Qt's own layout and PDF writer; works off the UI thread and without a window."""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QMarginsF
from PySide6.QtGui import QGuiApplication, QPageLayout, QPageSize, QPdfWriter, QTextDocument

from core.settings import write_atomically

# Qt adds a margin of two centimetres of its own.
_MARGIN = 0.0
_RESOLUTION = 144


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
    writer.setPageMargins(
        QMarginsF(_MARGIN, _MARGIN, _MARGIN, _MARGIN), QPageLayout.Unit.Millimeter
    )
    document = QTextDocument()
    document.setDocumentMargin(0)
    document.setHtml(html)
    document.print_(writer)
    buffer.close()
    return bytes(data.data())


class QtPdfPrinter:
    """`core.ports.PdfPrinter`; makes an application object without a display where there is none."""

    def print_html(self, html: str, path: Path) -> None:
        """Write the page as a PDF, all or nothing."""
        if QGuiApplication.instance() is None:
            self._application = QGuiApplication([*sys.argv[:1], "-platform", "offscreen"])
        write_atomically(path, pdf_bytes(html, path.stem))
