"""Garbage is looked for while nobody waits."""

from __future__ import annotations

import gc
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
    before = gc.get_threshold()
    parent = QObject()
    made = QuietCollector(IdleWatch(0, parent), parent)
    yield made
    made.stop()
    assert gc.get_threshold() == before
    parent.deleteLater()


def make_old_garbage() -> None:
    """A ring that only a full collection frees, and as many young collections as make one due."""
    gc.collect()
    rings = [Ring()]
    for _time in range(12):
        gc.collect(1)
    rings.clear()
    assert Ring.left == 1


def test_nothing_is_collected_while_somebody_types(collector: QuietCollector) -> None:
    make_old_garbage()
    collector._idle.touch()
    collector.look()
    assert Ring.left == 1
    collector._idle.touched -= 3
    collector.look()
    assert Ring.left == 0


def test_what_a_left_workspace_showed_goes_at_once(
    collector: QuietCollector, qapp: QApplication
) -> None:
    make_old_garbage()
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
    for _time in range(12):
        gc.collect(1)
    # Seen while it was needed.
    collector.look()
    rings.clear()
    for _time in range(12):
        gc.collect(1)
    collector.look()
    assert Ring.left == 1
    collector._idle.touched -= 60
    collector.look()
    assert Ring.left == 0
