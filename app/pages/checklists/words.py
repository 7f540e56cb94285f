"""How the checklist page shows an item's status: a word, a sign that needs no colour, and tokens."""

from __future__ import annotations

from dataclasses import dataclass

from core.checklists.scores import Status


@dataclass(frozen=True, slots=True)
class StatusLook:
    """A status as it is drawn: ``ink`` and ``ground`` are theme tokens; ``underline`` marks it in text."""

    word: str
    sign: str
    ink: str
    ground: str
    underline: bool = False
    strike: bool = False


LOOKS: dict[Status, StatusLook] = {
    "right": StatusLook("right", "✓", "inserted", "inserted_ground"),
    "incomplete": StatusLook("says less", "◐", "warning", "warning_ground", underline=True),
    "excess": StatusLook("says more", "◑", "warning", "warning_ground", underline=True),
    "wrong": StatusLook("wrong", "✕", "deleted", "deleted_ground", underline=True),
    "contradicted": StatusLook(
        "contradicted", "≠", "contradicted", "deleted_ground", underline=True, strike=True
    ),
    "missing": StatusLook("missing", "○", "deleted", "deleted_ground", underline=True),
    "added": StatusLook("not in reference", "+", "warning", "warning_ground", underline=True),
    "absent": StatusLook("in neither", "·", "muted", "surface"),
    "not_applicable": StatusLook("does not apply", "–", "muted", "surface"),
    "unscored": StatusLook("open", "?", "muted", "accent_soft"),
}

#: In the order of the legend.
COUNTED: tuple[Status, ...] = (
    "right",
    "incomplete",
    "excess",
    "wrong",
    "contradicted",
    "missing",
    "added",
    "unscored",
)
