"""Reading DOCX: headings, lists, tables, notes; tracked changes are taken as accepted."""

from __future__ import annotations

import io
import zipfile
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from core.errors import KnownError

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
#: Content that is not there once every change is accepted, or is another drawing of the same thing.
_GONE = {f"{_W}del", f"{_W}moveFrom", f"{_W}instrText", f"{_W}delText", f"{_W}pPr", f"{_W}rPr"}
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_LARGEST_RATIO = 500
_LARGEST_BYTES = 1_000_000_000


def read_docx(data: bytes) -> str:
    """The text of a DOCX file; headings begin with '#', list items with '-' or a number.

    Raises
    ------
    KnownError
        When it is no DOCX file or is damaged.
    """
    _check_archive(data)
    try:
        import docx

        document = docx.Document(io.BytesIO(data))
        lists = _Lists(document)
        blocks = list(_read_blocks(document.element.body, document, lists))
        blocks += _read_notes(document)
    except KnownError:
        raise
    except Exception as error:
        # python-docx, zipfile and lxml each raise their own kinds for damaged files.
        raise KnownError("is damaged.", details=f"{type(error).__name__}: {error}") from error
    return "\n".join(blocks).strip()


def _check_archive(data: bytes) -> None:
    """Refuse what is no archive, or would unpack to far more than it is."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise KnownError("is damaged.", details=str(error)) from error
    if not any(entry.filename == "[Content_Types].xml" for entry in entries):
        raise KnownError("is an archive of other files, not a Word document.")
    total = sum(entry.file_size for entry in entries)
    if total > _LARGEST_BYTES or total > _LARGEST_RATIO * len(data) + 10_000_000:
        raise KnownError("would unpack to far more than it is.")


def _read_blocks(parent: Any, document: Any, lists: _Lists) -> Iterator[str]:
    for element in parent:
        if element.tag == f"{_W}p":
            yield from _read_paragraph(element, document, lists)
        elif element.tag == f"{_W}tbl":
            yield from _read_table(element, document, lists)
        elif element.tag in (f"{_W}sdt", f"{_W}sdtContent", f"{_W}ins", f"{_W}moveTo"):
            yield from _read_blocks(element, document, lists)


def _read_paragraph(element: Any, document: Any, lists: _Lists) -> Iterator[str]:
    text = _text(element).strip("\n")
    style = _style(element, document)
    if not text.strip():
        yield ""
    elif style.startswith("heading") or style == "title":
        level = style.removeprefix("heading").strip()
        depth = max(1, min(6, int(level))) if level.isdigit() else 1
        yield ""
        yield f"{'#' * depth} {text.strip()}"
        yield ""
    else:
        mark = lists.mark(element, style)
        yield f"{mark}{text}" if mark else text


def _read_table(element: Any, document: Any, lists: _Lists) -> Iterator[str]:
    yield ""
    for row in element.iter(f"{_W}tr"):
        if next(row.iterancestors(f"{_W}tbl")) is not element:
            continue
        if row.find(f"{_W}trPr/{_W}del") is not None:
            continue
        cells = []
        for cell in row.findall(f"{_W}tc"):
            lines = [line.strip() for line in _read_blocks(cell, document, lists) if line.strip()]
            cells.append(" ".join(lines))
        yield " | ".join(cells)
    yield ""


def _text(element: Any) -> str:
    parts: list[str] = []

    def walk(node: Any) -> None:
        for child in node:
            tag = child.tag
            if tag in _GONE or tag == _FALLBACK:
                continue
            if tag == f"{_W}t":
                parts.append(child.text or "")
            elif tag == f"{_W}tab":
                parts.append("\t")
            elif tag in (f"{_W}br", f"{_W}cr"):
                parts.append("\n")
            elif tag == f"{_W}noBreakHyphen":
                parts.append("-")
            elif tag == f"{_W}footnoteReference":
                parts.append(f"[{child.get(f'{_W}id')}]")
            elif isinstance(tag, str):
                walk(child)

    walk(element)
    return "".join(parts)


def _style(element: Any, document: Any) -> str:
    node = element.find(f"{_W}pPr/{_W}pStyle")
    if node is None:
        return ""
    identifier = node.get(f"{_W}val")
    for style in document.styles.element.findall(f"{_W}style"):
        if style.get(f"{_W}styleId") == identifier:
            name = style.find(f"{_W}name")
            return str(name.get(f"{_W}val") if name is not None else identifier).casefold()
    return str(identifier).casefold()


class _Lists:
    """Which mark an item of a list has, and the numbers counted so far."""

    def __init__(self, document: Any) -> None:
        self._formats: dict[tuple[str, str], str] = {}
        self._counts: dict[str, dict[int, int]] = defaultdict(dict)
        #: Numbering that a style brings with it, by the style's name.
        self._styles: dict[str, Any] = {}
        for style in document.styles.element.findall(f"{_W}style"):
            name, found = style.find(f"{_W}name"), style.find(f"{_W}pPr/{_W}numPr")
            if name is not None and found is not None:
                self._styles[str(name.get(f"{_W}val")).casefold()] = found
        try:
            root = document.part.numbering_part.element
        except (KeyError, NotImplementedError, AttributeError):
            return
        kinds = {
            abstract.get(f"{_W}abstractNumId"): {
                level.get(f"{_W}ilvl"): level.find(f"{_W}numFmt").get(f"{_W}val")
                for level in abstract.findall(f"{_W}lvl")
                if level.find(f"{_W}numFmt") is not None
            }
            for abstract in root.findall(f"{_W}abstractNum")
        }
        for number in root.findall(f"{_W}num"):
            link = number.find(f"{_W}abstractNumId")
            if link is None:
                continue
            for level, kind in kinds.get(link.get(f"{_W}val"), {}).items():
                self._formats[number.get(f"{_W}numId"), level] = kind

    def mark(self, element: Any, style: str) -> str:
        """'- ', '2. ' with its indent, or '' for a paragraph that is no item."""
        properties = element.find(f"{_W}pPr/{_W}numPr")
        if properties is None:
            properties = self._styles.get(style)
        if properties is None:
            return ""
        number = properties.find(f"{_W}numId")
        level = properties.find(f"{_W}ilvl")
        name = number.get(f"{_W}val") if number is not None else "0"
        depth = level.get(f"{_W}val") if level is not None else "0"
        if name == "0":
            return ""
        indent = "  " * int(depth)
        kind = self._formats.get((name, depth), "bullet")
        if kind in ("bullet", "none"):
            return f"{indent}- "
        counts = self._counts[name]
        counts[int(depth)] = counts.get(int(depth), 0) + 1
        for deeper in [d for d in counts if d > int(depth)]:
            del counts[deeper]
        return f"{indent}{counts[int(depth)]}. "


def _read_notes(document: Any) -> list[str]:
    """Footnotes, each under its number, after the text."""
    from lxml import etree  # type: ignore[import-untyped]

    lines = []
    for relation in document.part.rels.values():
        if relation.is_external or not relation.reltype.endswith("/footnotes"):
            continue
        parser = etree.XMLParser(resolve_entities=False, no_network=True)
        root = etree.fromstring(relation.target_part.blob, parser)
        for note in root.findall(f"{_W}footnote"):
            text = " ".join(_text(note).split())
            if text and note.get(f"{_W}type") is None:
                lines.append(f"[{note.get(f'{_W}id')}] {text}")
    return ["", *lines] if lines else []
