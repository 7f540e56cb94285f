"""The longest wait for a key in the post-edit editor: 21 texts of 50 kB, and one of 5 MB with 100 changes.

    python -m tests.benchmarks.documents_typing

Exits with 1 when a key took 50 ms or more in more than one of a hundred presses.
"""

from __future__ import annotations

import os
import sys
import time

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

_LIMIT_MS = 50.0
_LINE = "The patient reports a band-like chest pain since Saturday, provoked by walking. " * 4


def main() -> int:
    """Print the times; 1 when too slow."""
    from PySide6.QtWidgets import QApplication

    import app  # noqa: F401  # guards Qt before anything else imports it
    from app import theme

    application = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(application, QApplication)
    theme.apply_theme(application, "light", 100)
    worst = max(measure("50 kB", 50_000, 12) for _ in range(3))
    worst = max(worst, measure("5 MB", 5_000_000, 100))
    return int(worst >= _LIMIT_MS)


def measure(name: str, size: int, changes: int) -> float:
    """Type at the beginning, the middle and the end; the 99th of a hundred times in milliseconds."""
    from PySide6.QtCore import Qt
    from PySide6.QtTest import QTest
    from PySide6.QtWidgets import QApplication

    from app.pages.drafts.tracked_editor import make_editor
    from core.editing.tracked import Tracked, apply_patch, edit

    text = "\n".join([_LINE] * (size // len(_LINE)))
    tracked = Tracked(text)
    for n in range(changes):
        start = n * (len(text) // changes)
        tracked = apply_patch(tracked, edit(tracked, start, start, "new "))
    editor = make_editor("Section", size)
    editor.resize(700, 800)
    editor.show()
    started = time.perf_counter()
    editor.load(tracked)
    QApplication.processEvents()
    loaded = time.perf_counter() - started
    times = []
    for place in (10, len(tracked.text) // 2, len(tracked.text) - 10):
        editor.select(place, place)
        QApplication.processEvents()
        for letter in "typing along quietly, a word at a time":
            started = time.perf_counter()
            QTest.keyClick(editor, letter, Qt.KeyboardModifier.NoModifier)
            QApplication.processEvents()
            times.append(1000 * (time.perf_counter() - started))
    started = time.perf_counter()
    assert editor.take_pending() is not None
    taken = 1000 * (time.perf_counter() - started)
    editor.close()
    times.sort()
    print(
        f"{name:6} with {changes} changes: shown in {loaded:.2f} s; a key: median"
        f" {times[len(times) // 2]:.1f} ms, 99 % {times[int(len(times) * 0.99)]:.1f} ms,"
        f" worst {times[-1]:.1f} ms; at a pause {taken:.1f} ms"
    )
    return times[int(len(times) * 0.99)]


if __name__ == "__main__":
    raise SystemExit(main())
