"""What every page is: a title with its actions, a body, and a place that can be kept and found again.

A page is built when it is first shown. It refreshes from `Changes` while visible; changes that come
while it is hidden make it stale, and it refreshes when shown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from app import theme
from app.session import Session
from app.widgets.basics import ElidedLabel, label
from app.widgets.empty import EmptyState
from app.widgets.inputs import SearchField
from core.changes import Changes


@dataclass(frozen=True, slots=True)
class Command:
    """Something the command palette offers. ``hint`` is the key shown beside it, ``refusal`` why it
    cannot be run now."""

    text: str
    run: Callable[[], object]
    hint: str = ""
    group: str = ""
    refusal: str = ""


class Page(QWidget):
    """Base of all pages. Subclasses set ``name`` and ``title``, build in `build`, and fill in the rest.

    ``kinds`` names the kinds of rows the page shows; None means all.
    """

    name = ""
    title = ""
    kinds: tuple[str, ...] | None = ()
    #: Works without an open workspace, as Models and Settings do.
    needs_workspace = True

    #: Ask the window for another page: (name, place or None).
    go = Signal(str, object)
    #: Tell the person something in passing.
    said = Signal(str)
    #: The count beside the page's name in the rail changed.
    counted = Signal(object)

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self._stale = True
        self.setAccessibleName(self.title)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(theme.XL, theme.L, theme.XL, theme.L)
        outer.setSpacing(theme.M)
        self.title_label = label(self.title, "title")
        self.subtitle_label = ElidedLabel()
        self.subtitle_label.setProperty("role", "muted")
        self.action_row = QHBoxLayout()
        self.action_row.setSpacing(theme.S)
        names = QWidget()
        names_row = QHBoxLayout(names)
        names_row.setContentsMargins(0, 0, 0, 0)
        names_row.setSpacing(theme.M)
        names_row.addWidget(self.title_label)
        names_row.addWidget(self.subtitle_label, 1)
        self._actions_box = QWidget()
        self._actions_box.setLayout(self.action_row)
        self.action_row.setContentsMargins(0, 0, 0, 0)
        self._header = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._header.setSpacing(theme.S)
        self._header.addWidget(names, 1)
        self._header.addWidget(self._actions_box)
        outer.addLayout(self._header)
        self._stack = QStackedWidget()
        self._content = QWidget()
        self.body = QVBoxLayout(self._content)
        self.body.setContentsMargins(0, 0, 0, 0)
        self.body.setSpacing(theme.L)
        self._stack.addWidget(self._content)
        self._empty: EmptyState | None = None
        outer.addWidget(self._stack, 1)
        session.bus.changed.connect(self._on_changes)
        self.build()

    # -- for subclasses ------------------------------------------------------------------

    def build(self) -> None:
        """Make the controls, into ``self.body`` and ``self.action_row``. Read nothing yet."""

    def refresh(self, changes: Changes | None) -> None:
        """Show what is in the workspace now; ``changes`` None means anything may have changed."""

    def place(self) -> dict[str, Any]:
        """Where the person is on the page, as plain JSON: ids, scroll positions; no texts."""
        return {}

    def restore(self, place: dict[str, Any]) -> None:
        """Go back to a `place`; what is no longer there is passed over."""

    def settle(self) -> Sequence[Future[Any]]:
        """Start writing what was typed and is not on disk yet; the window waits for the futures."""
        return ()

    def commands(self) -> Sequence[Command]:
        """What the palette offers while this page is shown."""
        return ()

    def first_focus(self) -> QWidget | None:
        """The control the keyboard starts at."""
        return None

    def search_field(self) -> SearchField | None:
        """The field that the search key goes to; the first one that can be seen, unless said otherwise."""
        return next((f for f in self.findChildren(SearchField) if f.isVisible()), None)

    def help_topic(self) -> str:
        """Name of the help text for F1."""
        return self.name

    # -- for subclasses to use -----------------------------------------------------------

    def set_subtitle(self, text: str) -> None:
        """The muted words beside the title."""
        self.subtitle_label.setText(text)

    def show_empty(self, empty: EmptyState | None) -> None:
        """Show an empty state instead of the body; None brings the body back.

        A keyboard that was on the empty state's buttons goes on to what comes in its place.
        """
        left, keyboard = self._empty, self.window().focusWidget()
        if left is empty:
            left = None
        had_keyboard = left is not None and keyboard is not None and left.isAncestorOf(keyboard)
        if left is not None:
            self._stack.removeWidget(left)
            left.hide()
            left.deleteLater()
        self._empty = empty
        if empty is None:
            self._stack.setCurrentWidget(self._content)
        else:
            if self._stack.indexOf(empty) < 0:
                self._stack.addWidget(empty)
            self._stack.setCurrentWidget(empty)
        if had_keyboard and self.isVisible():
            focus_first(self)

    @property
    def is_empty_shown(self) -> bool:
        return self._empty is not None

    def reload(self) -> None:
        """Refresh everything, now or when shown."""
        self._stale = True
        if self.isVisible():
            self._refresh_if_stale()

    # -- inside --------------------------------------------------------------------------

    @Slot(object)
    def _on_changes(self, changes: Changes) -> None:
        if self.kinds is not None and not changes.touches(*self.kinds):
            return
        if self.needs_workspace and not self.session.has_workspace:
            return
        if self.isVisible() and not self._stale:
            self.refresh(changes)
        else:
            self._stale = True

    def _refresh_if_stale(self) -> None:
        if self._stale and (self.session.has_workspace or not self.needs_workspace):
            self._stale = False
            self.refresh(None)

    def _fit_header(self) -> None:
        """Put the actions under the title where both have no room on a line."""
        needed = self.title_label.sizeHint().width() + self._actions_box.sizeHint().width()
        direction = QBoxLayout.Direction
        narrow = needed + 2 * theme.XL + theme.L > self.width()
        self._header.setDirection(direction.TopToBottom if narrow else direction.LeftToRight)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._fit_header()
        self._refresh_if_stale()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_header()


def focus_first(page: Page) -> None:
    """Give the keyboard to a page's first control."""
    target = page.first_focus() or page
    target.setFocus(Qt.FocusReason.OtherFocusReason)
