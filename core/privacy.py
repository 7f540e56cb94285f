"""Keeping what is in memory out of files the system writes when a program crashes."""

from __future__ import annotations

import sys


def refuse_core_dumps() -> None:
    """Ask the system not to write this process's memory to a file when it crashes.

    An image of memory would hold texts and the key. Where the system has no such switch nothing happens.
    """
    if sys.platform == "win32":
        return
    import resource

    try:
        _, hard = resource.getrlimit(resource.RLIMIT_CORE)
        resource.setrlimit(resource.RLIMIT_CORE, (0, hard))
    except (OSError, ValueError):
        # The limit cannot be lowered here; nothing else depends on it.
        return
