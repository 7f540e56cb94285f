"""What a package is: a workspace file of its own that says whom it is for and where it came from.

It is encrypted as every workspace is, under a passphrase of its own, so that whoever it is for opens it
like any other, works in it, and sends the same file back to be merged. It holds no history from before:
what was written there is what it gives back.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from core.errors import DamagedWorkspaceError
from core.storage.reads import Reads

PackageKind = Literal["reviews", "everything"]

#: The key of `PackageInfo` in a package's meta table.
META_KEY = "package"
#: In a workspace that took over a package's history: its kind, under this and the package's origin.
_TAKEN = "package-taken:"

#: What a person who was sent reviews is asked for; nothing else is taken over from such a package.
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


class PackageInfo(msgspec.Struct, frozen=True, kw_only=True):
    """Written into a package when it is made.

    Parameters
    ----------
    workspace
        The origin of the workspace it was packed from.
    known
        How far the history of each origin was known there: what was written later, nobody who works in
        the package has seen.
    """

    kind: PackageKind
    workspace: str
    person: str
    made: str
    known: dict[str, int]


def package_info(reads: Reads) -> PackageInfo | None:
    """What a package says of itself; None for a workspace that is none.

    Raises
    ------
    DamagedWorkspaceError
    """
    text = reads.value("SELECT value FROM meta WHERE key = ?", (META_KEY,))
    if text is None:
        return None
    try:
        return msgspec.json.decode(text, type=PackageInfo)
    except msgspec.DecodeError as error:
        raise DamagedWorkspaceError(
            "The package's description of itself cannot be read.", remedy="Ask for it again."
        ) from error


def taken_packages(reads: Reads) -> Mapping[str, str]:
    """The kind of each package whose history was taken over, by its origin."""
    rows = reads.query("SELECT key, value FROM meta WHERE key LIKE ?", (f"{_TAKEN}%",))
    return {row["key"].removeprefix(_TAKEN): row["value"] for row in rows}


def taken_key(origin: str) -> str:
    """The key in the meta table that says of what kind a package was."""
    return _TAKEN + origin
