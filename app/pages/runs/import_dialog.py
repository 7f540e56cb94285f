"""Importing outputs that other programs wrote: the file's columns set beside ours, previewed, remembered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QWidget

from app import theme
from app.operations import run_query
from app.pages.results.lists import RowsColumn, RowsTable
from app.strings import count_of, say, shorten
from app.widgets.basics import Scroller, label
from app.widgets.buttons import Button
from app.widgets.dialogs import Dialog, choose_files
from app.widgets.inputs import ComboBox
from app.widgets.notice import Notice
from core.editing_bench.bench import import_edits
from core.editing_bench.formats import read_edits
from core.errors import KnownError
from core.exchange.imports import ImportReport, import_records, read_import
from core.exchange.mappings import (
    TARGETS,
    guess_from_values,
    missing_targets,
    remember_mapping,
    suggest_mapping,
)
from core.exchange.records import Record, Records, Skipped
from core.storage.transaction import Transaction
from core.storage.workspace import Workspace

_KINDS = (
    ("outputs", "Outputs of other systems"),
    ("ratings", "Ratings of people"),
    ("preferences", "Preferences of people"),
    ("edits", "Texts to edit (JFLEG, ASSET …)"),
)
_SHOWN, _SHOWN_SMALL = 5, 2
#: So many rows tell what their columns are.
_GUESSED = 50
#: Our names for people, as choices for a column.
_TARGET_WORDS = {
    "example": "the example: its title or id",
    "system": "the system's name",
    "output": "the text of the output",
    "person": "the person's name",
    "axis": "the axis, such as depth",
    "value": "the rating from 1 to 5",
    "left": "the system on the left",
    "right": "the system on the right",
    "choice": "left, right or tie",
    "strength": "the strength from 1 to 5",
    "comment": "the comment",
}


@dataclass(frozen=True, slots=True)
class Preview:
    """What a file holds, and the mapping that is remembered or suggested for it."""

    columns: tuple[str, ...]
    mapping: dict[str, str]
    found: Records


def read_preview(workspace: Workspace, path: Path, kind: str) -> Preview:
    """Read a file without writing anything; for a thread of the pool."""
    if kind == "edits":
        edits = read_edits(path)
        records = [
            Record(r.line, {"id": r.id, "input": r.input, "edits": r.edits[0]})
            for r in edits.records[:_SHOWN]
        ]
        return Preview((), {}, Records(records, edits.skipped))
    found, _format = read_import(path, kind)
    columns: dict[str, None] = {}
    for record in found.records[:200]:
        columns.update(dict.fromkeys(record.values))
    mapping = suggest_mapping(workspace, kind, list(columns))
    if kind == "outputs":
        rows = [record.values for record in found.records[:_GUESSED]]
        mapping = guess_from_values(workspace, rows, mapping)
    return Preview(tuple(columns), mapping, found)


def import_mapped(
    workspace: Workspace,
    person_id: str,
    path: Path,
    kind: str,
    mapping: dict[str, str],
    columns: tuple[str, ...],
) -> ImportReport:
    """Import with a mapping, and remember it, in one transaction that undo takes back."""
    if kind == "edits":
        count, skipped = workspace.transact(
            say("Import {name}", name=path.name), person_id, import_edits, read_edits(path)
        ).value
        return ImportReport(path.name, {"text to edit": count} if count else {}, skipped)
    found, _format = read_import(path, kind, mapping=mapping)

    def write(tx: Transaction) -> ImportReport:
        if mapping:
            remember_mapping(tx, kind, columns, mapping)
        return import_records(tx, path.name, kind, found)

    return workspace.transact(say("Import {name}", name=path.name), person_id, write).value


class ImportOutputsDialog(Dialog):
    """A file, what its columns mean, and its first rows as they would be read."""

    def __init__(self, parent: QWidget, done: Callable[[ImportReport], object]) -> None:
        super().__init__(say("Import outputs, ratings, preferences, texts"), parent, width=680)
        self.prefer_size(760, 660)
        self._done = done
        self._path: Path | None = None
        self._preview: Preview | None = None
        line = QHBoxLayout()
        line.setSpacing(theme.S)
        self.kind = ComboBox(say("What it holds"))
        self.kind.fill([(say(words), kind) for kind, words in _KINDS], "outputs")
        self.file_button = Button(say("Choose a file …"), icon="open")
        self.file_button.clicked.connect(self.choose)
        line.addWidget(self.kind)
        line.addWidget(self.file_button)
        self.file_label = label("", "muted")
        line.addWidget(self.file_label, 1)
        self.body.addLayout(line)
        self.body.addWidget(label(say("What the columns mean"), "strong"))
        self._scroller = Scroller()
        self._scroller.setMinimumHeight(theme.current().px(120))
        self._host = QWidget()
        self._grid = QGridLayout(self._host)
        self._grid.setColumnStretch(1, 1)
        self._scroller.box.addWidget(self._host)
        self._scroller.box.addStretch(1)
        self.body.addWidget(self._scroller, 1)
        self.boxes: dict[str, ComboBox] = {}
        self.body.addWidget(label(say("The first rows"), "strong"))
        self.rows_box = QHBoxLayout()
        self.body.addLayout(self.rows_box)
        self.table: RowsTable | None = None
        self.notice = Notice("", "warning")
        self.notice.hide()
        self.body.addWidget(self.notice)
        self.add_cancel()
        self.import_button = self.add_button(say("Import"), self._import, "primary")
        self.import_button.setEnabled(False)
        self.kind.currentIndexChanged.connect(self._read)

    @property
    def mapping(self) -> dict[str, str]:
        """The file's names to ours, where they differ."""
        return {
            column: box.value
            for column, box in self.boxes.items()
            if box.value and box.value != column
        }

    @Slot()
    def choose(self) -> None:
        """Ask for the file."""
        filters = say("Tables and lines (*.csv *.tsv *.jsonl *.json);;All files (*)")
        choose_files(self, say("Import"), filters, lambda paths: self.take_file(paths[0]))

    def take_file(self, path: Path) -> None:
        """Preview a file."""
        self._path = path
        self.file_label.setText(path.name)
        self._read()

    @Slot()
    def _read(self) -> None:
        if self._path is None:
            return
        self.notice.hide()
        run_query(self, read_preview, self.session.workspace, self._path, self.kind.value).success(
            self._show
        ).failure(self._refuse)

    def _refuse(self, error: BaseException) -> None:
        # Nothing of an earlier file may look as if it were this one's.
        self._show(Preview((), {}, Records([], [])))
        self._preview = None
        self._on_failed(error)

    def _show(self, preview: Preview) -> None:
        self._preview = preview
        for box in self._host.findChildren(QWidget):
            box.hide()
            box.deleteLater()
        self.boxes = {}
        targets = TARGETS.get(self.kind.value, ())
        for row, column in enumerate(preview.columns):
            box = ComboBox(say("What '{column}' is", column=column))
            own = preview.mapping.get(column, column if column in targets else "")
            entries = [(say("something else, kept beside it"), "")]
            entries += [(_target_words(self.kind.value, target), target) for target in targets]
            if own and own not in targets:
                entries.append((own, own))
            box.fill(entries, own)
            box.currentIndexChanged.connect(self._show_rows)
            self._grid.addWidget(label(shorten(column, 30)), row, 0)
            self._grid.addWidget(box, row, 1)
            self.boxes[column] = box
        self._show_rows()

    @Slot()
    def _show_rows(self) -> None:
        preview = self._preview
        if preview is None:
            return
        chosen = {column: box.value for column, box in self.boxes.items() if box.value}
        if self.kind.value == "edits":
            # A published format needs no mapping; what was read is shown all the same.
            chosen = {name: name for name in ("id", "input", "edits")}
        targets = list(dict.fromkeys(chosen.values()))
        if self.table is not None:
            self.rows_box.removeWidget(self.table)
            self.table.hide()
            self.table.deleteLater()
        self.table = RowsTable(
            [RowsColumn(say(target.capitalize()), 0) for target in targets]
            or [RowsColumn(say("Nothing chosen"), 0)],
            say("The first rows"),
            # On a small screen the columns above keep their room.
            most=_SHOWN if self.height() > theme.current().px(600) else _SHOWN_SMALL,
        )
        source = {target: column for column, target in chosen.items()}
        self.table.rows.show(
            [
                tuple(shorten(str(r.values.get(source[t], "")), 60) for t in targets)
                for r in preview.found.records[:_SHOWN]
            ]
            if targets
            else []
        )
        self.rows_box.addWidget(self.table)
        doubled = [t for t in targets if list(chosen.values()).count(t) > 1]
        missing = missing_targets(self.kind.value, targets)
        ready = bool(preview.found.records) and not doubled and not missing
        self.import_button.setEnabled(ready)
        if doubled:
            self._warn(say("Two columns are '{name}'; one will do.", name=doubled[0]))
        elif missing and preview.found.records:
            self._warn(
                say(
                    "Say which column holds {what}.",
                    what=", ".join(_target_words(self.kind.value, name) for name in missing),
                )
            )
        elif preview.found.skipped:
            self._warn(_skipped_words(preview.found.skipped))
        else:
            self.notice.hide()

    @Slot()
    def _import(self) -> None:
        if self._path is None or self._preview is None:
            return
        self.import_button.setEnabled(False)
        run_query(
            self,
            import_mapped,
            self.session.workspace,
            self.session.person_id,
            self._path,
            self.kind.value,
            self.mapping,
            self._preview.columns,
        ).success(self._on_done).failure(self._on_failed)

    def _on_done(self, report: ImportReport) -> None:
        if report.added:
            self.accept()
            self._done(report)
        else:
            self.import_button.setEnabled(True)
            self._warn(_skipped_words(report.skipped))

    def _on_failed(self, error: BaseException) -> None:
        if isinstance(error, KnownError):
            self._warn(str(error))
        else:
            self.session.jobs.failed.emit(error, self)

    def _warn(self, text: str) -> None:
        self.notice.set_text(text)
        self.notice.show()


