"""A rubric of 60 items written, reordered, versioned and applied with the keyboard alone, and all undone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.pages.checklists.page import Page as ChecklistsPage
from app.pages.rubrics.dialogs import NewRubricDialog, PasteDialog
from app.pages.rubrics.page import Page as RubricsPage
from app.session import Session
from app.windows.main import MainWindow
from core.checklists.verbs import entries_of
from core.rubrics.verbs import rubric_items
from core.rubrics.versions import rubric_versions
from core.settings import Settings
from core.storage import Workspace
from core.storage.undo import undoable
from core.types import Rubric, RubricItem
from core.types.rubrics import Checklist
from tests.factories import make_example, make_task
from tests.journeys.hands import Keyboard

CTRL, ALT, SHIFT = (
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.AltModifier,
    Qt.KeyboardModifier.ShiftModifier,
)


class NoModels:
    """A machine without models."""

    def close(self) -> None:
        """Nothing to end."""


@pytest.fixture
def window(qapp: QApplication, qtbot: QtBot, tmp_path: Path) -> Iterator[MainWindow]:
    """A window on a workspace with one task, one example and no rubric."""
    path = tmp_path / "w.rifugio"
    with Workspace.create(path, None) as workspace:
        task = workspace.transact_job("Fill", "", make_task).value
        workspace.transact_job("Fill", "", make_example, task.id)
    settings = Settings(person="Ann", theme="light", idle_lock_minutes=0)
    made = MainWindow(Session(settings, make_models=NoModels))
    made.resize(1440, 900)
    with qtbot.waitActive(made):
        made.show()
        made.activateWindow()
    made.open_path(path)
    qtbot.waitUntil(lambda: made.session.has_workspace)
    yield made
    made.close()
    made.session.deleteLater()
    made.deleteLater()


def test_sixty_items_without_a_mouse(window: MainWindow, qtbot: QtBot) -> None:
    keys = Keyboard(qtbot)
    workspace = window.session.workspace
    keys.key(Qt.Key.Key_2, CTRL)
    page = window.work.page("rubrics")
    assert isinstance(page, RubricsPage)
    keys.wait(lambda: page.is_empty_shown)
    write_rubric(keys, page, workspace)
    rubric = workspace.find(Rubric)[0]

    def titles() -> list[str]:
        return [item.title for item in rubric_items(workspace, rubric.id)]

    # Three by hand, 57 from a list.
    for number in range(1, 4):
        keys.key(Qt.Key.Key_N, CTRL)
        keys.wait(lambda n=number: page.editor.title.hasFocus() and len(page.model.items) == n)
        keys.type(f"Own {number}")
        keys.key(Qt.Key.Key_Return, CTRL)
        keys.wait(lambda n=number: f"Own {n}" in titles() and page.list.hasFocus())
    QGuiApplication.clipboard().setText(
        "\n".join(f"{n}. Pasted {n}: what number {n} says" for n in range(4, 61))
    )
    keys.key(Qt.Key.Key_V, CTRL | SHIFT)
    keys.wait(lambda: isinstance(QApplication.activeModalWidget(), PasteDialog))
    keys.press("Add items")
    keys.wait(lambda: len(page.model.items) == 60)
    keys.wait(lambda: QApplication.activeModalWidget() is None)
    written = titles()
    assert written == [f"Own {n}" for n in (1, 2, 3)] + [f"Pasted {n}" for n in range(4, 61)]
    # Reorder: the last item goes up by two, and two items together down by one.
    page.list.setFocus()
    keys.key(Qt.Key.Key_End)
    for _ in range(2):
        before = titles()
        keys.key(Qt.Key.Key_Up, ALT)
        keys.wait(lambda b=before: titles() != b)
        keys.wait(lambda: [item.title for item in page.model.items] == titles())
    assert titles()[-3:] == ["Pasted 60", "Pasted 58", "Pasted 59"]
    keys.key(Qt.Key.Key_Home)
    keys.key(Qt.Key.Key_Down, SHIFT)
    keys.key(Qt.Key.Key_Down, ALT)
    keys.wait(lambda: titles()[:3] == ["Own 3", "Own 1", "Own 2"])
    # Both are still chosen where they went, so that one can go on moving them.
    keys.wait(lambda: [item.title for item in page.model.items] == titles())
    assert len(page.list.selected_ids) == 2
    keys.key(Qt.Key.Key_K, CTRL | SHIFT)
    keys.wait(lambda: len(rubric_versions(workspace, rubric.id)) == 1)
    assert len(rubric_versions(workspace, rubric.id)[0].items) == 60
    apply_rubric(keys, window, workspace)
    # All of it is undone, one deed after the other.
    person = window.session.person_id
    keys.key(Qt.Key.Key_2, CTRL)
    deeds = 0
    while undoable(workspace, person) is not None:
        last = undoable(workspace, person)
        keys.key(Qt.Key.Key_Z, CTRL)
        keys.wait(lambda was=last: undoable(workspace, person) != was)
        deeds += 1
        assert deeds < 60
    assert workspace.count(Rubric) == workspace.count(RubricItem) == 0
    assert workspace.count(Checklist) == 0


def write_rubric(keys: Keyboard, page: RubricsPage, workspace: Workspace) -> None:
    """Begin an empty rubric from the empty page's first button."""
    keys.press("New rubric")
    keys.wait(lambda: isinstance(QApplication.activeModalWidget(), NewRubricDialog))
    keys.reach("Title")
    keys.type("Sixty")
    keys.press("Add rubric")
    keys.wait(lambda: workspace.count(Rubric) == 1)
    # The page may show the rubric a moment before the dialog is gone, which keeps the keys until then.
    keys.wait(lambda: QApplication.activeModalWidget() is None)
    keys.wait(lambda: page.studio is not None and not page.is_empty_shown)


def apply_rubric(keys: Keyboard, window: MainWindow, workspace: Workspace) -> None:
    """Map the reference: one item from a selection, two from words, the rest N/A at once."""
    keys.key(Qt.Key.Key_F8)
    page = window.work.page("checklists")
    assert isinstance(page, ChecklistsPage)
    view = page.compare
    keys.wait(lambda: len(view.panel.model.rows) == 60)
    view.activate("reference")
    keys.key(Qt.Key.Key_S)
    keys.wait(view.reference.view.hasFocus)
    keys.key(Qt.Key.Key_Home, CTRL)
    keys.key(Qt.Key.Key_Down)
    keys.key(Qt.Key.Key_Home)
    keys.key(Qt.Key.Key_End, SHIFT)
    keys.wait(lambda: view.reference.view.selection() is not None)
    keys.key(Qt.Key.Key_F)
    keys.wait(lambda: workspace.count(Checklist) == 1)
    checklist = workspace.find(Checklist)[0]
    keys.wait(lambda: view.panel.list.currentIndex().row() == 1)
    keys.wait(
        lambda: view.comparison is not None and view.comparison.reference.checklist is not None
    )
    keys.key(Qt.Key.Key_N)
    keys.wait(lambda: len(entries_of(workspace, checklist.id)) == 2)
    keys.key(Qt.Key.Key_Return, CTRL)
    keys.wait(lambda: len(entries_of(workspace, checklist.id)) == 60)
    states = [entry.state for entry in entries_of(workspace, checklist.id).values()]
    assert (states.count("filled"), states.count("na")) == (1, 59)
