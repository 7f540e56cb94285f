"""A plot as a file: SVG, PNG, or the numbers behind it."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QBuffer, QByteArray, QIODevice
from PySide6.QtGui import QImage, QPainter
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QGraphicsView, QWidget

from app import theme
from app.operations import run_query
from app.pages.results.table import plain_cell
from app.strings import say
from app.widgets.dialogs import choose_new_file
from core.settings import write_atomically

#: What a file dialog offers.
FILTERS = "SVG (*.svg);;PNG (*.png);;CSV (*.csv)"
_PNG_SCALE = 2

Lines = Sequence[Sequence[Any]]


def svg_bytes(plot: QGraphicsView) -> bytes:
    """The plot as drawn, as SVG without references to anything outside."""
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    generator.setSize(plot.size())
    generator.setViewBox(plot.rect())
    # The resolution the plot was laid out for: axes and bars are kept as pictures, which are drawn
    # larger or smaller where that of their device is another, and then are beside their marks.
    generator.setResolution(plot.logicalDpiX())
    generator.setTitle(plot.accessibleName())
    generator.setDescription(plot.accessibleDescription())
    painter = QPainter(generator)
    plot.render(painter)
    painter.end()
    buffer.close()
    return bytes(data.data())


def png_bytes(plot: QGraphicsView) -> bytes:
    """The plot as drawn, twice as large as on the screen."""
    image = QImage(plot.size() * _PNG_SCALE, QImage.Format.Format_ARGB32)
    image.setDevicePixelRatio(_PNG_SCALE)
    image.fill(theme.current().color("surface"))
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    plot.render(painter)
    painter.end()
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload]  # a str, declared as bytes
    return bytes(data.data())


def csv_bytes(lines: Lines) -> bytes:
    """Numbers as CSV, text made safe for spreadsheets."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    for line in lines:
        writer.writerow([plain_cell(cell) if isinstance(cell, str) else cell for cell in line])
    return stream.getvalue().encode()


def plot_file(plot: QGraphicsView, lines: Lines, path: Path) -> bytes:
    """What to write for a path, by its ending; on the UI thread, since it draws."""
    suffix = path.suffix.casefold()
    if suffix == ".png":
        return png_bytes(plot)
    return csv_bytes(lines) if suffix == ".csv" else svg_bytes(plot)


def save_plot(
    owner: QWidget,
    plot: QGraphicsView,
    lines: Callable[[], Lines],
    name: str,
    done: Callable[[Path], object],
) -> None:
    """Ask for a file and write the plot, or its numbers, into it."""

    def write(paths: list[Path]) -> None:
        write_plot(owner, plot, lines(), paths[0], done)

    choose_new_file(owner, say("Save the figure"), FILTERS, f"{name}.svg", write)


def write_plot(
    owner: QWidget, plot: QGraphicsView, lines: Lines, path: Path, done: Callable[[Path], object]
) -> None:
    """Draw on this thread, write on another."""
    data = plot_file(plot, lines, path)
    run_query(owner, write_atomically, path, data).success(lambda _none: done(path))
