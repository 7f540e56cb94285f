"""Every method of steps and dependencies on the gold graphs: start, resume, and the table."""

from __future__ import annotations

from functools import partial
from typing import Any

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QTableWidget,
    QTableWidgetItem,
    QTabWidget,
    QWidget,
)

from app import theme
from app.jobs import Pending
from app.operations import run_job, run_query
from app.pages.graphs.compared_list import METRIC_WORDS
from app.pages.graphs.suggest import EDGE_WAYS, STEP_WAYS
from app.strings import count_of, say
from app.widgets.basics import label, row
from app.widgets.buttons import Button
from app.widgets.dialogs import Dialog
from core.graphs.generation.evaluation import (
    MethodRow,
    execute_evaluation,
    latest_evaluation,
    method_rows,
    start_evaluation,
)
from core.ports import Cancellation, ProgressCallback
from core.storage.workspace import Workspace
from core.types import Job
from core.types.graphs import TaskGraph

_WAYS = {"steps": dict(STEP_WAYS), "edges": dict(EDGE_WAYS)}
_PARTS = (("steps", "Steps"), ("edges", "Dependencies"))


def run_methods(
    workspace: Workspace,
    models: Any,
    job_id: str,
    person: str,
    *,
    progress: ProgressCallback,
    cancel: Cancellation,
) -> Job:
    """Start an evaluation, or go on with one; for a thread of its own."""
    if not job_id:
        job_id = workspace.transact_job("Compare methods", person, start_evaluation).value.id
    return execute_evaluation(
        workspace, job_id, models.generator(), models.embedder(), progress=progress, cancel=cancel
    )


