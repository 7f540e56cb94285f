"""CLEAR's numbers under a judge: the task with its errors, systems, items, outputs, tags and lengths."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app import theme
from app.operations import run_query, run_verb
from app.pages.checklists.tables import PlainTable, Point, ScatterCard
from app.session import Session
from app.strings import count_of, say, shorten
from app.widgets.basics import Card, Scroller, label, row
from app.widgets.buttons import Button
from app.widgets.inputs import ComboBox
from app.widgets.notice import Notice
from core.changes import Outcome
from core.checklists.analyses import (
    LengthBins,
    TagRow,
    length_bins,
    results_by_skill,
    results_by_tag,
    start_rubric_pair,
)
from core.checklists.runs import missing_outputs
from core.checklists.scores import (
    Judge,
    SampleResult,
    count_close,
    item_means,
    samples_of,
    task_score,
)
from core.checklists.trust import compare_judges, coverage_points, main_expert
from core.metrics.base import MetricScore
from core.runs.prompts import WHOLE_PROMPT
from core.storage.workspace import Workspace
from core.types import Run, System

_MEASURES = ("f1", "precision", "recall", "accuracy", "coverage")


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """All that is shown for one rubric and judge."""

    task: MetricScore
    systems: tuple[tuple[str, MetricScore], ...]
    samples: tuple[SampleResult, ...]
    names: Mapping[str, str]
    systems_of: Mapping[str, str]
    tags: tuple[TagRow, ...]
    skills: tuple[TagRow, ...]
    lengths: tuple[LengthBins, ...]
    warning: str
    model_systems: tuple[tuple[str, str], ...]


class NumbersView(QWidget):
    """Read anew when shown."""

    opened = Signal(str)
    said = Signal(str)

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self._hidden = False
        self._rubric_id = ""
        self._generation = 0
        scroller = Scroller()
        self.warning = Notice("", "warning")
        self.warning.hide()
        headings = [
            say("System"), say("F1"), say("Precision"), say("Recall"), say("Accuracy"),
            say("Coverage"), say("Outputs"), say("Open items"),
        ]  # fmt: skip
        self.task = PlainTable(say("CLEAR by system"), headings)
        task = Card(say("CLEAR"))
        task.add(self.task)
        self.notes = label("", "small", wrap=True)
        task.add(self.notes)
        self.coverage = ScatterCard(
            say("Coverage and correctness"),
            say("coverage"),
            say("correctness"),
            say(
                "A point is an output, a larger one several. Far right and low down is the danger: "
                "much is said, and wrong. The table of outputs has the same numbers."
            ),
            danger=say("much said, and wrong"),
        )
        nothing = say("No output has been mapped and judged by this judge yet.")
        self.items = PlainTable(
            say("By item"),
            [say("Item"), say("Recall"), say("Precision"), say("Outputs")],
            nothing,
        )
        self.outputs = PlainTable(
            say("By output"),
            [
                say("Output"), say("F1"), say("Precision"), say("Recall"), say("Coverage"),
                say("Correctness"), say("Open items"),
            ],
            nothing,
        )  # fmt: skip
        self.outputs.opened.connect(self.opened)
        self.groups = PlainTable(
            say("By group, tag and skill"),
            [say("Name"), say("Kind"), say("F1"), say("Items"), say("Verdicts")],
            say("Items with groups, tags or skills that have been judged are summed up here."),
        )
        self.lengths = PlainTable(
            say("By length"),
            [say("Length"), say("F1"), say("Words"), say("Outputs")],
            say("Outputs of short, medium and long texts are compared here."),
        )
        self.length_note = label("", "small", wrap=True)
        scroller.box.addWidget(self.warning)
        scroller.box.addWidget(task)
        scroller.box.addWidget(self.coverage)
        for title, table in (
            (say("Outputs"), self.outputs),
            (say("Items"), self.items),
            (say("Groups, tags and skills"), self.groups),
        ):
            card = Card(title)
            card.add(table)
            card.add(table.empty)
            scroller.box.addWidget(card)
        card = Card(say("Length"))
        card.add(self.lengths)
        card.add(self.lengths.empty)
        card.add(self.length_note)
        scroller.box.addWidget(card)
        scroller.box.addWidget(self._make_pair())
        scroller.box.addStretch(1)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, theme.S, 0, 0)
        outer.addWidget(scroller)

    def set_hidden(self, hidden: bool) -> None:
        """Whether names are hidden since one works blind."""
        self._hidden = hidden

    def show_rubric(self, rubric_id: str, judge: Judge) -> None:
        """Reckon and show."""
        self._rubric_id = rubric_id
        self._generation += 1
        generation = self._generation

        def take(found: Numbers) -> None:
            if generation == self._generation:
                self._show(found)

        run_query(self, read_numbers, self.session.workspace, rubric_id, judge).success(take)

    @Slot()
    def start_pair(self) -> None:
        """Start two runs, one of which is shown the rubric."""
        if self.system.value and self._rubric_id:
            run_verb(
                self,
                say("Start rubric experiment"),
                start_rubric_pair,
                self.system.value,
                self._rubric_id,
            ).success(self._on_pair)

    def _make_pair(self) -> Card:
        self.pair = Card(say("Does the rubric in the prompt help?"))
        words = say(
            "Two runs of a system on all examples of this task: one as it is, one that is shown the rubric. "
            "Map and judge both, and compare them above."
        )
        self.pair.add(label(words, "muted", wrap=True))
        self.system = ComboBox(say("System"))
        self.pair_button = Button(say("Start both runs"), icon="runs")
        self.pair_button.clicked.connect(self.start_pair)
        self.pair.add(row(self.system, self.pair_button, None))
        self.no_system = label(
            say("There is no model system with the whole prompt yet: add one under Runs."),
            "muted",
            wrap=True,
        )
        self.pair.add(self.no_system)
        return self.pair

    def _on_pair(self, outcome: Outcome[tuple[Run, Run]]) -> None:
        from app.pages.runs.runner import runner_of

        runner = runner_of(self.session)
        for run in outcome.value:
            runner.start(run.id)
        self.said.emit(say("Both runs are under way; see Runs."))

    def _show(self, found: Numbers) -> None:
        self.system.fill(list(found.model_systems), self.system.value)
        for widget in (self.system, self.pair_button):
            widget.setVisible(bool(found.model_systems))
        self.no_system.setVisible(not found.model_systems)
        self.pair.setVisible(not self._hidden)
        self.warning.set_text(found.warning)
        self.warning.setVisible(bool(found.warning))
        rows = [_score_row(say("All"), found.task)]
        if not self._hidden:
            rows += [_score_row(name, score) for name, score in found.systems]
        self.task.load(rows)
        notes = list(found.task.notes)
        without = found.task.components.get("without_na")
        if without and without.get("f1") is not None:
            notes.append(
                say("Without items that are N/A on both sides F1 is {f1:.3f}.", f1=without["f1"])
            )
        close = count_close(found.samples)
        if close:
            words = count_of(close, "verdict is", "verdicts are")
            notes.append(say("{words} within 0.01 of even: rounding could turn them.", words=words))
        if found.task.unscored:
            notes.append(found.task.unscored)
        void = sum(sample.is_void for sample in found.samples)
        if void:
            words = count_of(void, "output has", "outputs have")
            notes.append(
                say(
                    "{words} nothing on either side on any item, which CLEAR counts as all right: "
                    "look whether the mapper is fit for the work.",
                    words=words,
                )
            )
        self.notes.setText(" ".join(notes))
        points = coverage_points(found.samples)
        series = self._series(found)
        correct = {point.output_id: point.correctness for point in points}
        self.coverage.load(
            [
                Point(
                    point.coverage,
                    point.correctness,
                    say(
                        "{name}: coverage {x:.2f}, correctness {y:.2f}",
                        name=self._name(found, point.output_id),
                        x=point.coverage,
                        y=point.correctness,
                    ),
                    series.index(found.systems_of.get(point.output_id, "")) if series else 0,
                )
                for point in points
            ],
            series,
            say("No output has been judged by this judge yet."),
        )
        self.outputs.load(
            [
                (
                    self._name(found, sample.target.output_id),
                    _number(sample.score.value),
                    _number(sample.score.components.get("precision")),
                    _number(sample.score.components.get("recall")),
                    _number(sample.score.components.get("coverage")),
                    _number(correct.get(sample.target.output_id)),
                    str(sample.score.components.get("unscored_items", 0)),
                )
                for sample in found.samples
            ],
            [sample.target.output_id for sample in found.samples],
        )
        self.items.load(
            [
                (
                    item.title,
                    _interval(recall.mean, recall.low, recall.high),
                    _interval(precision.mean, precision.low, precision.high),
                    str(recall.n),
                )
                for item, recall, precision in item_means(found.samples).values()
            ]
        )
        self.groups.load(
            [
                (row.name, say(row.kind), _number(row.f1), str(row.items), str(row.verdicts))
                for row in (*found.tags, *found.skills)
            ]
        )
        self.lengths.load(
            [
                (
                    f"{say(bins.side)}: {say(row.name)}",
                    _number(row.f1),
                    f"{row.low}–{row.high}",
                    str(row.outputs),
                )
                for bins in found.lengths
                for row in bins.rows
            ]
        )
        self.length_note.setText(" ".join(bins.reason for bins in found.lengths if bins.reason))

    def _series(self, found: Numbers) -> list[str]:
        """Systems by name where they may be told apart."""
        if self._hidden:
            return []
        return sorted({found.systems_of.get(s.target.output_id, "") for s in found.samples})

    def _name(self, found: Numbers, output_id: str) -> str:
        name = found.names.get(output_id, "")
        return shorten(name.split("\t")[1 if self._hidden else 0], 60) if name else output_id


def read_numbers(workspace: Workspace, rubric_id: str, judge: Judge) -> Numbers:
    """All numbers of a rubric under a judge."""
    samples = tuple(samples_of(workspace, rubric_id, judge))
    rows = workspace.query(
        "SELECT o.id, o.run_id, o.pseudonym, e.title, y.name AS system FROM output o"
        " JOIN example e ON e.id = o.example_id JOIN run r ON r.id = o.run_id"
        " JOIN system y ON y.id = r.system_id JOIN rubric u ON u.task_id = e.task_id"
        " WHERE u.id = ? AND o.deleted = 0",
        (rubric_id,),
    )
    names = {
        row["id"]: f"{row['title']} · {row['system']}\t{row['title']} · {row['pseudonym']}"
        for row in rows
    }
    system_of = {row["id"]: row["system"] for row in rows}
    runs: dict[str, set[str]] = {}
    for found in rows:
        runs.setdefault(found["system"], set()).add(found["run_id"])
    mapped = {system_of.get(sample.target.output_id, "") for sample in samples}
    systems = []
    everywhere = 0
    for system in sorted(filter(None, mapped)):
        missing = sum(missing_outputs(workspace, rubric_id, run) for run in runs[system])
        everywhere += missing
        own = [s for s in samples if system_of.get(s.target.output_id) == system]
        systems.append((system, task_score(own, judge, missing)))
    return Numbers(
        task=task_score(samples, judge, everywhere),
        systems=tuple(systems),
        samples=samples,
        names=names,
        systems_of=system_of,
        tags=tuple(results_by_tag(samples)),
        skills=tuple(results_by_skill(workspace, rubric_id, samples)),
        lengths=tuple(length_bins(workspace, samples)),
        warning=_warn(workspace, rubric_id, judge),
        model_systems=tuple(
            (system.name, system.id)
            for system in workspace.find(
                System, "kind = 'model' AND prompt = ?", (WHOLE_PROMPT,), order_by="name"
            )
        ),
    )


def _warn(workspace: Workspace, rubric_id: str, judge: Judge) -> str:
    """What to say before anybody relies on a judge that is no person."""
    if judge.kind in ("person", "adjudication"):
        return ""
    expert = main_expert(workspace, rubric_id)
    if expert is None:
        return say("Nobody has checked this judge against a person: see Trust.")
    trust = compare_judges(workspace, rubric_id, judge, expert, samples=200)
    return "" if trust.belief == "believe" else trust.words


def _score_row(name: str, score: MetricScore) -> tuple[str, ...]:
    parts: Mapping[str, Any] = score.components
    errors = parts.get("errors") or {}
    cells = []
    for key in _MEASURES:
        value, error = parts.get(key), errors.get(key)
        text = _number(value)
        if value is not None and error is not None:
            text += f" ± {error:.3f}"
        cells.append(text)
    return (name, *cells, str(int(parts.get("n", 0))), str(parts.get("unscored_items", 0)))


def _number(value: Any) -> str:
    return "–" if value is None else f"{float(value):.3f}"


def _interval(mean: float | None, low: float | None, high: float | None) -> str:
    if mean is None:
        return "–"
    return f"{mean:.2f}" if low is None or high is None else f"{mean:.2f} [{low:.2f}, {high:.2f}]"
