"""Results: systems against measures with intervals, a plot each, and the outputs behind a number."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QEvent, QModelIndex, QObject, Qt, Slot
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QGridLayout,
    QHeaderView,
    QSplitter,
    QTableView,
    QWidget,
)

from app import theme
from app.operations import run_query
from app.pages.base import Command
from app.pages.base import Page as BasePage
from app.pages.results.output_dialog import OutputDialog
from app.pages.results.plot import MetricPlot
from app.pages.results.table import (
    MEASURES,
    Results,
    ResultsModel,
    measure_title,
    read_results,
    write_csv,
)
from app.strings import count_of, format_number, say
from app.widgets.basics import Card, ElidedLabel, Scroller, clear_layout
from app.widgets.buttons import Button
from app.widgets.dialogs import choose_new_file
from app.widgets.empty import EmptyState
from app.widgets.id_table import IdTableModel, TableColumn, TableSource
from app.widgets.id_view import CellDelegate, IdTableView
from core.changes import Changes
from core.report.html import write_report

_CELL_CHARACTERS = 16
_TWO_PLOTS = 600


def _value_text(value: Any) -> str:
    if value is None:
        return say("unscored")
    return format_number(value, 0 if float(value).is_integer() else 3)


def _reason(values: Any) -> str:
    return str(values.get("reason") or "")


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
    ),
    id="m.id",
    where="1",
    extra={"output": "o.id", "reason": "m.reason"},
    kinds=("score", "rating", "review_item"),
)


class Page(BasePage):
    """Table above, plots and outputs below."""

    name = "results"
    title = "Results"
    kinds = ("score", "rating", "review_item", "output", "run", "system")

    def build(self) -> None:
        self._generation = 0
        self._wanted: tuple[str, str] | None = None
        keys = self.session.shortcuts
        self.export_button = Button(
            say("Export data"), icon="export", shortcuts=keys, action="results.export"
        )
        self.export_button.clicked.connect(self.export)
        self.report_button = Button(say("Report"), "primary", icon="documents")
        self.report_button.clicked.connect(self.make_report)
        self.actions.addWidget(self.export_button)
        self.actions.addWidget(self.report_button)
        self.body.addWidget(self._make_table())
        split = QSplitter(Qt.Orientation.Horizontal)
        split.setChildrenCollapsible(False)
        split.setHandleWidth(theme.L)
        self._drawn: list[MetricPlot] = []
        self._columns = 0
        self.plots = Scroller()
        self.plots.installEventFilter(self)
        self._grid = QGridLayout()
        self._grid.setSpacing(theme.L)
        self.plots.box.addLayout(self._grid)
        self.plots.box.addStretch(1)
        split.addWidget(self.plots)
        split.addWidget(self._make_behind())
        split.setStretchFactor(0, 5)
        split.setStretchFactor(1, 3)
        split.setSizes([760, 420])
        self.body.addWidget(split, 1)

    def refresh(self, changes: Changes | None) -> None:
        self._generation += 1
        query = run_query(self, read_results, self.session.workspace)
        query.success(partial(self._take, self._generation))
        self.behind.apply_changes(changes)

    def place(self) -> dict[str, Any]:
        cell = self.current_cell
        return {"cell": list(cell)} if cell else {}

    def restore(self, place: dict[str, Any]) -> None:
        cell = place.get("cell")
        if isinstance(cell, list) and len(cell) == 2:
            self._wanted = (str(cell[0]), str(cell[1]))
            self._select_wanted()

    def commands(self) -> list[Command]:
        hint = self.session.shortcuts.hint("results.export")
        return [
            Command(say("Export data"), self.export, hint, self.title),
            Command(say("Make a report"), self.make_report, "", self.title),
        ]

    def first_focus(self) -> QWidget | None:
        if self._empty is not None and self._empty.buttons:
            return self._empty.buttons[0]
        return self.table

    @property
    def current_cell(self) -> tuple[str, str] | None:
        """(system id, metric) of the cell that is looked at."""
        return self.model.cell(self.table.currentIndex())

    # -- what the person does ------------------------------------------------------------

    @Slot()
    def export(self) -> None:
        """Ask for a file and write the table as CSV."""
        if self.model.results.systems:
            name = f"{self.session.workspace.path.stem} results.csv"
            choose_new_file(self, say("Export data"), "CSV (*.csv)", name, self.write_data)

    @Slot()
    def make_report(self) -> None:
        """Ask for a file and write the report for reading."""
        if self.model.results.systems:
            name = f"{self.session.workspace.path.stem} report.html"
            choose_new_file(self, say("Report"), "HTML (*.html)", name, self.write_report)

    def write_data(self, paths: list[Path]) -> None:
        """Write the table to the first path."""
        path = paths[0]
        run_query(self, write_csv, self.session.workspace, path).success(
            partial(self._on_written, path)
        )

    def write_report(self, paths: list[Path]) -> None:
        """Write the HTML report to the first path."""
        path = paths[0]
        run_query(self, write_report, self.session.workspace, path).success(
            partial(self._on_written, path)
        )

    @Slot(str)
    def open_output(self, measure_id: str) -> None:
        """Open the output behind a value."""
        row = self.behind.row_of(measure_id)
        if row >= 0:
            OutputDialog(self, str(self.behind.row_at(row)["output"])).open()

    @Slot()
    def open_first_output(self) -> None:
        """Open the output that is selected, or the first."""
        chosen = self.outputs.current_id or self.behind.id_at(0)
        if chosen:
            self.open_output(chosen)

    # -- inside --------------------------------------------------------------------------

    def _make_table(self) -> Card:
        card = Card()
        card.setAccessibleName(say("Results by system"))
        self.model = ResultsModel(self)
        self.table = QTableView()
        self.table.setAccessibleName(say("Results by system"))
        self.table.setModel(self.model)
        self.table.setItemDelegate(CellDelegate(self.table))
        self.table.setProperty("role", "bare")
        self.table.setFrameShape(QFrame.Shape.NoFrame)
        self.table.setShowGrid(False)
        self.table.setWordWrap(False)
        self.table.setTabKeyNavigation(False)
        self.table.verticalHeader().hide()
        self.table.horizontalHeader().setHighlightSections(False)
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectItems)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.table.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.table.selectionModel().currentChanged.connect(self._on_cell)
        self.table.activated.connect(self._on_activated)
        theme.notifier().changed.connect(self._fit)
        card.add(self.table)
        return card

    def _make_behind(self) -> Card:
        self.behind = IdTableModel(self.session, BEHIND)
        self.behind.set_filter("0")
        self.outputs = IdTableView(self.behind, say("Outputs behind the number"))
        self.outputs.opened.connect(self.open_output)
        card = Card()
        card.setAccessibleName(say("Outputs"))
        self.behind_label = ElidedLabel(say("Outputs"))
        self.behind_label.setProperty("role", "overline")
        card.add(self.behind_label)
        card.add(self.outputs, 1)
        self.open_button = Button(say("Open the output"), icon="open")
        self.open_button.clicked.connect(self.open_first_output)
        card.add(self.open_button)
        return card

    def _take(self, generation: int, results: Results) -> None:
        if generation != self._generation:
            return
        self._wanted = self._wanted or self.current_cell
        self.model.show(results)
        self._fit()
        self._draw(results)
        self.set_subtitle(
            " · ".join(
                (
                    count_of(len(results.systems), "system", "systems"),
                    count_of(results.examples, "example", "examples"),
                    count_of(results.outputs, "output", "outputs"),
                )
            )
        )
        if results.systems:
            self.show_empty(None)
            self._select_wanted()
        else:
            self._show_emptiness(results)
        for button in (self.export_button, self.report_button):
            button.setEnabled(bool(results.systems))

    def _show_emptiness(self, results: Results) -> None:
        if results.outputs:
            text = say(
                "There are outputs, and none is scored or rated yet. Score a run, or review "
                "outputs yourself; here systems are then compared, with intervals."
            )
        else:
            text = say(
                "Here systems are compared: scores and your ratings with 95 % intervals, a plot for "
                "each, and the outputs behind every number. Let a system write something first."
            )
        self.show_empty(
            EmptyState(
                "results",
                say("No results yet"),
                text,
                (say("Go to Runs"), self._go_runs),
                (say("Go to Review"), self._go_review),
            )
        )

    def _draw(self, results: Results) -> None:
        clear_layout(self._grid)
        self._drawn = [MetricPlot(results, metric) for metric in results.metrics]
        self._columns = 0
        self._arrange()

    def _arrange(self) -> None:
        """Two plots beside each other where there is room for their names."""
        columns = 2 if self.plots.width() >= theme.current().px(_TWO_PLOTS) else 1
        if columns == self._columns:
            return
        self._columns = columns
        for plot in self._drawn:
            self._grid.removeWidget(plot)
        for place, plot in enumerate(self._drawn):
            self._grid.addWidget(plot, place // columns, place % columns)
        for column in range(2):
            self._grid.setColumnStretch(column, 1 if column < columns else 0)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.plots and event.type() == QEvent.Type.Resize:
            self._arrange()
        return super().eventFilter(watched, event)

    def _fit(self) -> None:
        current = theme.current()
        self.table.verticalHeader().setDefaultSectionSize(current.px(38))
        header = self.table.horizontalHeader()
        unit = self.table.fontMetrics().averageCharWidth()
        for column in range(self.model.columnCount()):
            title = str(self.model.headerData(column, Qt.Orientation.Horizontal))
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Interactive)
            characters = 26 if column == 0 else max(_CELL_CHARACTERS, len(title) + 3)
            if column == self.model.columnCount() - 1:
                characters = 11
            self.table.setColumnWidth(column, characters * unit + 16)
        rows = min(6, max(1, self.model.rowCount()))
        bar = self.table.horizontalScrollBar().sizeHint().height()
        height = header.sizeHint().height() + rows * current.px(38) + bar + 6
        self.table.setFixedHeight(height)

    def _select_wanted(self) -> None:
        results = self.model.results
        if not results.systems or not results.metrics:
            return
        ids = [system_id for system_id, _name in results.systems]
        system_id, metric = self._wanted or (ids[0], results.metrics[0])
        row = ids.index(system_id) if system_id in ids else 0
        column = results.metrics.index(metric) if metric in results.metrics else 0
        self._wanted = None
        self.table.setCurrentIndex(self.model.index(row, column + 1))

    @Slot(QModelIndex)
    def _on_cell(self, index: QModelIndex) -> None:
        cell = self.model.cell(index)
        if cell is None:
            return
        system_id, metric = cell
        self.behind.set_filter("r.system_id = ? AND m.metric = ?", (system_id, metric))
        name = self.model.results.systems[index.row()][1]
        self.behind_label.setText(f"{measure_title(metric)} · {name}")

    @Slot(QModelIndex)
    def _on_activated(self, _index: QModelIndex) -> None:
        self.outputs.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_written(self, path: Path, _count: int) -> None:
        self.said.emit(say("Wrote {name}. It is not encrypted.", name=path.name))

    def _go_runs(self) -> None:
        self.go.emit("runs", None)

    def _go_review(self) -> None:
        self.go.emit("review", None)
