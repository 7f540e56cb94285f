"""Runs: letting systems write, watching them, stopping, resuming, and scoring what they wrote."""

from __future__ import annotations

from functools import partial
from typing import Any

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QSplitter, QWidget

from app import theme
from app.operations import run_query
from app.pages.base import Command
from app.pages.base import Page as BasePage
from app.pages.runs.bench_dialog import BenchDialog
from app.pages.runs.deletion import ask_to_delete
from app.pages.runs.detail import RunDetail, RunFacts, read_run
from app.pages.runs.dialogs import RunDialog, SystemDialog
from app.pages.runs.experiment_dialog import ExperimentDialog
from app.pages.runs.experiment_view import ExperimentView
from app.pages.runs.import_dialog import ImportOutputsDialog, SkippedDialog, report_words
from app.pages.runs.judge_dialog import JudgeDialog
from app.pages.runs.runner import runner_of
from app.pages.runs.score_dialog import ScoreDialog
from app.pages.runs.source import RUNS
from app.strings import count_of, say
from app.widgets.basics import Card
from app.widgets.buttons import Button
from app.widgets.empty import EmptyState
from app.widgets.id_table import IdTableModel
from app.widgets.id_view import IdTableView
from core.changes import Changes
from core.exchange.imports import ImportReport
from core.review.blinding import results_hidden
from core.runs.verbs import retry_failed
from core.storage.workspace import Workspace
from core.types import Run, System


