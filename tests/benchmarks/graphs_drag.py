"""Frame time while a card, and then fifty, are dragged among 500 steps on the canvas, offscreen.

    python -m tests.benchmarks.graphs_drag [FRAMES]

A frame is one mouse move with everything it causes, repainting what changed included. Times are of the
processor, with software rendering: a screen with a graphics card is faster.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")


def main() -> int:
    """Print the frame times; 1 when the median frame of dragging one card takes 33 ms or more."""
    from PySide6.QtWidgets import QApplication

    import app  # noqa: F401 - first, for what it guards
    from app import theme
    from app.pages.graphs.pane import GraphPane
    from app.session import Session
    from core.graphs.verbs import add_graph
    from core.settings import Settings
    from core.storage import Workspace
    from core.types import Person
    from tests.benchmarks.graphs_layout import make_edges
    from tests.event_loop import spin

    frames = int(sys.argv[1]) if len(sys.argv) > 1 else 120
    qapp = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(qapp, QApplication)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["RIFUGIO_HOME"] = folder
        theme.apply_theme(qapp, "light", 100)
        workspace = Workspace.create(Path(folder) / "w.rifugio", None)
        steps = [f"Do the thing number {number} with care" for number in range(500)]
        graph = workspace.transact_job(
            "Add", "", add_graph, "a long task", steps=steps, edges=make_edges(500)
        ).value
        session = Session(Settings(idle_lock_minutes=0))
        session.adopt(workspace, Person(id="", name="Ann"))
        pane = GraphPane(session, "Canvas")
        pane.resize(1200, 800)
        pane.show()
        start = time.perf_counter()
        pane.document.open(graph.id)
        while len(pane.canvas.graph_scene.cards) < 500 or not pane.document.routes:
            spin(5)
        print(f"500 steps opened, laid out and drawn in {time.perf_counter() - start:.2f} s")
        slow = 0.0
        for zoom, count in ((0.8, 1), (0.25, 1), (0.25, 50)):
            median, worst = drag(pane, zoom, count, frames)
            print(
                f"zoom {zoom:.0%}, {count:2} card{'s' if count > 1 else ' '} dragged:"
                f" median {median * 1000:5.1f} ms, 95th percentile {worst * 1000:5.1f} ms"
            )
            if count == 1:
                slow = max(slow, median)
        pane.close()
        session.close()
    return int(slow >= 0.033)


def drag(pane, zoom: float, count: int, frames: int) -> tuple[float, float]:  # type: ignore[no-untyped-def]
    """Median and 95th percentile of the frame times, seconds."""
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
    times.sort()
    return times[len(times) // 2], times[int(len(times) * 0.95)]


if __name__ == "__main__":
    raise SystemExit(main())
