"""One output beside the reference: both texts with what was found in them, the items, and the verdicts.

Mapping and judging are done here by keys. A key acts on the current item and, for mapping, on the side
last worked in, which says so.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSplitter, QVBoxLayout, QWidget

from app import theme
from app.operations import run_job, run_query, run_verb
from app.pages.checklists.entry_verbs import describe_checks, judge_item, map_item, run_checks
from app.pages.checklists.item_panel import VERDICTS, ItemPanel
from app.pages.checklists.reading import Comparison, Side, TextRow, read_comparison
from app.pages.checklists.text_side import TextSide
from app.pages.checklists.text_view import TextView
from app.session import Session
from app.strings import say, shorten
from app.widgets.basics import Card
from app.widgets.notice import Notice
from core.checklists.checks import CoverageCheck, EntryCheck
from core.checklists.judging import clear_verdict
from core.checklists.scores import Judge
from core.checklists.verbs import finish_checklist

#: Lower than this the buttons for an item stand under the texts, so that the list of items has room.
_LOW = 480
#: Characters of an item's title in what undo says.
_TITLE = 30


class CompareView(QWidget):
    """The two sides and the items. ``show_text`` says which text under which judge."""

    said = Signal(str)

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self._rubric_id = ""
        self._row: TextRow | None = None
        self._judge = Judge("person", "")
        self._choices = {"reference": "", "output": ""}
        self._comparison: Comparison | None = None
        self._generation = 0
        self._side = "output"
        self._unused: dict[str, CoverageCheck] = {}
        self.reference = TextSide(say("Reference"))
        self.output = TextSide(say("Output"))
        self._sides = {"reference": self.reference, "output": self.output}
        self.panel = ItemPanel(session.shortcuts)
        for name, part in self._sides.items():
            part.chosen.connect(partial(self._choose, name))
            part.pointed.connect(self.panel.list.select_id)
            part.view.entered.connect(partial(self.activate, name))
        self.panel.item_changed.connect(self._on_item)
        self.panel.asked.connect(self._on_button)
        self.panel.wrote.connect(self._write)
        split = QSplitter(Qt.Orientation.Horizontal)
        split.setChildrenCollapsible(False)
        split.setHandleWidth(theme.M)
        for column in (self.reference, self.output, self.panel):
            split.addWidget(column)
            split.setStretchFactor(split.count() - 1, 1)
        split.setSizes([360, 360, 360])
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, theme.S, 0, 0)
        outer.setSpacing(theme.S)
        self.notice = Notice("", "info")
        self.notice.hide()
        outer.addWidget(self.notice)
        outer.addWidget(split, 1)
        self._low = False
        self.foot = Card()
        self.foot.setAccessibleName(say("What to say of the item"))
        self.foot.box.setContentsMargins(theme.L, theme.S, theme.L, theme.S)
        self.foot.hide()
        outer.addWidget(self.foot)
        self.activate("output")

    # -- what the page says --------------------------------------------------------------

    def show_text(self, rubric_id: str, text: TextRow | None, judge: Judge) -> None:
        """Show one text under a judge."""
        other = (rubric_id, text) != (self._rubric_id, self._row)
        self._rubric_id, self._row, self._judge = rubric_id, text, judge
        if other:
            self._choices = {"reference": "", "output": ""}
            self._unused = {}
            self.notice.hide()
        self.reload()

    def reload(self) -> None:
        """Read what is shown anew."""
        if self._row is None or not self._rubric_id:
            self._comparison = None
            self._show()
            return
        self._generation += 1
        generation = self._generation

        def take(found: Comparison) -> None:
            if generation == self._generation:
                self._comparison = found
                self._show()

        run_query(
            self,
            read_comparison,
            self.session.workspace,
            self._rubric_id,
            self._row,
            self.session.person_id,
            self._judge,
            self._choices["reference"],
            self._choices["output"],
        ).success(take)

    @property
    def comparison(self) -> Comparison | None:
        return self._comparison

    @property
    def side(self) -> str:
        """'reference' or 'output': where mapping keys go."""
        return self._side

    def activate(self, side: str) -> None:
        """Let mapping keys go to a side."""
        if side == "output" and self._row is not None and not self._row.output_id:
            side = "reference"
        self._side = side
        for name, part in self._sides.items():
            part.set_active(name == side)

    # -- mapping by keys -----------------------------------------------------------------

    @Slot()
    def fill(self) -> None:
        """Fill the item with what is selected."""
        self._fill(add=False)

    @Slot()
    def add(self) -> None:
        """Add what is selected to the item."""
        self._fill(add=True)

    @Slot()
    def mark_na(self) -> None:
        """Say that the text has nothing on the item, and go on."""
        self._mark("na", say("Mark as not in the text"))

    @Slot()
    def mark_not_applicable(self) -> None:
        """Say that the item does not apply, and go on."""
        self._mark("not_applicable", say("Mark as not applicable"))

    @Slot()
    def write(self) -> None:
        """Fill the item in one's own words."""
        self.panel.own_words.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.panel.own_words.selectAll()

    @Slot()
    def finish(self) -> None:
        """Mark all items not looked at as not in the text."""
        side = self._active()
        if side is None or side.checklist is None:
            self.said.emit(say("Map an item first."))
            return
        run_verb(self, say("Finish checklist"), finish_checklist, side.checklist.id)

    @Slot()
    def check(self) -> None:
        """Look which entries are not in the text, and which sentences no entry rests on."""
        self._check(None)

    @Slot()
    def check_with_model(self) -> None:
        """The same, and let the model look for items that may have been missed."""
        self._check(self.session.models)

    @Slot()
    def switch_side(self) -> None:
        """Go to the other text."""
        self.activate("output" if self._side == "reference" else "reference")
        self._active_view().setFocus(Qt.FocusReason.ShortcutFocusReason)

    @Slot()
    def next_item(self) -> None:
        """The item below."""
        self.panel.step(1)

    @Slot()
    def previous_item(self) -> None:
        """The item above."""
        self.panel.step(-1)

    @Slot()
    def next_fault(self) -> None:
        """The next item that is not as the reference has it."""
        if not self.panel.step_to_fault():
            self.said.emit(say("No other item is incomplete, wrong, missing or added."))

    # -- judging by keys -----------------------------------------------------------------

    def judge(self, name: str) -> None:
        """Give one of `VERDICTS` on the item and go on to the next."""
        found, item = self._comparison, self.panel.item
        pair = (
            next((p for p in found.pairs if item and p.item.id == item.id), None) if found else None
        )
        if found is None or item is None or pair is None or found.output is None:
            self.said.emit(say("Map both texts first."))
            return
        if not pair.asked:
            self.said.emit(
                pair.open or say("There is nothing to judge: a side has nothing on this item.")
            )
            return
        recall, precision, contradicted = next(v for key, v, _, _ in VERDICTS if key == name)
        assert found.reference.checklist is not None
        assert found.output.checklist is not None
        run_verb(
            self,
            say("Judge {title}", title=shorten(item.title, _TITLE)),
            judge_item,
            found.reference.checklist.id,
            found.output.checklist.id,
            item.id,
            recall=recall,
            precision=precision,
            contradicted=contradicted,
            adjudicate=item.id in found.disputed,
        )
        self.next_item()

    @Slot()
    def clear(self) -> None:
        """Take back one's own verdict on the item."""
        found, item = self._comparison, self.panel.item
        if (
            found is None
            or item is None
            or found.output is None
            or found.output.checklist is None
            or found.reference.checklist is None
        ):
            self.said.emit(say("There is no verdict of yours on this item to take back."))
            return
        run_verb(
            self,
            say("Take back verdict"),
            clear_verdict,
            found.reference.checklist.id,
            found.output.checklist.id,
            item.id,
        )

    # -- showing -------------------------------------------------------------------------

    def _show(self) -> None:
        found = self._comparison
        self.reference.show_side(found.reference if found else None)
        self.output.show_side(found.output if found else None)
        self.panel.show_comparison(found)
        self._show_marks()

    def _show_marks(self) -> None:
        rows, current = self.panel.model.rows, self.panel.list.current_id
        for name, side in self._sides.items():
            checked = self._unused.get(name)
            side.show_marks(rows, current, checked.sentences if checked else ())

    @Slot(str)
    def _on_item(self, item_id: str) -> None:
        self._show_marks()
        for side in self._sides.values():
            side.show_place_of(item_id)

    # -- doing ---------------------------------------------------------------------------

    @Slot(str)
    def _on_button(self, name: str) -> None:
        mapping = {
            "fill": self.fill,
            "na": self.mark_na,
            "not-applicable": self.mark_not_applicable,
        }
        if name in mapping:
            mapping[name]()
        else:
            self.judge(name)

    def _active(self) -> Side | None:
        found = self._comparison
        if found is None:
            return None
        return found.output if self._side == "output" else found.reference

    def _active_view(self) -> TextView:
        return self._sides[self._side].view

    def _choose(self, side: str, choice: str) -> None:
        self._choices[side] = choice
        self.reload()

    def _fill(self, *, add: bool) -> None:
        item, side = self.panel.item, self._active()
        if item is None or side is None:
            self.said.emit(say("There is no item to fill."))
            return
        place = self._active_view().selection()
        if place is None:
            self.said.emit(say("Select what the text says on '{title}' first.", title=item.title))
            return
        self._map(
            say("Fill {title}", title=shorten(item.title, _TITLE)),
            side,
            item.id,
            "fill",
            start=place[0],
            end=place[1],
            add=add,
        )
        if not add:
            self.next_item()

    def _mark(self, state: str, words: str) -> None:
        item, side = self.panel.item, self._active()
        if item is not None and side is not None:
            self._map(words, side, item.id, "mark", state=state)
            self.next_item()

    @Slot(str)
    def _write(self, text: str) -> None:
        item, side = self.panel.item, self._active()
        if item is not None and side is not None:
            words = say("Fill {title}", title=shorten(item.title, _TITLE))
            self._map(words, side, item.id, "write", text=text)
            self.next_item()

    def _check(self, models: Any) -> None:
        side, name = self._active(), self._side
        if side is None or side.checklist is None:
            self.said.emit(say("Map an item first."))
            return

        def take(found: tuple[list[EntryCheck], CoverageCheck]) -> None:
            self._unused[name] = found[1]
            self.notice.set_text(describe_checks(*found))
            self.notice.show()
            self._show_marks()

        run_job(
            self,
            say("Checking the checklist"),
            run_checks,
            self.session.workspace,
            models,
            side.checklist.id,
            self.session.person_id,
            noun="items",
        ).success(take)

    def _place_actions(self, low: bool) -> None:
        if low != self._low:
            self._low = low
            (self.foot if low else self.panel).add(self.panel.button_rows)
            self.foot.setVisible(low)

    def _map(self, words: str, side: Side, item_id: str, what: str, **fields: Any) -> None:
        checklist_id = side.checklist.id if side.checklist and not side.stale else ""
        if not checklist_id:
            self._choices[self._side] = "own"
        run_verb(self, words, map_item, side.target, checklist_id, item_id, what, fields)

    # -- Qt ------------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_actions(event.size().height() < theme.current().px(_LOW))
