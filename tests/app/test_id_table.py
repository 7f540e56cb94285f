"""Lists over ids: SQL sorts and filters, the view keeps its place, text reads in its own direction."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QStyleOptionViewItem
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from app.session import Session
from app.widgets.id_table import IdTableModel, TableColumn, TableSource
from app.widgets.id_view import IdTableView
from core.ids import new_id
from core.storage import Transaction, Workspace
from core.tasks.verbs import add_task, edit_task
from core.types import Example, Person

SOURCE = TableSource(
    "example",
    columns=(
        TableColumn("title", "Title", "title", order="title COLLATE NOCASE", width=0),
        TableColumn("split", "Split", "split", order="split", width=8),
        TableColumn("size", "Size", "length(input)", order="length(input)", right=True),
    ),
    search=("title",),
    kinds=("example",),
)


def fill(tx: Transaction, titles: list[str]) -> str:
    task = add_task(tx, field="Medicine", objective="Write")
    for number, title in enumerate(titles):
        tx.insert(Example(id=new_id(), task_id=task.id, title=title, split="ab"[number % 2]))
    return task.id


@pytest.fixture
def filled(session: Session, workspace: Workspace) -> Iterator[Session]:
    workspace.transact("Fill", "", fill, ["Delta", "alpha", "Charlie", "bravo 50% off", "مرحبا"])
    session.adopt(workspace, Person(id="", name="Ann"))
    yield session
    session.jobs.close()
    session.release()


def titles(model: IdTableModel) -> list[str]:
    return [str(model.index(row, 0).data()) for row in range(model.rowCount())]


def test_model_keeps_qts_rules(filled: Session, qtmodeltester: ModelTester) -> None:
    model = IdTableModel(filled, SOURCE)
    model.load_now()
    qtmodeltester.check(model, force_py=True)
    model.deleteLater()


def test_sorting_is_sqls(filled: Session, qtbot: QtBot) -> None:
    model = IdTableModel(filled, SOURCE)
    with qtbot.waitSignal(model.loaded):
        model.sort(0, Qt.SortOrder.AscendingOrder)
    assert titles(model) == ["alpha", "bravo 50% off", "Charlie", "Delta", "مرحبا"]
    with qtbot.waitSignal(model.loaded):
        model.sort(0, Qt.SortOrder.DescendingOrder)
    assert titles(model)[-1] == "alpha"
    model.deleteLater()


def test_search_takes_words_literally(filled: Session, qtbot: QtBot) -> None:
    model = IdTableModel(filled, SOURCE)
    for text, expected in (("50%", 1), ("l a", 3), ("_", 0), ("", 5)):
        model.set_search("nothing at all")
        with qtbot.waitSignal(model.loaded):
            model.set_search(text)
        assert model.rowCount() == expected, text
    model.deleteLater()


def test_view_keeps_its_place_by_id(filled: Session, qtbot: QtBot) -> None:
    model = IdTableModel(filled, SOURCE)
    view = IdTableView(model, "Examples")
    qtbot.addWidget(view)
    model.load_now()
    told: list[str] = []
    view.current_changed.connect(told.append)
    chosen = model.id_at(2)
    assert view.select_id(chosen)
    with qtbot.waitSignal(model.loaded):
        model.sort(0, Qt.SortOrder.DescendingOrder)
    assert view.current_id == chosen
    assert told == [chosen]
    assert not view.select_id("nowhere")


def test_place_asked_for_before_loading_is_found(filled: Session, qtbot: QtBot) -> None:
    wanted = filled.workspace.find(Example)[3].id
    model = IdTableModel(filled, SOURCE)
    view = IdTableView(model, "Examples")
    qtbot.addWidget(view)
    model.reload()
    view.select_id(wanted)
    qtbot.waitUntil(lambda: view.current_id == wanted)


def test_changes_of_its_kinds_reload_it(filled: Session, qtbot: QtBot) -> None:
    model = IdTableModel(filled, SOURCE)
    model.load_now()
    filled.bus.changed.connect(model.apply_changes)
    with qtbot.waitSignal(model.loaded):
        filled.workspace.transact("Add", "", fill, ["Echo"])
    assert model.rowCount() == 6
    task = filled.workspace.value("SELECT id FROM task LIMIT 1")
    with qtbot.assertNotEmitted(model.loaded, wait=150):
        filled.workspace.transact("Edit", "", edit_task, task, notes="n")
    model.deleteLater()


def test_enter_opens_and_tab_leaves(filled: Session, qtbot: QtBot) -> None:
    model = IdTableModel(filled, SOURCE)
    view = IdTableView(model, "Examples")
    qtbot.addWidget(view)
    view.show()
    model.load_now()
    view.select_id(model.id_at(1))
    with qtbot.waitSignal(view.opened) as opened:
        qtbot.keyClick(view, Qt.Key.Key_Return)
    assert opened.args == [model.id_at(1)]
    assert not view.tabKeyNavigation()


def test_right_to_left_cells(filled: Session, qtbot: QtBot) -> None:
    model = IdTableModel(filled, SOURCE)
    view = IdTableView(model, "Examples")
    qtbot.addWidget(view)
    model.load_now()
    directions = set()
    for row in range(model.rowCount()):
        option = QStyleOptionViewItem()
        view.itemDelegate().initStyleOption(option, model.index(row, 0))  # type: ignore[attr-defined]
        directions.add((option.text.isascii(), option.direction))
    assert directions == {
        (True, Qt.LayoutDirection.LeftToRight),
        (False, Qt.LayoutDirection.RightToLeft),
    }


def test_many_rows_are_read_in_pages(filled: Session, qtbot: QtBot) -> None:
    filled.workspace.transact("Fill", "", fill, [f"Row {number:05}" for number in range(5000)])
    model = IdTableModel(filled, SOURCE)
    model.load_now()
    counted: list[int] = []
    read = model._read_around
    model._read_around = lambda row: (counted.append(row), read(row))[1]  # type: ignore[method-assign]
    for row in range(4000, 4100):
        assert model.index(row, 0).data()
    assert len(counted) == 2
    model.deleteLater()
