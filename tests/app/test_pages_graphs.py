"""The graph studio through the real window: canvas and outline over the same rows, checks, comparison."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QAccessible, QGuiApplication, QImage, QMouseEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.canvas.clipboard import MIME, read_clip
from app.canvas.curves import route
from app.canvas.items import StepItem
from app.pages.graphs.about import PassDialog
from app.pages.graphs.dialogs import NewGraphDialog, name_file, write_export
from app.pages.graphs.importing import ImportDialog, import_files
from app.pages.graphs.methods import MethodsDialog
from app.pages.graphs.pane import GroupDialog
from app.windows.main import MainWindow
from core.graphs import suggestions, verbs
from core.graphs.model import StepGraph, load_graph
from core.graphs.order import sort_topologically
from core.people import add_person
from core.storage import Workspace
from core.types.graphs import GraphMatch, GraphScore, GraphStep, TaskGraph
from models.fake import FakeEmbedder, FakeGenerator
from tests.app.conftest import find_dialog
from tests.event_loop import spin

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


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A loaded machine is slow, not wrong: wait longer before giving up."""
    wait = QtBot.waitUntil

    def wait_longer(bot: QtBot, call: Callable[[], object], *, timeout: int = 20_000) -> None:
        wait(bot, call, timeout=timeout)

    monkeypatch.setattr(QtBot, "waitUntil", wait_longer)


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
        qtbot.waitUntil(lambda: bool(page.document.routes) or page.document.places != {})
        spin(60)
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


def test_the_graph_is_shown_laid_out(studio: Any) -> None:
    window, page = studio()
    agree(page)
    places = page.document.places
    ids = [step.id for step in page.document.graph.steps]
    assert places[ids[0]][1] < places[ids[3]][1] < places[ids[4]][1]
    assert page.document.automatic
    assert page.pane.heading.full_text == "make tea"
    assert "with leaves" in page.pane.assumption.full_text
    assert rows(window, page).steps[0].x is None


def test_a_dependency_is_drawn_by_dragging_the_handle(studio: Any, qtbot: QtBot) -> None:
    window, page = studio()
    ids = [step.id for step in page.document.graph.steps]
    drag(page, handle(page, ids[0]), centre(page, ids[2]))
    qtbot.waitUntil(lambda: len(rows(window, page).links) == 5)
    assert rows(window, page).find_dependency(ids[0], ids[2]) is not None
    qtbot.waitUntil(lambda: settled(window, page))
    agree(page)


def test_a_circle_is_refused_at_the_drop_with_its_path(studio: Any, qtbot: QtBot) -> None:
    window, page = studio()
    ids = [step.id for step in page.document.graph.steps]
    left = Qt.MouseButton.LeftButton
    mouse(page, QEvent.Type.MouseButtonPress, handle(page, ids[4]), left)
    mouse(page, QEvent.Type.MouseMove, centre(page, ids[1]), left)
    scene = page.pane.canvas.graph_scene
    # Said before the drop: the draft is crossed out and the path marked.
    assert not scene.draft.allowed
    assert page.document.path == (ids[1], ids[2], ids[3], ids[4])
    assert scene.cards[ids[2]].in_path
    mouse(page, QEvent.Type.MouseButtonRelease, centre(page, ids[1]), Qt.MouseButton.NoButton)
    qtbot.waitUntil(lambda: page.pane.notice.isVisible())
    assert "cannot come before" in page.pane.notice.text
    assert (
        "'Warm the pot' → 'Put the leaves in the pot' → 'Pour the water'" in page.pane.notice.text
    )
    assert page.document.path == (ids[1], ids[2], ids[3], ids[4])
    assert len(rows(window, page).links) == 4
    mouse(page, QEvent.Type.MouseButtonPress, QPoint(5, 5), left)
    assert page.document.path == ()
    mouse(page, QEvent.Type.MouseButtonRelease, QPoint(5, 5), Qt.MouseButton.NoButton)


def test_dropping_on_free_ground_makes_the_step_after(studio: Any, qtbot: QtBot) -> None:
    window, page = studio()
    ids = [step.id for step in page.document.graph.steps]
    canvas = page.pane.canvas
    free = QPoint(30, canvas.viewport().height() - 30)
    assert canvas.graph_scene.card_at(canvas.mapToScene(free)) is None
    drag(page, handle(page, ids[4]), free)
    assert canvas.editor is not None
    qtbot.keyClicks(canvas.editor, "Drink it")
    assert "points outside the step" in canvas.editor.hint
    qtbot.keyClick(canvas.editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: len(rows(window, page).steps) == 6)
    graph = rows(window, page)
    assert graph.parents[graph.steps[-1].id] == (ids[4],)
    assert graph.steps[0].x is not None
    qtbot.waitUntil(lambda: settled(window, page))
    agree(page)


