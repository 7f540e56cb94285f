"""Items to be: read from pasted lists, from tables copied out of Word or Excel, and from CSV files."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.errors import UsageError
from core.rubrics.conditions import parse_condition
from core.types import ItemKind

KINDS: tuple[ItemKind, ...] = ("content", "yes_no", "one_of", "list")

_KIND_WORDS: Mapping[str, ItemKind] = {
    "content": "content",
    "text": "content",
    "free text": "content",
    "yes/no": "yes_no",
    "yes_no": "yes_no",
    "yes or no": "yes_no",
    "boolean": "yes_no",
    "binary": "yes_no",
    "one of": "one_of",
    "one_of": "one_of",
    "choice": "one_of",
    "list": "list",
}
#: Words that head a column, by our field.
_HEADINGS: Mapping[str, tuple[str, ...]] = {
    "title": ("title", "item", "name", "criterion", "checklist item", "rubric item", "key"),
    "description": (
        "description", "what to look for", "definition", "explanation", "question", "details",
        "instruction",
    ),
    "example": ("example", "good answer", "example of a good answer", "sample"),
    "group": ("group", "section", "category", "topic", "area"),
    "kind": ("kind", "type"),
    "options": ("options", "choices", "one of", "values"),
    "condition": ("condition", "only if", "applies if", "when"),
    "weight": ("weight", "points", "importance"),
    "tags": ("tags", "labels"),
}  # fmt: skip
_FIELDS = {word: field for field, words in _HEADINGS.items() for word in words}
_BULLET = re.compile(
    r"^\s*(?:[-*•◦▪‣–—·o]\s+|\[[ xX]?\]\s*|☐\s*|\(?(?:\d{1,3}(?:\.\d{1,3})*|[a-zA-Z]|[ivxIVX]{1,5})[.)]\s+)"
)
_BARE_HEADING = re.compile(r"^\s*#{1,6}\s+(?P<title>.+?)\s*#*$")
_SEPARATOR = re.compile(r"\s*(?::\s+|\s[–—-]\s)")
_TITLE_LONGEST = 90


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemDraft:
    """An item that is not in a rubric yet."""

    title: str
    description: str = ""
    example: str = ""
    group: str = ""
    kind: ItemKind = "content"
    options: tuple[str, ...] = ()
    condition: str = ""
    weight: float = 1.0
    tags: tuple[str, ...] = ()

    def fields(self) -> dict[str, Any]:
        """What `core.rubrics.verbs.add_rubric_item` takes besides the title."""
        return {
            "description": self.description,
            "example": self.example,
            "group": self.group,
            "kind": self.kind,
            "options": self.options,
            "condition": self.condition,
            "weight": self.weight,
            "extra": {"tags": list(self.tags)} if self.tags else {},
        }


def parse_pasted(text: str) -> list[ItemDraft]:
    """Items from a pasted list or table.

    A table (columns parted by tabs, as Word, Excel and LibreOffice copy them) may have a line of
    headings; without one its columns are title, description, example. In a list each line is an item,
    bullets and numbers left off, 'Title: what to look for' parted at the colon or dash; a line that
    ends with a colon and has items under it, or a markdown heading, is their group.

    Examples
    --------
    >>> [(d.group, d.title, d.description) for d in parse_pasted("Plan:\\n- Dose: with unit\\n- Date")]
    [('Plan', 'Dose', 'with unit'), ('Plan', 'Date', '')]
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\t" in text:
        rows = [row for row in csv.reader(io.StringIO(text), delimiter="\t") if any(row)]
        return read_rows(rows)
    return _read_list(text.split("\n"))


def read_rows(rows: Sequence[Sequence[str]]) -> list[ItemDraft]:
    """Items from the rows of a table; its first row may name the columns.

    Raises
    ------
    UsageError
        When a row has no title, an unknown kind or a weight that is no number; says which row.
    """
    if not rows:
        return []
    heads = [_FIELDS.get(_bare(cell)) for cell in rows[0]]
    # Two known names, or the only column's: one alone could be an item called 'Type'.
    has_head = sum(head is not None for head in heads) >= min(2, len(heads)) and "title" in heads
    if has_head:
        body, names = rows[1:], heads
    else:
        body = rows
        names = ["title", "description", "example", *[None] * max(0, len(rows[0]) - 3)]
    drafts = []
    for number, row in enumerate(body, 2 if has_head else 1):
        values = {
            name: cell.strip() for name, cell in zip(names, row, strict=False) if name is not None
        }
        if not any(values.values()):
            continue
        drafts.append(draft_from(values, where=f"row {number}"))
    return drafts


