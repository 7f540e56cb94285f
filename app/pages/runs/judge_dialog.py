"""Which language models judge which runs, in pairs or on the five axes."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QCheckBox, QWidget

from app import theme
from app.operations import run_query
from app.strings import count_of, format_time, say
from app.widgets.basics import Scroller, label
from app.widgets.dialogs import Dialog
from app.widgets.inputs import ComboBox, Form
from core.judges.engine import Asked, plan_judging
from core.storage.workspace import Workspace
from core.types import Run, System

Choices = tuple[list[tuple[str, str]], list[tuple[str, str]]]


def read_choices(workspace: Workspace) -> Choices:
    """Judges (systems with a model) and runs with finished outputs, as (text, id) pairs."""
    judges = [
        (system.name, system.id)
        for system in workspace.find(System, "kind = 'model'", order_by="name COLLATE NOCASE")
    ]
    names = {system.id: system.name for system in workspace.find(System)}
    runs = []
    for run in workspace.find(Run, order_by="started DESC"):
        done = workspace.value(
            "SELECT count(*) FROM output WHERE run_id = ? AND state = 'done' AND deleted = 0",
            (run.id,),
        )
        if done and run.signature.get("bench") != "editeval":
            text = f"{names.get(run.system_id, '')}, {format_time(run.started)}"
            runs.append((f"{text}, {count_of(done, 'output', 'outputs')}", run.id))
    return judges, runs


class JudgeDialog(Dialog):
    """Hands runs, judges and kind over."""

    def __init__(self, parent: QWidget, chosen: Callable[..., object]) -> None:
        super().__init__(say("Judge with language models"), parent, width=560)
        self._chosen = chosen
        self._generation = 0
        form = Form()
        self.kind = ComboBox(say("How"))
        self.kind.fill(
            [
                (say("Pairs: which of two is better, in both orders"), "pair"),
                (say("Ratings: 1 to 5 on the five axes"), "axis"),
            ],
            "pair",
        )
        form.add(say("How"), self.kind)
        self.body.addLayout(form)
        self.judges: dict[str, QCheckBox] = {}
        self.runs: dict[str, QCheckBox] = {}
        self._judge_list, self._run_list = Scroller(), Scroller()
        for caption, scroller in ((say("Judges"), self._judge_list), (say("Runs"), self._run_list)):
            scroller.box.setSpacing(theme.S)
            scroller.setMinimumHeight(theme.current().px(110))
            self.body.addWidget(label(caption, "strong"))
            self.body.addWidget(scroller, 1)
        self.count_label = label("", "muted", wrap=True)
        self.body.addWidget(self.count_label)
        self.body.addWidget(
            label(
                say(
                    "Judges see the task, the input and the outputs, no names and no reference. "
                    "Small models judge poorly: look at their agreement with people."
                ),
                "small",
                wrap=True,
            )
        )
        self.add_cancel()
        self.start_button = self.add_button(say("Judge"), self._start, "primary")
        self.start_button.setEnabled(False)
        self.kind.currentIndexChanged.connect(self._count)
        run_query(self, read_choices, self.session.workspace).success(self._fill)

    def _fill(self, choices: Choices) -> None:
        for entries, boxes, scroller, checked in (
            (choices[0], self.judges, self._judge_list, 1),
            (choices[1], self.runs, self._run_list, 2),
        ):
            for number, (text, entry_id) in enumerate(entries):
                box = QCheckBox(text)
                box.setChecked(number < checked)
                box.toggled.connect(self._count)
                boxes[entry_id] = box
                scroller.box.addWidget(box)
            scroller.box.addStretch(1)
        self._count()

    @property
    def judge_ids(self) -> list[str]:
        """The judges that are ticked."""
        return [key for key, box in self.judges.items() if box.isChecked()]

    @property
    def run_ids(self) -> list[str]:
        """The runs that are ticked."""
        return [key for key, box in self.runs.items() if box.isChecked()]

    @Slot()
    def _count(self) -> None:
        self._generation += 1
        generation = self._generation

        def take(asked: list[Asked]) -> None:
            if generation == self._generation:
                self._show_count(len(asked))

        run_query(
            self,
            plan_judging,
            self.session.workspace,
            self.run_ids,
            self.judge_ids,
            self.kind.value,
        ).success(take)

    def _show_count(self, count: int) -> None:
        self.start_button.setEnabled(count > 0)
        if count:
            self.count_label.setText(
                say("{count} will be asked for.", count=count_of(count, "answer", "answers"))
            )
        elif not self.judges:
            self.count_label.setText(say("Add a system with a local model first; it can judge."))
        else:
            self.count_label.setText(
                say("Nothing to judge: pairs need two runs that wrote for the same examples.")
            )

    @Slot()
    def _start(self) -> None:
        runs, judges, kind = self.run_ids, self.judge_ids, self.kind.value
        self.accept()
        self._chosen(runs, judges, kind)
