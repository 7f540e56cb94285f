"""Post-editing: tracked changes in the middle, evidence at the left, support and critique at the right.

What is typed goes to the workspace at a pause; undo is the workspace's and survives closing.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from concurrent.futures import Future
from functools import partial
from itertools import pairwise
from typing import Any

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QMenu, QWidget

from app import theme
from app.operations import run_query, run_verb
from app.pages.drafts.assist import PassageDialog
from app.pages.drafts.positions import LONGEST
from app.pages.drafts.studio_model import ModelWork
from app.pages.drafts.studio_support import SupportWork
from app.pages.drafts.tracked_editor import (
    LongEditor,
    TrackedEditor,
    make_editor,
)
from app.pages.drafts.work import StudioFacts, SupportAnswer, read_studio, title_of
from app.session import Session
from app.strings import count_of, say
from app.widgets.basics import clear_layout, label
from app.widgets.editors import Saver
from core.changes import Changes, Outcome
from core.documents.text import flow_lines
from core.errors import ConflictError, NotFoundError
from core.examples.post_edit import (
    PostEditState,
    SectionEdit,
    add_time,
    post_edit_section,
    save_as_example,
)
from core.ports import Cancellation
from core.storage.transaction import Transaction
from core.storage.workspace import Workspace
from core.types import Example, SectionText
from core.types.documents import ChangeNote, Document

_SUPPORT_MILLISECONDS = 900
_CHANGES_MILLISECONDS = 250
#: Longer than this between two keys was a break.
_BREAK_SECONDS = 120.0


class _Head:
    """The revision the next save builds on; set by the writer, one save after the other."""

    def __init__(self, value: str) -> None:
        self.value = value


class Studio(SupportWork, ModelWork):
    """Edits one draft. ``left`` asks for the drafts again, ``saved`` carries the example's id, and
    ``titled`` what is edited, in words."""

    left = Signal()
    titled = Signal(str)
    saved = Signal(str)

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self._state: PostEditState | None = None
        self._wanted = ""
        self._field = ""
        self._head = _Head("")
        self._names: Mapping[str, str] = {}
        self._notes: dict[str, ChangeNote] = {}
        self._editors: list[TrackedEditor | LongEditor] = []
        self._focused = 0
        self._generation = 0
        self._answer = SupportAnswer(())
        self._offsets: list[int] = []
        self._judging = Cancellation()
        self._evidence_place = 0
        self._shown_window = (-1, 0, 0)
        self._worked, self._last_key = 0.0, 0.0
        session.person_changed.connect(self._on_person)
        self.saver = Saver(session, self._start_saving, self)
        self._support_timer = self._timer(_SUPPORT_MILLISECONDS, self._judge)
        self._changes_timer = self._timer(_CHANGES_MILLISECONDS, self._show_changes)
        self.build_view(self.saver)
        self._connect()

    # -- building ------------------------------------------------------------------------

    def _connect(self) -> None:
        keys = self.session.shortcuts
        self.back_button.clicked.connect(self.left)
        self.save_button.clicked.connect(self.save_example)
        self.show_button.clicked.connect(self.show_passage)
        self.model_button.clicked.connect(self.ask_model)
        for button, step in ((self.previous_button, -1), (self.next_button, 1)):
            button.clicked.connect(partial(self.step_change, step))
        keys.bind(self, "drafts.next-change", partial(self.step_change, 1))
        keys.bind(self, "drafts.previous-change", partial(self.step_change, -1))
        self.accept_button.clicked.connect(partial(self.decide, True))
        self.reject_button.clicked.connect(partial(self.decide, False))
        self.all_menu.addAction(say("Accept all changes"), partial(self.decide_all, True))
        self.all_menu.addAction(say("Reject all changes"), partial(self.decide_all, False))
        self.support.chosen.connect(self._go_to_claim)
        self.critique.asked.connect(self.ask_critique)
        self.critique.settled.connect(self._settle)
        self.changes.chosen.connect(self._go_to_change)
        self.changes.typed.connect(self._note_type)
        self.changes.commented.connect(self._note_comment)
        self.changes.confirm_all.connect(self._confirm_types)

    def _timer(self, milliseconds: int, slot: Any) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setInterval(milliseconds)
        timer.timeout.connect(slot)
        return timer

    # -- for the page --------------------------------------------------------------------

    @property
    def post_edit_id(self) -> str:
        return self._wanted

    @property
    def editors(self) -> list[TrackedEditor | LongEditor]:
        return self._editors

    def open(self, post_edit_id: str) -> None:
        """Show a post-edit."""
        if post_edit_id != self._wanted:
            self.flush()
            self._wanted = post_edit_id
            self._state = None
        self._read()

    def refresh(self, changes: Changes | None) -> None:
        """Read anew what somebody, or undo, changed; one's own saves change nothing here."""
        if self._wanted and (
            changes is None
            or changes.touches("post_edit", "change_note", "critique_point", "draft_request")
        ):
            self._read()

    def flush(self) -> Future[Any] | None:
        """Start writing what was typed."""
        future = self.saver.flush()
        if self._worked >= 1.0 and self._wanted and self.session.has_workspace:
            seconds, self._worked = self._worked, 0.0
            workspace, post_edit = self.session.workspace, self._wanted
            if not workspace.read_only:
                run_query(self, partial(_count_time, workspace, post_edit, seconds))
        return future

    @property
    def target(self) -> int:
        """The editor that buttons and keys work on: where the keyboard is, or where work was last."""
        here = (number for number, editor in enumerate(self._editors) if editor.hasFocus())
        return next(here, self._focused)

    def first_focus(self) -> QWidget | None:
        """The first section's editor."""
        return self._editors[0] if self._editors else self.back_button

    # -- what the person does ------------------------------------------------------------

    def save_example(self) -> None:
        """Save what stands as an example of the task."""
        self.flush()
        self.warn("")
        run_verb(self, say("Save example"), save_as_example, self._wanted).success(
            self._saved_example
        ).failure(self._warn)

    def step_change(self, by: int) -> None:
        """Go to the next change, or the one before, around the end."""
        places = [
            (number, change.start, change.end)
            for number, editor in enumerate(self._editors)
            for change in editor.changes
        ]
        if not places:
            return
        number = self.target
        here = (number, *self._editors[number].selection)
        later = [place for place in places if place[:2] > here[:2]]
        earlier = [place for place in places if place[:2] < here[:2]]
        wanted = (
            (later[0] if later else places[0])
            if by > 0
            else (earlier[-1] if earlier else places[-1])
        )
        target = self._editors[wanted[0]]
        target.select(wanted[1], wanted[2])
        target.setFocus(Qt.FocusReason.OtherFocusReason)
        self._reveal(target)

    def decide(self, accepted: bool) -> None:
        """Accept or reject the change at the writing mark, and go to the next one."""
        if not self._editors:
            return
        editor = self._editors[self.target]
        change = editor.change_at_place()
        if not change:
            self.step_change(1)
            return
        if accepted:
            editor.accept_change(change)
        else:
            editor.reject_change(change)
        self.saver.flush()
        self.step_change(1)

    def decide_all(self, accepted: bool) -> None:
        """Accept or reject every change of every section."""
        for editor in self._editors:
            editor.decide_all(accepted=accepted)
        self.saver.flush()

    def show_passage(self) -> None:
        """Show the passage in its document's page."""
        if self._state is None or not self._state.request.evidence:
            return
        item = self._state.request.evidence[self._evidence_place]
        span = (item.start, item.end)
        run_query(
            self, self.session.workspace.find, Document, "id = ?", (item.document_id,)
        ).success(
            lambda found: (
                PassageDialog(self, item.document_id, span).open()
                if found
                else self._warn(NotFoundError(say("The document is no longer in this workspace.")))
            )
        )

    # -- reading -------------------------------------------------------------------------

    def _read(self) -> None:
        if self.saver.state in ("dirty", "saving"):
            return
        head = self._head.value

        def take(facts: StudioFacts) -> None:
            overtaken = self.saver.state in ("dirty", "saving") or self._head.value != head
            if facts.state.post_edit.id == self._wanted and (facts.same_text or not overtaken):
                self._take(facts)

        run_query(
            self, read_studio, self.session.workspace, self._wanted, self._state, head
        ).success(take)

    def _take(self, facts: StudioFacts) -> None:
        state = facts.state
        fresh = self._state is None or self._state.post_edit.id != state.post_edit.id
        self._state, self._names, self._notes = state, facts.names, dict(state.notes)
        self._field = facts.field
        if fresh or len(self._editors) != len(state.texts):
            self._build_editors(state)
        if fresh or not (facts.same_text or self.saver.dirty):
            self._head.value = state.post_edit.head
            for editor, tracked in zip(self._editors, state.texts, strict=True):
                editor.load(tracked)
        if fresh:
            self._show_evidence(state)
            self.titled.emit(title_of(state))
            if self.isVisible():
                self._editors[0].setFocus(Qt.FocusReason.OtherFocusReason)
        self.critique.show_points(state.critique)
        self._show_changes()
        if not facts.same_text:
            self._support_timer.start()

    def _build_editors(self, state: PostEditState) -> None:
        clear_layout(self.sections.box)
        self._editors = []
        self._focused = 0
        for number, title in enumerate(state.titles):
            if state.inputs and number in (0, state.inputs):
                words = say("What goes in") if number == 0 else say("What comes out")
                self.sections.box.addWidget(label(words.upper(), "overline"))
            self.sections.box.addWidget(label(title, "strong"))
            if max(map(len, state.texts[number].text.split("\n"))) >= LONGEST:
                words = say(
                    "A very long paragraph is shown in parts; the text has no breaks there."
                )
                self.sections.box.addWidget(label(words, "small", wrap=True))
            editor = make_editor(title, len(state.texts[number].text))
            editor.setPlaceholderText(say("Nothing is drafted here. Write it."))
            editor.person = self.session.person_id
            editor.edited.connect(partial(self._on_edited, number))
            editor.moved.connect(partial(self._on_moved, number))
            editor.change_entered.connect(partial(self._on_change_entered, number))
            editor.add_menu_actions = self._add_menu_actions
            self._editors.append(editor)
            self.sections.box.addWidget(editor)
        self.sections.box.addStretch(1)
        for before, after in pairwise([self.reject_button, *self._editors, self.model_button]):
            QWidget.setTabOrder(before, after)

    def _show_evidence(self, state: PostEditState) -> None:
        self._evidence_place = 0
        self._shown_window = (-1, 0, 0)
        count = len(state.request.evidence)
        self.evidence_card.set_title(
            say("Evidence"), count_of(count, say("passage"), say("passages"))
        )
        self.evidence.set_sections(
            [
                SectionText(
                    title=say("{document}, page {page}", document=e.document, page=e.page),
                    text=flow_lines(e.text),
                )
                for e in state.request.evidence
            ]
        )
        self.show_button.setEnabled(bool(count))

    @property
    def title(self) -> str:
        """What is edited, in words; '' while it is being read."""
        return title_of(self._state) if self._state is not None else ""

    # -- saving --------------------------------------------------------------------------

    def _start_saving(self) -> Future[Any] | None:
        edits: list[SectionEdit] = []
        action = "typed"
        before = [editor.saved for editor in self._editors]
        for number, editor in enumerate(self._editors):
            taken = editor.take_pending()
            if taken is not None:
                patch, removed, action = taken
                edits.append(SectionEdit(number, removed, patch))
        if not edits:
            return None
        words = {
            "typed": say("Edit draft"),
            "accept": say("Accept change"),
            "reject": say("Reject change"),
            "accept all": say("Accept all changes"),
            "reject all": say("Reject all changes"),
            "assistant": say("Edit with the model"),
        }
        future = self.session.workspace.submit(
            words.get(action, say("Edit draft")),
            self.session.person_id,
            _save,
            self._head,
            self._wanted,
            edits,
            action,
        )
        self.session.jobs.watch(self, future).failure(partial(self._on_save_failed, before))
        return future

    def _on_save_failed(self, before: list[Any], error: BaseException) -> None:
        if isinstance(error, ConflictError):
            # Somebody else's text stands now; it is shown, and what was typed since is redone by hand.
            self._state = None
            self.saver.state = "idle"
            self._warn(error)
            self._read()
            return
        for editor, tracked in zip(self._editors, before, strict=True):
            editor.give_back(tracked)

    def _saved_example(self, outcome: Outcome[Example]) -> None:
        self.saved.emit(outcome.value.id)

    def _warn(self, error: BaseException) -> None:
        self.warn(str(error))

    def _on_person(self) -> None:
        for editor in self._editors:
            editor.person = self.session.person_id

    # -- while editing -------------------------------------------------------------------

    def _on_edited(self, number: int) -> None:
        self._focused = number
        moment = time.monotonic()
        gap = moment - self._last_key
        self._worked += gap if gap < _BREAK_SECONDS else 0.0
        self._last_key = moment
        self.saver.touch()
        self._support_timer.start()
        self._changes_timer.start()

    def _on_moved(self, number: int) -> None:
        editor = self._editors[number]
        if not editor.hasFocus():
            return
        self._focused = number
        claim = editor.support_at(editor.place)
        if claim >= 0 and number < len(self._answer.sections):
            self._show_claim(self._answer.sections[number][claim])

    def _on_change_entered(self, number: int, change: str) -> None:
        if self._editors[number].hasFocus():
            self._focused = number
            self.changes.select(change)

    def _show_changes(self) -> None:
        if self._state is None:
            return
        found = [(n, change) for n, editor in enumerate(self._editors) for change in editor.changes]
        words = count_of(len(found), say("change"), say("changes"))
        self.text_title.setText(words)
        for button in (self.accept_button, self.reject_button, self.all_button):
            button.setEnabled(bool(found))
        self.changes.show_changes(
            found,
            self._notes,
            self._names,
            [section.text for section in self._state.draft.sections],
        )
        self.tabs.setTabText(
            self.tabs.indexOf(self.changes), say("Changes ({count})", count=len(found))
        )

    def _go_to_change(self, section: int, change: str) -> None:
        editor = self._editors[section]
        found = next((c for c in editor.changes if c.id == change), None)
        if found is not None:
            self._focused = section
            editor.select(found.start, found.end)
            self._reveal(editor)

    def _reveal(self, editor: TrackedEditor | LongEditor) -> None:
        """Scroll the page so that the writing mark of an editor shows."""
        place = editor.cursorRect().center()
        inside = editor.viewport().mapTo(self.sections.inner, place)
        self.sections.ensureVisible(inside.x(), inside.y(), 0, theme.current().px(60))

    # -- elsewhere -----------------------------------------------------------------------

    def _add_menu_actions(self, menu: QMenu) -> None:
        menu.addAction(say("Accept the change"), partial(self.decide, True))
        menu.addAction(say("Reject the change"), partial(self.decide, False))
        menu.addAction(say("Edit with the model"), self.ask_model)


def _save(
    tx: Transaction, head: _Head, post_edit_id: str, edits: list[SectionEdit], action: str
) -> str:
    head.value = post_edit_section(tx, post_edit_id, head.value, edits, action)
    return head.value


def _count_time(workspace: Workspace, post_edit_id: str, seconds: float) -> None:
    workspace.transact_job("Time", "", add_time, post_edit_id, seconds)
