"""The shell as a person meets it: welcome, work, lock, undo, palette, help, and a clean end."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QClipboard, QGuiApplication
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app import errors
from app.errors import ErrorDialog, ExceptionHooks, in_words
from app.pages import PAGES
from app.widgets.inputs import passphrase_bits
from app.windows.help import HelpWindow, help_topics
from app.windows.main import MainWindow
from app.windows.palette import Palette
from app.windows.person import PersonDialog
from app.windows.rail import NavButton
from app.windows.shortcut_editor import ShortcutEditor
from core.errors import ConflictError, InputError
from core.ports import Cancellation, ProgressCallback
from core.settings import Settings, load_settings
from core.storage import Transaction, Workspace
from core.tasks.verbs import edit_task
from core.types import Output, Task
from tests.app.conftest import PASSPHRASE, find_dialog, open_for_reading
from tests.factories import make_run

Make = Callable[..., MainWindow]
CTRL = Qt.KeyboardModifier.ControlModifier


def make_workspace(window: MainWindow, qtbot: QtBot, path: Path) -> None:
    """Fill in the form for a new workspace, by keyboard."""
    form = window.welcome.new_form
    form.file.setText(str(path))
    form.passphrase.setFocus()
    qtbot.keyClicks(form.passphrase, PASSPHRASE)
    qtbot.keyClick(form.passphrase, Qt.Key.Key_Tab)
    form.again.setFocus()
    qtbot.keyClicks(form.again, PASSPHRASE)
    qtbot.keyClick(form.again, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: window.session.has_workspace, timeout=8000)


def test_new_workspace_with_passphrase(make_window: Make, qtbot: QtBot, tmp_path: Path) -> None:
    window = make_window()
    path = tmp_path / "New.rifugio"
    make_workspace(window, qtbot, path)
    assert window.session.workspace.encrypted
    assert window.session.person.name == "Ann"
    assert window.stack.currentWidget() is window.work
    assert window.session.settings.recent == (str(path),)
    assert window.welcome.new_form.passphrase.text() == ""
    assert window.windowTitle() == "New - Rifugio"


def test_new_workspace_is_refused_in_words(make_window: Make, qtbot: QtBot, tmp_path: Path) -> None:
    window = make_window()
    form = window.welcome.new_form
    form.file.setText(str(tmp_path / "x.rifugio"))
    form.passphrase.setText("short")
    form.submit()
    assert "at least 8 characters" in form.notice.text
    form.passphrase.setText(PASSPHRASE)
    form.again.setText("something else")
    form.submit()
    assert "differ" in form.notice.text
    form.again.setText(PASSPHRASE)
    form.file.setText(str(tmp_path / "nowhere" / "x.rifugio"))
    form.submit()
    qtbot.waitUntil(lambda: "is not there" in form.notice.text)
    assert not window.session.has_workspace


def test_passphrases_are_judged() -> None:
    order = ["", "aaaaaaaa", "password", "Tr0ub4dor&3", PASSPHRASE + " quay"]
    bits = [passphrase_bits(text) for text in order]
    assert bits == sorted(bits)
    assert passphrase_bits("12345678") < 20


def test_wrong_passphrase_then_the_right_one(
    make_window: Make, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "w.rifugio"
    Workspace.create(path, PASSPHRASE).close()
    window = make_window()
    window.open_path(path)
    form = window.welcome.open_form
    form.passphrase.setText("not the passphrase")
    form.submit()
    qtbot.waitUntil(lambda: not form.notice.isHidden(), timeout=8000)
    assert "does not open" in form.notice.text
    form.passphrase.setText(PASSPHRASE)
    qtbot.waitUntil(form.open_button.isEnabled)
    form.submit()
    qtbot.waitUntil(lambda: window.session.has_workspace, timeout=8000)


def test_busy_workspace_is_offered_for_reading(
    make_window: Make, qtbot: QtBot, demo_file: Path
) -> None:
    window = make_window()
    with Workspace.open(demo_file):
        open_for_reading(window, demo_file, qtbot)
        assert window.session.workspace.read_only
        window.close()


def test_demo_is_made_on_first_use(make_window: Make, qtbot: QtBot) -> None:
    window = make_window()
    window.welcome.open_demo()
    qtbot.waitUntil(lambda: window.session.has_workspace, timeout=8000)
    workspace = window.session.workspace
    assert workspace.count(Task) > 0
    # What two systems wrote waits to be reviewed, and has its scores.
    assert workspace.count(Output) == 8
    assert workspace.value("SELECT count(*) FROM score WHERE value IS NOT NULL") == 24


def test_lock_hides_everything_and_returns_to_the_place(
    make_window: Make, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = make_window()
    # The offscreen platform never says that a clipboard is its own.
    monkeypatch.setattr(QClipboard, "ownsClipboard", lambda clipboard: True)
    make_workspace(window, qtbot, tmp_path / "s.rifugio")
    window.work.show_page("settings")
    QGuiApplication.clipboard().setText("secret text")
    window.commands.show_shortcuts()
    dialog = find_dialog(ShortcutEditor)
    assert dialog is not None
    qtbot.waitUntil(dialog.isActiveWindow)
    qtbot.keyClick(dialog, Qt.Key.Key_L, CTRL)
    assert not window.session.has_workspace
    assert window.stack.currentWidget() is window.lock_screen
    assert window.work.current_page is None
    assert QGuiApplication.clipboard().text() == ""
    assert find_dialog(ShortcutEditor) is None
    Workspace.open(tmp_path / "s.rifugio", PASSPHRASE).close()
    screen = window.lock_screen
    screen.passphrase.setText("wrong passphrase")
    qtbot.keyClick(screen.passphrase, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: not screen.notice.isHidden(), timeout=8000)
    assert not window.session.has_workspace
    screen.passphrase.setText(PASSPHRASE)
    qtbot.keyClick(screen.passphrase, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: window.session.has_workspace, timeout=8000)
    assert window.work.current == "settings"
    assert screen.passphrase.text() == ""


def test_idle_lock(open_window: Make, qtbot: QtBot) -> None:
    window = open_window()
    window.idle.set_minutes(10)
    window.idle._timer.setInterval(30)
    window.idle.touch()
    qtbot.waitUntil(lambda: not window.session.has_workspace)
    window.idle.set_minutes(0)


def test_lock_keeps_a_job_going_and_then_closes_the_file(
    open_window: Make, qtbot: QtBot, demo_file: Path
) -> None:
    window = open_window()
    release = threading.Event()

    def work(*, progress: ProgressCallback, cancel: Cancellation) -> int:
        while not release.wait(0.01):
            cancel.raise_if_cancelled()
        return window.session.jobs.long_jobs.__len__()

    window.session.jobs.start(None, "Work", work)
    window.lock()
    assert not window.session.has_workspace
    assert not window.lock_screen._busy.isHidden()
    release.set()
    qtbot.waitUntil(lambda: window._held is None)
    Workspace.open(demo_file).close()


def test_place_is_kept_across_closing(make_window: Make, qtbot: QtBot, demo_file: Path) -> None:
    window = make_window()
    window.open_path(demo_file)
    qtbot.waitUntil(lambda: window.session.has_workspace)
    window.work.show_page("models")
    window.resize(1111, 777)
    window.close()
    again = make_window(load_settings())
    again.open_path(demo_file)
    qtbot.waitUntil(lambda: again.session.has_workspace)
    assert again.work.current == "models"
    assert (again.width(), again.height()) == (1440, 900)  # resized by the fixture afterwards


def test_undo_by_key_and_in_words(open_window: Make, qtbot: QtBot) -> None:
    window = open_window()
    window.work.show_page("settings")
    session = window.session
    task = session.workspace.find(Task)[0]
    session.workspace.transact(
        "Edit task", session.person_id, edit_task, task.id, objective="Other"
    )
    button = window.work.bottom.undo_button
    qtbot.waitUntil(lambda: not button.isHidden())
    assert button.text() == "Undo: Edit task"
    window.undoing.undo()
    qtbot.waitUntil(lambda: session.workspace.get(Task, task.id) == task)
    qtbot.waitUntil(button.isHidden)
    window.undoing.redo()
    qtbot.waitUntil(lambda: session.workspace.get(Task, task.id).objective == "Other")


def test_rail_counts_what_waits_before_the_queue_was_opened(
    open_window: Make, qtbot: QtBot, demo_file: Path
) -> None:
    def write(tx: Transaction, run_id: str) -> None:
        for output in tx.find(Output, "run_id = ?", (run_id,)):
            tx.update(Output, output.id, state="done", text="Written.")

    with Workspace.open(demo_file) as workspace:
        run, _system = make_run(workspace, 2)
        workspace.transact("Write", "", write, run.id)
    window = open_window()
    window.work.show_page("settings")
    button = window.work.rail._buttons["queue"]
    qtbot.waitUntil(lambda: button.accessibleName() == "Queue, 2")


def test_palette_runs_what_is_typed(open_window: Make, qtbot: QtBot) -> None:
    window = open_window()
    window.commands.show_palette()
    palette = find_dialog(Palette)
    assert isinstance(palette, Palette)
    qtbot.keyClicks(palette.field, "go settings")
    qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    assert window.work.current == "settings"
    assert {command.text for command in window.commands.offered()} >= {
        "Undo",
        "Quit",
        "Go to Queue",
    }


def test_help_has_a_topic_for_every_page(open_window: Make, qtbot: QtBot) -> None:
    topics = {name for name, _title in help_topics()}
    assert {entry.name for entry in PAGES} <= topics
    window = open_window()
    window.work.show_page("models")
    window.commands.show_help()
    shown = find_dialog(HelpWindow)
    assert isinstance(shown, HelpWindow)
    assert "licence" in shown.text.toPlainText()
    shown.close()


def test_another_person_takes_over(open_window: Make, qtbot: QtBot) -> None:
    window = open_window()
    window.commands.choose_person()
    dialog = find_dialog(PersonDialog)
    assert isinstance(dialog, PersonDialog)
    qtbot.waitUntil(lambda: dialog.people.count() > 1)
    dialog.people.setCurrentIndex(dialog.people.count() - 1)
    dialog.name.setText("Dr B. Verdi")
    dialog.accept_button.click()
    qtbot.waitUntil(lambda: window.session.person.name == "Dr B. Verdi")
    assert window.work.top._person.text() == "Dr B. Verdi"


def test_a_key_is_changed_in_the_editor(open_window: Make, qtbot: QtBot) -> None:
    window = open_window()
    window.commands.show_shortcuts()
    editor = find_dialog(ShortcutEditor)
    assert isinstance(editor, ShortcutEditor)
    editor.table.selectRow(2)
    assert editor.current_action == "lock"
    editor.keys.setKeySequence("Ctrl+K")
    editor.use_key()
    assert "is used for" in editor.notice.text
    editor.keys.setKeySequence("Ctrl+Alt+L")
    editor.use_key()
    assert window.work.top._lock.hint == "Ctrl Alt L"
    assert window.session.settings.shortcuts == {"lock": "Ctrl+Alt+L"}
    editor.accept()


@pytest.mark.parametrize("name", ["dark", "high-contrast", "light"])
def test_theme_and_size_change_while_it_runs(
    open_window: Make, qtbot: QtBot, qapp: QApplication, name: str
) -> None:
    window = open_window()
    window.session.update_settings(theme=name, text_scale=125)
    assert qapp.font().pixelSize() == round(14 * 1.25)
    window.commands.smaller_text()
    assert window.session.settings.text_scale == 100


def test_save_and_search_have_their_keys(open_window: Make, qtbot: QtBot) -> None:
    window = open_window()
    page: Any = window.work.show_page("tasks")
    qtbot.waitUntil(lambda: bool(page.listing.view.current_id) and page._task is not None)
    task_id = page.listing.view.current_id
    page.notes.setFocus()
    qtbot.keyClicks(page.notes, "Also this.")
    qtbot.keyClick(page.notes, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
    # On the disk when the key has been pressed, not at the next pause in typing.
    assert "Also this." in window.session.workspace.get(Task, task_id).notes
    qtbot.keyClick(page.notes, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert page.listing.search.hasFocus()
    qtbot.keyClick(page.listing.search, Qt.Key.Key_6, Qt.KeyboardModifier.ControlModifier)
    assert window.work.current == "examples"


def test_large_text_in_a_small_window_leaves_room_for_the_page(
    open_window: Make, qtbot: QtBot
) -> None:
    window = open_window()
    window.resize(1100, 700)
    rail = window.work.rail
    named = rail.width()
    window.session.update_settings(text_scale=150)
    qtbot.waitUntil(lambda: rail.width() < named)
    buttons = rail.findChildren(NavButton)
    assert {button.text() for button in buttons} == {""}
    assert {button.accessibleName() for button in buttons} >= {"Tasks", "Settings"}
    assert all(button.toolTip() for button in buttons)
    window.session.update_settings(text_scale=100)
    qtbot.waitUntil(lambda: rail.width() == named)
    assert "Tasks" in {button.text() for button in buttons}


def test_a_jobs_name_is_not_under_its_bar(open_window: Make, qtbot: QtBot) -> None:
    window = open_window()
    bottom = window.work.bottom

    def work(*, progress: object, cancel: Cancellation) -> None:
        while not cancel.wait(0.01):
            pass

    window.session.jobs.start(window, "Preparing the search", work)
    qtbot.waitUntil(bottom._bar.isVisible)
    qtbot.waitUntil(lambda: bottom.job_label.width() > 80)
    qtbot.waitUntil(lambda: bottom._bar.x() > bottom.job_label.geometry().right())
    window.session.jobs.cancel_all()
    qtbot.waitUntil(lambda: not window.session.jobs.long_jobs)


def test_an_error_is_said_in_words(open_window: Make, qtbot: QtBot) -> None:
    window = open_window()
    error = ConflictError("There is a system 'x' already.", remedy="Choose another name.")
    window.session.jobs.failed.emit(error, None)
    dialog = find_dialog(ErrorDialog)
    assert isinstance(dialog, ErrorDialog)
    assert dialog.message_label.text() == error.message
    assert dialog.remedy_label.text() == error.remedy
    dialog.copy_details()
    assert "ConflictError" in QGuiApplication.clipboard().text()
    dialog.accept()


def test_details_and_log_hold_no_text_of_documents(own_home: Path) -> None:
    secret = "The patient's name is Rossi"
    try:
        int(secret)
    except ValueError as error:
        _message, _remedy, details = in_words(error)
        errors.start_log()
        errors.write_to_log(error)
        errors.write_to_log(InputError(secret, path="x.csv"))
        errors.stop_log()
    assert "ValueError" in details and secret not in details
    log = errors.log_path().read_text(encoding="utf-8")
    assert "ValueError" in log and "InputError" in log and "Rossi" not in log


def test_uncaught_errors_of_any_thread_are_shown(qtbot: QtBot, qapp: QApplication) -> None:
    shown: list[BaseException] = []
    hooks = ExceptionHooks(shown.append, qapp)
    try:

        def fail() -> None:
            raise ValueError("thread")

        thread = threading.Thread(target=fail)
        thread.start()
        thread.join()
        try:
            raise KeyError("main")
        except KeyError as error:
            sys.excepthook(KeyError, error, None)
        qtbot.waitUntil(lambda: len(shown) == 2)
    finally:
        hooks.remove()
        hooks.deleteLater()
    assert {type(error) for error in shown} == {ValueError, KeyError}


def test_quitting_stops_jobs_and_keeps_the_settings(
    open_window: Make, qtbot: QtBot, demo_file: Path
) -> None:
    window = open_window(Settings(person="Ann", theme="light", idle_lock_minutes=7))

    def work(*, progress: ProgressCallback, cancel: Cancellation) -> None:
        cancel.wait(30.0)
        cancel.raise_if_cancelled()

    window.session.jobs.start(None, "Work", work)
    window.close()
    assert load_settings().idle_lock_minutes == 7
    assert load_settings().recent == (str(demo_file),)
    Workspace.open(demo_file).close()
