"""Keys: shown, remapped in one place, and never taken from somebody who types."""

from __future__ import annotations

import pytest
import shiboken6
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.session import Session
from app.shortcuts import ACTIONS, EVERYWHERE, Shortcuts, is_single_key, key_text
from app.widgets.buttons import Button
from app.widgets.dialogs import ask


class Stage(QWidget):
    """A field, a button, and a count of what was pressed."""

    def __init__(self, shortcuts: Shortcuts) -> None:
        super().__init__()
        self.field, self.button = QLineEdit(), QPushButton("Push")
        layout = QVBoxLayout(self)
        layout.addWidget(self.field)
        layout.addWidget(self.button)
        self.rated = self.submitted = self.locked = 0
        shortcuts.bind(self, "review.rate-4", self.rate)
        shortcuts.bind(self, "review.submit", self.submit)
        shortcuts.bind(self, "lock", self.lock)

    def rate(self) -> None:
        self.rated += 1

    def submit(self) -> None:
        self.submitted += 1

    def lock(self) -> None:
        self.locked += 1


@pytest.fixture
def stage(session: Session, qtbot: QtBot) -> Stage:
    made = Stage(session.shortcuts)
    qtbot.addWidget(made)
    with qtbot.waitActive(made):
        made.show()
        made.activateWindow()
    made.button.setFocus()
    return made


def test_single_keys_work_outside_fields(stage: Stage, qtbot: QtBot) -> None:
    qtbot.keyClick(stage.button, Qt.Key.Key_4)
    qtbot.keyClick(stage.button, Qt.Key.Key_Return)
    assert (stage.rated, stage.submitted) == (1, 1)


def test_single_keys_are_text_in_a_field(stage: Stage, qtbot: QtBot) -> None:
    pressed: list[bool] = []
    stage.field.returnPressed.connect(lambda: pressed.append(True))
    stage.field.setFocus()
    qtbot.keyClick(stage.field, Qt.Key.Key_4)
    qtbot.keyClick(stage.field, Qt.Key.Key_Return)
    assert (stage.rated, stage.submitted, stage.field.text(), pressed) == (0, 0, "4", [True])
    qtbot.keyClick(stage.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClick(stage.field, Qt.Key.Key_L, Qt.KeyboardModifier.ControlModifier)
    assert (stage.submitted, stage.locked) == (1, 1)


def test_remapping_counts_at_once(stage: Stage, session: Session, qtbot: QtBot) -> None:
    session.shortcuts.set_keys("review.rate-4", ("R",))
    qtbot.keyClick(stage.button, Qt.Key.Key_4)
    assert stage.rated == 0
    qtbot.keyClick(stage.button, Qt.Key.Key_R)
    assert stage.rated == 1
    assert session.settings.shortcuts == {"review.rate-4": "R"}
    session.shortcuts.reset()
    qtbot.keyClick(stage.button, Qt.Key.Key_4)
    assert stage.rated == 2
    assert session.settings.shortcuts == {}


def test_conflicts_are_found_within_reach(session: Session) -> None:
    keys = session.shortcuts
    assert [action.id for action in keys.conflicts("review.skip", "5")] == ["review.rate-5"]
    assert [action.id for action in keys.conflicts("review.skip", "Ctrl+K")] == ["palette"]
    assert keys.conflicts("results.export", "S") == []


def test_defaults_have_no_conflicts(session: Session) -> None:
    for action in ACTIONS:
        for key in action.keys:
            others = [
                other
                for other in session.shortcuts.conflicts(action.id, key)
                if EVERYWHERE in (action.scope, other.scope) or action.scope == other.scope
            ]
            assert others == [], (action.id, key)


def test_unknown_names_in_the_settings_are_passed_over() -> None:
    assert Shortcuts({"gone": "X", "lock": ""}).own == {"lock": ""}


@pytest.mark.parametrize(
    ("key", "single"),
    [
        ("1", True),
        ("S", True),
        ("Return", True),
        ("Left", True),
        ("Shift+A", True),
        ("F1", False),
        ("Ctrl+K", False),
        ("Alt+A", False),
        ("", False),
    ],
)
def test_single_keys_are_told_apart(key: str, single: bool) -> None:
    assert is_single_key(key) is single


def test_keys_in_words() -> None:
    assert key_text("Ctrl+Return") == "Ctrl Enter"
    assert key_text("Ctrl++") == "Ctrl +"
    assert key_text("Left") == "←"
    assert key_text("") == ""


def test_two_quick_keys_are_two_clicks(session: Session, qtbot: QtBot) -> None:
    button = Button("New", shortcuts=session.shortcuts, action="new")
    clicked: list[bool] = []
    button.clicked.connect(lambda: clicked.append(True))
    qtbot.addWidget(button)
    with qtbot.waitActive(button):
        button.show()
        button.activateWindow()
    for _ in range(2):
        qtbot.keyClick(button, Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
    assert len(clicked) == 2
    button.setEnabled(False)
    button.press()
    assert len(clicked) == 2


def test_enter_presses_the_button_that_has_the_keyboard(session: Session, qtbot: QtBot) -> None:
    host = QWidget()
    host.session = session  # type: ignore[attr-defined]
    qtbot.addWidget(host)
    confirmed: list[bool] = []
    question = ask(host, "Sure?", "It is for good.", "Do it", lambda: confirmed.append(True))
    qtbot.waitUntil(question.isVisible)
    question.cancel.setFocus()
    qtbot.keyClick(question.cancel, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: not shiboken6.isValid(question) or not question.isVisible())
    assert not confirmed
