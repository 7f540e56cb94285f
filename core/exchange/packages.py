"""What a package is: a workspace file of its own that says whom it is for and where it came from.

It is encrypted as every workspace is, under a passphrase of its own, so that whoever it is for opens it
like any other, works in it, and sends the same file back to be merged. It holds no history from before:
what was written there is what it gives back.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from core.errors import DamagedWorkspaceError
from core.storage.reads import Reads

PackageKind = Literal["reviews", "everything"]

#: The key of `PackageInfo` in a package's meta table.
META_KEY = "package"


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
