"""The fields of one item, what the linter says on it, and how it is put to a person and to a model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from PySide6.QtCore import QStringListModel, Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QCompleter, QVBoxLayout, QWidget

from app import theme
from app.pages.rubrics.preview import ItemPreview
from app.pages.rubrics.studio import Studio
from app.pages.rubrics.words import FLAWS, KINDS, human_preview
from app.strings import say
from app.widgets.basics import Folding, Label, Scroller, clear_layout, column, label
from app.widgets.editors import LineEditor, ProseEditor
from app.widgets.inputs import ComboBox, decimal_box
from app.widgets.notice import Notice
from core.errors import KnownError
from core.rubrics.conditions import parse_condition
from core.rubrics.verbs import example_of, tags_of, with_tags
from core.runs.prompts import render_prompt
from core.types import RubricItem

#: What the fields keep beside the preview.
_LEAST_HEIGHT = 200
#: Height of the whole below which the preview has less.
_LOW = 460


class ItemEditor(QWidget):
    """Emits `edited` while one types; `fields` is what the workspace is to be given."""

    edited = Signal()
    split_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._item: RubricItem | None = None
        self._studio: Studio | None = None
        self.title = LineEditor(say("Title"), placeholder=say("A few words"))
        self.description = ProseEditor(
            say("What to look for"), placeholder=say("What counts, and what does not"), lines=2
        )
        self.example = ProseEditor(
            say("Example of a good answer"),
            placeholder=say("As it would stand in the text"),
            lines=2,
        )
        self.group = LineEditor(say("Group"), placeholder=say("none"))
        self._groups = QStringListModel(self)
        completer = QCompleter(self._groups, self)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.group.setCompleter(completer)
        completer.activated.connect(self._on_edit)
        self.kind = ComboBox(say("Kind"), stretch=True)
        self.kind.fill([(say(words), kind) for kind, words in KINDS.items()])
        self.options = LineEditor(say("Options"), placeholder=say("first; second; third"))
        self.weight = decimal_box(say("Weight"), 0.0, 100.0, 1.0, decimals=2, step=0.5)
        self.condition = LineEditor(
            say("Condition"),
            placeholder=say('always; or: only if … ; or: "Another item" is "yes"'),
        )
        self.condition_note = label("", "small", wrap=True)
        self.tags = LineEditor(say("Tags"), placeholder=say("law, dates"))
        self.scope = ComboBox(say("Counts for"), stretch=True)
        self._build()
        self._show_kind()
        for field in (self.title, self.group, self.options, self.condition, self.tags):
            field.edited.connect(self._on_edit)
        for prose in (self.description, self.example):
            prose.edited.connect(self._on_edit)
        self.kind.currentIndexChanged.connect(self._on_edit)
        self.scope.currentIndexChanged.connect(self._on_edit)
        self.weight.valueChanged.connect(self._on_edit)

    @property
    def item(self) -> RubricItem | None:
        """The item shown, as the workspace had it."""
        return self._item

    def load(self, studio: Studio | None, item: RubricItem | None, *, typing: bool) -> None:
        """Show an item; with ``typing`` the fields stay and only marks and preview follow."""
        other = item is None or self._item is None or item.id != self._item.id
        self._studio, self._item = studio, item
        self.setEnabled(item is not None)
        if item is None or studio is None:
            clear_layout(self.flaws)
            self.preview.load("", "")
            return
        locked = studio.locked
        if other or not typing:
            self._fill(studio, item)
        for field in (self.title, self.group, self.options, self.condition, self.tags):
            field.setReadOnly(locked)
        for prose in (self.description, self.example):
            prose.setReadOnly(locked)
        for box in (self.kind, self.scope, self.weight):
            box.setEnabled(not locked)
        self._show_flaws(studio, item)
        self._show_preview()

    def fields(self) -> dict[str, Any]:
        """What differs from the item, by field; raises nothing, the verb checks."""
        item = self._item
        if item is None:
            return {}
        extra = with_tags(item.extra, _parts(self.tags.text()))
        extra.pop("example_id", None)
        if self.scope.value:
            extra["example_id"] = self.scope.value
        found: dict[str, Any] = {
            "title": self.title.text().strip() or item.title,
            "description": self.description.text,
            "example": self.example.text,
            "group": self.group.text().strip(),
            "kind": self.kind.value,
            "options": tuple(_parts(self.options.text())),
            "condition": self.condition.text().strip(),
            "weight": float(self.weight.value()),
            "extra": extra,
        }
        try:
            parse_condition(found["condition"])
        except KnownError:
            # Half-typed; it is said beside the field, and the last good one stays.
            del found["condition"]
        return {name: value for name, value in found.items() if value != getattr(item, name)}

    def _fill(self, studio: Studio, item: RubricItem) -> None:
        self.blockSignals(True)
        self.title.load(item.title)
        self.description.load(item.description)
        self.example.load(item.example)
        self.group.load(item.group)
        self.kind.choose(item.kind)
        self.options.load("; ".join(item.options))
        was = self.weight.blockSignals(True)
        self.weight.setValue(item.weight)
        self.weight.blockSignals(was)
        self.condition.load(item.condition)
        self.tags.load(", ".join(tags_of(item)))
        self.scope.fill(
            [(say("every example"), ""), *((title, key) for key, title in studio.examples)],
            example_of(item),
        )
        groups = list(dict.fromkeys(other.group for other in studio.items if other.group))
        self._groups.setStringList(groups)
        self._show_kind()
        self.blockSignals(False)

    def _build(self) -> None:
        scroller = Scroller()
        scroller.setMinimumHeight(theme.current().px(_LEAST_HEIGHT))
        scroller.box.setSpacing(theme.XS)
        self.flaws = QVBoxLayout()
        self.flaws.setSpacing(theme.XS)
        scroller.box.addLayout(self.flaws)
        self._add(scroller, say("Title"), self.title)
        self._add(scroller, say("What to look for"), self.description)
        self._add(scroller, say("Example of a good answer"), self.example)
        scroller.box.addSpacing(theme.S)
        scroller.box.addWidget(
            _pair((say("Group"), self.group, 1), (say("Kind"), self.kind, 1)),
        )
        self._options_label = self._add(scroller, say("Options"), self.options)
        self._add(scroller, say("Condition"), self.condition)
        scroller.box.addWidget(self.condition_note)
        self._add(scroller, say("Tags"), self.tags)
        scroller.box.addSpacing(theme.S)
        scroller.box.addWidget(
            _pair((say("Counts for"), self.scope, 2), (say("Weight"), self.weight, 1))
        )
        scroller.box.addStretch(1)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, theme.S, 0, 0)
        outer.setSpacing(theme.S)
        outer.addWidget(scroller, 1)
        self.preview = ItemPreview()
        outer.addWidget(self.preview)

    @staticmethod
    def _add(scroller: Scroller, name: str, field: QWidget) -> Label:
        scroller.box.addSpacing(theme.S)
        caption = _caption(name, field)
        scroller.box.addWidget(caption)
        scroller.box.addWidget(field)
        return caption

    @Slot()
    def _on_edit(self, *_: object) -> None:
        if self.signalsBlocked():
            return
        self._show_kind()
        self._show_preview()
        self.edited.emit()

    def _show_kind(self) -> None:
        shown = self.kind.value == "one_of"
        self.options.setVisible(shown)
        self._options_label.setVisible(shown)
        text = self.condition.text().strip()
        try:
            condition = parse_condition(text)
        except KnownError as error:
            self.condition_note.setText(f"{error.message} {error.remedy}")
            self.condition_note.setProperty("role", "error")
        else:
            self.condition_note.setProperty("role", "small")
            if not text:
                words = ""
            elif condition.is_question:
                words = say("A question: whoever maps the reference says whether it holds.")
            else:
                words = say("A formula: reckoned from what the reference says on those items.")
            self.condition_note.setText(words)
        self.condition_note.setVisible(bool(self.condition_note.text()))
        self.condition_note.style().unpolish(self.condition_note)
        self.condition_note.style().polish(self.condition_note)

    def _show_flaws(self, studio: Studio, item: RubricItem) -> None:
        clear_layout(self.flaws)
        for finding in studio.findings.get(item.id, ()):
            text = f"{say(FLAWS[finding.flaw])}. {finding.message}"
            action = say("Split") if finding.flaw == "compound" and not studio.locked else ""
            slot = self.split_asked.emit if action else None
            self.flaws.addWidget(Notice(text, "warning", action=action, slot=slot))

    def _show_preview(self) -> None:
        item, studio = self._item, self._studio
        if item is None or studio is None:
            return
        shown = _with(item, self.fields())
        values = {
            "field": say("your field"),
            "objective": studio.task.objective,
            "text": say("… the text …"),
            "item": shown,
        }
        if shown.kind in ("yes_no", "one_of"):
            options = shown.options if shown.kind == "one_of" else ("Yes", "No")
            messages = render_prompt("clear_pick", {**values, "options": options})
        else:
            messages = render_prompt("clear_map_one", values)
        self.preview.load(human_preview(shown), messages[-1].content.split("\n\n", 2)[-1])

    # -- Qt ------------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.preview.set_low(self.height() < theme.current().px(_LOW))


def _caption(name: str, field: QWidget) -> Label:
    made = Label(name)
    made.setProperty("role", "strong")
    made.setBuddy(field)
    return made


def _pair(*fields: tuple[str, QWidget, int]) -> Folding:
    """Two fields with their captions, side by side where there is room; (name, field, share)."""
    columns = [
        (column(_caption(name, field), field, spacing=theme.XS), share)
        for name, field, share in fields
    ]
    return Folding(*columns, spacing=theme.M)


def _parts(text: str) -> list[str]:
    found = [part.strip() for part in text.replace(";", "\n").replace(",", "\n").split("\n")]
    return list(dict.fromkeys(part for part in found if part))


def _with(item: RubricItem, fields: dict[str, Any]) -> RubricItem:
    return replace(item, **fields)
