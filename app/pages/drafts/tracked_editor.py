"""Editors in which every change is tracked: insertions underlined, deletions struck, a bar beside.

`make_editor` gives the one for a section: the spacious one, or for a very long text one in which typing
does not wait for the layout of megabytes.
"""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QPaintEvent,
    QTextBlock,
    QTextBlockFormat,
    QTextCursor,
    QWheelEvent,
)
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from app import theme
from app.pages.drafts.support_bars import SupportMark
from app.pages.drafts.tracking import Tracking
from app.pages.drafts.tracking_keys import TrackingKeys
from app.widgets.reader import ReadingText

__all__ = ["LONG", "LongEditor", "SupportMark", "TrackedEditor", "make_editor"]

#: Above this many characters a section is shown in a `LongEditor`.
LONG = 100_000
_PASSING = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason)


class TrackedEditor(Tracking, TrackingKeys, ReadingText):
    """One section, as high as its text. ``edited`` says that something waits to be saved."""

    edited = Signal()
    #: The change the writing mark stands in, '' for none.
    change_entered = Signal(str)
    moved = Signal()

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        ReadingText.__init__(self, name, parent)
        self.setProperty("role", "prose")
        # It grows with its text. A scroll bar that came for the moment between would narrow the column,
        # and the whole text would be laid out anew, twice.
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.start_tracking()
        self.document().documentLayout().documentSizeChanged.connect(self._on_size)
        self._dress()

    def block_box(self, block: QTextBlock) -> QRectF:
        box = self.document().documentLayout().blockBoundingRect(block)
        return box.translated(0, -self.verticalScrollBar().value())

    def space_lines(self, cursor: QTextCursor) -> None:
        cursor.setBlockFormat(self.block_format())

    def block_format(self) -> QTextBlockFormat:
        made = super().block_format()
        made.setLeftMargin(theme.S)
        return made

    def _dress(self) -> None:
        super()._dress()
        if getattr(self, "tracked", None) is not None:
            self.show_again()

    def _on_size(self) -> None:
        self.updateGeometry()

    # -- Qt ------------------------------------------------------------------------------

    def sizeHint(self) -> QSize:
        line = round(theme.READING_LINE * theme.current().scale)
        height = round(self.document().size().height()) + 2 * self.frameWidth() + theme.S
        return QSize(480, max(height, line * 2))

    def minimumSizeHint(self) -> QSize:
        return QSize(160, self.sizeHint().height())

    def wheelEvent(self, event: QWheelEvent) -> None:
        # The section is shown whole and has nothing to scroll: the page does.
        event.ignore()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        # Tab may only pass through, to a button that works on the editor one came from.
        if event.reason() not in _PASSING:
            self._on_cursor()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        self.paint_bars(event)


class LongEditor(Tracking, TrackingKeys, QPlainTextEdit):
    """One very long section, which scrolls inside itself; lines stand closer than in `TrackedEditor`."""

    edited = Signal()
    change_entered = Signal(str)
    moved = Signal()

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        QPlainTextEdit.__init__(self, parent)
        self.setAccessibleName(name)
        self.setTabChangesFocus(True)
        self.setProperty("role", "prose")
        self.document().setDocumentMargin(theme.M)
        self.start_tracking()
        theme.notifier().changed.connect(self._dress)
        self._dress()

    def block_box(self, block: QTextBlock) -> QRectF:
        return self.blockBoundingGeometry(block).translated(self.contentOffset())

    def _dress(self) -> None:
        self.document().setDefaultFont(theme.current().reading_font())
        self.show_again()

    # -- Qt ------------------------------------------------------------------------------

    def sizeHint(self) -> QSize:
        return QSize(480, round(theme.READING_LINE * theme.current().scale) * 18)

    def minimumSizeHint(self) -> QSize:
        return QSize(160, self.sizeHint().height())

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        # Tab may only pass through, to a button that works on the editor one came from.
        if event.reason() not in _PASSING:
            self._on_cursor()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        self.paint_bars(event)


def make_editor(name: str, length: int) -> TrackedEditor | LongEditor:
    """The editor for a section of so many characters."""
    return LongEditor(name) if length > LONG else TrackedEditor(name)
