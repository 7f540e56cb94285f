"""Rating one output blind: the reference, the output, five axes by keys, a comment."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from PySide6.QtCore import Slot

from app import theme
from app.jobs import Pending
from app.operations import run_verb
from app.pages.review.axes import make_axes
from app.pages.review.desk import Desk
from app.pages.review.items import (
    QueueCounts,
    ReviewView,
    prepare_queue,
    read_review,
    save_comment,
    save_rating,
)
from app.pages.review.parts import Side
from app.pages.review.source import Source
from app.session import Session
from app.strings import count_words, say
from app.widgets.basics import Card, Scroller
from app.widgets.buttons import Button
from app.widgets.empty import EmptyState
from app.widgets.rating import RatingPanel
from app.widgets.reader import Reader, ScrollPair
from core.review.verbs import edit_review, submit_review
from core.types import SectionText


class RateDesk(Desk[ReviewView, QueueCounts]):
    """One output at a time."""

    title = "Ratings"
    kinds = ("review_item", "rating", "output", "example", "task")
    untouched = "Not rated yet"
    comment_words = ("Comment", "What decided it? (optional)")

    def __init__(self, session: Session, go: Callable[[str, object], object]) -> None:
        self._rated_here = False
        source = Source(prepare_queue, read_review, save_comment)
        super().__init__(session, source, QueueCounts(), go)
        for value in range(1, 6):
            session.shortcuts.bind(self, f"review.rate-{value}", partial(self.rate, value))

    def rate(self, value: int) -> None:
        """Rate the marked axis, as a number key does."""
        if self._view is not None:
            self.ratings.rate(value)

    # -- parts ---------------------------------------------------------------------------

    def build(self) -> tuple[Reader, ...]:
        self.source_button = Button(say("Input"), "choice")
        self.source_button.setCheckable(True)
        self.source_button.setToolTip(say("Show what the output was written from"))
        self.source_button.toggled.connect(self._show_left)
        self._left = Side(say("Reference"))
        self._left.head.addWidget(self.source_button)
        self._right = Side(say("Output"))
        # As tall as the other side's, so that the first lines stand level.
        self._right.heading.setMinimumHeight(self.source_button.sizeHint().height())
        self.reference, self.output = self._left.reader, self._right.reader
        for part in (self._left, self._right, self._make_ratings()):
            self.split.addWidget(part)
        for place, share in enumerate((4, 4, 3)):
            self.split.setStretchFactor(place, share)
        self.split.setSizes([440, 440, 300])
        self.scrolling = ScrollPair(self.reference, self.output)
        return self.output, self.reference

    def _make_ratings(self) -> Card:
        card = Card(say("Ratings"))
        scroller = Scroller()
        scroller.box.setSpacing(theme.S)
        self.ratings = RatingPanel(make_axes())
        self.ratings.rated.connect(self._write_rating)
        self.ratings.cleared.connect(self._write_rating)
        scroller.box.addWidget(self.ratings)
        scroller.box.addWidget(self.comment_label)
        scroller.box.addWidget(self.comment)
        scroller.box.addStretch(1)
        card.add(scroller, 1)
        return card

    # -- showing -------------------------------------------------------------------------

    def fill(self, view: ReviewView, other: bool) -> None:
        if other:
            self._rated_here = False
            self.source_button.setChecked(False)
        self._show_left()
        self.output.set_sections(view.written)
        words = sum(count_words(section.text) for section in view.written)
        self._right.set_heading(say("Output {pseudonym}", pseudonym=view.pseudonym), words)
        if dict(view.ratings) != self.ratings.values or other:
            self.ratings.set_values(view.ratings)

    @Slot()
    def _show_left(self) -> None:
        view = self._view
        if view is None:
            return
        source = self.source_button.isChecked()
        sections = view.source if source else view.reference
        if not source and not sections:
            sections = (SectionText(title="", text=say("This example has no reference.")),)
        words = sum(count_words(section.text) for section in sections)
        name = say("Input") if source else say("Reference")
        # The text under another heading is not the same text: start at its top.
        changed = self.reference.accessibleName() != name
        self.scrolling.enabled = not source
        self.reference.set_sections(sections)
        self._left.set_heading(name, words)
        if changed:
            self.reference.verticalScrollBar().setValue(0)

    def make_empty(self) -> EmptyState:
        if self._counts.total and not self._counts.open:
            words = say(
                "Every output in your queue is submitted or skipped. Your decisions stay "
                "editable: open one from the queue."
            )
            look = (say("Look through the queue"), partial(self._go, "queue", None))
            if self.session.package is not None:
                # A package has no results of its own: it goes back to where they are.
                send = say("Close this package and send the file back.")
                return EmptyState("check", say("Nothing waits for you"), f"{words} {send}", look)
            return EmptyState(
                "check",
                say("Nothing waits for you"),
                words,
                (say("See results"), partial(self._go, "results", None)),
                look,
            )
        return EmptyState(
            "review",
            say("Nothing to review yet"),
            say(
                "Here you read what a system wrote beside the reference, without knowing which "
                "system it was, and rate it from 1 to 5. Let a system write something first."
            ),
            (say("Go to Runs"), partial(self._go, "runs", None)),
        )

    # -- deciding ------------------------------------------------------------------------

    def problem(self, view: ReviewView) -> str:
        missing = [bar.axis for bar in self.ratings.bars.values() if bar.value is None]
        if not missing:
            return ""
        self.ratings.activate(missing[0].key)
        names = ", ".join(axis.name for axis in missing)
        return say("Not rated yet: {names}. Rate these, or skip the output.", names=names)

    def is_hasty(self, seconds: float) -> bool:
        return super().is_hasty(seconds) and not self._rated_here

    def hand_in(self, view: ReviewView, seconds: float) -> Pending[Any]:
        return run_verb(self, say("Submit review"), submit_review, view.item.id, self.comment.text)

    def put_off(self, view: ReviewView) -> Pending[Any]:
        return run_verb(self, say("Skip review"), edit_review, view.item.id, state="skipped")

    @Slot(str)
    @Slot(str, int)
    def _write_rating(self, axis: str, value: int | None = None) -> None:
        if self._view is None:
            return
        self._rated_here = True
        self.notice.hide()
        words = say("Rate {axis}", axis=axis.replace("_", " "))
        pending = run_verb(self, words, save_rating, self._view.item.id, axis, value)
        self.write(pending).success(self.note_written)
