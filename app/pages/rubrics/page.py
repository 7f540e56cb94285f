"""Rubrics: the list, the items of one in order, and beside them the chosen item's fields and history."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QHBoxLayout, QSplitter, QTabWidget, QVBoxLayout, QWidget

from app import theme
from app.operations import run_job, run_query, run_verb
from app.pages.base import Command
from app.pages.base import Page as BasePage
from app.pages.listing import Listing
from app.pages.rubrics.dialogs import (
    ImportRubricDialog,
    MergeDialog,
    NewRubricDialog,
    PasteDialog,
    SplitDialog,
)
from app.pages.rubrics.history import HistoryPanel
from app.pages.rubrics.item_editor import ItemEditor
from app.pages.rubrics.item_list import ItemList, ItemModel
from app.pages.rubrics.skills_dialog import SkillsDialog
from app.pages.rubrics.studio import Studio, read_studio
from app.pages.rubrics.suggestion_panel import SuggestionPanel
from app.pages.rubrics.words import STATES
from app.strings import count_of, say
from app.text_offsets import to_code_points
from app.widgets.basics import Card, label
from app.widgets.buttons import Button, IconButton
from app.widgets.dialogs import ask, choose_files
from app.widgets.editors import SaveLabel, Saver
from app.widgets.empty import EmptyState
from app.widgets.id_table import TableColumn, TableSource
from core.changes import Changes, Outcome
from core.checklists.analyses import tag_with_model
from core.exchange.demo import fill_demo
from core.ports import Cancellation, Progress, ProgressCallback
from core.rubrics.linter import Finding, lint_items
from core.rubrics.suggestions import suggest_items
from core.rubrics.verbs import (
    add_rubric_item,
    delete_rubric,
    delete_rubric_items,
    edit_rubric_item,
    move_rubric_item,
    move_rubric_items,
    rubric_items,
)
from core.storage.transaction import Transaction
from core.storage.workspace import Workspace
from core.types import RubricItem


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
        self._wanted = ""
        self._wanted_item = ""
        self._overlaps: dict[str, tuple[Finding, ...]] = {}
        self._generation = 0
        keys = self.session.shortcuts
        self.saver = Saver(self.session, self._start_saving, self)
        self.action_row.addWidget(SaveLabel(self.saver))
        self.import_button = Button(say("Import"), icon="import")
        self.import_button.clicked.connect(self.show_import)
        self.new_button = Button(say("New rubric"), "primary", icon="plus")
        self.new_button.clicked.connect(self.show_new)
        self.action_row.addWidget(self.import_button)
        self.action_row.addWidget(self.new_button)
        self.listing = Listing(
            self.session, SOURCE, say("Rubrics"), say("Search rubrics and tasks"), self
        )
        self.listing.view.current_changed.connect(self._on_rubric)
        self.listing.model.loaded.connect(self._on_loaded)
        splitter = QSplitter(Qt.Orientation.Horizontal)
        splitter.setChildrenCollapsible(False)
        splitter.setHandleWidth(theme.M)
        for part, share in (
            (self.listing, 2),
            (self._make_items(), 3),
            (self._make_side(), 4),
        ):
            splitter.addWidget(part)
            splitter.setStretchFactor(splitter.count() - 1, share)
        splitter.setSizes([theme.current().px(width) for width in (260, 400, 480)])
        self.body.addWidget(splitter, 1)
        for action, slot in (
            ("rubrics.up", self.move_up),
            ("rubrics.down", self.move_down),
            ("rubrics.split", self.split_item),
            ("rubrics.merge", self.merge_items),
            ("rubrics.paste", self.paste_items),
            ("rubrics.delete", self.delete_items),
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
            "item": self.list.current_id or self._wanted_item,
            "tab": self.tabs.currentIndex(),
        }

    def restore(self, place: dict[str, Any]) -> None:
        self._wanted = str(place.get("rubric", ""))
        self._wanted_item = str(place.get("item", ""))
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
                (say("New item"), self.add_item, "new"),
                (say("Paste items"), self.paste_items, "rubrics.paste"),
                (say("Split the item"), self.split_item, "rubrics.split"),
                (say("Merge the items"), self.merge_items, "rubrics.merge"),
                (say("Keep a version"), self.history.keep_version, "rubrics.version"),
                (say("Find overlapping items"), self.find_overlaps, ""),
                (say("Let a model suggest items"), self.suggest, ""),
                (say("Tag the item's skills"), self.tag_skills, "rubrics.skills"),
                (say("Let a model tag all items' skills"), self.tag_with_model, ""),
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
    def add_item(self) -> None:
        """A new item behind the current one, with the keyboard in its title."""
        if not self._can_edit():
            return
        assert self._studio is not None
        self.saver.flush()
        run_verb(
            self,
            say("New item"),
            _add_after,
            self._studio.rubric.id,
            self.list.current_id,
            say("New item"),
        ).success(self._on_added)

    @Slot()
    def move_up(self) -> None:
        """Move the selected items up by one."""
        self._move(-1)

    @Slot()
    def move_down(self) -> None:
        """Move the selected items down by one."""
        self._move(1)

    @Slot()
    def split_item(self) -> None:
        """Split the current item, at the cursor where it is in the description."""
        item = self._current_item()
        if item is None or not self._can_edit():
            return
        at = 0
        if self.editor.description.hasFocus():
            cursor = self.editor.description.textCursor().position()
            at = to_code_points(self.editor.description.text, cursor)
        self.saver.flush()
        SplitDialog(self, item, at, self._select).open()

    @Slot()
    def merge_items(self) -> None:
        """Merge the selected items into one."""
        items = [item for item in self.model.items if item.id in set(self.list.selected_ids)]
        if not self._can_edit():
            return
        if len(items) < 2:
            self.said.emit(say("Select two or more items with Shift or Ctrl first."))
            return
        self.saver.flush()
        MergeDialog(self, items, self._select).open()

    @Slot()
    def paste_items(self) -> None:
        """Make items from a list or table on the clipboard."""
        if self._can_edit() and self._studio is not None:
            self.saver.flush()
            PasteDialog(self, self._studio.rubric.id, self.list.current_id, self._select).open()

    @Slot()
    def delete_items(self) -> None:
        """Delete the selected items; Ctrl+Z brings them back."""
        ids = self.list.selected_ids
        if ids and self._can_edit():
            words = count_of(len(ids), "item", "items")
            run_verb(self, say("Delete {words}", words=words), delete_rubric_items, ids)

    @Slot()
    def edit_item(self) -> None:
        """Put the keyboard into the item's title."""
        if self.editor.isEnabled():
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
    def find_overlaps(self) -> None:
        """Let the embedder find items that mean the same."""
        if self._studio is not None:
            run_job(
                self,
                say("Finding overlaps"),
                _find_overlaps,
                self.session.workspace,
                self.session.models,
                self._studio.rubric.id,
                noun="items",
            ).success(self._on_overlaps)

    @Slot()
    def tag_skills(self) -> None:
        """Say which skills the item asks for."""
        item = self._current_item()
        if item is not None:
            SkillsDialog(self, item).open()

    @Slot()
    def tag_with_model(self) -> None:
        """Let the default model tag the items nobody has tagged."""
        if self._studio is not None:
            run_job(
                self,
                say("Tagging skills"),
                _tag,
                self.session.workspace,
                self.session.models,
                self._studio.rubric.id,
                self.session.person_id,
                noun="items",
            ).success(self._on_tagged)

    @Slot()
    def suggest(self) -> None:
        """Let the default model suggest items."""
        if self._studio is None or not self._can_edit():
            return
        self.tabs.setCurrentIndex(2)
        self.suggestions.ask.setEnabled(False)
        run_job(
            self,
            say("Suggesting items"),
            _suggest,
            self.session.workspace,
            self.session.models,
            self._studio.rubric.id,
            self.session.person_id,
            noun="answers",
        ).success(self._on_suggested).end(partial(self.suggestions.ask.setEnabled, True))

    # -- parts ---------------------------------------------------------------------------

    def _make_items(self) -> QWidget:
        keys = self.session.shortcuts
        self.card = Card(say("Items"))
        self.model = ItemModel()
        self.model.move_asked.connect(self._on_drop)
        self.list = ItemList(self.model, say("Items"))
        self.list.current_changed.connect(self._on_item)
        self.list.edit_asked.connect(self.edit_item)
        self.card.add(self.list, 1)
        self.none = label(
            say("No items yet. Add one, or paste a list or table."), "muted", wrap=True
        )
        self.card.add(self.none)
        tools = QHBoxLayout()
        tools.setSpacing(theme.XS)
        self.add_button = Button(say("Item"), icon="plus", shortcuts=keys, action="new")
        self.add_button.setAccessibleName(say("New item"))
        self.add_button.clicked.connect(self.add_item)
        self.action_row.insertWidget(1, self.add_button)
        self.tools = [self.add_button]
        for icon, text, action, slot in (
            ("import", say("Paste items"), "rubrics.paste", self.paste_items),
            ("columns", say("Split the item"), "rubrics.split", self.split_item),
            ("copy", say("Merge the items"), "rubrics.merge", self.merge_items),
            ("chevron-up", say("Move up"), "rubrics.up", self.move_up),
            ("chevron-down", say("Move down"), "rubrics.down", self.move_down),
            ("trash", say("Delete the items"), "rubrics.delete", self.delete_items),
        ):
            button = IconButton(icon, text)
            button.setToolTip(f"{text} ({keys.hint(action)})")
            button.clicked.connect(slot)
            tools.addWidget(button)
            self.tools.append(button)
        tools.addStretch(1)
        self.card.add(tools)
        return self.card

    def _make_side(self) -> QWidget:
        self.tabs = QTabWidget()
        self.tabs.setAccessibleName(say("Item and history"))
        self.tabs.setUsesScrollButtons(False)
        self.tabs.setElideMode(Qt.TextElideMode.ElideRight)
        self.editor = ItemEditor()
        self.editor.edited.connect(self.saver.touch)
        self.editor.split_asked.connect(self.split_item)
        self.history = HistoryPanel(self.session)
        self.suggestions = SuggestionPanel(self.session)
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
        self._studio = None
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

        def take(studio: Studio) -> None:
            if generation == self._generation and studio.rubric.id == self.listing.view.current_id:
                self._show(studio)

        run_query(
            self, read_studio, self.session.workspace, rubric_id, dict(self._overlaps)
        ).success(take).failure(lambda _error: self._show(None))

    def _show(self, studio: Studio | None) -> None:
        self._studio = studio
        items = studio.items if studio else ()
        comments: dict[str, int] = {}
        for comment in studio.comments if studio else ():
            if comment.item_id and comment.state == "open":
                comments[comment.item_id] = comments.get(comment.item_id, 0) + 1
        if studio:
            note = say("{count} items", count=len(items))
            flawed = len(studio.findings)
            if flawed:
                note += say(" · {count} with remarks", count=flawed)
            self.card.set_title(studio.rubric.title, note)
        else:
            self.card.set_title(say("Items"))
        # The new title has its room at once, not at the next turn of the event loop.
        self.card.header.activate()
        locked = studio is None or studio.locked
        self.model.load(items, studio.findings if studio else {}, comments, locked=locked)
        for button in self.tools:
            button.setEnabled(not locked)
        self.none.setVisible(studio is not None and not items)
        if self._wanted_item and self.list.select_id(self._wanted_item):
            self._wanted_item = ""
        elif items and not self.list.current_id:
            self.list.select_id(items[0].id)
        waiting = sum(s.state == "open" for s in studio.suggestions) if studio else 0
        self.tabs.setTabText(
            2, say("Suggestions ({count})", count=waiting) if waiting else say("Suggestions")
        )
        self.suggestions.load(studio)
        self._show_item()

    @Slot(str)
    def _on_item(self, _item_id: str) -> None:
        self.saver.flush()
        self._show_item()

    def _show_item(self) -> None:
        item = self._current_item()
        shown = self.editor.item
        same = item is not None and shown is not None and item.id == shown.id
        self.editor.load(self._studio, item, typing=same and self.saver.dirty)
        self.history.load(self._studio, item.id if item else "")
        self._focus_new_title()

    def _current_item(self) -> RubricItem | None:
        return self._studio.item(self.list.current_id) if self._studio else None

    # -- writing -------------------------------------------------------------------------

    def _start_saving(self) -> Future[Any] | None:
        item = self.editor.item
        fields = self.editor.fields()
        if item is None or not fields:
            return None
        return self.session.workspace.submit(
            say("Edit item"), self.session.person_id, edit_rubric_item, item.id, **fields
        )

    def _can_edit(self) -> bool:
        if self._studio is None:
            return False
        if self._studio.locked:
            self.said.emit(say("The rubric is locked. Make it a draft again to change it."))
            return False
        return True

    def _move(self, by: int) -> None:
        ids = self.list.selected_ids
        order = [item.id for item in self.model.items]
        if not ids or not self._can_edit():
            return
        places = [order.index(item_id) for item_id in ids]
        if (by < 0 and min(places) == 0) or (by > 0 and max(places) == len(order) - 1):
            return
        target = min(places) - 1 if by < 0 else max(places) + 2
        self._move_to(ids, target)

    @Slot(object, int)
    def _on_drop(self, ids: list[str], place: int) -> None:
        if self._can_edit():
            self._move_to(ids, place)

    def _move_to(self, ids: list[str], place: int) -> None:
        """Put items before what now stands at a place."""
        self.saver.flush()
        words = count_of(len(ids), "item", "items")
        self._wanted_item = self.list.current_id
        run_verb(self, say("Move {words}", words=words), move_rubric_items, ids, place)

    def _on_new(self, rubric_id: str) -> None:
        self._wanted = rubric_id
        self.listing.model.reload()
        self.show_empty(None)

    def _on_added(self, outcome: Outcome[RubricItem]) -> None:
        self._focus_title_of = outcome.value.id
        self._select([outcome.value.id])
        self._focus_new_title()

    def _focus_new_title(self) -> None:
        """Go to the title of the item just added, now or when it has come."""
        if self.editor.item is not None and self.editor.item.id == self._focus_title_of:
            self._focus_title_of = ""
            self.edit_item()

    _focus_title_of = ""

    def _select(self, ids: list[str]) -> None:
        self._wanted_item = ids[-1] if ids else ""
        if self._wanted_item and self.list.select_id(self._wanted_item):
            self._wanted_item = ""

    def _on_overlaps(self, found: dict[str, tuple[Finding, ...]]) -> None:
        self._overlaps = found
        count = len(found)
        self.said.emit(
            say("{words} like another", words=count_of(count, "item is", "items are"))
            if count
            else say("No items overlap.")
        )
        self._read(self.listing.view.current_id)

    def _on_tagged(self, failed: int) -> None:
        words = say("The items are tagged; results by skill are under Checklists, Numbers.")
        if failed:
            words = say("{words} could not be tagged.", words=count_of(failed, "item", "items"))
        self.said.emit(words)

    def _on_suggested(self, kept: Sequence[object]) -> None:
        self.said.emit(
            say("{words}", words=count_of(len(kept), "suggestion waits", "suggestions wait"))
        )


