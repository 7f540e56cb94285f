"""The one place where keys are changed."""

from __future__ import annotations

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QKeySequenceEdit,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from app import theme
from app.shortcuts import ACTIONS, Shortcuts, key_text
from app.strings import say
from app.widgets.basics import label
from app.widgets.buttons import Button
from app.widgets.dialogs import Dialog
from app.widgets.inputs import SearchField
from app.widgets.notice import Notice


class ShortcutEditor(Dialog):
    """Lists every action with its keys; a new key is pressed, and conflicts are said before it counts."""

    def __init__(self, shortcuts: Shortcuts, parent: QWidget) -> None:
        super().__init__(say("Keyboard shortcuts"), parent, width=640)
        self._shortcuts = shortcuts
        self.search = SearchField(say("Search an action"))
        self.search.searched.connect(self._filter)
        self.body.addWidget(self.search)
        self.table = QTableWidget(len(ACTIONS), 3)
        self.table.setAccessibleName(say("Actions and their keys"))
        self.table.setHorizontalHeaderLabels([say("Action"), say("Where"), say("Keys")])
        self.table.verticalHeader().hide()
        self.table.verticalHeader().setDefaultSectionSize(theme.current().px(32))
        self.table.setShowGrid(False)
        self.table.setTabKeyNavigation(False)
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        header = self.table.horizontalHeader()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setHighlightSections(False)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        for column in (1, 2):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Fixed)
            self.table.setColumnWidth(column, theme.current().px(150))
        for row, action in enumerate(ACTIONS):
            for column, text in enumerate((action.text, action.scope, "")):
                item = QTableWidgetItem(text)
                item.setData(Qt.ItemDataRole.UserRole, action.id)
                self.table.setItem(row, column, item)
        self.table.setMinimumHeight(theme.current().px(300))
        self.body.addWidget(self.table, 1)
        entry = QHBoxLayout()
        entry.setSpacing(theme.S)
        caption = label(say("New key"))
        self.keys = QKeySequenceEdit()
        self.keys.setAccessibleName(say("New key: press it"))
        self.keys.setMaximumSequenceLength(1)
        caption.setBuddy(self.keys)
        self.set_button = Button(say("Use this key"))
        self.set_button.clicked.connect(self.use_key)
        self.clear_button = Button(say("No key"))
        self.clear_button.clicked.connect(self.clear_key)
        self.default_button = Button(say("Default"))
        self.default_button.clicked.connect(self.use_default)
        for widget in (caption, self.keys, self.set_button, self.clear_button, self.default_button):
            entry.addWidget(widget)
        self.body.addLayout(entry)
        self.notice = Notice("", "warning")
        self.notice.hide()
        self.body.addWidget(self.notice)
        reset = Button(say("All to defaults"))
        reset.clicked.connect(self._shortcuts.reset)
        self.buttons.insertWidget(0, reset)
        self.add_button(say("Done"), self.accept, "primary").setAutoDefault(False)
        shortcuts.changed.connect(self._show)
        self.table.itemSelectionChanged.connect(self._on_selection)
        self._show()
        self.table.selectRow(0)
        self.search.setFocus()

    @property
    def current_action(self) -> str:
        """The id of the selected action."""
        item = self.table.item(self.table.currentRow(), 0)
        return str(item.data(Qt.ItemDataRole.UserRole)) if item is not None else ""

    @Slot()
    def use_key(self) -> None:
        """Give the action the key that was pressed, unless another has it."""
        key = self.keys.keySequence().toString(QKeySequence.SequenceFormat.PortableText)
        if not key or not self.current_action:
            return
        taken = self._shortcuts.conflicts(self.current_action, key)
        if taken:
            self._say(
                say(
                    "{key} is used for '{action}'. Give that another key first.",
                    key=key_text(key),
                    action=taken[0].text,
                )
            )
            return
        self._shortcuts.set_keys(self.current_action, (key,))
        self.keys.clear()
        self._say("")

    @Slot()
    def clear_key(self) -> None:
        """Leave the action without a key; the palette still finds it."""
        if self.current_action:
            self._shortcuts.set_keys(self.current_action, ())

    @Slot()
    def use_default(self) -> None:
        """Give the action its default keys again."""
        if self.current_action:
            action = self._shortcuts.action(self.current_action)
            self._shortcuts.set_keys(action.id, action.keys)

    @Slot()
    def _show(self) -> None:
        for row, action in enumerate(ACTIONS):
            keys = "   ".join(key_text(key) for key in self._shortcuts.keys(action.id))
            cell = self.table.item(row, 2)
            assert cell is not None
            cell.setText(keys)

    @Slot(str)
    def _filter(self, text: str) -> None:
        words = text.casefold().split()
        for row, action in enumerate(ACTIONS):
            where = f"{action.text} {action.scope}".casefold()
            self.table.setRowHidden(row, not all(word in where for word in words))

    @Slot()
    def _on_selection(self) -> None:
        self._say("")
        self.keys.clear()

    def _say(self, text: str) -> None:
        self.notice.set_text(text)
        self.notice.setVisible(bool(text))
