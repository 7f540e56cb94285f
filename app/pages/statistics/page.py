"""Statistics of examples: before and after editing, edits, contamination, splits, export."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QWidget

from app import theme
from app.operations import run_job, run_query, run_verb
from app.pages.base import Command
from app.pages.base import Page as BasePage
from app.pages.drafts.side_tabs import edit_type_words
from app.pages.statistics.charts import BarChart, bin_counts
from app.strings import count_of, format_number, say, shorten
from app.widgets.basics import Card, Scroller, clear_layout, label, row
from app.widgets.buttons import Button
from app.widgets.dialogs import choose_folder, choose_new_file
from app.widgets.empty import EmptyState
from app.widgets.inputs import captioned, decimal_box, spin_box, text_field
from core.changes import Changes, Outcome
from core.examples.statistics import (
    DEV,
    TEST_SEEN,
    TEST_UNSEEN,
    ContaminationReport,
    ExampleStatistics,
    Pair,
    check_contamination,
    export_studied,
    split_examples,
    study_examples,
)
from core.exchange.records import parse_map
from core.ports import Cancellation, ProgressCallback
from core.storage.workspace import Workspace

_LISTED = 12
_ONE_COLUMN_BELOW = 860


class Page(BasePage):
    """Cards in two columns."""

    name = "statistics"
    title = "Statistics"
    kinds = ("example", "post_edit", "change_note", "draft_rating")

    def build(self) -> None:
        self._generation = 0
        self.export_button = Button(say("Export as JSONL"), icon="export")
        self.export_button.clicked.connect(self.export)
        self.action_row.addWidget(self.export_button)
        self.scroller = Scroller()
        self.grid = QGridLayout()
        self.grid.setSpacing(theme.M)
        self.scroller.box.addLayout(self.grid)
        self.scroller.box.addStretch(1)
        self.body.addWidget(self.scroller, 1)
        self._build_pairs()
        self._build_edits()
        self._build_types()
        self._build_split()
        self._build_contamination()
        self._build_export()
        self._cards = (
            self.pairs_card,
            self.edits_card,
            self.types_card,
            self.split_card,
            self.contamination_card,
            self.export_card,
        )
        self._columns = 0
        self._lay_out(2)

    # -- building ------------------------------------------------------------------------

    def _lay_out(self, columns: int) -> None:
        """Put the cards into one column or two."""
        if columns == self._columns:
            return
        self._columns = columns
        for place, card in enumerate(self._cards):
            self.grid.addWidget(card, place // columns, place % columns)
        for column in range(2):
            self.grid.setColumnStretch(column, 1 if column < columns else 0)

    def _build_pairs(self) -> None:
        self.pairs_card = Card(say("Draft and example"), say("means, before and after editing"))
        self.pairs = QGridLayout()
        self.pairs.setHorizontalSpacing(theme.L)
        self.pairs.setVerticalSpacing(theme.S)
        self.pairs.setColumnStretch(0, 1)
        self.pairs_card.add(self.pairs)
        self.note = label(say("Measuring …"), "small", wrap=True)
        self.pairs_card.add(self.note)

    def _build_edits(self) -> None:
        self.edits_card = Card(
            say("Words edited"),
            say("examples by how many words were put in, taken out or replaced"),
        )
        self.histogram = BarChart(say("Examples by word-level edit distance"))
        self.edits_note = label("", "small", wrap=True)
        self.edits_card.add(self.histogram)
        self.edits_card.add(self.edits_note)
        self.edits_card.box.addStretch(1)

    def _build_types(self) -> None:
        self.types_card = Card(say("Types of edits"))
        self.types = BarChart(say("Changes by type"))
        self.types_note = label("", "small", wrap=True)
        self.types_card.add(self.types)
        self.types_card.add(self.types_note)
        self.types_card.box.addStretch(1)

    def _build_split(self) -> None:
        self.split_card = Card(say("Development and test"))
        self.dev = decimal_box(say("Share for development"), 0, 1, 0.5)
        self.unseen = decimal_box(say("Share of tasks kept unseen"), 0, 1, 0.3)
        self.seed = spin_box(say("Seed"), 0, 2**31 - 1, 0)
        for words, box in (
            (say("Share of a task's examples for development, 0 to 1"), self.dev),
            (say("Share of each field's tasks kept unseen, 0 to 1"), self.unseen),
            (say("Seed (the same gives the same split)"), self.seed),
        ):
            self.split_card.add(captioned(words, box))
        self.split_button = Button(say("Split the examples"))
        self.split_button.clicked.connect(self.split)
        self.split_note = label("", "muted", wrap=True)
        self.split_card.add(row(self.split_button, None))
        self.split_card.add(self.split_note)

    def _build_contamination(self) -> None:
        self.contamination_card = Card(say("Contamination"))
        self.contamination_note = label(
            say(
                "Share of each example's 8-word stretches that stand in texts of a folder, such as "
                "what a model may have been trained on. From 70 % on it counts as contaminated."
            ),
            "muted",
            wrap=True,
        )
        self.folder_button = Button(say("Compare with a folder"), icon="open")
        self.folder_button.clicked.connect(self.choose_corpus)
        self.contamination_card.add(self.contamination_note)
        self.contamination_card.add(row(self.folder_button, None))

    def _build_export(self) -> None:
        self.export_card = Card(say("Names in the exported file"))
        self.mapping = text_field(
            say("Other names"), placeholder=say("task=task_id, output=target")
        )
        self.export_card.add(
            label(
                say(
                    "The file has our names: id, task, objective, field, title, input, output, split, "
                    "meta, draft, evidence, edits, ratings. Give others as ours=theirs."
                ),
                "muted",
                wrap=True,
            )
        )
        self.export_card.add(self.mapping)

    # -- the page ------------------------------------------------------------------------

    def refresh(self, changes: Changes | None) -> None:
        self._generation += 1
        generation = self._generation

        def take(found: ExampleStatistics) -> None:
            if generation == self._generation:
                self._show(found)

        run_query(self, study_examples, self.session.workspace).success(take)

    def commands(self) -> Sequence[Command]:
        return [
            Command(say("Export examples as JSONL"), self.export, "", self.title),
            Command(say("Compare with a folder"), self.choose_corpus, "", self.title),
        ]

    def first_focus(self) -> QWidget | None:
        return self.export_button

    def split(self) -> None:
        """Divide the examples."""
        run_verb(
            self,
            say("Split examples"),
            split_examples,
            dev_share=self.dev.value(),
            unseen_share=self.unseen.value(),
            seed=self.seed.value(),
        ).success(self._split)

    def choose_corpus(self) -> None:
        """Let the person choose a folder of texts to compare with."""
        choose_folder(self, say("Compare with a folder"), lambda paths: self.compare(paths[0]))

    def compare(self, folder: Path) -> None:
        """Compare all examples with the texts in a folder."""
        run_job(
            self,
            say("Comparing"),
            _compare,
            self.session.workspace,
            folder,
            noun=say("files"),
        ).success(self._show_contamination)

    def export(self) -> None:
        """Let the person name a file and write it."""
        choose_new_file(
            self,
            say("Export as JSONL"),
            say("JSON lines (*.jsonl)"),
            "examples.jsonl",
            lambda paths: self.export_to(paths[0]),
        )

    def export_to(self, path: Path) -> None:
        """Write the examples to a file."""
        text = self.mapping.text()

        def write() -> int:
            return export_studied(self.session.workspace, path, parse_map(text))

        run_query(self, write).success(
            lambda count: self.said.emit(
                say(
                    "{examples} written to {name}, not encrypted.",
                    examples=count_of(count, say("example"), say("examples")),
                    name=path.name,
                )
            )
        )

    # -- showing -------------------------------------------------------------------------

    def _show(self, found: ExampleStatistics) -> None:
        self.set_subtitle(count_of(found.examples, say("example"), say("examples")))
        self.export_button.setEnabled(bool(found.examples))
        if not found.examples:
            self.show_empty(
                EmptyState(
                    "results",
                    say("No examples yet"),
                    say(
                        "Here you see what editing did to drafts: sections, lengths, reading grade, "
                        "how many words changed and how. Make an example from documents first."
                    ),
                    (say("Go to Drafts"), lambda: self.go.emit("drafts", None)),
                    (say("Go to Examples"), lambda: self.go.emit("examples", None)),
                )
            )
            return
        self.show_empty(None)
        clear_layout(self.pairs)
        for column, words in enumerate(("", say("Draft"), say("Example"))):
            self.pairs.addWidget(label(words, "small"), 0, column)
        rows: tuple[tuple[str, Pair, int], ...] = (
            (say("Sections present, %"), _hundred(found.sections), 0),
            (say("Words of output"), found.words, 0),
            (say("Reading grade (Flesch-Kincaid)"), found.grade, 1),
            (say("Likeness to the passages, 0 to 1"), found.likeness, 2),
            (say("Words of input"), Pair(None, found.input_words), 0),
        )
        for place, (words, pair, decimals) in enumerate(rows, 1):
            self.pairs.addWidget(label(words), place, 0)
            for column, value in enumerate((pair.before, pair.after), 1):
                text = "–" if value is None else format_number(value, decimals)
                cell = label(text, "strong")
                cell.setAccessibleName(
                    f"{words}, {say('draft') if column == 1 else say('example')}: {text}"
                )
                self.pairs.addWidget(cell, place, column)
        words = say(
            "{edited} of {count} made from drafts; {tasks} of {fields}.",
            edited=format_number(found.edited),
            count=count_of(found.examples, say("example"), say("examples")),
            tasks=count_of(found.tasks, say("task"), say("tasks")),
            fields=count_of(found.fields, say("field"), say("fields")),
        )
        if found.ratings:
            means = ", ".join(f"{say(axis)} {value:.1f}" for axis, value in found.ratings.items())
            words += " " + say("Drafts before editing, 1 to 5: {means}.", means=means)
        if found.minutes:
            words += " " + say(
                "{minutes} minutes of editing an example.", minutes=f"{found.minutes:.1f}"
            )
        self.note.setText(words)
        bars = bin_counts(found.distances)
        self.histogram.set_bars(bars)
        self.histogram.setVisible(bool(bars))
        mean = sum(found.shares) / len(found.shares) if found.shares else None
        self.edits_note.setText(
            say("No example was made from a draft yet.")
            if mean is None
            else say("On average {share} % of the words were edited.", share=f"{100 * mean:.0f}")
        )
        names = edit_type_words()
        bars = [(names[k], n) for k, n in sorted(found.edit_types.items())]
        self.types.set_bars(bars)
        self.types.setVisible(bool(bars))
        total = sum(found.edit_types.values())
        self.types_note.setText(
            say(
                "{confirmed} of {changes} have a type that a person confirmed; the others' is suggested.",
                confirmed=format_number(found.confirmed_types),
                changes=count_of(total, say("change"), say("changes")),
            )
            if total
            else say("No draft was changed yet.")
        )
        self._show_splits(found.splits)

    def _show_splits(self, counts: dict[str, int]) -> None:
        names = {
            DEV: say("development"),
            TEST_SEEN: say("test, tasks seen in development"),
            TEST_UNSEEN: say("test, unseen tasks"),
            "none": say("in no split"),
        }
        self.split_note.setText(
            "\n".join(f"{names.get(name, name)}: {count}" for name, count in sorted(counts.items()))
        )

    def _split(self, outcome: Outcome[dict[str, int]]) -> None:
        self._show_splits(outcome.value)

    def _show_contamination(self, report: ContaminationReport) -> None:
        worst = sorted(
            (entry for entry in report.shares if entry[2] is not None),
            key=lambda entry: -(entry[2] or 0.0),
        )[:_LISTED]
        lines = [
            say(
                "{count} of {examples} contaminated, compared with {files}.",
                count=format_number(report.contaminated),
                examples=count_of(len(report.shares), say("example"), say("examples")),
                files=count_of(report.files, say("file"), say("files")),
            ),
            *(f"{100 * (share or 0):.0f} %  {shorten(title, 60)}" for _id, title, share in worst),
        ]
        unscored = sum(share is None for _, _, share in report.shares)
        if unscored:
            lines.append(say("{count} with fewer than eight words left out.", count=unscored))
        if report.skipped:
            lines.append(say("Not read: {files}", files="; ".join(report.skipped[:3])))
        self.contamination_note.setText("\n".join(lines))

    # -- Qt ------------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._lay_out(1 if event.size().width() < theme.current().px(_ONE_COLUMN_BELOW) else 2)


def _hundred(pair: Pair) -> Pair:
    return Pair(*(None if value is None else 100 * value for value in (pair.before, pair.after)))


def _compare(
    workspace: Workspace, folder: Path, *, progress: ProgressCallback, cancel: Cancellation
) -> ContaminationReport:
    return check_contamination(workspace, folder, progress=progress, cancel=cancel)
