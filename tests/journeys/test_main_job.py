"""The main job through the real window, on the real default model: from the welcome screen to results,
and back to the same place after closing in the middle of a run. Once with the mouse, once by keyboard."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtWidgets import QAbstractItemView, QApplication, QFileDialog, QLabel, QWidget
from pytestqt.qtbot import QtBot

from app import theme
from app.session import Session
from app.windows.main import MainWindow
from core.settings import Settings, load_settings
from core.storage import Workspace
from core.storage.audit import check_chain
from core.types import RATING_AXES, Example, Output, Rating, ReviewItem, System
from models.local import LocalModels
from tests.conftest import PASSPHRASE
from tests.journeys.hands import Hands, Keyboard, Mouse
from tests.shared_data import shared_path

pytestmark = [pytest.mark.models, pytest.mark.slow, pytest.mark.xdist_group("models")]

_PATIENCE = 240_000
CTRL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def open_window(qapp: QApplication, qtbot: QtBot) -> Iterator[Callable[[Settings], MainWindow]]:
    """Opens the window as the application does, with the models of this machine."""
    made: list[MainWindow] = []

    def open_(settings: Settings) -> MainWindow:
        theme.apply_theme(qapp, settings.theme, settings.text_scale)
        window = MainWindow(Session(settings, make_models=LocalModels))
        with qtbot.waitActive(window):
            window.show()
            window.activateWindow()
        window.welcome.take_focus()
        made.append(window)
        return window

    yield open_
    for window in made:
        window.close()
        window.session.deleteLater()
        window.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    gc.collect()


@pytest.mark.timeout(600)
@pytest.mark.parametrize("kind", [Mouse, Keyboard])
def test_from_welcome_to_results_and_back(
    kind: type[Hands],
    open_window: Callable[[Settings], MainWindow],
    qtbot: QtBot,
    tmp_path: Path,
) -> None:
    hands = kind(qtbot)
    path = tmp_path / "Ward 3.rifugio"
    window = open_window(Settings(theme="light", idle_lock_minutes=0))
    session = window.session

    # A new workspace with a passphrase.
    hands.fill("Your name", "Dr A. Rossi")
    hands.fill("File", str(path))
    hands.fill("Passphrase", PASSPHRASE)
    hands.fill("Passphrase again", PASSPHRASE)
    hands.press("Create the workspace")
    hands.wait(lambda: session.has_workspace)
    workspace = session.workspace
    assert workspace.encrypted

    # The published sample.
    hands.go("Examples", Qt.Key.Key_6)
    hands.press("Import examples")
    hands.press("Choose a file")
    hands.wait(lambda: isinstance(QApplication.activeModalWidget(), QFileDialog))
    hands.type(str(shared_path("data", "aci-bench", "valid.csv")))
    hands.key(Qt.Key.Key_Return)
    hands.press("Import")
    hands.wait(lambda: workspace.count(Example) == 20)

    # A system, and a run of two examples on the default model.
    hands.go("Runs", Qt.Key.Key_7)
    hands.press("Start a run")
    hands.press("New system …")
    hands.fill("Longest output", "40")
    hands.press("Add system")
    hands.wait(lambda: workspace.count(System) == 1)
    hands.fill("At most", "2")
    hands.press("Start")
    hands.wait(lambda: workspace.count(Output) > 0)
    assert workspace.count(Output) == 2
    hands.wait(lambda: not workspace.count(Output, "state = 'pending'"), _PATIENCE)
    assert [(output.state, output.error) for output in workspace.find(Output)] == [("done", "")] * 2
    hands.wait(lambda: not session.jobs.long_jobs, _PATIENCE)

    # Both rated by keys: five numbers, Enter, and the next stands there.
    hands.go("Review", Qt.Key.Key_8)
    page = window.work.current_page.rating
    for number, grades in enumerate(("43215", "55443")):
        hands.wait(lambda: page.item_id and not page.ratings.values)
        hands.type(grades)
        hands.wait(lambda: len(page.ratings.values) == len(RATING_AXES))
        hands.key(Qt.Key.Key_Return)
        hands.wait(lambda n=number: len(workspace.find(ReviewItem, "state = 'submitted'")) == n + 1)
    ratings = workspace.find(Rating)
    assert sorted(r.value for r in ratings) == sorted(map(int, "4321555443"))

    # The results show what was rated: the means of the five axes.
    hands.go("Results", Qt.Key.Key_9)
    page = window.work.current_page
    hands.wait(lambda: "4.50" in _words(page))
    assert {"4.50", "4.00", "2.50", "1.50", "3.00"} <= _words(page)

    # A third is being written when the window is closed.
    hands.go("Runs", Qt.Key.Key_7)
    hands.press("New run")
    hands.fill("At most", "3")
    hands.press("Start")
    page = window.work.current_page
    hands.wait(lambda: page.runner.text, _PATIENCE)
    hands.key(Qt.Key.Key_Q, CTRL)
    hands.wait(lambda: not window.isVisible())
    assert not session.has_workspace

    # Opened again: the same page, the run where it stopped, everything rated still there.
    again = open_window(load_settings())
    hands.fill("Passphrase", PASSPHRASE)
    hands.key(Qt.Key.Key_Return)
    hands.wait(lambda: again.session.has_workspace)
    assert again.work.current == "runs"
    page = again.work.current_page
    hands.wait(lambda: page.detail.facts is not None and page.detail.facts.resumable)
    assert page.detail.facts.pending + page.detail.facts.done == 3
    hands.find("Resume")
    kept = again.session.workspace
    assert {(r.output_id, r.axis, r.value) for r in kept.find(Rating)} == {
        (r.output_id, r.axis, r.value) for r in ratings
    }
    assert len(kept.find(ReviewItem, "state = 'submitted'")) == 2
    hands.key(Qt.Key.Key_Q, CTRL)
    hands.wait(lambda: not again.isVisible())
    with Workspace.open(path, PASSPHRASE) as closed:
        assert check_chain(closed) == []


def _words(page: QWidget) -> set[str]:
    """All words in the tables and labels that a page shows."""
    found: set[str] = set()
    for view in page.findChildren(QAbstractItemView):
        model = view.model()
        if model is None or not view.isVisible():
            continue
        for row in range(model.rowCount()):
            for column in range(model.columnCount()):
                found.update(str(model.index(row, column).data() or "").split())
    for words in page.findChildren(QLabel):
        if words.isVisible():
            found.update(words.text().split())
    return found
