"""How many threads to evaluate with: all cores on a quiet machine, fewer where others want them.

llama.cpp's threads wait for each other some hundred times a token. Where one of them has to share its
core, all wait for it: on two busy cores two threads wrote 1.5 tokens a second and one wrote 24
(measured), so that leaving a core to others is what is fast.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

_LOAD = Path("/proc/loadavg")
_SAMPLES, _PAUSE = 5, 0.002
_STALE_SECONDS = 1.0
_WEIGHT = 0.2
# One program more that is busy most of the time is felt; the odd moment of one is not.
_FELT = 0.75


class ThreadAdviser:
    """Watches how many threads of other programs want to run.

    Parameters
    ----------
    most
        Threads on a quiet machine.
    cores
        Cores of the whole machine, on which the others run too.
    """

    def __init__(self, most: int, cores: int | None = None) -> None:
        self._most = most
        self._cores = cores or os.cpu_count() or 1
        self._others = 0.0
        self._looked_at = float("-inf")

    def advise(self, own: int) -> int:
        """Threads to use now.

        Parameters
        ----------
        own
            Threads of ours that run at this moment.
        """
        if time.monotonic() - self._looked_at > _STALE_SECONDS:
            # After a pause our own threads rest: a few looks in a row make a first opinion.
            self._others = min(self._look(1) for _ in range(_SAMPLES))
        else:
            self._others += _WEIGHT * (self._look(own, wait=False) - self._others)
        self._looked_at = time.monotonic()
        free = self._cores - int(self._others + 1.0 - _FELT)
        return max(1, min(self._most, free))

    def _look(self, own: int, *, wait: bool = True) -> float:
        """Runnable threads beside ``own``; 0 where the system does not tell."""
        if wait:
            time.sleep(_PAUSE)
        try:
            running = _LOAD.read_text(encoding="ascii").split()[3].partition("/")[0]
            return max(0.0, float(running) - own)
        except (OSError, ValueError, IndexError):
            return 0.0