def test_cards_are_moved_and_stay(studio: Any, qtbot: QtBot) -> None:
    window, page = studio()
    step = page.document.graph.steps[1].id
    before = page.document.places[step]
    drag(page, centre(page, step), centre(page, step) + QPoint(70, 40))
    qtbot.waitUntil(lambda: rows(window, page).by_id[step].x is not None)
    graph = rows(window, page)
    assert graph.by_id[step].x > before[0] + 40
    assert graph.by_id[step].x % 8 == 0
    assert all(other.x is not None for other in graph.steps)
    qtbot.waitUntil(lambda: settled(window, page))
    agree(page)
    page.document.lay_out()
    qtbot.waitUntil(lambda: rows(window, page).steps[0].x is None)


def test_a_dependency_is_hung_elsewhere(studio: Any, qtbot: QtBot) -> None:
    window, page = studio()
    ids = [step.id for step in page.document.graph.steps]
    link = page.document.graph.find_dependency(ids[3], ids[4])
    curve = page.pane.canvas.graph_scene.curves[link.id]
    end = page.pane.canvas.mapFromScene(curve.end - QPointF(0, 6))
    drag(page, end, centre(page, ids[2]))
    qtbot.waitUntil(lambda: page.pane.notice.isVisible())
    assert rows(window, page).edges == page.document.graph.edges
    start = page.pane.canvas.mapFromScene(curve.start + QPointF(0, 16))
    drag(page, start, centre(page, ids[0]))
    qtbot.waitUntil(lambda: rows(window, page).find_dependency(ids[0], ids[4]) is not None)
    qtbot.waitUntil(lambda: settled(window, page))
    agree(page)


def test_selecting_in_one_view_selects_in_the_other(studio: Any, qtbot: QtBot) -> None:
    _window, page = studio()
    ids = [step.id for step in page.document.graph.steps]
    qtbot.mouseClick(
        page.pane.canvas.viewport(), Qt.MouseButton.LeftButton, pos=centre(page, ids[2])
    )
    assert page.document.current == ids[2]
    agree(page)
    page.outline.view.setCurrentIndex(page.outline.view.outline.index(4, 1))
    assert page.document.steps == {ids[4]}
    agree(page)
    page.pane.select_all()
    agree(page)
    page.document.select((), ())
    agree(page)


def test_an_arrow_is_selected_and_deleted(studio: Any, qtbot: QtBot) -> None:
    window, page = studio()
    curve = next(iter(page.pane.canvas.graph_scene.curves.values()))
    spot = page.pane.canvas.mapFromScene(curve.middle)
    qtbot.mouseClick(page.pane.canvas.viewport(), Qt.MouseButton.LeftButton, pos=spot)
    assert page.document.links == {curve.link_id}
    qtbot.keyClick(page.pane.canvas, Qt.Key.Key_Delete)
    qtbot.waitUntil(lambda: len(rows(window, page).links) == 3)
    qtbot.waitUntil(lambda: settled(window, page))
    agree(page)


def test_the_outline_is_typed(studio: Any, qtbot: QtBot) -> None:
    window, page = studio()
    view, model = page.outline.view, page.outline.view.outline
    assert model.setData(model.index(4, 1), "Serve the hot tea")
    qtbot.waitUntil(lambda: rows(window, page).steps[4].text == "Serve the hot tea")
    assert model.setData(model.index(4, 2), "1-3")
    qtbot.waitUntil(lambda: len(rows(window, page).parents[rows(window, page).steps[4].id]) == 3)
    assert not model.setData(model.index(4, 2), "9")
    qtbot.waitUntil(lambda: "no step 9" in page.pane.notice.text)
    model.setData(model.index(1, 2), "3")
    qtbot.waitUntil(lambda: "cannot come before" in page.pane.notice.text)
    qtbot.waitUntil(lambda: settled(window, page))
    view.setFocus()
    view.setCurrentIndex(model.index(0, 1))
    qtbot.keyClick(view, Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier)
    qtbot.waitUntil(lambda: rows(window, page).steps[1].text == "Boil the water")
    qtbot.waitUntil(lambda: settled(window, page))
    agree(page)


