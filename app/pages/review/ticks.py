"""A rater's own ticks of rubric items for two outputs; automatic ones are never shown here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QGridLayout, QWidget

from app import theme
from app.strings import say
from app.widgets.basics import ElidedLabel, clear_layout, label
from app.widgets.buttons import Button
from core.types import RubricItem
from core.types.evaluation import Tick

#: In the order in which clicking goes through them; the sign is never alone, a word is spoken with it.
_TICKS: tuple[tuple[Tick | None, str, str], ...] = (
    (None, "–", "not ticked"),
    ("yes", "✓", "there"),
    ("no", "✕", "missing"),
    ("not_applicable", "n/a", "not applicable"),
)


class TickButton(Button):
    """One item for one side: a click or Space goes on to the next sign."""

    passes_enter = True
    #: The tick changed.
    turned = Signal(object)

    def __init__(self, item: str, side: str) -> None:
        super().__init__("", "choice")
        self._item, self._side = item, side
        self.tick: Tick | None = None
        self.clicked.connect(self._turn)
        self.set_tick(None)

    def set_tick(self, tick: Tick | None) -> None:
        """Show a tick without telling anybody."""
        self.tick = tick
        sign, word = next((sign, word) for known, sign, word in _TICKS if known == tick)
        self.setText(sign)
        self.setAccessibleName(f"{self._item}, {self._side}: {say(word)}")
        self.setToolTip(say(word))
        self.setFixedWidth(theme.current().px(44))

    def _turn(self) -> None:
        ticks = [known for known, _sign, _word in _TICKS]
        self.set_tick(ticks[(ticks.index(self.tick) + 1) % len(ticks)])
        self.turned.emit(self.tick)


class TickList(QWidget):
    """The items of the rubric, a button a side."""

    #: (output id, item id, tick or None)
    ticked = Signal(str, str, object)

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(say("Rubric"))
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(theme.XS)
        self._grid.setVerticalSpacing(theme.XS)
        self._grid.setColumnStretch(0, 1)
        self._shown: tuple[object, ...] = ()
        self.buttons: dict[tuple[str, str], TickButton] = {}

    def show_items(
        self,
        items: Sequence[RubricItem],
        outputs: tuple[str, str],
        ticks: Mapping[tuple[str, str], Tick],
    ) -> None:
        """Show items for two outputs, with the person's own ticks."""
        shown = (tuple(item.id for item in items), outputs)
        if shown != self._shown:
            self._shown = shown
            self._make(items, outputs)
        for key, button in self.buttons.items():
            button.set_tick(ticks.get(key))

    def _make(self, items: Sequence[RubricItem], outputs: tuple[str, str]) -> None:
        clear_layout(self._grid)
        self.buttons = {}
        if not items:
            self._grid.addWidget(
                label(say("This task has no rubric."), "muted", wrap=True), 0, 0, 1, 3
            )
            return
        for column, words in enumerate((say("L"), say("R")), 1):
            self._grid.addWidget(label(words, "overline"), 0, column)
        for row, item in enumerate(items, 1):
            title = ElidedLabel(item.title)
            title.setToolTip(item.description or item.title)
            self._grid.addWidget(title, row, 0)
            sides = zip(outputs, (say("left"), say("right")), strict=True)
            for column, (output_id, side) in enumerate(sides, 1):
                button = TickButton(item.title, side)
                button.turned.connect(
                    lambda tick, output=output_id, item=item.id: self.ticked.emit(
                        output, item, tick
                    )
                )
                self.buttons[output_id, item.id] = button
                self._grid.addWidget(button, row, column)
