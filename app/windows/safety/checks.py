"""Checking a passphrase against a workspace that is open."""

from __future__ import annotations

import hmac
from pathlib import Path
from typing import TYPE_CHECKING

from app.strings import say
from core.errors import WrongPassphraseError

if TYPE_CHECKING:
    from core.storage.workspace import Workspace


def check_passphrase(workspace: Workspace, passphrase: str, key_file: Path | None = None) -> None:
    """Check a passphrase, with the key file the workspace has; for a worker thread.

    Raises
    ------
    WrongPassphraseError
        When it is another.
    """
    from core.storage.cipher import derive_key

    own = workspace.key
    if own is None:
        return
    given = derive_key(passphrase, own.salt, key_file=key_file)
    if not hmac.compare_digest(given.raw, own.raw):
        raise WrongPassphraseError(
            say("The passphrase does not open {name}.", name=workspace.path.name),
            remedy=say("Check capital letters and keyboard layout."),
        )
