"""Results: systems by measures with intervals, figures, judges, costs, and the outputs behind a number."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QEvent, QModelIndex, QObject, Qt, Slot
from PySide6.QtWidgets import (
    QButtonGroup,
    QHBoxLayout,
    QSplitter,
    QStackedWidget,
    QWidget,
)

from app import theme
from app.operations import run_query
from app.pages.base import Command
from app.pages.base import Page as BasePage
from app.pages.results.behind import BehindCard
from app.pages.results.bench import BenchView, has_bench, read_bench
from app.pages.results.compare import CompareDialog
from app.pages.results.export_dialog import ExportDialog
from app.pages.results.judged_dialog import JudgedDialog
from app.pages.results.judges_view import JudgesView, has_judgements, read_judged
from app.pages.results.plots import PlotGrid
from app.pages.results.report_dialog import ReportDialog
from app.pages.results.table import (
    SPLITS,
    Results,
    read_results,
)
from app.pages.results.table_view import ResultsTable
from app.pages.results.views import (
    AgreementView,
    SpentView,
    fit_view,
    read_agreement,
    read_spent,
)
from app.strings import count_of, say
from app.widgets.basics import Card, Scroller
from app.widgets.buttons import Button
from app.widgets.empty import EmptyState
from app.widgets.inputs import ComboBox
from core.changes import Changes
from core.judges.answers import JudgedRow
from core.review.blinding import results_hidden
from core.storage.workspace import Workspace

#: Narrower than this, the outputs stand under the figures instead of beside them.
_BESIDE = 760
_VIEWS = (
    ("plots", "Plots"),
    ("agreement", "Agreement"),
    ("judges", "Judges"),
    ("cost", "Cost"),
    ("bench", "Editing"),
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
        self.split.installEventFilter(self)
        self.plots = PlotGrid()
        self.agreement = AgreementView(say("Agreement with people"))
        self.judges = JudgesView(say("Judges"))
        self.spent = SpentView(say("Time and tokens"))
        self.bench = BenchView(say("Editing benchmark"))
        self.bench.chosen.connect(self._read_view)
        self.judges.opened.connect(self._open_judged)
        self.views = QStackedWidget()
        for view in (self.plots, self.agreement, self.judges, self.spent, self.bench):
            self.views.addWidget(view)
            view.saved.connect(self._on_saved)
        self.split.addWidget(self.views)
        self.behind_card = BehindCard(self.session, self)
        self.behind, self.outputs = self.behind_card.model, self.behind_card.outputs
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
        """Ask what to write out, how and where."""
        if self.export_button.isEnabled():
            ExportDialog(self, self.split_box.value or "", self._on_written).open()

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

    @Slot(str)
    def show_view(self, name: str) -> None:
        """Show the plots, the agreement with people, the judges, or time and tokens."""
        self.view_buttons[name].setChecked(True)
        self.views.setCurrentIndex([view for view, _words in _VIEWS].index(name))
        self.base_box.setVisible(name == "judges")
        # The outputs are those behind a number of the table; the other views have numbers of their own.
        self.behind_card.setVisible(name == "plots")
        self._read_view()

    @property
    def view_name(self) -> str:
        """The view shown."""
        return _VIEWS[self.views.currentIndex()][0]

    # -- inside --------------------------------------------------------------------------

    def _make_table(self) -> Card:
        card = Card()
        card.setAccessibleName(say("Results by system"))
        self.table = ResultsTable(self)
        self.model = self.table.results
        self.table.selectionModel().currentChanged.connect(self._on_cell)
        self.table.activated.connect(self._on_activated)
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

    @Slot(object)
    def _open_judged(self, row: JudgedRow) -> None:
        JudgedDialog(self, row).open()

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
        self.plots.show_results(Results())
        for view in (self.agreement, self.judges, self.spent, self.bench):
            view.fill()
        self.behind_card.show_nothing()
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

    def _take(self, generation: int, found: PageContent) -> None:
        if generation != self._generation:
            return
        waiting, results, bench = found.waiting, found.results, found.bench
        others = bench or found.judged
        self.view_buttons["bench"].setVisible(bench)
        self.view_buttons["plots"].setVisible(bool(results.systems) or not others)
        self.table_card.setVisible(bool(results.systems) or not others)
        self.split_box.setVisible(bool(results.systems) or not others)
        if waiting:
            self._show_blind(waiting)
            return
        if self._blank:
            self._blank = False
            self._read_view()
        self._wanted = self._wanted or self.current_cell
        self.model.show(results)
        self.table.fit()
        self.plots.show_results(results)
        self.set_subtitle(
            " · ".join(
                (
                    count_of(results.writers, "system", "systems"),
                    count_of(results.examples, "example", "examples"),
                    count_of(results.outputs, "output", "outputs"),
                )
            )
        )
        if results.systems:
            self.show_empty(None)
            self._select_wanted()
        elif others:
            # Nothing is scored, and there is something to see all the same.
            self.show_empty(None)
            if self.view_name == "plots":
                self.show_view("judges" if found.judged else "bench")
        else:
            self._show_emptiness(results)
        self.compare_button.setEnabled(bool(results.systems))
        # Examples and outputs can be written out before anything is scored.
        self.export_button.setEnabled(bool(results.outputs) or others)
        self.report_button.setEnabled(bool(results.systems) or others)

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

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.split and event.type() == QEvent.Type.Resize:
            self._turn()
        return super().eventFilter(watched, event)

    def _turn(self) -> None:
        """Outputs beside the figures where there is room, else under them."""
        beside = self.split.width() >= theme.current().px(_BESIDE)
        wanted = Qt.Orientation.Horizontal if beside else Qt.Orientation.Vertical
        if self.split.orientation() != wanted:
            self.split.setOrientation(wanted)

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
        name = self.model.results.systems[index.row()][1]
        self.behind_card.show_cell(self.model.results.by, line, metric, name)

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


@dataclass(frozen=True, slots=True)
class PageContent:
    """How many judgements keep the results hidden (else 0), the table, and whether the editing benchmark
    was run and pairs or outputs were judged."""

    waiting: int
    results: Results = field(default_factory=Results)
    bench: bool = False
    judged: bool = False


def read_page(workspace: Workspace, person_id: str, by: str) -> PageContent:
    """What the page shows; for a thread of the pool."""
    waiting = results_hidden(workspace, person_id)
    if waiting:
        return PageContent(waiting)
    return PageContent(
        0, read_results(workspace, by or ""), has_bench(workspace), has_judgements(workspace)
    )
