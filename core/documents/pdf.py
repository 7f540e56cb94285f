"""Reading and drawing PDF pages with PDFium, which allows one thread at a time."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pypdfium2 as pdfium  # type: ignore[import-untyped]
import pypdfium2.raw as pdfium_raw  # type: ignore[import-untyped]

from core.documents.columns import Rectangle, column_order, join_rows
from core.documents.text import plain_letters, tidy
from core.errors import KnownError

#: PDFium keeps global state and is not safe for threads.
_lock = threading.RLock()
_RECOGNITION_SCALE = 300 / 72
_RECOGNITION_SECONDS = 120


class PasswordNeededError(KnownError):
    """The PDF opens only with a password."""


@dataclass(frozen=True, slots=True)
class PdfPage:
    """A page's text; ``recognised`` from its picture, and ``empty`` when it has none at all."""

    text: str
    recognised: bool = False
    empty: bool = False


@dataclass(frozen=True, slots=True)
class DrawnPage:
    """A page as pixels, 4 bytes each in the order blue, green, red, unused; top row first."""

    width: int
    height: int
    stride: int
    pixels: bytes


@contextmanager
def open_pdf(data: bytes) -> Iterator[Any]:
    """The document, while no other thread uses PDFium.

    Raises
    ------
    PasswordNeededError
        When it is encrypted with a password.
    KnownError
        When it is no PDF or is damaged.
    """
    with _lock:
        try:
            document = pdfium.PdfDocument(data)
        except pdfium.PdfiumError as error:
            if "password" in str(error).casefold():
                raise PasswordNeededError("needs a password.") from error
            raise KnownError("is damaged.", details=str(error)) from error
        try:
            yield document
        finally:
            document.close()


def read_pages(data: bytes, on_page: Callable[[int, int], None] | None = None) -> list[PdfPage]:
    """The text of all pages in reading order.

    Parameters
    ----------
    on_page
        Called before each page with its number from 0 and the count; may raise to stop.
    """
    pages = []
    recognise = shutil.which("tesseract")
    with open_pdf(data) as document:
        total = len(document)
    # The lock is let go between pages, so that a viewer need not wait for a long import.
    for first in range(0, total, 16):
        with open_pdf(data) as document:
            for number in range(first, min(first + 16, total)):
                if on_page is not None:
                    on_page(number, total)
                pages.append(_read_page(document, number, recognise))
    return pages


def _read_page(document: Any, number: int, recognise: str | None) -> PdfPage:
    try:
        page = document[number]
    except pdfium.PdfiumError:
        return PdfPage("", empty=True)
    try:
        raw, order = _raw_text(page)
        text = tidy("".join(raw[i] for i in order) if order else raw).strip()
        if text:
            return PdfPage(text)
        found = _recognise(page, recognise) if recognise else ""
        return PdfPage(found, recognised=bool(found), empty=not found)
    finally:
        page.close()


def _raw_text(page: Any) -> tuple[str, list[int] | None]:
    """PDFium's text of a page, and another order of its characters where it runs across columns."""
    words = page.get_textpage()
    try:
        raw = words.get_text_range()
        if len(raw) != words.count_chars():
            return raw, None
        return raw, column_order(page, words, raw)
    finally:
        words.close()


