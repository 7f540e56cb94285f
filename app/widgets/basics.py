"""Labels, cards, lines, layouts: the small pieces of every page."""

from __future__ import annotations

import re
from typing import TypeVar

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLayout,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app import icons, theme

W = TypeVar("W", bound=QWidget)

#: Longer than this a word gets places to break, a piece of that length each.
_LONG_WORD, _PIECES = re.compile(r"\S{31,}"), re.compile(r"\S{1,12}")
_BREAK = "\N{ZERO WIDTH SPACE}"


def set_property(widget: QWidget, name: str, value: object) -> None:
    """Set a property that style sheet rules look at, and dress the widget again."""
    if widget.property(name) == value:
        return
    widget.setProperty(name, value)
    style = widget.style()
    style.unpolish(widget)
    style.polish(widget)
    widget.update()


def label(
    text: str = "", role: str = "", *, wrap: bool = False, selectable: bool = False
) -> QLabel:
    """A label of plain text; role is one of the style sheet's (title, heading, strong, muted, small,
    overline, error, pill, pill-warning, pill-danger, key). Right-to-left text reads right to left."""
    made = Label(text)
    if role:
        made.setProperty("role", role)
    made.setWordWrap(wrap)
    if wrap:
        made.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
    if selectable:
        made.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return made


class Label(QLabel):
    """Plain text laid out in the direction it is written in. Where it wraps, a word that is longer than
    any line breaks inside, since it would push everything beside it out of sight."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        self._plain = text
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setText(text)

    def text(self) -> str:
        """The text as it was set."""
        return self._plain

    def setWordWrap(self, on: bool) -> None:
        super().setWordWrap(on)
        self.setText(self._plain)

    def setText(self, text: str) -> None:
        self._plain = text
        direction = (
            Qt.LayoutDirection.RightToLeft
            if text.isascii() is False and is_right_to_left(text)
            else Qt.LayoutDirection.LeftToRight
        )
        self.setLayoutDirection(direction)
        super().setText(break_long_words(text) if self.wordWrap() else text)


def break_long_words(text: str) -> str:
    """The text with places to break, of no width, in words that are longer than lines are."""
    return _LONG_WORD.sub(lambda found: _BREAK.join(_PIECES.findall(found.group())), text)


class ElidedLabel(Label):
    """One line that ends in '…' where there is no room; the whole text shows as a tooltip."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        self._full = ""
        super().__init__(text, parent)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    @property
    def full_text(self) -> str:
        return self._full

    def setText(self, text: str) -> None:
        self._full = text
        self.setAccessibleName(text)
        self._elide()
        self.updateGeometry()

    def _elide(self) -> None:
        line = " ".join(self._full.split())
        room = max(0, self.contentsRect().width())
        shown = self.fontMetrics().elidedText(line, Qt.TextElideMode.ElideRight, room)
        super().setText(shown)
        self.setToolTip(line if shown != line else "")

    def minimumSizeHint(self) -> QSize:
        return QSize(0, super().minimumSizeHint().height())

    def sizeHint(self) -> QSize:
        line = " ".join(self._full.split())
        return QSize(self.fontMetrics().horizontalAdvance(line) + 2, super().sizeHint().height())

    def resizeEvent(self, event: object) -> None:
        super().resizeEvent(event)  # type: ignore[arg-type]
        self._elide()


def is_right_to_left(text: str) -> bool:
    """Whether the first letter with a direction is a right-to-left one."""
    import unicodedata

    for character in text:
        direction = unicodedata.bidirectional(character)
        if direction in ("R", "AL"):
            return True
        if direction == "L":
            return False
    return False


class IconLabel(QLabel):
    """A drawn icon in a token's colour; decoration only, so without a name."""

    def __init__(self, name: str, token: str = "muted", size: int = 18) -> None:
        super().__init__()
        self._name, self._token, self._size = name, token, size
        theme.notifier().changed.connect(self._draw)
        self._draw()

    def _draw(self) -> None:
        current = theme.current()
        color = getattr(current.tokens, self._token)
        self.setPixmap(icons.pixmap(self._name, color, current.px(self._size)))


def line() -> QFrame:
    """A thin horizontal rule."""
    made = QFrame()
    made.setProperty("role", "line")
    made.setFixedHeight(1)
    return made