def test_a_screen_reader_hears_the_whole_graph_in_the_outline(studio: Any) -> None:
    _window, page = studio()
    model = page.outline.view.outline
    role = Qt.ItemDataRole.AccessibleTextRole
    assert model.index(3, 0).data(role) == "Step 4"
    assert model.index(3, 1).data(role) == "Pour the water"
    assert model.index(3, 2).data(role) == "after 1, 3"
    assert model.index(0, 2).data(role) == "after no step"
    assert model.index(3, 3).data(role) == "before 5"
    page.document.select([model.ids[3]], current=model.ids[3])
    words = page.pane.canvas.accessibleDescription()
    assert words == "Step 4: Pour the water. Comes after 1, 3. Comes before 5."
    interface = QAccessible.queryAccessibleInterface(page.outline.view)
    assert interface.text(QAccessible.Text.Name) == "Steps of the graph"


def test_the_model_of_the_outline_is_sound(studio: Any, qtmodeltester: Any) -> None:
    _window, page = studio()
    qtmodeltester.check(page.outline.view.outline)


@pytest.mark.parametrize("seed", [1, 2])
def test_views_agree_after_any_deeds_and_undo_is_exact(
    studio: Any, qtbot: QtBot, seed: int
) -> None:
    window, page = studio()
    draw = random.Random(seed)
    document = page.document
    shots = [rows(window, page)]

    def wait() -> None:
        # The writer has done what was asked once it has done this.
        window.session.workspace.transact_job("Wait", "", lambda tx: None)
        qtbot.waitUntil(lambda: settled(window, page))

    for _turn in range(10):
        ids = [step.id for step in document.graph.steps]
        a, b = (draw.choice(ids), draw.choice(ids)) if ids else ("", "")
        model = page.outline.view.outline
        deed = draw.randrange(10)
        if deed == 0 or len(ids) < 3:
            document.add_step(f"Do {draw.randrange(99)}", after=a if draw.random() < 0.5 else "")
        elif deed <= 2:
            document.connect_steps(a, b)
        elif deed == 3:
            model.setData(model.index(model.row_of(a), 1), f"Write {draw.randrange(99)}")
        elif deed == 4:
            model.setData(model.index(model.row_of(a), 2), str(model.row_of(b) + 1))
        elif deed == 5:
            document.select([a])
            document.delete_selected()
        elif deed == 6:
            document.place_steps({a: (draw.randrange(400), draw.randrange(400))})
        elif deed == 7:
            document.move_step(a, draw.choice([-1, 1]))
        elif deed == 8:
            document.select({a, b})
            document.group_selected("Together")
        else:
            document.select({a, b})
            page.pane.duplicate()
        wait()
        agree(page)
        graph = rows(window, page)
        assert sort_topologically(len(graph.steps), graph.edges) is not None
        if graph != shots[-1]:
            shots.append(graph)
    for shot in shots[-2::-1]:
        window.undoing.undo()
        qtbot.waitUntil(lambda shot=shot: rows(window, page) == shot)
        wait()
        agree(page)
    for shot in shots[1:]:
        window.undoing.redo()
        qtbot.waitUntil(lambda shot=shot: rows(window, page) == shot)
        wait()
    agree(page)


def test_copy_cut_paste_and_lines_of_text(studio: Any, qtbot: QtBot) -> None:
    window, page = studio()
    ids = [step.id for step in page.document.graph.steps]
    page.document.select(ids[2:4])
    page.pane.copy()
    clipboard = QGuiApplication.clipboard()
    assert clipboard.text() == "Put the leaves in the pot\nPour the water"
    assert clipboard.mimeData().hasFormat(MIME)
    page.pane.paste()
    qtbot.waitUntil(lambda: len(rows(window, page).steps) == 7)
    assert rows(window, page).edges[-1] == (5, 6)
    clipboard.setText("Wash the cup\n\n  Dry   the cup ")
    page.pane.paste()
    qtbot.waitUntil(lambda: len(rows(window, page).steps) == 9)
    assert [s.text for s in rows(window, page).steps[-2:]] == ["Wash the cup", "Dry the cup"]
    qtbot.waitUntil(lambda: settled(window, page))
    page.pane.cut()
    qtbot.waitUntil(lambda: len(rows(window, page).steps) == 7)
    clipboard.clear()
    assert read_clip() is None


