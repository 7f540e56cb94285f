"""Ids that two machines can make without asking each other, and times that sort as text."""

from __future__ import annotations

import os
import threading
import time
import uuid
from datetime import UTC, datetime

_lock = threading.Lock()
_last = 0


def new_id() -> str:
    """A UUIDv7 (RFC 9562), later ones sorting after earlier ones made by this process.

    The 12 bits after the millisecond hold a sub-millisecond clock, moved on by one where two ids
    would tie, so that order holds within a process even when the clock stands still or steps back.
    """
    global _last
    with _lock:
        now = time.time_ns()
        tick = (now // 1_000_000) << 12 | (now % 1_000_000) * 4096 // 1_000_000
        _last = tick = max(tick, _last + 1)
    random_bits = int.from_bytes(os.urandom(8), "big") & (1 << 62) - 1
    value = (tick >> 12) << 80 | 0x7 << 76 | (tick & 0xFFF) << 64 | 0b10 << 62 | random_bits
    return str(uuid.UUID(int=value))


def new_pseudonym() -> str:
    """A random name for an output under blind review; unlike an id it tells nothing of when it was made."""
    alphabet = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
    return "".join(alphabet[byte % 32] for byte in os.urandom(8))


def format_time(moment: datetime) -> str:
    """UTC ISO-8601 with milliseconds, for example ``2026-03-01T09:30:00.125Z``."""
    return (
        moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"
    )


def now() -> str:
    """The present as `format_time` writes it."""
    return format_time(datetime.now(UTC))
