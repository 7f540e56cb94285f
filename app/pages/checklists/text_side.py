"""One side of a comparison: its heading, the choice of checklist, and the text with what was found in it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal

from app.pages.checklists.reading import Side
from app.pages.checklists.result_list import ResultRow
from app.pages.checklists.text_view import Stretch, TextView
from app.pages.checklists.words import LOOKS
from app.strings import say
from app.widgets.basics import Card, ElidedLabel, label, row
from app.widgets.inputs import ComboBox
from core.checklists.verbs import spans_of
from core.types.rubrics import ChecklistEntry


class TextSide(Card):
    """Shows a `Side`; ``chosen`` tells which checklist is wanted, ``pointed`` which item was clicked."""

    chosen = Signal(str)
    pointed = Signal(str)

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self._name = name
        self._side: Side | None = None
        self.heading = ElidedLabel(name.upper())
        self.heading.setProperty("role", "overline")
        self.box_of_checklists = ComboBox(say("Checklist of the {side}", side=name.lower()))
        self.box_of_checklists.currentIndexChanged.connect(self._on_choice)
        self.box_of_checklists.setSizeAdjustPolicy(
            ComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self.box_of_checklists.setMinimumContentsLength(3)
        head = row(self.heading, self.box_of_checklists)
        head.setStretch(0, 1)
        head.setStretch(1, 1)
        self.view = TextView(name)
        self.view.pointed.connect(self._on_point)
        self.problem = label("", "muted", wrap=True)
        self.add(head)
        self.add(self.problem)
        self.add(self.view, 1)

    def show_side(self, side: Side | None) -> None:
        """Show a side's text and its checklists."""
        self._side = side
        self.setVisible(side is not None)
        if side is None:
            return
        current = side.checklist.id if side.checklist else "own"
        self.box_of_checklists.fill(list(side.choices), current)
        problem = side.problem
        if side.stale:
            problem = say(
                "The text has changed since it was mapped: places may be off. Map it anew."
            )
        self.problem.setText(problem)
        self.problem.setVisible(bool(problem))
        self.view.set_whole(side.text)

    def set_active(self, active: bool) -> None:
        """Mark the side that keys map into."""
        name = self._name.upper()
        self.heading.setText(f"▸ {name}" if active else name)
        self.heading.setToolTip(say("Keys map into this text") if active else "")

    def show_marks(
        self, rows: Sequence[ResultRow], current_id: str, unused: Sequence[tuple[int, int]]
    ) -> None:
        """Mark what the items rest on, each in its status, the current one on top; ``unused`` is greyed."""
        marked: list[Stretch] = []
        last: list[Stretch] = []
        for row_ in rows:
            entry = self._entry(row_.item.id)
            for start, end in spans_of(entry) if entry is not None else ():
                look = LOOKS[row_.status]
                if row_.item.id == current_id:
                    last.append(Stretch(start, end, "accent_soft", "accent", True, look.sign))
                else:
                    marked.append(
                        Stretch(start, end, look.ground, "text", look.underline, look.sign)
                    )
        grey = [Stretch(start, end, "hover", "muted") for start, end in unused]
        self.view.set_stretches([*grey, *marked, *last])

    def show_place_of(self, item_id: str) -> None:
        """Scroll to what an item rests on."""
        entry = self._entry(item_id)
        if entry is not None and entry.start >= 0:
            self.view.show_place(entry.start)

    def _entry(self, item_id: str) -> ChecklistEntry | None:
        """An item's entry whose places fit the text."""
        side = self._side
        entry = side.entries.get(item_id) if side is not None and not side.stale else None
        return entry if entry is not None and entry.state == "filled" else None

    def _on_choice(self, *_: object) -> None:
        self.chosen.emit(str(self.box_of_checklists.value or ""))

    def _on_point(self, place: int) -> None:
        """Tell the item that rests on a place; of several the one with the shortest stretch."""
        found = []
        for item_id in self._side.entries if self._side else ():
            entry = self._entry(item_id)
            for start, end in spans_of(entry) if entry is not None else ():
                if start <= place <= end:
                    found.append((end - start, item_id))
        if found:
            self.pointed.emit(min(found)[1])
