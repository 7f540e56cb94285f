"""A cancellation flag that native code can look at."""

from __future__ import annotations

import ctypes

from core.ports import Cancellation


class NativeCancellation(Cancellation):
    """`core.ports.Cancellation` with a byte at a fixed address that turns from 0 to 1."""

    def __init__(self) -> None:
        super().__init__()
        # The second byte stays 0 and ends the first, read as a C string.
        self._flag = ctypes.create_string_buffer(2)

    @property
    def address(self) -> int:
        """Where the byte lies, as long as this object lives."""
        return ctypes.addressof(self._flag)

    def cancel(self) -> None:
        self._flag[0] = b"\x01"
        super().cancel()
