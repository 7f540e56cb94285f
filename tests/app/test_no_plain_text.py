"""After a whole session nothing of the workspace can be read outside it: not in its folder, the data
folder, the temporary folder, the log or the settings."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtGui import QClipboard, QGuiApplication
from pytestqt.qtbot import QtBot

from app import errors
from app.widgets.dialogs import Question
from app.windows.main import MainWindow
from app.windows.safety.restore import RestoreDialog
from core.errors import ConflictError
from core.examples.verbs import add_example, delete_example, edit_example
from core.review.verbs import record_rating
from core.rubrics.verbs import add_rubric, add_rubric_item
from core.runs.engine import execute_run
from core.runs.verbs import add_run, add_system
from core.storage import Transaction, Workspace
from core.storage.backups import back_up
from core.storage.rekey import change_key
from core.storage.undo import undo
from core.tasks.verbs import add_task, edit_task
from core.types import Output, SectionSpec, SectionText, Task
from models.fake import FakeGenerator
from tests.app.conftest import find_dialog
from tests.event_loop import spin

LONG = 40_000
MARKERS = [f"GEHEIM{chr(65 + n)}wolkenbruch" for n in range(20)]
PASSPHRASE = f"pass {MARKERS[0]} phrase"


@pytest.fixture
def own_temp(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A temporary folder that only this session uses."""
    folder = tmp_path_factory.mktemp("temp")
    for name in ("TMPDIR", "TEMP", "TMP", "SQLITE_TMPDIR"):
        monkeypatch.setenv(name, str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return folder


@pytest.fixture
def log() -> Iterator[None]:
    errors.start_log()
    yield
    errors.stop_log()


def fill(window: MainWindow) -> None:
    """Put a marker into everything that holds text."""
    m = MARKERS
    workspace, person = window.session.workspace, window.session.person_id

    def add_all(tx: Transaction) -> tuple[str, str]:
        task = add_task(
            tx, field=m[1], objective=m[2], procedure=m[3], notes=m[4],
            input_sections=(SectionSpec(title=m[5]),),
            output_sections=(SectionSpec(title="Note", description=m[6]),),
        )  # fmt: skip
        example = add_example(
            tx, task.id, title=m[7], input=(SectionText(title=m[5], text=m[8] * 500),),
            output=(SectionText(title="Note", text=m[9]),),
        )  # fmt: skip
        rubric = add_rubric(tx, task.id, m[10])
        add_rubric_item(tx, rubric.id, m[11], description=m[12])
        return task.id, example.id

    _task, example = workspace.transact("Fill", person, add_all).value
    system = workspace.transact(
        "Add system", person, add_system, m[13], model_id="fake-generator"
    ).value
    run = workspace.transact("Run", person, add_run, system.id, [example]).value
    execute_run(
        workspace, run.id, FakeGenerator(answers=[f"<think>{m[15]}</think># Note\n\n{m[16]}"])
    )
    output = workspace.find(Output)[0]
    workspace.transact("Rate", person, record_rating, output.id, person, "depth", 3, comment=m[17])
    workspace.transact("Edit", person, edit_example, example, title=m[18])
    undo(workspace, person)
    workspace.transact("Edit", person, edit_task, _task, extra={m[14]: m[14]})

    def add_and_delete(tx: Transaction) -> None:
        delete_example(tx, add_example(tx, _task, title=m[19]).id)

    workspace.transact("Delete", person, add_and_delete)


def fail(window: MainWindow) -> None:
    """Errors whose words quote the workspace must not bring them into the log."""
    try:
        raise ValueError(f"cannot read {MARKERS[8]}")
    except ValueError as error:
        errors.show_error(error, window).close()
    try:
        raise ConflictError(f"There is already a task '{MARKERS[2]}'.", details=MARKERS[9])
    except ConflictError as error:
        errors.show_error(error, window).close()


def open_file(window: MainWindow, path: Path, passphrase: str, qtbot: QtBot) -> None:
    window.open_path(path)
    window.welcome.open_form.passphrase.setText(passphrase)
    qtbot.waitUntil(window.welcome.open_form.open_button.isEnabled, timeout=LONG)
    window.welcome.open_form.submit()
    qtbot.waitUntil(lambda: window.session.has_workspace, timeout=LONG)


@pytest.mark.timeout(240)
def test_no_marker_is_left_anywhere_after_a_whole_session(
    make_window: Callable[..., MainWindow],
    qtbot: QtBot,
    tmp_path: Path,
    own_home: Path,
    own_temp: Path,
    log: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = tmp_path / "w.rifugio"
    window = make_window()
    form = window.welcome.new_form
    form.file.setText(str(path))
    qtbot.keyClicks(form.passphrase, PASSPHRASE)
    qtbot.keyClicks(form.again, PASSPHRASE)
    form.submit()
    qtbot.waitUntil(lambda: window.session.has_workspace, timeout=LONG)
    fill(window)
    for page in ("tasks", "examples", "rubrics", "runs", "review", "results", "settings"):
        window.work.show_page(page)
        spin(80)
    window.work.show_page("tasks")
    page = window.work.current_page
    qtbot.waitUntil(lambda: page.place()["task"] != "", timeout=LONG)
    qtbot.waitUntil(lambda: page.objective.text() == MARKERS[2], timeout=LONG)
    qtbot.keyClicks(page.listing.search, MARKERS[2][:8])
    page.objective.setFocus()
    qtbot.keyClicks(page.objective, " typed")
    fail(window)
    backup = back_up(window.session.workspace)
    # The offscreen platform does not say whose the clipboard is; real ones do.
    monkeypatch.setattr(QClipboard, "ownsClipboard", lambda clipboard: True)
    QGuiApplication.clipboard().setText(MARKERS[8])
    window.lock()
    assert MARKERS[8] not in QGuiApplication.clipboard().text()
    window.lock_screen.passphrase.setText("wrong wrong wrong")
    window.lock_screen.unlock_button.click()
    qtbot.waitUntil(lambda: window.lock_screen.notice.isVisible(), timeout=LONG)
    window.lock_screen.passphrase.setText(PASSPHRASE)
    window.lock_screen.unlock_button.click()
    qtbot.waitUntil(lambda: window.session.has_workspace, timeout=LONG)
    assert "typed" in window.session.workspace.find(Task)[0].objective
    window.commands.show_backups()
    qtbot.waitUntil(lambda: find_dialog(RestoreDialog) is not None, timeout=LONG)
    dialog = find_dialog(RestoreDialog)
    qtbot.waitUntil(lambda: dialog.restore_button.isEnabled(), timeout=LONG)
    assert dialog.current.path == backup.path
    dialog.restore_button.click()
    qtbot.waitUntil(lambda: find_dialog(Question) is not None, timeout=LONG)
    find_dialog(Question).yes.click()
    qtbot.waitUntil(lambda: find_dialog(RestoreDialog) is None, timeout=LONG)
    window.close()
    with Workspace.open(path, PASSPHRASE) as workspace:
        workspace.transact("Edit", "", edit_task, workspace.find(Task)[0].id, notes=MARKERS[3])
        change_key(workspace, PASSPHRASE + "!").close()
    logging.getLogger("rifugio").info("end of the session")
    searched = search([tmp_path, own_home, own_temp])
    assert {path, own_home / "settings.json", errors.log_path()} <= set(searched)
    assert any(file.parent.name.endswith("backups") for file in searched)


def search(folders: list[Path]) -> list[Path]:
    """Look into every file for every marker, as UTF-8 and as UTF-16; returns the files looked into."""
    searched = []
    for folder in folders:
        for file in folder.rglob("*"):
            if not file.is_file():
                continue
            data = file.read_bytes()
            found = [
                marker
                for marker in MARKERS
                if marker.encode() in data or marker.encode("utf-16-le") in data
            ]
            assert not found, f"{file} holds {found}"
            assert not any(marker in str(file) for marker in MARKERS)
            searched.append(file)
    return searched


def test_the_search_finds_what_a_plain_workspace_holds(tmp_path: Path) -> None:
    """The search above can fail."""
    with Workspace.create(tmp_path / "plain.rifugio", None) as workspace:
        workspace.transact("Add", "", add_task, field="Law", objective=MARKERS[2])
    with pytest.raises(AssertionError, match="holds"):
        search([tmp_path])
