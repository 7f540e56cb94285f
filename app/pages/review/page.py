"""Review, blind: one output beside its reference with five ratings by keys, or two outputs side by side."""

from __future__ import annotations

from concurrent.futures import Future
from functools import partial
from typing import Any

from PySide6.QtCore import Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QButtonGroup, QStackedWidget, QWidget

from app import theme
from app.pages.base import Command
from app.pages.base import Page as BasePage
from app.pages.review.pairs import PairDesk
from app.pages.review.rate import RateDesk
from app.strings import say
from app.widgets.basics import label
from app.widgets.buttons import Button
from core.changes import Changes

#: Narrower than this there is no room for the pill.
_PILL_WIDTH = 700


class Page(BasePage):
    """Two desks, one of them shown: outputs to rate, or pairs to compare."""

    name = "review"
    title = "Review"
    kinds = tuple(dict.fromkeys((*RateDesk.kinds, *PairDesk.kinds)))

    def build(self) -> None:
        self.blind_label = label(say("Names hidden"), "pill")
        self.blind_label.setToolTip(
            say(
                "Which system wrote what is never shown on this page. Who works blind, as chosen in the "
                "queue, finds Runs and Results shut as well until their judgements are in."
            )
        )
        self.action_row.addWidget(self.blind_label)
        self.rating = RateDesk(self.session, self.go.emit)
        self.pairs = PairDesk(self.session, self.go.emit)
        self._empty_of: tuple[QWidget, object] | None = None
        self._desks: dict[str, RateDesk | PairDesk] = {"rate": self.rating, "compare": self.pairs}
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
        self._modes = QStackedWidget()
        for desk in self._desks.values():
            self._modes.addWidget(desk)
            desk.told.connect(self._on_told)
            desk.looked.connect(self._show_emptiness)
        self.body.addWidget(self._modes, 1)
        self.session.person_changed.connect(self.reload)

    @property
    def comparing(self) -> bool:
        """Whether pairs are compared, not single outputs rated."""
        return self._modes.currentWidget() is self.pairs

    @property
    def desk(self) -> RateDesk | PairDesk:
        """The one shown."""
        return self.pairs if self.comparing else self.rating

    @Slot(str)
    def show_mode(self, mode: str) -> None:
        """Rate single outputs, or compare pairs."""
        self._switch(mode)
        self.desk.refresh()

    def refresh(self, changes: Changes | None) -> None:
        self.desk.refresh(changes)

    def place(self) -> dict[str, Any]:
        found = self.rating.place()
        if self.comparing:
            found |= {"mode": "compare", "pair": self.pairs.place()}
        return found

    def restore(self, place: dict[str, Any]) -> None:
        pair = place.get("pair")
        if place.get("mode") == "compare":
            self._switch("compare")
            self.pairs.want(pair if isinstance(pair, dict) else {})
        elif place.get("item"):
            self._switch("rate")
        self.rating.want(place)
        if self.isVisible() and not self._stale:
            self.desk.refresh()

    def settle(self) -> list[Future[Any]]:
        return [future for desk in self._desks.values() for future in desk.settle()]

    def commands(self) -> list[Command]:
        keys = self.session.shortcuts
        modes = [
            Command(say("Rate outputs"), partial(self.show_mode, "rate"), "", self.title),
            Command(say("Compare pairs"), partial(self.show_mode, "compare"), "", self.title),
            Command(say("Where people disagree"), self.pairs.adjudicate, "", self.title),
        ]
        desk = self.desk
        if desk.view is None:
            return modes
        return [
            Command(say(text), slot, keys.hint(action), self.title)
            for text, slot, action in (
                ("Submit and next", desk.submit, "review.submit"),
                ("Skip", desk.skip, "review.skip"),
                ("Next", desk.show_next, "review.next"),
                ("Previous", desk.show_previous, "review.previous"),
                ("Write a comment", desk.focus_comment, "review.comment"),
            )
        ] + modes

    def first_focus(self) -> QWidget | None:
        if self._empty is not None and self._empty.buttons:
            return self._empty.buttons[0]
        return self.desk.readers[0]

    # -- inside --------------------------------------------------------------------------

    def _switch(self, mode: str) -> None:
        self.mode_buttons[mode].setChecked(True)
        self._modes.setCurrentWidget(self._desks[mode])
        self.title_label.setText(say("Blind comparison") if self.comparing else self.title)
        self.desk.tell_progress()
        self._show_emptiness()

    @Slot(str)
    def _on_told(self, text: str) -> None:
        if self.sender() is self.desk:
            self.set_subtitle(text)

    @Slot()
    def _show_emptiness(self) -> None:
        desk = self.desk
        if not desk.is_bare:
            self.show_empty(None)
        elif not self.is_empty_shown or self._empty_of != (desk, desk.counts):
            # Not anew for the same words: the keyboard may be on one of its buttons.
            self._empty_of = (desk, desk.counts)
            self.show_empty(desk.make_empty())
        blind = self.desk.counts.blind
        self.blind_label.setText(
            say("Blind: names hidden everywhere") if blind else say("Names hidden")
        )

    # -- Qt ------------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        # It reassures; the page shows no name in any case, also where there is no room for it.
        self.blind_label.setVisible(self.width() >= theme.current().px(_PILL_WIDTH))
