"""The items of the rubric shown, and what is done to the chosen ones: added, moved, split, merged, pasted."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QWidget

from app import theme
from app.operations import run_verb
from app.pages.rubrics.dialogs import (
    MergeDialog,
    PasteDialog,
    RenameRubricDialog,
    SplitDialog,
)
from app.pages.rubrics.item_list import ItemList, ItemModel
from app.pages.rubrics.model_help import no_rubric
from app.pages.rubrics.studio import Studio
from app.session import Session
from app.strings import count_of, say
from app.widgets.basics import Card, Folding, column, label, row
from app.widgets.buttons import Button, IconButton
from core.changes import Outcome
from core.rubrics.verbs import (
    add_rubric_item,
    delete_rubric_items,
    move_rubric_item,
    move_rubric_items,
    rubric_items,
)
from core.storage.transaction import Transaction
from core.types import RubricItem


class ItemsPanel(Card):
    """Shows a `Studio`'s items; where there are none it says how to get some.

    Parameters
    ----------
    flush
        Called before anything changes the items, so that what was typed goes first.
    cursor
        Where the cursor is in the description of the current item, 0 for nowhere.
    """

    said = Signal(str)
    #: The id of an item that was made to be written next.
    added = Signal(str)
    #: Models or skills are asked for: 'overlaps' or 'skills'.
    asked = Signal(str)

    def __init__(
        self, session: Session, flush: Callable[[], object], cursor: Callable[[], int]
    ) -> None:
        super().__init__(say("Items"))
        self.session = session
        self._flush, self._cursor = flush, cursor
        self._studio: Studio | None = None
        self._wanted = ""
        keys = session.shortcuts
        self.model = ItemModel()
        self.model.move_asked.connect(self._on_drop)
        self.list = ItemList(self.model, say("Items"))
        self.starters: list[Button] = []
        for icon, text, action, slot in (
            ("plus", say("Write the first item"), "new", self.add_item),
            ("import", say("Paste a list or table"), "rubrics.paste", self.paste_items),
        ):
            starter = Button(text, icon=icon)
            starter.set_hint(keys.hint(action))
            starter.clicked.connect(slot)
            self.starters.append(starter)
        words = say("No items yet. Write them one by one, or paste a list, or a table from Word.")
        self.none = QWidget()
        self.none.setLayout(
            column(label(words, "muted", wrap=True), *(row(made, None) for made in self.starters))
        )
        self.none.hide()
        self.add(self.none)
        self.add(self.list, 1)
        self.buttons: list[IconButton] = []
        for icon, text, action, slot in (
            ("import", say("Paste items"), "rubrics.paste", self.paste_items),
            ("columns", say("Split the item"), "rubrics.split", self.split_item),
            ("copy", say("Merge the items"), "rubrics.merge", self.merge_items),
            ("chevron-up", say("Move up"), "rubrics.up", self.move_up),
            ("chevron-down", say("Move down"), "rubrics.down", self.move_down),
            ("trash", say("Delete the items"), "rubrics.delete", self.delete_items),
            ("compare", say("Find overlapping items"), "", self._ask_overlaps),
            ("spark", say("Skills of the item"), "rubrics.skills", self._ask_skills),
        ):
            button = IconButton(icon, text)
            hint = keys.hint(action) if action else ""
            button.setToolTip(f"{text} ({hint})" if hint else text)
            button.clicked.connect(slot)
            self.buttons.append(button)
        half = len(self.buttons) // 2
        self.add(
            Folding(
                (row(*self.buttons[:half], None, spacing=theme.XS), 0),
                (row(*self.buttons[half:], None, spacing=theme.XS), 1),
                spacing=theme.XS,
            )
        )
        self.rename_button = IconButton("edit", say("Rename the rubric"))
        self.rename_button.clicked.connect(self.rename)
        self.header.addWidget(self.rename_button)

    def load(self, studio: Studio | None) -> None:
        """Show a rubric's items with what the linter and commenters say on them."""
        self._studio = studio
        items = studio.items if studio else ()
        comments: dict[str, int] = {}
        for comment in studio.comments if studio else ():
            if comment.item_id and comment.state == "open":
                comments[comment.item_id] = comments.get(comment.item_id, 0) + 1
        note = ""
        if studio is not None:
            note = count_of(len(items), "item", "items")
            if studio.findings:
                note += say(" · {count} with remarks", count=len(studio.findings))
        self.set_title(studio.rubric.title if studio else say("Items"), note)
        locked = studio is None or studio.locked
        self.model.load(items, studio.findings if studio else {}, comments, locked=locked)
        for button in (*self.buttons, *self.starters, self.rename_button):
            button.setEnabled(not locked)
        self.none.setVisible(studio is not None and not items)
        if self._wanted and self.list.select_id(self._wanted):
            self._wanted = ""
        elif items and not self.list.current_id:
            self.list.select_row(0)

    @property
    def item(self) -> RubricItem | None:
        """The current item."""
        found: RubricItem | None = self.model.row_at(self.list.currentIndex())
        return found

    @property
    def wanted_id(self) -> str:
        """The id of the current item, or of the one that is to be it when it comes."""
        return self.list.current_id or self._wanted

    def select(self, item_id: str) -> None:
        """Make an item the current one, now or when it comes."""
        self._wanted = "" if not item_id or self.list.select_id(item_id) else item_id

    def can_edit(self) -> bool:
        """Whether the rubric takes changes; says why not."""
        if self._studio is None:
            self.said.emit(no_rubric())
            return False
        if self._studio.locked:
            self.said.emit(say("The rubric is locked. Make it a draft again to change it."))
            return False
        return True

    # -- what the person does ------------------------------------------------------------

    @Slot()
    def add_item(self) -> None:
        """A new item behind the current one."""
        if self.can_edit() and self._studio is not None:
            self._flush()
            rubric_id = self._studio.rubric.id
            words = say("New item")
            run_verb(self, words, _add_after, rubric_id, self.list.current_id, words).success(
                self._on_added
            )

    @Slot()
    def rename(self) -> None:
        """Give the rubric another title."""
        if self.can_edit() and self._studio is not None:
            RenameRubricDialog(self, self._studio.rubric).open()

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
        item = self.item
        if not self.can_edit():
            return
        if item is None:
            self.said.emit(say("There is no item to split."))
        else:
            at = self._cursor()
            self._flush()
            SplitDialog(self, item, at, self._on_made).open()

    @Slot()
    def merge_items(self) -> None:
        """Merge the selected items into one."""
        chosen = set(self.list.selected_ids)
        items = [item for item in self.model.items if item.id in chosen]
        if not self.can_edit():
            return
        if len(items) < 2:
            self.said.emit(say("Select two or more items with Shift or Ctrl first."))
            return
        self._flush()
        MergeDialog(self, items, self._on_made).open()

    @Slot()
    def paste_items(self) -> None:
        """Make items from a list or table on the clipboard."""
        if self.can_edit() and self._studio is not None:
            self._flush()
            rubric_id = self._studio.rubric.id
            PasteDialog(self, rubric_id, self.list.current_id, self._on_made).open()

    @Slot()
    def delete_items(self) -> None:
        """Delete the selected items; Ctrl+Z brings them back."""
        ids = self.list.selected_ids
        if not self.can_edit():
            return
        if not ids:
            self.said.emit(say("There is no item to delete."))
        else:
            words = count_of(len(ids), "item", "items")
            run_verb(self, say("Delete {words}", words=words), delete_rubric_items, ids)

    # -- inside --------------------------------------------------------------------------

    @Slot()
    def _ask_skills(self) -> None:
        self.asked.emit("skills")

    @Slot()
    def _ask_overlaps(self) -> None:
        self.asked.emit("overlaps")

    def _move(self, by: int) -> None:
        ids = self.list.selected_ids
        order = [item.id for item in self.model.items]
        if not ids or not self.can_edit():
            return
        places = [order.index(item_id) for item_id in ids]
        if (by < 0 and min(places) == 0) or (by > 0 and max(places) == len(order) - 1):
            return
        self._move_to(ids, min(places) - 1 if by < 0 else max(places) + 2)

    @Slot(object, int)
    def _on_drop(self, ids: list[str], place: int) -> None:
        if self.can_edit():
            self._move_to(ids, place)

    def _move_to(self, ids: Sequence[str], place: int) -> None:
        """Put items before what now stands at a place."""
        self._flush()
        words = count_of(len(ids), "item", "items")
        self._wanted = self.list.current_id
        run_verb(self, say("Move {words}", words=words), move_rubric_items, ids, place)

    def _on_added(self, outcome: Outcome[RubricItem]) -> None:
        self.added.emit(outcome.value.id)
        self.select(outcome.value.id)

    def _on_made(self, ids: list[str]) -> None:
        self.select(ids[-1] if ids else "")


def _add_after(tx: Transaction, rubric_id: str, after: str, title: str) -> RubricItem:
    """A new item behind another, in its group, or at the end."""
    items = rubric_items(tx, rubric_id)
    place = next((n for n, item in enumerate(items) if item.id == after), len(items) - 1)
    group = items[place].group if items else ""
    made = add_rubric_item(tx, rubric_id, title, group=group)
    return move_rubric_item(tx, made.id, place + 1) if items else made
