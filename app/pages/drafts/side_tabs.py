"""Beside the text: what the evidence supports, the critique, and the list of changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from app import theme
from app.pages.drafts.support_bars import paint_bar
from app.strings import count_of, format_time, say, shorten
from app.widgets.basics import ElidedLabel, Scroller, clear_layout, label, row
from app.widgets.buttons import Button
from app.widgets.editors import LineEditor
from app.widgets.inputs import ComboBox
from core.editing.edit_types import suggest_edit_type
from core.editing.tracked import Change
from core.examples.exact_precision import PRECISION
from core.examples.grounding import Grounded
from core.types.documents import EDIT_TYPES, ChangeNote, CritiquePoint

_NEAR = 5_000


def edit_type_words() -> dict[str, str]:
    """The types of edits in words."""
    return {
        "fact_addition": say("fact added"),
        "deletion": say("deleted"),
        "update": say("fact changed"),
        "stylistic": say("style"),
        "reorganisation": say("moved"),
    }


class Swatch(QWidget):
    """A small bar as it stands beside the text: whole for supported, broken otherwise."""

    def __init__(self, verdict: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._verdict = verdict
        self.setFixedSize(QSize(theme.current().px(6), theme.current().px(16)))

    def paintEvent(self, event: QPaintEvent) -> None:
        paint_bar(QPainter(self), QRectF(self.rect()), self._verdict)


class SupportTab(Scroller):
    """Counts, and the sentences that want a look. Emits (section, number) of the chosen one."""

    chosen = Signal(int, int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.box.setSpacing(theme.S)
        self.box.setContentsMargins(0, theme.S, 0, 0)
        self._shown: tuple[Sequence[Sequence[Grounded]], str] | None = None
        self.counts: dict[str, QWidget] = {}
        self._labels = {}
        for verdict, words in (
            ("supported", say("supported by the passages")),
            ("perhaps", say("perhaps supported")),
            ("not found", say("not found in the passages")),
            ("contradicted", say("contradicted")),
        ):
            words_label = ElidedLabel(words)
            number = label("", "strong")
            line = QWidget()
            inner = row(Swatch(verdict), number, words_label)
            inner.setStretch(2, 1)
            line.setLayout(inner)
            self._labels[verdict] = number
            # Nothing has been counted yet.
            line.hide()
            self.counts[verdict] = line
            self.box.addWidget(line)
        self.state = label(say("Reading …"), "small", wrap=True)
        self.box.addWidget(self.state)
        self._list = QVBoxLayout()
        self._list.setSpacing(theme.S)
        self.box.addLayout(self._list)
        self.box.addStretch(1)

    def show_answer(self, sections: Sequence[Sequence[Grounded]], by_words: str) -> None:
        """Show verdicts and differences."""
        if (sections, by_words) == self._shown:
            return
        self._shown = (sections, by_words)
        claims = [claim for section in sections for claim in section]
        for verdict, number in self._labels.items():
            count = sum(claim.verdict == verdict for claim in claims)
            number.setText(str(count))
            self.counts[verdict].setVisible(count > 0 or verdict in ("supported", "not found"))
        if by_words:
            self.state.setText(say("Judged by words alone, since {why}.", why=by_words))
        self.state.setVisible(bool(by_words))
        clear_layout(self._list)
        shown = 0
        for section, of_section in enumerate(sections):
            for place, claim in enumerate(of_section):
                if shown >= 40 or (claim.verdict == "supported" and not claim.differences):
                    continue
                shown += 1
                self._list.addWidget(self._entry(section, place, claim))

    def _entry(self, section: int, number: int, claim: Grounded) -> QWidget:
        entry = QWidget()
        box = QVBoxLayout(entry)
        box.setContentsMargins(0, 0, 0, theme.XS)
        box.setSpacing(2)
        button = Button(shorten(claim.text, 36), "link")
        button.setAccessibleName(f"{claim.verdict}: {claim.text}")
        button.setToolTip(claim.text)
        button.clicked.connect(partial(self.chosen.emit, section, number))
        line = row(Swatch(claim.verdict), button, None)
        box.addLayout(line)
        for difference in claim.differences:
            right, spoke = PRECISION[difference.kind]
            words = label(
                say(
                    "{kind} (right in {right} of {spoke} tests): “{here}” here, “{there}” there",
                    kind=say(difference.kind),
                    right=right,
                    spoke=spoke,
                    here=difference.text,
                    there=shorten(difference.evidence, 60),
                ),
                "small",
                wrap=True,
            )
            box.addWidget(words)
        return entry


class CritiqueTab(Scroller):
    """The points of the critique. Emits (point id, state), and asks for a critique."""

    settled = Signal(str, str)
    asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.box.setSpacing(theme.S)
        self.box.setContentsMargins(0, theme.S, 0, 0)
        self.count = label("", "small")
        self._buttons: dict[tuple[str, str], Button] = {}
        self.is_asking = False
        self.ask = Button(say("Ask for a critique"), icon="comment")
        self.ask.clicked.connect(self.asked)
        self.box.addLayout(row(self.ask, self.count, None))
        self.note = label(
            say("A model reads the text beside the passages and names faults. You settle each."),
            "small",
            wrap=True,
        )
        self.box.addWidget(self.note)
        self._list = QVBoxLayout()
        self._list.setSpacing(theme.M)
        self.box.addLayout(self._list)
        self.box.addStretch(1)

    def set_asking(self, asking: bool) -> None:
        """Say that the model reads. The button stays, since the keyboard may be on it."""
        self.is_asking = asking
        self.ask.setText(say("The model reads …") if asking else say("Ask for a critique"))

    def show_points(self, points: Sequence[CritiquePoint]) -> None:
        """Show points and what was made of them; the keyboard stays on the button it is on."""
        focused = next((key for key, button in self._buttons.items() if button.hasFocus()), None)
        self._buttons = {}
        clear_layout(self._list)
        settled = sum(point.state != "open" for point in points)
        self.count.setText(
            say("{settled} of {count} settled", settled=settled, count=len(points))
            if points
            else ""
        )
        self.note.setVisible(not points)
        for point in points:
            entry = QWidget()
            box = QVBoxLayout(entry)
            box.setContentsMargins(0, 0, 0, 0)
            box.setSpacing(theme.XS)
            box.addWidget(label(point.text, wrap=True, selectable=True))
            buttons = row(spacing=theme.XS)
            for state, words in (
                ("valid", say("Valid")),
                ("fixed", say("Fixed")),
                ("rejected", say("Reject")),
            ):
                button = Button(words, "choice")
                button.setCheckable(True)
                button.setChecked(point.state == state)
                button.setAccessibleName(f"{words}: {shorten(point.text, 60)}")
                wanted = "open" if point.state == state else state
                button.clicked.connect(partial(self.settled.emit, point.id, wanted))
                buttons.addWidget(button)
                self._buttons[point.id, state] = button
            buttons.addStretch(1)
            box.addLayout(buttons)
            self._list.addWidget(entry)
        if focused in self._buttons:
            self._buttons[focused].setFocus(Qt.FocusReason.OtherFocusReason)


@dataclass(frozen=True, slots=True)
class ListedChange:
    """A change and where it is."""

    section: int
    change: Change


class _ChangeList(QListWidget):
    """Passing over it with Tab chooses nothing: the writing mark stays at the change it is in."""

    def focusInEvent(self, event: QFocusEvent) -> None:
        was, place = self.blockSignals(True), self.currentRow()
        super().focusInEvent(event)
        self.setCurrentRow(place)
        self.blockSignals(was)


class ChangesTab(QWidget):
    """The list of changes, their types and comments."""

    chosen = Signal(int, str)
    typed = Signal(str, str)
    commented = Signal(str, str)
    confirm_all = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._changes: list[ListedChange] = []
        self._suggested: dict[str, str] = {}
        self._notes: Mapping[str, ChangeNote] = {}
        self.list = _ChangeList()
        self.list.setAccessibleName(say("Changes"))
        self.list.setProperty("role", "bare")
        self.list.setFrameShape(QListWidget.Shape.NoFrame)
        self.list.setWordWrap(True)
        self.list.setSpacing(theme.XS)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.currentRowChanged.connect(self._choose)
        self.type = ComboBox(say("Type of the change"))
        self.type.setSizeAdjustPolicy(
            ComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self.type.activated.connect(self._type)
        self.confirm = Button(say("Confirm"))
        self.confirm.clicked.connect(self._type)
        self.comment = LineEditor(say("Comment"), placeholder=say("Comment on the change"))
        self.comment.editingFinished.connect(self._comment)
        self.all = Button(say("Confirm all types"), "quiet")
        self.all.clicked.connect(self.confirm_all)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, theme.S, 0, 0)
        box.setSpacing(theme.S)
        self.note = label(
            say(
                "Words you type or delete are marked, and listed here: each with its kind, to be "
                "confirmed, and room for a comment."
            ),
            "small",
            wrap=True,
        )
        box.addWidget(self.note)
        box.addWidget(self.list, 1)
        line = row(self.type, self.confirm)
        line.setStretch(0, 1)
        box.addLayout(line)
        box.addWidget(self.comment)
        box.addLayout(row(self.all, None))
        self._show_current()

    def show_changes(
        self,
        changes: Sequence[tuple[int, Change]],
        notes: Mapping[str, ChangeNote],
        names: Mapping[str, str],
        originals: Sequence[str],
    ) -> None:
        """Show the changes; the chosen one stays chosen."""
        kept = self.current
        self._changes = [ListedChange(section, change) for section, change in changes]
        self._notes = notes
        words = edit_type_words()
        was = self.list.blockSignals(True)
        self.list.clear()
        for listed in self._changes:
            change = listed.change
            note = notes.get(change.id)
            if change.id not in self._suggested or change.id == kept:
                # What stands around it is enough to tell new words by, and of any length.
                near = slice(max(0, change.start - _NEAR), change.end + _NEAR)
                self._suggested[change.id] = suggest_edit_type(
                    change, originals[listed.section][near], changes
                )
            who = say("the model") if change.source else names.get(change.person, "")
            kind = words[note.edit_type] if note and note.edit_type else say(
                "{kind}?", kind=words[self._suggested[change.id]]
            )  # fmt: skip
            parts = []
            if change.before.strip():
                parts.append("− " + shorten(change.before, 60))
            if change.after.strip():
                parts.append("+ " + shorten(change.after, 60))
            facts = " · ".join(p for p in (kind, who, format_time(change.time)) if p)
            text = "\n".join([*(parts or [say("blanks")]), facts])
            if note and note.comment:
                text += f"\n{note.comment}"
            self.list.addItem(QListWidgetItem(text))
        self.list.blockSignals(was)
        self.select(kept)

    @property
    def current(self) -> str:
        """The id of the chosen change."""
        place = self.list.currentRow()
        return self._changes[place].change.id if 0 <= place < len(self._changes) else ""

    def select(self, change: str) -> None:
        """Choose a change without telling anybody."""
        was = self.list.blockSignals(True)
        place = next((n for n, c in enumerate(self._changes) if c.change.id == change), -1)
        self.list.setCurrentRow(place)
        self.list.blockSignals(was)
        self._show_current()

    def _show_current(self) -> None:
        current = self.current
        note = self._notes.get(current)
        words = edit_type_words()
        suggested = self._suggested.get(current, "")
        self.type.fill(
            [
                (
                    words[kind]
                    + (
                        say(" (suggested)")
                        if kind == suggested and not (note and note.edit_type)
                        else ""
                    ),
                    kind,
                )
                for kind in EDIT_TYPES
            ]
        )
        self.type.choose(note.edit_type if note and note.edit_type else suggested)
        self.comment.load(note.comment if note else "")
        for part in (self.type, self.confirm, self.comment):
            part.setEnabled(bool(current))
            part.setVisible(bool(self._changes))
        self.all.setVisible(bool(self._changes))
        self.note.setVisible(not self._changes)
        self.all.setEnabled(bool(self._changes))
        self.all.setText(
            say("Confirm all types ({count})", count=count_of(
                len(self._changes), say("change"), say("changes")))
        )  # fmt: skip

    def _choose(self, place: int) -> None:
        self._show_current()
        if 0 <= place < len(self._changes):
            listed = self._changes[place]
            self.chosen.emit(listed.section, listed.change.id)

    def _type(self) -> None:
        if self.current and self.type.value:
            self.typed.emit(self.current, self.type.value)

    def _comment(self) -> None:
        note = self._notes.get(self.current)
        text = self.comment.text().strip()
        if self.current and text != (note.comment if note else ""):
            self.commented.emit(self.current, text)
