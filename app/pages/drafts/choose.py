"""Choosing among four drafts, anonymised and shuffled, and rating the chosen one before editing it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSplitter, QVBoxLayout, QWidget

from app import theme
from app.operations import run_query, run_verb
from app.pages.drafts.work import LETTERS, RequestView, SupportAnswer, judge_support
from app.session import Session
from app.strings import count_of, say
from app.widgets.basics import Card, Scroller, label, row
from app.widgets.buttons import Button
from app.widgets.rating import Axis, RatingPanel
from app.widgets.reader import Mark, Reader
from core.changes import Outcome
from core.examples.drafting import choose_draft, rate_draft, unrate_draft
from core.examples.post_edit import start_post_edit
from core.ports import Cancellation
from core.storage.transaction import Transaction
from core.types.documents import Draft, PostEdit

#: Narrower than this the ratings stand under the draft.
_STACKED_BELOW = 560


def make_draft_axes() -> tuple[Axis, ...]:
    """The paper's three questions about a draft, with what each of 1 to 5 means."""
    return (
        Axis(
            "adherence",
            say("Adherence to structure"),
            say("Does it have the sections the task asks for, each with what belongs there?"),
            (
                say("another kind of text"),
                say("most sections missing or mixed up"),
                say("about half as asked"),
                say("as asked with small slips"),
                say("exactly as asked"),
            ),
        ),
        Axis(
            "correctness",
            say("Factual correctness"),
            say("Is what it says right, by the passages and by what is known in the field?"),
            (
                say("wrong in what matters most"),
                say("several serious errors"),
                say("some errors, none grave"),
                say("right but for trifles"),
                say("everything is right"),
            ),
        ),
        Axis(
            "detail",
            say("Level of detail"),
            say("Is it as detailed as an expert would write it?"),
            (
                say("only the surface"),
                say("much too little"),
                say("somewhat too little or too much"),
                say("nearly right"),
                say("as detailed as an expert's"),
            ),
        ),
    )


