"""Deciding the pairs on which people disagree: both texts, the votes without names, and a reason."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QSplitter, QVBoxLayout, QWidget

from app import theme
from app.operations import run_query, run_verb
from app.pages.results.compare import difference_marks
from app.strings import count_of, say
from app.widgets.basics import Card, label
from app.widgets.buttons import Button
from app.widgets.dialogs import Dialog
from app.widgets.editors import ProseEditor
from app.widgets.notice import Notice
from app.widgets.reader import Reader, ScrollPair
from core.review.blinding import waiting_judgements
from core.review.pairs import Chosen, adjudicate, disagreements, pair_choices
from core.runs.differences import Difference, word_differences
from core.storage.workspace import Workspace
from core.types import Example, Output, SectionText

_CHOICES: tuple[tuple[Chosen, str], ...] = (
    ("first", "Left is better"),
    ("tie", "Equal"),
    ("second", "Right is better"),
)


@dataclass(frozen=True, slots=True)
class Disputed:
    """A pair to decide, on sides drawn by the outputs' pseudonyms, which tell nothing of the systems.

    ``votes`` are for the left, for equal and for the right.
    """

    left_id: str
    right_id: str
    title: str
    left: tuple[SectionText, ...]
    right: tuple[SectionText, ...]
    votes: tuple[int, int, int]
    reasons: tuple[str, ...]
    difference: Difference
    remaining: int


def read_disputed(workspace: Workspace, person_id: str) -> tuple[int, Disputed | None]:
    """How many judgements of one's own still wait, and the next pair to decide once none does."""
    waiting = waiting_judgements(workspace, person_id)
    if waiting:
        return waiting, None
    open_pairs = disagreements(workspace)
    if not open_pairs:
        return 0, None
    pair = open_pairs[0]
    outputs = [workspace.get(Output, pair.first), workspace.get(Output, pair.second)]
    # Ids tell which run came first; pseudonyms tell nothing.
    swapped = outputs[0].pseudonym > outputs[1].pseudonym
    if swapped:
        outputs.reverse()
    texts = [o.sections or (SectionText(title="", text=o.text),) for o in outputs]
    votes = {key: pair.votes.get(key, 0) for key in ("first", "tie", "second")}
    order = ("second", "tie", "first") if swapped else ("first", "tie", "second")
    reasons = tuple(
        choice.comment
        for choice in pair_choices(workspace)
        if (choice.first, choice.second) == (pair.first, pair.second) and choice.comment.strip()
    )
    return 0, Disputed(
        outputs[0].id,
        outputs[1].id,
        workspace.get(Example, outputs[0].example_id).title,
        texts[0],
        texts[1],
        (votes[order[0]], votes[order[1]], votes[order[2]]),
        reasons,
        word_differences(texts[0], texts[1]),
        len(open_pairs),
    )


class AdjudicateDialog(Dialog):
    """One disputed pair after the other."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(say("Where people disagree"), parent, width=760)
        self.pair: Disputed | None = None
        self.choice: Chosen | None = None
        self.votes_label = label("", "muted", wrap=True)
        self.body.addWidget(self.votes_label)
        self.work = QWidget()
        box = QVBoxLayout(self.work)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(theme.S)
        self.work.hide()
        split = QSplitter(Qt.Orientation.Horizontal)
        split.setChildrenCollapsible(False)
        split.setHandleWidth(theme.M)
        self.left, self.right = Reader(say("Left")), Reader(say("Right"))
        for name, reader in ((say("Left"), self.left), (say("Right"), self.right)):
            card = Card(name)
            card.add(reader, 1)
            split.addWidget(card)
        self.scrolling = ScrollPair(self.left, self.right)
        box.addWidget(split, 1)
        line = QHBoxLayout()
        line.setSpacing(theme.S)
        self._group = QButtonGroup(self)
        self.choices: dict[Chosen, Button] = {}
        for choice, words in _CHOICES:
            button = Button(say(words), "choice")
            button.setCheckable(True)
            button.clicked.connect(self._on_choice)
            self._group.addButton(button)
            self.choices[choice] = button
            line.addWidget(button)
        line.addStretch(1)
        box.addLayout(line)
        self.why = ProseEditor(say("Reason"), placeholder=say("Why? (needed)"), lines=2)
        self.why.setMaximumHeight(theme.current().px(76))
        box.addWidget(self.why)
        self.notice = Notice("", "warning")
        self.notice.hide()
        box.addWidget(self.notice)
        self.body.addWidget(self.work, 1)
        self.add_button(say("Close"), self.accept)
        self.decide_button = self.add_button(say("Decide and next"), self.decide, "primary")
        self._load()

    def _load(self) -> None:
        run_query(self, read_disputed, self.session.workspace, self.session.person_id).success(
            self._show
        )

    def _show(self, found: tuple[int, Disputed | None]) -> None:
        waiting, self.pair = found
        pair = self.pair
        self.choice = None
        self._group.setExclusive(False)
        for button in self.choices.values():
            button.setChecked(False)
        self._group.setExclusive(True)
        self.why.load("")
        self.decide_button.setVisible(pair is not None)
        if self.work.isHidden() and pair is not None:
            self.prefer_size(1060, 660)
        self.work.setVisible(pair is not None)
        if pair is None:
            self.left.set_sections(())
            self.right.set_sections(())
            self.votes_label.setText(
                say(
                    "{count} in your own queue. Others' choices are shown once yours are in.",
                    count=count_of(waiting, "judgement waits", "judgements wait"),
                )
                if waiting
                else say("People agree on every pair, or the rest is decided.")
            )
            self.adjustSize()
            return
        left, tie, right = pair.votes
        text = say(
            "{title} · left {left}, equal {tie}, right {right} · {count} to decide",
            title=pair.title,
            left=left,
            tie=tie,
            right=right,
            count=pair.remaining,
        )
        if pair.reasons:
            text += "\n" + " · ".join(f"“{reason}”" for reason in pair.reasons)
        self.votes_label.setText(text)
        self.left.set_sections(pair.left)
        self.right.set_sections(pair.right)
        self.left.set_marks(difference_marks(pair.difference.first, "inserted"))
        self.right.set_marks(difference_marks(pair.difference.second, "inserted"))

    @Slot()
    def _on_choice(self) -> None:
        self.choice = next((c for c, button in self.choices.items() if button.isChecked()), None)

    @Slot()
    def decide(self) -> None:
        """Keep the decision and show the next pair."""
        pair = self.pair
        if pair is None:
            return
        if self.choice is None or not self.why.text.strip():
            self.notice.set_text(say("Choose a side or equal, and give the reason."))
            self.notice.show()
            return
        self.notice.hide()
        run_verb(
            self,
            say("Decide a pair"),
            adjudicate,
            pair.left_id,
            pair.right_id,
            self.session.person_id,
            self.choice,
            self.why.text,
        ).success(lambda _outcome: self._load())
