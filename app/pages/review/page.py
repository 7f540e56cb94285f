"""Review, blind: one output beside its reference with five ratings by keys, or two outputs side by side."""

from __future__ import annotations

import time
from concurrent.futures import Future
from functools import partial
from typing import Any

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QResizeEvent, QTextCursor
from PySide6.QtWidgets import QButtonGroup, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from app import theme
from app.operations import run_query, run_verb
from app.pages.base import Command
from app.pages.base import Page as BasePage
from app.pages.review.axes import make_axes
from app.pages.review.items import (
    QueueCounts,
    ReviewView,
    prepare_queue,
    read_review,
    save_comment,
    save_rating,
)
from app.pages.review.pairs import QUICK_SECONDS, PairReview
from app.pages.review.parts import Foot, Side
from app.strings import count_words, format_duration, format_number, say, shorten
from app.widgets.basics import Card, Scroller, label
from app.widgets.buttons import Button
from app.widgets.editors import ProseEditor, Saver
from app.widgets.empty import EmptyState
from app.widgets.notice import Notice
from app.widgets.rating import RatingPanel
from app.widgets.reader import ScrollPair
from core.changes import Changes
from core.review.verbs import edit_review, submit_review
from core.types import SectionText

_SHOW, _NEXT, _PREVIOUS, _NEXT_OPEN = 0, 1, -1, 2
#: Narrower than this there is no room for the pill.
_PILL_WIDTH = 700
#: Longer than this between two submissions was a break, not work.
_BREAK_SECONDS = 1800.0


