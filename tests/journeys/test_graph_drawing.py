"""A graph of twelve steps drawn in the real window, once by mouse and once by keyboard alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.pages.graphs.dialogs import NewGraphDialog
from app.session import Session
from app.windows.main import MainWindow
from core.graphs.model import StepGraph, load_graph
from core.settings import Settings
from core.storage import Workspace
from core.storage.undo import undo
from core.types.graphs import TaskGraph
from tests.event_loop import spin

pytestmark = pytest.mark.timeout(180)

STEPS = [
    "Wash both hands", "Greet the patient", "Confirm the patient's name", "Explain the procedure",
    "Obtain consent", "Prepare the tray", "Apply the tourniquet", "Disinfect the skin",
    "Insert the needle", "Fill the tubes", "Remove the needle", "Label the tubes",
]  # fmt: skip
EDGES = {
    (0, 5), (1, 2), (2, 3), (3, 4), (4, 6), (5, 6), (6, 7), (7, 8), (8, 9), (9, 10), (2, 11), (9, 11),
}  # fmt: skip


class NoModels:
    """A machine without models."""

    def close(self) -> None:
        """Nothing to end."""


@pytest.fixture
def window(qapp: QApplication, qtbot: QtBot, tmp_path: Path) -> Iterator[MainWindow]:
    from app import theme

    path = tmp_path / "W.rifugio"
    Workspace.create(path, None).close()
    theme.apply_theme(qapp, "light", 100)
    settings = Settings(person="Ann", theme="light", idle_lock_minutes=0)
    made = MainWindow(Session(settings, make_models=NoModels))
    made.resize(1440, 900)
    with qtbot.waitActive(made):
        made.show()
        made.activateWindow()
    made.open_path(path)
    qtbot.waitUntil(lambda: made.session.has_workspace)
    yield made
    made.close()
    made.session.deleteLater()
    made.deleteLater()


def graph_of(window: MainWindow) -> StepGraph:
    workspace = window.session.workspace
    return load_graph(workspace, workspace.find(TaskGraph)[0].id)


def edges_of(window: MainWindow) -> set[tuple[int, int]]:
    """Edges as places in `STEPS`, whatever order the steps were added in."""
    graph = graph_of(window)
    place = {step.id: STEPS.index(step.text) for step in graph.steps}
    return {(place[link.before_id], place[link.after_id]) for link in graph.links}


def shown(window: MainWindow, page: Any) -> bool:
    """Whether the canvas shows what the workspace has."""
    now, seen = graph_of(window), page.document.graph
    return seen is not None and (seen.steps, seen.dependencies) == (now.steps, now.dependencies)


def check_the_end(window: MainWindow) -> None:
    """What was drawn is in the file, and undo takes the last deed back."""
    graph = graph_of(window)
    assert sorted(step.text for step in graph.steps) == sorted(STEPS)
    assert edges_of(window) == EDGES
    assert graph.graph.task == "draw blood"
    undo(window.session.workspace, window.session.person_id)
    assert len(edges_of(window)) == len(EDGES) - 1


def test_by_mouse(window: MainWindow, qtbot: QtBot) -> None:
    left = Qt.MouseButton.LeftButton

    def click(widget: QWidget) -> None:
        qtbot.mouseClick(widget, left)

    click(window.work.rail._buttons["graphs"])
    page: Any = window.work.page("graphs")
    qtbot.waitUntil(lambda: page.is_empty_shown)
    click(page._empty.buttons[0])
    dialog = window.findChild(NewGraphDialog)
    qtbot.keyClicks(dialog.task, "draw blood")
    click(dialog.make_button)
    qtbot.waitUntil(lambda: page.document.graph is not None)
    qtbot.waitUntil(lambda: QApplication.activeModalWidget() is None)
    canvas = page.pane.canvas
    scene = canvas.graph_scene

    def send(kind: QEvent.Type, spot: QPoint, buttons: Qt.MouseButton) -> None:
        button = Qt.MouseButton.NoButton if kind == QEvent.Type.MouseMove else left
        viewport = canvas.viewport()
        QApplication.sendEvent(
            viewport,
            QMouseEvent(
                kind, QPointF(spot), QPointF(viewport.mapToGlobal(spot)), button, buttons,
                Qt.KeyboardModifier.NoModifier,
            ),
        )  # fmt: skip

    def add(text: str, spot: QPoint) -> None:
        count = len(scene.cards)
        qtbot.mouseDClick(canvas.viewport(), left, pos=spot)
        assert canvas.editor is not None, text
        qtbot.keyClicks(canvas.editor, text)
        qtbot.keyClick(canvas.editor, Qt.Key.Key_Return)
        qtbot.waitUntil(lambda: len(scene.cards) == count + 1 and shown(window, page))

    def drag(start: QPoint, end: QPoint) -> None:
        send(QEvent.Type.MouseButtonPress, start, left)
        assert canvas.gesture == "connect", (start, canvas.gesture)
        for part in (1, 2, 3):
            send(QEvent.Type.MouseMove, start + (end - start) * part / 3, left)
        send(QEvent.Type.MouseButtonRelease, end, Qt.MouseButton.NoButton)

    canvas.set_zoom(0.6)
    canvas.centerOn(0, 0)
    width, height = canvas.viewport().width(), canvas.viewport().height()
    for number, text in enumerate(STEPS):
        column, line = number % 3, number // 3
        add(text, QPoint(width * (2 * column + 1) // 6, height * (2 * line + 1) // 8))
    # The bar with the first hint has gone by now; a hand waits for what it sees to come to rest.
    spin(200)
    ids = {step.text: step.id for step in graph_of(window).steps}

    def card(number: int) -> Any:
        return scene.cards[ids[STEPS[number]]]

    for done, (before, after) in enumerate(sorted(EDGES)):
        start = canvas.mapFromScene(card(before).mapToScene(card(before).handle))
        drag(start, canvas.mapFromScene(card(after).pos()))
        qtbot.waitUntil(lambda done=done: len(graph_of(window).links) == done + 1)
        qtbot.waitUntil(lambda: shown(window, page))
    # An arrow against the others is refused, and nothing changes.
    start = canvas.mapFromScene(card(10).mapToScene(card(10).handle))
    drag(start, canvas.mapFromScene(card(0).pos()))
    qtbot.waitUntil(page.pane.notice.isVisible)
    assert "cannot come before" in page.pane.notice.text
    check_the_end(window)


def test_by_keyboard_alone(window: MainWindow, qtbot: QtBot) -> None:
    def press(key: Qt.Key, held: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        focus = QApplication.focusWidget()
        assert focus is not None
        qtbot.keyClick(focus, key, held)

    def write(text: str) -> None:
        focus = QApplication.focusWidget()
        assert focus is not None
        qtbot.keyClicks(focus, text)

    press(Qt.Key.Key_3, Qt.KeyboardModifier.ControlModifier)
    page: Any = window.work.page("graphs")
    qtbot.waitUntil(lambda: page.isVisible() and page.is_empty_shown)
    # The empty page offers the first step to the keyboard, too.
    page._empty.buttons[0].setFocus()
    press(Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: isinstance(QApplication.activeWindow(), NewGraphDialog))
    write("draw blood")
    press(Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: page.document.graph is not None)
    # The graph may be there a moment before the dialog is gone, which keeps the keys until then.
    qtbot.waitUntil(lambda: QApplication.activeModalWidget() is None)
    # A desktop gives the keyboard back to the window; the offscreen platform has to be told.
    window.activateWindow()
    qtbot.waitUntil(lambda: QApplication.activeWindow() is window)
    qtbot.waitUntil(page.pane.canvas.hasFocus)
    # The first step on the canvas, the others in the outline.
    press(Qt.Key.Key_N)
    write(STEPS[0])
    press(Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: len(graph_of(window).steps) == 1 and shown(window, page))
    assert page.pane.canvas.hasFocus()
    press(Qt.Key.Key_F4)
    assert page.outline.view.hasFocus()
    press(Qt.Key.Key_N)
    assert page.outline.field.hasFocus()
    for number, text in enumerate(STEPS[1:], start=2):
        write(text)
        press(Qt.Key.Key_Return)
        qtbot.waitUntil(lambda number=number: len(graph_of(window).steps) == number)
    qtbot.waitUntil(lambda: shown(window, page))
    # What was added last is chosen when it is told to be there, which would take one back from elsewhere.
    qtbot.waitUntil(lambda: page.document.current == graph_of(window).steps[-1].id)
    press(Qt.Key.Key_Up)
    assert page.outline.view.hasFocus()
    view = page.outline.view
    press(Qt.Key.Key_Home, Qt.KeyboardModifier.ControlModifier)
    press(Qt.Key.Key_Right)
    press(Qt.Key.Key_Right)
    for number in range(len(STEPS)):
        parents = sorted(a for a, b in EDGES if b == number)
        row = view.currentIndex().row()
        assert (row, view.currentIndex().column()) == (number, 2)
        if parents and number != 11:
            count = len(graph_of(window).links) + len(parents)
            press(Qt.Key.Key_Return)
            write(", ".join(str(parent + 1) for parent in parents))
            press(Qt.Key.Key_Return)
            qtbot.waitUntil(lambda count=count: len(graph_of(window).links) == count)
            qtbot.waitUntil(lambda: shown(window, page))
            qtbot.waitUntil(view.hasFocus)
        if number < 11:
            press(Qt.Key.Key_Down)
    # The last two are drawn on the canvas: C, arrows to the target, Enter.
    for before in (2, 9):
        step = graph_of(window).steps[before].id
        press(Qt.Key.Key_F4)
        qtbot.waitUntil(page.pane.canvas.hasFocus)
        press(Qt.Key.Key_Home)
        target = graph_of(window).steps[11].id
        walk(page, qtbot, step)
        press(Qt.Key.Key_C)
        assert page.pane.canvas.gesture == "pick"
        walk_target(page, qtbot, target)
        count = len(graph_of(window).links)
        press(Qt.Key.Key_Return)
        qtbot.waitUntil(lambda count=count: len(graph_of(window).links) == count + 1)
        qtbot.waitUntil(lambda: shown(window, page))
        press(Qt.Key.Key_F4)
    # A circle is refused by keyboard as well.
    view.setCurrentIndex(view.outline.index(0, 2))
    press(Qt.Key.Key_Return)
    write("11")
    press(Qt.Key.Key_Return)
    qtbot.waitUntil(page.pane.notice.isVisible)
    assert "cannot come before" in page.pane.notice.text
    check_the_end(window)


def walk(page: Any, qtbot: QtBot, goal: str) -> None:
    """Go to a card with the arrow keys."""
    canvas = page.pane.canvas
    _walk(canvas, qtbot, goal, lambda: page.document.current)
    assert page.document.current == goal


def walk_target(page: Any, qtbot: QtBot, goal: str) -> None:
    """Choose the card that comes after with the arrow keys."""
    canvas = page.pane.canvas
    _walk(canvas, qtbot, goal, lambda: canvas._target.step_id if canvas._target else "")
    assert canvas._target.step_id == goal


def _walk(canvas: Any, qtbot: QtBot, goal: str, where: Callable[[], str]) -> None:
    keys = {(1, 0): Qt.Key.Key_Right, (-1, 0): Qt.Key.Key_Left, (0, 1): Qt.Key.Key_Down,
            (0, -1): Qt.Key.Key_Up}  # fmt: skip
    # The way over cards that arrows can go, found as a person sees it.
    from core.graphs.order import find_path

    def near(step: str) -> list[str]:
        found = [canvas._neighbour(step, *way) for way in keys]
        return [other for other in found if other]

    path = find_path(near, where(), goal)
    assert path is not None
    for step in path[1:]:
        here = where()
        way = next(way for way in keys if canvas._neighbour(here, *way) == step)
        qtbot.keyClick(canvas, keys[way])
        assert where() == step