def column(
    *items: QWidget | QLayout | int | None, spacing: int = theme.S, margin: int = 0
) -> QVBoxLayout:
    """A vertical layout. A number is a gap, None a stretch."""
    return _fill(QVBoxLayout(), items, spacing, margin)


def row(
    *items: QWidget | QLayout | int | None, spacing: int = theme.S, margin: int = 0
) -> QHBoxLayout:
    """A horizontal layout. A number is a gap, None a stretch."""
    return _fill(QHBoxLayout(), items, spacing, margin)


L = TypeVar("L", bound=QBoxLayout)


def _fill(
    box: L, items: tuple[QWidget | QLayout | int | None, ...], spacing: int, margin: int
) -> L:
    box.setSpacing(spacing)
    box.setContentsMargins(margin, margin, margin, margin)
    for item in items:
        if item is None:
            box.addStretch(1)
        elif isinstance(item, int):
            box.addSpacing(item)
        elif isinstance(item, QLayout):
            box.addLayout(item)
        else:
            box.addWidget(item)
    return box


class Folding(QWidget):
    """Parts side by side where there is room for them, else one under the other.

    Parameters
    ----------
    parts
        (part, share of the room) pairs.
    """

    def __init__(self, *parts: tuple[QWidget | QLayout, int], spacing: int = theme.S) -> None:
        super().__init__()
        self._box = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._box.setContentsMargins(0, 0, 0, 0)
        self._box.setSpacing(spacing)
        for part, share in parts:
            if isinstance(part, QLayout):
                self._box.addLayout(part, share)
            else:
                self._box.addWidget(part, share)

    def _widths(self) -> list[int]:
        items = (self._box.itemAt(place) for place in range(self._box.count()))
        return [item.minimumSize().width() for item in items if item is not None]

    def _fit(self) -> None:
        widths = self._widths()
        needed = sum(widths) + self._box.spacing() * (len(widths) - 1)
        direction = QBoxLayout.Direction
        tight = needed > self.width()
        self._box.setDirection(direction.TopToBottom if tight else direction.LeftToRight)

    # -- Qt ------------------------------------------------------------------------------

    def minimumSizeHint(self) -> QSize:
        return QSize(max(self._widths(), default=0), self._box.minimumSize().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()


def clear_layout(layout: QLayout) -> None:
    """Take everything out of a layout and delete it."""
    while (item := layout.takeAt(0)) is not None:
        if (widget := item.widget()) is not None:
            widget.hide()
            widget.deleteLater()
        elif (inner := item.layout()) is not None:
            clear_layout(inner)


class Card(QFrame):
    """A surface with a border, a small heading and what belongs together."""

    def __init__(self, title: str = "", note: str = "", *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "card")
        self.box = QVBoxLayout(self)
        self.box.setContentsMargins(theme.L, theme.M, theme.L, theme.L)
        self.box.setSpacing(theme.S)
        self.title_label = ElidedLabel(title.upper())
        self.title_label.setProperty("role", "overline")
        self.title_label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.title_label.setAccessibleName(title)
        self.note_label = ElidedLabel(note)
        self.note_label.setProperty("role", "small")
        self.header = row(self.title_label)
        self.header.addWidget(self.note_label, 1)
        if title:
            self.setAccessibleName(title)
            self.box.addLayout(self.header)

    def set_title(self, title: str, note: str = "") -> None:
        """Change the heading."""
        self.title_label.setText(title.upper())
        self.title_label.setAccessibleName(title)
        self.note_label.setText(note)
        self.setAccessibleName(title)

    def add(self, item: QWidget | QLayout, stretch: int = 0) -> None:
        """Put something under what is there."""
        if isinstance(item, QLayout):
            self.box.addLayout(item, stretch)
        else:
            self.box.addWidget(item, stretch)


class Scroller(QScrollArea):
    """A column that scrolls when there is no room; follows the keyboard's focus."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.inner = QWidget()
        self.inner.setProperty("role", "scrolled")
        self.box = QVBoxLayout(self.inner)
        self.box.setContentsMargins(0, 0, 0, 0)
        self.box.setSpacing(theme.L)
        self.setWidget(self.inner)

    def minimumSizeHint(self) -> QSize:
        # The bar needs its room, too: without it what stands at the right edge would be cut.
        bar = self.verticalScrollBar().sizeHint().width()
        return QSize(self.inner.minimumSizeHint().width() + bar, 60)