def _add_after(tx: Transaction, rubric_id: str, after: str, title: str) -> RubricItem:
    """A new item behind another, in its group, or at the end."""
    items = rubric_items(tx, rubric_id)
    place = next((n for n, item in enumerate(items) if item.id == after), len(items) - 1)
    group = items[place].group if items else ""
    made = add_rubric_item(tx, rubric_id, title, group=group)
    return move_rubric_item(tx, made.id, place + 1) if items else made


def _find_overlaps(
    workspace: Workspace,
    models: Any,
    rubric_id: str,
    *,
    progress: ProgressCallback,
    cancel: Cancellation,
) -> dict[str, tuple[Finding, ...]]:
    items = rubric_items(workspace, rubric_id)
    progress(Progress(0, len(items)))
    found: dict[str, tuple[Finding, ...]] = {}
    for finding in lint_items(items, models.embedder()):
        if finding.flaw == "overlapping":
            found[finding.item_id] = (*found.get(finding.item_id, ()), finding)
    progress(Progress(len(items), len(items)))
    return found


def _tag(
    workspace: Workspace,
    models: Any,
    rubric_id: str,
    person_id: str,
    *,
    progress: ProgressCallback,
    cancel: Cancellation,
) -> int:
    return tag_with_model(
        workspace,
        rubric_id,
        models.generator(),
        person=person_id,
        progress=progress,
        cancel=cancel,
    )


def _suggest(
    workspace: Workspace,
    models: Any,
    rubric_id: str,
    person_id: str,
    *,
    progress: ProgressCallback,
    cancel: Cancellation,
) -> list[Any]:
    return list(
        suggest_items(
            workspace,
            rubric_id,
            models.generator(),
            person=person_id,
            progress=progress,
            cancel=cancel,
        )
    )
