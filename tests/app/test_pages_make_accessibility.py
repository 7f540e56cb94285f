"""Documents, drafts in every state, and statistics with content: names, room for text, keys, no traps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QApplication,
    QLabel,
    QScrollArea,
)
from pytestqt.qtbot import QtBot

from app.windows.main import MainWindow
from core.settings import Settings
from core.storage import Workspace
from core.types import Person
from core.types.documents import PostEdit
from tests.app.conftest import settle
from tests.app.test_accessibility import SIZES, clipped, describe, shown, spoken_name
from tests.app.test_pages_make_documents import FakeModels
from tests.screenshots import fill_studio

Make = Callable[..., MainWindow]


@pytest.fixture
def studio_file(demo_file: Path) -> Path:
    """The demo with a document and a draft that is being post-edited."""
    with Workspace.open(demo_file) as workspace:
        from core.people import add_person

        person = workspace.transact_job("Add", "", add_person, "Ann").value.id
        assert workspace.get(Person, person)
        fill_studio(workspace, person)
    return demo_file


def states(window: MainWindow, qtbot: QtBot) -> Iterator[str]:
    """Bring each page, and each state of the Drafts page, to the front."""
    documents = window.work.show_page("documents")
    qtbot.waitUntil(lambda: documents.viewer._leaf is not None)  # type: ignore[attr-defined]
    qtbot.waitUntil(lambda: not window.session.jobs.long_jobs)
    documents.search.search("ramipril")  # type: ignore[attr-defined]
    qtbot.waitUntil(lambda: bool(documents.search.hits))  # type: ignore[attr-defined]
    settle(window, qtbot)
    yield "documents"
    page = window.work.show_page("drafts")
    qtbot.waitUntil(lambda: page.panels.currentWidget() is page.choose)  # type: ignore[attr-defined]
    qtbot.waitUntil(lambda: bool(page.choose._support), timeout=20_000)  # type: ignore[attr-defined]
    settle(window, qtbot)
    yield "drafts, choosing"
    page.plan_new()  # type: ignore[attr-defined]
    qtbot.waitUntil(lambda: page.plan.has_documents)  # type: ignore[attr-defined]
    page.plan.queries.load("chest pain")  # type: ignore[attr-defined]
    page.plan.find_passages()  # type: ignore[attr-defined]
    qtbot.waitUntil(lambda: bool(page.plan.evidence()))  # type: ignore[attr-defined]
    settle(window, qtbot)
    yield "drafts, planning"
    page.open_studio(window.session.workspace.find(PostEdit)[0].id)  # type: ignore[attr-defined]
    studio = page.studio  # type: ignore[attr-defined]
    qtbot.waitUntil(lambda: bool(studio._answer.sections), timeout=20_000)
    for number in range(studio.tabs.count()):
        studio.tabs.setCurrentIndex(number)
        settle(window, qtbot)
        yield f"studio, {studio.tabs.tabText(number)}"
    page.close_studio()  # type: ignore[attr-defined]
    statistics = window.work.show_page("statistics")
    qtbot.waitUntil(lambda: bool(statistics.histogram.bars), timeout=20_000)  # type: ignore[attr-defined]
    settle(window, qtbot)
    yield "statistics"


def open_at(make_window: Make, path: Path, qtbot: QtBot, scale: int, size: str) -> MainWindow:
    settings = Settings(person="Ann", theme="light", text_scale=scale, idle_lock_minutes=0)
    window = make_window(settings, make_models=FakeModels, size=SIZES[size])
    window.open_path(path)
    qtbot.waitUntil(lambda: window.session.has_workspace)
    return window


@pytest.mark.parametrize(("scale", "size"), [(100, "wide"), (125, "narrow"), (150, "narrow")])
def test_every_control_has_a_name_and_room_for_its_text(
    make_window: Make, studio_file: Path, qtbot: QtBot, scale: int, size: str
) -> None:
    window = open_at(make_window, studio_file, qtbot, scale, size)
    wrong = []
    for state in states(window, qtbot):
        for widget in shown(window):
            inner = isinstance(widget.parentWidget(), QAbstractScrollArea) and (
                widget.parentWidget().viewport() is widget  # type: ignore[union-attr]
            )
            skipped = inner or widget.focusProxy() is not None or isinstance(widget, QScrollArea)
            reached = widget.focusPolicy() != Qt.FocusPolicy.NoFocus and not skipped
            if reached and not spoken_name(widget).strip():
                wrong.append(f"{state}: {describe(widget)} has no name")
        for widget in (*shown(window, QLabel), *shown(window, QAbstractButton)):
            if clipped(widget):
                wrong.append(
                    f"{state}: {describe(widget)} has {widget.width()}, wants {widget.sizeHint().width()}"
                )
    assert not wrong, "\n".join(wrong)


def test_tab_goes_round_every_state(make_window: Make, studio_file: Path, qtbot: QtBot) -> None:
    window = open_at(make_window, studio_file, qtbot, 100, "wide")
    trapped = []
    for state in states(window, qtbot):
        window.work.rail.take_focus()
        start = QApplication.focusWidget()
        visited: list[object] = []
        for _step in range(200):
            focused = QApplication.focusWidget()
            qtbot.keyClick(focused, Qt.Key.Key_Tab)
            now = QApplication.focusWidget()
            if now is start:
                break
            if now is focused or now in visited:
                trapped.append(f"{state}: {describe(now)} keeps the focus")  # type: ignore[arg-type]
                break
            visited.append(now)
        else:
            trapped.append(f"{state}: Tab never comes back")
    assert not trapped, "\n".join(trapped)
