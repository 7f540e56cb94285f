"""The graph studio through the real window: canvas and outline over the same rows, any deed undone."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QAccessible, QGuiApplication, QImage
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.canvas.clipboard import MIME, read_clip
from app.canvas.curves import route
from app.pages.graphs.dialogs import write_export
from app.pages.graphs.pane import GroupDialog
from core.graphs import verbs
from core.graphs.model import load_graph
from core.graphs.order import sort_topologically
from core.storage import Workspace
from tests.app.conftest import find_dialog
from tests.app.graphs_studio import (
    agree,
    centre,
    drag,
    graph_file,
    handle,
    mouse,
    rows,
    settled,
    studio,
)

#: Fixtures of the studio, for the tests below.
__all__ = ["graph_file", "studio"]


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
