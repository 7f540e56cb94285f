"""What a row is called when a person reads about it: its kind in words, and a name of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.storage.kinds import KINDS

#: The columns a name is taken from, the first one that says something.
_NAMES = ("name", "title", "objective", "text", "task", "label", "comment", "axis", "metric")
_LENGTH = 80


def kind_words(kind: str, count: int = 1) -> str:
    """'rubric item', 'rubric items', 'dependencies'."""
    words = kind.replace("_", " ")
    if count == 1:
        return words
    if words.endswith("y") and not words.endswith(("ey", "ay")):
        return f"{words[:-1]}ies"
    return f"{words}s"


def name_columns(kind: str) -> tuple[str, ...]:
    """The columns of a kind that can name a row."""
    columns = KINDS[kind].columns if kind in KINDS else ()
    return tuple(name for name in _NAMES if name in columns)


def row_name(row: Mapping[str, Any]) -> str:
    """A row's name on one line; '' where it has none."""
    for column in _NAMES:
        value = row.get(column)
        if isinstance(value, str) and value.strip():
            line = " ".join(value.split())
            return line if len(line) <= _LENGTH else f"{line[:_LENGTH].rstrip()} …"
    return ""
