"""Rubrics: the list, the items of one in order, and beside them the chosen item's fields and history."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QSplitter, QTabWidget, QVBoxLayout, QWidget

from app import theme
from app.operations import run_query, run_verb
from app.pages.base import Command
from app.pages.base import Page as BasePage
from app.pages.listing import Listing
from app.pages.rubrics.dialogs import (
    ImportRubricDialog,
    NewRubricDialog,
)
from app.pages.rubrics.history import HistoryPanel
from app.pages.rubrics.item_editor import ItemEditor
from app.pages.rubrics.items_panel import ItemsPanel
from app.pages.rubrics.model_help import ModelHelp, no_rubric
from app.pages.rubrics.skills_dialog import SkillsDialog
from app.pages.rubrics.studio import Studio, read_studio
from app.pages.rubrics.suggestion_panel import SuggestionPanel
from app.pages.rubrics.words import STATES
from app.strings import say
from app.text_offsets import to_code_points
from app.widgets.basics import Card
from app.widgets.buttons import Button
from app.widgets.dialogs import ask, choose_files
from app.widgets.editors import SaveLabel, Saver
from app.widgets.empty import EmptyState
from app.widgets.id_table import TableColumn, TableSource
from core.changes import Changes
from core.errors import NotFoundError
from core.exchange.demo import fill_demo
from core.rubrics.linter import Finding
from core.rubrics.verbs import (
    delete_rubric,
    edit_rubric_item,
)


def _state_word(state: Any) -> str:
    return say(STATES.get(str(state), str(state)))


SOURCE = TableSource(
    "rubric r JOIN task t ON t.id = r.task_id",
    columns=(
        TableColumn("title", "Rubric", "r.title", order="r.title COLLATE NOCASE", width=0),
        TableColumn(
            "items",
            "Items",
            "(SELECT count(*) FROM rubric_item i WHERE i.rubric_id = r.id AND i.deleted = 0)",
            width=4,
            right=True,
        ),
        TableColumn("state", "State", "r.state", order="r.state", width=8, text=_state_word),
    ),
    id="r.id",
    where="r.deleted = 0",
    search=("r.title", "t.objective"),
    kinds=("rubric", "rubric_item"),
)


class Page(BasePage):
    """Three columns; everything by keys, everything undone by Ctrl+Z."""

    name = "rubrics"
    title = "Rubrics"
    kinds = (
        "rubric",
        "rubric_item",
        "rubric_version",
        "rubric_comment",
        "rubric_review",
        "rubric_suggestion",
    )

    def build(self) -> None:
        self._studio: Studio | None = None
        self._wanted = self._fresh = ""
        self._overlaps: dict[str, tuple[Finding, ...]] = {}
        self._generation = 0
        keys = self.session.shortcuts
        self.model_help = ModelHelp(self.session, lambda: self._studio, self)
        self.model_help.said.connect(self.said)
        self.model_help.overlapping.connect(self._on_overlaps)
        self.saver = Saver(self.session, self._start_saving, self)
        self.action_row.addWidget(SaveLabel(self.saver))
        self.import_button = Button(say("Import"), icon="import")
        self.import_button.clicked.connect(self.show_import)
        self.new_button = Button(say("New rubric"), "primary", icon="plus")
        self.new_button.clicked.connect(self.show_new)
        self.add_button = Button(say("Item"), icon="plus", shortcuts=keys, action="new")
        self.add_button.setAccessibleName(say("New item"))
        for button in (self.add_button, self.import_button, self.new_button):
            self.action_row.addWidget(button)
        self.listing = Listing(
            self.session, SOURCE, say("Rubrics"), say("Search rubrics and tasks"), self
        )
        self.listing.view.current_changed.connect(self._on_rubric)
        self.listing.model.loaded.connect(self._on_loaded)
        items = self._make_items()
        self.add_button.clicked.connect(self.panel.add_item)
        splitter = QSplitter(Qt.Orientation.Horizontal)
        splitter.setChildrenCollapsible(False)
        splitter.setHandleWidth(theme.M)
        for part, share in (
            (self.listing, 1),
            (items, 3),
            (self._make_side(), 4),
        ):
            splitter.addWidget(part)
            splitter.setStretchFactor(splitter.count() - 1, share)
        splitter.setSizes([theme.current().px(width) for width in (220, 400, 560)])
        self.body.addWidget(splitter, 1)
        for action, slot in (
            ("rubrics.up", self.panel.move_up),
            ("rubrics.down", self.panel.move_down),
            ("rubrics.split", self.panel.split_item),
            ("rubrics.merge", self.panel.merge_items),
            ("rubrics.paste", self.panel.paste_items),
            ("rubrics.delete", self.panel.delete_items),
            ("rubrics.edit", self.edit_item),
            ("rubrics.comment", self.write_comment),
            ("rubrics.version", self.history.keep_version),
            ("rubrics.items", self.go_to_items),
            ("rubrics.skills", self.tag_skills),
        ):
            keys.bind(self, action, slot)

    # -- the page's contract -------------------------------------------------------------

    def refresh(self, changes: Changes | None) -> None:
        if changes is None or changes.touches("rubric", "rubric_item"):
            self.listing.model.apply_changes(changes)
        if self.listing.view.current_id:
            self._read(self.listing.view.current_id)

    def place(self) -> dict[str, Any]:
        return {
            "rubric": self.listing.view.current_id or self._wanted,
            "item": self.panel.wanted_id,
            "tab": self.tabs.currentIndex(),
        }

    def restore(self, place: dict[str, Any]) -> None:
        self._wanted = str(place.get("rubric", ""))
        self.panel.select(str(place.get("item", "")))
        self.tabs.setCurrentIndex(int(place.get("tab", 0)))
        self.listing.view.select_id(self._wanted)

    def settle(self) -> Sequence[Future[Any]]:
        future = self.saver.flush()
        return [future] if future is not None else []

    def first_focus(self) -> QWidget | None:
        if self._empty is not None and self._empty.buttons:
            return self._empty.buttons[0]
        return self.list if self.model.items else self.listing.view

    def commands(self) -> Sequence[Command]:
        keys = self.session.shortcuts
        return [
            Command(text, slot, keys.hint(action) if action else "", self.title)
            for text, slot, action in (
                (say("New rubric"), self.show_new, ""),
                (say("Import rubrics"), self.show_import, ""),
                (say("New item"), self.panel.add_item, "new"),
                (say("Paste items"), self.panel.paste_items, "rubrics.paste"),
                (say("Split the item"), self.panel.split_item, "rubrics.split"),
                (say("Merge the items"), self.panel.merge_items, "rubrics.merge"),
                (say("Keep a version"), self.history.keep_version, "rubrics.version"),
                (say("Find overlapping items"), self.model_help.find_overlaps, ""),
                (say("Let a model suggest items"), self.suggest, ""),
                (say("Tag the item's skills"), self.tag_skills, "rubrics.skills"),
                (say("Let a model tag all items' skills"), self.model_help.tag_all, ""),
                (say("Rename the rubric"), self.panel.rename, ""),
                (say("Delete the rubric"), self.delete_rubric, ""),
            )
        ]

    # -- what the person does ------------------------------------------------------------

    @property
    def studio(self) -> Studio | None:
        return self._studio

    @Slot()
    def show_new(self) -> None:
        """Open the dialog for a rubric."""
        NewRubricDialog(self, self._on_new).open()

    @Slot()
    def show_import(self) -> None:
        """Import rubrics from JSONL, CSV or the published checklist format."""
        choose_files(
            self,
            say("Import rubrics"),
            say("Rubrics (*.jsonl *.json *.csv *.tsv);;All files (*)"),
            lambda paths: self.import_file(paths[0]),
        )

    def import_file(self, path: Path) -> None:
        """Show what a file holds, and import it."""
        ImportRubricDialog(self, path, self._on_new).open()

    @Slot()
    def edit_item(self) -> None:
        """Put the keyboard into the item's title."""
        if not self.editor.isEnabled():
            self.said.emit(say("There is no item yet. Add one first."))
        else:
            self.tabs.setCurrentIndex(0)
            self.editor.title.setFocus(Qt.FocusReason.ShortcutFocusReason)
            self.editor.title.selectAll()

    @Slot()
    def go_to_items(self) -> None:
        """Put the keyboard back into the list of items."""
        self.list.setFocus(Qt.FocusReason.ShortcutFocusReason)

    @Slot()
    def write_comment(self) -> None:
        """Write a comment on the item."""
        self.tabs.setCurrentIndex(1)
        self.history.write_comment()

    @Slot()
    def delete_rubric(self) -> None:
        """Delete the rubric after asking."""
        if self._studio is None:
            self._say_none()
            return
        rubric = self._studio.rubric
        ask(
            self,
            say("Delete '{title}'?", title=rubric.title),
            say("Its items go with it. Ctrl+Z brings it back."),
            say("Delete"),
            lambda: run_verb(self, say("Delete rubric"), delete_rubric, rubric.id),
            danger=True,
        )

    @Slot()
    def tag_skills(self) -> None:
        """Say which skills the item asks for."""
        item = self.panel.item
        if item is None:
            self.said.emit(say("There is no item yet. Add one first."))
        else:
            SkillsDialog(self, item).open()

    @Slot()
    def suggest(self) -> None:
        """Let the default model suggest items."""
        if self.panel.can_edit() and self._studio is not None:
            self.tabs.setCurrentIndex(2)
            self.model_help.suggest()

    def _say_none(self) -> None:
        self.said.emit(no_rubric())

    # -- parts ---------------------------------------------------------------------------

    def _make_items(self) -> QWidget:
        self.panel = ItemsPanel(self.session, self.saver.flush, self._cursor)
        self.panel.said.connect(self.said)
        self.panel.added.connect(self._on_added)
        self.panel.asked.connect(self._on_asked)
        self.model, self.list = self.panel.model, self.panel.list
        self.list.current_changed.connect(self._on_item)
        self.list.edit_asked.connect(self.edit_item)
        return self.panel

    def _make_side(self) -> QWidget:
        self.tabs = QTabWidget()
        self.tabs.setAccessibleName(say("Item and history"))
        self.tabs.setUsesScrollButtons(False)
        self.tabs.setElideMode(Qt.TextElideMode.ElideRight)
        self.editor = ItemEditor()
        self.editor.edited.connect(self.saver.touch)
        self.editor.split_asked.connect(self.panel.split_item)
        self.history = HistoryPanel(self.session)
        self.history.said.connect(self.said)
        self.suggestions = SuggestionPanel(self.session)
        self.model_help.suggesting.connect(self.suggestions.ask.setEnabled)
        self.suggestions.asked.connect(self.suggest)
        self.tabs.addTab(self.editor, say("Item"))
        self.tabs.addTab(self.history, say("History"))
        self.tabs.addTab(self.suggestions, say("Suggestions"))
        card = Card()
        card.setAccessibleName(say("Item and history"))
        box = card.layout()
        assert isinstance(box, QVBoxLayout)
        card.add(self.tabs, 1)
        return card

    # -- showing -------------------------------------------------------------------------

    def _on_loaded(self) -> None:
        count = len(self.listing.model.ids)
        self.set_subtitle(f"{count:,}" if count else "")
        if self._wanted and self.listing.view.select_id(self._wanted):
            self._wanted = ""
        if not self.listing.is_bare:
            self.show_empty(None)
            return
        self._show(None)
        self.show_empty(
            EmptyState(
                "rubrics",
                say("No rubrics yet"),
                say(
                    "A rubric lists what an expert looks for in the outputs of a task, item by item, "
                    "so that two texts can be compared without judging them as a whole."
                ),
                (say("New rubric"), self.show_new),
                (say("Add the sample"), lambda: run_verb(self, say("Add the sample"), fill_demo)),
            )
        )

    @Slot(str)
    def _on_rubric(self, rubric_id: str) -> None:
        self.saver.flush()
        self._overlaps = {}
        self._read(rubric_id)

    def _read(self, rubric_id: str) -> None:
        if not rubric_id:
            self._show(None)
            return
        self._generation += 1
        generation = self._generation

        def is_wanted() -> bool:
            return generation == self._generation and rubric_id == self.listing.view.current_id

        def take(studio: Studio) -> None:
            if is_wanted():
                self._show(studio)

        def refuse(error: BaseException) -> None:
            # What a later reading shows must not give way to an earlier one that failed.
            if is_wanted():
                self._show(None)
            # Deleted a moment ago is no fault: the list is about to say so.
            if not isinstance(error, NotFoundError):
                self.session.jobs.failed.emit(error, self)

        run_query(
            self, read_studio, self.session.workspace, rubric_id, dict(self._overlaps)
        ).success(take).failure(refuse)

    def _show(self, studio: Studio | None) -> None:
        self._studio = studio
        self.panel.load(studio)
        self.add_button.setEnabled(studio is not None and not studio.locked)
        waiting = sum(s.state == "open" for s in studio.suggestions) if studio else 0
        self.tabs.setTabText(
            2, say("Suggestions ({count})", count=waiting) if waiting else say("Suggestions")
        )
        self.suggestions.load(studio)
        self._show_item()
        self._go_on_in_new()

    def _go_on_in_new(self) -> None:
        """Go where one goes on in a new rubric once it is shown: its first item, or those it came with."""
        if self._studio is not None and self._studio.rubric.id == self._fresh:
            self._fresh = ""
            start = self.list if self._studio.items else self.panel.starters[0]
            start.setFocus(Qt.FocusReason.OtherFocusReason)

    @Slot(str)
    def _on_item(self, _item_id: str) -> None:
        self.saver.flush()
        self._show_item()

    def _show_item(self) -> None:
        item = self.panel.item
        shown = self.editor.item
        same = item is not None and shown is not None and item.id == shown.id
        # What was read before a write that is under way is older than the fields are.
        typing = same and (self.saver.dirty or self.saver.state == "saving")
        self.editor.load(self._studio, item, typing=typing)
        self.history.load(self._studio, item.id if item else "")
        self._focus_new_title()

    def _cursor(self) -> int:
        """Where the cursor is in the description, in code points; 0 when it is not there."""
        if not self.editor.description.hasFocus():
            return 0
        cursor = self.editor.description.textCursor().position()
        return to_code_points(self.editor.description.text, cursor)

    # -- writing -------------------------------------------------------------------------

    def _start_saving(self) -> Future[Any] | None:
        item = self.editor.item
        fields = self.editor.fields()
        if item is None or not fields:
            return None
        return self.session.workspace.submit(
            say("Edit item"), self.session.person_id, edit_rubric_item, item.id, **fields
        )

    def _on_new(self, rubric_id: str) -> None:
        self._wanted = self._fresh = rubric_id
        self.listing.model.reload()
        self.show_empty(None)
        # The list may have shown it before its dialog was told; waiting for another reading then would
        # take the keyboard from whoever has begun to write.
        self._go_on_in_new()

    @Slot(str)
    def _on_asked(self, what: str) -> None:
        if what == "overlaps":
            self.model_help.find_overlaps()
        else:
            self.tag_skills()

    @Slot(str)
    def _on_added(self, item_id: str) -> None:
        self._focus_title_of = item_id
        self._focus_new_title()

    def _focus_new_title(self) -> None:
        """Go to the title of the item just added, now or when it has come."""
        if self.editor.item is not None and self.editor.item.id == self._focus_title_of:
            self._focus_title_of = ""
            self.edit_item()

    _focus_title_of = ""

    def _on_overlaps(self, found: dict[str, tuple[Finding, ...]]) -> None:
        self._overlaps = found
        self._read(self.listing.view.current_id)
