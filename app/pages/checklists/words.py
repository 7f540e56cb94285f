"""How the checklist page shows an item's status: a word, a sign that needs no colour, and tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from core.checklists.scores import Status

#: A status of two sides compared, or what one side alone has.
Shown = Status | Literal["found", "nothing"]


@dataclass(frozen=True, slots=True)
class StatusLook:
    """A status as it is drawn: ``ink`` and ``ground`` are theme tokens; ``underline`` marks it in text."""

    word: str
    sign: str
    ink: str
    ground: str
    underline: bool = False


LOOKS: dict[Shown, StatusLook] = {
    "right": StatusLook("right", "✓", "inserted", "inserted_ground"),
    "incomplete": StatusLook("says less", "◐", "warning", "warning_ground", underline=True),
    "excess": StatusLook("says more", "◑", "warning", "warning_ground", underline=True),
    "wrong": StatusLook("wrong", "✕", "deleted", "deleted_ground", underline=True),
    "contradicted": StatusLook(
        "contradicted", "≠", "contradicted", "deleted_ground", underline=True
    ),
    "missing": StatusLook("missing", "○", "deleted", "deleted_ground", underline=True),
    "added": StatusLook("not in reference", "+", "warning", "warning_ground", underline=True),
    "absent": StatusLook("in neither", "·", "muted", "surface"),
    "not_applicable": StatusLook("does not apply", "–", "muted", "surface"),
    "unscored": StatusLook("open", "?", "muted", "accent_soft"),
    "found": StatusLook("mapped", "●", "accent", "accent_soft"),
    "nothing": StatusLook("nothing", "·", "muted", "surface"),
}

#: In the order of the legend.
COUNTED: tuple[Shown, ...] = (
    "right",
    "incomplete",
    "excess",
    "wrong",
    "contradicted",
    "missing",
    "added",
    "found",
    "unscored",
)

#: What an output has not as the reference has it.
FAULTY: frozenset[Shown] = frozenset(
    ("incomplete", "excess", "wrong", "contradicted", "missing", "added")
)
