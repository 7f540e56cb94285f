"""The working surface: bars, rail and pages, built lazily, each at the place it was left."""

from __future__ import annotations

import importlib
from concurrent.futures import Future
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from app import theme
from app.errors import write_to_log
from app.pages import PAGES, PageEntry, page_entry
from app.pages.base import Page, focus_first
from app.session import Session
from app.strings import say
from app.widgets.empty import EmptyState
from app.windows.bars import BottomBar, TopBar
from app.windows.queue_count import QueueCount
from app.windows.rail import Rail

#: Narrower than this, in pixels at 100 % text, words grow shorter; then they make room for icons.
_COMPACT_BELOW, _NARROW_BELOW = 1240, 960


class WorkSurface(QWidget):
    """Shows one page at a time; `clear` takes every page down, as locking does."""

    #: A page tells the person something in passing.
    said = Signal(str)

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self.setProperty("role", "background")
        self._pages: dict[str, Page] = {}
        self._waiting_places: dict[str, Any] = {}
        self._current = ""
        self.top = TopBar(session)
        self.rail = Rail(session.shortcuts)
        self.queue_count = QueueCount(session, self.rail)
        self.stack = QStackedWidget()
        self.bottom = BottomBar(session)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        middle = QHBoxLayout()
        middle.setSpacing(0)
        middle.addWidget(self.rail)
        middle.addWidget(self.stack, 1)
        layout.addWidget(self.top)
        layout.addLayout(middle, 1)
        layout.addWidget(self.bottom)
        self.rail.chosen.connect(self.choose)
        theme.notifier().changed.connect(self._fit)

    @property
    def current(self) -> str:
        """The name of the page shown; '' for none."""
        return self._current

    @property
    def current_page(self) -> Page | None:
        return self._pages.get(self._current)

    def page(self, name: str) -> Page:
        """A page, built now if it is not yet."""
        if name not in self._pages:
            self._build(page_entry(name))
        return self._pages[name]

    def show_page(self, name: str, place: dict[str, Any] | None = None) -> Page:
        """Bring a page to the front, and there to a place."""
        page = self.page(name)
        self._current = name
        self.rail.select(name)
        self.stack.setCurrentWidget(page)
        kept = place if place is not None else self._waiting_places.pop(name, None)
        if kept is not None:
            page.restore(kept)
        return page

    def places(self) -> dict[str, Any]:
        """Where the person is, on every page looked at, as plain JSON."""
        places = dict(self._waiting_places)
        for name, page in self._pages.items():
            places[name] = page.place()
        return {"page": self._current, "places": places}

    def restore_places(self, kept: dict[str, Any]) -> None:
        """Remember places for when their pages are shown, and show the page that was."""
        self._waiting_places = dict(kept.get("places", {}))
        names = {entry.name for entry in PAGES}
        page = kept.get("page", "")
        self.show_page(page if page in names else PAGES[0].name)

    def settle(self) -> list[Future[Any]]:
        """Start writing everything typed and not yet on disk."""
        return [future for page in self._pages.values() for future in page.settle()]

    def clear(self) -> None:
        """Take down every page, so that nothing of the workspace stays in the window."""
        for page in self._pages.values():
            self.stack.removeWidget(page)
            page.hide()
            page.deleteLater()
        self._pages.clear()
        self._waiting_places = {}
        self._current = ""

    def _build(self, entry: PageEntry) -> None:
        try:
            page: Page = importlib.import_module(entry.module).Page(self.session)
        except Exception as error:  # A page that breaks must not take the others with it.
            write_to_log(error)
            self.session.jobs.failed.emit(error, None)
            page = _BrokenPage(self.session, entry)
        page.go.connect(self._go)
        page.counted.connect(self._count)
        page.said.connect(self.said)
        self._pages[entry.name] = page
        self.stack.addWidget(page)

    def choose(self, name: str) -> None:
        """Go to a page, with the keyboard on its first control."""
        focus_first(self.show_page(name))

    def _go(self, name: str, place: object) -> None:
        page = self.show_page(name, place if isinstance(place, dict) else None)
        focus_first(page)

    def _fit(self) -> None:
        narrow = self.width() < theme.current().px(_NARROW_BELOW)
        compact = self.width() < theme.current().px(_COMPACT_BELOW)
        self.top.set_room("narrow" if narrow else "compact" if compact else "wide")
        self.rail.set_compact(narrow)

    def _count(self, count: object) -> None:
        page = self.sender()
        if isinstance(page, Page):
            self.rail.set_count(page.name, count if isinstance(count, int) else None)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()


class _BrokenPage(Page):
    """Stands where a page could not be built."""

    needs_workspace = False

    def __init__(self, session: Session, entry: PageEntry) -> None:
        self.name = entry.name
        self.title = entry.title
        super().__init__(session)
        self.show_empty(
            EmptyState(
                "error",
                say("This page could not be opened"),
                say("The other pages work. The log says what went wrong; please report it."),
            )
        )
