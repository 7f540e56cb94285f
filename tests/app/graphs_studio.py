"""The graph studio for tests: a workspace with a graph, the page on it, hands, and what must agree."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.windows.main import MainWindow
from core.graphs import verbs
from core.graphs.model import StepGraph, load_graph
from core.storage import Workspace
from models.fake import FakeEmbedder, FakeGenerator
from tests.app.conftest import settle

OpenWindow = Callable[..., MainWindow]
STEPS = [
    "Boil the water",
    "Warm the pot",
    "Put the leaves in the pot",
    "Pour the water",
    "Serve the tea",
]
EDGES = [(0, 3), (1, 2), (2, 3), (3, 4)]


class FakeModels:
    """A machine whose models are scripted."""

    def __init__(self) -> None:
        self.answers = ["Boil the water\n2. Find a cup"]

    def generator(self, model_id: str | None = None) -> FakeGenerator:
        return FakeGenerator(answers=self.answers)

    def embedder(self, model_id: str | None = None) -> FakeEmbedder:
        return FakeEmbedder()

    def close(self) -> None:
        """Nothing to end."""


@pytest.fixture
def graph_file(tmp_path: Path) -> Path:
    path = tmp_path / "G.rifugio"
    with Workspace.create(path, None) as workspace:
        workspace.transact_job(
            "A",
            "",
            verbs.add_graph,
            "make tea",
            ["with leaves"],
            steps=STEPS,
            edges=EDGES,
            role="gold",
        )
    return path


@pytest.fixture
def studio(
    make_window: OpenWindow, graph_file: Path, qtbot: QtBot
) -> Callable[..., tuple[MainWindow, Any]]:
    """Opens the studio on a workspace with one graph and waits until it is drawn."""

    def open_(size: tuple[int, int] = (1440, 900)) -> tuple[MainWindow, Any]:
        window = make_window(make_models=FakeModels, size=size)
        window.open_path(graph_file)
        qtbot.waitUntil(lambda: window.session.has_workspace)
        window.work.choose("graphs")
        page = window.work.page("graphs")
        qtbot.waitUntil(lambda: len(page.pane.canvas.graph_scene.cards) == 5)
        settle(window, qtbot)
        return window, page

    return open_


def rows(window: MainWindow, page: Any) -> StepGraph:
    return load_graph(window.session.workspace, page.document.graph_id)


def settled(window: MainWindow, page: Any) -> bool:
    """Whether the page shows what the workspace has."""
    shown = page.document.graph
    if shown is None:
        return False
    now = rows(window, page)
    return (shown.steps, shown.dependencies, shown.groups) == (
        now.steps,
        now.dependencies,
        now.groups,
    )


def agree(page: Any) -> None:
    """Canvas, outline and document say the same."""
    graph, scene, model = (
        page.document.graph,
        page.pane.canvas.graph_scene,
        page.outline.view.outline,
    )
    assert model.ids == [step.id for step in graph.steps]
    assert set(scene.cards) == set(graph.by_id)
    assert set(scene.curves) == {link.id for link in graph.dependencies}
    for step in graph.steps:
        card = scene.cards[step.id]
        assert (card.text, card.number, card.suggested) == (
            step.text, graph.numbers[step.id], step.suggested
        )  # fmt: skip
        row = model.row_of(step.id)
        assert model.index(row, 1).data() == step.text
        parents = ", ".join(str(graph.numbers[p]) for p in graph.parents[step.id])
        assert model.index(row, 2).data() == parents
        children = ", ".join(str(graph.numbers[c]) for c in graph.children[step.id])
        assert model.index(row, 3).data() == children
        if step.x is not None:
            assert (card.x(), card.y()) == (step.x, step.y)
    for link in graph.dependencies:
        curve = scene.curves[link.id]
        assert (curve.before, curve.after) == (link.before_id, link.after_id)
    chosen = {step for step, card in scene.cards.items() if card.isSelected()}
    marked = {model.ids[i.row()] for i in page.outline.view.selectionModel().selectedRows()}
    assert chosen == marked == set(page.document.steps)


def centre(page: Any, step_id: str) -> QPoint:
    card = page.pane.canvas.graph_scene.cards[step_id]
    return page.pane.canvas.mapFromScene(card.pos())


def handle(page: Any, step_id: str) -> QPoint:
    card = page.pane.canvas.graph_scene.cards[step_id]
    return page.pane.canvas.mapFromScene(card.mapToScene(card.handle))


def mouse(page: Any, kind: QEvent.Type, spot: QPoint, buttons: Qt.MouseButton, **more: Any) -> None:
    """Send a mouse event to the canvas, as a hand does it."""
    viewport = page.pane.canvas.viewport()
    button = Qt.MouseButton.NoButton if kind == QEvent.Type.MouseMove else Qt.MouseButton.LeftButton
    event = QMouseEvent(
        kind, QPointF(spot), QPointF(viewport.mapToGlobal(spot)), button, buttons,
        more.get("modifiers", Qt.KeyboardModifier.NoModifier),
    )  # fmt: skip
    QApplication.sendEvent(viewport, event)


def drag(page: Any, start: QPoint, end: QPoint) -> None:
    left, none = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton
    mouse(page, QEvent.Type.MouseButtonPress, start, left)
    for part in range(1, 5):
        mouse(page, QEvent.Type.MouseMove, start + (end - start) * part / 4, left)
    mouse(page, QEvent.Type.MouseButtonRelease, end, none)