def test_groups_frame_their_cards(studio: Any, qtbot: QtBot) -> None:
    window, page = studio()
    ids = [step.id for step in page.document.graph.steps]
    page.document.select(ids[:2])
    page.pane.group()
    dialog = find_dialog(GroupDialog)
    assert isinstance(dialog, GroupDialog)
    qtbot.keyClicks(dialog.title_field, "Before")
    qtbot.keyClick(dialog.title_field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: len(rows(window, page).groups) == 1)
    qtbot.waitUntil(lambda: settled(window, page))
    scene = page.pane.canvas.graph_scene
    frame = next(iter(scene.frames.values()))
    for step in ids[:2]:
        card = scene.cards[step]
        assert frame.boundingRect().contains(card.body.translated(card.pos()))
    model = page.outline.view.outline
    assert "in the group Before" in model.index(0, 1).data(Qt.ItemDataRole.AccessibleTextRole)
    page.pane.rename_group()
    dialog = find_dialog(GroupDialog)
    assert isinstance(dialog, GroupDialog) and dialog.title_field.text() == "Before"
    dialog.title_field.setText("First")
    dialog._accept()
    qtbot.waitUntil(lambda: rows(window, page).groups[0].title == "First")
    page.document.ungroup_selected()
    qtbot.waitUntil(lambda: rows(window, page).groups == ())


def test_zoom_fit_and_the_map(studio: Any, qtbot: QtBot) -> None:
    _window, page = studio()
    canvas = page.pane.canvas
    canvas.fit()
    assert canvas.seen_rect().contains(canvas.graph_scene.content_rect())
    qtbot.waitUntil(lambda: not canvas.map.isVisible())
    canvas.set_zoom(2.0)
    qtbot.waitUntil(lambda: canvas.map.isVisible())
    before = canvas.seen_rect().center()
    qtbot.mouseClick(canvas.map, Qt.MouseButton.LeftButton, pos=QPoint(12, 12))
    assert canvas.seen_rect().center() != before
    canvas.set_zoom(99)
    assert canvas.zoom == 2.5
    canvas.zoom_out()
    assert canvas.zoom < 2.5


def test_pictures_are_written(studio: Any, tmp_path: Path) -> None:
    _window, page = studio()
    said: list[str] = []
    page.document.said.connect(said.append)
    page.pane.select_all()
    data = {}
    for ending in ("svg", "png", "pdf"):
        path = tmp_path / f"g.{ending}"
        write_export(page, page.document, page.pane.canvas.graph_scene, ending, False, path)
        data[ending] = path.read_bytes()
        assert said[-1] == f"Written to g.{ending}, not encrypted."
        assert len(data[ending]) > 2000
    assert len(page.document.steps) == 5
    assert QImage.fromData(data["png"]).width() > 300
    assert (data["svg"][:5], data["pdf"][:4]) == (b"<?xml", b"%PDF")
    assert b"Boil the water" in data["svg"]


def answer_import(**choices: str) -> bool:
    """Answer the dialog that asks what imported graphs are, once it is there."""
    dialog = find_dialog(ImportDialog)
    if not isinstance(dialog, ImportDialog):
        return False
    for name, value in choices.items():
        getattr(dialog, name).choose(value)
    dialog._accept()
    return True


def test_files_go_out_and_come_in(studio: Any, tmp_path: Path, qtbot: QtBot) -> None:
    window, page = studio()
    told: list[tuple[str, str]] = []
    scene = page.pane.canvas.graph_scene
    for format in ("tasklama", "graphml", "dot", "json"):
        path = tmp_path / ("g.jsonl" if format == "tasklama" else f"g.{format}")
        write_export(page, page.document, scene, format, False, path)
        qtbot.waitUntil(lambda path=path: path.exists() and path.stat().st_size > 0)
        count = len(told)
        import_files(page, [path], lambda words, first: told.append((words, first)))
        # Some formats do not say what kind of graph it is, which is asked then.
        qtbot.waitUntil(lambda count=count: (answer_import(), len(told) > count)[1])
        assert told[-1][0] == "1 graph imported"
        again = load_graph(window.session.workspace, told[-1][1])
        assert [step.text for step in again.steps] == STEPS
        assert set(again.edges) == set(EDGES)