class MethodsDialog(Dialog):
    """The table of the latest run. The work goes on when the dialog is closed."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(say("How well does the model understand tasks?"), parent, width=900)
        self._page = parent
        self._job: Job | None = None
        self._pending: Pending[Job] | None = None
        self.words = label(
            say(
                "Each way to propose steps and dependencies is tried on every gold graph, with the "
                "assumption told and without it. Means, with 95 % intervals in brackets."
            ),
            "muted",
            wrap=True,
        )
        self.body.addWidget(self.words)
        self.state = label("", "strong", wrap=True)
        self.body.addWidget(self.state)
        # Steps and dependencies have other scores, so each has a table of its own.
        self.tables = {part: _make_table(name) for part, name in _PARTS}
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        self.tabs.tabBar().setDrawBase(False)
        self.tabs.tabBar().setAccessibleName(say("What was proposed"))
        for part, name in _PARTS:
            self.tabs.addTab(self.tables[part], say(name))
        # Empty heads would say nothing.
        self.tabs.hide()
        self.body.addWidget(self.tabs, 1)
        self.resume_button = Button(say("Go on where it stopped"))
        self.resume_button.clicked.connect(self.resume)
        self.start_button = Button(say("Start"))
        self.start_button.clicked.connect(self.start)
        self.copy_button = Button(say("Copy the table"), "link", icon="copy")
        self.copy_button.clicked.connect(self.copy_table)
        self.copy_button.hide()
        self.body.addLayout(row(self.start_button, self.resume_button, None, self.copy_button))
        self.add_cancel(say("Close"))
        self.read()

    @Slot()
    def read(self) -> None:
        """Show the latest run."""
        run_query(self, _read, self.session.workspace).success(self._show)

    def _show(self, found: tuple[Job | None, list[MethodRow], int]) -> None:
        job, rows, golds = found
        self._job = job
        if rows and self.tabs.isHidden():
            self.tabs.show()
            self.copy_button.show()
            self.adjustSize()
        self.start_button.setText(say("Start anew") if job is not None else say("Start"))
        self.start_button.setEnabled(bool(golds))
        unfinished = job is not None and job.state in ("cancelled", "paused", "failed")
        self.resume_button.setVisible(unfinished)
        if job is None:
            self.state.setText(
                say(
                    "No run yet. There are {what} to try the methods on. That can take an hour; it can "
                    "be stopped, and goes on where it stopped.",
                    what=count_of(golds, "gold graph", "gold graphs"),
                )
                if golds
                else say("There is no gold graph yet. Set a graph's kind to gold under 'About'.")
            )
        else:
            text = say("{done} of {total} results", done=job.done, total=job.total)
            self.state.setText(f"{text}. {job.message}".strip())
        self._fill(rows)

    def _fill(self, rows: list[MethodRow]) -> None:
        for part, table in self.tables.items():
            shown = [cell for cell in rows if cell.part == part]
            metrics = list(dict.fromkeys(cell.metric for cell in shown))
            heads = list(dict.fromkeys((cell.method, cell.assumption) for cell in shown))
            cells = {(c.method, c.assumption, c.metric): c for c in shown}
            names = [say("Method"), say("Assumption"), *(say(METRIC_WORDS[m]) for m in metrics)]
            table.setColumnCount(len(names))
            table.setHorizontalHeaderLabels(names)
            table.setRowCount(len(heads))
            for place, (method, told) in enumerate(heads):
                _put(table, place, 0, say(_WAYS[part][method]))
                _put(table, place, 1, say("told") if told else say("not told"))
                for column, metric in enumerate(metrics, start=2):
                    cell = cells.get((method, told, metric))
                    _put(table, place, column, _cell_text(cell), tip=_cell_tip(cell))
            mode = QHeaderView.ResizeMode.ResizeToContents
            table.horizontalHeader().setSectionResizeMode(mode)

    @Slot()
    def copy_table(self) -> None:
        """Put the table on the clipboard, for a spreadsheet or a text."""
        lines = []
        for part, name in _PARTS:
            table = self.tables[part]
            columns = range(table.columnCount())
            headings = [table.horizontalHeaderItem(column) for column in columns[1:]]
            lines.append([say(name), *map(_cell_words, headings)])
            for place in range(table.rowCount()):
                lines.append([_cell_words(table.item(place, column)) for column in columns])
        QGuiApplication.clipboard().setText("\n".join("\t".join(cells) for cells in lines))

    @Slot()
    def start(self) -> None:
        """Try every method anew."""
        self._run("")

    @Slot()
    def resume(self) -> None:
        """Go on with the latest run."""
        self._run(self._job.id if self._job is not None else "")

    def _run(self, job_id: str) -> None:
        for button in (self.start_button, self.resume_button):
            button.setEnabled(False)
        self.state.setText(say("Working; the bar at the bottom of the window shows how far it is."))
        session = self.session
        # The page owns the work, so that it outlives this dialog.
        run_job(
            self._page,
            say("Comparing methods"),
            run_methods,
            session.workspace,
            session.models,
            job_id,
            session.person_id,
            noun=say("results"),
        ).end(partial(_refresh, self))


def _make_table(name: str) -> QTableWidget:
    table = QTableWidget()
    table.setAccessibleName(say("Methods and their scores: {what}", what=say(name)))
    table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.setTabKeyNavigation(False)
    table.setShowGrid(False)
    table.verticalHeader().hide()
    table.horizontalHeader().setDefaultAlignment(
        Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
    )
    table.setMinimumHeight(theme.current().px(320))
    return table


def _cell_words(cell: QTableWidgetItem | None) -> str:
    return cell.text() if cell is not None else ""


def _put(table: QTableWidget, place: int, column: int, text: str, *, tip: str = "") -> None:
    item = QTableWidgetItem(text)
    item.setToolTip(tip)
    table.setItem(place, column, item)


def _refresh(dialog: MethodsDialog) -> None:
    import shiboken6

    if shiboken6.isValid(dialog):
        dialog.start_button.setEnabled(True)
        dialog.resume_button.setEnabled(True)
        dialog.read()


def _read(workspace: Workspace) -> tuple[Job | None, list[MethodRow], int]:
    """The latest run with its table, and how many gold graphs there are."""
    job = latest_evaluation(workspace)
    rows = method_rows(workspace, job.id) if job is not None else []
    return job, rows, workspace.count(TaskGraph, "role = 'gold'")


def _cell_text(cell: MethodRow | None) -> str:
    if cell is None:
        return ""
    interval = cell.interval
    if interval.mean is None:
        return say("unscored")
    if interval.low is None or interval.high is None:
        return f"{interval.mean:.3f}"
    return f"{interval.mean:.3f} [{interval.low:.2f}, {interval.high:.2f}]"


def _cell_tip(cell: MethodRow | None) -> str:
    if cell is None:
        return ""
    text = say("{count} graphs", count=cell.interval.n)
    return text + (say(", {count} unscored", count=cell.unscored) if cell.unscored else "")
