"""Planning drafts: what is missing is said where one looks, passages are read before they are used."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.pages.drafts.page import Page
from app.windows.main import MainWindow
from core.documents.library import import_documents
from tests.app.conftest import open_empty
from tests.app.test_pages_make_documents import FakeModels
from tests.factories import make_task

Make = Callable[..., MainWindow]


def test_what_is_missing_is_said_and_led_to(
    make_window: Make, tmp_path: Path, qtbot: QtBot
) -> None:
    window = open_empty(make_window, qtbot, tmp_path, make_models=FakeModels)
    page = window.work.show_page("drafts")
    assert isinstance(page, Page)
    page.plan_new()
    plan = page.plan
    qtbot.waitUntil(lambda: "no task" in plan.foot_note.text())
    assert not plan.write_button.isEnabled()
    qtbot.mouseClick(plan.go_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.work.current == "tasks")
    workspace = window.session.workspace
    workspace.transact_job("Task", "", make_task)
    window.work.show_page("drafts")
    page.plan_new()
    qtbot.waitUntil(lambda: "no document" in plan.foot_note.text())
    assert plan.task_note.text() == "Goes in: Transcript. Comes out: Subjective, Objective."
    (tmp_path / "a.txt").write_text("A narrow\npage about the cough of a man who smokes.\n" * 40)
    import_documents(workspace, [tmp_path / "a.txt"], "")
    plan.refresh()
    qtbot.waitUntil(plan.write_button.isEnabled)
    assert "model proposes" in plan.foot_note.text() and plan.go_button.isHidden()
    # Passages found are shown one at a time, the first at once; unticked ones do not count.
    plan.queries.load("cough")
    plan.find_passages()
    assert plan.find_button.text() == "Finding …" and plan.find_button.isEnabled()
    qtbot.waitUntil(lambda: len(plan.evidence()) == 1)
    assert plan.find_button.text() == "Find passages"
    assert "cough of a man" in plan.passage.toPlainText()
    plan.passages.set_ticked(plan.evidence()[0].passage_id, False)
    assert plan.foot_note.text() == "From 0 passages."
