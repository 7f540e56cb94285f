"""The graphs page with 500 steps, and 2,000 in a line, in the real window, offscreen.

    python -m tests.benchmarks.graphs_page [FRAMES]

A frame is one event of the mouse with everything it causes, repainting what changed included. Times are
of the processor, with software rendering: a screen with a graphics card is faster. A stretch is the longest
work of the window's thread in which it answers nothing, while a deed is written, read back, laid out and
shown.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

#: A frame may take this long, in seconds.
MOST = 0.050


def main() -> int:
    """Print the times; 1 when a median frame takes `MOST` or more."""
    from PySide6.QtWidgets import QApplication

    import app  # noqa: F401 - first, for what it guards
    from app import theme
    from app.session import Session
    from app.windows.collecting import QuietCollector
    from app.windows.main import MainWindow
    from core.graphs.verbs import add_graph
    from core.settings import Settings
    from core.storage import Workspace
    from tests.benchmarks.graphs_layout import make_edges
    from tests.event_loop import spin

    frames = int(sys.argv[1]) if len(sys.argv) > 1 else 120
    qapp = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(qapp, QApplication)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["RIFUGIO_HOME"] = folder
        theme.apply_theme(qapp, "light", 100)
        path = Path(folder) / "w.rifugio"
        with Workspace.create(path, None) as workspace:
            steps = [f"Do the thing number {number} with care" for number in range(500)]
            big = workspace.transact_job(
                "Add", "", add_graph, "a long task", steps=steps, edges=make_edges(500)
            ).value.id
            line = workspace.transact_job(
                "Add", "", add_graph, "a line",
                steps=[f"Do step {number}" for number in range(2000)],
                edges=[(n, n + 1) for n in range(1999)],
            ).value.id  # fmt: skip
        window = MainWindow(Session(Settings(person="Ann", idle_lock_minutes=0)))
        window.resize(1440, 900)
        window.show()
        collector = QuietCollector(window.idle, window)
        window.open_path(path)
        while not window.session.has_workspace:
            spin(5)
        window.work.choose("graphs")
        page: Any = window.work.page("graphs")
        while not page.listing.model.loaded_once or len(page.listing.model.ids) < 2:
            spin(5)
        slow = 0.0
        for name, graph_id, count in (("2,000 in a line", line, 2000), ("500 steps", big, 500)):
            report(f"{name}: open", page, lambda g=graph_id: page._on_made(g),
                   lambda n=count: is_shown(page, n))  # fmt: skip
        for zoom, many in ((0.8, 1), (0.25, 1), (0.25, 50)):
            median, worst = drag(page.pane, zoom, many, frames)
            tell(f"zoom {zoom:.0%}, {many:2} card{'s' if many > 1 else ' '} dragged", median, worst)
            if many == 1:
                slow = max(slow, median)
        median, worst = wheel(page.pane.canvas, frames)
        tell("zoom by wheel", median, worst)
        slow = max(slow, median)
        deeds(page, window)
        collector.stop()
        window.close()
        window.session.deleteLater()
    return int(slow >= MOST)


def is_shown(page: Any, count: int) -> bool:
    """Whether a graph is drawn, laid out, and in the outline."""
    document = page.document
    return (
        document.graph is not None
        and len(document.graph.steps) == count
        and len(page.pane.canvas.graph_scene.cards) == count
        and page.outline.view.outline.rowCount() == count
        and len(document._laid_out) == count
    )


def deeds(page: Any, window: Any) -> None:
    """Add, rename, connect, move, lay out, and undo it all, each until the page shows it."""
    from core.storage.undo import undo

    document = page.document
    ids = [step.id for step in document.graph.steps]

    def text(number: int, words: str) -> bool:
        row = page.outline.view.outline.index(number, 1).data()
        return bool(row == words and page.pane.canvas.graph_scene.cards[ids[number]].text == words)

    report("rename", page, lambda: document.rename_step(ids[7], "Wash the column"),
           lambda: text(7, "Wash the column"))  # fmt: skip
    report("connect", page, lambda: document.connect_steps(ids[0], ids[499]),
           lambda: document.graph.find_dependency(ids[0], ids[499]) is not None)  # fmt: skip
    report("add", page, lambda: document.add_step("Tidy up the bench"),
           lambda: is_shown(page, 501))  # fmt: skip
    report("move a card", page, lambda: document.place_steps({ids[3]: (5.0, 5.0)}),
           lambda: document.graph.by_id[ids[3]].x == 5.0)  # fmt: skip
    report("lay out", page, document.lay_out,
           lambda: document.automatic and document.places[ids[3]] != (5.0, 5.0))  # fmt: skip

    def undo_one() -> None:
        undo(window.session.workspace, window.session.person_id)
        page.document.reload()

    report("undo of laying out", page, undo_one, lambda: document.graph.by_id[ids[3]].x == 5.0)
    report("select all", page, page.pane.select_all, lambda: len(document.steps) == 501)


def report(name: str, page: Any, start: Callable[[], object], done: Callable[[], bool]) -> None:
    """Do something, wait until it shows, and print how long it took and the longest stretch."""
    from PySide6.QtWidgets import QApplication

    begin, used = time.perf_counter(), time.process_time()
    own = last = time.thread_time()
    stall = 0.0
    start()
    while not done():
        QApplication.processEvents()
        now = time.thread_time()
        stall, last = max(stall, now - last), now
        if time.perf_counter() - begin > 120:
            raise SystemExit(f"{name}: never came to an end")
        time.sleep(0.001)
    QApplication.processEvents()
    now = time.thread_time()
    stall = max(stall, now - last)
    print(
        f"{name:24} {(time.perf_counter() - begin) * 1000:7.0f} ms; of the processor"
        f" {(time.process_time() - used) * 1000:6.0f} ms, of which the window's thread"
        f" {(now - own) * 1000:5.0f} ms and {stall * 1000:4.0f} ms at a stretch"
    )


def tell(name: str, median: float, worst: float) -> None:
    """Print the frame times of a gesture."""
    print(
        f"{name:34} median {median * 1000:5.1f} ms, 95th percentile {worst * 1000:5.1f} ms a frame"
    )


def drag(pane: Any, zoom: float, count: int, frames: int) -> tuple[float, float]:
    """Median and 95th percentile of the frame times while cards are dragged, seconds."""
    from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
    from PySide6.QtGui import QMouseEvent
    from PySide6.QtWidgets import QApplication

    canvas, document = pane.canvas, pane.document
    ids = [step.id for step in document.graph.steps][200 : 200 + count]
    canvas.set_zoom(zoom)
    card = canvas.graph_scene.cards[ids[0]]
    canvas.centerOn(card)
    document.select(ids, current=ids[0])
    viewport = canvas.viewport()
    none, left = Qt.MouseButton.NoButton, Qt.MouseButton.LeftButton

    def send(kind: QEvent.Type, spot: QPoint, button: Qt.MouseButton, held: Qt.MouseButton) -> None:
        event = QMouseEvent(
            kind, QPointF(spot), QPointF(viewport.mapToGlobal(spot)), button, held,
            Qt.KeyboardModifier.NoModifier,
        )  # fmt: skip
        QApplication.sendEvent(viewport, event)

    spot = canvas.mapFromScene(card.pos())
    places = {step: document.places[step] for step in ids}
    send(QEvent.Type.MouseButtonPress, spot, left, left)
    times = []
    for frame in range(frames):
        start = time.process_time()
        send(QEvent.Type.MouseMove, spot + QPoint(3 * frame % 200, 2 * frame % 120), none, left)
        # The paint events that the move asked for, and nothing else is waiting.
        QApplication.processEvents()
        times.append(time.process_time() - start)
    # Back where it was, so that letting go changes nothing.
    for step, place in places.items():
        canvas.graph_scene.cards[step].setPos(*place)
    canvas._grabbed = {}
    send(QEvent.Type.MouseButtonRelease, spot, left, none)
    return middle_and_tail(times)


def wheel(canvas: Any, frames: int) -> tuple[float, float]:
    """The same while the wheel zooms in and out."""
    from PySide6.QtWidgets import QApplication

    times = []
    canvas.fit()
    for frame in range(frames):
        start = time.process_time()
        canvas.set_zoom(canvas.zoom * (1.2 if frame % 20 < 10 else 1 / 1.2))
        QApplication.processEvents()
        times.append(time.process_time() - start)
    return middle_and_tail(times)


def middle_and_tail(times: list[float]) -> tuple[float, float]:
    """Median and 95th percentile."""
    times = sorted(times)
    return times[len(times) // 2], times[int(len(times) * 0.95)]


if __name__ == "__main__":
    raise SystemExit(main())