def test_a_file_with_a_circle_says_what_was_set_aside(
    studio: Any, tmp_path: Path, qtbot: QtBot
) -> None:
    _window, page = studio()
    path = tmp_path / "c.json"
    path.write_text(json.dumps({"steps": ["a", "b"], "edges": [[0, 1], [1, 0]]}))
    import_files(page, [path], page._on_imported)
    qtbot.waitUntil(answer_import)
    qtbot.waitUntil(lambda: page.document.graph is not None and len(page.document.graph.steps) == 2)
    assert len(page.document.graph.links) == 1
    assert "could not become part" in page.pane.hint.text
    assert "closes the circle" in page.about.aside.text()


def test_what_a_published_file_does_not_say_is_asked(
    studio: Any, tmp_path: Path, qtbot: QtBot
) -> None:
    _window, page = studio()
    path = tmp_path / "validation.jsonl"
    record = {"task": "fold a map", "assumptions": [], "substeps": [{"stepId": 0, "step": "fold"}],
              "dependencies": []}  # fmt: skip
    path.write_text(json.dumps(record) + "\n", encoding="utf-8")
    import_files(page, [path], page._on_imported)
    qtbot.waitUntil(lambda: find_dialog(ImportDialog) is not None)
    dialog = find_dialog(ImportDialog)
    assert isinstance(dialog, ImportDialog)
    assert (dialog.role.value, dialog.split.value) == ("gold", "validation")
    dialog._accept()
    qtbot.waitUntil(lambda: page.document.graph is not None and len(page.document.graph.steps) == 1)
    made = page.document.graph.graph
    assert (made.role, made.split) == ("gold", "validation")


@pytest.mark.parametrize(
    ("task", "name"),
    [
        ("Change a wound/dressing: sterile?", "Change a wound dressing sterile"),
        ("צילום \u2068של\u2069 הלב", "צילום של הלב"),
        ("हिन्दी में काम", "हिन्दी में काम"),
        ("a" * 90, "a" * 40),
        ("word " * 20, "word word word word word word word word"),
        ("???", "graph"),
        ("...", "graph"),
    ],
)
def test_a_task_names_a_file(task: str, name: str) -> None:
    assert name_file(task) == name


def test_checks_show_and_mend(studio: Any, qtbot: QtBot) -> None:
    window, page = studio()
    page.tabs.setCurrentWidget(page.checks)
    assert page.checks.verdict.text() == "Nothing stands out."
    page.document.rename_step(page.document.graph.steps[0].id, "Boiling the water")
    qtbot.waitUntil(lambda: page.checks.count == 1)
    assert page.tabs.tabText(1) == "Checks 1"
    issue = next(iter(page.document.issues.values()))[0]
    page.document.apply_fix(page.document.graph.steps[0].id, issue.fix)
    qtbot.waitUntil(lambda: page.checks.count == 0)
    page.document.add_step("Boil the water")
    qtbot.waitUntil(lambda: page.checks.count == 2)
    rules = {issue.rule for found in page.document.issues.values() for issue in found}
    assert rules == {"duplicate"}
    twin = page.document.graph.steps[-1].id
    page.document.apply_fix(twin, page.document.issues[twin][0].fix)
    qtbot.waitUntil(lambda: len(rows(window, page).steps) == 5)
    page.checks.look_for_meanings()
    qtbot.waitUntil(page.checks.meaning_button.isEnabled)
    # Where only the person knows what is meant, the step is opened for typing.
    first = page.document.graph.steps[0].id
    page.checks.edit_asked.emit(first)
    assert page.pane.canvas.editor is not None
    page.pane.canvas.editor.finish(False)


def test_a_models_suggestions_are_ghosts_until_accepted(studio: Any, qtbot: QtBot) -> None:
    window, page = studio()
    page.tabs.setCurrentWidget(page.suggest)
    page.suggest.suggest_steps()
    assert not page.suggest.steps_button.isEnabled()
    qtbot.waitUntil(lambda: len(rows(window, page).steps) == 6)
    qtbot.waitUntil(lambda: settled(window, page) and page.suggest.steps_button.isEnabled())
    ghost = page.document.graph.steps[-1]
    assert (ghost.text, ghost.suggested) == ("Find a cup", "Fake generator, icl")
    card: StepItem = page.pane.canvas.graph_scene.cards[ghost.id]
    assert card.suggested
    page.suggest.edge_way.choose("linear")
    page.suggest.suggest_edges()
    qtbot.waitUntil(lambda: len(page.document.suggested()[1]) > 0)
    qtbot.waitUntil(lambda: settled(window, page))
    page.pane.canvas.setFocus()
    page.document.select([ghost.id])
    qtbot.keyClick(page.pane.canvas, Qt.Key.Key_A)
    qtbot.waitUntil(lambda: not rows(window, page).by_id[ghost.id].suggested)
    page.suggest.reject_all()
    qtbot.waitUntil(lambda: sum(map(len, page.document.suggested())) == 0)
    qtbot.waitUntil(lambda: settled(window, page))
    agree(page)


