"""Lists over ids: SQL sorts and filters, the view keeps its place, text reads in its own direction."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QStyleOptionViewItem
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from app.session import Session
from app.widgets.id_table import IdTableModel, Row, TableColumn, TableSource
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


@pytest.fixture
def long_list(filled: Session, qtbot: QtBot) -> Iterator[IdTableModel]:
    """A list of 1,005 rows, just loaded; its reads say how many rows and whether the window waited."""
    filled.workspace.transact("Fill", "", fill, [f"Row {number:05}" for number in range(1000)])
    model = IdTableModel(filled, SOURCE)
    with qtbot.waitSignal(model.loaded):
        model.reload()
    yield model
    model.deleteLater()


def test_many_rows_are_read_in_pages_and_never_on_the_windows_thread(
    long_list: IdTableModel, qtbot: QtBot
) -> None:
    reads: list[tuple[int, bool]] = []
    reading = long_list._read_rows

    def count(workspace: Workspace, ids: Sequence[str]) -> dict[str, Row]:
        reads.append((len(ids), threading.current_thread() is threading.main_thread()))
        return reading(workspace, ids)

    long_list._read_rows = count  # type: ignore[method-assign]
    assert all(long_list.index(row, 0).data() for row in range(40)), "it came with the list"
    assert not reads
    with qtbot.waitSignal(long_list.dataChanged):
        # A screen of rows, each asked for as it is painted.
        assert [long_list.index(row, 0).data() for row in range(600, 630)] == [""] * 30
    assert all(long_list.index(row, 0).data() for row in range(600, 630))
    assert reads == [(128, False)]


def test_a_list_read_anew_has_the_words_of_where_one_is(
    long_list: IdTableModel, qtbot: QtBot
) -> None:
    with qtbot.waitSignal(long_list.dataChanged):
        long_list.index(600, 0).data()
    before = [long_list.index(row, 0).data() for row in range(580, 620)]
    with qtbot.waitSignal(long_list.loaded):
        long_list.reload()
    assert [long_list.index(row, 0).data() for row in range(580, 620)] == before
    assert all(before)


def test_rows_that_cannot_be_read_are_told_of_once(long_list: IdTableModel, qtbot: QtBot) -> None:
    session = long_list._session

    def fail(*_: object) -> dict[str, Row]:
        raise OSError("the disk is gone")

    long_list._read_rows = fail  # type: ignore[method-assign]
    with qtbot.waitSignal(session.jobs.failed):
        assert long_list.index(600, 0).data() == ""
    with qtbot.assertNotEmitted(session.jobs.failed, wait=100):
        assert [long_list.index(row, 0).data() for row in range(590, 610)] == [""] * 20
