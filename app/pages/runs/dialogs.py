"""Making a system, and starting a run of one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QWidget

from app import theme
from app.operations import run_query, run_verb
from app.strings import count_of, say, shorten
from app.widgets.basics import label
from app.widgets.buttons import Button
from app.widgets.dialogs import Dialog
from app.widgets.inputs import ComboBox, Form, decimal_box, spin_box, text_field
from app.widgets.notice import Notice
from core.changes import Outcome
from core.errors import KnownError
from core.runs.verbs import DEFAULT_PARAMS, add_run, add_system, select_examples
from core.storage.workspace import Workspace
from core.types import Run, System
from models.catalog import CatalogEntry, list_models

_MODES = (
    ("whole", "One answer for the whole output"),
    ("sections", "One answer for each section"),
)


SystemCallback = Callable[[System], object]
#: Called with the new run, and whether to score it when done.
RunCallback = Callable[[Run, bool], object]


class SystemDialog(Dialog):
    """A local model with its parameters; calls ``made`` with the new system."""

    def __init__(self, parent: QWidget, made: SystemCallback) -> None:
        super().__init__(say("New system"), parent, width=520)
        self._made = made
        self._entries: dict[str, CatalogEntry] = {}
        self._suggested = ""
        self.body.addWidget(
            label(
                say("What writes outputs: a model of this machine with its parameters."),
                "muted",
                wrap=True,
            )
        )
        form = Form()
        self.model = ComboBox(say("Model"), stretch=True)
        self.model.currentIndexChanged.connect(self._suggest_name)
        form.add(say("Model"), self.model)
        self.name = text_field(say("Name"))
        form.add(say("Name"), self.name)
        self.mode = ComboBox(say("Writes"), stretch=True)
        self.mode.fill([(say(text), value) for value, text in _MODES], DEFAULT_PARAMS["mode"])
        form.add(
            say("Writes"),
            self.mode,
            say("Section by section helps small models to leave nothing out."),
        )
        self.max_tokens = spin_box(
            say("Longest output"), 16, 32_768, DEFAULT_PARAMS["max_tokens"], suffix=say(" tokens")
        )
        self.max_tokens.setSingleStep(256)
        self.temperature = decimal_box(say("Temperature"), 0.0, 2.0, DEFAULT_PARAMS["temperature"])
        self.seed = spin_box(say("Seed"), 0, 2_147_483_647, DEFAULT_PARAMS["seed"])
        numbers = QHBoxLayout()
        numbers.setSpacing(theme.M)
        for caption, field in (
            (say("Longest output"), self.max_tokens),
            (say("Temperature"), self.temperature),
            (say("Seed"), self.seed),
        ):
            one = Form()
            one.add(caption, field)
            numbers.addLayout(one, 1)
        form.addRow(numbers)
        self.body.addLayout(form)
        self.notice = Notice("", "warning")
        self.notice.hide()
        self.body.addWidget(self.notice)
        self.add_cancel()
        self.add_system_button = self.add_button(say("Add system"), self._accept, "primary")
        self.add_system_button.setEnabled(False)
        # At once: when the models are there, somebody may be typing elsewhere.
        self.name.setFocus()
        run_query(self, list_models).success(self._fill)

    def _fill(self, entries: list[CatalogEntry]) -> None:
        usable = [e for e in entries if e.role == "generator" and not e.problem]
        self._entries = {entry.id: entry for entry in usable}
        self.model.fill([(entry.name, entry.id) for entry in usable])
        self.add_system_button.setEnabled(bool(usable))
        if usable:
            self._suggest_name()
            if self.name.hasFocus():
                self.name.selectAll()
        else:
            self._warn(
                say("No model of this machine writes text yet. Import one on the Models page.")
            )

    @Slot()
    def _suggest_name(self) -> None:
        entry = self._entries.get(self.model.value)
        if entry is not None and self.name.text() in ("", self._suggested):
            self._suggested = entry.name
            self.name.setText(entry.name)

    @Slot()
    def _accept(self) -> None:
        entry = self._entries.get(self.model.value)
        if entry is None:
            return
        params: dict[str, Any] = {
            "mode": self.mode.value,
            "max_tokens": self.max_tokens.value(),
            "temperature": round(self.temperature.value(), 2),
            "seed": self.seed.value(),
        }
        self.add_system_button.setEnabled(False)
        run_verb(
            self,
            say("New system"),
            add_system,
            self.name.text(),
            model_id=entry.id,
            model_sha256=entry.sha256,
            params=params,
        ).success(self._on_made).failure(self._on_failed)

    def _on_made(self, outcome: Outcome[System]) -> None:
        self.accept()
        self._made(outcome.value)

    def _on_failed(self, error: BaseException) -> None:
        self.add_system_button.setEnabled(True)
        _show_failure(self, error)
        self.name.setFocus()

    def _warn(self, text: str) -> None:
        self.notice.set_text(text)
        self.notice.show()


class RunDialog(Dialog):
    """A system and the examples it is to write for; calls ``made`` with the new run."""

    def __init__(self, parent: QWidget, made: RunCallback, *, system_id: str = "") -> None:
        super().__init__(say("New run"), parent, width=520)
        self._page = parent
        self._made = made
        self._wanted_system = system_id
        self._examples: list[str] = []
        self._generation = 0
        self._counting = False
        self._start_asked = False
        form = Form()
        self.system = ComboBox(say("System"), stretch=True)
        self.new_system = Button(say("New system …"))
        self.new_system.clicked.connect(self._make_system)
        line = QHBoxLayout()
        line.setSpacing(theme.S)
        line.addWidget(self.system, 1)
        line.addWidget(self.new_system)
        form.addRow(label(say("System"), "strong"))
        form.addRow(line)
        form.add_gap()
        self.task = ComboBox(say("Task"), stretch=True)
        self.split = ComboBox(say("Split"), stretch=True)
        self.limit = spin_box(say("At most"), 0, 1_000_000, 0)
        self.limit.setSpecialValueText(say("no limit"))
        form.add(say("Examples of"), self.task)
        halves = QHBoxLayout()
        halves.setSpacing(theme.M)
        for caption, field in ((say("Split"), self.split), (say("At most"), self.limit)):
            one = Form()
            one.add(caption, field)
            halves.addLayout(one, 1)
        form.addRow(halves)
        self.body.addLayout(form)
        self.count_label = label("", "muted")
        self.body.addWidget(self.count_label)
        self.score = QCheckBox(say("Score the outputs when they are written"))
        self.score.setChecked(True)
        self.body.addWidget(self.score)
        self.notice = Notice("", "warning")
        self.notice.hide()
        self.body.addWidget(self.notice)
        self.add_cancel()
        self.start_button = self.add_button(say("Start"), self._accept, "primary")
        self.start_button.setEnabled(False)
        self.task.currentIndexChanged.connect(self._count)
        self.split.currentIndexChanged.connect(self._count)
        self.limit.valueChanged.connect(self._count)
        run_query(self, _run_choices, self.session.workspace).success(self._fill)

    def _fill(self, choices: dict[str, list[tuple[str, str]]]) -> None:
        self.system.fill(choices["systems"], self._wanted_system or None)
        if self.system.currentIndex() < 0 and choices["systems"]:
            self.system.setCurrentIndex(0)
        self.task.fill([(say("All tasks"), ""), *choices["tasks"]], "")
        self.split.fill([(say("All splits"), ""), *choices["splits"]], "")
        if not choices["systems"] and self.focusWidget() in (None, self.system):
            self.new_system.setFocus()
        self._count()

    @Slot()
    def _count(self) -> None:
        parts = []
        if self.task.value:
            parts.append(f"task={self.task.value}")
        if self.split.value:
            parts.append(f"split={self.split.value}")
        if self.limit.value():
            parts.append(str(self.limit.value()))
        self._generation += 1
        generation = self._generation
        self._counting = True

        def take(ids: list[str]) -> None:
            if generation == self._generation:
                self._counting = False
                self._show_examples(ids)

        run_query(self, select_examples, self.session.workspace, ",".join(parts)).success(take)

    def _show_examples(self, ids: list[str]) -> None:
        self._examples = ids
        self.count_label.setText(
            say("{outputs} will be written.", outputs=count_of(len(ids), "output", "outputs"))
            if ids
            else say("No example fits. Import or add examples first.")
        )
        self.start_button.setEnabled(bool(ids) and bool(self.system.value))
        if self._start_asked:
            self._start_asked = False
            self._accept()

    @Slot()
    def _make_system(self) -> None:
        SystemDialog(self._page, self._take_system).open()

    def _take_system(self, system: System) -> None:
        self._wanted_system = system.id
        run_query(self, _run_choices, self.session.workspace).success(self._fill)

    @Slot()
    def _accept(self) -> None:
        if self._counting:
            # Pressed right after a change: start with the examples of the change, not those before it.
            self._start_asked = True
            return
        if not self.system.value or not self._examples:
            return
        self.start_button.setEnabled(False)
        # As background work: undoing a run's start while it writes would pull it from under itself.
        run_query(
            self,
            _start_run,
            self.session.workspace,
            self.session.person_id,
            self.system.value,
            self._examples,
        ).success(self._on_made).failure(self._on_failed)

    def _on_made(self, run: Run) -> None:
        score = self.score.isChecked()
        self.accept()
        self._made(run, score)

    def _on_failed(self, error: BaseException) -> None:
        self.start_button.setEnabled(True)
        _show_failure(self, error)


def _start_run(workspace: Workspace, person_id: str, system_id: str, examples: list[str]) -> Run:
    return workspace.transact_job("Start run", person_id, add_run, system_id, examples).value


def _run_choices(workspace: Workspace) -> dict[str, list[tuple[str, str]]]:
    """What a run can be made of, as (text, value) pairs."""
    systems = workspace.find(System, "kind = 'model'", order_by="id DESC")
    tasks = workspace.query(
        "SELECT t.id, t.objective, count(e.id) AS n FROM task t JOIN example e"
        " ON e.task_id = t.id AND e.deleted = 0 WHERE t.deleted = 0"
        " GROUP BY t.id ORDER BY t.objective COLLATE NOCASE"
    )
    splits = workspace.query(
        "SELECT split, count(*) AS n FROM example WHERE deleted = 0 AND split <> ''"
        " GROUP BY split ORDER BY split"
    )
    return {
        "systems": [(system.name, system.id) for system in systems],
        "tasks": [(f"{shorten(row['objective'], 52)} ({row['n']})", row["id"]) for row in tasks],
        "splits": [(f"{row['split']} ({row['n']})", row["split"]) for row in splits],
    }


def _show_failure(dialog: SystemDialog | RunDialog, error: BaseException) -> None:
    """What the person can mend stays in the dialog; anything else is shown as an error."""
    if isinstance(error, KnownError):
        dialog.notice.set_text(str(error))
        dialog.notice.show()
    else:
        dialog.session.jobs.failed.emit(error, dialog)
