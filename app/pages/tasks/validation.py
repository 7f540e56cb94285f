"""Rating a task: nine questions with the meaning of each step in view, free text, who rates, and afterwards
what the others said."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from typing import Any

from PySide6.QtWidgets import QCheckBox, QFormLayout, QWidget

from app import theme
from app.operations import run_query, run_verb
from app.pages.documents.work import find_embedder
from app.pages.statistics.charts import BarChart
from app.strings import count_of, say, shorten
from app.widgets.basics import Scroller, label, row
from app.widgets.buttons import Button
from app.widgets.dialogs import Dialog
from app.widgets.inputs import spin_box, text_field
from app.widgets.notice import Notice
from app.widgets.rating import Axis, RatingPanel
from core.examples.task_ratings import (
    RATERS,
    AxisSummary,
    SimilarTask,
    comment_on_task,
    find_similar_tasks,
    profile_of,
    rate_task,
    save_profile,
    spend_time,
    summarise_task,
    task_ratings_of,
    unrate_task,
)
from core.storage.workspace import Workspace
from core.types import Task
from core.types.documents import TASK_AXES, RaterProfile, TaskRating

_NAMES = {
    "representativeness": "Representativeness",
    "complexity": "Complexity",
    "time": "Time required",
    "usefulness": "Usefulness of a model's help",
    "anonymity": "Anonymity",
    "bias": "Biased outcomes",
    "ethics": "Ethical considerations",
    "workforce": "Impact on the workforce",
    "accessibility": "Accessibility",
}
_ANCHORS: dict[str, tuple[str, str, str, str, str]] = {
    "representativeness": (
        "not part of the field",
        "rare in it",
        "done now and then",
        "common",
        "at the core of the field",
    ),
    "complexity": ("trivial", "easy", "some thought", "hard", "very hard, for experts only"),
    "time": (
        "under half an hour",
        "half an hour to two hours",
        "two hours to a day",
        "a day to a week",
        "more than a week",
    ),
    "usefulness": ("of no use", "of little use", "of some use", "useful", "very useful"),
    "anonymity": (
        "would always give somebody away",
        "would often",
        "might",
        "hardly ever",
        "never gives anybody away",
    ),
    "bias": ("not at all", "hardly", "possibly", "probably", "certainly"),
    "ethics": ("none", "slight ones", "some", "serious ones", "very serious ones"),
    "workforce": ("not at all", "hardly", "some", "many", "most of those who do it now"),
    "accessibility": ("not at all", "hardly", "somewhat", "clearly", "very much"),
}

#: Height of the dialog around its questions, and of the window that stays to be seen around it.
_AROUND = 230


def make_task_axes() -> tuple[Axis, ...]:
    """The nine questions with what each of 1 to 5 means."""
    return tuple(
        Axis(key, say(_NAMES[key]), say(question), tuple(map(say, _ANCHORS[key])))  # type: ignore[arg-type]
        for key, question in TASK_AXES.items()
    )


@dataclass(frozen=True, slots=True)
class _Read:
    task: Task
    mine: dict[str, TaskRating]
    profile: RaterProfile | None
    similar: list[SimilarTask]
    summaries: list[AxisSummary]


def _read(workspace: Workspace, models: Any, task_id: str, person: str) -> _Read:
    return _Read(
        workspace.get(Task, task_id),
        task_ratings_of(workspace, task_id, person),
        profile_of(workspace, person),
        find_similar_tasks(workspace, task_id, find_embedder(models)),
        summarise_task(workspace, task_id),
    )


class ValidationDialog(Dialog):
    """Saves as one goes; what others said shows once one's own nine answers are given."""

    def __init__(self, parent: QWidget, task_id: str) -> None:
        super().__init__(say("Rate the task"), parent, width=720)
        self._task_id = task_id
        self._began = time.monotonic()
        self._read: _Read | None = None
        self.objective = label("", "muted", wrap=True)
        self.body.addWidget(self.objective)
        self.similar = Notice("", "warning")
        self.similar.hide()
        self.body.addWidget(self.similar)
        pages = Scroller()
        pages.setMinimumHeight(min(theme.current().px(560), parent.window().height() - _AROUND))
        self.body.addWidget(pages, 1)
        self.panel = RatingPanel(make_task_axes())
        self.panel.rated.connect(self._rate)
        self.panel.cleared.connect(self._clear)
        pages.box.addWidget(self.panel)
        self.comments: dict[str, Any] = {}
        self.charts: dict[str, BarChart] = {}
        for key, bar in self.panel.bars.items():
            bar.layout().insertWidget(1, label(bar.axis.question, "muted", wrap=True))  # type: ignore[union-attr]
            meanings = " · ".join(f"{n} {words}" for n, words in enumerate(bar.axis.anchors, 1))
            bar.layout().addWidget(label(meanings, "small", wrap=True))  # type: ignore[union-attr]
            field = text_field(
                say("Comment: {question}", question=bar.axis.name), placeholder=say("Why?")
            )
            field.editingFinished.connect(partial(self._comment, key))
            bar.layout().addWidget(field)  # type: ignore[union-attr]
            self.comments[key] = field
            # Every meaning stands there already.
            bar.anchor_label.hide()
            chart = BarChart(say("All raters: {question}", question=bar.axis.name), tall=110)
            chart.hide()
            bar.layout().addWidget(chart)  # type: ignore[union-attr]
            self.charts[key] = chart
        self._build_profile(pages)
        pages.box.addStretch(1)
        self.state = label("", "small", wrap=True)
        self.body.addWidget(self.state)
        self.add_button(say("Close"), self.accept, "primary")
        for value in range(1, 6):
            self.session.shortcuts.bind(self, f"drafts.rate-{value}", partial(self._key, value))
        self.finished.connect(self._keep_time)
        self._refresh()

    def _build_profile(self, pages: Scroller) -> None:
        self.field = text_field(say("Your field"))
        self.qualification = text_field(
            say("Your qualification"), placeholder=say("Degree, board certificate, trade …")
        )
        self.years = spin_box(say("Years in the field"), 0, 80, 0)
        self.consent = QCheckBox(say("These facts may be exported with my answers"))
        pages.box.addWidget(label(say("Who rates"), "heading"))
        form = QFormLayout()
        form.addRow(say("Your field"), self.field)
        form.addRow(say("Qualification"), self.qualification)
        form.addRow(say("Years"), row(self.years, None))
        form.addRow("", self.consent)
        self.save_profile_button = Button(say("Save these facts"))
        self.save_profile_button.clicked.connect(self._save_profile)
        form.addRow("", row(self.save_profile_button, None))
        pages.box.addLayout(form)

    def _refresh(self) -> None:
        run_query(
            self,
            _read,
            self.session.workspace,
            self.session.models,
            self._task_id,
            self.session.person_id,
        ).success(self._fill)

    def _fill(self, found: _Read) -> None:
        first = self._read is None
        self._read = found
        self.objective.setText(found.task.objective)
        if found.similar:
            names = "; ".join(shorten(similar.task.objective, 60) for similar in found.similar[:3])
            self.similar.set_text(say("Nearly the same as: {names}", names=names))
        self.similar.setVisible(bool(found.similar))
        if first:
            self.panel.set_values({key: rating.value for key, rating in found.mine.items()})
            for key, rating in found.mine.items():
                self.comments[key].setText(rating.comment)
            if found.profile is not None:
                self.field.setText(found.profile.field)
                self.qualification.setText(found.profile.qualification)
                self.years.setValue(found.profile.years)
                self.consent.setChecked(found.profile.consent)
        else:
            # What was written before the question was answered goes with the answer.
            for key in found.mine:
                self._comment(key)
        complete = len(found.mine) == len(TASK_AXES)
        raters = max((summary.raters for summary in found.summaries), default=0)
        words = say(
            "{mine} of {count} answered; {raters} so far, {wanted} wanted.",
            mine=len(found.mine),
            count=len(TASK_AXES),
            raters=count_of(raters, say("rater"), say("raters")),
            wanted=RATERS,
        )
        if not complete:
            words += " " + say("What others said shows when you have answered all.")
        self.state.setText(words)
        for summary in found.summaries:
            chart = self.charts[summary.axis]
            chart.setVisible(complete)
            if complete:
                chart.set_bars([(str(n), count) for n, count in enumerate(summary.counts, 1)])

    def _rate(self, axis: str, value: int) -> None:
        run_verb(
            self,
            say("Rate the task"),
            rate_task,
            self._task_id,
            self.session.person_id,
            axis,
            value,
        ).success(lambda _outcome: self._refresh())

    def _clear(self, axis: str) -> None:
        run_verb(
            self,
            say("Take the rating back"),
            unrate_task,
            self._task_id,
            self.session.person_id,
            axis,
        ).success(lambda _outcome: self._refresh())

    def _comment(self, axis: str) -> None:
        text = self.comments[axis].text().strip()
        mine = self._read.mine.get(axis) if self._read is not None else None
        if mine is None or text == mine.comment:
            return
        run_verb(
            self,
            say("Comment"),
            comment_on_task,
            self._task_id,
            self.session.person_id,
            axis,
            text,
        ).success(lambda _outcome: self._refresh())

    def _save_profile(self) -> None:
        run_verb(
            self,
            say("Facts about a rater"),
            save_profile,
            self.session.person_id,
            field=self.field.text(),
            qualification=self.qualification.text(),
            years=self.years.value(),
            consent=self.consent.isChecked(),
        ).success(lambda _outcome: self.state.setText(say("Saved.")))

    def _key(self, value: int) -> None:
        self.panel.rate(value)

    def _keep_time(self) -> None:
        seconds = time.monotonic() - self._began
        workspace, person = self.session.workspace, self.session.person_id
        if not workspace.read_only:
            self.session.jobs.run(
                None,
                lambda: workspace.transact_job(
                    "Time", person, spend_time, "task", self._task_id, person, seconds
                ),
            )
