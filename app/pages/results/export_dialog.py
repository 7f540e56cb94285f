"""What is written out and in which form: the table of results, or the workspace's data for other tools."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QWidget

from app.operations import run_query, session_of
from app.pages.results.table import write_csv
from app.strings import say
from app.widgets.basics import label
from app.widgets.dialogs import Dialog, choose_new_file
from app.widgets.inputs import ComboBox, Form
from core.exchange.exports import EXPORTS, export_data
from core.storage.workspace import Workspace

TABLE = "results"

_KINDS = {
    TABLE: "The table of results",
    "examples": "Examples",
    "outputs": "Outputs of the systems",
    "ratings": "Ratings of people",
    "preferences": "Preferences of people",
    "tasks": "Tasks",
    "rubrics": "Rubrics",
    "graphs": "Graphs",
    "edits": "Texts of the editing benchmark",
}
_FORMATS = {
    "csv": "CSV, for a spreadsheet",
    "jsonl": "JSON Lines, which Rifugio reads back without loss",
    "inspect": "A task for Inspect AI: samples, and a Python file that loads them",
    "lm-eval": "A task for lm-evaluation-harness: documents, and a YAML file",
    "predictions": "Predictions (id, output) of the latest run",
}


class ExportDialog(Dialog):
    """Asks what and how, then where."""

    def __init__(self, page: QWidget, by: str, done: Callable[[Path, int], object]) -> None:
        super().__init__(say("Export data"), page, width=520)
        self._page, self._by, self._done = page, by, done
        form = Form()
        self.what = ComboBox(say("What"))
        self.what.fill([(say(words), kind) for kind, words in _KINDS.items()], TABLE)
        self.format = ComboBox(say("As"))
        for box in (self.what, self.format):
            box.setMinimumContentsLength(26)
        form.add(say("What"), self.what)
        form.add(say("As"), self.format)
        self.body.addLayout(form)
        self.body.addWidget(
            label(
                say(
                    "Files are not encrypted. References of private examples stay in the workspace: "
                    "such an example leaves with its input alone, and not at all for other tools."
                ),
                "small",
                wrap=True,
            )
        )
        self.body.addStretch(1)
        self.add_cancel()
        self.choose_button = self.add_button(say("Choose a file …"), self.choose, "primary")
        self.what.currentIndexChanged.connect(self._fill_formats)
        self._fill_formats()

    @Slot()
    def _fill_formats(self) -> None:
        formats = ("csv",) if self.what.value == TABLE else EXPORTS[self.what.value]
        self.format.fill([(say(_FORMATS[name]), name) for name in formats], formats[0])
        self.format.setEnabled(len(formats) > 1)

    @Slot()
    def choose(self) -> None:
        """Ask for the file and write it."""
        what, format = self.what.value, self.format.value
        suffix = "csv" if format == "csv" else "jsonl"
        name = f"{self.session.workspace.path.stem} {what}.{suffix}"
        page, by, done = self._page, self._by, self._done
        self.accept()
        choose_new_file(
            page,
            say("Export data"),
            f"{suffix.upper()} (*.{suffix})",
            name,
            lambda paths: write_export(page, paths[0], what, format, by, done),
        )


def write_export(
    page: QWidget,
    path: Path,
    what: str,
    format: str,
    by: str,
    done: Callable[[Path, int], object],
) -> None:
    """Write on another thread, and tell how many rows were written."""
    workspace = session_of(page).workspace
    query = run_query(page, _write, workspace, path, what, format, by)
    query.success(lambda count: done(path, count))


def _write(workspace: Workspace, path: Path, what: str, format: str, by: str) -> int:
    if what == TABLE:
        return write_csv(workspace, path, by)
    return export_data(workspace, what, path, format)
