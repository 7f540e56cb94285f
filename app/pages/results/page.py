"""Results: systems by measures with intervals, figures, judges, costs, and the outputs behind a number."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QEvent, QModelIndex, QObject, Qt, QTimer, Slot
from PySide6.QtWidgets import (
    QAbstractItemView,
    QButtonGroup,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QHeaderView,
    QSplitter,
    QStackedWidget,
    QTableView,
    QWidget,
)

from app import theme
from app.operations import run_query
from app.pages.base import Command
from app.pages.base import Page as BasePage
from app.pages.results.bench import BenchView, has_bench, read_bench
from app.pages.results.compare import CompareDialog
from app.pages.results.output_dialog import OutputDialog, tag_word
from app.pages.results.plot import MetricPlot
from app.pages.results.report_dialog import ReportDialog
from app.pages.results.table import (
    SPLITS,
    Results,
    ResultsModel,
    measure_title,
    read_results,
    write_csv,
)
from app.pages.results.views import (
    AgreementView,
    JudgesView,
    SpentView,
    fit_view,
    read_agreement,
    read_judged,
    read_spent,
)
from app.strings import count_of, format_number, say
from app.widgets.basics import Card, ElidedLabel, Scroller, clear_layout
from app.widgets.buttons import Button
from app.widgets.dialogs import choose_new_file
from app.widgets.empty import EmptyState
from app.widgets.id_table import IdTableModel, TableColumn, TableSource
from app.widgets.id_view import CellDelegate, IdTableView
from app.widgets.inputs import ComboBox
from core.changes import Changes
from core.review.blinding import results_hidden
from core.runs.measures import LENGTH_BOUNDS, MEASURES, WORDS
from core.storage.workspace import Workspace

_CELL_CHARACTERS = 16
_TWO_PLOTS = 600
#: Narrower than this, the outputs stand under the figures instead of beside them.
_BESIDE = 760
_VIEWS = (
    ("plots", "Plots"),
    ("agreement", "Agreement"),
    ("judges", "Judges"),
    ("cost", "Cost"),
    ("bench", "Editing"),
)


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
        TableColumn("words", "Words", WORDS, order=WORDS, width=6, right=True),
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


class Page(BasePage):
    """Table above, figures and outputs below."""

    name = "results"
    title = "Results"
    kinds = (
        "score",
        "rating",
        "review_item",
        "output",
        "run",
        "system",
        "preference",
        "pair_item",
        "adjudication",
        "judge_answer",
        "output_tag",
        "rubric_tick",
        "verdict",
        "blinding",
    )

    def build(self) -> None:
        self._generation = 0
        self._wanted: tuple[str, str] | None = None
        self._base = ""
        self._blank = False
        keys = self.session.shortcuts
        self.compare_button = Button(say("Compare two"), icon="columns")
        self.compare_button.clicked.connect(self.compare)
        self.export_button = Button(
            say("Export data"), icon="export", shortcuts=keys, action="results.export"
        )
        self.export_button.clicked.connect(self.export)
        self.report_button = Button(say("Report"), "primary", icon="documents")
        self.report_button.clicked.connect(self.make_report)
        for button in (self.compare_button, self.export_button, self.report_button):
            self.action_row.addWidget(button)
        page = Scroller()
        page.box.setSpacing(theme.M)
        self.body.addWidget(page, 1)
        self.table_card = self._make_table()
        page.box.addWidget(self.table_card)
        page.box.addLayout(self._make_choices())
        self.split = QSplitter(Qt.Orientation.Horizontal)
        self.split.setChildrenCollapsible(False)
        self.split.setHandleWidth(theme.L)
        self._drawn: list[MetricPlot] = []
        self._to_draw: list[tuple[Results, str]] = []
        self._draw_timer = QTimer(self)
        self._draw_timer.setInterval(0)
        self._draw_timer.timeout.connect(self._draw_next)
        self._columns = 0
        self.plots = Scroller()
        self.plots.installEventFilter(self)
        self._grid = QGridLayout()
        self._grid.setSpacing(theme.L)
        self.plots.box.addLayout(self._grid)
        self.plots.box.addStretch(1)
        self.agreement = AgreementView(say("Agreement with people"))
        self.judges = JudgesView(say("Judges"))
        self.spent = SpentView(say("Time and tokens"))
        self.bench = BenchView(say("Editing benchmark"))
        self.bench.chosen.connect(self._read_view)
        self.views = QStackedWidget()
        for view in (self.plots, self.agreement, self.judges, self.spent, self.bench):
            self.views.addWidget(view)
            if view is not self.plots:
                view.saved.connect(self._on_saved)
        self.split.addWidget(self.views)
        self.behind_card = self._make_behind()
        self.split.addWidget(self.behind_card)
        self.split.setStretchFactor(0, 5)
        self.split.setStretchFactor(1, 3)
        self.split.setSizes([760, 420])
        page.box.addWidget(self.split, 1)
        theme.notifier().changed.connect(self._fit_views)
        self._fit_views()

    def refresh(self, changes: Changes | None) -> None:
        self._generation += 1
        query = run_query(
            self, read_page, self.session.workspace, self.session.person_id, self.split_box.value
        )
        query.success(partial(self._take, self._generation))
        self._read_view()
        self.behind.apply_changes(changes)

    def place(self) -> dict[str, Any]:
        cell = self.current_cell
        found: dict[str, Any] = {"view": self.view_name, "by": self.split_box.value or ""}
        return {**found, "cell": list(cell)} if cell else found

    def restore(self, place: dict[str, Any]) -> None:
        if str(place.get("view", "")) in self.view_buttons and place.get("view") != self.view_name:
            self.show_view(str(place["view"]))
        if str(place.get("by", "")) in dict(SPLITS):
            self.split_box.choose(str(place.get("by", "")))
        cell = place.get("cell")
        if isinstance(cell, list) and len(cell) == 2:
            self._wanted = (str(cell[0]), str(cell[1]))
            self._select_wanted()

    def commands(self) -> list[Command]:
        hint = self.session.shortcuts.hint("results.export")
        return [
            Command(say("Export data"), self.export, hint, self.title),
            Command(say("Make a report"), self.make_report, "", self.title),
            Command(say("Compare two systems or runs"), self.compare, "", self.title),
            *(
                Command(
                    say("Show: {view}", view=say(words)),
                    partial(self.show_view, name),
                    "",
                    self.title,
                )
                for name, words in _VIEWS
            ),
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
        """Ask what goes into the report and where, and write it."""
        if self.report_button.isEnabled():
            ReportDialog(self, self._on_written).open()

    @Slot()
    def compare(self) -> None:
        """Open the comparison of two systems or runs."""
        if self.model.results.systems:
            CompareDialog(self).open()

    def write_data(self, paths: list[Path]) -> None:
        """Write the table, split as it is shown, to the first path."""
        path = paths[0]
        run_query(
            self, write_csv, self.session.workspace, path, self.split_box.value or ""
        ).success(partial(self._on_written, path))

    def write_report(self, paths: list[Path]) -> None:
        """Write the whole report, texts included, to the first path."""
        path = paths[0]
        run_query(self, write_any_report, self.session.workspace, path).success(
            partial(self._on_written, path)
        )

    @Slot(str)
    def show_view(self, name: str) -> None:
        """Show the plots, the agreement with people, the judges, or time and tokens."""
        self.view_buttons[name].setChecked(True)
        self.views.setCurrentIndex([view for view, _words in _VIEWS].index(name))
        self.base_box.setVisible(name == "judges")
        # The outputs behind the table's numbers; the benchmark's are lines of data sets.
        self.behind_card.setVisible(name != "bench")
        self._read_view()

    @property
    def view_name(self) -> str:
        """The view shown."""
        return _VIEWS[self.views.currentIndex()][0]

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

    def _make_choices(self) -> QHBoxLayout:
        self.split_box = ComboBox(say("Split by"))
        self.split_box.fill(
            [
                (say("Split by: {what}", what=say(words)) if key else say("Not split"), key)
                for key, words in SPLITS
            ],
            "",
        )
        self.split_box.currentIndexChanged.connect(self._on_split)
        self.base_box = ComboBox(say("Base"))
        self.base_box.hide()
        self.base_box.currentIndexChanged.connect(self._on_base)
        self.split_box.setMinimumContentsLength(10)
        line = QHBoxLayout()
        line.setSpacing(theme.S)
        line.addWidget(self.split_box)
        line.addStretch(1)
        line.addWidget(self.base_box)
        self._view_group = QButtonGroup(self)
        self.view_buttons: dict[str, Button] = {}
        for name, words in _VIEWS:
            button = Button(say(words), "choice")
            button.setCheckable(True)
            button.clicked.connect(partial(self.show_view, name))
            self._view_group.addButton(button)
            self.view_buttons[name] = button
            line.addWidget(button)
        self.view_buttons["plots"].setChecked(True)
        self.view_buttons["bench"].hide()
        return line

    def _make_behind(self) -> Card:
        self.behind = IdTableModel(self.session, BEHIND)
        self.behind.set_filter("0")
        # The worst first: that is what one opens this list for.
        self.behind.sort(1, Qt.SortOrder.AscendingOrder)
        self.outputs = IdTableView(self.behind, say("Outputs behind the number"))
        self.outputs.horizontalHeader().setSortIndicator(1, Qt.SortOrder.AscendingOrder)
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

    @Slot()
    def _on_split(self) -> None:
        if not self._stale:
            self.refresh(None)

    @Slot()
    def _on_base(self) -> None:
        if self.base_box.value and self.base_box.value != self._base:
            self._base = self.base_box.value
            self._read_view()

    def _read_view(self) -> None:
        """Read what the view shown needs; the others are read when they are chosen."""
        if self._blank or not self.session.has_workspace:
            return
        workspace = self.session.workspace
        name = self.view_name
        if name == "agreement":
            run_query(self, read_agreement, workspace).success(self.agreement.show_agreement)
        elif name == "judges":
            run_query(self, read_judged, workspace, self._base).success(self._show_judged)
        elif name == "cost":
            run_query(self, read_spent, workspace).success(self.spent.show_spent)
        elif name == "bench":
            wanted = self.bench.wanted
            run_query(self, read_bench, workspace, *wanted).success(self.bench.show_bench)

    def _show_judged(self, found: Any) -> None:
        self._base = found.base_id
        self.base_box.blockSignals(True)
        self.base_box.fill(
            [(say("Base: {name}", name=name), system) for name, system in found.bases],
            found.base_id,
        )
        self.base_box.blockSignals(False)
        self.judges.show_judged(found)

    def _fit_views(self) -> None:
        for view in (self.views, self.outputs):
            fit_view(view)

    def _show_blind(self, waiting: int) -> None:
        """Nothing of the results while the person works blind and has something to judge."""
        self._blank = True
        self.model.show(Results())
        self._draw(Results())
        for view in (self.agreement, self.judges, self.spent, self.bench):
            view.fill()
        self.behind.set_filter("0")
        self.behind_label.setText(say("Outputs"))
        self.base_box.clear()
        self.set_subtitle("")
        for button in (self.compare_button, self.export_button, self.report_button):
            button.setEnabled(False)
        self.show_empty(
            EmptyState(
                "eye-off",
                say("Hidden while you work blind"),
                say(
                    "{waiting} in your queue. Results, other people's marks and the names of systems "
                    "are shown once your own are handed in, or when you stop working blind.",
                    waiting=count_of(waiting, "judgement waits", "judgements wait"),
                ),
                (say("Go on reviewing"), self._go_review),
                (say("Go to the queue"), self._go_queue),
            )
        )

    def _take(self, generation: int, found: tuple[int, Results, bool]) -> None:
        if generation != self._generation:
            return
        waiting, results, bench = found
        self.view_buttons["bench"].setVisible(bench)
        self.table_card.setVisible(bool(results.systems) or not bench)
        self.split_box.setEnabled(bool(results.systems))
        if waiting:
            self._show_blind(waiting)
            return
        if self._blank:
            self._blank = False
            self._read_view()
        self._wanted = self._wanted or self.current_cell
        self.model.show(results)
        self._fit()
        self._draw(results)
        self.set_subtitle(
            " · ".join(
                (
                    count_of(
                        len({line.split("\n", 1)[0] for line, _name in results.systems}),
                        "system",
                        "systems",
                    ),
                    count_of(results.examples, "example", "examples"),
                    count_of(results.outputs, "output", "outputs"),
                )
            )
        )
        if results.systems:
            self.show_empty(None)
            self._select_wanted()
        elif bench:
            self.show_empty(None)
            if self.view_name == "plots":
                self.show_view("bench")
        else:
            self._show_emptiness(results)
        for button in (self.compare_button, self.export_button):
            button.setEnabled(bool(results.systems))
        self.report_button.setEnabled(bool(results.systems) or bench)

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
        """Draw the plots one at a time: a dozen at once would be felt."""
        clear_layout(self._grid)
        self._drawn = []
        self._columns = 0
        self._to_draw = [(results, metric) for metric in reversed(results.metrics)]
        self._draw_timer.start()

    @Slot()
    def _draw_next(self) -> None:
        if not self._to_draw:
            self._draw_timer.stop()
            return
        plot = MetricPlot(*self._to_draw.pop())
        plot.saved.connect(self._on_saved)
        self._drawn.append(plot)
        if not self._columns:
            self._arrange()
        place = len(self._drawn) - 1
        self._grid.addWidget(plot, place // self._columns, place % self._columns)

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
            self._turn()
        return super().eventFilter(watched, event)

    def _turn(self) -> None:
        """Outputs beside the figures where there is room, else under them."""
        beside = self.split.width() >= theme.current().px(_BESIDE)
        wanted = Qt.Orientation.Horizontal if beside else Qt.Orientation.Vertical
        if self.split.orientation() != wanted:
            self.split.setOrientation(wanted)

    def _fit(self) -> None:
        current = theme.current()
        self.table.verticalHeader().setDefaultSectionSize(current.px(38))
        header = self.table.horizontalHeader()
        unit = self.table.fontMetrics().averageCharWidth()
        names = [name for _line, name in self.model.results.systems]
        first = max(18, min(34, max(map(len, names), default=0) + 2))
        for column in range(self.model.columnCount()):
            title = str(self.model.headerData(column, Qt.Orientation.Horizontal))
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Interactive)
            characters = first if column == 0 else max(_CELL_CHARACTERS, len(title) + 3)
            if column == self.model.columnCount() - 1:
                characters = 11
            width = characters * unit + 16
            if column == 0:
                # Where room is short, the names give way before the numbers do.
                width = min(width, max(current.px(120), round(self.table.viewport().width() * 0.4)))
            self.table.setColumnWidth(column, width)
        # On a small screen the table leaves room for what is under it.
        most = 6 if self.height() > current.px(640) else 3
        rows = min(most, max(1, self.model.rowCount()))
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
        line, metric = cell
        self.behind.set_filter(*behind_filter(self.model.results.by, line, metric))
        name = self.model.results.systems[index.row()][1]
        self.behind_label.setText(f"{measure_title(metric)} · {name}")

    @Slot(QModelIndex)
    def _on_activated(self, _index: QModelIndex) -> None:
        self.outputs.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_written(self, path: Path, _count: int) -> None:
        self.said.emit(say("Wrote {name}. It is not encrypted.", name=path.name))

    @Slot(object)
    def _on_saved(self, path: Path) -> None:
        self._on_written(path, 1)

    def _go_queue(self) -> None:
        self.go.emit("queue", None)

    def _go_runs(self) -> None:
        self.go.emit("runs", None)

    def _go_review(self) -> None:
        self.go.emit("review", None)


def read_page(workspace: Workspace, person_id: str, by: str) -> tuple[int, Results, bool]:
    """How many judgements keep the results hidden, else 0, the results, and whether editing was run."""
    waiting = results_hidden(workspace, person_id)
    if waiting:
        return waiting, Results(), False
    return 0, read_results(workspace, by or ""), has_bench(workspace)


def write_any_report(workspace: Workspace, path: Path) -> int:
    """The whole report as one HTML file."""
    from core.report.html import write_report

    return write_report(workspace, path)


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
