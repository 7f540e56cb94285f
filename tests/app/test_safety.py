"""Backups, restoring, recovery, the passphrase, key files and histories as a person meets them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.errors import ErrorDialog
from app.widgets.dialogs import Question
from app.windows.main import MainWindow
from app.windows.safety.change_passphrase import ChangePassphraseDialog
from app.windows.safety.history import DeletedDialog, HistoryDialog
from app.windows.safety.recover import RecoverDialog
from app.windows.safety.restore import RestoreDialog
from core.errors import ConflictError, DiskFullError
from core.people import add_person
from core.settings import Settings
from core.storage import Workspace
from core.storage.backups import back_up, list_backups
from core.storage.cipher import make_key_file
from core.tasks.verbs import delete_task, edit_task
from core.types import Task
from tests.app.conftest import PASSPHRASE, find_dialog
from tests.factories import make_task

Make = Callable[..., MainWindow]
OTHER = "another horse battery"
LONG = 40_000


@pytest.fixture
def encrypted(tmp_path: Path) -> Path:
    """An encrypted workspace with a task, and nothing else in its folder."""
    path = tmp_path / "Kept.rifugio"
    with Workspace.create(path, PASSPHRASE) as workspace:
        workspace.transact_job("Add person", "", add_person, "Ann")
        workspace.transact_job("Add task", "", make_task, "Old objective")
    return path


@pytest.fixture
def opened(make_window: Make, encrypted: Path, qtbot: QtBot) -> MainWindow:
    window = make_window()
    open_file(window, encrypted, qtbot)
    return window


def open_file(window: MainWindow, path: Path, qtbot: QtBot, passphrase: str = PASSPHRASE) -> None:
    window.open_path(path)
    window.welcome.open_form.passphrase.setText(passphrase)
    window.welcome.open_form.submit()
    qtbot.waitUntil(lambda: window.session.has_workspace, timeout=LONG)


def dialog_of(kind: type, qtbot: QtBot):  # type: ignore[no-untyped-def]
    qtbot.waitUntil(lambda: find_dialog(kind) is not None, timeout=LONG)
    return find_dialog(kind)


def edit(window: MainWindow, objective: str) -> str:
    workspace = window.session.workspace
    task = workspace.find(Task)[0]
    workspace.transact(
        "Edit task", window.session.person_id, edit_task, task.id, objective=objective
    )
    return task.id


def test_a_backup_is_made_on_opening_and_restored_with_a_preview(
    opened: MainWindow, encrypted: Path, qtbot: QtBot
) -> None:
    window = opened
    qtbot.waitUntil(lambda: len(list_backups(encrypted)) == 1, timeout=LONG)
    edit(window, "New objective")
    window.commands.show_backups()
    dialog = dialog_of(RestoreDialog, qtbot)
    qtbot.waitUntil(dialog.restore_button.isEnabled, timeout=LONG)
    top = dialog.tree.topLevelItem(0)
    assert (top.text(0), top.child(0).text(0)) == ("Tasks", "Old objective")
    assert "changes back" in top.text(1)
    assert "1 entry would change" in dialog.words.text()
    dialog.restore_button.click()
    dialog_of(Question, qtbot).yes.click()
    qtbot.waitUntil(lambda: find_dialog(RestoreDialog) is None, timeout=LONG)
    assert window.session.workspace.find(Task)[0].objective == "Old objective"
    assert "Restored" in window.toast.accessibleName()
    assert list_backups(encrypted)[0].reason == "before-restore"
    assert window.stack.currentWidget() is window.work
    assert window.session.person.name == "Ann"


def test_back_up_now_adds_one_to_the_list(
    opened: MainWindow, encrypted: Path, qtbot: QtBot
) -> None:
    qtbot.waitUntil(lambda: len(list_backups(encrypted)) == 1, timeout=LONG)
    opened.commands.show_backups()
    dialog = dialog_of(RestoreDialog, qtbot)
    qtbot.waitUntil(lambda: dialog.list.count() == 1, timeout=LONG)
    edit(opened, "Another")
    dialog.now_button.click()
    qtbot.waitUntil(lambda: dialog.list.count() == 2, timeout=LONG)
    qtbot.waitUntil(lambda: "Nothing" in dialog.words.text(), timeout=LONG)
    assert not dialog.restore_button.isEnabled()
    dialog.reject()


def test_a_damaged_workspace_offers_its_backup_and_recovery(
    make_window: Make, encrypted: Path, qtbot: QtBot
) -> None:
    with Workspace.open(encrypted, PASSPHRASE) as workspace:
        back_up(workspace)
    data = bytearray(encrypted.read_bytes())
    data[9_000:9_010] = os.urandom(10)
    encrypted.write_bytes(data)
    window = make_window()
    form = window.welcome.open_form
    window.open_path(encrypted)
    form.passphrase.setText(PASSPHRASE)
    form.submit()
    qtbot.waitUntil(form.restore_button.isVisible, timeout=LONG)
    assert "damaged" in form.notice.text
    form.recover_button.click()
    recover = dialog_of(RecoverDialog, qtbot)
    recover.recover()
    qtbot.waitUntil(lambda: "recovered" in form.name_label.full_text, timeout=LONG)
    assert "rows recovered" in form.notice.text
    window.open_path(encrypted)
    form.passphrase.setText(PASSPHRASE)
    form.submit()
    qtbot.waitUntil(form.restore_button.isVisible, timeout=LONG)
    form.restore_button.click()
    dialog = dialog_of(RestoreDialog, qtbot)
    qtbot.waitUntil(dialog.look_button.isVisible, timeout=LONG)
    dialog.passphrase.setText("wrong wrong wrong")
    dialog.look_button.click()
    qtbot.waitUntil(lambda: "does not open" in dialog.notice.text, timeout=LONG)
    dialog.passphrase.setText(PASSPHRASE)
    dialog.look_button.click()
    qtbot.waitUntil(dialog.restore_button.isEnabled, timeout=LONG)
    assert "cannot be read" in dialog.words.text()
    dialog.restore()
    qtbot.waitUntil(lambda: find_dialog(RestoreDialog) is None, timeout=LONG)
    form.passphrase.setText(PASSPHRASE)
    form.submit()
    qtbot.waitUntil(lambda: window.session.has_workspace, timeout=LONG)


def test_a_lost_workspace_is_found_in_its_backups(
    make_window: Make, encrypted: Path, qtbot: QtBot
) -> None:
    with Workspace.open(encrypted, PASSPHRASE) as workspace:
        back_up(workspace)
    encrypted.unlink()
    window = make_window(Settings(person="Ann", recent=(str(encrypted),), idle_lock_minutes=0))
    window.open_path(encrypted)
    qtbot.waitUntil(window.welcome.open_form.restore_button.isVisible, timeout=LONG)


def test_the_passphrase_is_changed_and_a_key_file_added(
    opened: MainWindow, encrypted: Path, qtbot: QtBot, tmp_path: Path
) -> None:
    window = opened
    window.commands.change_passphrase()
    dialog = dialog_of(ChangePassphraseDialog, qtbot)
    dialog.present.setText("not the passphrase")
    for field in (dialog.secret.passphrase, dialog.secret.again):
        field.setText(OTHER)
    dialog.secret.key_file.set_path(tmp_path / "my.key")
    dialog.change()
    qtbot.waitUntil(lambda: "does not open" in dialog.notice.text, timeout=LONG)
    assert window.session.has_workspace
    dialog.present.setText(PASSPHRASE)
    dialog.remove_older.setChecked(True)
    dialog.change()
    qtbot.waitUntil(lambda: find_dialog(ChangePassphraseDialog) is None, timeout=LONG)
    assert window.session.key_file_of(encrypted) == tmp_path / "my.key"
    assert window.session.workspace.find(Task)[0].objective == "Old objective"
    window.lock()
    assert window.lock_screen.key_file.path == tmp_path / "my.key"
    window.lock_screen.passphrase.setText(OTHER)
    window.lock_screen.unlock_button.click()
    qtbot.waitUntil(lambda: window.session.has_workspace, timeout=LONG)


def test_a_workspace_with_a_key_file_opens_from_the_welcome_screen(
    make_window: Make, qtbot: QtBot, tmp_path: Path
) -> None:
    path, key_file = tmp_path / "K.rifugio", tmp_path / "k.key"
    make_key_file(key_file)
    Workspace.create(path, PASSPHRASE, key_file=key_file).close()
    window = make_window()
    window.open_path(path)
    form = window.welcome.open_form
    form.passphrase.setText(PASSPHRASE)
    form.submit()
    qtbot.waitUntil(lambda: "key file" in form.notice.text, timeout=LONG)
    form.key_button.click()
    form.key_file.set_path(key_file)
    qtbot.waitUntil(form.open_button.isEnabled, timeout=LONG)
    form.submit()
    qtbot.waitUntil(lambda: window.session.has_workspace, timeout=LONG)
    window.close_workspace()
    window.open_path(path)
    assert form.key_file.path == key_file


def test_history_of_a_row_shows_before_and_after_and_goes_back(
    opened: MainWindow, qtbot: QtBot
) -> None:
    window = opened
    task_id = edit(window, "Second objective")
    edit(window, "Third objective")
    window.work.show_page("tasks")
    qtbot.waitUntil(lambda: window.work.current_page.place()["task"] == task_id, timeout=LONG)
    command = next(c for c in window.commands.offered() if c.text.startswith("History of what"))
    command.run()
    dialog = dialog_of(HistoryDialog, qtbot)
    qtbot.waitUntil(lambda: dialog.list.count() == 3, timeout=LONG)
    assert "Ann" in dialog.list.item(0).text()
    assert dialog.before.sections[0].text == "Second objective"
    assert dialog.after.sections[0].text == "Third objective"
    assert not dialog.restore_button.isEnabled()
    dialog.list.setCurrentRow(2)
    dialog.restore_button.click()
    qtbot.waitUntil(lambda: dialog.list.count() == 4, timeout=LONG)
    assert window.session.workspace.get(Task, task_id).objective == "Old objective"
    dialog.reject()
    window.undoing.undo()
    qtbot.waitUntil(
        lambda: window.session.workspace.get(Task, task_id).objective == "Third objective",
        timeout=LONG,
    )


def test_something_deleted_is_brought_back(opened: MainWindow, qtbot: QtBot) -> None:
    window = opened
    workspace = window.session.workspace
    task = workspace.find(Task)[0]
    workspace.transact("Delete task", window.session.person_id, delete_task, task.id)
    window.commands.show_deleted()
    deleted = dialog_of(DeletedDialog, qtbot)
    qtbot.waitUntil(lambda: deleted.list.count() == 1, timeout=LONG)
    deleted.open_button.click()
    dialog = dialog_of(HistoryDialog, qtbot)
    qtbot.waitUntil(lambda: dialog.list.count() == 2, timeout=LONG)
    dialog.list.setCurrentRow(1)
    dialog.restore_button.click()
    qtbot.waitUntil(lambda: workspace.count(Task) == 1, timeout=LONG)
    dialog.reject()


def fail_to_save(*_given: object, **_more: object) -> None:
    raise DiskFullError("The disk is full.", remedy="Free some space.")


def type_into_task(window: MainWindow, qtbot: QtBot, text: str) -> None:
    window.work.show_page("tasks")
    page = window.work.current_page
    qtbot.waitUntil(lambda: page.place()["task"] != "", timeout=LONG)
    qtbot.waitUntil(lambda: page.objective.text() == "Old objective", timeout=LONG)
    page.objective.setFocus()
    page.objective.selectAll()
    qtbot.keyClicks(page.objective, text)


def test_what_cannot_be_saved_waits_behind_the_lock(
    opened: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = opened
    type_into_task(window, qtbot, "Typed and not saved")
    monkeypatch.setattr(window.session.workspace, "_run", fail_to_save)
    window.lock()
    assert window.stack.currentWidget() is window.lock_screen
    assert "could not be saved" in window.lock_screen._words.text()
    assert find_dialog(ErrorDialog) is None
    monkeypatch.undo()
    window.lock_screen.passphrase.setText(PASSPHRASE)
    window.lock_screen.unlock_button.click()
    qtbot.waitUntil(lambda: window.stack.currentWidget() is window.work, timeout=LONG)
    page = window.work.current_page
    assert page.objective.text() == "Typed and not saved"
    assert window.settle()
    assert window.session.workspace.find(Task)[0].objective == "Typed and not saved"


def test_closing_with_something_unsaved_asks_first(
    opened: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = opened
    type_into_task(window, qtbot, "Typed and not saved")
    monkeypatch.setattr(window.session.workspace, "_run", fail_to_save)
    window.close()
    assert window.isVisible()
    question = dialog_of(Question, qtbot)
    for dialog in QApplication.topLevelWidgets():
        if isinstance(dialog, ErrorDialog):
            dialog.close()
    question.yes.click()
    qtbot.waitUntil(lambda: not window.isVisible(), timeout=LONG)


def test_a_running_job_stands_in_the_way_of_a_restore(
    opened: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(opened.session.jobs), "long_jobs", property(lambda self: (object(),)))
    with pytest.raises(ConflictError, match="still running"):
        opened.replace_workspace(lambda workspace: workspace, lambda error: None)
    monkeypatch.undo()
