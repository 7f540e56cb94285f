"""Versions with their differences, the second expert's review, the lock, and comments."""

from __future__ import annotations

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app import theme
from app.operations import run_verb
from app.pages.rubrics.studio import Studio
from app.pages.rubrics.words import STATES, describe_change
from app.session import Session
from app.strings import format_time, say
from app.widgets.basics import Card, Folding, Scroller, clear_layout, label, row
from app.widgets.buttons import Button
from app.widgets.dialogs import ask
from app.widgets.editors import ProseEditor
from app.widgets.inputs import ComboBox
from core.changes import Outcome
from core.rubrics.versions import (
    ItemChange,
    add_comment,
    ask_review,
    compare_items,
    lock_rubric,
    reopen_rubric,
    resolve_comment,
    restore_version,
    review_rubric,
    save_version,
    snapshot,
)
from core.types.rubrics import RubricComment, RubricVersion

_MOST_CHANGES = 40


class HistoryPanel(QWidget):
    """All verbs run on the person's behalf; the page reloads from their changes."""

    said = Signal(str)

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self._studio: Studio | None = None
        self._item_id = ""
        scroller = Scroller()
        scroller.box.addWidget(self._make_versions())
        scroller.box.addWidget(self._make_comments())
        scroller.box.addStretch(1)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, theme.S, 0, 0)
        outer.addWidget(scroller)

    def load(self, studio: Studio | None, item_id: str) -> None:
        """Show a rubric's history, and the comments on the whole or on one item."""
        fresh = studio is None or self._studio is None or studio.rubric.id != self._studio.rubric.id
        self._studio, self._item_id = studio, item_id
        if fresh:
            self.comment.load("")
        if studio is None:
            return
        self._show_state(studio)
        chosen = self.version_box.value
        entries = [
            (
                say(
                    "Version {number}, {time}{note}",
                    number=version.number,
                    time=format_time(version.made),
                    note=f": {version.note}" if version.note else "",
                ),
                version.id,
            )
            for version in studio.versions
        ]
        known = {key for _, key in entries}
        self.version_box.fill(entries, chosen if chosen in known else None)
        self.version_box.setEnabled(bool(entries))
        self._show_changes()
        self._show_comments(studio)

    @Slot()
    def keep_version(self) -> None:
        """Keep the items as they are under the next number."""
        if self._studio is None:
            self.said.emit(say("There is no rubric yet of which a version could be kept."))
        else:
            run_verb(self, say("Keep a version"), save_version, self._studio.rubric.id).success(
                self._kept
            )

    def _kept(self, outcome: Outcome[RubricVersion]) -> None:
        self.said.emit(say("Version {number} is kept.", number=outcome.value.number))

    @Slot()
    def write_comment(self) -> None:
        """Put the keyboard into the comment."""
        self.comment.setFocus()

    # -- parts ---------------------------------------------------------------------------

    def _make_versions(self) -> Card:
        card = Card(say("Versions and review"))
        self.state = label("", wrap=True)
        card.add(self.state)
        self.keep = Button(say("Keep a version"))
        self.keep.set_hint(self.session.shortcuts.hint("rubrics.version"))
        self.keep.clicked.connect(self.keep_version)
        self.ask = Button(say("Ask for a review"))
        self.ask.clicked.connect(self._ask)
        self.approve = Button(say("Approve"), "primary")
        self.approve.clicked.connect(self._approve)
        self.changes = Button(say("Ask for changes"))
        self.changes.clicked.connect(self._ask_changes)
        self.lock = Button(say("Lock"), icon="lock")
        self.lock.clicked.connect(self._lock)
        self.reopen = Button(say("Make it a draft again"), icon="unlock")
        self.reopen.clicked.connect(self._reopen)
        for line in (
            row(self.keep, None),
            Folding((row(self.ask), 0), (row(self.lock, None), 1)),
            row(self.reopen, None),
            Folding((row(self.approve), 0), (row(self.changes, None), 1)),
        ):
            card.add(line)
        self.version_box = ComboBox(say("Compare with"), stretch=True)
        self.version_box.currentIndexChanged.connect(self._show_changes)
        self.restore = Button(say("Bring back"), "quiet")
        self.restore.clicked.connect(self._restore)
        caption = label(say("Compare with"), "strong")
        caption.setBuddy(self.version_box)
        card.add(caption)
        card.add(Folding((self.version_box, 1), (row(self.restore, None), 0)))
        self.differences = QVBoxLayout()
        self.differences.setSpacing(theme.XS)
        card.add(self.differences)
        return card

    def _make_comments(self) -> Card:
        card = Card(say("Comments"))
        self.comments = QVBoxLayout()
        self.comments.setSpacing(theme.S)
        card.add(self.comments)
        self.comment = ProseEditor(say("New comment"), placeholder=say("Write a comment"), lines=2)
        card.add(self.comment)
        self.whole = Button(say("On the rubric"))
        self.whole.clicked.connect(self._comment_on_rubric)
        self.single = Button(say("On this item"), "primary")
        self.single.clicked.connect(self._comment_on_item)
        card.add(Folding((row(None, self.whole), 1), (row(self.single), 0)))
        return card

    # -- showing -------------------------------------------------------------------------

    def _show_state(self, studio: Studio) -> None:
        state = studio.rubric.state
        parts = [say(STATES[state])]
        if studio.versions:
            parts.append(say("version {number}", number=studio.versions[0].number))
        if studio.reviewed:
            names = [
                studio.name_of(review.person_id)
                for review in studio.reviews
                if review.decision == "approved"
            ]
            parts.append(say("approved by {name}", name=names[0] if names else say("somebody")))
        elif studio.reviews and studio.reviews[0].decision == "changes":
            parts.append(
                say(
                    "{name} asks for changes: {words}",
                    name=studio.name_of(studio.reviews[0].person_id),
                    words=studio.reviews[0].comment,
                )
            )
        else:
            parts.append(say("not reviewed by a second expert"))
        if studio.origin:
            parts.append(studio.origin)
        self.state.setText(" · ".join(parts))
        self.keep.setVisible(state != "locked")
        self.ask.setVisible(state == "draft")
        self.approve.setVisible(state == "in_review")
        self.changes.setVisible(state == "in_review")
        self.lock.setVisible(state != "locked")
        self.reopen.setVisible(state != "draft")

    @Slot()
    def _show_changes(self, *_: object) -> None:
        clear_layout(self.differences)
        studio = self._studio
        self.restore.setEnabled(False)
        if studio is None:
            return
        version = next((v for v in studio.versions if v.id == self.version_box.value), None)
        if version is None:
            self.differences.addWidget(_said(say("No version has been kept yet.")))
            return
        now = tuple(snapshot(item) for item in studio.items)
        found = compare_items(version.items, now)
        self.restore.setEnabled(bool(found) and not studio.locked)
        if not found:
            self.differences.addWidget(_said(say("Nothing has changed since.")))
        for change in found[:_MOST_CHANGES]:
            self.differences.addWidget(_change_label(change))
        if len(found) > _MOST_CHANGES:
            more = say("and {count} more", count=len(found) - _MOST_CHANGES)
            self.differences.addWidget(label(more, "muted"))

    def _show_comments(self, studio: Studio) -> None:
        clear_layout(self.comments)
        item = studio.item(self._item_id)
        self.single.setEnabled(item is not None)
        shown = [c for c in studio.comments if c.item_id in ("", self._item_id)]
        if not shown:
            self.comments.addWidget(_said(say("Nobody has said anything here.")))
        for comment in shown:
            self.comments.addWidget(self._comment_line(studio, comment))

    def _comment_line(self, studio: Studio, comment: RubricComment) -> QWidget:
        made = QWidget()
        where = say("the item") if comment.item_id else say("the rubric")
        head = say(
            "{name}, {time}, on {where}",
            name=studio.name_of(comment.person_id) or say("Somebody"),
            time=format_time(comment.made),
            where=where,
        )
        settled = comment.state == "resolved"
        button = Button(say("Open again") if settled else say("Settle"), "link")
        button.setAccessibleName(f"{button.text()}: {comment.text[:60]}")
        button.setProperty("comment", comment.id)
        button.setProperty("settled", settled)
        button.clicked.connect(self._settle)
        box = QVBoxLayout(made)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(2)
        line = row(label(head, "small", wrap=True), button)
        line.setStretch(0, 1)
        box.addLayout(line)
        text = say("Settled: {text}", text=comment.text) if settled else comment.text
        box.addWidget(label(text, "muted" if settled else "", wrap=True, selectable=True))
        return made

    # -- doing ---------------------------------------------------------------------------

    @Slot()
    def _settle(self) -> None:
        button = self.sender()
        if isinstance(button, Button):
            settled = bool(button.property("settled"))
            run_verb(
                self,
                say("Open comment") if settled else say("Settle comment"),
                resolve_comment,
                str(button.property("comment")),
                resolved=not settled,
            )

    @Slot()
    def _comment_on_rubric(self) -> None:
        self._comment("")

    @Slot()
    def _comment_on_item(self) -> None:
        self._comment(self._item_id)

    def _comment(self, item_id: str) -> None:
        if self._studio is not None:
            run_verb(
                self,
                say("Comment"),
                add_comment,
                self._studio.rubric.id,
                self.comment.text,
                item_id=item_id,
            ).success(lambda _outcome: self.comment.load(""))

    @Slot()
    def _ask(self) -> None:
        if self._studio is not None:
            run_verb(self, say("Ask for a review"), ask_review, self._studio.rubric.id)

    @Slot()
    def _approve(self) -> None:
        if self._studio is not None:
            rubric_id = self._studio.rubric.id
            run_verb(self, say("Approve rubric"), review_rubric, rubric_id, "approved")

    @Slot()
    def _ask_changes(self) -> None:
        if self._studio is not None:
            run_verb(
                self,
                say("Ask for changes"),
                review_rubric,
                self._studio.rubric.id,
                "changes",
                self.comment.text,
            ).success(lambda _outcome: self.comment.load(""))

    @Slot()
    def _lock(self) -> None:
        if self._studio is None:
            return
        rubric = self._studio.rubric
        words = say(
            "Its items cannot be changed then, so that scores made with it stay comparable."
        )
        if not self._studio.reviewed:
            words = say("No second expert has approved it. ") + words
        ask(
            self,
            say("Lock '{title}'?", title=rubric.title),
            words,
            say("Lock"),
            lambda: run_verb(self, say("Lock rubric"), lock_rubric, rubric.id),
        )

    @Slot()
    def _reopen(self) -> None:
        if self._studio is not None:
            run_verb(self, say("Reopen rubric"), reopen_rubric, self._studio.rubric.id)

    @Slot()
    def _restore(self) -> None:
        version_id = self.version_box.value
        if version_id:
            run_verb(self, say("Bring back version"), restore_version, version_id)


def _said(text: str) -> QWidget:
    return label(text, "muted", wrap=True)


def _change_label(change: ItemChange) -> QWidget:
    return label(describe_change(change), wrap=True)
