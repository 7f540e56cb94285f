"""Importing examples: choose a file, see what is in it, say which column is which section, import."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QWidget

from app import theme
from app.operations import run_query, run_verb
from app.strings import count_of, say
from app.widgets.basics import Scroller, clear_layout, label, row
from app.widgets.buttons import Button
from app.widgets.dialogs import Dialog, choose_files
from app.widgets.inputs import ComboBox, text_field
from app.widgets.notice import Notice
from core.exchange.imports import (
    ImportReport,
    import_into_new_task,
    import_records,
    read_import,
)
from core.exchange.records import Record, Records, apply_map
from core.storage import Transaction
from core.types import Task

_OWN_KEYS = frozenset({"input", "output", "task", "task_template", "meta", "split", "title", "id"})
_SHOWN_SKIPPED = 4
#: Formats that others publish, by their names here.
_PUBLISHED = {"aci-bench": "ACI-Bench", "expertlongbench": "ExpertLongBench"}


class ImportDialog(Dialog):
    """Emits `imported` with a sentence when something came in."""

    imported = Signal(str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(say("Import examples"), parent, width=720)
        self._path: Path | None = None
        self._found: Records | None = None
        self._mappings: dict[str, ComboBox] = {}
        self.file_label = label(
            say("JSONL, JSON or CSV; ACI-Bench is recognised as published."), "muted", wrap=True
        )
        self.choose_button = Button(say("Choose a file"), icon="open")
        self.choose_button.clicked.connect(self._choose)
        line = row(self.choose_button, self.file_label)
        line.setStretch(1, 1)
        self.body.addLayout(line)
        self.preview = Scroller()
        self.preview.setMinimumHeight(theme.current().px(300))
        self.preview.hide()
        self.body.addWidget(self.preview, 1)
        self.task_box = ComboBox(say("Task of the examples"))
        self.task_name = text_field(
            say("Objective of the new task"), placeholder=say("What is to be written?")
        )
        self.task_row = QWidget()
        self.task_row.setLayout(row(label(say("Task")), self.task_box, self.task_name))
        self.task_row.hide()
        self.body.addWidget(self.task_row)
        self.notice = Notice("", "warning")
        self.notice.hide()
        self.body.addWidget(self.notice)
        self.add_cancel()
        self.import_button = self.add_button(say("Import"), self._import, "primary")
        self.import_button.setEnabled(False)
        self.task_box.currentIndexChanged.connect(self._on_task)
        workspace = self.session.workspace
        run_query(self, workspace.find, Task).success(self._fill_tasks)

    def load(self, path: Path) -> None:
        """Read a file and show what is in it."""
        self._path = path
        self.import_button.setEnabled(False)
        self._say("")
        self.file_label.setText(say("Reading {name} …", name=path.name))
        run_query(self, read_import, path, "examples").success(self._show).failure(self._refuse)

    def _choose(self) -> None:
        choose_files(
            self,
            say("Import examples"),
            say("Records (*.jsonl *.ndjson *.json *.csv *.tsv);;All files (*)"),
            lambda paths: self.load(paths[0]),
        )

    def _refuse(self, error: BaseException) -> None:
        # Nothing of an earlier file may look as if it were this one's.
        self._found = None
        self._mappings = {}
        clear_layout(self.preview.box)
        self.task_row.hide()
        self.file_label.setText(self._path.name if self._path is not None else "")
        self._say(str(error))

    def _say(self, text: str) -> None:
        self.notice.set_text(text)
        self.notice.setVisible(bool(text))

    def _fill_tasks(self, tasks: list[Task]) -> None:
        entries: list[tuple[str, Any]] = [(task.objective, task.id) for task in tasks]
        self.task_box.fill([*entries, (say("A new task"), "")])
        self._on_task()

    def _on_task(self) -> None:
        self.task_name.setVisible(not self.task_box.value)

    def _show(self, answer: tuple[Records, str]) -> None:
        found, format = answer
        self._found = found
        assert self._path is not None
        words = say(
            "{name}: {records}",
            name=self._path.name,
            records=count_of(len(found.records), "record", "records"),
        )
        if format in _PUBLISHED:
            words = say("{words}, read as {format}", words=words, format=_PUBLISHED[format])
        self.file_label.setText(words)
        clear_layout(self.preview.box)
        self.preview.show()
        self._mappings = {}
        ours = bool(found.records) and not (
            set(found.records[0].values) - _OWN_KEYS
            and not {"input", "output"} & set(found.records[0].values)
        )
        names_task = bool(found.records) and bool(found.records[0].values.get("task"))
        if ours:
            self._show_records(found.records)
        elif found.records:
            self._show_mapping(found.records)
        self.preview.box.addStretch(1)
        self.task_row.setVisible(bool(found.records) and not names_task)
        self._check()

    def _check(self) -> None:
        """Say what is wanting, or what would be left out; only what gives examples can be imported."""
        found = self._found
        if found is None:
            return
        meanings = [box.value for box in self._mappings.values()]
        lacks_input = bool(meanings) and not any(m.startswith("input.") for m in meanings)
        lacks_all = lacks_input and not any(m.startswith("output.") for m in meanings)
        self.import_button.setEnabled(bool(found.records) and not lacks_all)
        words = [_skipped_words(found)]
        if lacks_all:
            words.insert(0, say("Say which columns are the input, and which the reference."))
        elif lacks_input:
            words.insert(
                0, say("No column is an input section yet: systems would be given nothing.")
            )
        self._say("\n".join(filter(None, words)))

    def _show_records(self, records: list[Record]) -> None:
        for record in records[:3]:
            title = str(record.values.get("title") or say("Line {line}", line=record.line))
            self.preview.box.addWidget(label(title, "strong"))
            for side in ("input", "output"):
                for section in record.values.get(side) or ():
                    if isinstance(section, Mapping):
                        text = " ".join(str(section.get("text", "")).split())[:160]
                        words = f"{side} · {section.get('title')}: {text} …"
                        self.preview.box.addWidget(label(words, "muted", wrap=True))
        if len(records) > 3:
            more = say("and {count} more", count=len(records) - 3)
            self.preview.box.addWidget(label(more, "small"))

    def _show_mapping(self, records: list[Record]) -> None:
        self.preview.box.addWidget(
            label(say("Say what each column is. The first record stands beside it."), "muted")
        )
        grid = QGridLayout()
        grid.setHorizontalSpacing(theme.M)
        grid.setColumnStretch(2, 1)
        for line, (name, value) in enumerate(records[0].values.items()):
            box = ComboBox(say("Meaning of {name}", name=name))
            box.fill(
                [
                    (say("keep as it is"), ""),
                    (say("input section"), f"input.{name}"),
                    (say("reference section"), f"output.{name}"),
                    (say("title"), "title"),
                    (say("split"), "split"),
                ],
                _guess(name, str(value or "")),
            )
            box.currentIndexChanged.connect(self._check)
            self._mappings[name] = box
            grid.addWidget(label(name, "strong"), line, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(box, line, 1, Qt.AlignmentFlag.AlignTop)
            sample = " ".join(str(value or "").split())[:140]
            grid.addWidget(label(sample, "muted", wrap=True), line, 2)
        self.preview.box.addLayout(grid)

    def _import(self) -> None:
        if self._found is None or self._path is None:
            return
        mapping = {name: box.value for name, box in self._mappings.items() if box.value}
        records = [Record(r.line, apply_map(r.values, mapping)) for r in self._found.records]
        found = Records(records, self._found.skipped)
        self.import_button.setEnabled(False)
        task = self.task_box.value if self.task_row.isVisible() else ""
        new_task = self.task_name.text().strip() if self.task_row.isVisible() and not task else ""
        run_verb(
            self,
            say("Import {name}", name=self._path.name),
            _import_examples,
            self._path.name,
            found,
            task or "",
            new_task,
        ).success(self._done).failure(self._failed)

    def _failed(self, error: BaseException) -> None:
        self.import_button.setEnabled(True)
        self._say(str(error))

    def _done(self, outcome: Any) -> None:
        report: ImportReport = outcome.value
        count = report.added.get("example", 0)
        if not count:
            self.import_button.setEnabled(True)
            self._say(_skipped_words(Records([], report.skipped)))
            return
        self.imported.emit(
            say(
                "{examples} imported, {records} left out",
                examples=count_of(count, "example", "examples"),
                records=count_of(len(report.skipped), "record", "records"),
            )
            if report.skipped
            else say("{examples} imported", examples=count_of(count, "example", "examples"))
        )
        self.accept()


def _import_examples(
    tx: Transaction, name: str, found: Records, task: str, new_task: str
) -> ImportReport:
    """Import examples into a task by id, or into a new one."""
    if new_task:
        return import_into_new_task(tx, name, found, new_task)
    return import_records(tx, name, "examples", found, task=task)


def _guess(name: str, value: str) -> str:
    """What a column most likely is, from its name and how long its text is."""
    folded = name.casefold()
    if folded in ("title", "id", "name"):
        return "title"
    if folded == "split":
        return "split"
    if any(
        word in folded for word in ("output", "reference", "note", "summary", "answer", "target")
    ):
        return f"output.{name}"
    return f"input.{name}" if len(value) > 60 else ""


def _skipped_words(found: Records) -> str:
    if not found.skipped:
        return ""
    lines = [
        say("line {line}: {reason}", line=skipped.line, reason=skipped.reason)
        for skipped in found.skipped[:_SHOWN_SKIPPED]
    ]
    if len(found.skipped) > _SHOWN_SKIPPED:
        lines.append("…")
    records = count_of(len(found.skipped), "record", "records")
    return say("{records} left out:", records=records) + "\n" + "\n".join(lines)
