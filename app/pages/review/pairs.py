"""Comparing two outputs blind: side by side, five strengths by keys, a reason, the rubric at hand."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from PySide6.QtCore import Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout

from app import theme
from app.jobs import Pending
from app.operations import run_verb
from app.pages.results.compare import difference_marks
from app.pages.review.adjudicate import AdjudicateDialog
from app.pages.review.desk import Desk
from app.pages.review.pair_items import (
    PairCounts,
    PairView,
    count_pairs,
    read_pair,
    save_pair_comment,
    set_tick,
)
from app.pages.review.parts import Side
from app.pages.review.source import Source
from app.pages.review.ticks import TickList
from app.session import Session
from app.strings import count_of, count_words, format_number, say
from app.widgets.basics import Card, Scroller
from app.widgets.buttons import Button
from app.widgets.empty import EmptyState
from app.widgets.reader import Reader, ScrollPair
from core.review.pairs import draw_pairs, edit_pair, submit_pair
from core.types.evaluation import Tick

_STRENGTHS = (
    "Left much better",
    "Left better",
    "Equal",
    "Right better",
    "Right much better",
)
#: The same where there is no room; the whole words stay in the tooltip and are spoken.
_SHORT = ("Left, much", "Left", "Equal", "Right", "Right, much")
_NARROW = 620
_PANELS = (("rubric", "Rubric"), ("input", "Input"), ("reference", "Reference"))
#: Pairs offered at first where there are more.
_FIRST_PAIRS = 60


class PairDesk(Desk[PairView, PairCounts]):
    """One pair at a time."""

    title = "Blind comparison"
    kinds = ("pair_item", "preference", "output", "rubric_tick", "example", "task")
    untouched = "Not compared yet"
    comment_words = ("Why (optional)", "What decided it?")

    def __init__(self, session: Session, go: Callable[[str, object], object]) -> None:
        self._strength: int | None = None
        source = Source(count_pairs, read_pair, save_pair_comment)
        super().__init__(session, source, PairCounts(), go)

    @property
    def strength(self) -> int | None:
        """What is chosen, 1 to 5."""
        return self._strength

    # -- what the person does ------------------------------------------------------------

    def choose(self, strength: int) -> None:
        """Choose a strength, as a number key does; it counts when it is handed in."""
        if self._view is None:
            return
        self._strength = strength
        self.notice.hide()
        self._show_strength()

    @Slot()
    def make_pairs(self) -> None:
        """Put pairs into the person's queue: sixty at first, then sixty more."""
        count = self._counts.total + _FIRST_PAIRS
        run_verb(self, say("Make pairs"), draw_pairs, self.session.person_id, count=count)

    @Slot()
    def adjudicate(self) -> None:
        """Open the pairs on which people disagree."""
        AdjudicateDialog(self).open()

    def show_panel(self, name: str) -> None:
        """Show the rubric, the input or the reference at the right."""
        self.panel_buttons[name].setChecked(True)
        self.ticks_box.setVisible(name == "rubric")
        self.panel_text.setVisible(name != "rubric")
        view = self._view
        if view is not None and name != "rubric":
            sections = view.source if name == "input" else view.reference
            self.panel_text.setAccessibleName(say("Input") if name == "input" else say("Reference"))
            self.panel_text.set_sections(sections)

    # -- parts ---------------------------------------------------------------------------

    def build(self) -> tuple[Reader, ...]:
        self._sides = (Side(say("Left")), Side(say("Right")))
        for part in (*self._sides, self._make_panel()):
            self.split.addWidget(part)
        for place, share in enumerate((5, 5, 3)):
            self.split.setStretchFactor(place, share)
        self.split.setSizes([450, 450, 300])
        self.left, self.right = (side.reader for side in self._sides)
        self.scrolling = ScrollPair(self.left, self.right)
        self.foot.add_above(self._make_choices())
        self.disputed = Button(say("Disagreements"), "quiet")
        self.disputed.setToolTip(say("Decide the pairs that people judged differently"))
        self.disputed.clicked.connect(self.adjudicate)
        self.foot.add_beside(self.disputed)
        return self.left, self.right

    def _make_panel(self) -> Card:
        card = Card()
        card.setAccessibleName(say("At hand"))
        line = QHBoxLayout()
        line.setSpacing(theme.XS)
        self._panel_group = QButtonGroup(self)
        self.panel_buttons: dict[str, Button] = {}
        for name, words in _PANELS:
            button = Button(say(words), "choice")
            button.setCheckable(True)
            button.clicked.connect(partial(self.show_panel, name))
            self._panel_group.addButton(button)
            self.panel_buttons[name] = button
            line.addWidget(button)
        line.addStretch(1)
        card.add(line)
        self.ticks = TickList()
        self.ticks.ticked.connect(self._on_ticked)
        self.ticks_box = Scroller()
        self.ticks_box.box.addWidget(self.ticks)
        self.ticks_box.box.addStretch(1)
        self.panel_text = Reader(say("Input"))
        self.panel_text.hide()
        card.add(self.ticks_box, 3)
        card.add(self.panel_text, 3)
        self.differences = Button(say("Differences"), "choice")
        self.differences.setCheckable(True)
        self.differences.setToolTip(say("Mark the words that only one side has"))
        self.differences.toggled.connect(self._show_differences)
        card.add(self.differences)
        card.add(self.comment_label)
        card.add(self.comment)
        self.panel_buttons["rubric"].setChecked(True)
        return card

    def _make_choices(self) -> QHBoxLayout:
        line = QHBoxLayout()
        line.setSpacing(theme.S)
        line.addStretch(1)
        self.choices: list[Button] = []
        for strength, words in enumerate(_STRENGTHS, 1):
            button = Button(
                say(words),
                "choice",
                shortcuts=self.session.shortcuts,
                action=f"review.rate-{strength}",
            )
            button.setCheckable(True)
            button.setAccessibleName(say(words))
            button.setToolTip(say(words))
            button.clicked.connect(partial(self.choose, strength))
            self.choices.append(button)
            line.addWidget(button)
        line.addStretch(1)
        return line

    # -- showing -------------------------------------------------------------------------

    def fill(self, view: PairView, other: bool) -> None:
        if other:
            self._strength = view.strength
            self.show_panel("rubric" if view.rubric else "input")
        for side, name, sections in zip(
            self._sides, (say("Left"), say("Right")), (view.left, view.right), strict=True
        ):
            side.reader.set_sections(sections)
            side.set_heading(name, sum(count_words(section.text) for section in sections))
        self.ticks.show_items(
            view.rubric, (view.item.left_output_id, view.item.right_output_id), view.ticks
        )
        self._show_differences()
        self._show_strength()

    @Slot()
    def _show_differences(self) -> None:
        view = self._view
        if view is None:
            return
        on = self.differences.isChecked()
        for reader, spans in (
            (self.left, view.difference.first),
            (self.right, view.difference.second),
        ):
            reader.set_marks(difference_marks(spans, "inserted") if on else ())

    def _show_strength(self) -> None:
        for strength, button in enumerate(self.choices, 1):
            button.setChecked(strength == self._strength)

    def place_words(self, place: int, total: int) -> str:
        return say(
            "pair {place} of {total}", place=format_number(place), total=format_number(total)
        )

    def team_words(self) -> str:
        counts = self._counts
        # How far the others are is no mark of theirs; it is hidden all the same while one works blind.
        if counts.team <= counts.total or counts.blind:
            return ""
        return say(
            "team {done} of {total}",
            done=format_number(counts.team_done),
            total=format_number(counts.team),
        )

    def make_empty(self) -> EmptyState:
        counts = self._counts
        if counts.total >= counts.possible and counts.total:
            return EmptyState(
                "check",
                say("Every pair is compared"),
                say("Your choices stay editable: go back with the arrow keys, or see the results."),
                (say("See results"), partial(self._go, "results", None)),
            )
        if counts.possible:
            count = min(_FIRST_PAIRS, counts.possible - counts.total)
            return EmptyState(
                "columns",
                say("Compare outputs two by two"),
                say(
                    "{possible} of outputs of the same example can be compared. You get them in "
                    "random order, with sides drawn for you, and without any names. Your colleagues "
                    "get the same pairs in an order of their own.",
                    possible=count_of(counts.possible, "pair", "pairs"),
                ),
                (
                    say("Begin with {pairs}", pairs=count_of(count, "pair", "pairs")),
                    self.make_pairs,
                ),
            )
        return EmptyState(
            "columns",
            say("Nothing to compare yet"),
            say(
                "Two systems must have written for the same example. Let another system write, "
                "or import outputs of another program."
            ),
            (say("Go to Runs"), partial(self._go, "runs", None)),
        )

    # -- deciding ------------------------------------------------------------------------

    def problem(self, view: PairView) -> str:
        if self._strength is None:
            return say("Choose which is better first, with the keys 1 to 5, or skip the pair.")
        return ""

    def hand_in(self, view: PairView, seconds: float) -> Pending[Any]:
        return run_verb(
            self,
            say("Submit comparison"),
            submit_pair,
            view.item.id,
            self._strength,
            self.comment.text,
            seconds=seconds,
        )

    def put_off(self, view: PairView) -> Pending[Any]:
        return run_verb(self, say("Skip comparison"), edit_pair, view.item.id, state="skipped")

    @Slot(str, str, object)
    def _on_ticked(self, output_id: str, item_id: str, tick: Tick | None) -> None:
        run_verb(
            self,
            say("Tick a rubric item"),
            set_tick,
            output_id,
            self.session.person_id,
            item_id,
            tick,
        ).success(self.note_written)

    def _fit(self) -> None:
        """Shorter words, and fewer lines for the reason, where there is no room."""
        narrow = self.width() < theme.current().px(_NARROW)
        for button, words, short in zip(self.choices, _STRENGTHS, _SHORT, strict=True):
            button.setText(say(short if narrow else words))
        self.comment.setMaximumHeight(theme.current().px(64) if narrow else 16_777_215)

    # -- Qt ------------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()
