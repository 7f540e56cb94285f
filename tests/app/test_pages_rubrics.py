"""The rubric studio through the real window: writing, moving, splitting, versions, keys, undo."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from app.pages.rubrics.dialogs import (
    ImportRubricDialog,
    MergeDialog,
    NewRubricDialog,
    PasteDialog,
    RenameRubricDialog,
    SplitDialog,
)
from app.pages.rubrics.item_list import ItemModel
from app.pages.rubrics.page import Page
from app.windows.main import MainWindow
from core.errors import ConflictError
from core.people import add_person
from core.rubrics.suggestions import keep_suggestions
from core.rubrics.verbs import add_rubric, add_rubric_item, edit_rubric, rubric_items, tags_of
from core.rubrics.versions import rubric_versions
from core.types import Rubric, RubricItem
from core.types.rubrics import RubricComment, RubricSuggestion
from models.fake import FakeEmbedder, FakeGenerator
from tests.app.conftest import find_dialog, open_empty

OpenWindow = Callable[..., MainWindow]


class FakeModels:
    """A generator that suggests two items, and an embedder."""

    def generator(self, *_: object, **__: object) -> FakeGenerator:
        return FakeGenerator(
            answers=("- Allergies: each that was named\n- Onset and trigger: x\n",)
        )

    def embedder(self, *_: object) -> FakeEmbedder:
        return FakeEmbedder()

    def close(self) -> None:
        """Nothing to end."""


def open_page(window: MainWindow, qtbot: QtBot) -> Page:
    window.work.choose("rubrics")
    page = window.work.page("rubrics")
    assert isinstance(page, Page)
    qtbot.waitUntil(lambda: page.studio is not None and len(page.model.items) > 0)
    return page


def titles(window: MainWindow) -> list[str]:
    rubric = window.session.workspace.find(Rubric)[0]
    return [item.title for item in rubric_items(window.session.workspace, rubric.id)]


def shown(page: Page) -> list[str]:
    return [item.title for item in page.model.items]


def press(qtbot: QtBot, widget: object, key: Qt.Key, *held: Qt.KeyboardModifier) -> None:
    modifiers = Qt.KeyboardModifier.NoModifier
    for one in held:
        modifiers |= one
    qtbot.keyClick(widget, key, modifiers)


ALT, CTRL, SHIFT = (
    Qt.KeyboardModifier.AltModifier,
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.ShiftModifier,
)


def test_the_item_model_is_a_sound_model(qtmodeltester: ModelTester) -> None:
    model = ItemModel()
    items = [RubricItem(id=str(n), rubric_id="r", position=n, title=f"T{n}") for n in range(5)]
    model.load(items, {}, {}, locked=False)
    qtmodeltester.check(model)


def test_fields_save_themselves_and_the_list_follows(open_window: OpenWindow, qtbot: QtBot) -> None:
    window = open_window()
    page = open_page(window, qtbot)
    page.list.setFocus()
    press(qtbot, page.list, Qt.Key.Key_F2)
    qtbot.waitUntil(page.editor.title.hasFocus)
    qtbot.keyClicks(page.editor.title, "Onset")
    page.editor.tags.setFocus()
    qtbot.keyClicks(page.editor.tags, "time, onset")
    assert "Onset" in page.editor.preview.words.text()
    qtbot.waitUntil(lambda: titles(window)[0] == "Onset", timeout=5000)
    qtbot.waitUntil(lambda: shown(page)[0] == "Onset")
    item = window.session.workspace.get(RubricItem, page.list.current_id)
    assert tags_of(item) == ("time", "onset")
    # The flaw 'compound' went with the word that caused it.
    assert page.studio is not None and item.id not in page.studio.findings


def test_a_condition_says_while_one_types_whether_it_can_be_read(
    open_window: OpenWindow, qtbot: QtBot
) -> None:
    window = open_window()
    page = open_page(window, qtbot)
    before = window.session.workspace.get(RubricItem, page.list.current_id).condition
    page.editor.condition.setFocus()
    qtbot.keyClicks(page.editor.condition, '"Warning signs" is')
    assert "cannot be read" in page.editor.condition_note.text()
    page.saver.flush()
    qtbot.keyClicks(page.editor.condition, " present")
    assert "formula" in page.editor.condition_note.text()
    page.saver.flush()
    item_id = page.list.current_id
    workspace = window.session.workspace
    qtbot.waitUntil(
        lambda: workspace.get(RubricItem, item_id).condition == '"Warning signs" is present'
    )
    assert before == ""


def test_items_are_moved_by_alt_and_arrows_and_by_a_drop_and_undone(
    open_window: OpenWindow, qtbot: QtBot
) -> None:
    window = open_window()
    page = open_page(window, qtbot)
    start = titles(window)
    page.list.setFocus()
    press(qtbot, page.list, Qt.Key.Key_Down, ALT)
    moved = [start[1], start[0], *start[2:]]
    qtbot.waitUntil(lambda: shown(page) == moved)
    assert page.list.currentIndex().row() == 1
    data = page.model.mimeData([page.model.index(5)])
    assert isinstance(data, QMimeData)
    page.model.dropMimeData(data, Qt.DropAction.MoveAction, 0, 0, page.model.index(-1))
    dropped = [moved[5], *moved[:5]]
    qtbot.waitUntil(lambda: shown(page) == dropped)
    press(qtbot, page.list, Qt.Key.Key_Z, CTRL)
    qtbot.waitUntil(lambda: shown(page) == moved)
    press(qtbot, page.list, Qt.Key.Key_Z, CTRL)
    qtbot.waitUntil(lambda: shown(page) == start)


def test_two_items_move_together(open_window: OpenWindow, qtbot: QtBot) -> None:
    window = open_window()
    page = open_page(window, qtbot)
    start = titles(window)
    page.list.setFocus()
    press(qtbot, page.list, Qt.Key.Key_Down, SHIFT)
    assert len(page.list.selected_ids) == 2
    page.panel.move_down()
    qtbot.waitUntil(lambda: shown(page) == [start[2], start[0], start[1], *start[3:]])


def test_a_new_item_is_named_at_once(open_window: OpenWindow, qtbot: QtBot) -> None:
    window = open_window()
    page = open_page(window, qtbot)
    page.list.setFocus()
    press(qtbot, page.list, Qt.Key.Key_N, CTRL)
    qtbot.waitUntil(lambda: page.editor.title.hasFocus() and len(shown(page)) == 7)
    assert page.list.currentIndex().row() == 1
    qtbot.keyClicks(page.editor.title, "Allergies")
    press(qtbot, page.editor.title, Qt.Key.Key_Return, CTRL)
    qtbot.waitUntil(lambda: titles(window)[1] == "Allergies", timeout=5000)
    assert page.list.hasFocus()


def test_split_merge_paste_and_delete(open_window: OpenWindow, qtbot: QtBot) -> None:
    window = open_window()
    page = open_page(window, qtbot)
    start = titles(window)
    page.panel.split_item()
    split = find_dialog(SplitDialog)
    assert isinstance(split, SplitDialog)
    assert [title for title, _ in split.parts] == ["Onset", "Trigger"]
    split.make.click()
    qtbot.waitUntil(lambda: shown(page)[:2] == ["Onset", "Trigger"])
    page.list.select_id(page.model.items[0].id)
    page.list.setFocus()
    press(qtbot, page.list, Qt.Key.Key_Down, SHIFT)
    page.panel.merge_items()
    merge = find_dialog(MergeDialog)
    assert isinstance(merge, MergeDialog)
    merge.name.setText("Beginning")
    merge._merge()
    qtbot.waitUntil(lambda: shown(page) == ["Beginning", *start[1:]])
    QGuiApplication.clipboard().setText("Plan:\n- Referral: to whom\n- Certificate")
    page.panel.paste_items()
    paste = find_dialog(PasteDialog)
    assert isinstance(paste, PasteDialog)
    assert "2 items" in paste.about.text()
    paste.make.click()
    qtbot.waitUntil(lambda: "Referral" in shown(page) and "Certificate" in shown(page))
    qtbot.waitUntil(lambda: find_dialog(PasteDialog) is None)
    window.activateWindow()
    page.list.setFocus()
    page.list.select_id(page.model.items[-1].id)
    qtbot.waitUntil(page.list.hasFocus)
    press(qtbot, page.list, Qt.Key.Key_Delete)
    qtbot.waitUntil(lambda: start[-1] not in shown(page))


def test_delete_in_a_field_deletes_a_letter_and_no_item(
    open_window: OpenWindow, qtbot: QtBot
) -> None:
    window = open_window()
    page = open_page(window, qtbot)
    count = len(titles(window))
    page.editor.title.setFocus()
    page.editor.title.setCursorPosition(0)
    press(qtbot, page.editor.title, Qt.Key.Key_Delete)
    page.saver.flush()
    qtbot.waitUntil(lambda: titles(window)[0].startswith("nset"))
    assert len(titles(window)) == count


def test_versions_comments_review_and_lock(open_window: OpenWindow, qtbot: QtBot) -> None:
    window = open_window()
    page = open_page(window, qtbot)
    workspace = window.session.workspace
    rubric_id = page.listing.view.current_id
    page.tabs.setCurrentIndex(1)
    page.history.keep_version()
    qtbot.waitUntil(lambda: len(rubric_versions(workspace, rubric_id)) == 1)
    page.panel.move_down()
    qtbot.waitUntil(lambda: page.history.differences.count() == 1)
    qtbot.waitUntil(lambda: "Moved" in page.history.differences.itemAt(0).widget().text())
    page.history.comment.setPlainText("Is this one thing?")
    page.history.single.click()
    qtbot.waitUntil(lambda: workspace.count(RubricComment) == 1)
    qtbot.waitUntil(lambda: page.history.comment.text == "")
    page.history.ask.click()
    qtbot.waitUntil(lambda: page.history.approve.isVisible())
    ben = workspace.transact_job("Add", "", add_person, "Ben").value
    window.session.set_person(ben)
    page.history.approve.click()
    qtbot.waitUntil(lambda: "approved by Ben" in page.history.state.text())
    page.history._lock()
    qtbot.waitUntil(lambda: QApplication.activeModalWidget() is not None)
    QApplication.activeModalWidget()._confirm()
    qtbot.waitUntil(lambda: page.studio is not None and page.studio.locked)
    assert not page.add_button.isEnabled()
    assert page.editor.title.isReadOnly()


def test_suggestions_wait_until_they_are_taken(open_window: OpenWindow, qtbot: QtBot) -> None:
    window = open_window(make_models=FakeModels)
    page = open_page(window, qtbot)
    workspace = window.session.workspace
    before = titles(window)
    page.suggest()
    qtbot.waitUntil(lambda: workspace.count(RubricSuggestion) == 1)
    qtbot.waitUntil(lambda: page.tabs.tabText(2) == "Suggestions (1)")
    assert titles(window) == before
    suggestion = workspace.find(RubricSuggestion)[0]
    assert suggestion.title == "Allergies"
    take = next(
        button
        for button in page.suggestions.findChildren(type(page.suggestions.ask))
        if button.accessibleName() == "Take: Allergies"
    )
    take.click()
    qtbot.waitUntil(lambda: titles(window) == [*before, "Allergies"])
    assert workspace.get(RubricSuggestion, suggestion.id).state == "taken"


def test_a_suggestion_is_turned_down_with_its_fault(open_window: OpenWindow, qtbot: QtBot) -> None:
    window = open_window()
    page = open_page(window, qtbot)
    workspace = window.session.workspace
    workspace.transact_job(
        "Suggest", "", keep_suggestions, page.listing.view.current_id, [("Style", "", "")], "m"
    )
    qtbot.waitUntil(lambda: page.tabs.tabText(2) == "Suggestions (1)")
    page.tabs.setCurrentIndex(2)
    button = next(
        b
        for b in page.suggestions.findChildren(type(page.suggestions.ask))
        if b.accessibleName() == "Turn down: Style"
    )
    button.fault_box.choose("subjective")
    button.click()
    qtbot.waitUntil(lambda: workspace.find(RubricSuggestion)[0].fault == "subjective")


def test_overlaps_are_found_by_the_embedder(open_window: OpenWindow, qtbot: QtBot) -> None:
    window = open_window(make_models=FakeModels)
    page = open_page(window, qtbot)
    said: list[str] = []
    page.said.connect(said.append)
    page.model_help.find_overlaps()
    qtbot.waitUntil(lambda: bool(said))


def test_a_template_is_added_with_its_task(open_window: OpenWindow, qtbot: QtBot) -> None:
    window = open_window()
    page = open_page(window, qtbot)
    page.show_new()
    dialog = find_dialog(NewRubricDialog)
    assert isinstance(dialog, NewRubricDialog)
    qtbot.waitUntil(dialog.make.isEnabled)
    dialog.template.setCurrentIndex(dialog.template.findData("T2"))
    assert "not yet reviewed" in dialog.about.text()
    dialog.make.click()
    qtbot.waitUntil(lambda: len(shown(page)) == 41)


def test_a_file_of_published_checklists_becomes_a_rubric(
    open_window: OpenWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "lists.json"
    path.write_text(
        '{"a-1": {"checklist": {"Onset": "N/A"}}, "a-2": {"checklist": {"Onset": "x"}}}'
    )
    window = open_window()
    page = open_page(window, qtbot)
    page.import_file(path)
    dialog = find_dialog(ImportRubricDialog)
    assert isinstance(dialog, ImportRubricDialog)
    qtbot.waitUntil(dialog.make.isEnabled)
    assert "1 item" in dialog.about.text()
    dialog.make.click()
    qtbot.waitUntil(lambda: shown(page) == ["Onset"])


@pytest.mark.parametrize("size", [(1100, 700), (1440, 900)])
def test_nothing_is_cut_off(open_window: OpenWindow, qtbot: QtBot, size: tuple[int, int]) -> None:
    window = open_window(size=size)
    page = open_page(window, qtbot)
    for widget in (*page.panel.buttons, page.add_button, page.new_button, page.tabs, page.listing):
        right = widget.mapTo(window, QPoint(widget.width(), 0)).x()
        assert right <= window.width()


def test_what_was_typed_is_not_replaced_by_what_was_read_before(
    open_window: OpenWindow, qtbot: QtBot
) -> None:
    page = open_page(open_window(), qtbot)
    before = page.studio
    page.edit_item()
    qtbot.keyClicks(page.editor.title, "Onset, typed")
    assert page.saver.flush() is not None
    # An earlier reading comes home while the write is under way.
    page._show(before)
    assert page.editor.title.text() == "Onset, typed"
    qtbot.waitUntil(lambda: shown(page)[0] == "Onset, typed")


def test_the_keyboard_is_kept_when_the_first_rubric_is_made(
    open_window: OpenWindow, qtbot: QtBot
) -> None:
    window = open_window()
    page = open_page(window, qtbot)
    page.delete_rubric()
    question = QApplication.activeModalWidget()
    assert question is not None
    question.yes.click()  # type: ignore[attr-defined]
    qtbot.waitUntil(lambda: page.is_empty_shown)
    assert page._empty is not None
    page._empty.buttons[0].setFocus()
    window.undoing.undo()
    qtbot.waitUntil(lambda: page.studio is not None and not page.is_empty_shown)
    assert page.isAncestorOf(window.focusWidget())


def test_a_new_rubric_shown_before_its_dialog_is_told_takes_the_keyboard_once(
    open_window: OpenWindow, qtbot: QtBot
) -> None:
    window = open_window()
    page = open_page(window, qtbot)
    workspace, person = window.session.workspace, window.session.person_id
    task_id = workspace.find(Rubric)[0].task_id
    rubric = workspace.transact("Add", person, add_rubric, task_id, "Fresh").value
    qtbot.waitUntil(lambda: page.listing.view.select_id(rubric.id))
    qtbot.waitUntil(lambda: page.studio is not None and page.studio.rubric.id == rubric.id)
    page._on_new(rubric.id)
    assert page.panel.starters[0].hasFocus()
    page.tabs.setFocus()
    workspace.transact("Add", person, add_rubric_item, rubric.id, "Onset")
    qtbot.waitUntil(lambda: shown(page) == ["Onset"])
    assert page.tabs.hasFocus()


def test_a_rubric_without_a_task_says_what_is_missing(
    make_window: OpenWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    window = open_empty(make_window, qtbot, tmp_path)
    window.work.choose("rubrics")
    page = window.work.page("rubrics")
    assert isinstance(page, Page)
    told: list[str] = []
    page.said.connect(told.append)
    for command in page.commands():
        if command.text not in ("New rubric", "Import rubrics"):
            command.run()
            assert told, f"'{command.text}' does nothing and says nothing"
            told.clear()
    page.show_new()
    dialog = find_dialog(NewRubricDialog)
    assert isinstance(dialog, NewRubricDialog)
    qtbot.waitUntil(lambda: not dialog.notice.isHidden())
    assert not dialog.make.isEnabled()
    dialog.template.setCurrentIndex(1)
    assert dialog.notice.isHidden() and dialog.make.isEnabled()
    dialog.reject()


def test_a_rubric_is_renamed_and_a_locked_one_is_not(open_window: OpenWindow, qtbot: QtBot) -> None:
    window = open_window()
    page = open_page(window, qtbot)
    workspace = window.session.workspace
    page.panel.rename_button.click()
    dialog = QApplication.activeModalWidget()
    assert isinstance(dialog, RenameRubricDialog)
    qtbot.keyClicks(dialog.name, "For visits")
    dialog.make.click()
    qtbot.waitUntil(lambda: workspace.find(Rubric)[0].title == "For visits")
    qtbot.waitUntil(lambda: page.panel.title_label.accessibleName() == "For visits")
    qtbot.waitUntil(lambda: QApplication.activeModalWidget() is None)
    window.undoing.undo()
    qtbot.waitUntil(lambda: workspace.find(Rubric)[0].title != "For visits")
    rubric = workspace.find(Rubric)[0]
    workspace.transact_job("Lock", "", lambda tx: tx.update(Rubric, rubric.id, state="locked"))
    qtbot.waitUntil(lambda: page.studio is not None and page.studio.locked)
    assert not page.panel.rename_button.isEnabled()
    with pytest.raises(ConflictError, match="locked"):
        workspace.transact_job("Rename", "", edit_rubric, rubric.id, title="Other")
