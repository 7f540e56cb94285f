"""The small pieces of every page: labels that wrap whatever they hold, parts that fold where it is narrow."""

from __future__ import annotations

from PySide6.QtWidgets import QBoxLayout, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.widgets.basics import Card, Folding, label

WORD = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerk" * 20


def test_a_long_word_wraps_and_stays_what_it_is(qtbot: QtBot) -> None:
    long, short = label(f"See {WORD} 🫀", wrap=True), label("See it", wrap=True)
    for made in (long, short):
        qtbot.addWidget(made)
    assert long.text() == f"See {WORD} 🫀"
    assert long.minimumSizeHint().width() < 200
    assert long.heightForWidth(300) > 10 * short.heightForWidth(300)


def test_a_cards_long_title_does_not_widen_it(qtbot: QtBot) -> None:
    card = Card(WORD, "3 items")
    qtbot.addWidget(card)
    assert card.minimumSizeHint().width() < 200
    assert card.title_label.accessibleName() == WORD


def test_parts_fold_where_there_is_no_room_beside_each_other(qtbot: QtBot) -> None:
    buttons = [QPushButton("A rather long name"), QPushButton("Another rather long name")]
    folding = Folding((buttons[0], 0), (buttons[1], 1))
    place = QWidget()
    qtbot.addWidget(place)
    folding.setParent(place)
    widths = [button.minimumSizeHint().width() for button in buttons]
    assert folding.minimumSizeHint().width() == max(widths)
    folding.resize(sum(widths) + 20, 100)
    place.show()
    box = folding.layout()
    assert isinstance(box, QBoxLayout)
    assert box.direction() == QBoxLayout.Direction.LeftToRight
    folding.resize(max(widths) + 4, 100)
    assert box.direction() == QBoxLayout.Direction.TopToBottom