class ChoosePanel(QWidget):
    """Emits the post-edit that was begun."""

    begun = Signal(str)

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self._view: RequestView | None = None
        self._draft = ""
        self._support: dict[str, SupportAnswer] = {}
        keys = session.shortcuts
        self.letters = [Button(letter, "choice") for letter in LETTERS[:4]]
        for place, button in enumerate(self.letters):
            button.setCheckable(True)
            button.setMinimumWidth(button.sizeHint().width())
            button.setAccessibleName(say("Draft {letter}", letter=button.text()))
            button.clicked.connect(partial(self.show_draft, place))
        self.reader = Reader(say("The draft"))
        self.legend = label("", "small", wrap=True)
        left = Card()
        left.setAccessibleName(say("Drafts"))
        left.add(row(label(say("Draft"), "strong"), *self.letters, None))
        left.add(self.legend)
        left.add(self.reader, 1)
        self.ratings = RatingPanel(make_draft_axes())
        self.ratings.rated.connect(self._rate)
        self.ratings.cleared.connect(self._unrate)
        self.edit_button = Button(
            say("Choose and edit"), "primary", shortcuts=keys, action="drafts.edit"
        )
        self.edit_button.clicked.connect(self.begin)
        self.hint = label(
            say("Choose the most plausible draft, and rate it before you edit it."),
            "muted",
            wrap=True,
        )
        right = Scroller()
        card = Card(say("Before editing"))
        card.add(self.hint)
        card.add(self.ratings)
        card.add(self.edit_button)
        right.box.addWidget(card)
        right.box.addStretch(1)
        self.split = split = QSplitter(Qt.Orientation.Horizontal)
        split.setChildrenCollapsible(False)
        split.setHandleWidth(theme.M)
        split.addWidget(left)
        split.addWidget(right)
        split.setStretchFactor(0, 3)
        split.setStretchFactor(1, 2)
        split.setSizes([560, 300])
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.addWidget(split)
        for value in range(1, 6):
            keys.bind(self, f"drafts.rate-{value}", partial(self._key, value))
        keys.bind(self, "drafts.next", partial(self._step, 1))
        keys.bind(self, "drafts.previous", partial(self._step, -1))

    @property
    def draft_id(self) -> str:
        """The draft being read."""
        return self._draft

    def show_request(self, view: RequestView) -> None:
        """Show a request's drafts."""
        other = self._view is None or self._view.request.id != view.request.id
        self._view = view
        if other:
            self._support = {}
        for place, button in enumerate(self.letters):
            button.setVisible(place < len(view.shown))
        ids = [draft.id for draft in view.shown]
        wanted = self._draft if self._draft in ids else (view.request.chosen_id or ids[0])
        self.show_draft(ids.index(wanted))

    def show_draft(self, place: int) -> None:
        """Read one of the drafts."""
        view = self._view
        if view is None or not 0 <= place < len(view.shown):
            return
        draft = view.shown[place]
        other = draft.id != self._draft
        self._draft = draft.id
        for number, button in enumerate(self.letters):
            button.setChecked(number == place)
        self._show_choice(draft.id)
        self.reader.set_sections(
            [
                section if section.text.strip() else replace(section, text=_nothing_written())
                for section in draft.sections
            ]
        )
        if other:
            self.reader.verticalScrollBar().setValue(0)
            self.ratings.set_values(view.ratings[draft.id])
        self._mark(draft)
        if draft.id not in self._support:
            self._judge(draft)

    def _show_choice(self, draft_id: str) -> None:
        """Say which draft was chosen, and what the button does with the one that is read."""
        view = self._view
        assert view is not None
        chosen = view.request.chosen_id if view.post_edit_id else ""
        for number, button in enumerate(self.letters):
            mine = number < len(view.shown) and view.shown[number].id == chosen
            button.setText(f"{LETTERS[number]} ✓" if mine else LETTERS[number])
            name = say("Draft {letter}", letter=LETTERS[number])
            button.setAccessibleName(say("{name}, chosen", name=name) if mine else name)
        letter = next(
            (LETTERS[number] for number, draft in enumerate(view.shown) if draft.id == chosen), ""
        )
        if not letter:
            words = say("Choose the most plausible draft, and rate it before you edit it.")
        elif view.request.state == "saved":
            words = say(
                "Draft {letter} was chosen, edited and saved as an example. You can go on editing it.",
                letter=letter,
            )
        else:
            words = say("Draft {letter} was chosen and is being edited.", letter=letter)
        self.hint.setText(words)
        going_on = bool(chosen) and draft_id == chosen
        self.edit_button.setText(say("Go on editing") if going_on else say("Choose and edit"))

    def begin(self) -> None:
        """Choose the draft being read, and edit it."""
        if self._view is not None and self._draft:
            run_verb(
                self, say("Choose a draft"), _choose_and_start, self._view.request.id, self._draft
            ).success(self._begun)

    def _begun(self, outcome: Outcome[PostEdit]) -> None:
        self.begun.emit(outcome.value.id)

    def _judge(self, draft: Draft) -> None:
        assert self._view is not None
        texts = [section.text for section in draft.sections]

        def take(answer: SupportAnswer) -> None:
            self._support[draft.id] = answer
            if draft.id == self._draft:
                self._mark(draft)

        run_query(
            self,
            judge_support,
            self.session.models,
            texts,
            self._view.request.evidence,
            Cancellation(),
        ).success(take)

    def _mark(self, draft: Draft) -> None:
        """Underline what was copied, and ground what the evidence lacks."""
        assert self._view is not None
        marks: list[Mark] = []
        answer = self._support.get(draft.id)
        filled = 0
        if answer is not None:
            for number, claims in enumerate(answer.sections):
                for claim in claims:
                    if claim.verdict in ("not found", "contradicted"):
                        filled += 1
                        marks.append(Mark(number, claim.start, claim.end, "warning_ground", "text"))
        copied = 0
        for number, spans in enumerate(self._view.copied[draft.id]):
            for start, end in spans:
                copied += 1
                marks.append(Mark(number, start, end, "accent_soft", "text", underline=True))
        self.reader.set_marks(marks)
        parts = []
        if answer is None:
            parts.append(say("Looking for what the passages support …"))
        else:
            parts.append(
                say(
                    "Shaded: not found in the passages, filled in by the model ({count}).",
                    count=count_of(filled, say("sentence"), say("sentences")),
                )
            )
            if answer.by_words:
                parts.append(say("Judged by words alone, since {why}.", why=answer.by_words))
        if copied:
            parts.append(say("Underlined: copied word for word."))
        self.legend.setText(" ".join(parts))

    def _rate(self, axis: str, value: int) -> None:
        run_verb(
            self,
            say("Rate the draft"),
            rate_draft,
            self._draft,
            self.session.person_id,
            axis,
            value,
        )
        self._keep(axis, value)

    def _unrate(self, axis: str) -> None:
        run_verb(
            self,
            say("Take the rating back"),
            unrate_draft,
            self._draft,
            self.session.person_id,
            axis,
        )
        self._keep(axis, None)

    def _keep(self, axis: str, value: int | None) -> None:
        if self._view is not None:
            mine = self._view.ratings[self._draft]
            if value is None:
                mine.pop(axis, None)
            else:
                mine[axis] = value

    def _key(self, value: int) -> None:
        if self.isVisible():
            self.ratings.rate(value)

    def _step(self, by: int) -> None:
        view = self._view
        if view is not None and self.isVisible():
            ids: Sequence[str] = [draft.id for draft in view.shown]
            self.show_draft((ids.index(self._draft) + by) % len(ids))

    # -- Qt ------------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        narrow = event.size().width() < theme.current().px(_STACKED_BELOW)
        wanted = Qt.Orientation.Vertical if narrow else Qt.Orientation.Horizontal
        if self.split.orientation() != wanted:
            self.split.setOrientation(wanted)
            self.split.setSizes([360, 240] if narrow else [560, 300])


def _nothing_written() -> str:
    return say("(nothing written)")


def _choose_and_start(tx: Transaction, request_id: str, draft_id: str) -> PostEdit:
    choose_draft(tx, request_id, draft_id)
    return start_post_edit(tx, request_id)
