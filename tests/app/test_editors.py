"""'Saved' means on disk; typing is never lost by switching, locking or failing."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.session import Session
from app.widgets.editors import LineEditor, ProseEditor, SaveLabel, Saver
from app.widgets.rating import Axis, RatingPanel
from app.widgets.reader import Mark, Reader, ScrollPair
from core.errors import DiskFullError
from core.people import add_person
from core.storage import Workspace
from core.tasks.verbs import add_task, edit_task
from core.types import SectionText, Task


@pytest.fixture
def working(session: Session, workspace: Workspace) -> Iterator[Session]:
    person = workspace.transact_job("Add", "", add_person, "Ann").value
    session.adopt(workspace, person)
    yield session
    session.jobs.close()
    session.release()


class Stage(QWidget):
    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self.editor = ProseEditor("Notes")
        self.task: Task = session.workspace.transact(
            "Add", session.person_id, add_task, field="Law", objective="Write"
        ).value
        self.saver = Saver(session, self.write, self)
        self.editor.edited.connect(self.saver.touch)

    def write(self) -> Future[Any] | None:
        return self.session.workspace.submit(
            "Edit task", self.session.person_id, edit_task, self.task.id, notes=self.editor.text
        )


@pytest.fixture
def stage(working: Session, qtbot: QtBot) -> Stage:
    made = Stage(working)
    qtbot.addWidget(made)
    return made


def test_saves_itself_at_a_pause(stage: Stage, qtbot: QtBot) -> None:
    label = SaveLabel(stage.saver, stage)
    qtbot.keyClicks(stage.editor, "hello")
    assert label.text() == "Not saved yet"
    qtbot.waitUntil(lambda: label.text().startswith("Saved on disk"), timeout=4000)
    stored = stage.session.workspace.get(Task, stage.task.id)
    assert stored.notes == "hello"
    # What another control wrote is said, too, but never over what is still being typed.
    before = stage.saver.saved_at
    stage.saver.note_saved()
    assert stage.saver.saved_at != before and label.text().startswith("Saved on disk")
    qtbot.keyClicks(stage.editor, " you")
    stage.saver.note_saved()
    assert label.text() == "Not saved yet"
    qtbot.waitUntil(lambda: not stage.saver.dirty, timeout=4000)


def test_a_field_grows_with_its_text_and_then_scrolls(qtbot: QtBot) -> None:
    field = ProseEditor("Plan", lines=2, most=6)
    qtbot.addWidget(field)
    field.resize(400, 100)
    field.show()
    low = field.height()
    field.load("One line.\n" * 4)
    qtbot.waitUntil(lambda: field.height() > low)
    grown = field.height()
    assert field.verticalScrollBar().maximum() == 0
    field.load("One line.\n" * 40)
    qtbot.waitUntil(lambda: field.height() > grown)
    assert field.height() < 3 * grown
    assert field.verticalScrollBar().maximum() > 0
    field.load("")
    qtbot.waitUntil(lambda: field.height() == low)


def test_flush_writes_at_once(stage: Stage, qtbot: QtBot) -> None:
    assert stage.saver.flush() is None
    qtbot.keyClicks(stage.editor, "x")
    future = stage.saver.flush()
    assert future is not None
    future.result()
    assert stage.session.workspace.get(Task, stage.task.id).notes == "x"
    qtbot.waitUntil(lambda: stage.saver.state == "saved")


def test_says_nothing_of_saved_when_it_was_not(
    stage: Stage, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[BaseException] = []
    stage.session.jobs.failed.connect(lambda error, owner: shown.append(error))

    def full(*_arguments: object, **_more: object) -> Future[Any]:
        failed: Future[Any] = Future()
        failed.set_exception(DiskFullError("The disk has no room."))
        return failed

    monkeypatch.setattr(stage.session.workspace, "submit", full)
    qtbot.keyClicks(stage.editor, "x")
    stage.saver.flush()
    qtbot.waitUntil(lambda: bool(shown))
    assert stage.saver.state == "failed"
    assert "Saved" not in stage.saver.words()
    monkeypatch.undo()
    future = stage.saver.flush()
    assert future is not None
    future.result()
    assert stage.session.workspace.get(Task, stage.task.id).notes == "x"


def test_loading_is_no_edit(stage: Stage) -> None:
    stage.editor.load("from the workspace")
    assert stage.saver.state == "idle"
    assert not stage.editor.document().isUndoAvailable()


def test_tab_and_escape_leave_a_prose_field(qtbot: QtBot) -> None:
    frame = QWidget()
    qtbot.addWidget(frame)
    first, second = ProseEditor("First", parent=frame), LineEditor("Second", parent=frame)
    with qtbot.waitActive(frame):
        frame.show()
        frame.activateWindow()
    first.setFocus()
    qtbot.keyClick(first, Qt.Key.Key_Tab)
    assert second.hasFocus() and first.text == ""
    qtbot.keyClick(second, Qt.Key.Key_Escape)
    assert not second.hasFocus()


MIXED = (
    SectionText(title="One", text="plain\n" * 30),
    SectionText(title="שתיים", text="שלום עולם\nmixed 😀 text"),
    SectionText(title="Three", text="漢字 " * 200 + "x" * 3000),
)


def test_reader_shows_directions_and_marks(qtbot: QtBot) -> None:
    reader = Reader("Output")
    qtbot.addWidget(reader)
    reader.resize(500, 300)
    reader.show()
    reader.set_sections(MIXED)
    start = MIXED[1].text.index("text")
    reader.set_marks([Mark(1, start, start + 4, underline=True)])
    assert reader.extraSelections()[0].cursor.selectedText() == "text"  # type: ignore[attr-defined]
    block = reader.document().findBlock(reader.position_of(1, 0))
    assert block.textDirection() == Qt.LayoutDirection.RightToLeft
    assert reader.document().idealWidth() <= reader.viewport().width() + 1
    assert len(reader.section_tops()) == 3


def test_lines_are_at_most_ninety_characters(qtbot: QtBot) -> None:
    reader = Reader("Output")
    qtbot.addWidget(reader)
    reader.resize(2400, 300)
    reader.show()
    reader.set_text("The court held that notice was sufficient when it named the sums. " * 20)
    layout = reader.document().firstBlock().layout()
    lengths = [layout.lineAt(number).textLength() for number in range(layout.lineCount() - 1)]
    assert all(60 <= length <= 96 for length in lengths), lengths


def test_streamed_text_follows_the_end_unless_scrolled_away(qtbot: QtBot) -> None:
    reader = Reader("Output")
    qtbot.addWidget(reader)
    reader.resize(300, 200)
    reader.show()
    for number in range(60):
        reader.append_text(f"line {number}\n")
    bar = reader.verticalScrollBar()
    assert bar.value() == bar.maximum() > 0
    bar.setValue(0)
    reader.append_text("more\n" * 5)
    assert bar.value() == 0
    assert reader.toPlainText().startswith("line 0\nline 1\n")


def test_two_readers_scroll_section_by_section(qtbot: QtBot) -> None:
    left, right = Reader("Reference"), Reader("Output")
    for reader, sizes in ((left, (10, 80)), (right, (60, 40))):
        qtbot.addWidget(reader)
        reader.resize(400, 200)
        reader.show()
        reader.set_sections(
            [SectionText(title=t, text="word\n" * n) for t, n in zip("AB", sizes, strict=True)]
        )
    pair = ScrollPair(left, right)
    left.verticalScrollBar().setValue(left.section_tops()[1])
    assert abs(right.verticalScrollBar().value() - right.section_tops()[1]) <= 2
    right.verticalScrollBar().setValue(right.verticalScrollBar().maximum())
    assert left.verticalScrollBar().value() == left.verticalScrollBar().maximum()
    pair.enabled = False
    left.verticalScrollBar().setValue(0)
    assert right.scroll_share == 1.0


AXES = tuple(
    Axis(key, key.title(), "How?", ("bad", "poor", "fair", "good", "perfect"))
    for key in ("depth", "coherence")
)


def test_ratings_by_keys_and_clicks(qtbot: QtBot) -> None:
    panel = RatingPanel(AXES)
    qtbot.addWidget(panel)
    panel.show()
    rated: list[tuple[str, int]] = []
    panel.rated.connect(lambda axis, value: rated.append((axis, value)))
    panel.rate(4)
    panel.rate(2)
    assert rated == [("depth", 4), ("coherence", 2)]
    assert panel.complete and panel.values == {"depth": 4, "coherence": 2}
    assert panel.bars["depth"].anchor_label.text() == "4: good"
    with qtbot.waitSignal(panel.cleared):
        panel.bars["depth"].clear()
    assert not panel.complete
    panel.set_values({"depth": 1})
    assert panel.active == "coherence"
