"""The editing benchmark's results: tables by instruction, box plots, and how metrics go together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyqtgraph as pg
from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app import theme
from app.pages.results.cards import ResultsView
from app.pages.results.export import Lines
from app.pages.results.figure import Figure, Labels, Words, bars, strokes
from app.pages.results.lists import RowsColumn, RowsTable
from app.pages.results.table import measure_title
from app.strings import format_number, say, shorten
from app.widgets.basics import Card, label
from app.widgets.inputs import ComboBox
from core.editing_bench.results import (
    BenchRow,
    Box,
    bench_boxes,
    bench_tables,
    metric_correlations,
)
from core.metrics.agreement import Agreement
from core.storage.workspace import Workspace

_ROW, _AXIS, _NAME = 34, 44, 40
_CELL = 46


@dataclass(frozen=True, slots=True)
class Bench:
    """Everything the view shows."""

    rows: tuple[BenchRow, ...]
    dataset: str
    metric: str
    by: str
    boxes: tuple[Box, ...]
    metrics: tuple[str, ...]
    correlations: Mapping[tuple[str, str], Agreement]


def has_bench(workspace: Workspace) -> bool:
    """Whether the benchmark was run and scored."""
    return bool(workspace.value("SELECT EXISTS (SELECT 1 FROM run_score WHERE deleted = 0)"))


def read_bench(workspace: Workspace, dataset: str, metric: str, by: str) -> Bench:
    """Tables, boxes and correlations of a data set; for a thread of the pool."""
    rows = bench_tables(workspace)
    datasets = list(dict.fromkeys(row.dataset for row in rows))
    if dataset not in datasets:
        dataset = datasets[0] if datasets else ""
    metrics = list(dict.fromkeys(row.metric for row in rows if row.dataset == dataset))
    if metric not in metrics:
        metric = metrics[0] if metrics else ""
    names, matrix = metric_correlations(workspace, dataset)
    boxes = bench_boxes(workspace, dataset, metric, by=by) if metric else []
    return Bench(tuple(rows), dataset, metric, by, tuple(boxes), tuple(names), matrix)


class BenchView(ResultsView):
    """A data set and a metric are chosen on top; below it tables and figures."""

    chosen = Signal()

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._wanted = ("", "", "prompt")

    @property
    def wanted(self) -> tuple[str, str, str]:
        """Data set, metric, and what a box stands for ('prompt' or 'system')."""
        return self._wanted

    def show_bench(self, found: Bench) -> None:
        """Show what was read."""
        self._wanted = (found.dataset, found.metric, found.by)
        cards: list[QWidget] = [self._choices(found), self._table(found), self._prompts(found)]
        if found.boxes:
            cards.append(BoxPlot(found.dataset, found.metric, found.boxes))
        if len(found.metrics) > 1:
            cards.append(HeatMap(found.dataset, found.metrics, found.correlations))
        self.fill(*cards)

    def _choices(self, found: Bench) -> QWidget:
        made = QWidget()
        line = QHBoxLayout(made)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(theme.S)
        self.dataset = ComboBox(say("Data set"))
        datasets = dict.fromkeys((row.dataset, row.task) for row in found.rows)
        self.dataset.fill([(f"{name}, {task}", name) for name, task in datasets], found.dataset)
        self.measure = ComboBox(say("Measure"))
        metrics = dict.fromkeys(row.metric for row in found.rows if row.dataset == found.dataset)
        self.measure.fill([(measure_title(name), name) for name in metrics], found.metric)
        self.by = ComboBox(say("A box for each"))
        self.by.fill(
            [(say("A box an instruction"), "prompt"), (say("A box a system"), "system")], found.by
        )
        for box in (self.dataset, self.measure, self.by):
            box.currentIndexChanged.connect(self._on_chosen)
            line.addWidget(box)
        line.addStretch(1)
        return made

    @Slot()
    def _on_chosen(self) -> None:
        self._wanted = (self.dataset.value, self.measure.value, self.by.value)
        self.chosen.emit()

    @staticmethod
    def _table(found: Bench) -> Card:
        table = RowsTable(
            (
                RowsColumn(say("System"), 0),
                RowsColumn(say("Instructions"), 10, right=True),
                RowsColumn(say("Average"), 8, right=True),
                RowsColumn(say("Highest"), 8, right=True),
                RowsColumn(say("Lowest"), 8, right=True),
                RowsColumn(say("Variation"), 8, right=True),
                RowsColumn(say("Copy"), 8, right=True),
                RowsColumn(say("Supervised"), 9, right=True),
            ),
            say("Editing benchmark"),
        )
        rows = _rows_of(found)
        table.rows.show(
            [
                (
                    row.system,
                    str(len(row.prompts)),
                    _value(row, row.mean),
                    _value(row, row.highest),
                    _value(row, row.lowest),
                    "–" if row.variation is None else format_number(row.variation, 3),
                    _value(row, row.copy),
                    "–" if row.published is None else format_number(row.published.score, 1),
                )
                for row in rows
            ]
        )
        card = Card(say("{metric} of {dataset}, 0 to 100", metric=measure_title(found.metric),
                        dataset=found.dataset))  # fmt: skip
        card.add(table)
        card.add(
            label(
                say(
                    "Corpus scores. Variation is the standard deviation over the mean of the "
                    "instructions. Supervised scores are the paper's, on whole test sets."
                ),
                "small",
                wrap=True,
            )
        )
        return card

    @staticmethod
    def _prompts(found: Bench) -> Card:
        table = RowsTable(
            (
                RowsColumn(say("Instruction"), 0),
                RowsColumn(say("System"), 18),
                RowsColumn(say("Score"), 8, right=True),
                RowsColumn(say("Texts"), 6, right=True),
                RowsColumn(say("Missing"), 7, right=True),
            ),
            say("Scores by instruction"),
            most=14,
        )
        lines = [
            (row, prompt) for row in _rows_of(found) for prompt in row.prompts if prompt.instruction
        ]
        lines.sort(key=lambda item: (item[1].number, item[0].system))
        table.rows.show(
            [
                (
                    f"{prompt.number}  {prompt.instruction}",
                    row.system,
                    _value(row, prompt.value),
                    str(prompt.n),
                    str(prompt.missing),
                )
                for row, prompt in lines
            ]
        )
        card = Card(say("By instruction"))
        card.add(table)
        return card


def _rows_of(found: Bench) -> list[BenchRow]:
    return [r for r in found.rows if (r.dataset, r.metric) == (found.dataset, found.metric)]


def _value(row: BenchRow, value: float | None) -> str:
    return "–" if value is None else format_number(value * row.scale, 1)


class BoxPlot(Figure):
    """Sentence scores: quartiles as a box, the median in it, whiskers to the extremes."""

    def __init__(self, dataset: str, metric: str, boxes: Sequence[Box]) -> None:
        super().__init__(say("Sentence scores, {metric}", metric=measure_title(metric)))
        self.file_name = f"{dataset} {metric} boxes"
        self.boxes = tuple(boxes)
        self.plot.setAccessibleDescription(
            "; ".join(
                say("{name}: median {median}", name=b.name, median=format_number(b.median, 2))
                for b in self.boxes
            )
        )
        theme.notifier().changed.connect(self._draw)
        self._draw()

    def lines(self) -> Lines:
        head = ["name", "lowest", "lower quartile", "median", "upper quartile", "highest", "n"]
        return [
            head,
            *(
                [b.name, b.low, b.lower_quartile, b.median, b.upper_quartile, b.high, b.n]
                for b in self.boxes
            ),
        ]

    def _draw(self) -> None:
        current = theme.current()
        self.plot.clear()
        self.plot.setFixedHeight(current.px(_ROW * len(self.boxes) + _AXIS))
        series = current.tokens.plot_series
        systems = list(dict.fromkeys(box.system for box in self.boxes))
        whiskers, medians, quartiles = [], [], []
        for place, box in enumerate(self.boxes):
            y = float(-place)
            color = QColor(series[systems.index(box.system) % len(series)])
            color.setAlpha(120)
            whiskers += [
                ((box.low, y), (box.lower_quartile, y)),
                ((box.upper_quartile, y), (box.high, y)),
            ]
            medians.append(((box.median, y - 0.25), (box.median, y + 0.25)))
            quartiles.append((box.lower_quartile, box.upper_quartile, y, color))
        ink = pg.mkPen(current.color("text"), width=1.4)
        self.plot.put(strokes(whiskers, ink))
        self.plot.put(bars(quartiles, 0.5, ink))
        self.plot.put(strokes(medians, pg.mkPen(current.color("text"), width=current.px(3))))
        low = min(0.0, *(box.low for box in self.boxes))
        high = max(box.high for box in self.boxes)
        self.plot.dress(
            [shorten(box.name, _NAME) for box in self.boxes],
            (low, high if high > low else low + 1.0),
        )


class HeatMap(Figure):
    """Pearson's correlation of every two metrics: the number in each cell, its strength as colour."""

    def __init__(
        self,
        dataset: str,
        metrics: Sequence[str],
        correlations: Mapping[tuple[str, str], Agreement],
    ) -> None:
        super().__init__(say("How metrics go together (Pearson)"))
        self.file_name = f"{dataset} correlations"
        self.measures = tuple(metrics)
        self.correlations = correlations
        self.plot.setAccessibleDescription(
            "; ".join(
                f"{measure_title(a)}, {measure_title(b)}: {self._text(a, b)}"
                for n, a in enumerate(self.measures)
                for b in self.measures[n + 1 :]
            )
        )
        theme.notifier().changed.connect(self._draw)
        self._draw()

    def lines(self) -> Lines:
        return [
            ["metric", *self.measures],
            *([a, *(self._value(a, b) for b in self.measures)] for a in self.measures),
        ]

    def _value(self, one: str, other: str) -> float | None:
        found = self.correlations.get((one, other)) or self.correlations.get((other, one))
        return found.value if found is not None else None

    def _text(self, one: str, other: str) -> str:
        value = self._value(one, other)
        return "–" if value is None else f"{value:.2f}"

    def _draw(self) -> None:
        current = theme.current()
        count = len(self.measures)
        self.plot.clear()
        self.plot.setFixedHeight(current.px(_CELL * count + _AXIS))
        cells, words = [], []
        for row, one in enumerate(self.measures):
            for column, other in enumerate(self.measures):
                value = self._value(one, other)
                color = QColor(current.color("accent" if (value or 0) >= 0 else "contradicted"))
                color.setAlpha(0 if value is None else round(30 + 180 * abs(value)))
                cells.append((column - 0.48, column + 0.48, float(-row), color))
                words.append(Words(column, -row, self._text(one, other), centred=True))
        self.plot.put(bars(cells, 0.96, pg.mkPen(current.color("border"), width=1)))
        self.plot.put(Labels(words, current.color("text")))
        self.plot.dress(
            [shorten(measure_title(name), _NAME) for name in self.measures],
            (-0.6, count - 0.4),
            columns=[(n, shorten(measure_title(name), 14)) for n, name in enumerate(self.measures)],
            grid=False,
        )
