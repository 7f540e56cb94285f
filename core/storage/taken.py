"""Whose history was taken over from a package, and what of it counts.

A merge takes over a package's history as it stands, so that it can be checked from end to end; but from
a package that was made for reviewing, only judgements count.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.storage.reads import Reads

_TAKEN = "package-taken:"

#: What a person who was sent reviews is asked for.
JUDGED_KINDS = frozenset(
    (
        "rating",
        "preference",
        "review_item",
        "pair_item",
        "output_tag",
        "rubric_tick",
        "checklist",
        "checklist_entry",
        "judgement",
        "verdict",
        "rater_profile",
        "task_rating",
        "task_validation",
        "blinding",
    )
)


def taken_packages(reads: Reads) -> Mapping[str, str]:
    """The kind of each package whose history was taken over, by its origin."""
    rows = reads.query("SELECT key, value FROM meta WHERE key LIKE ?", (f"{_TAKEN}%",))
    return {row["key"].removeprefix(_TAKEN): row["value"] for row in rows}


def taken_key(origin: str) -> str:
    """The key in the meta table that says of what kind a package was."""
    return _TAKEN + origin


def is_left_out(kind: str, package: str | None, *, made: bool) -> bool:
    """Whether a change does not count.

    Parameters
    ----------
    package
        The kind of package it was made in, None for in none.
    made
        Whether it made its row: somebody who joined there is taken over with what they judged.
    """
    if package != "reviews" or kind in JUDGED_KINDS:
        return False
    return not (made and kind == "person")


def merge_order(entry: Mapping[str, Any]) -> tuple[bool, str, str, int]:
    """By which entries of one row are sorted: what made it comes first, then the clock decides.

    The same in every copy, so that a row becomes the same whoever merges whom.
    """
    return entry["before"] is not None, entry["time"], entry["origin"], entry["seq"]
