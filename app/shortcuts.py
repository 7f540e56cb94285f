"""Every key in one place: what it does, its default, the person's own choice, and binding it to a slot.

Keys without a modifier are switched off while a text field has the focus, so that typing never rates,
submits or discards anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import shiboken6
from PySide6.QtCore import QObject, QSignalBlocker, Qt, Signal, Slot
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QKeySequenceEdit,
    QLineEdit,
    QPlainTextEdit,
    QTextEdit,
    QWidget,
)

#: Joins several keys of one action in the settings file; no key is written with it.
_JOIN = " | "

#: Scope of actions that work on every page.
EVERYWHERE = "Everywhere"


@dataclass(frozen=True, slots=True)
class Action:
    """Something a key does. ``scope`` is `EVERYWHERE` or the title of a page."""

    id: str
    text: str
    keys: tuple[str, ...]
    scope: str = EVERYWHERE


#: All actions with a key; pages add theirs here.
ACTIONS: tuple[Action, ...] = (
    Action("palette", "Search or run a command", ("Ctrl+K",)),
    Action("help", "Help for this page", ("F1",)),
    Action("lock", "Lock", ("Ctrl+L",)),
    Action("undo", "Undo", ("Ctrl+Z",)),
    Action("redo", "Redo", ("Ctrl+Shift+Z", "Ctrl+Y")),
    Action("save", "Save now", ("Ctrl+S",)),
    Action("find", "Search in this list", ("Ctrl+F",)),
    Action("new", "New", ("Ctrl+N",)),
    Action("close-workspace", "Close the workspace", ("Ctrl+W",)),
    Action("quit", "Quit", ("Ctrl+Q",)),
    Action("larger-text", "Larger text", ("Ctrl++", "Ctrl+=")),
    Action("smaller-text", "Smaller text", ("Ctrl+-",)),
    Action("go-rail", "Go to the page list", ("F6",)),
    # Down the rail by digits; function keys for the rest, since Ctrl+Alt types letters on some keyboards.
    Action("page-queue", "Queue", ("Ctrl+0",)),
    Action("page-tasks", "Tasks", ("Ctrl+1",)),
    Action("page-rubrics", "Rubrics", ("Ctrl+2",)),
    Action("page-graphs", "Graphs", ("Ctrl+3",)),
    Action("page-documents", "Documents", ("Ctrl+4",)),
    Action("page-drafts", "Drafts", ("Ctrl+5",)),
    Action("page-examples", "Examples", ("Ctrl+6",)),
    Action("page-runs", "Runs", ("Ctrl+7",)),
    Action("page-review", "Review", ("Ctrl+8",)),
    Action("page-results", "Results", ("Ctrl+9",)),
    Action("page-statistics", "Statistics", ("F7",)),
    Action("page-checklists", "Checklists", ("F8",)),
    Action("page-models", "Models", ("F9",)),
    Action("page-settings", "Settings", ("Ctrl+,",)),
    Action("graphs.add-step", "Add a step", ("N", "Insert"), "Graphs"),
    Action("graphs.add-after", "Add a step after the current one", ("Shift+N",), "Graphs"),
    Action("graphs.rename", "Edit the step's text", ("F2",), "Graphs"),
    Action("graphs.connect", "Draw a dependency", ("C",), "Graphs"),
    Action("graphs.delete", "Delete the selection", ("Delete",), "Graphs"),
    Action("graphs.copy", "Copy steps", ("Ctrl+C",), "Graphs"),
    Action("graphs.cut", "Cut steps", ("Ctrl+X",), "Graphs"),
    Action("graphs.paste", "Paste steps", ("Ctrl+V",), "Graphs"),
    Action("graphs.duplicate", "Duplicate steps", ("Ctrl+D",), "Graphs"),
    Action("graphs.select-all", "Select all steps", ("Ctrl+A",), "Graphs"),
    Action("graphs.group", "Group steps", ("G",), "Graphs"),
    Action("graphs.ungroup", "Ungroup steps", ("Shift+G",), "Graphs"),
    Action("graphs.layout", "Lay out", ("L",), "Graphs"),
    Action("graphs.fit", "Show the whole graph", ("0",), "Graphs"),
    Action("graphs.zoom-in", "Zoom in", ("+", "="), "Graphs"),
    Action("graphs.zoom-out", "Zoom out", ("-",), "Graphs"),
    Action("graphs.accept", "Accept the suggestion", ("A",), "Graphs"),
    Action("graphs.reject", "Reject the suggestion", ("R",), "Graphs"),
    Action("graphs.accept-all", "Accept all suggestions", ("Shift+A",), "Graphs"),
    Action("graphs.outline", "Between canvas and outline", ("F4",), "Graphs"),
    Action("graphs.import", "Import graphs", ("Ctrl+I",), "Graphs"),
    Action("graphs.export", "Export graphs", ("Ctrl+E",), "Graphs"),
    Action("review.rate-1", "Rate 1", ("1",), "Review"),
    Action("review.rate-2", "Rate 2", ("2",), "Review"),
    Action("review.rate-3", "Rate 3", ("3",), "Review"),
    Action("review.rate-4", "Rate 4", ("4",), "Review"),
    Action("review.rate-5", "Rate 5", ("5",), "Review"),
    Action("review.submit", "Submit and next", ("Ctrl+Return", "Return"), "Review"),
    Action("review.skip", "Skip", ("S",), "Review"),
    Action("review.next", "Next", ("Right", "J"), "Review"),
    Action("review.previous", "Previous", ("Left", "K"), "Review"),
    Action("review.comment", "Write a comment", ("C",), "Review"),
    Action("queue.open", "Open the next item", ("Return",), "Queue"),
    Action("documents.import", "Import documents", ("Ctrl+I",), "Documents"),
    Action("drafts.rate-1", "Rate 1", ("1",), "Drafts"),
    Action("drafts.rate-2", "Rate 2", ("2",), "Drafts"),
    Action("drafts.rate-3", "Rate 3", ("3",), "Drafts"),
    Action("drafts.rate-4", "Rate 4", ("4",), "Drafts"),
    Action("drafts.rate-5", "Rate 5", ("5",), "Drafts"),
    Action("drafts.next", "Next draft", ("Right", "J"), "Drafts"),
    Action("drafts.previous", "Draft before", ("Left", "K"), "Drafts"),
    Action("drafts.edit", "Choose and edit the draft", ("Ctrl+E",), "Drafts"),
    Action("drafts.accept", "Accept the change", ("Alt+A",), "Drafts"),
    Action("drafts.reject", "Reject the change", ("Alt+R",), "Drafts"),
    Action("drafts.next-change", "Next change", ("Alt+Down",), "Drafts"),
    Action("drafts.previous-change", "Change before", ("Alt+Up",), "Drafts"),
    Action("drafts.assist", "Edit with the model", ("Ctrl+M",), "Drafts"),
    Action("drafts.save", "Save example", ("Ctrl+Return",), "Drafts"),
    Action("rubrics.up", "Move the items up", ("Alt+Up",), "Rubrics"),
    Action("rubrics.down", "Move the items down", ("Alt+Down",), "Rubrics"),
    Action("rubrics.split", "Split the item", ("Ctrl+Shift+X",), "Rubrics"),
    Action("rubrics.merge", "Merge the items", ("Ctrl+M",), "Rubrics"),
    Action("rubrics.paste", "Paste items", ("Ctrl+Shift+V",), "Rubrics"),
    Action("rubrics.delete", "Delete the items", ("Delete",), "Rubrics"),
    Action("rubrics.edit", "Edit the item", ("F2",), "Rubrics"),
    Action("rubrics.items", "Back to the items", ("Ctrl+Return",), "Rubrics"),
    Action("rubrics.comment", "Write a comment", ("Ctrl+Alt+M",), "Rubrics"),
    Action("rubrics.skills", "Tag the item's skills", ("Ctrl+Shift+G",), "Rubrics"),
    Action("rubrics.version", "Keep a version", ("Ctrl+Shift+K",), "Rubrics"),
    Action("checklists.fill", "Fill the item with the selection", ("F",), "Checklists"),
    Action("checklists.add", "Add the selection to the item", ("A",), "Checklists"),
    Action("checklists.na", "Nothing in the text on the item", ("N",), "Checklists"),
    Action("checklists.not-applicable", "The item does not apply", ("X",), "Checklists"),
    Action("checklists.write", "Fill the item in own words", ("W",), "Checklists"),
    Action("checklists.side", "The other text", ("S",), "Checklists"),
    Action("checklists.same", "Says the same", ("1",), "Checklists"),
    Action("checklists.less", "Says less", ("2",), "Checklists"),
    Action("checklists.more", "Says more", ("3",), "Checklists"),
    Action("checklists.other", "Says something else", ("4",), "Checklists"),
    Action("checklists.against", "Contradicts it", ("5",), "Checklists"),
    Action("checklists.clear", "Take back the verdict", ("0",), "Checklists"),
    Action("checklists.next", "Next item", ("J",), "Checklists"),
    Action("checklists.previous", "Item before", ("K",), "Checklists"),
    Action("checklists.fault", "Next item that is not right", ("G",), "Checklists"),
    Action("checklists.finish", "Finish the checklist", ("Ctrl+Return",), "Checklists"),
    Action("checklists.check", "Check the checklist against its text", ("C",), "Checklists"),
    Action("checklists.next-text", "Next text", ("Ctrl+PgDown",), "Checklists"),
    Action("checklists.previous-text", "Text before", ("Ctrl+PgUp",), "Checklists"),
    Action("checklists.run", "Map and judge by model", ("Ctrl+R",), "Checklists"),
    Action("tasks.delete", "Delete the task", ("Delete",), "Tasks"),
    Action("examples.delete", "Delete the example", ("Delete",), "Examples"),
    Action("examples.import", "Import examples", ("Ctrl+I",), "Examples"),
    Action("runs.cancel", "Stop the run", ("Ctrl+.",), "Runs"),
    Action("runs.delete", "Delete the run", ("Delete",), "Runs"),
    Action("results.export", "Export data", ("Ctrl+E",), "Results"),
    Action("models.import", "Import a model", ("Ctrl+I",), "Models"),
)


def key_text(key: str) -> str:
    """A key as shown on a button: 'Ctrl Enter'."""
    if not key:
        return ""
    text = QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText)
    text = text.replace("Return", "Enter")
    for name, arrow in (("Left", "←"), ("Right", "→"), ("Up", "↑"), ("Down", "↓")):
        text = text.replace(name, arrow)
    # The key '+' itself comes last and stays.
    return text[:-1].replace("+", " ") + "+" if text.endswith("+") else text.replace("+", " ")


def is_single_key(key: str) -> bool:
    """Whether a key works without Ctrl, Alt or Meta and is no function key, so that it could be typed."""
    sequence = QKeySequence(key)
    if sequence.isEmpty():
        return False
    combination = sequence[0]  # type: ignore[index]  # PySide6 does not declare it
    held = combination.keyboardModifiers() & ~(
        Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier
    )
    function_key = Qt.Key.Key_F1 <= combination.key() <= Qt.Key.Key_F35
    return held == Qt.KeyboardModifier.NoModifier and not function_key


def is_typing(widget: QWidget | None) -> bool:
    """Whether keys pressed now would be text in this widget."""
    if isinstance(widget, QLineEdit | QPlainTextEdit | QTextEdit):
        return not widget.isReadOnly()
    if isinstance(widget, QComboBox):
        return widget.isEditable()
    return isinstance(widget, QAbstractSpinBox | QKeySequenceEdit)


class Shortcuts(QObject):
    """The keys in force."""

    changed = Signal()

    def __init__(self, own: Mapping[str, str], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._actions = {action.id: action for action in ACTIONS}
        self._own = {name: keys for name, keys in own.items() if name in self._actions}
        self._bindings: list[_Binding] = []
        self.typing = False
        app = QApplication.instance()
        if isinstance(app, QApplication):
            app.focusChanged.connect(self._on_focus)

    @property
    def own(self) -> dict[str, str]:
        """The person's choices where they differ from the defaults, for the settings file."""
        return dict(self._own)

    def action(self, action_id: str) -> Action:
        return self._actions[action_id]

    def keys(self, action_id: str) -> tuple[str, ...]:
        """The keys of an action, the first being the one shown."""
        if action_id in self._own:
            return tuple(key for key in self._own[action_id].split(_JOIN) if key)
        return self._actions[action_id].keys

    def hint(self, action_id: str) -> str:
        """The key as shown on a button; '' when it has none."""
        keys = self.keys(action_id)
        return key_text(keys[0]) if keys else ""

    def conflicts(self, action_id: str, key: str) -> list[Action]:
        """Other actions that the key would reach at the same time."""
        scope = self._actions[action_id].scope
        wanted = QKeySequence(key)
        return [
            action
            for action in self._actions.values()
            if action.id != action_id
            and (EVERYWHERE in (scope, action.scope) or scope == action.scope)
            and any(QKeySequence(other) == wanted for other in self.keys(action.id))
        ]

    def set_keys(self, action_id: str, keys: tuple[str, ...]) -> None:
        """Give an action other keys; its default ones need no entry in the settings."""
        if keys == self._actions[action_id].keys:
            self._own.pop(action_id, None)
        else:
            self._own[action_id] = _JOIN.join(keys)
        self.changed.emit()

    def reset(self) -> None:
        """Go back to the defaults."""
        self._own.clear()
        self.changed.emit()

    def bind(self, widget: QWidget, action_id: str, slot: Callable[[], object]) -> None:
        """Call a bound method when the key is pressed while ``widget`` is shown in the active window."""
        binding = _Binding(self, widget, action_id, slot)
        self._bindings = [b for b in self._bindings if shiboken6.isValid(b)]
        self._bindings.append(binding)

    @Slot("QWidget*", "QWidget*")
    def _on_focus(self, _old: QWidget | None, new: QWidget | None) -> None:
        typing = is_typing(new)
        if typing != self.typing:
            self.typing = typing
            for binding in self._bindings:
                if shiboken6.isValid(binding):
                    binding.heed_typing()