def _target_words(kind: str, target: str) -> str:
    """What a column may be, for people; a rating's output is named by its id."""
    if kind == "ratings" and target == "output":
        return say("the output's id")
    return say(_TARGET_WORDS.get(target, target))


def _skipped_words(skipped: list[Skipped]) -> str:
    """Which lines were left out and why, the first few."""
    lines = [f"{say('line')} {entry.line}: {entry.reason}" for entry in skipped[:3]]
    more = len(skipped) - len(lines)
    if more > 0:
        lines.append(say("and {count} more", count=more))
    count = count_of(len(skipped), "row is left out", "rows are left out")
    return f"{count}. {'; '.join(lines)}"


def report_words(report: ImportReport) -> str:
    """What an import added, in a sentence."""
    added = [
        count_of(count, kind, "texts to edit" if kind == "text to edit" else f"{kind}s")
        for kind, count in report.added.items()
    ]
    return say("Added {what} from {file}.", what=", ".join(added), file=report.file)


class SkippedDialog(Dialog):
    """The rows an import left out, each with its line and reason, to be put right in the file."""

    def __init__(self, parent: QWidget, report: ImportReport) -> None:
        super().__init__(say("Rows left out"), parent, width=560)
        self.prefer_size(760, 480)
        self.body.addWidget(label(report_words(report), wrap=True))
        left_out = count_of(len(report.skipped), "row was left out", "rows were left out")
        self.body.addWidget(
            label(
                say(
                    "{count}. To have them too, undo this import, correct the file, and import it "
                    "again.",
                    count=left_out,
                ),
                "muted",
                wrap=True,
            )
        )
        self.table = RowsTable(
            (RowsColumn(say("Line"), 7, right=True), RowsColumn(say("Why"), 0)),
            say("Rows left out"),
            most=6,
            grow=True,
        )
        self.table.rows.show([(str(entry.line), entry.reason) for entry in report.skipped])
        self.body.addWidget(self.table, 1)
        self._lines = [f"{entry.line}\t{entry.reason}" for entry in report.skipped]
        self.copy_button = self.add_button(say("Copy the list"), self._copy)
        self.add_button(say("Close"), self.accept, "primary")

    @Slot()
    def _copy(self) -> None:
        QGuiApplication.clipboard().setText("\n".join(self._lines))
