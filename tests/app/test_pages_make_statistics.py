"""Statistics and task validation through the real window."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pytestqt.qtbot import QtBot

from app.pages.statistics.charts import bin_counts
from app.pages.statistics.page import Page
from app.pages.tasks.page import Page as TasksPage
from app.pages.tasks.validation import ValidationDialog
from app.windows.main import MainWindow
from core.tasks.verbs import add_task, edit_task
from core.types import Example
from core.types.documents import TASK_AXES, RaterProfile, TaskRating, TimeSpent
from tests.app.conftest import find_dialog

OpenWindow = Callable[..., MainWindow]


def test_numbers_split_contamination_and_export(
    open_window: OpenWindow, tmp_path: Path, qtbot: QtBot
) -> None:
    window = open_window()
    workspace = window.session.workspace
    window.work.choose("statistics")
    page = window.work.page("statistics")
    assert isinstance(page, Page)
    qtbot.waitUntil(lambda: "4 examples" in page.subtitle_label.full_text)
    page.seed.setValue(5)
    page.split_button.click()
    qtbot.waitUntil(lambda: workspace.count(Example, "split LIKE 'test%' OR split = 'dev'") == 4)
    example = workspace.find(Example)[0]
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (corpus / "a.txt").write_text("\n".join(s.text for s in example.output), encoding="utf-8")
    page.compare(corpus)
    qtbot.waitUntil(lambda: "1 of 4 examples contaminated" in page.contamination_note.text())
    page.mapping.setText("task=task_id")
    target = tmp_path / "out.jsonl"
    page.export_to(target)
    qtbot.waitUntil(target.exists)
    assert target.read_text(encoding="utf-8").count('"task_id"') == 4


def test_bins_hold_every_value() -> None:
    assert bin_counts([]) == []
    assert bin_counts([0, 1, 1, 3]) == [("0", 1), ("1", 2), ("2", 0), ("3", 1)]
    bins = bin_counts([0, 7, 99])
    assert sum(count for _label, count in bins) == 3 and len(bins) <= 8


def test_a_task_is_rated_and_others_show_afterwards(open_window: OpenWindow, qtbot: QtBot) -> None:
    window = open_window()
    workspace = window.session.workspace
    window.work.choose("tasks")
    page = window.work.page("tasks")
    qtbot.waitUntil(lambda: page._task is not None)
    page.show_rating()
    dialog = find_dialog(ValidationDialog)
    assert isinstance(dialog, ValidationDialog)
    qtbot.waitUntil(lambda: dialog._read is not None)
    assert dialog.charts["ethics"].isHidden()
    dialog.comments["bias"].setText("Written first.")
    dialog.comments["bias"].editingFinished.emit()
    for place in range(len(TASK_AXES)):
        dialog._key(1 + place % 5)
    qtbot.waitUntil(lambda: workspace.count(TaskRating) == len(TASK_AXES))
    qtbot.waitUntil(lambda: not dialog.charts["ethics"].isHidden())
    assert sum(count for _label, count in dialog.charts["ethics"].bars) == 1
    qtbot.waitUntil(lambda: workspace.count(TaskRating, "comment = 'Written first.'") == 1)
    dialog.comments["ethics"].setText("Privacy.")
    dialog.comments["ethics"].editingFinished.emit()
    qtbot.waitUntil(lambda: workspace.count(TaskRating, "comment = 'Privacy.'") == 1)
    dialog.field.setText("Medicine")
    dialog.consent.setChecked(True)
    dialog.save_profile_button.click()
    qtbot.waitUntil(lambda: workspace.count(RaterProfile, "consent = 1") == 1)
    dialog.accept()
    qtbot.waitUntil(lambda: workspace.count(TimeSpent) == 1)


def test_a_new_task_shown_before_it_was_told_selects_no_text_later(
    open_window: OpenWindow, qtbot: QtBot
) -> None:
    window = open_window()
    page = window.work.page("tasks")
    assert isinstance(page, TasksPage)
    window.work.choose("tasks")
    workspace, person = window.session.workspace, window.session.person_id
    made = workspace.transact("Add", person, add_task, field="Law", objective="New task")
    task = made.value
    qtbot.waitUntil(lambda: page.listing.view.select_id(task.id))
    qtbot.waitUntil(lambda: page.objective.text() == "New task")
    page._added(made)
    assert page.objective.hasFocus() and page.objective.selectedText() == "New task"
    page.objective.setText("Letters")
    page.objective.deselect()
    workspace.transact("Edit", person, edit_task, task.id, objective="Letters", notes="Short")
    qtbot.waitUntil(lambda: page.notes.text == "Short")
    assert page.objective.selectedText() == ""
