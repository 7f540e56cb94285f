"""One way in for every kind of file: bytes to text with pages, or one line that says why not."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from core.documents.pdf import PasswordNeededError, read_pages
from core.documents.text import NotTextError, decode_text, tidy
from core.documents.web import read_html
from core.documents.word import read_docx
from core.errors import Cancelled, InputError, KnownError
from core.types.documents import DocumentFormat

SUFFIXES: dict[str, DocumentFormat] = {
    ".pdf": "pdf",
    ".docx": "docx",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".md": "markdown",
    ".markdown": "markdown",
    ".txt": "text",
    ".text": "text",
}
_PAGE_BREAK = "\n\n"
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_LARGEST = 2_000_000_000
_LISTED_PAGES = 12


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """A file as read. ``starts`` are the code-point offsets at which its pages begin."""

    name: str
    format: DocumentFormat
    data: bytes
    text: str
    starts: tuple[int, ...]
    recognised: tuple[int, ...]
    notes: tuple[str, ...]

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()

    @property
    def text_sha256(self) -> str:
        return hash_text(self.text)


def hash_text(text: str) -> str:
    """SHA-256 of a text in UTF-8."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def find_documents(paths: Iterable[Path]) -> list[Path]:
    """The files named, and of folders all files in them of a kind that can be read, in order."""
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            for folder, folders, names in os.walk(path):
                folders.sort()
                found += [
                    Path(folder, name)
                    for name in sorted(names)
                    if Path(name).suffix.casefold() in SUFFIXES and not name.startswith((".", "~$"))
                ]
        else:
            found.append(path)
    return list(dict.fromkeys(found))


def read_file(path: Path) -> bytes:
    """A file's bytes.

    Raises
    ------
    InputError
        When it is missing, empty, too large or may not be read.
    """
    try:
        size = path.stat().st_size
        if size > _LARGEST:
            raise InputError("is larger than 2 GB.", path=path, remedy="Divide it.")
        data = path.read_bytes()
    except PermissionError as error:
        raise InputError(
            "may not be read.", path=path, remedy="Ask its owner, or copy it to a folder of yours."
        ) from error
    except FileNotFoundError as error:
        raise InputError("is not there.", path=path, remedy="Check the name.") from error
    except IsADirectoryError as error:
        raise InputError("is a folder.", path=path, remedy="Choose files in it.") from error
    except OSError as error:
        raise InputError(
            f"cannot be read: {error.strerror or error}.", path=path, remedy="Copy it first."
        ) from error
    if not data:
        raise InputError("is empty (0 bytes).", path=path, remedy="Get the file again.")
    return data


def read_document(
    path: Path, data: bytes | None = None, on_page: Callable[[int, int], None] | None = None
) -> ReadDocument:
    """Read a file by what it is, which its first bytes say better than its name.

    Parameters
    ----------
    on_page
        Called before each page of a PDF with its number from 0 and the count; may raise to stop.

    Raises
    ------
    InputError
        In one line: what is wrong with the file and what to do.
    """
    data = read_file(path) if data is None else data
    format = _tell_format(path, data)
    try:
        if format == "pdf":
            return _read_pdf(path, data, on_page)
        if format == "docx":
            text = read_docx(data)
        elif format == "html":
            text = read_html(data)
        else:
            text = decode_text(data)
    except PasswordNeededError as error:
        raise InputError(
            "is protected by a password.",
            path=path,
            remedy="Open it with the password and save a copy without one.",
        ) from error
    except NotTextError as error:
        raise InputError(
            "is not text, whatever its name says.",
            path=path,
            remedy="Choose PDF, DOCX, HTML, Markdown or text files.",
        ) from error
    except (InputError, Cancelled):
        raise
    except KnownError as error:
        raise InputError(
            error.message, path=path, remedy="Get the file again.", details=error.details
        ) from error
    text = tidy(text)
    if not text.strip():
        raise InputError("has no text.", path=path, remedy="Choose a file with text in it.")
    return ReadDocument(path.name, format, data, text, (0,), (), ())


def _tell_format(path: Path, data: bytes) -> DocumentFormat:
    head = data[:1024].lstrip()
    if b"%PDF-" in data[:1024]:
        return "pdf"
    if data.startswith(b"PK\x03\x04"):
        return "docx"
    if data.startswith(_OLE):
        raise InputError(
            "is protected by a password, or in Word's old format.",
            path=path,
            remedy="Open it in Word or LibreOffice and save it as DOCX without a password.",
        )
    named = SUFFIXES.get(path.suffix.casefold())
    if named in ("pdf", "docx"):
        raise InputError(
            f"is no {named.upper()} file, whatever its name says.",
            path=path,
            remedy="Get the file again, or give it the ending of what it is.",
        )
    if named is not None:
        return named
    lowered = head[:200].lower()
    return "html" if lowered.startswith((b"<!doctype html", b"<html")) else "text"


def _read_pdf(path: Path, data: bytes, on_page: Callable[[int, int], None] | None) -> ReadDocument:
    pages = read_pages(data, on_page)
    recognised = tuple(n for n, page in enumerate(pages, 1) if page.recognised)
    empty = [n for n, page in enumerate(pages, 1) if page.empty]
    if len(empty) == len(pages):
        raise InputError(
            f"has no text on any of its {len(pages)} pages; it is a scan.",
            path=path,
            remedy="Install Tesseract to have its pages recognised, then import it again.",
        )
    lengths = [len(page.text) + len(_PAGE_BREAK) for page in pages]
    starts = tuple(accumulate([0, *lengths[:-1]]))
    notes = []
    if recognised:
        notes.append(f"Recognised from the picture: {_name_pages(recognised)}.")
    if empty:
        notes.append(f"No text on {_name_pages(empty)}.")
    text = _PAGE_BREAK.join(page.text for page in pages)
    return ReadDocument(path.name, "pdf", data, text, starts, recognised, tuple(notes))


def _name_pages(pages: Iterable[int]) -> str:
    """'page 3', 'pages 1, 4 and 7', cut after a dozen."""
    numbers = [str(number) for number in pages]
    if len(numbers) == 1:
        return f"page {numbers[0]}"
    if len(numbers) > _LISTED_PAGES:
        more = len(numbers) - _LISTED_PAGES
        return f"pages {', '.join(numbers[:_LISTED_PAGES])} and {more} more"
    return f"pages {', '.join(numbers[:-1])} and {numbers[-1]}"
