"""How long results take at size: examples x 5 systems x 8 metrics, synthetic, and the longest stall.

    python -m tests.benchmarks.results_scale [--examples 1000,10000] [--window]

Prints a line a size: filling, table, split by field, comparison of two, agreement with people, list
behind a cell (ids and first page), and, with ``--window``, the longest gap of a 5 ms timer while the
Results page opens, filters, sorts, splits, plots and compares, and beside it in brackets the most work of
the window's own thread, which a busy machine does not lengthen. ``--examples 100000`` makes four million
scores; it takes some minutes to fill.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

METRICS = ("rougeL", "rouge1", "rouge2", "length", "section_presence", "bleu", "sari", "nli")
SYSTEMS = 5
STAMP = "2026-01-01T00:00:00.000Z"


def fill(path: Path, examples: int) -> None:
    """A plain workspace with so many examples, five systems, eight scores an output, 500 ratings."""
    from core.people import add_person
    from core.runs.verbs import add_system
    from core.storage import Workspace
    from tests.factories import make_task

    with Workspace.create(path, None) as workspace:
        person = workspace.transact_job("Add", "", add_person, "Ann").value.id
        task = workspace.transact_job("Add", "", make_task).value
        systems = [
            workspace.transact_job("Add", "", add_system, f"System {n}").value.id
            for n in range(SYSTEMS)
        ]
        workspace.transact_job(
            "Fill", "", lambda tx: _fill_rows(tx, examples, task.id, systems, person)
        )
        workspace.transact_job("Analyse", "", lambda tx: tx.execute_unlogged("ANALYZE"))


def _fill_rows(tx: Any, examples: int, task: str, systems: list[str], person: str) -> None:
    """Rows straight into the tables: a history of four million changes is no part of what is timed."""
    draw = random.Random(1)
    run = tx._db.conn.executemany
    tail = (tx.origin, 1, 0, STAMP, STAMP)
    lengths = [40 + draw.randrange(700) for _ in range(50)]
    words = ["cough " * length for length in lengths]
    text_of = [[draw.randrange(50) for _ in range(SYSTEMS)] for _ in range(examples)]

    def value(n: int, s: int, metric: str) -> float | None:
        if metric == "length":
            return float(lengths[text_of[n][s]])
        return None if draw.random() < 0.01 else draw.random() * 0.8 + s * 0.04

    def insert(table: str, rows: Any, width: int) -> None:
        marks = ", ".join("?" * (width + 5))
        run(f"INSERT INTO {table} VALUES ({marks})", rows)

    insert(
        "example",
        (
            (f"e{n:07}", task, f"Case {n}", "[]", "[]", ("dev", "test")[n % 2], "{}", "{}", *tail)
            for n in range(examples)
        ),
        8,
    )
    insert(
        "run",
        ((f"r{s}", system, "", STAMP, "", "{}", *tail) for s, system in enumerate(systems)),
        6,
    )
    insert(
        "output",
        (
            (
                f"o{s}{n:07}", f"r{s}", f"e{n:07}", f"P{s}{n}", n, "done",
                words[text_of[n][s]], "", "[]", "[]", "stop", "", 500, 300, 4.5, STAMP, "{}",
                *tail,
            )
            for n in range(examples)
            for s in range(SYSTEMS)
        ),
        17,
    )  # fmt: skip
    insert(
        "score",
        (
            (
                f"s{m}{s}{n:07}", f"o{s}{n:07}", metric,
                value(n, s, metric), "{}", "", f"{metric}|version:1", STAMP, *tail,
            )
            for n in range(examples)
            for s in range(SYSTEMS)
            for m, metric in enumerate(METRICS)
        ),
        8,
    )  # fmt: skip
    rated = [f"o{s}{n:07}" for n in range(50) for s in range(2)]
    insert("review_item", ((f"v{o}", o, person, "submitted", "", 0, 0.0, *tail) for o in rated), 7)
    axes = ("task_adherence", "factual_correctness", "depth", "completeness", "coherence")
    insert(
        "rating",
        ((f"g{o}{a}", o, person, a, draw.randint(1, 5), "", *tail) for o in rated for a in axes),
        6,
    )


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds a call took, and its value."""
    start = time.perf_counter()
    value = call()
    return time.perf_counter() - start, value


