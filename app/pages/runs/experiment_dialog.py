"""An experiment: which systems, with which prompts, on which examples, and how long it may take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QWidget

from app import theme
from app.operations import run_query
from app.pages.runs.bench_dialog import BenchDialog
from app.pages.runs.prompt_words import prompt_words
from app.strings import count_of, format_duration, say
from app.widgets.basics import Scroller, label
from app.widgets.dialogs import Dialog
from app.widgets.inputs import ComboBox, Form, spin_box, text_field
from app.widgets.notice import Notice
from core.errors import KnownError
from core.runs.experiments import Estimate, add_experiment, estimate_time, unfinished_runs
from core.runs.prompts import prompt_names
from core.runs.verbs import select_examples
from core.storage.workspace import Workspace
from core.types import System
from core.types.evaluation import ContextPolicy

#: Prompts that write an output from an example; the others are for other work.
_PREFIX = "long_form"
_POLICIES: tuple[tuple[ContextPolicy, str], ...] = (
    ("refuse", "refuse, and say so"),
    ("truncate", "cut at the end"),
    ("parts", "work through it in parts"),
)


@dataclass(frozen=True, slots=True)
class Planned:
    """The examples a choice leads to, and the estimate for them."""

    examples: tuple[str, ...]
    estimate: Estimate


def _choices(workspace: Workspace) -> tuple[list[System], list[tuple[str, str]]]:
    systems = workspace.find(System, "kind = 'model'", order_by="name COLLATE NOCASE")
    tasks = workspace.query(
        "SELECT t.id, t.objective, count(e.id) AS n FROM task t JOIN example e"
        " ON e.task_id = t.id AND e.deleted = 0 WHERE t.deleted = 0"
        " GROUP BY t.id ORDER BY t.objective COLLATE NOCASE"
    )
    return systems, [(f"{row['objective'][:50]} ({row['n']})", row["id"]) for row in tasks]


def _plan(workspace: Workspace, query: str, system_ids: list[str], prompts: int) -> Planned:
    examples = select_examples(workspace, query)
    return Planned(
        tuple(examples), estimate_time(workspace, system_ids, len(examples), max(1, prompts))
    )


def _add(
    workspace: Workspace,
    person_id: str,
    name: str,
    systems: list[str],
    examples: tuple[str, ...],
    prompts: list[str],
    policy: ContextPolicy,
) -> list[str]:
    experiment = workspace.transact_job(
        "Start experiment",
        person_id,
        add_experiment,
        name,
        systems,
        examples,
        prompts=prompts,
        policy=policy,
    ).value
    return unfinished_runs(workspace, experiment.id)


class ExperimentDialog(Dialog):
    """Calls ``made`` with the runs, in the order in which they are to write."""

    def __init__(self, parent: QWidget, made: Callable[[list[str], bool], object]) -> None:
        super().__init__(say("New experiment"), parent, width=600)
        self._page = parent
        self._made = made
        self._generation = 0
        self._planned: Planned | None = None
        form = Form()
        self.name = text_field(say("Name"), placeholder=say("What is it to find out?"))
        self.name.textChanged.connect(self._allow)
        form.add(say("Name"), self.name)
        self.task = ComboBox(say("Examples of"))
        self.task.setMinimumContentsLength(18)
        self.limit = spin_box(say("At most"), 0, 1_000_000, 0)
        self.limit.setSpecialValueText(say("no limit"))
        self.policy = ComboBox(say("Inputs longer than the model reads"))
        self.policy.fill([(say(words), policy) for policy, words in _POLICIES], "refuse")
        form.add(say("Examples of"), self.task)
        halves = QHBoxLayout()
        halves.setSpacing(theme.M)
        for caption, field in (
            (say("At most"), self.limit),
            (say("Inputs longer than the model reads"), self.policy),
        ):
            one = Form()
            one.add(caption, field)
            halves.addLayout(one, 1)
        form.addRow(halves)
        self.body.addLayout(form)
        self.systems: dict[str, QCheckBox] = {}
        self.prompts: dict[str, QCheckBox] = {}
        self._system_list, self._prompt_list = Scroller(), Scroller()
        lists = QHBoxLayout()
        lists.setSpacing(theme.M)
        for caption, scroller in (
            (say("Systems"), self._system_list),
            (say("Prompts"), self._prompt_list),
        ):
            scroller.setMinimumHeight(theme.current().px(110))
            scroller.box.setSpacing(theme.S)
            one = Form()
            one.addRow(label(caption, "strong"))
            one.addRow(scroller)
            lists.addLayout(one, 1)
        self.body.addLayout(lists, 1)
        self.plan_label = label("", "muted", wrap=True)
        self.body.addWidget(self.plan_label)
        self.score = QCheckBox(say("Score the outputs when they are written"))
        self.score.setChecked(True)
        self.body.addWidget(self.score)
        self.why = label("", "small", wrap=True)
        self.body.addWidget(self.why)
        self.notice = Notice("", "warning")
        self.notice.hide()
        self.body.addWidget(self.notice)
        self.bench_button = self.add_button(say("Editing benchmark …"), self._bench)
        self.add_cancel()
        self.start_button = self.add_button(say("Start"), self._accept, "primary")
        self.start_button.setEnabled(False)
        self.task.currentIndexChanged.connect(self._plan)
        self.limit.valueChanged.connect(self._plan)
        run_query(self, _choices, self.session.workspace).success(self._fill)

    def _fill(self, found: tuple[list[System], list[tuple[str, str]]]) -> None:
        systems, tasks = found
        self.task.fill([(say("All tasks"), ""), *tasks], "")
        for system in systems:
            self._add_box(self._system_list, self.systems, system.id, system.name, True)
        if not self.systems:
            self._system_list.box.addWidget(
                label(say("None with a model yet: make one with 'New system'."), "muted", wrap=True)
            )
        self._add_box(self._prompt_list, self.prompts, "", say("each system's own"), True)
        for name in prompt_names():
            if name.startswith(_PREFIX):
                self._add_box(self._prompt_list, self.prompts, name, prompt_words(name), False)
        for scroller in (self._system_list, self._prompt_list):
            scroller.box.addStretch(1)
        self._plan()

    def _add_box(
        self, scroller: Scroller, boxes: dict[str, QCheckBox], key: str, text: str, on: bool
    ) -> None:
        box = QCheckBox(text)
        box.setChecked(on)
        box.toggled.connect(self._plan)
        boxes[key] = box
        scroller.box.addWidget(box)

    @Slot()
    def _bench(self) -> None:
        """The benchmark's own dialog instead."""
        self.reject()
        BenchDialog(self._page, self._made).open()

    @property
    def system_ids(self) -> list[str]:
        """The systems that are ticked."""
        return [key for key, box in self.systems.items() if box.isChecked()]

    @property
    def chosen_prompts(self) -> list[str]:
        """The prompts that are ticked; '' is each system's own."""
        return [key for key, box in self.prompts.items() if box.isChecked()]

    @Slot()
    def _plan(self) -> None:
        parts = [f"task={self.task.value}"] if self.task.value else []
        if self.limit.value():
            parts.append(str(self.limit.value()))
        self._generation += 1
        generation = self._generation

        def take(planned: Planned) -> None:
            if generation == self._generation:
                self._show_plan(planned)

        run_query(
            self,
            _plan,
            self.session.workspace,
            ",".join(parts),
            self.system_ids,
            len(self.chosen_prompts),
        ).success(take)

    def _show_plan(self, planned: Planned) -> None:
        self._planned = planned
        estimate = planned.estimate
        text = say(
            "{outputs} will be written.", outputs=count_of(estimate.outputs, "output", "outputs")
        )
        if estimate.seconds is not None:
            text += " " + say("About {time}.", time=format_duration(estimate.seconds))
        if estimate.unknown:
            text += " " + say(
                "Not timed yet: {names}; its first outputs will tell.",
                names=", ".join(estimate.unknown),
            )
        self.plan_label.setText(text)
        self._allow()

    @Slot()
    def _allow(self) -> None:
        missing = self._missing()
        self.start_button.setEnabled(self._planned is not None and not missing)
        self.why.setText(missing)
        self.why.setVisible(bool(missing))

    def _missing(self) -> str:
        """What is wanting before it can start; '' for nothing."""
        if not self.name.text().strip():
            return say("Give it a name, and it can start.")
        if not self.system_ids:
            return say("Tick a system.")
        if not self.chosen_prompts:
            return say("Tick a prompt.")
        if self._planned is not None and not self._planned.estimate.outputs:
            return say("There is no example to write for.")
        return ""

    @Slot()
    def _accept(self) -> None:
        if self._planned is None:
            return
        self.start_button.setEnabled(False)
        run_query(
            self,
            _add,
            self.session.workspace,
            self.session.person_id,
            self.name.text(),
            self.system_ids,
            self._planned.examples,
            self.chosen_prompts,
            self.policy.value,
        ).success(self._on_made).failure(self._on_failed)

    def _on_made(self, run_ids: list[str]) -> None:
        score = self.score.isChecked()
        self.accept()
        self._made(run_ids, score)

    def _on_failed(self, error: BaseException) -> None:
        self._allow()
        if isinstance(error, KnownError):
            self.notice.set_text(str(error))
            self.notice.show()
        else:
            self.session.jobs.failed.emit(error, self)
