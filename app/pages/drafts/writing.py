"""Drafts being written: the text as it comes, how many there are, stop and resume."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app import theme
from app.operations import run_query
from app.pages.drafts.runner import DraftRunner
from app.pages.drafts.work import RequestView
from app.session import Session
from app.strings import count_of, say
from app.widgets.basics import Card, label, row
from app.widgets.buttons import Button
from app.widgets.reader import Reader
from core.examples.drafting import offer_drafts


class WritingPanel(Card):
    """Shows one request while it is written. The drafts bear no name and no model's name."""

    def __init__(
        self, session: Session, runner: DraftRunner, parent: QWidget | None = None
    ) -> None:
        super().__init__(say("Writing drafts"), parent=parent)
        self.session = session
        self._runner = runner
        self._view: RequestView | None = None
        self._draft = ""
        self.state = label("", "muted", wrap=True)
        self.reader = Reader(say("The draft being written"))
        self.failures = label("", "error", wrap=True)
        self.stop_button = Button(say("Stop"), icon="stop")
        self.resume_button = Button(say("Go on writing"), "primary", icon="runs")
        self.offer_button = Button(say("Read what there is"))
        self.stop_button.clicked.connect(self._stop)
        self.resume_button.clicked.connect(self._resume)
        self.offer_button.clicked.connect(self._offer)
        self.add(self.state)
        self.add(self.failures)
        self.add(self.reader, 1)
        self.add(row(self.stop_button, self.resume_button, self.offer_button, None))
        runner.written.connect(self._on_written)
        theme.notifier().changed.connect(self._dress)

    def show_request(self, view: RequestView) -> None:
        """Show how far a request is."""
        other = self._view is None or self._view.request.id != view.request.id
        self._view = view
        done = [draft for draft in view.drafts if draft.state == "done"]
        failed = [draft for draft in view.drafts if draft.state == "failed"]
        active = self._runner.is_active(view.request.id)
        self.stop_button.setVisible(active)
        self.resume_button.setVisible(not active and len(done) + len(failed) < len(view.drafts))
        self.offer_button.setVisible(not active and bool(done))
        words = say(
            "{done} of {count} written from {passages}.",
            done=len(done),
            count=count_of(len(view.drafts), say("draft"), say("drafts")),
            passages=count_of(len(view.request.evidence), say("passage"), say("passages")),
        )
        if not active and view.job.state in ("cancelled", "paused"):
            words += " " + say("Stopped; what is written is kept.")
        self.state.setText(words)
        reasons = dict.fromkeys(draft.error for draft in failed)
        self.failures.setText("\n".join(reasons))
        self.failures.setVisible(bool(reasons))
        if other or not active:
            self._draft = self._runner.draft_id if active else ""
            self.reader.set_text(self._runner.text if active else (done[-1].text if done else ""))

    def _on_written(self, draft_id: str, text: str) -> None:
        view = self._view
        if view is None or not self.isVisible() or view.request.id != self._runner.request_id:
            return
        if draft_id != self._draft:
            self._draft = draft_id
            self.reader.set_text("")
        self.reader.append_text(text)

    def _dress(self) -> None:
        """What was streamed in the colours of another theme is shown in those of this one."""
        if self._view is not None and self._runner.is_active(self._view.request.id):
            self.reader.set_text("")
            self.reader.set_text(self._runner.text)

    def _stop(self) -> None:
        if self._view is not None:
            self._runner.stop(self._view.request.id)

    def _resume(self) -> None:
        if self._view is not None:
            self._runner.start(self._view.request.id)

    def _offer(self) -> None:
        if self._view is not None:
            workspace, person = self.session.workspace, self.session.person_id
            request_id = self._view.request.id
            run_query(
                self,
                lambda: workspace.transact_job("Offer drafts", person, offer_drafts, request_id),
            )