def test_what_would_close_a_circle_stays_suggested(studio: Any, qtbot: QtBot) -> None:
    window, page = studio()
    ids = [step.id for step in page.document.graph.steps]
    window.session.workspace.transact(
        "S", "", suggestions.suggest_dependencies, page.document.graph_id, [(ids[4], ids[0])], "m"
    )
    qtbot.waitUntil(lambda: len(page.document.suggested()[1]) == 1)
    page.pane.accept_all()
    qtbot.waitUntil(lambda: "stay suggested" in page.pane.notice.text)
    assert len(rows(window, page).links) == 4


def test_comparing_marks_both_canvases_and_can_be_corrected(studio: Any, qtbot: QtBot) -> None:
    window, page = studio()
    workspace = window.session.workspace
    gold_id = page.document.graph_id
    drawn = workspace.transact(
        "C", window.session.person_id, verbs.add_graph, "make tea", ["with leaves"],
        steps=[*STEPS[:4], "Dance on tables"], edges=[(3, 0), (1, 2), (2, 3)],
    ).value  # fmt: skip
    page._on_made(drawn.id)
    qtbot.waitUntil(lambda: page.document.graph is not None and page.document.graph_id == drawn.id)
    qtbot.waitUntil(lambda: page.document.graph is not None)
    page.tabs.setCurrentWidget(page.compare)
    qtbot.waitUntil(lambda: page.compare.compared is not None)
    assert page.compare.gold_id == gold_id
    assert "4 matched, 1 missing, 1 extra" in page.compare.verdict.text()
    assert "1 reversed" in page.compare.verdict.text()
    qtbot.waitUntil(lambda: len(page.beside.pane.canvas.graph_scene.cards) == 5)
    qtbot.waitUntil(lambda: "missing" in page.beside.pane.document.step_status.values())
    statuses = [card.status for card in page.pane.canvas.graph_scene.cards.values()]
    assert sorted(statuses) == ["extra", "matched", "matched", "matched", "matched"]
    ours, theirs = page.document.graph.steps[4].id, page.beside.pane.document.graph.steps[4].id
    page.document.select([ours])
    page.beside.pane.document.select([theirs])
    assert page.compare.match_button.isEnabled()
    page.compare.match_selected()
    qtbot.waitUntil(lambda: "5 matched, 0 missing" in page.compare.verdict.text())
    assert workspace.count(GraphMatch) == 1
    page.compare.keep_scores()
    qtbot.waitUntil(lambda: workspace.count(GraphScore) == 8)
    page.compare.reset()
    qtbot.waitUntil(lambda: "4 matched" in page.compare.verdict.text())
    page.compare.settle_both()
    qtbot.waitUntil(lambda: workspace.count(TaskGraph) == 3)
    page.tabs.setCurrentWidget(page.outline)
    qtbot.waitUntil(lambda: page.document.step_status == {} and page.beside.isHidden())


def test_another_assumption_stands_beside(studio: Any, qtbot: QtBot) -> None:
    window, page = studio()
    page.show_another()
    dialog = find_dialog(NewGraphDialog)
    assert isinstance(dialog, NewGraphDialog)
    assert dialog.task.text() == "make tea"
    dialog.assumptions.setPlainText("with bags")
    dialog._accept()
    first = page.document.graph_id
    qtbot.waitUntil(lambda: page.document.graph is not None and page.document.graph_id != first)
    page.toggle_beside()
    qtbot.waitUntil(lambda: page.beside.pane.document.graph is not None)
    assert page.beside.pane.document.graph_id == first
    assert page.beside.pane.document.graph.graph.assumptions == ("with leaves",)
    page.beside.pane.document.add_step("Drink the tea")
    qtbot.waitUntil(
        lambda: window.session.workspace.count(GraphStep, "graph_id = ?", (first,)) == 6
    )
    page.toggle_beside()
    assert page.beside.isHidden()


