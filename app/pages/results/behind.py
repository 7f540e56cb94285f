"""The outputs behind a number of the table: the worst first, each opened with a key."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QWidget

from app.pages.results.output_dialog import OutputDialog, tag_word
from app.pages.results.table import measure_title
from app.session import Session
from app.strings import format_number, say
from app.widgets.basics import Card, ElidedLabel
from app.widgets.buttons import Button
from app.widgets.id_table import IdTableModel, TableColumn, TableSource
from app.widgets.id_view import IdTableView
from core.runs.measures import LENGTH_BOUNDS, MEASURES, WORDS


def _value_text(value: Any) -> str:
    if value is None:
        return say("unscored")
    return format_number(value, 0 if float(value).is_integer() else 3)


def _reason(values: Any) -> str:
    return str(values.get("reason") or "")


def _tag_words(value: Any) -> str:
    return ", ".join(tag_word(tag) for tag in str(value or "").split(",") if tag)


BEHIND = TableSource(
    f"{MEASURES} m JOIN output o ON o.id = m.output_id AND o.deleted = 0"
    " JOIN run r ON r.id = o.run_id AND r.deleted = 0 JOIN example e ON e.id = o.example_id",
    columns=(
        TableColumn("title", "Example", "e.title", order="e.title COLLATE NOCASE", width=0),
        TableColumn(
            "value",
            "Value",
            "m.value",
            order="m.value",
            width=10,
            right=True,
            text=_value_text,
            tooltip=_reason,
        ),
        TableColumn("words", "Words", WORDS, order=WORDS, width=6, right=True, text=format_number),
        TableColumn(
            "tags",
            "What is wrong",
            "(SELECT group_concat(DISTINCT g.tag) FROM output_tag g"
            " WHERE g.output_id = o.id AND g.deleted = 0)",
            width=14,
            text=_tag_words,
        ),
    ),
    id="m.id",
    where="1",
    extra={"output": "o.id", "reason": "m.reason"},
    kinds=("score", "rating", "review_item", "output_tag"),
)


class BehindCard(Card):
    """The list, what it is of, and the way into an output."""

    def __init__(self, session: Session, page: QWidget) -> None:
        super().__init__()
        self._page = page
        self.setAccessibleName(say("Outputs"))
        self.model = IdTableModel(session, BEHIND)
        self.model.set_filter("0")
        # The worst first: that is what one opens this list for.
        self.model.sort(1, Qt.SortOrder.AscendingOrder)
        self.outputs = IdTableView(self.model, say("Outputs behind the number"))
        self.outputs.horizontalHeader().setSortIndicator(1, Qt.SortOrder.AscendingOrder)
        self.outputs.opened.connect(self.open_output)
        self.heading = ElidedLabel(say("Outputs"))
        self.heading.setProperty("role", "overline")
        self.open_button = Button(say("Open the output"), icon="open")
        self.open_button.clicked.connect(self.open_first_output)
        self.add(self.heading)
        self.add(self.outputs, 1)
        self.add(self.open_button)

    def show_cell(self, by: str, line: str, metric: str, name: str) -> None:
        """List the outputs behind a cell of the table; ``name`` is that of its line."""
        self.model.set_filter(*behind_filter(by, line, metric))
        self.heading.setText(f"{measure_title(metric)} · {name}")

    def show_nothing(self) -> None:
        """No outputs, and no name of a system."""
        self.model.set_filter("0")
        self.heading.setText(say("Outputs"))

    @Slot(str)
    def open_output(self, measure_id: str) -> None:
        """Open the output behind a value."""
        row = self.model.row_of(measure_id)
        output = self.model.row_at(row).get("output") if row >= 0 else None
        if output:
            OutputDialog(self._page, str(output)).open()

    @Slot()
    def open_first_output(self) -> None:
        """Open the output that is selected, or the first."""
        chosen = self.outputs.current_id or self.model.id_at(0)
        if chosen:
            self.open_output(chosen)


def behind_filter(by: str, line: str, metric: str) -> tuple[str, list[Any]]:
    """The condition on `BEHIND` for the outputs behind a cell.

    By section, expert and rubric item the outputs are those of the whole system, since a value there
    belongs to a part of an output.
    """
    system_id, _, group = line.partition("\n")
    where, parameters = "r.system_id = ? AND m.metric = ?", [system_id, metric]
    more = {
        "field": "e.task_id IN (SELECT t.id FROM task t JOIN field f ON f.id = t.field_id"
        " WHERE f.name = ?)",
        "task": "e.task_id IN (SELECT id FROM task WHERE objective = ?)",
        "split": "e.split = ?",
        "prompt": "coalesce(nullif(json_extract(r.signature, '$.instruction'), ''),"
        " nullif(json_extract(r.signature, '$.prompt'), ''), '(imported)') = ?",
    }.get(by)
    if more is not None:
        return f"{where} AND {more}", [*parameters, group]
    if by == "length":
        low, _, high = group.removesuffix(" words").partition("-")
        if high:
            return f"{where} AND {WORDS} BETWEEN ? AND ?", [*parameters, int(low), int(high)]
        return f"{where} AND {WORDS} >= ?", [*parameters, LENGTH_BOUNDS[-1]]
    if by in ("section", "item"):
        # Rows of items have measures of their own; show the outputs by their main score.
        shown = metric if by == "section" else "clear"
        return where, [system_id, shown]
    return where, parameters