class _Binding(QObject):
    """One action of one widget: its `QShortcut` objects, made anew when keys change."""

    def __init__(
        self, shortcuts: Shortcuts, widget: QWidget, action_id: str, slot: Callable[[], object]
    ) -> None:
        super().__init__(widget)
        self._shortcuts = shortcuts
        self._widget = widget
        self._id = action_id
        self._slot = slot
        self._made: list[tuple[QShortcut, bool]] = []
        shortcuts.changed.connect(self._make)
        self._make()

    def heed_typing(self) -> None:
        for shortcut, single in self._made:
            if single:
                shortcut.setEnabled(not self._shortcuts.typing)

    @Slot()
    def _make(self) -> None:
        for shortcut, _single in self._made:
            with QSignalBlocker(shortcut):
                shortcut.setEnabled(False)
            shortcut.deleteLater()
        self._made = []
        for key in self._shortcuts.keys(self._id):
            shortcut = QShortcut(QKeySequence(key), self._widget)
            shortcut.setAutoRepeat(False)
            shortcut.activated.connect(self._fire)
            self._made.append((shortcut, is_single_key(key)))
        self.heed_typing()

    @Slot()
    def _fire(self) -> None:
        focused = QApplication.focusWidget()
        # A button says by `passes_enter` whose Enter is while it has the keyboard.
        wants_enter = not getattr(focused, "passes_enter", True)
        if isinstance(focused, QAbstractButton) and wants_enter and self._by_enter():
            focused.click()
        else:
            self._slot()

    def _by_enter(self) -> bool:
        """Whether the key just pressed is Enter alone."""
        shortcut = self.sender()
        return isinstance(shortcut, QShortcut) and shortcut.key() == QKeySequence(Qt.Key.Key_Return)