def measure(path: Path) -> dict[str, float]:
    """Seconds of each thing the page asks for."""
    from core.runs.compare import Side, compare_sides
    from core.runs.human_agreement import human_agreement
    from core.runs.results import cost_rows, result_rows
    from core.storage import Workspace
    from core.types import System

    times: dict[str, float] = {}
    with Workspace.open(path) as workspace:
        ids = [system.id for system in workspace.find(System)]
        times["table"], rows = timed(lambda: result_rows(workspace))
        assert len(rows) == SYSTEMS * len(METRICS)
        times["by length"], _ = timed(lambda: result_rows(workspace, ["length"]))
        times["compare"], _ = timed(
            lambda: compare_sides(workspace, "rougeL", Side(ids[0]), Side(ids[1]))
        )
        times["agreement"], _ = timed(lambda: human_agreement(workspace))
        times["cost"], _ = timed(lambda: cost_rows(workspace))
    return times


class Ticks:
    """A 5 ms timer that keeps, by what was being done, its longest gap and the most processor time the
    window's thread took between two ticks, which a busy machine does not lengthen; both in ms."""

    def __init__(self) -> None:
        from PySide6.QtCore import Qt, QTimer

        self.longest: dict[str, tuple[float, float]] = {}
        self._doing = ""
        self._last = (time.perf_counter(), time.thread_time())
        self._timer = QTimer()
        self._timer.setInterval(5)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._tick)

    def begin(self, doing: str) -> None:
        """Count for something else from now on."""
        self._tick()
        self._doing = doing
        self._last = (time.perf_counter(), time.thread_time())
        self._timer.start()

    def stop(self) -> None:
        self._timer.stop()

    def _tick(self) -> None:
        now = (time.perf_counter(), time.thread_time())
        if self._doing:
            gap, own = self.longest.get(self._doing, (0.0, 0.0))
            self.longest[self._doing] = (
                max(gap, (now[0] - self._last[0]) * 1000),
                max(own, (now[1] - self._last[1]) * 1000),
            )
        self._last = now


def window_stall(path: Path) -> tuple[float, dict[str, tuple[float, float]]]:
    """Seconds until the page shows its table, and the ticks by what was done."""
    from PySide6.QtCore import Qt
    from PySide6.QtWidgets import QApplication

    from app import theme
    from app.session import Session
    from app.windows.collecting import QuietCollector
    from app.windows.main import MainWindow
    from core.settings import Settings
    from tests.event_loop import spin

    app = QApplication.instance() or QApplication(["rifugio"])
    assert isinstance(app, QApplication)
    theme.apply_theme(app, "light", 100)
    window = MainWindow(Session(Settings(person="Ann", theme="light")))
    window.resize(1440, 900)
    window.show()
    collector = QuietCollector(window.idle, window)
    window.open_path(path)
    while not window.session.has_workspace:
        spin(20)
    window.work.show_page("queue")
    spin(500)
    window.work.page("results")
    spin(200)
    ticks = Ticks()
    ticks.begin("opening")
    start = time.perf_counter()
    page = window.work.show_page("results")
    while not page.model.results.systems:
        spin(50)
    shown = time.perf_counter() - start
    while len(page.plots.drawn) < len(page.model.results.metrics):
        spin(50)
    spin(1000)

    def read_through() -> None:
        spin(100)
        while page.behind.loading:
            spin(50)
        spin(300)

    ticks.begin("filtering")
    page.table.setCurrentIndex(page.model.index(2, 2))
    read_through()
    ticks.begin("sorting")
    for order in (Qt.SortOrder.DescendingOrder, Qt.SortOrder.AscendingOrder):
        page.behind.sort(1, order)
        read_through()
    ticks.begin("splitting")
    page.split_box.setCurrentIndex(page.split_box.findData("length"))
    while page.model.results.by != "length":
        spin(50)
    spin(1000)
    ticks.begin("other views")
    for view in ("agreement", "judges", "cost"):
        page.show_view(view)
        spin(1500)
    ticks.begin("comparing")
    page.compare()
    spin(4000)
    ticks.stop()
    collector.stop()
    window.close()
    window.deleteLater()
    spin(20)
    return shown, ticks.longest


def main() -> int:
    """Print the times; returns 0."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", default="1000,10000")
    parser.add_argument("--window", action="store_true")
    arguments = parser.parse_args()
    for text in arguments.examples.split(","):
        examples = int(text)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "Scale.rifugio"
            filling, _ = timed(lambda path=path, examples=examples: fill(path, examples))
            line = f"{examples:>7,} examples, {examples * SYSTEMS * len(METRICS):>9,} scores: "
            line += f"fill {filling:.1f} s"
            for name, seconds in measure(path).items():
                line += f", {name} {seconds:.2f} s"
            if arguments.window:
                os.environ["RIFUGIO_HOME"] = folder
                shown, longest = window_stall(path)
                line += f", page shown in {shown:.2f} s, longest stall (the window's own work):"
                for doing, (gap, own) in longest.items():
                    line += f" {doing} {gap:.0f} ({own:.0f}) ms,"
                line = line.rstrip(",")
            print(line, flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
