"""How long the window takes to be shown and usable, against a bare PySide6 window.

    python -m tests.benchmarks.window_start

Each start is a fresh process; the median of several counts. Usable means that the event loop has
answered a timer after the first paint.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time

_ROUNDS = 5

_BARE = """
import sys, time
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QMainWindow
app = QApplication(sys.argv)
window = QMainWindow()
window.resize(1440, 900)
window.show()
def usable():
    print(time.monotonic())
    app.quit()
QTimer.singleShot(0, usable)
app.exec()
"""

_OURS = """
import sys, time
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from app.main import main
def wait():
    app = QApplication.instance()
    windows = [w for w in app.topLevelWidgets() if w.isVisible() and w.windowTitle() == "Rifugio"]
    if not windows:
        QTimer.singleShot(1, wait)
        return
    print(time.monotonic())
    windows[0].close()
app = QApplication(sys.argv[:1])
QTimer.singleShot(0, wait)
code = main([])
heavy = sorted({"torch", "llama_cpp", "onnxruntime", "sentence_transformers"} & set(sys.modules))
if heavy:
    sys.exit(f"imported at start: {heavy}")
sys.exit(code)
"""


def measure(code: str, home: str) -> float:
    """Median seconds from the start of a fresh process until its window is usable."""
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "RIFUGIO_HOME": home}
    # As for everybody else, modules are compiled once.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    times = []
    for _round in range(_ROUNDS + 1):
        start = time.monotonic()
        ended = subprocess.run(
            [sys.executable, "-c", code],
            check=True,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        times.append(float(ended.stdout) - start)
    return statistics.median(times[1:])


def main() -> int:
    """Print both times and their ratio; 1 when it is over three."""
    with tempfile.TemporaryDirectory() as home:
        bare = measure(_BARE, home)
        ours = measure(_OURS, home)
    ratio = ours / bare
    print(f"bare window {bare:.2f} s, Rifugio {ours:.2f} s, ratio {ratio:.2f} (at most 3)")
    return int(ratio > 3)


if __name__ == "__main__":
    raise SystemExit(main())
