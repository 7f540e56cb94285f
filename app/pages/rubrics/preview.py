"""How an item is put to a person, and how to a model: in sight while one writes it."""

from __future__ import annotations

from PySide6.QtCore import Slot

from app import theme
from app.strings import say
from app.widgets.basics import Card, Scroller, label
from app.widgets.inputs import ComboBox

#: Room for four lines, and for two in a low window; more are scrolled to.
_HEIGHT, _LOW_HEIGHT = 80, 40


class ItemPreview(Card):
    """Two wordings of one question; the one wished is shown."""

    def __init__(self) -> None:
        super().__init__(say("As asked"))
        self._person = self._model = ""
        self._low = False
        self.reader = ComboBox(say("Who is asked"), stretch=True)
        self.reader.fill([(say("to a person"), "person"), (say("to a model"), "model")])
        self.reader.currentIndexChanged.connect(self._show)
        self.header.addWidget(self.reader, 2)
        self.words = label("", wrap=True, selectable=True)
        self._scroller = Scroller()
        self._scroller.box.addWidget(self.words)
        self._scroller.box.addStretch(1)
        self.add(self._scroller, 1)
        theme.notifier().changed.connect(self._fit)
        self._fit()
        self.box.setContentsMargins(theme.M, theme.S, theme.M, theme.S)

    def load(self, person: str, model: str) -> None:
        """Show an item's wordings."""
        self._person, self._model = person, model
        self._show()

    def set_low(self, low: bool) -> None:
        """Take less room, in a low window."""
        if low != self._low:
            self._low = low
            self._fit()

    @Slot()
    def _fit(self) -> None:
        current = theme.current()
        self._scroller.setMinimumHeight(current.px(_LOW_HEIGHT))
        self._scroller.setMaximumHeight(current.px(_LOW_HEIGHT if self._low else _HEIGHT))

    @Slot()
    def _show(self, *_: object) -> None:
        self.words.setText(self._person if self.reader.value == "person" else self._model)
