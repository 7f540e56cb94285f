"""Text to be read for hours: a serif, 60 to 90 characters wide, in the direction it is written in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetrics,
    QResizeEvent,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextOption,
)
from PySide6.QtWidgets import QTextEdit, QWidget

from app import theme
from app.text_offsets import OffsetMap
from core.types import SectionText

#: Prose, for the average width of a character.
_SAMPLE = "The patient reports a band-like chest pain since Saturday, provoked by walking."


@dataclass(frozen=True, slots=True)
class Mark:
    """A stretch of a section, in code points, shown in a token's colour; ``underline`` besides."""

    section: int
    start: int
    end: int
    ground: str = "accent_soft"
    ink: str = "text"
    underline: bool = False
    strike: bool = False


class ReadingText(QTextEdit):
    """The common ground of reader and editor: type, width, wrapping, Tab that leaves."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setAcceptRichText(False)
        self.setTabChangesFocus(True)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setLineWrapMode(QTextEdit.LineWrapMode.FixedPixelWidth)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.document().setDocumentMargin(theme.S)
        theme.notifier().changed.connect(self._dress)

    def block_format(self) -> QTextBlockFormat:
        """Lines far enough apart; taller scripts get the room they need."""
        made = QTextBlockFormat()
        made.setLineHeight(
            theme.READING_LINE * theme.current().scale,
            QTextBlockFormat.LineHeightTypes.MinimumHeight.value,
        )
        return made

    def _dress(self) -> None:
        self.document().setDefaultFont(theme.current().reading_font())
        self._set_width()

    def _set_width(self) -> None:
        metrics = QFontMetrics(self.document().defaultFont())
        character = metrics.horizontalAdvance(_SAMPLE) / len(_SAMPLE)
        # The average line ends within a word of the edge, so none is longer than this.
        widest = round(theme.READING_COLUMNS[1] * character + 2 * self.document().documentMargin())
        room = self.viewport().width()
        width = min(room, widest) if room > 40 else widest
        if self.lineWrapColumnOrWidth() != width:
            self.setLineWrapColumnOrWidth(width)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._set_width()

    def minimumSizeHint(self) -> QSize:
        return QSize(160, 80)


class Reader(ReadingText):
    """Sections, or one running text, to read and select from; not to change."""

    scrolled = Signal()

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(name, parent)
        self.setReadOnly(True)
        self.setProperty("role", "reader")
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._sections: tuple[SectionText, ...] = ()
        self._starts: list[int] = []
        self._headings: list[int] = []
        self._marks: tuple[Mark, ...] = ()
        self._stream: QTextCursor | None = None
        self.verticalScrollBar().valueChanged.connect(self.scrolled)
        self._dress()

    # -- content -------------------------------------------------------------------------

    @property
    def sections(self) -> tuple[SectionText, ...]:
        return self._sections

    def set_sections(self, sections: Sequence[SectionText]) -> None:
        """Show sections under their titles; scroll and selection stay where the text is the same."""
        if tuple(sections) == self._sections and self._stream is None:
            return
        scroll = self.verticalScrollBar().value()
        self._sections = tuple(sections)
        self._stream = None
        self._lay_out()
        self.verticalScrollBar().setValue(scroll)

    def set_text(self, text: str) -> None:
        """Show one running text."""
        self.set_sections((SectionText(title="", text=text),))

    def append_text(self, text: str) -> None:
        """Add text as it comes; follows the end unless the person has scrolled away from it."""
        bar = self.verticalScrollBar()
        at_end = bar.value() >= bar.maximum() - 4
        if self._stream is None:
            self._stream = QTextCursor(self.document())
            self._stream.movePosition(QTextCursor.MoveOperation.End)
            self._stream.setBlockFormat(self.block_format())
        self._stream.insertText(text, self._body_format())
        if at_end:
            bar.setValue(bar.maximum())

    def set_marks(self, marks: Iterable[Mark]) -> None:
        """Colour stretches of the text."""
        self._marks = tuple(marks)
        self._show_marks()

    # -- places --------------------------------------------------------------------------

    def position_of(self, section: int, offset: int) -> int:
        """Qt's position of a code-point offset in a section's text."""
        return self._starts[section] + OffsetMap(self._sections[section].text).to_utf16(offset)

    def section_tops(self) -> list[int]:
        """Where each section begins, in pixels of the document."""
        layout = self.document().documentLayout()
        return [
            round(layout.blockBoundingRect(self.document().findBlock(start)).top())
            for start in self._headings
        ]

    @property
    def scroll_share(self) -> float:
        """How far down, from 0 to 1."""
        bar = self.verticalScrollBar()
        return bar.value() / bar.maximum() if bar.maximum() else 0.0

    def scroll_to_share(self, share: float) -> None:
        """Go to `scroll_share` again."""
        bar = self.verticalScrollBar()
        bar.setValue(round(max(0.0, min(1.0, share)) * bar.maximum()))

    # -- inside --------------------------------------------------------------------------

    def _lay_out(self) -> None:
        current = theme.current()
        body = self._body_format()
        title = QTextCharFormat()
        title.setFont(current.reading_font(bold=True))
        title.setForeground(current.color("text"))
        self._starts, self._headings = [], []
        self.clear()
        self.document().setDefaultFont(current.reading_font())
        cursor = QTextCursor(self.document())
        cursor.beginEditBlock()
        first = True
        for section in self._sections:
            if section.title:
                heading = self.block_format()
                heading.setTopMargin(0 if first else theme.L)
                heading.setHeadingLevel(2)
                first = self._new_block(cursor, heading, first=first)
                self._headings.append(cursor.position())
                cursor.insertText(section.title, title)
            first = self._new_block(cursor, self.block_format(), first=first)
            if not section.title:
                self._headings.append(cursor.position())
            self._starts.append(cursor.position())
            cursor.insertText(section.text, body)
        cursor.endEditBlock()
        self.moveCursor(QTextCursor.MoveOperation.Start)
        self._show_marks()

    @staticmethod
    def _body_format() -> QTextCharFormat:
        body = QTextCharFormat()
        body.setFont(theme.current().reading_font())
        body.setForeground(theme.current().color("text"))
        return body

    @staticmethod
    def _new_block(cursor: QTextCursor, block: QTextBlockFormat, *, first: bool) -> bool:
        if first:
            cursor.setBlockFormat(block)
        else:
            cursor.insertBlock(block)
        return False

    def _show_marks(self) -> None:
        current = theme.current()
        selections = []
        for mark in self._marks:
            if mark.section >= len(self._starts):
                continue
            selection = QTextEdit.ExtraSelection()
            cursor = QTextCursor(self.document())
            cursor.setPosition(self.position_of(mark.section, mark.start))
            cursor.setPosition(
                self.position_of(mark.section, mark.end), QTextCursor.MoveMode.KeepAnchor
            )
            look = QTextCharFormat()
            look.setBackground(QColor(getattr(current.tokens, mark.ground)))
            look.setForeground(QColor(getattr(current.tokens, mark.ink)))
            look.setFontUnderline(mark.underline)
            look.setFontStrikeOut(mark.strike)
            selection.cursor = cursor
            selection.format = look
            selections.append(selection)
        self.setExtraSelections(selections)

    def _dress(self) -> None:
        super()._dress()
        if self._sections and self._stream is None:
            share = self.scroll_share
            self._lay_out()
            self.scroll_to_share(share)


class ScrollPair:
    """Two readers that scroll together: section by section where their titles agree, else by share.

    Keep a reference as long as the readers live.
    """

    def __init__(self, left: Reader, right: Reader) -> None:
        self._left, self._right = left, right
        self._moving = False
        self.enabled = True
        left.scrolled.connect(self._from_left)
        right.scrolled.connect(self._from_right)

    def _from_left(self) -> None:
        self._follow(self._left, self._right)

    def _from_right(self) -> None:
        self._follow(self._right, self._left)

    def _follow(self, leader: Reader, follower: Reader) -> None:
        # Only the reader the person moves leads; the other's own signal must not lead back.
        if self._moving or not self.enabled:
            return
        self._moving = True
        try:
            follower.verticalScrollBar().setValue(self._matching(leader, follower))
        finally:
            self._moving = False

    @staticmethod
    def _matching(leader: Reader, follower: Reader) -> int:
        bar, other = leader.verticalScrollBar(), follower.verticalScrollBar()
        value = bar.value()
        if value >= bar.maximum():
            return other.maximum()
        here, there = _common_tops(leader, follower)
        here = [0, *here, max(bar.maximum() + bar.pageStep(), 1)]
        there = [0, *there, max(other.maximum() + other.pageStep(), 1)]
        for (top, bottom), (start, end) in zip(pairwise(here), pairwise(there), strict=True):
            if top <= value < bottom:
                return round(start + (value - top) / (bottom - top) * (end - start))
        return round(leader.scroll_share * other.maximum())


def _common_tops(leader: Reader, follower: Reader) -> tuple[list[int], list[int]]:
    """Tops of the sections both have, in an order both share."""
    titles = [section.title.casefold() for section in follower.sections]
    tops, others = leader.section_tops(), follower.section_tops()
    here: list[int] = []
    there: list[int] = []
    for place, section in enumerate(leader.sections):
        title = section.title.casefold()
        if not title or title not in titles:
            continue
        top, other = tops[place], others[titles.index(title)]
        if (not here and top > 0 and other > 0) or (here and top > here[-1] and other > there[-1]):
            here.append(top)
            there.append(other)
    return here, there