def draft_from(values: Mapping[str, Any], *, where: str) -> ItemDraft:
    """An item from named texts; ``where`` says in an error which one it was."""
    title = " ".join(str(values.get("title") or "").split())
    if not title:
        raise UsageError(f"The item in {where} has no title.", remedy="Fill in its first column.")
    kind_word = _bare(str(values.get("kind") or "")) or "content"
    if kind_word not in _KIND_WORDS:
        raise UsageError(
            f"The kind '{values['kind']}' of the item in {where} is not known.",
            remedy="Use content, yes/no, one of, or list.",
        )
    condition = str(values.get("condition") or "").strip()
    parse_condition(condition)
    options = _parts(values.get("options"))
    kind = _KIND_WORDS[kind_word]
    return ItemDraft(
        title=title,
        description=str(values.get("description") or "").strip(),
        example=str(values.get("example") or "").strip(),
        group=str(values.get("group") or "").strip(),
        kind="one_of" if kind == "content" and len(options) > 1 else kind,
        options=options,
        condition=condition,
        weight=_weight(values.get("weight"), where),
        tags=_parts(values.get("tags")),
    )


def split_suggestion(title: str, description: str, at: int | None = None) -> list[tuple[str, str]]:
    """Where an item could part: (title, description) twice or more.

    Parameters
    ----------
    at
        A place in the description, in code points; None splits at its questions, semicolons or lines,
        else title and description at 'and'.
    """
    if at is not None and 0 < at < len(description):
        before, after = description[:at].strip(), description[at:].strip()
        return [(title, before), (_title_from(after), after)]
    parts = [part.strip() for part in re.split(r"(?<=\?)\s+|;\s+|\n+", description) if part.strip()]
    if len(parts) > 1:
        return [(title, parts[0]), *[(_title_from(part), part) for part in parts[1:]]]
    names = [part.strip() for part in re.split(r"\s+(?:and|as well as|&)\s+|,\s+", title)]
    names = [name[:1].upper() + name[1:] for name in names if name]
    if len(names) > 1:
        # 'Court and judge: the court, and the judge's name' parts in both halves alike.
        halves = [part.strip() for part in re.split(r",?\s+(?:and|as well as|&)\s+", description)]
        if len(halves) == len(names):
            return list(zip(names, halves, strict=True))
        return [(name, description if not place else "") for place, name in enumerate(names)]
    return [(title, description), (f"{title} (2)", "")]


def _read_list(lines: Sequence[str]) -> list[ItemDraft]:
    drafts: list[ItemDraft] = []
    group = ""
    for place, line in enumerate(lines):
        if not line.strip():
            continue
        heading = _BARE_HEADING.match(line)
        if heading:
            group = heading["title"].rstrip(":").strip()
            continue
        bulleted = _BULLET.match(line) is not None
        text = _BULLET.sub("", line).strip()
        following = next((later for later in lines[place + 1 :] if later.strip()), "")
        if text.endswith(":") and not bulleted and following:
            group = text.rstrip(": ")
            continue
        title, description = _part(text)
        if title:
            drafts.append(ItemDraft(title=title, description=description, group=group))
    return drafts


def _part(text: str) -> tuple[str, str]:
    found = _SEPARATOR.search(text)
    if found and 0 < found.start() <= _TITLE_LONGEST:
        return text[: found.start()].strip(" *_"), text[found.end() :].strip()
    if len(text) > _TITLE_LONGEST:
        return _title_from(text), text
    return text.rstrip(":").strip(" *_"), ""


def _title_from(text: str) -> str:
    """The first words of a description, short enough for a title."""
    words = re.sub(r"[.?!;:]+$", "", text.split("\n")[0]).split()
    title = ""
    for word in words[:8]:
        if len(title) + len(word) > 60:
            break
        title = f"{title} {word}".strip()
    return title[:1].upper() + title[1:] if title else "New item"


def _bare(text: str) -> str:
    return " ".join(text.casefold().strip(" *:_").split())


def _parts(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        value = re.split(r"\s*[;|\n]\s*|\s*,\s+", value)
    return tuple(dict.fromkeys(str(part).strip() for part in value or () if str(part).strip()))


def _weight(value: Any, where: str) -> float:
    if value in (None, ""):
        return 1.0
    try:
        weight = float(str(value).replace(",", "."))
    except ValueError:
        weight = -1.0
    if not 0 <= weight < float("inf"):
        raise UsageError(
            f"The weight '{value}' of the item in {where} is no number of 0 or more.",
            remedy="Write a number, or leave it empty for 1.",
        )
    return weight
