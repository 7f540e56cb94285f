"""A short list of things to tick, which scrolls when it gets long."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QCheckBox, QSizePolicy, QWidget

from app import theme
from app.widgets.basics import Scroller, clear_layout

_ROWS = 6
#: What the box itself takes of a line's width.
_BESIDE_TEXT = 44


class TickList(Scroller):
    """Texts with a value each; ``ticked`` says that one was ticked or unticked, ``entered`` with its
    value that the keyboard or the mouse came to one."""

    ticked = Signal()
    entered = Signal(str)

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.box.setSpacing(theme.XS)
        self._boxes: list[tuple[str, QCheckBox]] = []
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)

    @property
    def values(self) -> list[str]:
        """The values ticked, in order."""
        return [value for value, box in self._boxes if box.isChecked()]

    def fill(self, entries: Sequence[tuple[str, str]], ticked: Collection[str]) -> None:
        """Offer (text, value) pairs, some of them ticked, without telling anybody.

        The same ones again are left as they are, with the keyboard on one of them.
        """
        offered = [(box.accessibleName(), value) for value, box in self._boxes]
        if offered and offered == list(entries) and set(self.values) == set(ticked):
            return
        clear_layout(self.box)
        self._boxes = []
        for text, value in entries:
            box = QCheckBox()
            box.setToolTip(text)
            box.setAccessibleName(text)
            box.setMinimumWidth(1)
            box.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
            box.setChecked(value in ticked)
            box.toggled.connect(self.ticked)
            box.installEventFilter(self)
            self._boxes.append((value, box))
            self.box.addWidget(box)
        self.box.addStretch(1)
        self._fit()
        self.updateGeometry()

    def set_ticked(self, value: str, checked: bool) -> None:
        """Tick or untick one, as a click does."""
        for known, box in self._boxes:
            if known == value:
                box.setChecked(checked)

    def _fit(self) -> None:
        """Shorten the texts to the room there is; the whole is said on hover and by screen readers."""
        room = self.viewport().width() - theme.current().px(_BESIDE_TEXT)
        for _value, box in self._boxes:
            text = box.accessibleName().replace("&", "&&")
            box.setText(box.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, room))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.FocusIn:
            for value, box in self._boxes:
                if box is watched:
                    self.entered.emit(value)
        return super().eventFilter(watched, event)

    def sizeHint(self) -> QSize:
        rows = max(1, min(_ROWS, len(self._boxes)))
        height = self._boxes[0][1].sizeHint().height() if self._boxes else 0
        return QSize(320, rows * (height + theme.XS) + theme.XS)

    def minimumSizeHint(self) -> QSize:
        return QSize(160, self.sizeHint().height())
