"""What both ways to review share: one item at a time is read, decided, handed in, and gone back to.

A reload never overtakes a write of one's own, nor the way to another item.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any, Generic

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QSplitter, QVBoxLayout, QWidget

from app import theme
from app.jobs import Pending
from app.operations import run_query
from app.pages.review.parts import Foot
from app.pages.review.source import C, Source, V, look
from app.session import Session
from app.strings import format_duration, format_number, say, shorten
from app.widgets.basics import label
from app.widgets.buttons import Button
from app.widgets.editors import ProseEditor, Saver
from app.widgets.empty import EmptyState
from app.widgets.notice import Notice
from app.widgets.reader import Reader
from core.changes import Changes

#: Handed in sooner than this after it came into view, one is asked whether one meant it.
QUICK_SECONDS = 1.0

#: Steps of `app.pages.review.items.pick_item`.
_NEXT, _PREVIOUS, _NEXT_OPEN = 1, -1, 2
#: Longer than this between two submissions was a break, not work.
_BREAK_SECONDS = 1800.0
#: Submissions from which the time left is told.
_PACE_OF = 20


class Desk(QWidget, Generic[V, C]):
    """Subclasses build their parts into ``split`` and fill in what is theirs: the abstract methods,
    which Qt's own metaclass leaves to the type checker to insist on.

    Parameters
    ----------
    go
        Asks the window for another page: (name, place or None).
    """

    #: The words beside the page's title changed.
    told = Signal(str)
    #: An item came into view, or none is there.
    looked = Signal()

    title = ""
    #: Rows whose change means reading the item again.
    kinds: tuple[str, ...] = ()
    #: The state of an item nobody has touched, in words.
    untouched = ""
    comment_words = ("", "")

    def __init__(
        self, session: Session, source: Source[V, C], counts: C, go: Callable[[str, object], object]
    ) -> None:
        super().__init__()
        self.session = session
        self._source = source
        self._counts = counts
        self._go = go
        self._view: V | None = None
        self._loaded = False
        self._wanted = ""
        self._wanted_scroll: float | None = None
        self._generation = 0
        self._writing = 0
        self._moving = False
        self._stale = False
        self._questioned = ""
        self._durations: list[float] = []
        self._began = time.monotonic()
        self.setAccessibleName(say(self.title))
        caption, placeholder = self.comment_words
        self.comment_label = label(say(caption), "strong")
        self.comment = ProseEditor(say(caption), placeholder=say(placeholder), lines=3)
        self.comment_label.setBuddy(self.comment)
        self.saver = Saver(session, self._save_comment, self)
        self.comment.edited.connect(self.saver.touch)
        self.notice = Notice("", "warning")
        self.notice.hide()
        self.foot = Foot(session.shortcuts, self.saver)
        self.foot.previous.clicked.connect(self.show_previous)
        self.foot.next.clicked.connect(self.show_next)
        self.foot.skip.clicked.connect(self.skip)
        self.foot.submit.clicked.connect(self.submit)
        self.split = QSplitter(Qt.Orientation.Horizontal)
        self.split.setChildrenCollapsible(False)
        self.split.setHandleWidth(theme.L)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(theme.L)
        box.addWidget(self.split, 1)
        box.addWidget(self.notice)
        box.addWidget(self.foot)
        self.readers = self.build()
        # Whatever was pressed last, Enter hands in.
        for button in self.findChildren(Button):
            button.passes_enter = True
        session.shortcuts.bind(self, "review.comment", self.focus_comment)
        session.person_changed.connect(self.forget)

    # -- for subclasses ------------------------------------------------------------------

    @abstractmethod
    def build(self) -> tuple[Reader, ...]:
        """Make the parts; gives the readers, the first of which holds what is judged."""

    @abstractmethod
    def fill(self, view: V, other: bool) -> None:
        """Show an item; ``other`` when another one was shown before."""

    @abstractmethod
    def make_empty(self) -> EmptyState:
        """What to say when there is no item."""

    @abstractmethod
    def problem(self, view: V) -> str:
        """Why the item can't be handed in yet; '' when it can."""

    @abstractmethod
    def hand_in(self, view: V, seconds: float) -> Pending[Any]:
        """Write the decision."""

    @abstractmethod
    def put_off(self, view: V) -> Pending[Any]:
        """Write that it is skipped."""

    def is_hasty(self, seconds: float) -> bool:
        """Whether it was handed in so soon that one is asked whether one meant it."""
        return seconds < QUICK_SECONDS

    def place_words(self, place: int, total: int) -> str:
        """Which item of how many this is."""
        return say("{place} of {total}", place=format_number(place), total=format_number(total))

    def team_words(self) -> str:
        """How far the others are, where that may be known."""
        return ""

    # -- what the page asks --------------------------------------------------------------

    @property
    def item_id(self) -> str:
        """The item shown; '' for none."""
        return self._view.item.id if self._view is not None else ""

    @property
    def view(self) -> V | None:
        return self._view

    @property
    def counts(self) -> C:
        """How many items there are, as last read."""
        return self._counts

    @property
    def is_bare(self) -> bool:
        """Whether it was looked for an item and there is none."""
        return self._loaded and self._view is None

    def place(self) -> dict[str, Any]:
        """The item and how far down it was read, as plain JSON."""
        return {"item": self.item_id or self._wanted, "scroll": self.readers[0].scroll_share}

    def want(self, place: dict[str, Any]) -> None:
        """Go to a `place` at the next `refresh`."""
        item_id, scroll = str(place.get("item", "")), place.get("scroll")
        self._wanted_scroll = float(scroll) if isinstance(scroll, int | float) else None
        if item_id and item_id == self.item_id:
            self._restore_scroll()
        else:
            self._wanted = item_id

    def refresh(self, changes: Changes | None = None) -> None:
        """Read counts and the item again, at once or after what is under way."""
        if changes is not None and not changes.touches(*self.kinds):
            return
        if self._writing or self._moving:
            self._stale = True
            return
        wanted = self._wanted or self.item_id
        if wanted != self.item_id:
            self.leave()
        self._generation += 1
        generation = self._generation

        def take(found: tuple[C, V | None]) -> None:
            if generation == self._generation:
                self._counts = found[0]
                if self._wanted == wanted:
                    self._wanted = ""
                self._show(found[1])

        run_query(
            self, look, self._source, self.session.workspace, self.session.person_id, wanted
        ).success(take)

    def settle(self) -> list[Future[Any]]:
        """Write what was typed."""
        future = self.saver.flush()
        return [future] if future is not None else []

    @Slot()
    def forget(self) -> None:
        """Somebody else sits down: nothing of the one before stays on the screen."""
        self._view = None
        self._loaded = False
        self._durations = []
        self._generation += 1
        self._moving = False
        self.comment.load("")
        for reader in self.readers:
            reader.set_sections(())

    # -- what the person does ------------------------------------------------------------

    @Slot()
    def submit(self) -> None:
        """Hand this item in and go on to the next that waits."""
        view = self._view
        if view is None:
            return
        problem = self.problem(view)
        if problem:
            self.warn(problem)
            return
        seconds = time.monotonic() - self._began
        if self.is_hasty(seconds) and self._questioned != view.item.id:
            self._questioned = view.item.id
            self.warn(
                say("That was within a second of seeing it. Hand it in again if you mean it.")
            )
            return
        self.leave()
        self._move_on(self.hand_in(view, seconds), view.item.id)
        if seconds < _BREAK_SECONDS:
            self._durations = [*self._durations[1 - _PACE_OF :], seconds]
        self._began = time.monotonic()

    @Slot()
    def skip(self) -> None:
        """Leave this item for later and go on."""
        view = self._view
        if view is None:
            return
        self.leave()
        self._move_on(self.put_off(view), view.item.id)
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

    def warn(self, text: str) -> None:
        """Say what is missing, above the buttons."""
        self.notice.set_text(text)
        self.notice.show()

    def leave(self) -> None:
        """What was typed goes to the disk before anything else of the item does."""
        self.saver.flush()
        self.notice.hide()

    # -- showing -------------------------------------------------------------------------

    def _load(self, wanted: str, step: int) -> None:
        self._generation += 1
        generation = self._generation
        self._moving = True

        def take(view: V | None) -> None:
            if generation == self._generation:
                self._show(view)

        def end() -> None:
            if generation == self._generation:
                self._moving = False
                self._read_what_came_meanwhile()

        run_query(
            self, self._source.read, self.session.workspace, self.session.person_id, wanted, step
        ).success(take).end(end)

    def _read_what_came_meanwhile(self) -> None:
        if self._stale and not self._writing and not self._moving:
            self._stale = False
            self.refresh()

    def _show(self, view: V | None) -> None:
        other = view is None or view.item.id != self.item_id
        if not other and self._writing:
            return
        self._view = view
        self._loaded = True
        if view is not None:
            if other:
                self.notice.hide()
                self._began = time.monotonic()
            if other or not self.saver.dirty:
                self.comment.load(view.item.comment)
            self.fill(view, other)
            if other:
                for reader in self.readers:
                    reader.moveCursor(QTextCursor.MoveOperation.Start)
                    reader.verticalScrollBar().setValue(0)
                self._restore_scroll()
        self.tell_progress()
        self.looked.emit()

    def tell_progress(self) -> None:
        """Say where one is, and how long what waits will take at one's own pace."""
        view, counts = self._view, self._counts
        if view is None:
            self.told.emit("")
            return
        parts = [
            shorten(view.task.objective, 60),
            self.place_words(view.place, max(counts.total, view.place)),
        ]
        if self._durations and counts.open:
            pace = sorted(self._durations)[len(self._durations) // 2]
            parts.append(say("about {time} left", time=format_duration(pace * counts.open)))
        self.told.emit(" · ".join(parts))
        state = {
            "pending": say(self.untouched),
            "draft": say("Draft"),
            "submitted": say("Submitted; you can still change it"),
            "skipped": say("Skipped"),
        }[view.item.state]
        waiting = say("{count} waiting", count=format_number(counts.open))
        self.foot.state.setText(" · ".join(filter(None, (state, waiting, self.team_words()))))

    def _restore_scroll(self) -> None:
        if self._wanted_scroll is not None:
            self.readers[0].scroll_to_share(self._wanted_scroll)
            self._wanted_scroll = None

    # -- writing -------------------------------------------------------------------------

    def write(self, pending: Pending[Any]) -> Pending[Any]:
        """Keep reloads back until something is written."""
        self._writing += 1
        return pending.end(self._after_write)

    def _after_write(self) -> None:
        self._writing -= 1
        self._read_what_came_meanwhile()

    def note_written(self, _outcome: object) -> None:
        """Say that what was just chosen is on the disk."""
        self.saver.note_saved()

    def _move_on(self, pending: Pending[Any], item_id: str) -> None:
        self.write(pending).success(partial(self._on_left, item_id))

    def _on_left(self, item_id: str, _outcome: object) -> None:
        self.saver.note_saved()
        if item_id == self.item_id:
            self._load(item_id, _NEXT_OPEN)

    def _step(self, step: int) -> None:
        if self._view is not None:
            self.leave()
            self._load(self.item_id, step)

    def _save_comment(self) -> Future[Any] | None:
        view = self._view
        if view is None or self.comment.text == view.item.comment:
            return None
        return self.session.workspace.submit(
            say("Comment"),
            self.session.person_id,
            self._source.save_comment,
            view.item.id,
            self.comment.text,
        )
