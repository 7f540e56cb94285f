"""Starting a run: which system writes, for which examples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app import theme
from app.strings import count_of, format_bytes, format_number, say
from app.widgets.basics import label, row
from app.widgets.dialogs import Dialog
from app.widgets.inputs import ComboBox, Form, decimal_box, spin_box, text_field
from app.widgets.notice import Notice
from core.runs.verbs import DEFAULT_PARAMS, add_run, add_system, select_examples
from core.storage.workspace import Workspace
from core.types import Run, System


@dataclass(frozen=True, slots=True)
class RunChoices:
    """What can be chosen from: systems, (id, name, sha256, bytes) of models, example scopes."""

    systems: tuple[System, ...]
    models: tuple[tuple[str, str, str, int], ...]
    #: (what is shown, query of `select_examples`, how many)
    scopes: tuple[tuple[str, str, int], ...]


@dataclass(frozen=True, slots=True)
class RunPlan:
    """What was chosen. Without ``system_id`` a system is made from the rest."""

    system_id: str
    query: str
    name: str = ""
    model_id: str = ""
    model_sha256: str = ""
    params: dict[str, Any] = field(default_factory=dict)


def read_choices(workspace: Workspace) -> RunChoices:
    """Read what the dialog offers; for a worker thread."""
    from models.catalog import list_models

    systems = tuple(workspace.find(System, "kind = 'model'", order_by="name COLLATE NOCASE"))
    models = tuple(
        (entry.id, entry.name, entry.sha256, entry.bytes)
        for entry in list_models()
        if entry.role == "generator" and not entry.problem
    )
    total = workspace.value("SELECT count(*) FROM example WHERE deleted = 0")
    scopes = [(say("All examples"), "", total)]
    for found in workspace.query(
        """SELECT t.id, t.objective, count(*) AS n FROM example e JOIN task t ON t.id = e.task_id
           WHERE e.deleted = 0 GROUP BY t.id ORDER BY t.objective COLLATE NOCASE"""
    ):
        scopes.append((found["objective"], f"task={found['id']}", found["n"]))
    for found in workspace.query(
        """SELECT split, count(*) AS n FROM example WHERE deleted = 0 AND split <> ''
           GROUP BY split ORDER BY split"""
    ):
        scopes.append(
            (say("Split {name}", name=found["split"]), f"split={found['split']}", found["n"])
        )
    return RunChoices(systems, models, tuple(scopes))


def start_run(workspace: Workspace, person_id: str, plan: RunPlan) -> Run:
    """Write down the system, if it is new, and the run; for a worker thread."""
    system_id = plan.system_id
    if not system_id:
        system_id = workspace.transact(
            "Add system",
            person_id,
            add_system,
            plan.name,
            model_id=plan.model_id,
            model_sha256=plan.model_sha256,
            params=plan.params,
        ).value.id
    examples = select_examples(workspace, plan.query)
    return workspace.transact_job("Start run", person_id, add_run, system_id, examples).value


class NewRunDialog(Dialog):
    """Calls ``start`` with a `RunPlan`."""

    def __init__(
        self, choices: RunChoices, start: Callable[[RunPlan], object], parent: QWidget
    ) -> None:
        super().__init__(say("New run"), parent, width=560)
        self._choices = choices
        self._start = start
        self.body.addWidget(
            label(
                say(
                    "A system is a model with its settings. It writes one output for each example."
                ),
                "muted",
                wrap=True,
            )
        )
        form = Form()
        self.system = ComboBox(say("System"))
        self.system.fill(
            [(system.name, system.id) for system in choices.systems] + [(say("New system …"), "")]
        )
        self.system.currentIndexChanged.connect(self._on_system)
        form.add(say("System"), self.system)
        self.body.addLayout(form)
        self.body.addWidget(self._make_new_system())
        examples = Form()
        self.scope = ComboBox(say("Examples"))
        self.scope.fill(
            [(f"{text} ({format_number(count)})", query) for text, query, count in choices.scopes]
        )
        self.scope.setSizeAdjustPolicy(
            ComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self.scope.currentIndexChanged.connect(self._count)
        self.limit = spin_box(say("At most"), 0, 1_000_000, 0)
        self.limit.setSpecialValueText(say("All of them"))
        self.limit.valueChanged.connect(self._count)
        examples.add(say("Examples"), self.scope)
        examples.add(say("At most"), self.limit)
        self.body.addLayout(examples)
        self.notice = Notice("", "warning")
        self.notice.hide()
        self.body.addWidget(self.notice)
        self.count_label = label("", "muted")
        self.buttons.insertWidget(0, self.count_label)
        self.add_cancel()
        self.start_button = self.add_button(say("Start"), self._accept, "primary")
        self._on_system()
        self._count()
        (self.name if not choices.systems else self.system).setFocus()

    def _make_new_system(self) -> QWidget:
        self.new_system = QWidget()
        layout = QVBoxLayout(self.new_system)
        layout.setContentsMargins(0, 0, 0, 0)
        form = Form()
        self.name = text_field(say("Name of the system"))
        self.model = ComboBox(say("Model"))
        self.model.fill(
            [
                (f"{name} ({format_bytes(size)})", id_)
                for id_, name, _hash, size in self._choices.models
            ]
        )
        self.model.currentIndexChanged.connect(self._suggest_name)
        self.mode = ComboBox(say("How it writes"))
        self.mode.fill(
            [(say("Section by section"), "sections"), (say("The whole text at once"), "whole")]
        )
        self.mode.currentIndexChanged.connect(self._suggest_name)
        form.add(say("Model"), self.model)
        form.add(say("How it writes"), self.mode)
        form.add(say("Name of the system"), self.name)
        self.tokens = spin_box(say("Longest output in tokens"), 16, 100_000, 1024)
        self.temperature = decimal_box(
            say("Temperature"), 0.0, 2.0, float(DEFAULT_PARAMS["temperature"])
        )
        self.seed = spin_box(say("Seed"), 0, 2**31 - 1, int(DEFAULT_PARAMS["seed"]))
        fields = []
        for text, box in (
            (say("Longest output, tokens"), self.tokens),
            (say("Temperature"), self.temperature),
            (say("Seed"), self.seed),
        ):
            single = Form()
            single.add(text, box)
            fields.append(single)
        layout.addLayout(form)
        layout.addLayout(row(*fields, spacing=theme.L))
        self._suggestion = ""
        self._suggest_name()
        return self.new_system

    @property
    def count(self) -> int:
        """How many examples the run would have."""
        place = max(0, self.scope.currentIndex())
        total = self._choices.scopes[place][2] if self._choices.scopes else 0
        return min(total, self.limit.value()) if self.limit.value() else total

    @Slot()
    def _on_system(self) -> None:
        self.new_system.setVisible(not self.system.value)
        self._count()
        self.adjustSize()

    @Slot()
    def _suggest_name(self) -> None:
        place = self.model.currentIndex()
        if place < 0 or (self.name.text() and self.name.text() != self._suggestion):
            return
        taken = {system.name.casefold() for system in self._choices.systems}
        stem = f"{self._choices.models[place][1]}, {self.mode.currentText().lower()}"
        number, name = 1, stem
        while name.casefold() in taken:
            number += 1
            name = f"{stem} {number}"
        self._suggestion = name
        self.name.setText(name)

    @Slot()
    def _count(self) -> None:
        count = self.count
        self.count_label.setText(count_of(count, say("output"), say("outputs")))
        problem = ""
        if not count:
            problem = say("There are no examples yet. Import some first.")
        elif not self.system.value and not self._choices.models:
            problem = say("There is no model that writes on this machine. Import one on Models.")
        self.notice.set_text(problem)
        self.notice.setVisible(bool(problem))
        self.start_button.setEnabled(not problem)

    @Slot()
    def _accept(self) -> None:
        limit = str(self.limit.value()) if self.limit.value() else ""
        query = ",".join(part for part in (self.scope.value, limit) if part)
        if self.system.value:
            plan = RunPlan(self.system.value, query)
        else:
            if not self.name.text().strip():
                self.notice.set_text(say("Please name the system."))
                self.notice.show()
                self.name.setFocus()
                return
            id_, _name, sha256, _size = self._choices.models[self.model.currentIndex()]
            params = {
                "mode": self.mode.value,
                "max_tokens": self.tokens.value(),
                "temperature": self.temperature.value(),
                "seed": self.seed.value(),
            }
            plan = RunPlan("", query, self.name.text().strip(), id_, sha256, params)
        self.accept()
        self._start(plan)
