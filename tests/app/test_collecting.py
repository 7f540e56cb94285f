"""Garbage is looked for on the window's thread, while nobody waits."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication

from app.windows.collecting import QuietCollector
from app.windows.idle import IdleWatch


class Ring:
    """Refers to itself, so that only a collection frees it."""

    left = 0

    def __init__(self) -> None:
        self.me = self
        Ring.left += 1

    def __del__(self) -> None:
        Ring.left -= 1


@pytest.fixture
def collector(qapp: QApplication) -> Iterator[QuietCollector]:
    gc.collect()
    gc.enable()
    parent = QObject()
    made = QuietCollector(IdleWatch(0, parent), parent)
    yield made
    made.stop()
    assert gc.isenabled()
    parent.deleteLater()


def test_nothing_is_collected_while_somebody_types(collector: QuietCollector) -> None:
    Ring()
    kept = [[] for _ in range(5_000)]  # type: ignore[var-annotated]
    collector._idle.touch()
    collector.look()
    assert Ring.left == 1
    collector._idle.touched -= 3
    collector.look()
    assert Ring.left == 0
    assert len(kept) == 5_000


def test_many_new_objects_are_put_aside_and_looked_at_when_nobody_is_there(
    collector: QuietCollector,
) -> None:
    Ring()
    kept = [[] for _ in range(60_000)]  # type: ignore[var-annotated]
    collector._idle.touch()
    collector._idle.touched -= 3
    collector.look()
    assert Ring.left == 1
    assert gc.get_count()[0] < 60_000
    collector._idle.touched -= 60
    collector.look()
    assert Ring.left == 0
    assert len(kept) == 60_000


def test_no_other_thread_collects(collector: QuietCollector) -> None:
    where: list[str] = []

    def note(phase: str, _info: object) -> None:
        where.append(threading.current_thread().name)

    def work() -> None:
        for _ in range(200_000):
            Ring()

    gc.callbacks.append(note)
    try:
        thread = threading.Thread(target=work, name="other")
        thread.start()
        thread.join()
        assert not where
        assert Ring.left == 200_000
        collector._idle.touch()
        collector._idle.touched -= 60
        collector.look()
    finally:
        gc.callbacks.remove(note)
    assert set(where) == {threading.main_thread().name}
    assert Ring.left == 0


def test_what_a_left_workspace_showed_goes_at_once(
    collector: QuietCollector, qapp: QApplication
) -> None:
    rings = [Ring()]
    collector._collect_new()
    rings.clear()
    collector._idle.touch()
    collector.collect_soon()
    qapp.processEvents()
    assert Ring.left == 0


def test_what_was_seen_is_passed_over_until_nobody_has_been_there_for_a_minute(
    collector: QuietCollector,
) -> None:
    collector._idle.touch()
    collector._idle.touched -= 3
    rings = [Ring()]
    kept = [[] for _ in range(5_000)]  # type: ignore[var-annotated]
    # Seen while it was needed.
    collector.look()
    rings.clear()
    kept += [[] for _ in range(5_000)]
    collector.look()
    assert Ring.left == 1
    collector._idle.touched -= 60
    collector.look()
    assert Ring.left == 0
    assert len(kept) == 10_000
