"""The outputs behind a mean, each with its own value."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QStackedWidget

from app.pages.results.table import metric_words
from app.session import Session
from app.strings import format_number, say
from app.widgets.basics import Card
from app.widgets.id_table import IdTableModel, Row, TableColumn, TableSource
from app.widgets.id_view import IdTableView
from core.changes import Changes
from core.runs.results import ResultRow

_JOINS = """ JOIN output o ON o.id = {alias}.output_id JOIN run r ON r.id = o.run_id
    JOIN example e ON e.id = o.example_id JOIN task t ON t.id = e.task_id
    JOIN field f ON f.id = t.field_id"""


def _value(value: object) -> str:
    return format_number(value, 3) if isinstance(value, int | float) else say("unscored")


def _reason(values: Row) -> str:
    return str(values.get("reason") or "")


def _columns(alias: str, who: TableColumn) -> tuple[TableColumn, ...]:
    return (
        TableColumn("title", "Example", "e.title", "e.title COLLATE NOCASE", 0),
        TableColumn("task", "Task", "t.objective", "t.objective COLLATE NOCASE", 26),
        who,
        TableColumn(
            "value",
            "Value",
            f"{alias}.value",
            f"{alias}.value",
            9,
            right=True,
            text=_value,
            tooltip=_reason,
        ),
    )


SCORES = TableSource(
    "score s" + _JOINS.format(alias="s"),
    columns=_columns(
        "s",
        TableColumn("reason", "Why unscored", "s.unscored", "s.unscored", 24, tooltip=_reason),
    ),
    id="s.id",
    where="""s.deleted = 0 AND o.deleted = 0 AND s.id = (SELECT max(n.id) FROM score n
        WHERE n.output_id = s.output_id AND n.metric = s.metric AND n.deleted = 0)""",
    extra={"run": "o.run_id", "output": "o.id"},
    kinds=("score",),
)

RATINGS = TableSource(
    "rating g" + _JOINS.format(alias="g") + " JOIN person p ON p.id = g.person_id",
    columns=_columns("g", TableColumn("person", "Rated by", "p.name", "p.name COLLATE NOCASE", 16)),
    id="g.id",
    where="""g.deleted = 0 AND o.deleted = 0 AND EXISTS (SELECT 1 FROM review_item v
        WHERE v.output_id = g.output_id AND v.person_id = g.person_id
        AND v.state = 'submitted' AND v.deleted = 0)""",
    extra={"run": "o.run_id", "output": "o.id", "reason": "''"},
    kinds=("rating", "review_item"),
)

_GROUP_SQL = {"field": "f.name", "task": "t.objective", "split": "e.split"}


class OutputScores(Card):
    """The outputs of the chosen row. Enter opens one where it was written."""

    #: (run id, output id)
    opened = Signal(str, str)

    def __init__(self, session: Session) -> None:
        super().__init__(say("Outputs behind it"))
        self.scores = IdTableModel(session, SCORES)
        self.ratings = IdTableModel(session, RATINGS)
        self.score_view = IdTableView(self.scores, say("Scores of single outputs"))
        self.rating_view = IdTableView(self.ratings, say("Ratings of single outputs"))
        self.score_view.opened.connect(self._open_score)
        self.rating_view.opened.connect(self._open_rating)
        for view in (self.score_view, self.rating_view):
            view.horizontalHeader().setSortIndicator(3, Qt.SortOrder.AscendingOrder)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.score_view)
        self._stack.addWidget(self.rating_view)
        self.add(self._stack, 1)

    def show_row(self, row: ResultRow, by: str, words: str) -> None:
        """Show what a mean is made of."""
        self.set_title(
            say("Outputs behind it"),
            f"{metric_words(row.metric)} · {words} · {say('Enter opens one')}",
        )
        conditions, parameters = ["r.system_id = ?"], [row.system_id]
        if by in _GROUP_SQL and row.group:
            conditions.append(f"{_GROUP_SQL[by]} = ?")
            parameters.append(row.group[0])
        if row.metric.startswith("rating: "):
            conditions.append("g.axis = ?")
            parameters.append(row.metric.removeprefix("rating: ").replace(" ", "_"))
            self.ratings.set_filter(" AND ".join(conditions), parameters)
            self._stack.setCurrentWidget(self.rating_view)
        else:
            conditions.append("s.metric = ?")
            parameters.append(row.metric)
            self.scores.set_filter(" AND ".join(conditions), parameters)
            self._stack.setCurrentWidget(self.score_view)

    def apply_changes(self, changes: Changes | None) -> None:
        """Refresh what a transaction touched."""
        for model in (self.scores, self.ratings):
            if model.searching:
                model.apply_changes(changes)

    @Slot(str)
    def _open_score(self, score_id: str) -> None:
        self._open(self.scores, score_id)

    @Slot(str)
    def _open_rating(self, rating_id: str) -> None:
        self._open(self.ratings, rating_id)

    def _open(self, model: IdTableModel, row_id: str) -> None:
        values = model.row_at(model.row_of(row_id))
        self.opened.emit(values["run"], values["output"])
