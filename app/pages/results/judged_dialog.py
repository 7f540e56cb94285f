"""A pair that a language model judged: both texts, what it chose in either order, and its reasons."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSplitter, QWidget

from app import theme
from app.operations import run_query
from app.strings import format_number, say
from app.widgets.basics import Card, Scroller, label
from app.widgets.dialogs import Dialog
from app.widgets.notice import Notice
from app.widgets.reader import Reader, ScrollPair
from core.judges.answers import JudgedPairView, JudgedRow, Said, read_judged_pair


def verdict_words(row: JudgedRow, choice: str) -> str:
    """What was decided, by the system's name."""
    if not choice:
        return "–"
    return row.system_of(choice) or say("tie")


class JudgedDialog(Dialog):
    """Opens at once and fills when the texts are read; holds nothing a person has yet to judge."""

    def __init__(self, parent: QWidget, row: JudgedRow) -> None:
        super().__init__(row.example, parent, width=860)
        self.prefer_size(1080, 720)
        self.facts = label("", "muted", wrap=True)
        self.body.addWidget(self.facts)
        self.notice = Notice(
            say(
                "You have not judged these outputs yet, so what the judge said stays hidden here: "
                "knowing it would sway you."
            )
        )
        self.notice.hide()
        self.body.addWidget(self.notice)
        self.readers = [Reader(row.first_system), Reader(row.second_system)]
        self.scrolling = ScrollPair(*self.readers)
        self.texts = texts = QSplitter(Qt.Orientation.Horizontal)
        texts.setChildrenCollapsible(False)
        texts.setHandleWidth(theme.L)
        for reader, system in zip(self.readers, (row.first_system, row.second_system), strict=True):
            card = Card(system)
            card.add(reader, 1)
            texts.addWidget(card)
        self.answers = Scroller()
        self.answers.setAccessibleName(say("What the judge said"))
        both = QSplitter(Qt.Orientation.Vertical)
        both.setChildrenCollapsible(False)
        both.setHandleWidth(theme.L)
        both.addWidget(texts)
        both.addWidget(self.answers)
        both.setStretchFactor(0, 3)
        both.setStretchFactor(1, 2)
        self.body.addWidget(both, 1)
        self.add_button(say("Close"), self.accept, "primary")
        run_query(
            self, read_judged_pair, self.session.workspace, row, self.session.person_id
        ).success(self._fill)

    def _fill(self, view: JudgedPairView) -> None:
        self.notice.setVisible(view.hidden)
        if view.hidden:
            self.texts.hide()
            self.answers.hide()
            return
        row = view.row
        alike = say("alike in both orders") if row.consistent else say("the two orders contradict")
        self.facts.setText(
            say(
                "{judge}: {verdict}, {alike}. People: {people}.",
                judge=row.judge,
                verdict=verdict_words(row, row.choice),
                alike=alike,
                people=verdict_words(row, row.people),
            )
        )
        for reader, sections in zip(self.readers, view.texts, strict=True):
            reader.set_sections(sections)
        for said in view.said:
            self.answers.box.addWidget(_answer_card(row, said))
        self.answers.box.addStretch(1)


def _answer_card(row: JudgedRow, said: Said) -> Card:
    card = Card(say("{system} shown first", system=said.first_shown))
    if said.unscored:
        card.add(label(said.unscored, "muted", wrap=True))
    else:
        chosen = say("Chose: {verdict}", verdict=verdict_words(row, said.choice))
        if said.probability is not None:
            chosen += say(", {percent} % sure", percent=format_number(said.probability * 100, 0))
        card.add(label(chosen, "strong", wrap=True))
    reasons = said.justification or say("It gave no reasons.")
    card.add(label(reasons, wrap=True, selectable=True))
    return card
