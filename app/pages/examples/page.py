"""Examples in two panes: what goes in, and the reference, which saves itself as it is edited."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSplitter, QWidget

from app import theme
from app.operations import run_query, run_verb
from app.pages.base import Command
from app.pages.base import Page as BasePage
from app.pages.examples.import_dialog import ImportDialog
from app.pages.examples.new_dialog import NewExampleDialog
from app.pages.listing import Listing
from app.strings import say
from app.widgets.basics import Card, Scroller, clear_layout, label
from app.widgets.buttons import Button, IconButton
from app.widgets.editors import ProseEditor, SaveLabel, Saver
from app.widgets.empty import EmptyState
from app.widgets.id_table import TableColumn, TableSource
from app.widgets.reader import Reader
from core.changes import Changes
from core.errors import NotFoundError
from core.examples.verbs import delete_example, edit_example
from core.exchange.demo import fill_demo
from core.types import Example, SectionText, Task

SOURCE = TableSource(
    "example e JOIN task t ON t.id = e.task_id",
    columns=(
        TableColumn("title", "Example", "e.title", order="e.title COLLATE NOCASE", width=0),
        TableColumn("task", "Task", "t.objective", order="t.objective COLLATE NOCASE", width=14),
    ),
    id="e.id",
    where="e.deleted = 0",
    search=("e.title", "t.objective"),
    kinds=("example", "task"),
)
#: A section longer than this scrolls in its field.
_MOST_LINES = 24


class Page(BasePage):
    """List, input, reference."""

    name = "examples"
    title = "Examples"
    kinds = ("example", "task")

    def build(self) -> None:
        self._example: Example | None = None
        self._wanted = ""
        self._editors: list[ProseEditor] = []
        self.saver = Saver(self.session, self._start_saving, self)
        self.action_row.addWidget(SaveLabel(self.saver))
        keys = self.session.shortcuts
        self.delete_button = IconButton("trash", say("Delete the example"))
        self.delete_button.clicked.connect(self.delete)
        self.import_button = Button(
            say("Import examples"), icon="import", shortcuts=keys, action="examples.import"
        )
        self.import_button.clicked.connect(self.show_import)
        self.new_button = Button(
            say("New example"), "primary", icon="plus", shortcuts=keys, action="new"
        )
        self.new_button.clicked.connect(self.show_new)
        for button in (self.delete_button, self.import_button, self.new_button):
            self.action_row.addWidget(button)
        self.listing = Listing(
            self.session, SOURCE, say("Examples"), say("Search titles and tasks"), self
        )
        self.listing.view.current_changed.connect(self._show)
        self.listing.model.loaded.connect(self._on_loaded)
        keys.bind(self.listing.view, "examples.delete", self.delete)
        self.input_card = Card(say("Input"))
        self.input_reader = Reader(say("Input of the example"))
        self.input_card.add(self.input_reader, 1)
        self.reference_card = Card(say("Reference"), say("saved as you type"))
        self.reference = Scroller()
        self.reference_card.add(self.reference, 1)
        splitter = QSplitter(Qt.Orientation.Horizontal)
        splitter.setChildrenCollapsible(False)
        splitter.setHandleWidth(theme.L)
        for number, part in enumerate((self.listing, self.input_card, self.reference_card)):
            splitter.addWidget(part)
            splitter.setStretchFactor(number, 3 if number == 0 else 4)
        splitter.setSizes([theme.current().px(width) for width in (400, 430, 430)])
        self.body.addWidget(splitter, 1)

    def refresh(self, changes: Changes | None) -> None:
        self.listing.model.apply_changes(changes)
        if self._example is not None and not self.saver.dirty:
            self._show(self._example.id)

    def place(self) -> dict[str, Any]:
        return {"example": self.listing.view.current_id or self._wanted}

    def restore(self, place: dict[str, Any]) -> None:
        self._wanted = str(place.get("example", ""))
        self.listing.view.select_id(self._wanted)

    def settle(self) -> Sequence[Future[Any]]:
        future = self.saver.flush()
        return [future] if future is not None else []

    def commands(self) -> Sequence[Command]:
        keys = self.session.shortcuts
        return [
            Command(say(text), slot, keys.hint(action), self.title)
            for text, slot, action in (
                ("New example", self.show_new, "new"),
                ("Import examples", self.show_import, "examples.import"),
                ("Delete the example", self.delete, "examples.delete"),
            )
        ]

    def first_focus(self) -> QWidget | None:
        return self.listing.view

    def show_import(self) -> None:
        """Open the import dialog."""
        dialog = ImportDialog(self)
        dialog.imported.connect(self.said)
        dialog.open()

    def show_new(self) -> None:
        """Open the dialog for an example made by hand."""
        dialog = NewExampleDialog(self, task_id=self._example.task_id if self._example else "")
        dialog.added.connect(self._on_added)
        dialog.open()

    def _on_added(self, example_id: str) -> None:
        self.listing.search.clear()
        self._wanted = example_id
        self.listing.view.select_id(example_id)

    def delete(self) -> None:
        """Delete the example shown; undo brings it back."""
        example = self._example
        if example is None:
            self.said.emit(say("There is no example to delete."))
        else:
            self.saver.flush()
            run_verb(self, say("Delete example"), delete_example, example.id).success(self._deleted)

    def _deleted(self, _outcome: object) -> None:
        key = self.session.shortcuts.hint("undo")
        self.said.emit(say("Deleted. {key} brings it back.", key=key))

    def add_demo(self) -> None:
        """Add the fictional sample."""
        run_verb(self, say("Add the sample"), fill_demo)

    def _on_loaded(self) -> None:
        count = len(self.listing.model.ids)
        self.set_subtitle(f"{count:,}" if count else "")
        self.delete_button.setEnabled(not self.listing.is_bare)
        if self.listing.is_bare:
            self.show_empty(
                EmptyState(
                    "examples",
                    say("No examples yet"),
                    say(
                        "An example is one case of a task: what goes in, and a reference an expert "
                        "wrote. Models are asked to write its output, and scored against the reference."
                    ),
                    (say("Import examples"), self.show_import),
                    (say("New example"), self.show_new),
                    (say("Add the sample"), self.add_demo),
                )
            )
        else:
            self.show_empty(None)

    def _show(self, example_id: str) -> None:
        if self._example is not None and example_id != self._example.id:
            self.saver.flush()
        if not example_id:
            self._fill(None, None)
            return
        workspace = self.session.workspace

        def read() -> tuple[Example, Task]:
            example = workspace.get(Example, example_id)
            return example, workspace.get(Task, example.task_id)

        def take(found: tuple[Example, Task]) -> None:
            if found[0].id == self.listing.view.current_id:
                self._fill(*found)

        def forget(error: BaseException) -> None:
            # It was deleted, here or by undo: the list goes on to another one.
            if not isinstance(error, NotFoundError):
                self.session.jobs.failed.emit(error, self)
            elif self._example is not None and self._example.id == example_id:
                self._example = None

        run_query(self, read).success(take).failure(forget)

    def _fill(self, example: Example | None, task: Task | None) -> None:
        same = (
            self._example is not None
            and example is not None
            and self._example.id == example.id
            and len(self._editors) == len(example.output)
        )
        self._example = example
        self.delete_button.setEnabled(example is not None)
        self.input_reader.set_sections(example.input if example else ())
        if same and example is not None:
            for editor, section in zip(self._editors, example.output, strict=True):
                if not self.saver.dirty:
                    editor.load(section.text)
            return
        clear_layout(self.reference.box)
        self._editors = []
        if example is None or task is None:
            return
        self.reference_card.set_title(say("Reference"), task.objective)
        for section in example.output:
            self.reference.box.addWidget(label(section.title, "strong"))
            editor = ProseEditor(section.title, lines=2, most=_MOST_LINES)
            editor.load(section.text)
            editor.edited.connect(self.saver.touch)
            self._editors.append(editor)
            self.reference.box.addWidget(editor)
        if not example.output:
            self.reference.box.addWidget(label(say("This example has no reference."), "muted"))
        self.reference.box.addStretch(1)

    def _start_saving(self) -> Future[Any] | None:
        example = self._example
        if example is None:
            return None
        sections = tuple(
            SectionText(title=old.title, text=editor.text)
            for old, editor in zip(example.output, self._editors, strict=True)
        )
        if sections == example.output:
            return None
        return self.session.workspace.submit(
            say("Edit reference"),
            self.session.person_id,
            edit_example,
            example.id,
            output=sections,
        )