class Page(BasePage):
    """The list of runs at the left, one of them at the right."""

    name = "runs"
    title = "Runs"
    kinds = (
        "run",
        "system",
        "job",
        "output",
        "score",
        "example",
        "experiment",
        "review_item",
        "pair_item",
        "blinding",
    )

    def build(self) -> None:
        self.runner = runner_of(self.session)
        # How many of one's own judgements keep the page shut; None until that is known.
        self._hidden: int | None = None
        self._wanted = ""
        self._wanted_output = ""
        self.new_system_button = Button(say("New system"))
        self.new_system_button.clicked.connect(self.show_new_system)
        self.new_run_button = Button(
            say("New run"), "primary", icon="runs", shortcuts=self.session.shortcuts, action="new"
        )
        self.new_run_button.clicked.connect(self.show_new_run)
        self.import_button = Button(say("Import"))
        self.import_button.setToolTip(say("Outputs of other programs, ratings, preferences"))
        self.import_button.clicked.connect(self.show_import)
        self.action_row.addWidget(self.import_button)
        self.judge_button = Button(say("Judge"))
        self.judge_button.clicked.connect(self.show_judge)
        self.experiment_button = Button(say("Experiment"))
        self.experiment_button.clicked.connect(self.show_experiment)
        self.action_row.addWidget(self.judge_button)
        self.action_row.addWidget(self.experiment_button)
        self.action_row.addWidget(self.new_system_button)
        self.action_row.addWidget(self.new_run_button)
        card = Card(say("Runs"))
        self.model = IdTableModel(self.session, RUNS)
        self.model.show_nothing()
        # The latest is what one is after.
        self.model.sort(1, Qt.SortOrder.DescendingOrder)
        self.table = IdTableView(self.model, say("Runs"))
        self.table.horizontalHeader().setSortIndicator(1, Qt.SortOrder.DescendingOrder)
        self.table.current_changed.connect(self._on_current)
        self.model.loaded.connect(self._on_loaded)
        card.add(self.table, 1)
        self.detail = RunDetail(self.session, self.runner)
        self.detail.stop_asked.connect(self.stop_current)
        self.detail.resume_asked.connect(self.resume_current)
        self.detail.retry_asked.connect(self.retry_current)
        self.detail.score_asked.connect(self.score_current)
        self.detail.experiment_asked.connect(self.show_matrix)
        self.detail.delete_asked.connect(self.delete_current)
        self.session.shortcuts.bind(self.table, "runs.delete", self.delete_current)
        split = QSplitter(Qt.Orientation.Horizontal)
        split.setChildrenCollapsible(False)
        split.setHandleWidth(theme.L)
        split.addWidget(card)
        split.addWidget(self.detail)
        split.setStretchFactor(0, 2)
        split.setStretchFactor(1, 3)
        split.setSizes([560, 620])
        self.body.addWidget(split, 1)
        self.runner.changed.connect(self._on_runner)
        self.runner.scored.connect(self._on_scored)

    def refresh(self, changes: Changes | None) -> None:
        # Whether names may be shown is asked first: what is not loaded cannot be seen.
        query = run_query(self, results_hidden, self.session.workspace, self.session.person_id)
        query.success(partial(self._refresh_seen, changes))

    def _refresh_seen(self, changes: Changes | None, waiting: int) -> None:
        was = self._hidden
        self._show_hidden(waiting)
        if waiting:
            return
        if was == 0:
            self.model.apply_changes(changes)
        if changes is not None:
            self.detail.apply_changes(changes)
        run_query(self, _count_all, self.session.workspace).success(self._show_counts)
        self._read_current()

    def place(self) -> dict[str, Any]:
        return {"run": self.table.current_id, "output": self.detail.output_id}

    def restore(self, place: dict[str, Any]) -> None:
        self._wanted = str(place.get("run", ""))
        self._wanted_output = str(place.get("output", ""))
        if place.get("new"):
            self.show_new_run()
        if self._wanted and self.table.select_id(self._wanted):
            self._wanted = ""

    def first_focus(self) -> QWidget | None:
        return self.new_run_button if self.is_empty_shown else self.table

    def commands(self) -> list[Command]:
        keys = self.session.shortcuts
        if self._hidden != 0:
            return []
        made = [
            Command(say("New run"), self.show_new_run, keys.hint("new"), self.title),
            Command(say("New system"), self.show_new_system, "", self.title),
            Command(say("Judge with language models"), self.show_judge, "", self.title),
            Command(say("New experiment"), self.show_experiment, "", self.title),
            Command(say("Show an experiment as a matrix"), self.show_matrix, "", self.title),
            Command(say("Import outputs of other systems"), self.show_import, "", self.title),
            Command(say("Run the editing benchmark"), self.show_bench, "", self.title),
        ]
        if self.detail.facts is not None:
            made += [
                Command(
                    say("Stop the run"), self.stop_current, keys.hint("runs.cancel"), self.title
                ),
                Command(say("Resume the run"), self.resume_current, "", self.title),
                Command(say("Score the run"), self.score_current, "", self.title),
                Command(
                    say("Delete the run"),
                    self.delete_current,
                    keys.hint("runs.delete"),
                    self.title,
                ),
            ]
        return made

    # -- what the person does ------------------------------------------------------------

    @Slot()
    def show_new_system(self) -> None:
        """Open the dialog for a system."""
        SystemDialog(self, self._on_system).open()

    @Slot()
    def show_new_run(self) -> None:
        """Open the dialog for a run."""
        RunDialog(self, self._on_run).open()

    @Slot()
    def stop_current(self) -> None:
        """Stop the selected run; what was written stays."""
        self.runner.stop(self.detail.run_id)

    @Slot()
    def resume_current(self) -> None:
        """Go on with the selected run where it stopped."""
        facts = self.detail.facts
        if facts is not None and facts.resumable:
            self.runner.start(facts.run.id)
        else:
            self.said.emit(say("There is nothing to go on with: choose a run that was stopped."))

    @Slot()
    def retry_current(self) -> None:
        """Let the failed outputs of the selected run be written again."""
        run_id = self.detail.run_id
        if not run_id:
            self.said.emit(say("Choose a run first."))
            return
        query = run_query(self, _retry, self.session.workspace, self.session.person_id, run_id)
        query.success(partial(self._on_retried, run_id))

    @Slot()
    def show_judge(self) -> None:
        """Let language models judge what was written."""
        JudgeDialog(self, self.runner.judge).open()

    @Slot()
    def show_import(self) -> None:
        """Take in outputs of other programs, or ratings and preferences."""
        ImportOutputsDialog(self, self._on_imported).open()

    def _on_imported(self, report: ImportReport) -> None:
        self.said.emit(report_words(report))
        if report.skipped:
            SkippedDialog(self, report).open()
        self.refresh(None)

    @Slot()
    def show_bench(self) -> None:
        """Let a system edit the data sets of the editing benchmark."""
        BenchDialog(self, self._on_experiment).open()

    @Slot()
    def show_matrix(self) -> None:
        """The experiment of the selected run, else the latest, as a matrix."""
        facts = self.detail.facts
        experiment = str(facts.run.signature.get("experiment", "")) if facts else ""
        ExperimentView(self, experiment, self._on_experiment, self._look_at).open()

    def _look_at(self, run_id: str) -> None:
        self.table.select_id(run_id)

    @Slot()
    def show_experiment(self) -> None:
        """Several systems, with several prompts, on the same examples."""
        ExperimentDialog(self, self._on_experiment).open()

    def _on_experiment(self, run_ids: list[str], score: bool) -> None:
        if run_ids:
            self._wanted = run_ids[0]
        for run_id in run_ids:
            self.runner.start(run_id, score=score)
        self.refresh(None)

    @Slot()
    def score_current(self) -> None:
        """Score the selected run."""
        facts = self.detail.facts
        if facts is not None and facts.done:
            run_id = facts.run.id
            ScoreDialog(self, lambda names: self.runner.score(run_id, names)).open()
        else:
            self.said.emit(say("There is no output to score yet: choose a run that wrote some."))

    @Slot()
    def delete_current(self) -> None:
        """Ask whether the selected run is to go with all that rests on it."""
        facts = self.detail.facts
        if facts is None:
            self.said.emit(say("Choose a run first."))
        elif self.runner.is_busy(facts.run.id):
            self.said.emit(say("This run is at work: stop it first, or wait until it is done."))
        else:
            ask_to_delete(self, facts.run.id, facts.system.name, self._on_deleted)

    # -- inside --------------------------------------------------------------------------

    def _on_deleted(self) -> None:
        key = self.session.shortcuts.hint("undo")
        self.said.emit(say("Deleted. {key} brings it back.", key=key))

    def _on_system(self, system: System) -> None:
        self.said.emit(say("{name} is ready to write.", name=system.name))
        RunDialog(self, self._on_run, system_id=system.id).open()

    def _on_run(self, run: Run, score: bool) -> None:
        self._wanted = run.id
        self.runner.start(run.id, score=score)
        self.refresh(None)

    def _on_retried(self, run_id: str, count: int) -> None:
        if count:
            self.runner.start(run_id)

    @Slot(str)
    def _on_current(self, run_id: str) -> None:
        if run_id:
            self._read_current()

    def _read_current(self) -> None:
        run_id = self.table.current_id
        if run_id:
            run_query(self, read_run, self.session.workspace, run_id).success(self._show_run)

    def _show_run(self, facts: RunFacts | None) -> None:
        # None where it was deleted, here or elsewhere: the list goes on to another one.
        if facts is None:
            return
        if facts.run.id == self.table.current_id and self._hidden == 0:
            self.detail.show_run(facts)
            if self._wanted_output:
                self.detail.table.select_id(self._wanted_output)
                self._wanted_output = ""

    @Slot()
    def _on_loaded(self) -> None:
        if self._wanted and self.table.select_id(self._wanted):
            self._wanted = ""
        elif self.model.ids and not self.table.current_id:
            self.table.select_id(self.model.ids[0])
        self._show_emptiness()

    def _show_hidden(self, waiting: int) -> None:
        """This page names systems: it stays shut while the person works blind and has work waiting."""
        was, self._hidden = self._hidden, waiting
        for button in (
            self.import_button,
            self.judge_button,
            self.experiment_button,
            self.new_system_button,
            self.new_run_button,
        ):
            button.setEnabled(not waiting)
        if waiting and not was:
            self.model.show_nothing()
            self.detail.forget()
            self.set_subtitle("")
            self.show_empty(
                EmptyState(
                    "eye-off",
                    say("Hidden while you work blind"),
                    say(
                        "This page names the systems. It opens when your own judgements are in, or "
                        "when you stop working blind in the queue."
                    ),
                    (say("Go on reviewing"), self._go_review),
                    (say("Go to the queue"), self._go_queue),
                )
            )
        elif was != 0 and not waiting:
            if was:
                self.show_empty(None)
            self.model.set_filter()

    def _go_review(self) -> None:
        self.go.emit("review", None)

    def _go_queue(self) -> None:
        self.go.emit("queue", None)

    def _show_emptiness(self) -> None:
        if self._hidden != 0 or not self.model.loaded_once or self.model.loading:
            return
        if self.model.ids:
            self.show_empty(None)
        elif not self.is_empty_shown:
            self.detail.forget()
            self.show_empty(
                EmptyState(
                    "runs",
                    say("No runs yet"),
                    say(
                        "A system is a model with its parameters; a run lets it write an output for "
                        "each of the examples you choose. Text appears as it is written, and a run "
                        "can be stopped and resumed at any time."
                    ),
                    (say("Start a run"), self.show_new_run),
                    (say("New system"), self.show_new_system),
                )
            )

    def _show_counts(self, counts: tuple[int, int, int]) -> None:
        runs, systems, outputs = counts
        self.set_subtitle(
            " · ".join(
                (
                    count_of(systems, "system", "systems"),
                    count_of(runs, "run", "runs"),
                    count_of(outputs, "output", "outputs"),
                )
            )
        )

    @Slot(str)
    def _on_runner(self, run_id: str) -> None:
        self.counted.emit(1 if self.runner.run_id else None)
        if run_id == self.detail.run_id:
            self.detail.show_state()

    @Slot(str)
    def _on_scored(self, _run_id: str) -> None:
        self.said.emit(say("The outputs are scored; see Results."))


def _count_all(workspace: Workspace) -> tuple[int, int, int]:
    row = workspace.query(
        "SELECT (SELECT count(*) FROM run WHERE deleted = 0) AS runs,"
        " (SELECT count(*) FROM system WHERE deleted = 0) AS systems,"
        " (SELECT count(*) FROM output WHERE state = 'done' AND deleted = 0) AS outputs"
    )[0]
    return row["runs"], row["systems"], row["outputs"]


def _retry(workspace: Workspace, person_id: str, run_id: str) -> int:
    return workspace.transact_job("Try failed outputs again", person_id, retry_failed, run_id).value
