"""Published samples and reference values that tests read from outside the project, when they are there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def shared_path(*parts: str) -> Path:
    """A file under the shared folder; skips the calling test where it is absent.

    The folder is ``RIFUGIO_SHARED`` or ``../shared`` beside the checkout.
    """
    folder = Path(os.environ.get("RIFUGIO_SHARED") or ROOT.parent / "shared")
    path = folder.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"the published sample {'/'.join(parts)} is not on this machine")
    return path