def test_work_is_finished_passed_on_and_trained(studio: Any, qtbot: QtBot) -> None:
    window, page = studio()
    workspace = window.session.workspace
    page.tabs.setCurrentWidget(page.about)
    gold = page.document.graph_id
    page.about.train()
    qtbot.waitUntil(lambda: page.document.graph is not None and page.document.graph_id != gold)
    assert page.document.graph.graph.role == "training"
    assert "training round" in page.pane.hint.text
    training = page.document.graph_id
    page.tabs.setCurrentWidget(page.compare)
    qtbot.waitUntil(lambda: page.compare.choice.count() > 0)
    # What is to be found is not shown while it is looked for.
    assert page.compare.done_button.isVisible() and not page.compare.list.isVisible()
    assert page.beside is None or page.beside.isHidden()
    page.compare.done_button.click()
    qtbot.waitUntil(lambda: page.compare.compared is not None)
    assert workspace.get(TaskGraph, training).state == "done"
    assert any("Half drawn" in text for text in page.compare.compared.feedback.mistakes)
    assert page.beside is not None and not page.beside.isHidden()
    assert page.compare.list.isVisible() and not page.compare.done_button.isVisible()
    page.tabs.setCurrentWidget(page.about)
    assert page.list_button.isChecked(), "the list is back once one canvas has the room"
    page.about.role.setCurrentIndex(page.about.role.findData("annotation"))
    page.about.saver.flush()
    qtbot.waitUntil(lambda: workspace.get(TaskGraph, training).role == "annotation")
    page.about.reopen()
    qtbot.waitUntil(lambda: page.about.pass_button.isVisible())
    page.about.pass_on()
    dialog = find_dialog(PassDialog)
    assert isinstance(dialog, PassDialog)
    qtbot.keyClicks(dialog.reason, "not mine")
    dialog._accept()
    qtbot.waitUntil(lambda: workspace.get(TaskGraph, training).note == "not mine")


def test_a_graph_is_given_to_a_person(studio: Any, qtbot: QtBot) -> None:
    window, page = studio()
    workspace = window.session.workspace
    person = workspace.transact("P", "", add_person, "Bo").value.id
    page.tabs.setCurrentWidget(page.about)
    qtbot.waitUntil(lambda: page.about.person.findData(person) >= 0)
    page.about.person.setCurrentIndex(page.about.person.findData(person))
    graph = page.document.graph_id
    qtbot.waitUntil(lambda: workspace.get(TaskGraph, graph).person_id == person)


def test_the_table_of_methods_fills(studio: Any, qtbot: QtBot) -> None:
    window, page = studio()
    workspace = window.session.workspace
    workspace.transact("A", "", verbs.add_graph, "other", role="gold", steps=["Sew", "Cut"])
    page.show_methods()
    dialog = find_dialog(MethodsDialog)
    assert isinstance(dialog, MethodsDialog)
    qtbot.waitUntil(lambda: "There are 2 gold graphs" in dialog.state.text())
    assert not dialog.table.isVisible()
    dialog.start()
    qtbot.waitUntil(lambda: dialog.table.rowCount() == 15, timeout=60_000)
    assert dialog.state.text().startswith("30 of 30")
    assert dialog.table.item(0, 0).text() == "Steps: One sequence"
    assert "[" in dialog.table.item(0, 2).text()
    dialog.copy_table()
    copied = QGuiApplication.clipboard().text().splitlines()
    assert len(copied) == 16 and copied[1].startswith("Steps: One sequence\ttold\t")
    dialog.reject()


def test_an_empty_workspace_offers_the_samples(
    make_window: OpenWindow, tmp_path: Path, qtbot: QtBot
) -> None:
    path = tmp_path / "E.rifugio"
    Workspace.create(path, None).close()
    window = make_window(make_models=FakeModels)
    window.open_path(path)
    qtbot.waitUntil(lambda: window.session.has_workspace)
    window.work.choose("graphs")
    page = window.work.page("graphs")
    qtbot.waitUntil(lambda: page.is_empty_shown)
    page.add_samples()
    qtbot.waitUntil(lambda: len(page.listing.model.ids) == 10)
    qtbot.waitUntil(lambda: len(page.pane.canvas.graph_scene.cards) >= 9)
    agree(page)


