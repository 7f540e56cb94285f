"""The longest stall of the UI thread while a model generates and its text streams into the window.

    python -m tests.benchmarks.window_stall [SECONDS]

A 5 ms timer on the main thread measures its own gaps, first idle, then while the default model writes.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

_LEAST_CHARACTERS = 300


def main() -> int:
    """Print the longest gaps; 1 when one while generating is 50 ms or more."""
    from PySide6.QtCore import QTimer
    from PySide6.QtWidgets import QApplication

    from app.jobs import Feed
    from app.session import Session
    from app.widgets.reader import Reader
    from app.windows.collecting import QuietCollector
    from app.windows.main import MainWindow
    from core.ports import Cancellation, GenerationRequest, Message, ProgressCallback
    from core.settings import Settings, models_directory
    from tests.event_loop import spin

    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0
    os.environ.setdefault("RIFUGIO_MODELS", str(models_directory()))
    app = QApplication.instance() or QApplication(sys.argv[:1])
    with tempfile.TemporaryDirectory() as folder:
        os.environ["RIFUGIO_HOME"] = folder
        session = Session(Settings(idle_lock_minutes=0))
        window = MainWindow(session)
        window.show()
        collector = QuietCollector(window.idle, window)
        window.welcome.open_demo()
        while not session.has_workspace:
            spin(20)
        reader = Reader("Output")
        reader.resize(600, 800)
        reader.show()
        gaps: list[float] = []
        last = [time.perf_counter()]

        def tick() -> None:
            now = time.perf_counter()
            gaps.append(now - last[0])
            last[0] = now

        timer = QTimer()
        timer.setInterval(5)
        timer.timeout.connect(tick)
        timer.start()
        spin(2000)
        idle = max(gaps)
        feed: Feed[str] = Feed(lambda batch: reader.append_text("".join(batch)), reader)
        # Loading the model belongs to the job, and is part of what must not stall the window.
        gaps.clear()

        def write(*, progress: ProgressCallback, cancel: Cancellation) -> Any:
            request = GenerationRequest(
                messages=(Message("user", "Write a long story about a mountain refuge."),),
                max_tokens=1500,
            )
            return session.models.generator().generate(
                request, on_piece=lambda piece: feed.push(piece.text), cancel=cancel
            )

        session.jobs.start(reader, "Writing", write)
        spin(int(seconds * 1000))
        longest, count = max(gaps), len(reader.toPlainText())
        timer.stop()
        feed.close()
        session.jobs.cancel_all()
        reader.close()
        collector.stop()
        window.close()
    del app
    print(
        f"longest gap idle {idle * 1000:.0f} ms, while generating {longest * 1000:.0f} ms"
        f" (under 50), {count:,} characters streamed"
    )
    if count < _LEAST_CHARACTERS:
        print(f"fewer than {_LEAST_CHARACTERS} characters came: the machine is too busy to tell")
        return 1
    return int(longest >= 0.05)


if __name__ == "__main__":
    raise SystemExit(main())