class Page(BasePage):
    """One item of the queue at a time: an output to rate, or in the other mode a pair to compare."""

    name = "review"
    title = "Review"
    kinds = (
        "review_item",
        "rating",
        "output",
        "example",
        "task",
        "pair_item",
        "preference",
        "rubric_tick",
    )

    def build(self) -> None:
        self._view: ReviewView | None = None
        self._counts = QueueCounts()
        self._wanted = ""
        self._wanted_scroll: float | None = None
        self._generation = 0
        self._writing = 0
        self._stale_ratings = False
        self._moving = False
        self._durations: list[float] = []
        self._began = time.monotonic()
        self.blind_label = label(say("Blind: names hidden everywhere"), "pill")
        self.action_row.addWidget(self.blind_label)
        self._rated_here = False
        self._questioned = False
        self._mode_group = QButtonGroup(self)
        self.mode_buttons: dict[str, Button] = {}
        for mode, words in (("rate", say("Rate")), ("compare", say("Compare pairs"))):
            button = Button(words, "choice")
            button.setCheckable(True)
            button.clicked.connect(partial(self.show_mode, mode))
            self._mode_group.addButton(button)
            self.mode_buttons[mode] = button
            self.action_row.addWidget(button)
        self.mode_buttons["rate"].setChecked(True)
        self.modes = QStackedWidget()
        self.rate_view = QWidget()
        rating = QVBoxLayout(self.rate_view)
        rating.setContentsMargins(0, 0, 0, 0)
        rating.setSpacing(theme.L)
        self.pairs = PairReview(self.session, self.go.emit)
        self.pairs.told.connect(self._on_pairs_told)
        self.modes.addWidget(self.rate_view)
        self.modes.addWidget(self.pairs)
        self.body.addWidget(self.modes, 1)
        split = QSplitter(Qt.Orientation.Horizontal)
        split.setChildrenCollapsible(False)
        split.setHandleWidth(theme.L)
        split.addWidget(self._make_reference())
        split.addWidget(self._make_output())
        split.addWidget(self._make_ratings())
        for place, share in enumerate((4, 4, 3)):
            split.setStretchFactor(place, share)
        split.setSizes([440, 440, 300])
        self.scrolling = ScrollPair(self.reference, self.output)
        rating.addWidget(split, 1)
        self.notice = Notice("", "warning")
        self.notice.hide()
        rating.addWidget(self.notice)
        rating.addWidget(self._make_foot())
        self._bind_keys()
        self.session.person_changed.connect(self._forget_item)

    @property
    def comparing(self) -> bool:
        """Whether pairs are compared, not single outputs rated."""
        return self.modes.currentWidget() is self.pairs

    @Slot(str)
    def show_mode(self, mode: str) -> None:
        """Rate single outputs, or compare pairs."""
        self.mode_buttons[mode].setChecked(True)
        self.modes.setCurrentWidget(self.pairs if mode == "compare" else self.rate_view)
        if mode == "compare":
            self.title_label.setText(say("Blind comparison"))
            self.show_empty(None)
            self.pairs.refresh()
        else:
            self.title_label.setText(self.title)
            self._load(self.item_id, _SHOW)
            self._show_progress()

    def refresh(self, changes: Changes | None) -> None:
        if self.comparing:
            if changes is None or changes.touches(
                "pair_item", "preference", "output", "rubric_tick"
            ):
                self.pairs.refresh()
            return
        query = run_query(self, prepare_queue, self.session.workspace, self.session.person_id)
        query.success(self._show_counts)
        if changes is None:
            self._load(self._wanted or self.item_id, _SHOW)
        elif self._view is None:
            if changes.touches("review_item"):
                self._load("", _SHOW)
        elif self._writing or self._moving:
            self._stale_ratings |= changes.touches("review_item", "rating")
        elif changes.touches("review_item", "rating"):
            self._load(self.item_id, _SHOW)

    def place(self) -> dict[str, Any]:
        found = {"item": self.item_id, "scroll": self.output.scroll_share}
        return {**found, "mode": "compare", "pair": self.pairs.item_id} if self.comparing else found

    def restore(self, place: dict[str, Any]) -> None:
        if place.get("mode") == "compare":
            self.show_mode("compare")
            self.pairs.refresh(str(place.get("pair", "")))
            return
        if self.comparing and place.get("item"):
            self.show_mode("rate")
        wanted = str(place.get("item", ""))
        scroll = place.get("scroll")
        self._wanted_scroll = float(scroll) if isinstance(scroll, int | float) else None
        if wanted and wanted == self.item_id:
            self._restore_scroll()
        elif self.isVisible() and not self._stale:
            self._leave_item()
            self._load(wanted, _SHOW)
        else:
            self._wanted = wanted

    def settle(self) -> list[Future[Any]]:
        future = self.saver.flush()
        return [*([future] if future is not None else []), *self.pairs.settle()]

    def commands(self) -> list[Command]:
        keys = self.session.shortcuts
        modes = [
            Command(say("Rate outputs"), partial(self.show_mode, "rate"), "", self.title),
            Command(say("Compare pairs"), partial(self.show_mode, "compare"), "", self.title),
            Command(say("Where people disagree"), self.pairs.adjudicate, "", self.title),
        ]
        shown: Any = self.pairs if self.comparing else self
        if shown.view is None:
            return modes
        comment = self.pairs.focus_why if self.comparing else self.focus_comment
        return [
            Command(say(text), slot, keys.hint(action), self.title)
            for text, slot, action in (
                ("Submit and next", shown.submit, "review.submit"),
                ("Skip", shown.skip, "review.skip"),
                ("Next", shown.show_next, "review.next"),
                ("Previous", shown.show_previous, "review.previous"),
                ("Write a comment", comment, "review.comment"),
            )
        ] + modes

    def first_focus(self) -> QWidget | None:
        if self._empty is not None and self._empty.buttons:
            return self._empty.buttons[0]
        return self.pairs.left if self.comparing else self.output

    @property
    def item_id(self) -> str:
        """The review item shown; '' for none."""
        return self._view.item.id if self._view else ""

    @property
    def view(self) -> ReviewView | None:
        return self._view

    # -- what the person does ------------------------------------------------------------

    def rate(self, value: int) -> None:
        """Rate the marked axis, as a number key does."""
        if self._view is not None:
            self.ratings.rate(value)

    @Slot()
    def submit(self) -> None:
        """Hand in this item and go on to the next that waits."""
        view = self._view
        if view is None:
            return
        missing = [bar.axis for bar in self.ratings.bars.values() if bar.value is None]
        if missing:
            names = ", ".join(axis.name for axis in missing)
            self._warn(say("Not rated yet: {names}. Rate these, or skip the output.", names=names))
            self.ratings.activate(missing[0].key)
            return
        quick = time.monotonic() - self._began < QUICK_SECONDS
        if quick and not self._rated_here and not self._questioned:
            self._questioned = True
            self._warn(
                say("That was within a second of seeing it. Hand it in again if you mean it.")
            )
            return
        self._leave_item()
        self._writing += 1
        run_verb(
            self, say("Submit review"), submit_review, view.item.id, self.comment.text
        ).success(partial(self._on_left, view.item.id)).end(self._after_write)
        self._note_time()

    @Slot()
    def skip(self) -> None:
        """Leave this item for later and go on."""
        view = self._view
        if view is None:
            return
        self._leave_item()
        self._writing += 1
        run_verb(self, say("Skip review"), edit_review, view.item.id, state="skipped").success(
            partial(self._on_left, view.item.id)
        ).end(self._after_write)
        self._began = time.monotonic()

    @Slot()
    def show_next(self) -> None:
        """The item after this one, whatever its state."""
        self._step(_NEXT)

    @Slot()
    def show_previous(self) -> None:
        """The item before this one; it stays editable."""
        self._step(_PREVIOUS)

    @Slot()
    def focus_comment(self) -> None:
        """Put the keyboard into the comment."""
        self.comment.setFocus(Qt.FocusReason.ShortcutFocusReason)

    # -- parts ---------------------------------------------------------------------------

    def _make_reference(self) -> Side:
        self.source_button = Button(say("Input"), "choice")
        self.source_button.setCheckable(True)
        self.source_button.setToolTip(say("Show what the output was written from"))
        self.source_button.toggled.connect(self._show_left)
        self._left = Side(say("Reference"))
        self._left.head.addWidget(self.source_button)
        self.reference = self._left.reader
        return self._left

    def _make_output(self) -> Side:
        self._right = Side(say("Output"))
        # As tall as the other side's, so that the first lines stand level.
        self._right.heading.setMinimumHeight(self.source_button.sizeHint().height())
        self.output = self._right.reader
        return self._right

    def _make_ratings(self) -> Card:
        card = Card(say("Ratings"))
        scroller = Scroller()
        scroller.box.setSpacing(theme.S)
        self.ratings = RatingPanel(make_axes())
        self.ratings.rated.connect(self._on_rated)
        self.ratings.cleared.connect(self._on_cleared)
        scroller.box.addWidget(self.ratings)
        comment = label(say("Comment"), "strong")
        self.comment = ProseEditor(
            say("Comment"), placeholder=say("What decided it? (optional)"), lines=3
        )
        comment.setBuddy(self.comment)
        self.saver = Saver(self.session, self._save_comment, self)
        self.comment.edited.connect(self.saver.touch)
        scroller.box.addWidget(comment)
        scroller.box.addWidget(self.comment)
        scroller.box.addStretch(1)
        card.add(scroller, 1)
        return card

    def _make_foot(self) -> Foot:
        self.foot = Foot(self.session.shortcuts, self.saver)
        self.foot.previous.clicked.connect(self.show_previous)
        self.foot.next.clicked.connect(self.show_next)
        self.foot.skip.clicked.connect(self.skip)
        self.foot.submit.clicked.connect(self.submit)
        return self.foot

    def _bind_keys(self) -> None:
        keys = self.session.shortcuts
        for value in range(1, 6):
            keys.bind(self.rate_view, f"review.rate-{value}", partial(self.rate, value))
        keys.bind(self.rate_view, "review.comment", self.focus_comment)

    def _on_pairs_told(self, text: str) -> None:
        if self.comparing:
            self.set_subtitle(text)

    def _forget_item(self) -> None:
        """Somebody else sits down: nothing of the one before stays on the screen."""
        self._view = None
        self.reload()

    # -- showing -------------------------------------------------------------------------

    def _load(self, wanted: str, step: int) -> None:
        self._generation += 1
        generation = self._generation
        self._moving = step != _SHOW

        def take(view: ReviewView | None) -> None:
            if generation == self._generation:
                self._show(view)

        def end() -> None:
            if generation == self._generation:
                self._moving = False
                self._read_what_came_meanwhile()

        run_query(
            self, read_review, self.session.workspace, self.session.person_id, wanted, step
        ).success(take).end(end)

    def _read_what_came_meanwhile(self) -> None:
        # A reload must not overtake a write of one's own, nor the way to another item.
        if self._stale_ratings and not self._writing and not self._moving and self._view:
            self._stale_ratings = False
            self._load(self.item_id, _SHOW)

    def _show(self, view: ReviewView | None) -> None:
        self._wanted = ""
        other = view is None or view.item.id != self.item_id
        if not other and self._writing:
            return
        self._view = view
        if self.comparing:
            return
        if view is None:
            self._show_emptiness()
            return
        self.show_empty(None)
        if other:
            self.notice.hide()
            self._began = time.monotonic()
            self._rated_here = False
            self._questioned = False
            self.source_button.setChecked(False)
        if other or not self.saver.dirty:
            self.comment.load(view.item.comment)
        self._show_left()
        self.output.set_sections(view.written)
        if other:
            for reader in (self.reference, self.output):
                reader.moveCursor(QTextCursor.MoveOperation.Start)
                reader.verticalScrollBar().setValue(0)
            self._restore_scroll()
        words = sum(count_words(section.text) for section in view.written)
        name = say("Output {pseudonym}", pseudonym=view.pseudonym)
        self._right.set_heading(name, words)
        if dict(view.ratings) != self.ratings.values or other:
            self.ratings.set_values(view.ratings)
        self._show_progress()

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

    def _show_counts(self, counts: QueueCounts) -> None:
        self._counts = counts
        self._show_progress()
        if self._view is None and self.is_empty_shown:
            self._show_emptiness()

    def _show_progress(self) -> None:
        if self.comparing:
            return
        view, counts = self._view, self._counts
        if view is None:
            self.set_subtitle("")
            return
        parts = [
            shorten(view.task.objective, 60),
            say(
                "{place} of {total}",
                place=format_number(view.place),
                total=format_number(max(counts.total, view.place)),
            ),
        ]
        if self._durations and counts.open:
            pace = sorted(self._durations)[len(self._durations) // 2]
            parts.append(say("about {time} left", time=format_duration(pace * counts.open)))
        self.set_subtitle(" · ".join(parts))
        words = {
            "pending": say("Not rated yet"),
            "draft": say("Draft"),
            "submitted": say("Submitted; you can still change it"),
            "skipped": say("Skipped"),
        }[view.item.state]
        waiting = say("{count} waiting", count=format_number(counts.open))
        self.foot.state.setText(f"{words} · {waiting}")

    def _show_emptiness(self) -> None:
        if self.comparing:
            return
        counts = self._counts
        if counts.total and not counts.open:
            empty = EmptyState(
                "check",
                say("Nothing waits for you"),
                say(
                    "Every output in your queue is submitted or skipped. Your decisions stay "
                    "editable: open one from the queue."
                ),
                (say("See results"), self._go_results),
                (say("Look through the queue"), self._go_queue),
            )
        else:
            empty = EmptyState(
                "review",
                say("Nothing to review yet"),
                say(
                    "Here you read what a system wrote beside the reference, without knowing which "
                    "system it was, and rate it from 1 to 5. Let a system write something first."
                ),
                (say("Go to Runs"), self._go_runs),
            )
        self.show_empty(empty)

    def _restore_scroll(self) -> None:
        if self._wanted_scroll is not None:
            self.output.scroll_to_share(self._wanted_scroll)
            self._wanted_scroll = None

    def _warn(self, text: str) -> None:
        self.notice.set_text(text)
        self.notice.show()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        # That one works blind is said by the title, too, where there is no room for the pill.
        self.blind_label.setVisible(self.width() >= theme.current().px(_PILL_WIDTH))

    # -- writing -------------------------------------------------------------------------

    @Slot(str, int)
    def _on_rated(self, axis: str, value: int) -> None:
        self._write_rating(axis, value)

    @Slot(str)
    def _on_cleared(self, axis: str) -> None:
        self._write_rating(axis, None)

    def _write_rating(self, axis: str, value: int | None) -> None:
        if self._view is None:
            return
        self._rated_here = True
        self.notice.hide()
        self._writing += 1
        run_verb(
            self,
            say("Rate {axis}", axis=axis.replace("_", " ")),
            save_rating,
            self._view.item.id,
            axis,
            value,
        ).end(self._after_write)

    def _after_write(self) -> None:
        self._writing -= 1
        self._read_what_came_meanwhile()

    def _save_comment(self) -> Future[Any] | None:
        view = self._view
        if view is None or self.comment.text == view.item.comment:
            return None
        return self.session.workspace.submit(
            say("Comment"), self.session.person_id, save_comment, view.item.id, self.comment.text
        )

    def _leave_item(self) -> None:
        """What was typed goes to the disk before anything else of the item does."""
        self.saver.flush()
        self.notice.hide()

    def _step(self, step: int) -> None:
        if self._view is not None:
            self._leave_item()
            self._load(self.item_id, step)

    def _on_left(self, item_id: str, _outcome: object) -> None:
        if item_id == self.item_id:
            self._load(item_id, _NEXT_OPEN)

    def _note_time(self) -> None:
        seconds = time.monotonic() - self._began
        if seconds < _BREAK_SECONDS:
            self._durations = [*self._durations[-19:], seconds]
        self._began = time.monotonic()

    # -- elsewhere -----------------------------------------------------------------------

    def _go_results(self) -> None:
        self.go.emit("results", None)

    def _go_queue(self) -> None:
        self.go.emit("queue", None)

    def _go_runs(self) -> None:
        self.go.emit("runs", None)
