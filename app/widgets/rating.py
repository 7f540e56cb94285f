"""Ratings from 1 to 5: one bar an axis, what each number means in words, all by keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QButtonGroup, QFrame, QHBoxLayout, QVBoxLayout, QWidget

from app import theme
from app.strings import say
from app.widgets.basics import Label, label, set_property
from app.widgets.buttons import Button


@dataclass(frozen=True, slots=True)
class Axis:
    """What is rated: its name, the question it asks, and what each of 1 to 5 means."""

    key: str
    name: str
    question: str
    anchors: tuple[str, str, str, str, str]


class RatingBar(QFrame):
    """One axis. Clicking the chosen number again takes it back; Left and Right move inside."""

    rated = Signal(str, int)
    cleared = Signal(str)
    entered = Signal(str)

    def __init__(self, axis: Axis, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.axis = axis
        self._value: int | None = None
        self.setProperty("role", "rating")
        self.setAccessibleName(axis.name)
        self.setAccessibleDescription(axis.question)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(theme.S, theme.S, theme.S, theme.S)
        outer.setSpacing(theme.XS)
        self._title = label(axis.name, "strong")
        self._title.setToolTip(axis.question)
        outer.addWidget(self._title)
        row = QHBoxLayout()
        row.setSpacing(6)
        self._group = QButtonGroup(self)
        self._group.setExclusive(False)
        self._buttons: list[Button] = []
        for value, anchor in enumerate(axis.anchors, 1):
            button = Button(str(value), "choice")
            button.setCheckable(True)
            button.setAccessibleName(f"{axis.name}: {value}, {anchor}")
            button.setToolTip(f"{value}: {anchor}")
            button.clicked.connect(self._on_click)
            button.installEventFilter(self)
            self._group.addButton(button, value)
            self._buttons.append(button)
            row.addWidget(button)
        row.addStretch(1)
        outer.addLayout(row)
        self.anchor_label = Label()
        self.anchor_label.setProperty("role", "small")
        self.anchor_label.setWordWrap(True)
        outer.addWidget(self.anchor_label)
        theme.notifier().changed.connect(self._fit)
        self._fit()
        self._show()

    @property
    def value(self) -> int | None:
        return self._value

    def set_value(self, value: int | None) -> None:
        """Show a rating without telling anybody."""
        self._value = value
        self._show()

    def rate(self, value: int) -> None:
        """Give a rating, as a click does."""
        self._value = value
        self._show()
        self.rated.emit(self.axis.key, value)

    def clear(self) -> None:
        """Take the rating back."""
        self._value = None
        self._show()
        self.cleared.emit(self.axis.key)

    def set_active(self, active: bool) -> None:
        """Mark the bar that the number keys rate."""
        set_property(self, "active", "true" if active else "false")

    def _show(self) -> None:
        for value, button in enumerate(self._buttons, 1):
            button.setChecked(value == self._value)
            chosen = value == (self._value or 1)
            button.setFocusPolicy(
                Qt.FocusPolicy.StrongFocus if chosen else Qt.FocusPolicy.ClickFocus
            )
        anchors = self.axis.anchors
        if self._value is None:
            text = say("1 {low} … 5 {high}", low=anchors[0], high=anchors[4])
        else:
            text = f"{self._value}: {anchors[self._value - 1]}"
        self.anchor_label.setText(text)

    def _fit(self) -> None:
        for button in self._buttons:
            button.setFixedWidth(theme.current().px(36))

    def _on_click(self) -> None:
        button = self.sender()
        assert isinstance(button, Button)
        value = self._group.id(button)
        if value == self._value:
            self.clear()
        else:
            self.rate(value)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.FocusIn:
            self.entered.emit(self.axis.key)
        elif isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            step = {Qt.Key.Key_Right: 1, Qt.Key.Key_Left: -1}.get(Qt.Key(event.key()))
            if step and isinstance(watched, Button):
                place = max(0, min(4, self._buttons.index(watched) + step))
                self._buttons[place].setFocus(Qt.FocusReason.TabFocusReason)
                return True
        return super().eventFilter(watched, event)


class RatingPanel(QWidget):
    """Several axes, one of them active: the number keys rate it and move on to the next.

    ``rated`` and ``cleared`` carry the axis's key.
    """

    rated = Signal(str, int)
    cleared = Signal(str)
    completed = Signal()

    def __init__(self, axes: Sequence[Axis], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.XS)
        self.bars: dict[str, RatingBar] = {}
        for axis in axes:
            bar = RatingBar(axis)
            bar.rated.connect(self._on_rated)
            bar.cleared.connect(self.cleared)
            bar.entered.connect(self.activate)
            self.bars[axis.key] = bar
            layout.addWidget(bar)
        self._order = [axis.key for axis in axes]
        self.active = self._order[0]
        self.activate(self.active)

    @property
    def values(self) -> dict[str, int]:
        """The ratings given."""
        return {key: bar.value for key, bar in self.bars.items() if bar.value is not None}

    @property
    def complete(self) -> bool:
        return len(self.values) == len(self.bars)

    def set_values(self, values: Mapping[str, int]) -> None:
        """Show ratings, and make the first axis without one active."""
        for key, bar in self.bars.items():
            bar.set_value(values.get(key))
        missing = [key for key in self._order if key not in values]
        self.activate(missing[0] if missing else self._order[0])

    def rate(self, value: int) -> None:
        """Rate the active axis, as a number key does."""
        self.bars[self.active].rate(value)

    def activate(self, key: str) -> None:
        """Choose the axis the number keys rate."""
        self.active = key
        for other, bar in self.bars.items():
            bar.set_active(other == key)

    def step(self, by: int) -> None:
        """Make the axis before or after the active one active."""
        place = self._order.index(self.active) + by
        self.activate(self._order[max(0, min(len(self._order) - 1, place))])

    def _on_rated(self, key: str, value: int) -> None:
        self.rated.emit(key, value)
        missing = [other for other in self._order if self.bars[other].value is None]
        if not missing:
            self.completed.emit()
            self.activate(key)
        else:
            later = [
                other for other in missing if self._order.index(other) > self._order.index(key)
            ]
            self.activate((later or missing)[0])
