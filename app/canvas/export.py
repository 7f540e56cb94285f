"""Pictures of a graph: SVG and PDF with sharp lines, PNG with pixels."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QMarginsF, QRectF, QSize, QSizeF
from PySide6.QtGui import QImage, QPageLayout, QPageSize, QPainter, QPdfWriter
from PySide6.QtSvg import QSvgGenerator

from app import theme
from app.canvas.scene import GraphScene
from core.errors import UsageError
from core.settings import write_atomically

PICTURES = ("svg", "png", "pdf")
_MARGIN = 24.0
_DOTS_PER_INCH = 144
#: The longest side of a PNG; a larger graph is drawn smaller.
_MOST_PIXELS = 12_000
#: The longest side of a PDF page in points, which readers of PDF still open.
_MOST_POINTS = 14_000


def export_picture(scene: GraphScene, path: Path, title: str) -> None:
    """Draw the whole graph into a file, whose ending says the format.

    Raises
    ------
    UsageError
        When the ending is none of `PICTURES`, or the graph is empty.
    """
    room = scene.content_rect()
    if room.isEmpty():
        raise UsageError("The graph is empty.", remedy="Add a step first.")
    room = room.adjusted(-_MARGIN, -_MARGIN, _MARGIN, _MARGIN)
    kind = path.suffix.lstrip(".").casefold()
    with scene.unmarked():
        if kind == "png":
            data = _draw_png(scene, room)
        elif kind == "svg":
            data = _draw_svg(scene, room, title)
        elif kind == "pdf":
            data = _draw_pdf(scene, room, title)
        else:
            raise UsageError(
                f"A picture cannot be written as '{kind}'.", remedy=f"Use {', '.join(PICTURES)}."
            )
    write_atomically(path, data)


def _paint(scene: GraphScene, painter: QPainter, target: QRectF, room: QRectF) -> None:
    painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing)
    painter.fillRect(target, theme.current().color("background"))
    scene.render(painter, target, room)
    painter.end()


def _draw_png(scene: GraphScene, room: QRectF) -> bytes:
    scale = min(2.0, _MOST_PIXELS / max(room.width(), room.height()))
    size = QSize(max(1, round(room.width() * scale)), max(1, round(room.height() * scale)))
    image = QImage(size, QImage.Format.Format_ARGB32_Premultiplied)
    _paint(scene, QPainter(image), QRectF(0, 0, size.width(), size.height()), room)
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload]  # a str, declared as bytes
    return bytes(data.data())


def _draw_svg(scene: GraphScene, room: QRectF, title: str) -> bytes:
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    generator.setTitle(title)
    target = QRectF(0, 0, room.width(), room.height())
    generator.setSize(target.size().toSize())
    generator.setViewBox(target)
    _paint(scene, QPainter(generator), target, room)
    return bytes(data.data())


def _draw_pdf(scene: GraphScene, room: QRectF, title: str) -> bytes:
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QPdfWriter(buffer)
    writer.setTitle(title)
    writer.setResolution(_DOTS_PER_INCH)
    # One page of the graph's own size: nothing is cut, and a printer fits it to its paper.
    points = min(0.75, _MOST_POINTS / max(room.width(), room.height()))
    size = QPageSize(
        QSizeF(room.width() * points, room.height() * points),
        QPageSize.Unit.Point,
        title,
        QPageSize.SizeMatchPolicy.ExactMatch,
    )
    writer.setPageLayout(QPageLayout(size, QPageLayout.Orientation.Portrait, QMarginsF(0, 0, 0, 0)))
    painter = QPainter(writer)
    port = painter.viewport()
    _paint(scene, painter, QRectF(0, 0, port.width(), port.height()), room)
    return bytes(data.data())
