"""Windows under test: dressed, in a home of their own, and gone without a trace afterwards."""

from __future__ import annotations

import gc
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import shiboken6
from PySide6.QtCore import QCoreApplication, QEvent, QTimer
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app import theme
from app.session import Session
from app.windows.main import MainWindow
from core.settings import Settings
from core.storage import Workspace
from tests.event_loop import spin

PASSPHRASE = "correct horse battery"


def settle_deletions() -> None:
    """Let what was deleted later be deleted now."""
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    gc.collect()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def active_timers() -> list[QTimer]:
    """Timers that still tick, wherever they are.

    Asked by ``type``: ``isinstance`` looks at ``__class__``, which some libraries' objects answer
    with a warning.
    """
    return [
        timer
        for timer in gc.get_objects()
        if issubclass(type(timer), QTimer) and shiboken6.isValid(timer) and timer.isActive()
    ]


@pytest.fixture(autouse=True)
def no_leaked_widgets_or_timers(
    qapp: QApplication, own_home: Path, collecting_here: None, request: pytest.FixtureRequest
) -> Iterator[None]:
    """Fail a test that leaves a window or a ticking timer."""
    theme.apply_theme(qapp, "light", 100)
    if not {"qtbot", "session", "make_window"} & set(request.fixturenames):
        yield
        return
    windows = set(map(id, QApplication.topLevelWidgets()))
    timers = set(map(id, active_timers()))
    yield
    settle_deletions()
    left = [
        widget
        for widget in QApplication.topLevelWidgets()
        if id(widget) not in windows and widget.isVisible()
    ]
    described = [f"{type(widget).__name__} '{widget.windowTitle()}'" for widget in left]
    for widget in left:
        widget.close()
        widget.deleteLater()
    settle_deletions()
    assert not described, f"windows left open: {described}"
    ticking = [timer for timer in active_timers() if id(timer) not in timers]
    # What lives on now is modules and caches: collecting need not look at it again after each test,
    # which would take half of their time.
    gc.freeze()
    owners = [type(timer.parent()).__name__ for timer in ticking]
    assert not ticking, f"timers left ticking, of: {owners}"


class NoModels:
    """A machine without models."""

    def close(self) -> None:
        """Nothing to end."""


@pytest.fixture
def session(qapp: QApplication) -> Iterator[Session]:
    """A session without a workspace."""
    made = Session(Settings(person="Ann", theme="light"), make_models=NoModels)
    yield made
    made.close()
    made.deleteLater()


@pytest.fixture
def make_window(qapp: QApplication, qtbot: QtBot) -> Iterator[Callable[..., MainWindow]]:
    """Makes main windows and closes them all."""
    made: list[MainWindow] = []

    def make(
        settings: Settings | None = None,
        *,
        make_models: Callable[[], object] = NoModels,
        size: tuple[int, int] = (1440, 900),
    ) -> MainWindow:
        settings = settings or Settings(person="Ann", theme="light", idle_lock_minutes=0)
        theme.apply_theme(qapp, settings.theme, settings.text_scale)
        window = MainWindow(Session(settings, make_models=make_models))
        window.resize(*size)
        with qtbot.waitActive(window):
            window.show()
            window.activateWindow()
        made.append(window)
        return window

    yield make
    for window in made:
        window.close()
        window.session.deleteLater()
        window.deleteLater()
    settle_deletions()


@pytest.fixture
def demo_file(filled_demo: Path, tmp_path: Path) -> Path:
    """A plain workspace with the demo's content, of the test's own."""
    return Path(shutil.copy2(filled_demo, tmp_path / "Demo.rifugio"))


@pytest.fixture
def open_window(
    make_window: Callable[..., MainWindow], demo_file: Path, qtbot: QtBot
) -> Callable[..., MainWindow]:
    """Makes windows with the demo's content open."""

    def make(settings: Settings | None = None, **more: object) -> MainWindow:
        window = make_window(settings, **more)
        window.open_path(demo_file)
        qtbot.waitUntil(lambda: window.session.has_workspace)
        return window

    return make


def open_empty(
    make_window: Callable[..., MainWindow], qtbot: QtBot, folder: Path, **options: Any
) -> MainWindow:
    """A window on a workspace in which nothing is yet; ``options`` are those of `make_window`."""
    path = folder / "empty.rifugio"
    Workspace.create(path, None).close()
    window = make_window(**options)
    window.open_path(path)
    qtbot.waitUntil(lambda: window.session.has_workspace)
    return window


def find_dialog(kind: type[QWidget]) -> QWidget | None:
    """The open window of a type, if any."""
    for widget in QApplication.topLevelWidgets():
        if isinstance(widget, kind) and widget.isVisible():
            return widget
    return None


def open_for_reading(window: MainWindow, path: Path, qtbot: QtBot) -> None:
    """Open a plain workspace that is being written elsewhere, for reading only."""
    window.open_path(path)
    form = window.welcome.open_form
    qtbot.waitUntil(lambda: not form.read_only.isHidden())
    form.read_only.setChecked(True)
    qtbot.waitUntil(form.open_button.isEnabled)
    form.submit()
    qtbot.waitUntil(lambda: window.session.has_workspace)


def settle(window: MainWindow, qtbot: QtBot) -> None:
    """Wait until all that a page asked for has come home, and what came has its room.

    What comes home may ask for more; a fixed time measures a page half laid out where the machine is busy.
    """
    jobs = window.session.jobs
    for _round in range(20):
        qtbot.waitUntil(lambda: jobs.idle)
        spin(20)
        if jobs.idle:
            return
    raise AssertionError("the page never comes to rest")
