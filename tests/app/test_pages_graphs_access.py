"""The graph studio with content: names for screen readers, no cut text, a way round and out with Tab."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QApplication,
    QLabel,
    QScrollArea,
    QWidget,
)
from pytestqt.exceptions import TimeoutError as WaitedInVain
from pytestqt.qtbot import QtBot

from app.windows.main import MainWindow
from core.graphs import suggestions, verbs
from core.storage import Workspace
from tests.app.conftest import settle
from tests.app.test_accessibility import clipped, describe, settings, shown, spoken_name

OpenWindow = Callable[..., MainWindow]
STEPS = ["Boiling the water", "Warm the pot and find the cups", "Pour it", "Serve the tea"]


@pytest.fixture
def studio(make_window: OpenWindow, tmp_path: Path, qtbot: QtBot) -> Callable[..., Any]:
    """Opens the studio on a graph with issues, suggestions and another graph to compare with."""
    path = tmp_path / "G.rifugio"
    with Workspace.create(path, None) as workspace:
        for role in ("gold", "annotation"):
            graph = workspace.transact_job(
                "A", "", verbs.add_graph, "make a good cup of tea for the visitors", ["with leaves"],
                steps=STEPS, edges=[(0, 2), (2, 3)], role=role,
            ).value  # fmt: skip
        workspace.transact_job(
            "S", "", suggestions.suggest_steps, graph.id, ["Find milk"], "m, icl"
        )

    def open_(size: tuple[int, int] = (1440, 900), **kind: Any) -> tuple[MainWindow, Any]:
        window = make_window(settings(**kind), size=size)
        window.open_path(path)
        qtbot.waitUntil(lambda: window.session.has_workspace)
        window.work.choose("graphs")
        page = window.work.page("graphs")
        page.compare.meaning.setChecked(False)
        qtbot.waitUntil(lambda: len(page.listing.model.ids) == 2)
        page.listing.view.select_id(graph.id)
        qtbot.waitUntil(lambda: len(page.pane.canvas.graph_scene.cards) == 5)
        return window, page

    return open_


def each_tab(window: MainWindow, page: Any, qtbot: QtBot):  # type: ignore[no-untyped-def]
    for number in range(page.tabs.count()):
        page.tabs.setCurrentIndex(number)
        if page.tabs.currentWidget() is page.compare:
            qtbot.waitUntil(lambda: page.compare.compared is not None)
            qtbot.waitUntil(lambda: len(page.beside.pane.canvas.graph_scene.cards) == 4)
        settle(window, qtbot)
        yield page.tabs.tabText(number)


def test_every_focusable_control_has_a_name(studio: Any, qtbot: QtBot) -> None:
    window, page = studio(theme="high-contrast")
    nameless = []
    for tab in each_tab(window, page, qtbot):
        for widget in shown(window):
            parent = widget.parentWidget()
            inner = isinstance(parent, QAbstractScrollArea) and parent.viewport() is widget
            if widget.focusPolicy() == Qt.FocusPolicy.NoFocus or inner:
                continue
            if widget.focusProxy() is not None or isinstance(widget, QScrollArea):
                continue
            if not spoken_name(widget).strip():
                nameless.append(f"{tab}: {describe(widget)} in {type(widget.parent()).__name__}")
    assert not nameless, "\n".join(nameless)


@pytest.mark.parametrize(("scale", "size"), [(100, (1440, 900)), (100, (1100, 700)),
                                             (125, (1100, 700)), (150, (1440, 900))])  # fmt: skip
def test_no_text_is_clipped(studio: Any, qtbot: QtBot, scale: int, size: tuple[int, int]) -> None:
    window, page = studio(size, scale=scale)
    assert (window.width(), window.height()) == size

    def find_cut() -> list[str]:
        cut = [
            f"{describe(widget)} has {widget.width()}x{widget.height()},"
            f" wants {widget.sizeHint().width()}x{widget.sizeHint().height()}"
            for widget in (*shown(page, QLabel), *shown(page, QAbstractButton))
            if clipped(widget)
        ]
        right = window.work.stack.mapTo(window, QPoint(0, 0)).x() + window.work.stack.width()
        if right > window.width():
            cut.append(f"wider than the window by {right - window.width()}")
        return cut

    for tab in each_tab(window, page, qtbot):
        # The tab's rows get their heights when it has been laid out.
        with suppress(WaitedInVain):
            qtbot.waitUntil(lambda: not find_cut())
        assert not find_cut(), f"{tab}: " + "\n".join(find_cut())


def test_tab_goes_round_and_comes_back(studio: Any, qtbot: QtBot) -> None:
    window, page = studio()
    for tab in each_tab(window, page, qtbot):
        window.work.rail.take_focus()
        start = QApplication.focusWidget()
        seen: list[QWidget] = []
        for _step in range(200):
            qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
            now = QApplication.focusWidget()
            assert now not in seen, f"{tab}: {describe(now)} keeps the focus"
            if now is start:
                break
            seen.append(now)
        assert QApplication.focusWidget() is start, tab
        assert page.pane.canvas in seen
    window.work.rail.take_focus()
