"""Editing a task's sections: title and description of each, adding, moving, removing."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app import theme
from app.strings import say
from app.widgets.basics import row
from app.widgets.buttons import Button, IconButton
from app.widgets.editors import LineEditor
from core.types import SectionSpec


class _Line(QWidget):
    """One section's fields and buttons."""

    def __init__(self, owner: SectionsEditor, what: str) -> None:
        super().__init__(owner)
        self.title = LineEditor(say("Title of the {what}", what=what), placeholder=say("Title"))
        self.description = LineEditor(
            say("Description of the {what}", what=what), placeholder=say("What belongs in it")
        )
        self.up = IconButton("chevron-up", say("Move the {what} up", what=what))
        self.remove = IconButton("trash", say("Remove the {what}", what=what))
        layout = row(self.title, self.description, self.up, self.remove)
        layout.setStretch(0, 2)
        layout.setStretch(1, 4)
        self.setLayout(layout)


class SectionsEditor(QWidget):
    """Emits `edited` on every change; sections without a title are left out."""

    edited = Signal()

    def __init__(self, what: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._what = what
        self._lines: list[_Line] = []
        self._box = QVBoxLayout()
        self._box.setSpacing(theme.S)
        self._add = Button(say("Add an {what}", what=what), icon="plus")
        self._add.clicked.connect(self._on_add)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(theme.S)
        outer.addLayout(self._box)
        outer.addLayout(row(self._add, None))

    @property
    def sections(self) -> tuple[SectionSpec, ...]:
        """The sections as they stand in the fields."""
        return tuple(
            SectionSpec(title=line.title.text().strip(), description=line.description.text())
            for line in self._lines
            if line.title.text().strip()
        )

    def load(self, sections: Sequence[SectionSpec]) -> None:
        """Show sections; fields are kept where their number is the same."""
        while len(self._lines) > len(sections):
            self._drop(self._lines[-1])
        while len(self._lines) < len(sections):
            self._append()
        for line, section in zip(self._lines, sections, strict=True):
            line.title.load(section.title)
            line.description.load(section.description)

    def _append(self) -> _Line:
        line = _Line(self, self._what)
        line.title.edited.connect(self.edited)
        line.description.edited.connect(self.edited)
        line.up.clicked.connect(lambda: self._move_up(line))
        line.remove.clicked.connect(lambda: self._on_remove(line))
        self._lines.append(line)
        self._box.addWidget(line)
        return line

    def _on_add(self) -> None:
        self._append().title.setFocus()

    def _on_remove(self, line: _Line) -> None:
        self._drop(line)
        self.edited.emit()

    def _drop(self, line: _Line) -> None:
        self._lines.remove(line)
        self._box.removeWidget(line)
        line.hide()
        line.deleteLater()

    def _move_up(self, line: _Line) -> None:
        place = self._lines.index(line)
        if place:
            self._lines.insert(place - 1, self._lines.pop(place))
            self._box.removeWidget(line)
            self._box.insertWidget(place - 1, line)
            self.edited.emit()
