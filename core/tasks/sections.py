"""Reading a task's sections out of free text, leniently, and writing them back.

Models write headings as markdown, bold, numbered, underlined, in capitals, or as 'Title: text'. Each
form that equals a section's title (case, numbering, punctuation aside) opens that section. Headings
that match no section are kept under their own title, so that nothing written is lost.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from core.types import SectionSpec, SectionText

_MARKDOWN = re.compile(r"^\s{0,3}#{1,6}\s+(?P<title>.+?)\s*#*\s*$")
_BOLD = re.compile(
    r"^\s*(?:[-*]\s+)?(?:\d{1,2}[.)]\s*)?(?P<mark>\*\*|__)(?P<title>[^*_\n]{1,120}?)\s*:?\s*(?P=mark)"
    r"\s*:?\s*(?P<rest>.*)$"
)
_NUMBERED = re.compile(
    r"^\s*(?:\(?(?:\d{1,2}|[A-Z]|[ivx]{1,4})[.)])\s+(?P<title>[^:\n]{1,120}?):?\s*$"
)
_TITLE_COLON = re.compile(
    r"^\s*(?:[-*]\s+)?(?:\(?(?:\d{1,2}|[A-Z])[.)]\s+)?(?P<title>[^:\n]{1,120}?)\s*:\s*(?P<rest>.*)$"
)
_UNDERLINE = re.compile(r"^\s*(?:={3,}|-{3,})\s*$")
_LEADING_NUMBER = re.compile(r"^\(?(?:\d{1,2}|[ivx]{1,4}|[a-z])[.)]\s+", re.IGNORECASE)
_SECTION_WORD = re.compile(r"^section\s+\d+\s*[:.\-–—]?\s*", re.IGNORECASE)
_BRACKETS = re.compile(r"\s*\([^)]*\)\s*$")
_CAPITALS_LONGEST = 60


@dataclass(frozen=True, slots=True)
class ParsedText:
    """A text in sections: the task's in their order of appearance, others among them.

    Text before the first heading stands under an empty title. ``missing`` lists the titles of the
    task's sections that were not found or are empty, ``extra`` the titles found that the task lacks.
    """

    sections: tuple[SectionText, ...]
    missing: tuple[str, ...]
    extra: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Heading:
    title: str
    rest: str = ""
    certain: bool = (
        False  # Formatted as a heading, so it opens a section even if the task lacks it.
    )


def normalise_title(title: str) -> str:
    """A title as it is compared: case folded, without numbering, punctuation and emphasis."""
    text = unicodedata.normalize("NFKC", title).casefold().strip().strip("*_#` ")
    text = _SECTION_WORD.sub("", text) or text
    text = _LEADING_NUMBER.sub("", text).replace("&", " and ")
    text = "".join(
        " " if unicodedata.category(character)[0] in "PZ" else character for character in text
    )
    return " ".join(text.split())


def parse_sections(text: str, specs: Sequence[SectionSpec]) -> ParsedText:
    """Split a text into the sections a task asks for.

    A task with one section takes a text without headings whole. Text that repeats a heading is
    joined to what stood there before.
    """
    titles = {normalise_title(spec.title): spec.title for spec in specs}
    for spec in specs:
        titles.setdefault(normalise_title(_BRACKETS.sub("", spec.title)), spec.title)
    order: list[str] = []
    bodies: dict[str, list[str]] = {}

    def open_section(title: str) -> str:
        if title not in bodies:
            order.append(title)
            bodies[title] = []
        return title

    current = open_section("")
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    fenced = False
    index = 0
    while index < len(lines):
        line = lines[index]
        following = lines[index + 1] if index + 1 < len(lines) else ""
        index += 1
        if line.lstrip().startswith("```"):
            fenced = not fenced
        heading = None if fenced else _read_heading(line, following, titles)
        if heading is None:
            bodies[current].append(line)
            continue
        known = _known_title(heading.title, titles)
        current = open_section(known if known is not None else heading.title)
        if _UNDERLINE.match(following):
            index += 1
        if heading.rest:
            bodies[current].append(heading.rest)
    written = {title: "\n".join(body).strip() for title, body in bodies.items()}
    headed = [title for title in order if title]
    if not headed and len(specs) == 1 and written[""]:
        written = {specs[0].title: written[""]}
        order = [specs[0].title]
    sections = tuple(
        SectionText(title=title, text=written[title])
        for title in order
        if title or written.get(title)
    )
    known_titles = {spec.title for spec in specs}
    return ParsedText(
        sections=sections,
        missing=tuple(spec.title for spec in specs if not written.get(spec.title)),
        extra=tuple(s.title for s in sections if s.title and s.title not in known_titles),
    )


def join_sections(sections: Sequence[SectionText]) -> str:
    """Sections as one text, each title a markdown heading; `parse_sections` reads it back."""
    parts = [
        f"# {section.title}\n\n{section.text.strip()}" if section.title else section.text.strip()
        for section in sections
    ]
    return "\n\n".join(part for part in parts if part).strip()


def align_sections(
    reference: Sequence[SectionText], written: Sequence[SectionText]
) -> list[tuple[str, str, str]]:
    """(title, reference text, written text) for each reference section, '' where nothing stands."""
    found = {normalise_title(section.title): section.text for section in written}
    return [
        (section.title, section.text, found.get(normalise_title(section.title), ""))
        for section in reference
    ]


def _known_title(title: str, titles: dict[str, str]) -> str | None:
    found = titles.get(normalise_title(title))
    return found if found is not None else titles.get(normalise_title(_BRACKETS.sub("", title)))


def _read_heading(line: str, following: str, titles: dict[str, str]) -> _Heading | None:
    if not line.strip():
        return None
    match = _MARKDOWN.match(line)
    if match:
        return _Heading(match["title"].strip().strip("*_").rstrip(":").strip(), certain=True)
    match = _BOLD.match(line)
    if match:
        title, rest = match["title"].strip(), match["rest"].strip()
        if not rest or _known_title(title, titles) is not None:
            return _Heading(title, rest, certain=True)
    bare = line.strip().rstrip(":").strip()
    if _known_title(bare, titles) is not None:
        return _Heading(bare)
    match = _NUMBERED.match(line)
    if match and _known_title(match["title"], titles) is not None:
        return _Heading(match["title"].strip())
    match = _TITLE_COLON.match(line)
    if match and _known_title(match["title"], titles) is not None:
        return _Heading(match["title"].strip(), match["rest"].strip())
    if _UNDERLINE.match(following) and "=" in following:
        return _Heading(bare, certain=True)
    if _is_capitals(bare):
        return _Heading(bare, certain=True)
    return None


def _is_capitals(text: str) -> bool:
    """A short line all in capitals, of two letters or more and no sentence."""
    letters = [character for character in text if character.isalpha()]
    return (
        len(letters) >= 4
        and len(text) <= _CAPITALS_LONGEST
        and text == text.upper()
        and text != text.lower()
        and not text.endswith((".", "!", "?", ",", ";"))
        and text[0].isalpha()
    )
