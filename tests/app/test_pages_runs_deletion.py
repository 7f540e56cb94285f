"""Deleting runs on their page: asked before with what goes along, refused at work, brought back by undo."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.widgets.dialogs import Question
from app.windows.main import MainWindow
from core.types import Output, Run
from tests.app.conftest import find_dialog
from tests.app.test_pages_evaluate_blind import SYSTEMS, ScriptedModels, fill


@pytest.fixture
def window(open_window: Callable[..., MainWindow]) -> MainWindow:
    window = open_window(make_models=ScriptedModels)
    fill(window.session.workspace)
    return window


@pytest.fixture
def page(window: MainWindow, qtbot: QtBot) -> Any:
    page = window.work.show_page("runs")
    qtbot.waitUntil(lambda: page.model.rowCount() == 2 and page.detail.facts is not None)
    return page


def question(qtbot: QtBot) -> Question:
    """What is asked, once it is."""
    qtbot.waitUntil(lambda: find_dialog(Question) is not None)
    dialog = find_dialog(Question)
    assert isinstance(dialog, Question)
    return dialog


def test_runs_are_deleted_one_by_one_and_brought_back(
    window: MainWindow, page: Any, qtbot: QtBot
) -> None:
    workspace = window.session.workspace
    first = page.table.current_id
    assert page.detail.delete_button.isVisible()
    page.table.setFocus()
    qtbot.keyClick(page.table, Qt.Key.Key_Delete)
    asked = question(qtbot)
    words = asked.accessibleDescription()
    assert SYSTEMS[1] in words and "2 outputs" in words and "2 ratings and choices" in words
    assert asked.cancel.isDefault()
    asked.cancel.click()
    qtbot.waitUntil(lambda: find_dialog(Question) is None)
    assert workspace.count(Run) == 2
    page.detail.outputs.load_now()
    page.detail.table.select_id(page.detail.outputs.ids[0])
    qtbot.waitUntil(lambda: bool(page.detail.reader.toPlainText()))
    page.detail.delete_button.click()
    question(qtbot).yes.click()
    qtbot.waitUntil(lambda: workspace.count(Run) == 1)
    qtbot.waitUntil(lambda: page.model.rowCount() == 1 and page.detail.run_id not in ("", first))
    assert page.detail.name_label.full_text == SYSTEMS[0]
    page.detail.delete_button.click()
    question(qtbot).yes.click()
    qtbot.waitUntil(lambda: page.is_empty_shown)
    assert (workspace.count(Output), page.detail.run_id) == (0, "")
    for left in (1, 2):
        window.undoing.undo()
        qtbot.waitUntil(lambda left=left: workspace.count(Run) == left)
        qtbot.waitUntil(lambda left=left: page.model.rowCount() == left)
    qtbot.waitUntil(lambda: not page.is_empty_shown and page.detail.facts is not None)
    assert workspace.count(Output) == 4


def test_a_run_at_work_is_not_deleted(
    window: MainWindow, page: Any, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    page.said.connect(told.append)
    monkeypatch.setattr(page.runner, "is_waiting", lambda run_id: run_id == page.detail.run_id)
    page.detail.show_state()
    assert not page.detail.delete_button.isVisible()
    page.delete_current()
    assert "at work" in told[-1]
    assert find_dialog(Question) is None
