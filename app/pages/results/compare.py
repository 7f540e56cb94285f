"""Two systems or runs side by side: what got better, what worse, whether chance explains it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QSplitter, QWidget

from app import theme
from app.operations import run_query
from app.pages.results.lists import RowsColumn, RowsTable
from app.pages.results.table import measure_title, measure_value
from app.strings import count_of, format_number, format_time, say
from app.widgets.basics import Card, label
from app.widgets.dialogs import Dialog
from app.widgets.inputs import ComboBox, Form
from app.widgets.reader import Mark, Reader, ScrollPair
from core.runs.compare import Comparison, PairedValue, Side, common_metrics, compare_sides, in_words
from core.runs.differences import Difference, Stretch, word_differences
from core.runs.measures import WITHOUT_BEST
from core.storage.workspace import Workspace
from core.types import Output, Run, SectionText, System


def _columns() -> tuple[RowsColumn, ...]:
    return (
        RowsColumn(say("Example"), 0),
        RowsColumn(say("First"), 9, right=True),
        RowsColumn(say("Second"), 9, right=True),
        RowsColumn(say("Change"), 9, right=True),
    )


def read_sides(workspace: Workspace) -> list[tuple[str, Side]]:
    """What can be compared: every system, and every run of a system that has several."""
    systems = workspace.find(System, order_by="name COLLATE NOCASE")
    runs: dict[str, list[Run]] = {}
    for run in workspace.find(Run, order_by="started"):
        runs.setdefault(run.system_id, []).append(run)
    sides = []
    for system in systems:
        own = runs.get(system.id, [])
        if own:
            sides.append((system.name, Side(system.id)))
        if len(own) > 1:
            for number, run in enumerate(own, 1):
                prompt = str(run.signature.get("instruction") or run.signature.get("prompt") or "")
                name = f"{system.name} · {say('run')} {number}, {format_time(run.started)}"
                sides.append((f"{name} · {prompt}" if prompt else name, Side(system.id, run.id)))
    return sides


#: An example's title and both sides' outputs. Bare tuples of text, here and for cells: the garbage
#: collector passes over them, where ten thousand objects would hold up the window each time it looks.
Outputs = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Changed:
    """Examples on which the second side is higher, or lower, as cells and as what they stand for."""

    cells: Sequence[tuple[str, ...]] = ()
    outputs: Sequence[Outputs] = ()


@dataclass(frozen=True, slots=True)
class Compared:
    """What the dialog shows: the measures both sides have, and the comparison on one of them.

    ``comparison`` is without its pairs, which are in ``better`` and ``worse``.
    """

    metrics: Sequence[str] = ()
    comparison: Comparison | None = None
    better: Changed = Changed()
    worse: Changed = Changed()


def read_comparison(workspace: Workspace, metric: str, first: Side, second: Side) -> Compared:
    """Compare two sides on a measure (the first they share where it is none), for a thread of the pool."""
    metrics = common_metrics(workspace, first, second)
    if not metrics:
        return Compared()
    found = compare_sides(workspace, metric if metric in metrics else metrics[0], first, second)
    better, worse = (_changed(found.metric, pairs) for pairs in (found.better, found.worse))
    return Compared(metrics, replace(found, better=(), worse=()), better, worse)


def _changed(metric: str, pairs: Sequence[PairedValue]) -> Changed:
    return Changed(
        tuple(_cells(metric, pair) for pair in pairs),
        tuple((pair.title, pair.first_output_id, pair.second_output_id) for pair in pairs),
    )


def _cells(metric: str, pair: PairedValue) -> tuple[str, ...]:
    change = measure_value(metric, abs(pair.gain))
    return (
        pair.title,
        measure_value(metric, pair.first),
        measure_value(metric, pair.second),
        f"{'+' if pair.gain > 0 else '−'}{change}",
    )


class CompareDialog(Dialog):
    """Opens at once and fills when read; every choice compares anew."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(say("Compare two"), parent, width=720)
        self.prefer_size(960, 600)
        self.comparison: Comparison | None = None
        self._generation = 0
        self._filling = False
        self.first = ComboBox(say("First"))
        self.second = ComboBox(say("Second"))
        self.measure = ComboBox(say("Measure"))
        line = QHBoxLayout()
        line.setSpacing(theme.M)
        for caption, box in (
            (say("First"), self.first),
            (say("Second"), self.second),
            (say("Measure"), self.measure),
        ):
            box.setMinimumContentsLength(10)
            box.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
            one = Form()
            one.add(caption, box)
            line.addLayout(one, 1)
            box.currentIndexChanged.connect(self._compare)
        self.body.addLayout(line)
        self.verdict = label("", "strong", wrap=True)
        self.body.addWidget(self.verdict)
        self.counts = label("", "muted")
        self.body.addWidget(self.counts)
        split = QSplitter(Qt.Orientation.Horizontal)
        split.setChildrenCollapsible(False)
        split.setHandleWidth(theme.M)
        self.better = RowsTable(_columns(), say("What got better"), most=6, grow=True)
        self.worse = RowsTable(_columns(), say("What got worse"), most=6, grow=True)
        self.cards: list[Card] = []
        for title, table in ((say("Better"), self.better), (say("Worse"), self.worse)):
            card = Card(title)
            card.add(table, 1)
            split.addWidget(card)
            self.cards.append(card)
            table.opened.connect(self.open_pair)
        self.body.addWidget(split, 1)
        self.open_button = self.add_button(say("See the difference"), self.open_current)
        self.open_button.setEnabled(False)
        self.add_button(say("Close"), self.accept, "primary")
        run_query(self, read_sides, self.session.workspace).success(self._fill)

    def _fill(self, sides: list[tuple[str, Side]]) -> None:
        self._filling = True
        self.first.fill(sides)
        self.second.fill(sides)
        if sides:
            self.first.setCurrentIndex(0)
            self.second.setCurrentIndex(min(1, len(sides) - 1))
        self._filling = False
        if len(sides) < 2:
            self.verdict.setText(say("There is only one system with outputs; add another."))
            return
        self._compare()

    @Slot()
    def _compare(self) -> None:
        if self._filling or self.first.value is None or self.second.value is None:
            return
        self._generation += 1
        query = run_query(
            self,
            read_comparison,
            self.session.workspace,
            self.measure.value or "",
            self.first.value,
            self.second.value,
        )
        query.success(partial(self._show, self._generation))

    def _show(self, generation: int, found: Compared) -> None:
        if generation != self._generation:
            return
        comparison = found.comparison
        self.comparison = comparison
        self._filling = True
        self.measure.fill(
            [(measure_title(m), m) for m in found.metrics],
            comparison.metric if comparison else None,
        )
        self._filling = False
        for table in (self.better, self.worse):
            table.rows.show(())
        self.open_button.setEnabled(comparison is not None)
        if comparison is None:
            self.counts.setText("")
            self.verdict.setText(say("The two have no measure in common; score both first."))
            return
        names = self.first.currentText(), self.second.currentText()
        self.verdict.setText(in_words(comparison, *names))
        plain = comparison.metric in WITHOUT_BEST
        for card, words, of_length in zip(
            self.cards, (say("Better"), say("Worse")), (say("Higher"), say("Lower")), strict=True
        ):
            card.set_title(of_length if plain else words)
        counts = (
            say("{better} higher, {worse} lower, {same} the same of {examples}")
            if plain
            else say("{better} better, {worse} worse, {same} the same of {examples}")
        )
        self.counts.setText(
            counts.format(
                better=format_number(len(found.better.cells)),
                worse=format_number(len(found.worse.cells)),
                same=format_number(comparison.same),
                examples=count_of(comparison.difference.n, "example", "examples"),
            )
        )
        self.better.rows.show(found.better.cells, found.better.outputs)
        self.worse.rows.show(found.worse.cells, found.worse.outputs)

    @Slot()
    def open_current(self) -> None:
        """Open the selected pair of the list with the keyboard, else the largest change."""
        tables = (self.worse, self.better) if self.worse.hasFocus() else (self.better, self.worse)
        for table in tables:
            pair = table.current_thing or table.rows.thing(0)
            if pair is not None:
                self.open_pair(pair)
                return

    @Slot(object)
    def open_pair(self, pair: Outputs) -> None:
        """Show both outputs with their differences."""
        names = self.first.currentText(), self.second.currentText()
        DifferenceDialog(self, pair, names).open()


