"""The studio's controls: evidence, text, and beside it support, critique and changes."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QMenu,
    QSplitter,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.pages.drafts.side_tabs import ChangesTab, CritiqueTab, SupportTab
from app.session import Session
from app.strings import say
from app.widgets.basics import Card, ElidedLabel, Scroller, row
from app.widgets.buttons import Button, IconButton
from app.widgets.editors import SaveLabel, Saver
from app.widgets.notice import Notice
from app.widgets.reader import Reader

#: Narrower than this there are two columns.
_COMPACT_BELOW = 1000
#: So wide is the column beside the text at least.
_LEAST_SIDE = 340


class StudioView(QWidget):
    """Three columns, or two where there is no room: the evidence is a tab then. Does nothing itself."""

    session: Session

    def build_view(self, saver: Saver) -> None:
        """Make the controls; to be called once."""
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(theme.S)
        self._make_head(saver)
        self.notice = Notice("", "warning")
        self.notice.hide()
        box.addWidget(self.notice)
        self.split = QSplitter(Qt.Orientation.Horizontal)
        self.split.setChildrenCollapsible(False)
        self.split.setHandleWidth(theme.M)
        for part, share in (
            (self._make_evidence(), 5),
            (self._make_text(), 10),
            (self._make_sides(), 5),
        ):
            self.split.addWidget(part)
            self.split.setStretchFactor(self.split.count() - 1, share)
        self.split.setSizes([280, 560, 290])
        box.addWidget(self.split, 1)

    def warn(self, text: str) -> None:
        """Say something above the text; '' takes it away."""
        self.notice.set_text(text)
        self.notice.setVisible(bool(text))

    def _make_head(self, saver: Saver) -> None:
        """What the page puts into its own header, so that the text has the height."""
        keys = self.session.shortcuts
        self.back_button = Button(say("Compare drafts"), icon="chevron-left")
        self.save_button = Button(
            say("Save example"), "primary", shortcuts=keys, action="drafts.save"
        )
        self.head_controls = (SaveLabel(saver), self.back_button, self.save_button)

    def _make_evidence(self) -> QWidget:
        self.evidence_card = Card(say("Evidence"))
        self.evidence = Reader(say("Passages"))
        self.show_button = Button(say("Show in the document"), icon="documents")
        self.evidence_card.add(self.evidence, 1)
        self.evidence_card.add(row(self.show_button, None))
        return self.evidence_card

    def _make_text(self) -> QWidget:
        keys = self.session.shortcuts
        card = Card()
        card.setAccessibleName(say("Post-edit"))
        self.text_title = ElidedLabel()
        self.text_title.setProperty("role", "small")
        self.previous_button = IconButton("chevron-left", say("Change before"))
        self.next_button = IconButton("chevron-right", say("Next change"))
        self.accept_button = Button(say("Accept"), shortcuts=keys, action="drafts.accept")
        self.reject_button = Button(say("Reject"), shortcuts=keys, action="drafts.reject")
        self.all_button = Button(say("All changes"), "quiet", icon="chevron-down")
        self.all_button.setAccessibleName(say("Accept or reject all"))
        self.all_menu = QMenu(self.all_button)
        self.all_button.setMenu(self.all_menu)
        self.model_button = Button(
            say("Edit with the model"), icon="edit", shortcuts=keys, action="drafts.assist"
        )
        steps = row(self.text_title, self.previous_button, self.next_button)
        steps.setStretch(0, 1)
        self.head = row(steps, row(self.accept_button, self.reject_button, None))
        self.foot = row(row(self.model_button, None), row(self.all_button, None))
        for line in (self.head, self.foot):
            line.setStretch(0, 1)
        card.add(self.head)
        self.sections = Scroller()
        self.sections.box.setSpacing(theme.S)
        card.add(self.sections, 1)
        card.add(self.foot)
        return card

    def _make_sides(self) -> QWidget:
        self.support = SupportTab()
        self.critique = CritiqueTab()
        self.changes = ChangesTab()
        self.tabs = QTabWidget()
        self.tabs.setAccessibleName(say("Beside the text"))
        # The column is at least as wide as its tabs' names.
        self.tabs.setUsesScrollButtons(False)
        self.tabs.setElideMode(Qt.TextElideMode.ElideNone)
        for tab, words in (
            (self.support, say("Support")),
            (self.critique, say("Critique")),
            (self.changes, say("Changes")),
        ):
            self.tabs.addTab(tab, words)
        card = Card()
        card.setAccessibleName(say("Support, critique and changes"))
        card.add(self.tabs, 1)
        return card

    def set_compact(self, compact: bool) -> None:
        """Where there is no room for three columns, the evidence is the first tab of the right one."""
        if compact == (self.tabs.indexOf(self.evidence_card) >= 0):
            return
        if compact:
            self.tabs.insertTab(0, self.evidence_card, say("Evidence"))
            self.split.setSizes([420, 380])
        else:
            self.tabs.removeTab(0)
            self.split.insertWidget(0, self.evidence_card)
            self.split.setStretchFactor(0, 5)
            self.split.setStretchFactor(1, 10)
            self.split.setStretchFactor(2, 5)
            self.split.setSizes([280, 560, 290])
            self.evidence_card.show()
        self.evidence_card.setProperty("role", "" if compact else "card")
        margins = (0, theme.S, 0, 0) if compact else (theme.L, theme.M, theme.L, theme.L)
        self.evidence_card.box.setContentsMargins(*margins)
        self.evidence_card.style().polish(self.evidence_card)

    def _fit_rows(self, width: int) -> None:
        """Rows of buttons are one line each, or two where the column beside would get too narrow."""
        direction = QBoxLayout.Direction
        for line in (self.head, self.foot):
            items = [line.itemAt(place) for place in range(line.count())]
            parts = [item.sizeHint().width() for item in items if item is not None]
            needed = sum(parts) + line.spacing() * (len(parts) - 1) + 2 * theme.L + theme.M
            tight = needed + theme.current().px(_LEAST_SIDE) > width
            line.setDirection(direction.TopToBottom if tight else direction.LeftToRight)

    # -- Qt ------------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        width = event.size().width()
        self.set_compact(width < theme.current().px(_COMPACT_BELOW))
        self._fit_rows(width)
