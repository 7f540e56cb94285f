"""An experiment as a matrix: a line a system, a column a prompt, and how far each run is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.operations import run_query
from app.pages.results.lists import RowsColumn, RowsTable
from app.pages.runs.prompt_words import prompt_words
from app.strings import count_of, say
from app.widgets.basics import clear_layout, label
from app.widgets.dialogs import Dialog
from app.widgets.inputs import ComboBox, Form
from core.runs.experiments import Cell, experiment_cells, retry_experiment, unfinished_runs
from core.storage.workspace import Workspace
from core.types.evaluation import Experiment

_POLICIES = {
    "refuse": "Inputs longer than a model reads are refused.",
    "truncate": "Inputs longer than a model reads are cut at the end.",
    "parts": "Inputs longer than a model reads are worked through in parts.",
}


@dataclass(frozen=True, slots=True)
class ExperimentContent:
    """All experiments by name, the latest first, and one of them with its cells."""

    names: tuple[tuple[str, str], ...]
    experiment: Experiment | None
    cells: tuple[Cell, ...]


def read_experiment(workspace: Workspace, experiment_id: str) -> ExperimentContent:
    """Read one experiment, the latest where none is named; for a thread of the pool."""
    found = workspace.find(Experiment, order_by="id DESC")
    shown = next((one for one in found if one.id == experiment_id), found[0] if found else None)
    cells = experiment_cells(workspace, shown.id) if shown else []
    return ExperimentContent(tuple((one.name, one.id) for one in found), shown, tuple(cells))


def try_failed_again(workspace: Workspace, person_id: str, experiment_id: str) -> list[str]:
    """Put failed outputs back; returns the runs that have something to write."""
    workspace.transact_job("Try failed outputs again", person_id, retry_experiment, experiment_id)
    return unfinished_runs(workspace, experiment_id)


class ExperimentView(Dialog):
    """Calls ``made`` with the runs to go on with, and ``opened`` with the run that is looked at."""

    def __init__(
        self,
        parent: QWidget,
        experiment_id: str,
        made: Callable[[list[str], bool], object],
        opened: Callable[[str], object],
    ) -> None:
        super().__init__(say("Experiment"), parent, width=560)
        self.prefer_size(820, 460)
        self._made, self._opened = made, opened
        self._content = ExperimentContent((), None, ())
        form = Form()
        self.choice = ComboBox(say("Experiment"))
        self.choice.setMinimumContentsLength(30)
        form.add(say("Experiment"), self.choice)
        self.body.addLayout(form)
        self.facts = label("", "muted", wrap=True)
        self.body.addWidget(self.facts)
        self._place = QVBoxLayout()
        self.body.addLayout(self._place, 1)
        self.table: RowsTable | None = None
        self.retry_button = self.add_button(say("Try failed ones again"), self._retry)
        self.resume_button = self.add_button(say("Go on"), self._resume)
        self.add_button(say("Close"), self.accept, "primary")
        self.choice.currentIndexChanged.connect(self._on_chosen)
        self._read(experiment_id)

    def _read(self, experiment_id: str) -> None:
        run_query(self, read_experiment, self.session.workspace, experiment_id).success(self._show)

    @Slot()
    def _on_chosen(self) -> None:
        if self._content.experiment is None or self.choice.value != self._content.experiment.id:
            self._read(self.choice.value or "")

    def _show(self, content: ExperimentContent) -> None:
        self._content = content
        shown = content.experiment
        self.choice.blockSignals(True)
        self.choice.fill(list(content.names), shown.id if shown else None)
        self.choice.blockSignals(False)
        cells = content.cells
        self.resume_button.setEnabled(any(c.done + c.failed < c.total for c in cells))
        self.retry_button.setEnabled(any(c.failed for c in cells))
        clear_layout(self._place)
        if shown is None:
            self.facts.setText(say("There is no experiment yet."))
            return
        self.facts.setText(
            say(
                "{examples}, {outputs} written of {total}. {policy}",
                examples=count_of(len(shown.example_ids), "example", "examples"),
                outputs=sum(c.done for c in cells),
                total=count_of(sum(c.total for c in cells), "output", "outputs"),
                policy=say(_POLICIES[shown.policy]),
            )
        )
        prompts = list(dict.fromkeys(cell.prompt for cell in cells))
        systems = list(dict.fromkeys(cell.system for cell in cells))
        by_place = {(cell.system, cell.prompt): cell for cell in cells}
        self.table = RowsTable(
            [RowsColumn(say("System"), 0), *(RowsColumn(prompt_words(p), 24) for p in prompts)],
            say("Systems by prompts"),
            grow=True,
        )
        self.table.rows.show(
            [
                (name, *(_cell_words(by_place.get((name, prompt))) for prompt in prompts))
                for name in systems
            ],
            [_first([by_place.get((name, prompt)) for prompt in prompts]) for name in systems],
        )
        self.table.opened.connect(self._open)
        self._place.addWidget(self.table)

    @Slot(object)
    def _open(self, run_id: str) -> None:
        """Look at the run of the column that is selected, else of the first."""
        if self.table is not None:
            index = self.table.currentIndex()
            prompts = list(dict.fromkeys(cell.prompt for cell in self._content.cells))
            system = str(self.table.rows.rows[index.row()][0])
            if index.column() > 0:
                wanted = prompts[index.column() - 1]
                for cell in self._content.cells:
                    if (cell.system, cell.prompt) == (system, wanted):
                        run_id = cell.run_id
        self.accept()
        self._opened(run_id)

    @Slot()
    def _resume(self) -> None:
        runs = [c.run_id for c in self._content.cells if c.done + c.failed < c.total]
        self.accept()
        self._made(runs, True)

    @Slot()
    def _retry(self) -> None:
        shown = self._content.experiment
        if shown is None:
            return
        self.retry_button.setEnabled(False)
        made = self._made

        def go_on(runs: list[str]) -> None:
            self.accept()
            made(runs, True)

        run_query(
            self, try_failed_again, self.session.workspace, self.session.person_id, shown.id
        ).success(go_on)


def _first(cells: Sequence[Cell | None]) -> str:
    return next((cell.run_id for cell in cells if cell is not None), "")


def _cell_words(cell: Cell | None) -> str:
    if cell is None:
        return "–"
    text = say("{done} of {total}", done=cell.done, total=cell.total)
    if cell.failed:
        text += say(", {count} failed", count=cell.failed)
    return text
