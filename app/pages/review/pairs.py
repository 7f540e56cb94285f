"""Comparing two outputs blind: side by side, five strengths by keys, a reason, the rubric at hand."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent, QTextCursor
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QSplitter, QVBoxLayout, QWidget

from app import theme
from app.operations import run_query, run_verb
from app.pages.results.compare import difference_marks
from app.pages.review.adjudicate import AdjudicateDialog
from app.pages.review.pair_items import (
    PairCounts,
    PairView,
    count_pairs,
    read_pair,
    save_pair_comment,
    set_tick,
)
from app.pages.review.parts import Side
from app.pages.review.ticks import TickList
from app.session import Session
from app.strings import count_words, format_number, say, shorten
from app.widgets.basics import Card, ElidedLabel, Scroller, clear_layout, label
from app.widgets.buttons import Button
from app.widgets.editors import ProseEditor, SaveLabel, Saver
from app.widgets.empty import EmptyState
from app.widgets.notice import Notice
from app.widgets.reader import Reader, ScrollPair
from core.review.pairs import draw_pairs, edit_pair, submit_pair
from core.types.evaluation import Tick

#: Handed in sooner than this after a pair came into view, one is asked whether one meant it.
QUICK_SECONDS = 1.0

_SHOW, _NEXT, _PREVIOUS, _NEXT_OPEN = 0, 1, -1, 2
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


class PairReview(QWidget):
    """One pair at a time; the page around it says where one is."""

    #: The subtitle changed.
    told = Signal(str)
    #: How many pairs wait.
    waiting = Signal(int)

    def __init__(self, session: Session, go: Callable[[str, object], object]) -> None:
        super().__init__()
        self.session = session
        self._go = go
        self._view: PairView | None = None
        self._counts = PairCounts()
        self._generation = 0
        self._writing = 0
        self._stale = False
        self._moving = False
        self._questioned = ""
        self._strength: int | None = None
        self._began = time.monotonic()
        self.setAccessibleName(say("Blind comparison"))
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(theme.L)
        self.body = QWidget()
        box = QVBoxLayout(self.body)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(theme.L)
        split = QSplitter(Qt.Orientation.Horizontal)
        split.setChildrenCollapsible(False)
        split.setHandleWidth(theme.L)
        self._sides = (Side(say("Left")), Side(say("Right")))
        for side in self._sides:
            split.addWidget(side)
        split.addWidget(self._make_panel())
        for place, share in enumerate((5, 5, 3)):
            split.setStretchFactor(place, share)
        split.setSizes([450, 450, 300])
        self.left, self.right = (side.reader for side in self._sides)
        self.scrolling = ScrollPair(self.left, self.right)
        box.addWidget(split, 1)
        self.notice = Notice("", "warning")
        self.notice.hide()
        box.addWidget(self.notice)
        box.addWidget(self._make_foot())
        self.empty_box = QVBoxLayout()
        outer.addWidget(self.body, 1)
        outer.addLayout(self.empty_box)

    # -- what the page asks --------------------------------------------------------------

    @property
    def item_id(self) -> str:
        """The pair shown; '' for none."""
        return self._view.item.id if self._view else ""

    @property
    def view(self) -> PairView | None:
        return self._view

    @property
    def strength(self) -> int | None:
        """What is chosen, 1 to 5."""
        return self._strength

    def refresh(self, wanted: str = "") -> None:
        """Read counts and the pair again."""
        run_query(self, count_pairs, self.session.workspace, self.session.person_id).success(
            self._show_counts
        )
        if self._writing or self._moving:
            # A reload must not overtake a write of one's own, nor the way to another pair.
            self._stale = True
        else:
            self._load(wanted or self.item_id, _SHOW)

    def settle(self) -> list[Future[Any]]:
        """Write what was typed."""
        future = self.saver.flush()
        return [future] if future is not None else []

    # -- what the person does ------------------------------------------------------------

    def choose(self, strength: int) -> None:
        """Choose a strength, as a number key does; it counts when it is handed in."""
        if self._view is None:
            return
        self._strength = strength
        self.notice.hide()
        self._show_strength()

    @Slot()
    def submit(self) -> None:
        """Hand the choice in and go on to the next pair that waits."""
        view = self._view
        if view is None:
            return
        if self._strength is None:
            self._warn(say("Choose which is better first, with the keys 1 to 5, or skip the pair."))
            return
        seconds = time.monotonic() - self._began
        if seconds < QUICK_SECONDS and self._questioned != view.item.id:
            self._questioned = view.item.id
            self._warn(
                say("That was within a second of seeing the pair. Hand it in again if you mean it.")
            )
            return
        self._leave()
        self._writing += 1
        run_verb(
            self,
            say("Submit comparison"),
            submit_pair,
            view.item.id,
            self._strength,
            self.why.text,
            seconds=seconds,
        ).success(partial(self._on_left, view.item.id)).end(self._after_write)

    @Slot()
    def skip(self) -> None:
        """Leave this pair for later."""
        view = self._view
        if view is None:
            return
        self._leave()
        self._writing += 1
        run_verb(self, say("Skip comparison"), edit_pair, view.item.id, state="skipped").success(
            partial(self._on_left, view.item.id)
        ).end(self._after_write)

    @Slot()
    def show_next(self) -> None:
        """The pair after this one, whatever its state."""
        self._step(_NEXT)

    @Slot()
    def show_previous(self) -> None:
        """The pair before this one; it stays editable."""
        self._step(_PREVIOUS)

    @Slot()
    def make_pairs(self) -> None:
        """Put pairs into the person's queue: sixty at first, then sixty more."""
        count = self._counts.total + _FIRST_PAIRS
        run_verb(self, say("Make pairs"), draw_pairs, self.session.person_id, count=count).success(
            lambda _outcome: self.refresh()
        )

    @Slot()
    def adjudicate(self) -> None:
        """Open the pairs on which people disagree."""
        AdjudicateDialog(self).open()

    @Slot()
    def focus_why(self) -> None:
        """Put the keyboard into the reason."""
        self.why.setFocus(Qt.FocusReason.ShortcutFocusReason)

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
        caption = label(say("Why (optional)"), "strong")
        self.why = ProseEditor(say("Why"), placeholder=say("What decided it?"), lines=3)
        caption.setBuddy(self.why)
        self.saver = Saver(self.session, self._save_why, self)
        self.why.edited.connect(self.saver.touch)
        card.add(caption)
        card.add(self.why)
        self.panel_buttons["rubric"].setChecked(True)
        return card

    def _make_foot(self) -> Card:
        keys = self.session.shortcuts
        card = Card()
        card.setAccessibleName(say("Decide"))
        choices = QHBoxLayout()
        choices.setSpacing(theme.S)
        choices.addStretch(1)
        self._choice_group = QButtonGroup(self)
        self._choice_group.setExclusive(False)
        self.choices: list[Button] = []
        for strength, words in enumerate(_STRENGTHS, 1):
            button = Button(say(words), "choice", shortcuts=keys, action=f"review.rate-{strength}")
            button.setCheckable(True)
            button.setAccessibleName(say(words))
            button.setToolTip(say(words))
            button.clicked.connect(partial(self.choose, strength))
            self.choices.append(button)
            choices.addWidget(button)
        choices.addStretch(1)
        self.state = ElidedLabel()
        self.state.setProperty("role", "muted")
        line = QHBoxLayout()
        line.setSpacing(theme.S)
        self.previous = Button(say("Previous"), "quiet", shortcuts=keys, action="review.previous")
        self.previous.clicked.connect(self.show_previous)
        self.next = Button(say("Next"), "quiet", shortcuts=keys, action="review.next")
        self.next.clicked.connect(self.show_next)
        self.disputed = Button(say("Disagreements"), "quiet")
        self.disputed.setToolTip(say("Decide the pairs that people judged differently"))
        self.disputed.clicked.connect(self.adjudicate)
        line.addWidget(self.disputed)
        self.skip_button = Button(say("Skip"), shortcuts=keys, action="review.skip")
        self.skip_button.clicked.connect(self.skip)
        self.submit_button = Button(
            say("Submit and next"), "primary", shortcuts=keys, action="review.submit"
        )
        self.submit_button.clicked.connect(self.submit)
        line.insertWidget(0, self.previous)
        line.insertWidget(1, self.next)
        line.insertWidget(2, self.state, 1)
        line.addWidget(SaveLabel(self.saver))
        line.addWidget(self.skip_button)
        line.addWidget(self.submit_button)
        card.add(choices)
        card.add(line)
        keys.bind(self.body, "review.comment", self.focus_why)
        return card

    # -- showing -------------------------------------------------------------------------

    def _load(self, wanted: str, step: int) -> None:
        self._generation += 1
        generation = self._generation
        self._moving = step != _SHOW

        def take(view: PairView | None) -> None:
            if generation == self._generation:
                self._show(view)

        def end() -> None:
            if generation == self._generation:
                self._moving = False
                self._read_what_came_meanwhile()

        run_query(
            self, read_pair, self.session.workspace, self.session.person_id, wanted, step
        ).success(take).end(end)

    def _read_what_came_meanwhile(self) -> None:
        if self._stale and not self._writing and not self._moving:
            self._stale = False
            self.refresh()

    def _show(self, view: PairView | None) -> None:
        other = view is None or view.item.id != self.item_id
        if not other and self._writing:
            return
        self._view = view
        self._show_emptiness()
        if view is None:
            return
        if other:
            self.notice.hide()
            self._began = time.monotonic()
            self._strength = view.strength
            self.show_panel("rubric" if view.rubric else "input")
        if other or not self.saver.dirty:
            self.why.load(view.item.comment)
        for side, name, sections in zip(
            self._sides, (say("Left"), say("Right")), (view.left, view.right), strict=True
        ):
            side.reader.set_sections(sections)
            words = sum(count_words(section.text) for section in sections)
            side.set_heading(name, words)
            if other:
                side.reader.moveCursor(QTextCursor.MoveOperation.Start)
                side.reader.verticalScrollBar().setValue(0)
        self.ticks.show_items(
            view.rubric, (view.item.left_output_id, view.item.right_output_id), view.ticks
        )
        self._show_differences()
        self._show_strength()
        self._show_progress()

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

    def _show_counts(self, counts: PairCounts) -> None:
        self._counts = counts
        self.waiting.emit(counts.open)
        self._show_progress()
        self._show_emptiness()

    def _show_progress(self) -> None:
        view, counts = self._view, self._counts
        if view is None:
            self.told.emit("")
            return
        self.told.emit(
            " · ".join(
                (
                    shorten(view.task.objective, 60),
                    say(
                        "pair {place} of {total}",
                        place=format_number(view.place),
                        total=format_number(max(counts.total, view.place)),
                    ),
                )
            )
        )
        words = {
            "pending": say("Not compared yet"),
            "draft": say("Draft"),
            "submitted": say("Submitted; you can still change it"),
            "skipped": say("Skipped"),
        }[view.item.state]
        parts = [words, say("{count} waiting", count=format_number(counts.open))]
        # How far the others are is no mark of theirs; it is hidden all the same while one works blind.
        if counts.team > counts.total and not counts.blind:
            parts.append(
                say(
                    "team {done} of {total}",
                    done=format_number(counts.team_done),
                    total=format_number(counts.team),
                )
            )
        self.state.setText(" · ".join(parts))

    def _show_emptiness(self) -> None:
        clear_layout(self.empty_box)
        self.body.setVisible(self._view is not None)
        if self._view is not None:
            return
        counts = self._counts
        if counts.total >= counts.possible and counts.total:
            empty = EmptyState(
                "check",
                say("Every pair is compared"),
                say("Your choices stay editable: go back with the arrow keys, or see the results."),
                (say("See results"), partial(self._go, "results", None)),
            )
        elif counts.possible:
            count = min(_FIRST_PAIRS, counts.possible - counts.total)
            empty = EmptyState(
                "columns",
                say("Compare outputs two by two"),
                say(
                    "{possible} pairs of outputs of the same example can be compared. You get them in "
                    "random order, with sides drawn for you, and without any names. Your colleagues "
                    "get the same pairs in an order of their own.",
                    possible=format_number(counts.possible),
                ),
                (say("Begin with {count} pairs", count=format_number(count)), self.make_pairs),
            )
        else:
            empty = EmptyState(
                "columns",
                say("Nothing to compare yet"),
                say(
                    "Two systems must have written for the same example. Let another system write, "
                    "or import outputs of another program."
                ),
                (say("Go to Runs"), partial(self._go, "runs", None)),
            )
        self.empty_box.addWidget(empty)

    def _warn(self, text: str) -> None:
        self.notice.set_text(text)
        self.notice.show()

    def _fit(self) -> None:
        """Shorter words, and fewer lines for the reason, where there is no room."""
        narrow = self.width() < theme.current().px(_NARROW)
        for button, words, short in zip(self.choices, _STRENGTHS, _SHORT, strict=True):
            button.setText(say(short if narrow else words))
        self.why.setMaximumHeight(theme.current().px(64) if narrow else 16_777_215)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    # -- writing -------------------------------------------------------------------------

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
        )

    def _save_why(self) -> Future[Any] | None:
        view = self._view
        if view is None or self.why.text == view.item.comment:
            return None
        return self.session.workspace.submit(
            say("Reason"), self.session.person_id, save_pair_comment, view.item.id, self.why.text
        )

    def _leave(self) -> None:
        self.saver.flush()
        self.notice.hide()

    def _step(self, step: int) -> None:
        if self._view is not None:
            self._leave()
            self._load(self.item_id, step)

    def _on_left(self, item_id: str, _outcome: object) -> None:
        if item_id == self.item_id:
            self._load(item_id, _NEXT_OPEN)

    def _after_write(self) -> None:
        self._writing -= 1
        self._read_what_came_meanwhile()
