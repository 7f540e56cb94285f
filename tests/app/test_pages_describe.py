"""Tasks, examples and rubrics through the real window: what is typed or imported is on disk."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.pages.examples.import_dialog import ImportDialog
from app.pages.examples.new_dialog import NewExampleDialog
from app.windows.main import MainWindow
from core.storage import Workspace
from core.types import Example, Rubric, Task, TaskValidation
from tests.app.conftest import find_dialog, open_empty

OpenWindow = Callable[..., MainWindow]


def show(window: MainWindow, name: str, qtbot: QtBot):  # type: ignore[no-untyped-def]
    """Bring a page to the front and wait for its list."""
    window.work.choose(name)
    page = window.work.page(name)
    qtbot.waitUntil(lambda: page.listing.model.loaded_once)
    return page


def open_import(page, qtbot: QtBot) -> ImportDialog:  # type: ignore[no-untyped-def]
    page.show_import()
    dialog = find_dialog(ImportDialog)
    assert isinstance(dialog, ImportDialog)
    qtbot.waitUntil(lambda: dialog.task_box.count() > 0)
    return dialog


def test_an_edited_reference_is_on_disk_when_it_says_saved(
    open_window: OpenWindow, qtbot: QtBot
) -> None:
    window = open_window()
    page = show(window, "examples", qtbot)
    qtbot.waitUntil(lambda: len(page._editors) == 4)
    example_id = page.listing.view.current_id
    page._editors[1].setFocus()
    qtbot.keyClicks(page._editors[1], "Pulse 84. ")
    qtbot.waitUntil(lambda: page.saver.words().startswith("Saved on disk"), timeout=4000)
    example = window.session.workspace.get(Example, example_id)
    assert "Pulse 84." in example.output[1].text
    with Workspace.open(window.session.workspace.path, read_only=True) as reader:
        assert reader.get(Example, example_id) == example


def test_leaving_an_example_saves_it_first(open_window: OpenWindow, qtbot: QtBot) -> None:
    window = open_window()
    page = show(window, "examples", qtbot)
    qtbot.waitUntil(lambda: len(page._editors) == 4)
    first = page.listing.view.current_id
    qtbot.keyClicks(page._editors[0], "Seen at home. ")
    page.listing.view.select_id(page.listing.model.ids[1])
    qtbot.waitUntil(
        lambda: "Seen at home." in window.session.workspace.get(Example, first).output[0].text
    )
    second = page.listing.model.ids[1]
    qtbot.waitUntil(lambda: page._example is not None and page._example.id == second)
    assert "Seen at home." not in window.session.workspace.get(Example, second).output[0].text


def test_a_csv_is_imported_with_a_mapping_into_a_new_task(
    open_window: OpenWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "cases.csv"
    path.write_text(
        'case,summary\n"Müller gegen Weiß, שלום",A sued B.\n"Another, longer case text",C sued D.\nx\n',
        encoding="utf-8",
    )
    window = open_window()
    page = show(window, "examples", qtbot)
    dialog = open_import(page, qtbot)
    dialog.load(path)
    qtbot.waitUntil(lambda: set(dialog._mappings) == {"case", "summary"})
    assert dialog._mappings["summary"].value == "output.summary"
    assert "line 4" in dialog.notice.text and "No column is an input" in dialog.notice.text
    dialog._mappings["case"].choose("input.case")
    dialog.task_box.choose("")
    dialog.task_name.setText("Summarise a German case")
    before = window.session.workspace.count(Example)
    qtbot.mouseClick(dialog.import_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.session.workspace.count(Example) == before + 2)
    qtbot.waitUntil(lambda: find_dialog(ImportDialog) is None)
    task = window.session.workspace.find(Task, "objective = 'Summarise a German case'")[0]
    assert [section.title for section in task.output_sections] == ["summary"]
    found = window.session.workspace.find(Example, "task_id = ?", (task.id,))
    assert found[0].input[0].text == "Müller gegen Weiß, שלום"


def test_our_own_records_are_previewed_and_imported(
    open_window: OpenWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "e.jsonl"
    path.write_text(
        json.dumps(
            {
                "task": "Write a SOAP note from a consultation",
                "title": "حالة جديدة",
                "input": [{"title": "Consultation", "text": "Text."}],
                "output": [{"title": "Plan", "text": "Rest."}],
            }
        )
    )
    window = open_window()
    page = show(window, "examples", qtbot)
    dialog = open_import(page, qtbot)
    dialog.load(path)
    qtbot.waitUntil(dialog.import_button.isEnabled)
    assert dialog.task_row.isHidden()
    qtbot.mouseClick(dialog.import_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.session.workspace.count(Example, "title = 'حالة جديدة'") == 1)
    qtbot.waitUntil(lambda: len(page.listing.model.ids) == 5)


def test_a_file_that_cannot_be_read_is_refused_in_the_dialog(
    open_window: OpenWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    path, other = tmp_path / "empty.csv", tmp_path / "other.csv"
    path.touch()
    other.write_text("case,more\nshort,shorter\n")
    window = open_window()
    dialog = open_import(show(window, "examples", qtbot), qtbot)
    dialog.load(other)
    qtbot.waitUntil(lambda: "Say which columns are the input" in dialog.notice.text)
    assert not dialog.import_button.isEnabled()
    dialog._mappings["case"].setCurrentIndex(1)
    assert dialog.import_button.isEnabled() and not dialog.notice.text
    dialog.load(path)
    qtbot.waitUntil(lambda: "is empty" in dialog.notice.text)
    assert not dialog.import_button.isEnabled()
    assert "other" not in dialog.file_label.text() and not dialog._mappings
    dialog.reject()


def test_a_task_saves_itself_and_its_criteria(open_window: OpenWindow, qtbot: QtBot) -> None:
    window = open_window()
    page = show(window, "tasks", qtbot)
    qtbot.waitUntil(lambda: page._task is not None)
    task_id = page.listing.view.current_id
    page.objective.setFocus()
    page.objective.selectAll()
    qtbot.keyClicks(page.objective, "Write a better note")
    qtbot.mouseClick(page.output_sections._add, Qt.MouseButton.LeftButton)
    qtbot.keyClicks(page.output_sections._lines[-1].title, "Safety net")
    workspace = window.session.workspace
    qtbot.waitUntil(
        lambda: workspace.get(Task, task_id).output_sections[-1].title == "Safety net", timeout=5000
    )
    assert workspace.get(Task, task_id).objective == "Write a better note"
    page.criteria["routine"].choose(True)
    page._answer("routine")
    qtbot.waitUntil(lambda: workspace.count(TaskValidation) == 1)
    answer = workspace.find(TaskValidation)[0]
    assert (answer.criterion, answer.answer) == ("routine", True)
    page.criteria["routine"].choose(None)
    page._answer("routine")
    qtbot.waitUntil(lambda: not workspace.find(TaskValidation))


def test_a_search_narrows_the_list_and_an_empty_field_widens_it(
    open_window: OpenWindow, qtbot: QtBot
) -> None:
    window = open_window()
    page = show(window, "examples", qtbot)
    qtbot.waitUntil(lambda: len(page.listing.model.ids) == 4)
    qtbot.keyClicks(page.listing.search, "bakery")
    qtbot.waitUntil(lambda: len(page.listing.model.ids) == 1)
    page.listing.search.clear()
    qtbot.waitUntil(lambda: len(page.listing.model.ids) == 4)


def test_a_rubric_shows_its_items(open_window: OpenWindow, qtbot: QtBot) -> None:
    window = open_window()
    page = show(window, "rubrics", qtbot)
    qtbot.waitUntil(lambda: "6 items" in page.panel.note_label.text())
    assert window.session.workspace.count(Rubric) == 1


@pytest.mark.parametrize("name", ["tasks", "examples", "rubrics"])
def test_an_empty_page_offers_the_first_step(
    make_window: Callable[..., MainWindow], tmp_path: Path, qtbot: QtBot, name: str
) -> None:
    window = open_empty(make_window, qtbot, tmp_path)
    page = show(window, name, qtbot)
    qtbot.waitUntil(lambda: page.is_empty_shown)
    steps = [button.text() for button in page._empty.buttons]
    assert steps[-1] == "Add the sample"
    qtbot.mouseClick(page._empty.buttons[-1], Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not page.is_empty_shown)
    assert window.session.workspace.count(Task) == 3


def test_a_task_is_deleted_by_key_and_brought_back(open_window: OpenWindow, qtbot: QtBot) -> None:
    window = open_window()
    workspace = window.session.workspace
    page = show(window, "tasks", qtbot)
    qtbot.waitUntil(lambda: page._task is not None)
    # The sample's tasks have examples, which is said; a new one has none.
    page.add()
    qtbot.waitUntil(lambda: page._task is not None and page._task.objective == "New task")
    added = page._task.id
    # The keyboard is on the new task's name, and what it is called is its own.
    qtbot.waitUntil(page.objective.hasFocus)
    assert page.objective.selectedText() == "New task"
    page.listing.view.setFocus()
    qtbot.keyClick(page.listing.view, Qt.Key.Key_Delete)
    qtbot.waitUntil(lambda: not workspace.find(Task, "id = ?", (added,)))
    qtbot.waitUntil(lambda: page._task is not None and page._task.id != added)
    window.undoing.undo()
    qtbot.waitUntil(lambda: len(page.listing.model.ids) == 4)
    assert workspace.get(Task, added).objective == "New task"


def test_an_example_is_added_by_hand_and_deleted(open_window: OpenWindow, qtbot: QtBot) -> None:
    window = open_window()
    workspace = window.session.workspace
    page = show(window, "examples", qtbot)
    qtbot.waitUntil(lambda: page._example is not None)
    page.show_new()
    dialog = find_dialog(NewExampleDialog)
    qtbot.waitUntil(lambda: bool(dialog._editors))
    dialog.accept_button.click()
    assert "what the writer is given" in dialog.notice.text
    dialog.task_box.choose(workspace.find(Task, "objective LIKE '%SOAP%'")[0].id)
    dialog._show_sections()
    qtbot.keyClicks(dialog._editors[0], "Patient: It hurts.")
    dialog.accept_button.click()
    qtbot.waitUntil(lambda: workspace.count(Example) == 5)
    qtbot.waitUntil(lambda: page._example.title == "Patient: It hurts.")
    assert [editor.accessibleName() for editor in page._editors][:2] == ["Subjective", "Objective"]
    added = page._example.id
    window.activateWindow()
    page.listing.view.setFocus()
    qtbot.waitUntil(page.listing.view.hasFocus)
    qtbot.keyClick(page.listing.view, Qt.Key.Key_Delete)
    qtbot.waitUntil(lambda: not workspace.find(Example, "id = ?", (added,)))
    qtbot.waitUntil(lambda: page._example is not None and page._example.id != added)