def read_difference(
    workspace: Workspace, pair: Outputs
) -> tuple[tuple[SectionText, ...], tuple[SectionText, ...], Difference]:
    """Both texts and where they differ."""
    texts = []
    for output_id in pair[1:]:
        output = workspace.get(Output, output_id)
        texts.append(output.sections or (SectionText(title="", text=output.text),))
    return texts[0], texts[1], word_differences(texts[0], texts[1])


class DifferenceDialog(Dialog):
    """Two outputs of one example side by side; what only one of them says is marked."""

    def __init__(self, parent: QWidget, pair: Outputs, names: tuple[str, str]) -> None:
        super().__init__(pair[0] or say("Difference"), parent, width=760)
        self.prefer_size(1040, 640)
        split = QSplitter(Qt.Orientation.Horizontal)
        split.setChildrenCollapsible(False)
        split.setHandleWidth(theme.L)
        self.readers = []
        for name in names:
            reader = Reader(name)
            card = Card(name)
            card.add(reader, 1)
            split.addWidget(card)
            self.readers.append(reader)
        self.scrolling = ScrollPair(*self.readers)
        self.body.addWidget(split, 1)
        self.add_button(say("Close"), self.accept, "primary")
        run_query(self, read_difference, self.session.workspace, pair).success(self._fill)

    def _fill(
        self, found: tuple[tuple[SectionText, ...], tuple[SectionText, ...], Difference]
    ) -> None:
        first, second, difference = found
        for reader, sections, spans, kind in (
            (self.readers[0], first, difference.first, "deleted"),
            (self.readers[1], second, difference.second, "inserted"),
        ):
            reader.set_sections(sections)
            reader.set_marks(difference_marks(spans, kind))


def difference_marks(spans: Sequence[Stretch], kind: str) -> list[Mark]:
    """Stretches as marks: 'deleted' ones struck in the first text, 'inserted' underlined in the second."""
    return [
        Mark(
            span.section,
            span.start,
            span.end,
            ground=f"{kind}_ground",
            ink=kind,
            underline=kind == "inserted",
            strike=kind == "deleted",
        )
        for span in spans
    ]
