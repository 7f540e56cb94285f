"""Letting a window work for a while, the way the application does."""

from __future__ import annotations

from PySide6.QtCore import QEventLoop, QTimer


def spin(milliseconds: int) -> None:
    """Run the event loop. Unlike ``QTest.qWait`` it lets other threads have the interpreter meanwhile,
    without which their work crawls and stalls are measured too small."""
    loop = QEventLoop()
    QTimer.singleShot(milliseconds, loop.quit)
    loop.exec()
