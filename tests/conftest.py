"""What every test runs under: a home of its own, no network, silence, nothing left behind."""

from __future__ import annotations

import gc
import os

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from pytestqt.qtbot import QtBot

from core.exchange.demo import fill_demo
from core.offline import apply_offline_environment, install_offline_guard
from core.settings import models_directory
from core.storage import Workspace

apply_offline_environment()
install_offline_guard()

#: The models folder of the person who runs the tests, found before the home is replaced.
REAL_MODELS = models_directory()

# A loaded machine is slow, not wrong. The same cases are drawn each time, so that no change fails for what
# another brought in; with RIFUGIO_NEW_CASES set, others are looked for.
hypothesis.settings.register_profile(
    "suite",
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
    derandomize=not os.environ.get("RIFUGIO_NEW_CASES"),
)
hypothesis.settings.load_profile("suite")

#: Milliseconds to wait for what has to come. A loaded machine is slow, not wrong; what comes at once
#: costs nothing.
PATIENCE = 60_000

PASSPHRASE = "correct horse battery"


class PatientQtBot(QtBot):  # type: ignore[misc]
    """Waits for at least `PATIENCE`, where pytest-qt gives up after five seconds."""

    def waitUntil(self, callback: Callable[[], object], *, timeout: int = PATIENCE) -> None:
        super().waitUntil(callback, timeout=max(timeout, PATIENCE))

    def waitSignal(self, signal: Any, *, timeout: int = PATIENCE, **more: Any) -> Any:
        # Without an error at its end it is a wait for nothing to come, as `assertNotEmitted` does.
        patience = PATIENCE if more.get("raising", True) else 0
        return super().waitSignal(signal, timeout=max(timeout, patience), **more)

    def waitActive(self, widget: Any, *, timeout: int = PATIENCE) -> Any:
        return super().waitActive(widget, timeout=max(timeout, PATIENCE))

    def waitExposed(self, widget: Any, *, timeout: int = PATIENCE) -> Any:
        return super().waitExposed(widget, timeout=max(timeout, PATIENCE))


@pytest.fixture
def qtbot(qapp: Any, request: pytest.FixtureRequest) -> QtBot:
    """pytest-qt's, with more patience."""
    return PatientQtBot(request)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip tests of the real models where set-up has not fetched them."""
    if (REAL_MODELS / "smollm2-135m-instruct-q4_1").is_dir():
        return
    skip = pytest.mark.skip(reason="the default models are not on this machine")
    for item in items:
        if item.get_closest_marker("models"):
            item.add_marker(skip)


@pytest.fixture
def collecting_here() -> Iterator[None]:
    """As in the app: what Qt made is taken apart on this thread, not on one that just makes an object."""
    gc.disable()
    yield
    gc.collect()
    gc.enable()


@pytest.fixture(autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Settings and logs of a test stay in a folder of its own."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("RIFUGIO_HOME", str(home))
    monkeypatch.setenv("RIFUGIO_MODELS", str(REAL_MODELS))
    return home


@pytest.fixture(scope="session")
def filled_demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A plain workspace with the demo's content, made once, to be copied by whoever changes it."""
    path = tmp_path_factory.mktemp("demo") / "Demo.rifugio"
    with Workspace.create(path, None) as workspace:
        workspace.transact_job("Fill", "", fill_demo)
    return path


@pytest.fixture(autouse=True)
def nothing_left_behind() -> Iterator[None]:
    """Fail a test that leaves threads or child processes."""
    threads = set(threading.enumerate())
    children = _children()
    yield
    # What is just ending is given the time that a loaded machine takes.
    end = time.monotonic() + PATIENCE / 1000
    others = [
        thread
        for thread in set(threading.enumerate()) - threads
        if not thread.name.startswith(("execnet", "QThread", "Dummy"))
    ]
    for thread in others:
        thread.join(timeout=max(0.0, end - time.monotonic()))
    left = [thread.name for thread in others if thread.is_alive()]
    assert not left, f"threads left running: {left}"
    while (more := _children() - children) and time.monotonic() < end:
        time.sleep(0.01)
    assert not more, f"processes left running: {more}"


def _children() -> set[int]:
    """Process ids of this process's children, where the system tells."""
    found = set()
    for task in Path("/proc/self/task").glob("*/children"):
        try:
            found.update(int(number) for number in task.read_text().split())
        except OSError:
            continue
    return found


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    """An open, encrypted, empty workspace."""
    with Workspace.create(tmp_path / "test.rifugio", PASSPHRASE) as opened:
        yield opened
