"""Starting the editing benchmark: a system, data sets that were imported, which instructions, how many."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QWidget

from app import theme
from app.operations import run_query
from app.strings import count_of, format_number, say
from app.widgets.basics import Scroller, label
from app.widgets.dialogs import Dialog
from app.widgets.inputs import ComboBox, Form, spin_box
from app.widgets.notice import Notice
from core.editing_bench.bench import (
    add_bench_runs,
    add_copy_baseline,
    bench_examples,
    score_bench_run,
)
from core.editing_bench.tasks import TASKS, prompts_of
from core.errors import KnownError
from core.storage.workspace import Workspace
from core.types import System


@dataclass(frozen=True, slots=True)
class Offer:
    """Systems that can edit, and how many texts each task has, by data set."""

    systems: tuple[tuple[str, str], ...]
    texts: dict[str, dict[str, int]]


def read_offer(workspace: Workspace) -> Offer:
    """What the benchmark can be run with; for a thread of the pool."""
    systems = workspace.find(System, "kind = 'model'", order_by="id DESC")
    texts = {
        task: {name: len(ids) for name, ids in bench_examples(workspace, [task]).items()}
        for task in TASKS
    }
    return Offer(
        tuple((system.name, system.id) for system in systems),
        {task: found for task, found in texts.items() if found},
    )


def start_bench(
    workspace: Workspace,
    person_id: str,
    system_id: str,
    tasks: list[str],
    prompts: str,
    limit: int,
) -> list[str]:
    """Write the runs down, score the copy of the input beside them; returns the runs to write."""
    copies = workspace.transact_job(
        "Copy baseline", person_id, add_copy_baseline, tasks, limit=limit
    ).value
    for run in copies:
        score_bench_run(workspace, run.id)
    runs = workspace.transact_job(
        "Start editing runs",
        person_id,
        add_bench_runs,
        system_id,
        tasks,
        prompts=prompts,
        limit=limit,
    ).value
    return [run.id for run in runs]


class BenchDialog(Dialog):
    """Calls ``made`` with the runs, each of which is scored when it is written."""

    def __init__(self, parent: QWidget, made: Callable[[list[str], bool], object]) -> None:
        super().__init__(say("Editing benchmark"), parent, width=560)
        self._made = made
        self._offer = Offer((), {})
        form = Form()
        self.system = ComboBox(say("System"))
        self.system.setMinimumContentsLength(20)
        form.add(say("System"), self.system)
        self.prompts = ComboBox(say("Instructions"))
        self.prompts.fill(
            [
                (say("all published ones"), "all"),
                (say("the first of each task"), "first"),
                (say("the first three"), "1,2,3"),
            ],
            "all",
        )
        self.limit = spin_box(say("Texts of a data set"), 0, 1_000_000, 20)
        self.limit.setSpecialValueText(say("all"))
        line = QHBoxLayout()
        line.setSpacing(theme.M)
        for caption, field in (
            (say("Instructions"), self.prompts),
            (say("Texts of a data set"), self.limit),
        ):
            one = Form()
            one.add(caption, field)
            line.addLayout(one, 1)
        form.addRow(line)
        self.body.addLayout(form)
        self.body.addWidget(label(say("Tasks"), "strong"))
        self._list = Scroller()
        self._list.setMinimumHeight(theme.current().px(130))
        self._list.box.setSpacing(theme.S)
        self.tasks: dict[str, QCheckBox] = {}
        self.body.addWidget(self._list, 1)
        self.count_label = label("", "muted", wrap=True)
        self.body.addWidget(self.count_label)
        self.notice = Notice("", "warning")
        self.notice.hide()
        self.body.addWidget(self.notice)
        self.add_cancel()
        self.start_button = self.add_button(say("Start"), self._start, "primary")
        self.start_button.setEnabled(False)
        self.prompts.currentIndexChanged.connect(self._count)
        self.limit.valueChanged.connect(self._count)
        run_query(self, read_offer, self.session.workspace).success(self._fill)

    def _fill(self, offer: Offer) -> None:
        self._offer = offer
        self.system.fill(list(offer.systems))
        if offer.systems:
            self.system.setCurrentIndex(0)
        for task, sets in offer.texts.items():
            names = ", ".join(f"{name} {format_number(n)}" for name, n in sets.items())
            box = QCheckBox(f"{task} ({names})")
            box.setChecked(True)
            box.toggled.connect(self._count)
            self.tasks[task] = box
            self._list.box.addWidget(box)
        self._list.box.addStretch(1)
        self._count()

    @property
    def chosen(self) -> list[str]:
        """The tasks that are ticked."""
        return [task for task, box in self.tasks.items() if box.isChecked()]

    @Slot()
    def _count(self) -> None:
        prompts = self.prompts.value
        total = 0
        for task in self.chosen:
            known = len(prompts_of(task))
            tried = known if prompts == "all" else min(known, len(prompts.split(",")))
            limit = self.limit.value()
            for count in self._offer.texts[task].values():
                total += tried * (min(limit, count) if limit else count)
        self.start_button.setEnabled(total > 0 and bool(self.system.value))
        if not self._offer.texts:
            self.count_label.setText(
                say(
                    "Import a data set first: Import, 'Texts to edit'. JFLEG, ASSET and others are read."
                )
            )
        elif not self._offer.systems:
            self.count_label.setText(say("Add a system with a local model first."))
        else:
            self.count_label.setText(
                say(
                    "{outputs} will be written, greedily, beside the copy of the input.",
                    outputs=count_of(total, "text", "texts"),
                )
            )

    @Slot()
    def _start(self) -> None:
        self.start_button.setEnabled(False)
        run_query(
            self,
            partial(start_bench, self.session.workspace, self.session.person_id),
            self.system.value,
            self.chosen,
            self.prompts.value,
            self.limit.value(),
        ).success(self._on_made).failure(self._on_failed)

    def _on_made(self, run_ids: list[str]) -> None:
        self.accept()
        self._made(run_ids, True)

    def _on_failed(self, error: BaseException) -> None:
        self.start_button.setEnabled(True)
        if isinstance(error, KnownError):
            self.notice.set_text(str(error))
            self.notice.show()
        else:
            self.session.jobs.failed.emit(error, self)
