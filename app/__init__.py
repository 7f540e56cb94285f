"""The window and the command line: the only code that knows Qt, and the composition root."""

from __future__ import annotations

import sys


def _hold_singletons() -> None:
    """Keep None, True and False alive under a PySide6 that gives back references it never took.

    Measured with PySide6 6.12.0 on Python 3.11.7: each call of a Qt method without a result takes one
    reference from None, each ``Signal.emit`` one from True, and when none is left the interpreter
    aborts ('deallocating None'). From Python 3.12 on these objects are immortal (PEP 683) and nothing
    happens; before, a count that no session can use up does the same.
    """
    import ctypes

    for singleton in (None, True, False):
        # A CPython object begins with its reference count.
        ctypes.c_ssize_t.from_address(id(singleton)).value += 1 << 40


if sys.version_info < (3, 12) and sys.implementation.name == "cpython" and sys.maxsize > 1 << 32:
    _hold_singletons()
