"""Where shipped files lie: one function, the same from source, from a wheel and in a frozen bundle."""

from __future__ import annotations

import sys
from pathlib import Path


def resource_path(*parts: str) -> Path:
    """Path of a shipped file or folder under ``resources/``.

    Examples
    --------
    >>> resource_path("prompts").is_dir()
    True
    """
    bundle = getattr(sys, "_MEIPASS", None)
    root = Path(bundle) if bundle else Path(__file__).resolve().parent.parent
    return root.joinpath("resources", *parts)
