"""How a list shares its width among its columns."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from app.session import Session
from app.widgets.id_table import IdTableModel, TableColumn, TableSource
from app.widgets.id_view import IdTableView

COLUMNS = (
    TableColumn("title", "Title", "title", width=0),
    TableColumn("task", "Task", "title", width=30),
    TableColumn("state", "State", "split", width=12, least=10),
)


def test_what_is_cut_is_not_what_would_be_no_use_then(session: Session, qtbot: QtBot) -> None:
    view = IdTableView(IdTableModel(session, TableSource("example", COLUMNS)), "List")
    qtbot.addWidget(view)
    words = view.fontMetrics().horizontalAdvance("Submitted")
    view.resize(1400, 200)
    view.show()
    wide = view.columnWidth(1)
    view.resize(400, 200)
    assert view.columnWidth(1) < wide / 2
    assert view.columnWidth(2) > words
