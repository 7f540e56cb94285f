"""Lists that are filled again while somebody chooses from them."""

from __future__ import annotations

from PySide6.QtCore import QPersistentModelIndex
from PySide6.QtWidgets import QCheckBox
from pytestqt.qtbot import QtBot

from app.pages.drafts.tick_list import TickList
from app.widgets.inputs import ComboBox

ENTRIES = [("Referral letter", "a"), ("SOAP note", "b"), ("Summary", "c")]


def test_a_list_pulled_down_stays_when_it_is_offered_the_same_again(qtbot: QtBot) -> None:
    box = ComboBox("Task")
    qtbot.addWidget(box)
    told: list[int] = []
    box.currentIndexChanged.connect(told.append)
    box.fill(ENTRIES, "c")
    entry = QPersistentModelIndex(box.model().index(1, 0))
    box.fill(list(ENTRIES), "c")
    assert entry.isValid() and (box.count(), box.value) == (3, "c")
    box.fill(ENTRIES)
    assert box.value == "a"
    box.fill([*ENTRIES, ("Plan", "d")], "b")
    assert (box.count(), box.value) == (4, "b")
    box.fill([])
    assert (box.count(), box.value, told) == (0, None, [])


def test_what_the_keyboard_is_on_stays_when_the_same_is_offered_again(qtbot: QtBot) -> None:
    ticks = TickList("Documents")
    qtbot.addWidget(ticks)
    ticks.fill(ENTRIES, {"b"})
    boxes = ticks.findChildren(QCheckBox)
    ticks.fill(list(ENTRIES), {"b"})
    assert ticks.findChildren(QCheckBox) == boxes
    ticks.fill(ENTRIES, {"c"})
    assert ticks.values == ["c"]
    ticks.fill(ENTRIES[:1], set())
    assert ticks.values == []
