"""The tracked editor by keys, paste, input method and mouse; Qt's document always shows core's text."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QMimeData, Qt
from PySide6.QtGui import QInputMethodEvent, QTextCursor
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.pages.drafts import positions, tracking
from app.pages.drafts.positions import Positions
from app.pages.drafts.tracked_editor import LongEditor, SupportMark, TrackedEditor, make_editor
from app.text_offsets import OffsetMap
from core.editing.tracked import Tracked, apply_patch


@pytest.fixture(params=[TrackedEditor, LongEditor])
def editor(qtbot: QtBot, request: pytest.FixtureRequest) -> TrackedEditor | LongEditor:
    made = request.param("Section")
    made.person = "ann"
    qtbot.addWidget(made)
    made.resize(600, 300)
    made.show()
    return made


def shows(editor: TrackedEditor) -> None:
    """Qt's document is core's text, but for the breaks at which a long paragraph is parted."""
    text, breaks = editor.tracked.text, editor._positions.breaks
    parts = [text[a:b] for a, b in pairwise([0, *breaks, len(text)])]
    assert editor.toPlainText() == "\n".join(parts)
    for place in (0, len(text) // 2, len(text)):
        assert editor._positions.to_code_points(editor._positions.to_utf16(place)) == place


def put_mark(editor: TrackedEditor, place: int) -> None:
    editor.select(place, place)


def test_typing_deleting_and_deciding_by_keys(editor: TrackedEditor, qtbot: QtBot) -> None:
    editor.load(Tracked("He takes 10 mg daily."))
    put_mark(editor, 11)
    qtbot.keyClick(editor, Qt.Key.Key_Backspace)
    qtbot.keyClicks(editor, "5 and sleeps")
    shows(editor)
    assert editor.tracked.current == "He takes 15 and sleeps mg daily."
    assert editor.tracked.original == "He takes 10 mg daily."
    assert editor.place == editor.tracked.text.index(" mg")
    qtbot.keyClick(editor, Qt.Key.Key_Delete)
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    shows(editor)
    assert "\n" in editor.tracked.current
    for change in [c.id for c in editor.changes]:
        assert editor.accept_change(change)
    assert not editor.changes
    shows(editor)


def test_words_paste_cut_and_input_methods_are_tracked(editor: TrackedEditor, qtbot: QtBot) -> None:
    editor.load(Tracked("👨🏻\u200d🚒 one two three"))
    put_mark(editor, 8)
    qtbot.keyClick(editor, Qt.Key.Key_Backspace, Qt.KeyboardModifier.ControlModifier)
    shows(editor)
    assert editor.tracked.current == "👨🏻\u200d🚒  two three"
    data = QMimeData()
    data.setText("ein\r\nwort 💩 ")
    editor.insertFromMimeData(data)
    shows(editor)
    assert "ein\nwort 💩 " in editor.tracked.current
    event = QInputMethodEvent("", [])
    event.setCommitString("漢字")
    editor.inputMethodEvent(event)
    shows(editor)
    assert "漢字" in editor.tracked.current
    start = editor.tracked.text.index("two")
    editor.select(start, start + 3)
    editor.cut()
    shows(editor)
    assert "two" not in editor.tracked.current
    assert QApplication.clipboard().text() == "two"


def test_what_was_typed_is_taken_as_one_patch(editor: TrackedEditor, qtbot: QtBot) -> None:
    before = Tracked("alpha beta gamma")
    editor.load(before)
    put_mark(editor, 6)
    qtbot.keyClicks(editor, "new ")
    put_mark(editor, len(editor.tracked.text))
    qtbot.keyClicks(editor, "!")
    assert editor.dirty
    taken = editor.take_pending()
    assert taken is not None
    patch, removed, action = taken
    assert action == "typed"
    assert before.text[patch.start : patch.start + patch.removed] == removed
    assert apply_patch(before, patch) == editor.tracked
    assert editor.take_pending() is None
    assert not editor.dirty


def test_loading_an_older_state_keeps_the_writing_mark(editor: TrackedEditor, qtbot: QtBot) -> None:
    old = Tracked("💩 alpha beta")
    editor.load(old)
    put_mark(editor, 2)
    qtbot.keyClicks(editor, "very ")
    editor.take_pending()
    put_mark(editor, len(editor.tracked.text) - 4)
    editor.load(old)
    shows(editor)
    assert editor.tracked == old
    assert editor.place == len(old.text) - 4


def test_undo_is_left_to_the_window(editor: TrackedEditor, qtbot: QtBot) -> None:
    editor.load(Tracked("alpha"))
    put_mark(editor, 5)
    qtbot.keyClicks(editor, " beta")
    qtbot.keyClick(editor, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert editor.tracked.current == "alpha beta"


@pytest.mark.parametrize("longest", [8000, 24])
def test_random_keys_never_part_the_document_from_the_text(
    editor: TrackedEditor, qtbot: QtBot, longest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracking, "LONGEST", longest)
    monkeypatch.setattr(positions, "_PART", longest // 2)
    monkeypatch.setattr(positions, "_LOOK", longest // 5)
    rng = random.Random(7)
    editor.load(
        Tracked("The patient 💩 takes Ramipril 5 mg.\nمرحبا 12 cafe\u0301 👨🏻\u200d🚒 end.")
    )
    moves = [
        QTextCursor.MoveOperation.Left,
        QTextCursor.MoveOperation.Right,
        QTextCursor.MoveOperation.PreviousWord,
        QTextCursor.MoveOperation.NextWord,
        QTextCursor.MoveOperation.Start,
    ]
    original = editor.tracked.original
    assert editor.is_parted == (longest < 30)
    for _ in range(100):
        kind = rng.random()
        if kind < 0.4:
            keep = QTextCursor.MoveMode.KeepAnchor if rng.random() < 0.3 else None
            editor.moveCursor(rng.choice(moves), *([keep] if keep else []))
        elif kind < 0.7:
            qtbot.keyClicks(editor, rng.choice(["a", " ", "x y", "9", ","]))
        elif kind < 0.9:
            qtbot.keyClick(editor, rng.choice([Qt.Key.Key_Backspace, Qt.Key.Key_Delete]))
        else:
            qtbot.keyClick(editor, Qt.Key.Key_Return)
        shows(editor)
        assert editor.tracked.original == original


def test_verdicts_move_with_their_sentences(editor: TrackedEditor, qtbot: QtBot) -> None:
    editor.load(Tracked("One is here. Two is there."))
    editor.set_support([SupportMark(0, 12, "supported"), SupportMark(13, 26, "not found")])
    assert editor.support_at(2) == 0
    assert editor.support_at(20) == 1
    put_mark(editor, 12)
    qtbot.keyClicks(editor, " And more.")
    assert editor.support_at(len(editor.tracked.text)) == 1
    put_mark(editor, 2)
    qtbot.keyClicks(editor, "ly")
    assert [number for _s, _e, _t, number in editor.support_marks] == [1]
    editor.viewport().repaint()


def test_a_paragraph_of_megabytes_is_parted_for_the_screen_alone(
    editor: TrackedEditor, qtbot: QtBot
) -> None:
    sentence = "The patient 💩 reports a band-like chest pain since Saturday. "
    editor.load(Tracked(sentence * 900))
    assert editor.is_parted
    middle = len(sentence) * 450
    put_mark(editor, middle)
    qtbot.keyClicks(editor, "so ")
    editor.replace(middle, middle, sentence * 200)
    block = editor.document().firstBlock()
    sizes = []
    while block.isValid():
        sizes.append(block.length())
        block = block.next()
    # A key lays out one block anew, so that what it costs does not grow with the paragraph.
    assert len(sizes) > 9 and max(sizes) <= positions.LONGEST
    assert "\n" not in editor.tracked.text
    # Left and Right never stand still at a break, and copying takes none along.
    crossing = editor._positions.breaks[0]
    put_mark(editor, crossing - 2)
    for key, steps in ((Qt.Key.Key_Right, (-1, 0, 1)), (Qt.Key.Key_Left, (0, -1))):
        for step in steps:
            qtbot.keyClick(editor, key)
            assert editor.place == crossing + step
    editor.select(crossing - 5, crossing + 5)
    qtbot.keyClick(editor, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QApplication.clipboard().text() == editor.tracked.text[crossing - 5 : crossing + 5]
    # What becomes short is one again.
    editor.load(Tracked(sentence))
    assert not editor.is_parted
    shows(editor)


@given(st.text(alphabet="ab .\u0301\u200d🚒", max_size=300))
def test_a_long_paragraph_is_parted_between_letters(paragraph: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(positions, "_PART", 20)
        patch.setattr(positions, "_LOOK", 5)
        places = positions.part_places(paragraph)
    ends = [0, *places, len(paragraph)]
    assert all(before < after for before, after in pairwise(ends)) or not paragraph
    assert all(after - before <= 30 for before, after in pairwise(ends))


def test_a_very_long_section_gets_the_other_editor(qtbot: QtBot) -> None:
    for length, kind in ((1000, TrackedEditor), (200_000, LongEditor)):
        made = make_editor("Section", length)
        qtbot.addWidget(made)
        assert type(made) is kind


@given(
    st.text(alphabet="a💩é", max_size=12),
    st.integers(0, 12),
    st.integers(0, 4),
    st.text(alphabet="b🚒", max_size=4),
)
def test_positions_agree_with_a_fresh_map(text: str, start: int, length: int, new: str) -> None:
    kept = Positions(text)
    start = min(start, len(text))
    end = min(len(text), start + length)
    kept.replace(start, end, new)
    made = text[:start] + new + text[end:]
    fresh = OffsetMap(made)
    for offset in range(len(made) + 1):
        assert kept.to_utf16(offset) == fresh.to_utf16(offset)
    for position in range(fresh.to_utf16(len(made)) + 1):
        assert kept.to_code_points(position) == fresh.to_code_points(position)
