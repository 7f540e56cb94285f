"""What goes into a report, and where it is written."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QCheckBox, QPlainTextEdit, QWidget

from app import theme
from app.operations import run_job, run_query
from app.pages.results.pdf import QtPdfPrinter
from app.strings import say
from app.widgets.basics import label
from app.widgets.dialogs import Dialog, choose_new_file
from app.widgets.inputs import ComboBox, Form
from core.ports import Cancellation, ProgressCallback, no_progress
from core.report.html import ReportOptions, print_report, write_report
from core.storage.workspace import Workspace
from core.types import Run, System


def _runs(workspace: Workspace) -> list[tuple[str, str]]:
    names = {system.id: system.name for system in workspace.find(System)}
    return [
        (f"{names.get(run.system_id, '')}, {run.started[:16].replace('T', ' ')}", run.id)
        for run in workspace.find(Run, order_by="started DESC")
    ]


class ReportDialog(Dialog):
    """HTML or PDF, of everything or of one run, with the texts or without."""

    def __init__(self, parent: QWidget, done: Callable[[Path, int], object]) -> None:
        super().__init__(say("Report"), parent, width=520)
        self._page = parent
        self._done = done
        form = Form()
        self.run = ComboBox(say("What"))
        self.run.fill([(say("All runs"), "")], "")
        self.run.setMinimumContentsLength(20)
        form.add(say("What"), self.run)
        self.body.addLayout(form)
        self.redact = QCheckBox(say("Leave the texts out (numbers only)"))
        self.redact.setToolTip(
            say("No inputs, references, outputs, comments or titles: nothing of the examples.")
        )
        self.body.addWidget(self.redact)
        self.body.addWidget(label(say("What was asked, in your words (optional)"), "strong"))
        self.question = QPlainTextEdit()
        self.question.setAccessibleName(say("What was asked, in your words (optional)"))
        self.question.setTabChangesFocus(True)
        self.question.setFixedHeight(theme.current().px(88))
        self.body.addWidget(self.question)
        self.body.addWidget(
            label(say("The file is not encrypted. Private references are never in it."), "small")
        )
        self.add_cancel()
        self.pdf_button = self.add_button(say("As PDF …"), self.choose_pdf)
        self.html_button = self.add_button(say("As HTML …"), self.choose_html, "primary")
        run_query(self, _runs, self.session.workspace).success(self._fill)

    def _fill(self, runs: list[tuple[str, str]]) -> None:
        self.run.fill([(say("All runs"), ""), *runs], "")

    @property
    def options(self) -> ReportOptions:
        """What was chosen."""
        return ReportOptions(
            run_id=self.run.value or None,
            redact=self.redact.isChecked(),
            question=self.question.toPlainText().strip(),
        )

    @Slot()
    def choose_html(self) -> None:
        """Ask for the HTML file."""
        self._choose("HTML (*.html)", ".html")

    @Slot()
    def choose_pdf(self) -> None:
        """Ask for the PDF file."""
        self._choose("PDF (*.pdf)", ".pdf")

    def _choose(self, filters: str, suffix: str) -> None:
        # A redacted report may go to others: its name says nothing of the workspace either.
        stem = (
            say("report")
            if self.redact.isChecked()
            else f"{self.session.workspace.path.stem} report"
        )
        options = self.options
        self.accept()
        choose_new_file(
            self._page,
            say("Report"),
            filters,
            stem + suffix,
            lambda paths: write_report_file(self._page, paths[0], options, self._done),
        )


def write_report_file(
    owner: QWidget, path: Path, options: ReportOptions, done: Callable[[Path, int], object]
) -> None:
    """Make the report and write it, on another thread."""
    from app.operations import session_of

    workspace = session_of(owner).workspace
    job = run_job(
        owner, say("Report"), write_any_report, workspace, path, options, noun=say("outputs")
    )
    job.success(partial(done, path))


def write_any_report(
    workspace: Workspace,
    path: Path,
    options: ReportOptions | None = None,
    *,
    progress: ProgressCallback = no_progress,
    cancel: Cancellation | None = None,
) -> int:
    """The report as what the file's ending says; returns how many outputs it shows."""
    if path.suffix.casefold() == ".pdf":
        return print_report(
            workspace, path, QtPdfPrinter(), options=options, progress=progress, cancel=cancel
        )
    return write_report(workspace, path, options=options, progress=progress, cancel=cancel)