def test_odd_and_many_steps_are_drawn(studio: Any, qtbot: QtBot) -> None:
    window, page = studio()
    texts = ["غلي الماء", "👩‍⚕️ wash", "שלום", "x" * 400, "same", "same"]
    page.document.paste(texts, [(0, 1)], None)
    qtbot.waitUntil(lambda: len(rows(window, page).steps) == 11)
    many = window.session.workspace.transact(
        "M", "", verbs.add_graph, "dense", steps=[f"Do {n}" for n in range(80)],
        edges=[(a, b) for a in range(80) for b in range(a + 1, 80)],
    ).value  # fmt: skip
    page._on_made(many.id)
    qtbot.waitUntil(lambda: len(page.pane.canvas.graph_scene.cards) == 80)
    # 3,160 dependencies: those that follow from others are left out, and that is said.
    assert len(page.pane.canvas.graph_scene.curves) == 79
    assert "too many to see" in page.pane.hint.text
    page.pane.canvas.grab()
    page.document.remove_shortcuts()
    qtbot.waitUntil(lambda: len(rows(window, page).links) == 79, timeout=20_000)


def test_a_graph_deleted_elsewhere_leaves_the_canvas(studio: Any, qtbot: QtBot) -> None:
    window, page = studio()
    window.session.workspace.transact("D", "", verbs.delete_graph, page.document.graph_id)
    qtbot.waitUntil(lambda: page.document.graph is None)
    assert page.pane.canvas.graph_scene.cards == {}


def test_reading_only_changes_nothing(
    make_window: OpenWindow, graph_file: Path, qtbot: QtBot
) -> None:
    window = make_window(make_models=FakeModels)
    with Workspace.open(graph_file):
        window.open_path(graph_file)
        form = window.welcome.open_form
        qtbot.waitUntil(lambda: not form.read_only.isHidden())
        form.read_only.setChecked(True)
        qtbot.waitUntil(form.open_button.isEnabled)
        form.submit()
        qtbot.waitUntil(lambda: window.session.has_workspace)
        window.work.choose("graphs")
        page = window.work.page("graphs")
        qtbot.waitUntil(lambda: len(page.pane.canvas.graph_scene.cards) == 5)
        page.pane.canvas.add_step()
        assert page.pane.canvas.editor is None
        page.document.add_step("Never")
        spin(40)
        assert len(rows(window, page).steps) == 5
        assert not page.outline.view.outline.flags(page.outline.view.outline.index(0, 1)) & (
            Qt.ItemFlag.ItemIsEditable
        )
        window.close()


def test_routes_join_cards_wherever_they_stand() -> None:
    from PySide6.QtCore import QRectF

    box = QRectF(-50, -20, 100, 40)
    for x, y in ((0, 200), (300, 0), (-300, 0), (0, -200), (10, 10)):
        path, tip, direction = route(box, box.translated(x, y), [])
        assert not path.isEmpty()
        assert abs(direction.manhattanLength() - 1) < 1e-6
        assert box.translated(x, y).adjusted(-1, -1, 1, 1).contains(tip)


def test_what_is_being_typed_is_kept_when_the_window_is_locked(
    studio: Any, graph_file: Path, qtbot: QtBot
) -> None:
    window, page = studio()
    graph_id, step = page.document.graph_id, page.document.graph.steps[1].id
    page.outline.view.edit_text(step)
    editor = QApplication.focusWidget()
    assert editor is not None
    qtbot.keyClicks(editor, "Heat the pot")
    window.lock()
    qtbot.waitUntil(lambda: not window.session.has_workspace)
    with Workspace.open(graph_file, read_only=True) as workspace:
        assert load_graph(workspace, graph_id).by_id[step].text == "Heat the pot"


def test_the_list_is_narrowed(studio: Any, qtbot: QtBot) -> None:
    window, page = studio()
    workspace, person = window.session.workspace, window.session.person_id
    made = {"job": "j", "part": "steps", "method": "icl", "assumption": True}
    result = workspace.transact("A", "", verbs.add_graph, "x", role="model", made=made).value
    mine = workspace.transact("A", person, verbs.add_graph, "y").value
    gold = page.document.graph_id
    for name, ids in (("results", [result.id]), ("mine", [mine.id]), ("gold", [gold]),
                      ("all", [gold, mine.id])):  # fmt: skip
        page.filter.setCurrentIndex(page.filter.findData(name))
        qtbot.waitUntil(lambda ids=ids: list(page.listing.model.ids) == ids)
    assert not page.is_empty_shown


def test_the_place_is_kept(studio: Any, qtbot: QtBot) -> None:
    _window, page = studio()
    page.tabs.setCurrentIndex(1)
    place = page.place()
    assert place["tab"] == 1
    page.restore({"graph": place["graph"], "tab": 4})
    assert page.tabs.currentIndex() == 4
    page.restore({"graph": "gone", "tab": 99})
    assert page.tabs.currentIndex() == 4
