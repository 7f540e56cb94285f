"""The models on this machine: catalogue, facts, fitness, checking, importing, advice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import QModelIndex, Qt, QUrl, Signal, Slot
from PySide6.QtGui import QDesktopServices, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QHeaderView,
    QSplitter,
    QTableView,
    QWidget,
)

from app import theme
from app.operations import run_job, run_query
from app.pages.base import Command
from app.pages.base import Page as BasePage
from app.pages.models.catalogue import ROLE_WORDS, CatalogueModel, CheckResult, check_model
from app.pages.models.evaluation import EvaluationView
from app.pages.models.import_dialog import ImportDialog
from app.strings import count_of, format_bytes, format_number, say
from app.widgets.basics import Card, IconLabel, Scroller, clear_layout, label, line
from app.widgets.buttons import Button
from app.widgets.empty import EmptyState
from app.widgets.id_view import CellDelegate
from app.widgets.inputs import CopyField
from app.widgets.notice import Notice
from core.changes import Changes
from core.errors import InvalidModelError
from core.settings import models_directory
from models.catalog import RECOMMENDATIONS, CatalogEntry, list_models, recommend
from models.evaluation import Evaluation, read_evaluation
from models.memory import total_memory

#: Characters that a model's name keeps, and those of the other columns, the ones that matter most first.
_NAME_CHARACTERS = 18
_COLUMNS = ((1, 15), (4, 10), (2, 8), (3, 10))
_PADDING = 12


class _Table(QTableView):
    """Tells when its width changed."""

    resized = Signal()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.resized.emit()


class Page(BasePage):
    """Works without a workspace, too."""

    name = "models"
    title = "Models"
    kinds = ()
    needs_workspace = False

    def build(self) -> None:
        self._checked: dict[str, CheckResult] = {}
        self._evaluations: dict[str, Evaluation | str] = {}
        self._wanted = ""
        self.import_button = Button(
            say("Import a model"),
            "primary",
            icon="import",
            shortcuts=self.session.shortcuts,
            action="models.import",
        )
        self.import_button.clicked.connect(self.show_import)
        self.action_row.addWidget(self.import_button)
        split = QSplitter(Qt.Orientation.Horizontal)
        split.setChildrenCollapsible(False)
        split.setHandleWidth(theme.L)
        left = Scroller()
        left.box.addWidget(self._make_list(), 1)
        left.box.addWidget(self._make_advice())
        split.addWidget(left)
        self.detail = ModelDetail()
        self.detail.check_asked.connect(self.check_current)
        self.detail.folder_asked.connect(self._show_folder)
        split.addWidget(self.detail)
        split.setStretchFactor(0, 3)
        split.setStretchFactor(1, 2)
        split.setSizes([640, 460])
        self.body.addWidget(split, 1)

    def refresh(self, changes: Changes | None) -> None:
        run_query(self, _read_models).success(self._fill)

    def place(self) -> dict[str, Any]:
        entry = self.current_entry
        return {"model": entry.id if entry else ""}

    def restore(self, place: dict[str, Any]) -> None:
        self._wanted = str(place.get("model", ""))
        self._select_wanted()

    def first_focus(self) -> QWidget:
        return self.table

    def commands(self) -> list[Command]:
        hint = self.session.shortcuts.hint("models.import")
        return [
            Command(say("Import a model"), self.show_import, hint, self.title),
            Command(say("Check this model"), self.check_current, "", self.title),
        ]

    @property
    def current_entry(self) -> CatalogEntry | None:
        """The model that is selected."""
        row = self.table.currentIndex().row()
        return self.model.entries[row] if 0 <= row < len(self.model.entries) else None

    @Slot()
    def show_import(self) -> None:
        """Open the import dialog."""
        ImportDialog(self, self.start_import).open()

    def start_import(self, path: Path, role: str | None, template: str | None) -> None:
        """Import a model in the background."""
        from models.convert import import_model

        def failed(error: BaseException) -> None:
            self._on_import_failed(error, path, role)

        job = run_job(
            self,
            say("Importing a model"),
            import_model,
            path,
            noun="bytes",
            role=role,
            chat_template=template,
        )
        job.success(self._imported).failure(failed)

    @Slot()
    def check_current(self) -> None:
        """Hash the selected model, load it and let it answer."""
        entry = self.current_entry
        if entry is None or entry.problem:
            self.said.emit(
                entry.problem if entry is not None else say("There is no model to check.")
            )
            return
        self.detail.set_busy(True)
        job = run_job(
            self, say("Checking a model"), check_model, self.session.models, entry, noun="bytes"
        )
        job.success(self._on_checked).end(self._after_check)

    # -- inside --------------------------------------------------------------------------

    def _make_list(self) -> Card:
        card = Card(say("On this machine"))
        self.model = CatalogueModel(self)
        self.table = _Table()
        self.table.resized.connect(self._fit)
        self.table.setAccessibleName(say("Models on this machine"))
        self.table.setModel(self.model)
        self.table.setItemDelegate(CellDelegate(self.table))
        self.table.setProperty("role", "bare")
        self.table.setFrameShape(QFrame.Shape.NoFrame)
        self.table.setShowGrid(False)
        self.table.setWordWrap(False)
        self.table.setTabKeyNavigation(False)
        self.table.verticalHeader().hide()
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.table.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.table.selectionModel().currentRowChanged.connect(self._on_current)
        theme.notifier().changed.connect(self._fit)
        self._fit()
        self.table.setMinimumHeight(theme.current().px(180))
        card.add(self.table, 1)
        return card

    def _fit(self) -> None:
        self.table.verticalHeader().setDefaultSectionSize(theme.current().px(36))
        header = self.table.horizontalHeader()
        header.setHighlightSections(False)
        header.setMinimumSectionSize(48)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        unit = self.table.fontMetrics().averageCharWidth()
        room = self.table.viewport().width() - _NAME_CHARACTERS * unit
        # What a model is matters before its licence and size, which stand beside it as well.
        for column, width in _COLUMNS:
            room -= width * unit + _PADDING
            self.table.setColumnHidden(column, room < 0)
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Interactive)
            self.table.setColumnWidth(column, width * unit + _PADDING)

    def _make_advice(self) -> Card:
        memory = total_memory()
        gigabytes = memory / 1e9 if memory else 0.0
        amount = say("{size} GB of memory here", size=format_number(gigabytes)) if memory else ""
        card = Card(say("What to import"), amount)
        if memory:
            card.add(label(recommend(gigabytes), "strong", wrap=True))
        grid = QGridLayout()
        grid.setHorizontalSpacing(theme.L)
        grid.setVerticalSpacing(theme.XS)
        for row, (least, advice) in enumerate(RECOMMENDATIONS):
            grid.addWidget(
                label(say("from {size} GB", size=least), "small"), row, 0, Qt.AlignmentFlag.AlignTop
            )
            grid.addWidget(label(advice, "small", wrap=True), row, 1)
        grid.setColumnStretch(1, 1)
        card.add(grid)
        return card

    def _fill(self, found: tuple[list[CatalogEntry], dict[str, Evaluation | str]]) -> None:
        entries, self._evaluations = found
        current = self.current_entry
        self._wanted = self._wanted or (current.id if current else "")
        self.model.show(entries)
        ready = sum(not entry.problem for entry in entries)
        self.set_subtitle(
            say(
                "{models} · {ready} ready",
                models=count_of(len(entries), "model", "models"),
                ready=ready,
            )
        )
        if entries:
            self.show_empty(None)
            self._select_wanted()
        else:
            self.show_empty(
                EmptyState(
                    "models",
                    say("No models on this machine yet"),
                    say(
                        "Models write drafts, search your documents and check claims, all on this "
                        "machine. Run the set-up again to get the default ones, or import one."
                    ),
                    (say("Import a model"), self.show_import),
                )
            )

    def _select_wanted(self) -> None:
        row = self.model.row_of(self._wanted)
        if self.model.entries:
            self.table.setCurrentIndex(self.model.index(max(row, 0), 0))
            self._wanted = ""

    @Slot(QModelIndex)
    def _on_current(self, _index: QModelIndex) -> None:
        self._show_current()

    def _show_current(self) -> None:
        entry = self.current_entry
        if entry is not None:
            self.detail.show_entry(
                entry, self._checked.get(entry.id), self._evaluations.get(entry.id)
            )

    def _imported(self, entry: CatalogEntry) -> None:
        self._wanted = entry.id
        self.said.emit(say("{name} was imported and answers.", name=entry.name))
        self.refresh(None)

    def _on_import_failed(self, error: BaseException, path: Path, role: str | None) -> None:
        from models.convert import MissingTemplateError

        if isinstance(error, MissingTemplateError):
            ImportDialog(
                self, self.start_import, path=path, role=role, problem=error.message
            ).open()
        else:
            self.session.jobs.failed.emit(error, self)

    def _on_checked(self, result: CheckResult) -> None:
        self._checked[result.model_id] = result
        self.said.emit(say("The model is sound. {remark}", remark=result.remark))

    def _after_check(self) -> None:
        self.detail.set_busy(False)
        self._show_current()

    @Slot()
    def _show_folder(self) -> None:
        entry = self.current_entry
        folder = entry.folder if entry is not None else models_directory()
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))


def _read_models() -> tuple[list[CatalogEntry], dict[str, Evaluation | str]]:
    """The catalogue, and what was measured of its models; for a thread of the pool."""
    entries = list_models()
    evaluations: dict[str, Evaluation | str] = {}
    for entry in entries:
        try:
            found = None if entry.problem else read_evaluation(entry)
        except InvalidModelError as error:
            evaluations[entry.id] = str(error)
        else:
            if found is not None:
                evaluations[entry.id] = found
    return entries, evaluations


class ModelDetail(Card):
    """One model's facts: what it is fit for first, its hash and licence, where it ran."""

    def __init__(self) -> None:
        super().__init__(say("Model"))
        self.name_label = label("", "heading", wrap=True)
        self.notes_label = label("", "muted", wrap=True)
        self.add(self.name_label)
        self.add(self.notes_label)
        scroller = Scroller()
        scroller.box.setSpacing(theme.M)
        self._facts = scroller.box
        self.add(scroller, 1)
        self.check_button = Button(say("Check"), icon="shield")
        self.check_button.setToolTip(say("Compare the hash, load the model and let it answer once"))
        self.folder_button = Button(say("Folder"), icon="open")
        buttons = QHBoxLayout()
        buttons.addWidget(self.check_button)
        buttons.addWidget(self.folder_button)
        buttons.addStretch(1)
        self.add(buttons)
        self.check_asked = self.check_button.clicked
        self.folder_asked = self.folder_button.clicked

    def set_busy(self, busy: bool) -> None:
        """No second check while one runs."""
        self.check_button.setEnabled(not busy)

    def show_entry(
        self,
        entry: CatalogEntry,
        checked: CheckResult | None,
        evaluation: Evaluation | str | None = None,
    ) -> None:
        """Show one model; ``evaluation`` is what was measured of it, or why that can't be read."""
        self.set_title(say(ROLE_WORDS.get(entry.role, entry.role)))
        self.name_label.setText(entry.name)
        self.notes_label.setText(entry.notes)
        self.notes_label.setVisible(bool(entry.notes))
        self.check_button.setEnabled(not entry.problem)
        clear_layout(self._facts)
        if entry.problem:
            words = say("It cannot be used: {why} Import it again.", why=entry.problem)
            self._facts.addWidget(Notice(words, "danger"))
        self._add_fitness(entry)
        self._facts.addWidget(line())
        if isinstance(evaluation, Evaluation):
            self._facts.addWidget(EvaluationView(evaluation))
            self._facts.addWidget(line())
        elif evaluation or entry.role == "nli":
            words = evaluation or say(
                "It brings no evaluation: how good it is on which kind of text is not known here."
            )
            self._facts.addWidget(Notice(words, "warning"))
        self._facts.addLayout(self._make_grid(self._facts_of(entry, checked)))
        self._facts.addStretch(1)

    def _add_fitness(self, entry: CatalogEntry) -> None:
        for icon, token, heading, uses in (
            ("check", "supported", say("Fit for"), entry.fit_for),
            ("close", "contradicted", say("Not fit for"), entry.not_fit_for),
        ):
            if uses:
                row = QHBoxLayout()
                row.setSpacing(theme.S)
                row.addWidget(IconLabel(icon, token), 0, Qt.AlignmentFlag.AlignTop)
                row.addWidget(label(f"{heading}: {', '.join(uses)}", wrap=True), 1)
                self._facts.addLayout(row)

    @staticmethod
    def _facts_of(entry: CatalogEntry, checked: CheckResult | None) -> list[tuple[str, str]]:
        facts = [
            (say("Licence"), entry.licence),
            (say("Size"), format_bytes(entry.bytes) if entry.bytes else ""),
            (say("Format"), entry.format),
            (say("Architecture"), entry.architecture),
            (say("Quantisation"), entry.quantisation),
            (
                say("Context"),
                count_of(entry.context_tokens, "token", "tokens") if entry.context_tokens else "",
            ),
            (say("Chat template"), entry.chat_template),
            (say("Device in use"), checked.device if checked else say("Shown after a check")),
            (say("Hash checked"), say("It is the file it was.") if checked else say("Not yet")),
            ("sha256", entry.sha256 or (checked.sha256 if checked else say("Not known"))),
            (say("Id"), entry.id),
            (say("File"), str(entry.path)),
        ]
        return [(caption, text) for caption, text in facts if text]

    @staticmethod
    def _make_grid(facts: list[tuple[str, str]]) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(theme.M)
        grid.setVerticalSpacing(theme.XS)
        for row, (caption, text) in enumerate(facts):
            grid.addWidget(label(caption, "muted"), row, 0, Qt.AlignmentFlag.AlignTop)
            if len(text) > 40 and " " not in text:
                grid.addWidget(CopyField(caption, text), row, 1)
            else:
                words = label(text, wrap=True, selectable=True)
                words.setAccessibleName(f"{caption}: {text}")
                grid.addWidget(words, row, 1)
        grid.setColumnStretch(1, 1)
        return grid