def _recognise(page: Any, program: str) -> str:
    """Text of a page's picture by Tesseract; '' when it finds none or fails."""
    bitmap = page.render(scale=_RECOGNITION_SCALE, grayscale=True)
    try:
        width, height, stride = bitmap.width, bitmap.height, bitmap.stride
        pixels = bytes(bitmap.buffer)
        rows = b"".join(pixels[y * stride : y * stride + width] for y in range(height))
    finally:
        bitmap.close()
    picture = b"P5 %d %d 255\n" % (width, height) + rows
    try:
        done = subprocess.run(
            [program, "stdin", "stdout"],
            input=picture,
            capture_output=True,
            timeout=_RECOGNITION_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return tidy(done.stdout.decode("utf-8", "replace")).strip() if done.returncode == 0 else ""


def draw_page(data: bytes, number: int, width: int) -> DrawnPage:
    """Draw page ``number`` (from 0) so many pixels wide; raises as `open_pdf` does."""
    with open_pdf(data) as document:
        page = document[number]
        try:
            scale = max(0.05, width / max(page.get_width(), 1.0))
            bitmap = page.render(scale=scale, rev_byteorder=False, prefer_bgrx=True)
            try:
                pixels = ctypes.string_at(bitmap.buffer, bitmap.stride * bitmap.height)
                return DrawnPage(bitmap.width, bitmap.height, bitmap.stride, pixels)
            finally:
                bitmap.close()
        finally:
            page.close()


def find_on_page(data: bytes, number: int, text: str) -> list[Rectangle]:
    """Where the words of ``text`` lie on page ``number`` (from 0), line by line.

    The text may begin before the page or end after it. Rectangles are (left, top, right, bottom) as
    shares of the page's width and height.
    """
    with open_pdf(data) as document:
        page = document[number]
        words = page.get_textpage()
        try:
            raw = words.get_text_range()
            if len(raw) != words.count_chars():
                return []
            span = _locate(raw, text)
            if span is None:
                return []
            wide, high = page.get_width(), page.get_height()
            count = words.count_rects(span[0], span[1] - span[0])
            boxes = [words.get_rect(i) for i in range(count)]
        finally:
            words.close()
            page.close()
    return [
        (left / wide, 1 - top / high, right / wide, 1 - bottom / high)
        for left, bottom, right, top in join_rows(boxes)
    ]


def _locate(raw: str, text: str) -> tuple[int, int] | None:
    """Where the part of ``text`` that stands on the page begins and ends in its characters.

    Compared by letters and digits alone, since white space and hyphens were tidied.
    """
    page, places = _letters(raw)
    wanted, _ = _letters(text)
    if not page or not wanted:
        return None
    for size in (len(wanted), 60, 30, 15):
        if size > len(wanted):
            continue
        head = page.find(wanted[:size])
        if head >= 0:
            length = _common(page[head:], wanted)
            return places[head], places[head + length - 1] + 1
    # It begins on an earlier page: find where its end stands.
    for size in (60, 30, 15):
        tail = page.rfind(wanted[-size:]) if size <= len(wanted) else -1
        if tail >= 0:
            return places[0], places[tail + size - 1] + 1
    if page in wanted:
        return places[0], places[-1] + 1
    return None


def _letters(text: str) -> tuple[str, list[int]]:
    kept: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        for plain in plain_letters(character).casefold():
            if plain.isalnum():
                kept.append(plain)
                places.append(place)
    return "".join(kept), places


def _common(one: str, other: str) -> int:
    low, high = 1, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[:middle] == other[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def write_pdf(pages: Sequence[Sequence[str]]) -> bytes:
    """A plain PDF of lines of Latin-1 text, a page a sequence: for samples, tests and benchmarks."""
    document = pdfium.PdfDocument.new()
    import io

    with _lock:
        font = pdfium_raw.FPDFText_LoadStandardFont(document.raw, b"Helvetica")
        for lines in pages:
            page = document.new_page(595, 842)
            for place, line in enumerate(lines):
                text = pdfium_raw.FPDFPageObj_CreateTextObj(document.raw, font, ctypes.c_float(11))
                encoded = (line + "\0").encode("utf-16-le")
                buffer = ctypes.create_string_buffer(encoded, len(encoded))
                pdfium_raw.FPDFText_SetText(
                    text, ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort))
                )
                pdfium_raw.FPDFPageObj_Transform(text, 1, 0, 0, 1, 56, 780 - 15 * place)
                pdfium_raw.FPDFPage_InsertObject(page.raw, text)
            page.gen_content()
            page.close()
        stream = io.BytesIO()
        document.save(stream)
        document.close()
    return stream.getvalue()
