"""Drafts being written: one request at a time, further ones wait; leaving the page does not stop them."""

from __future__ import annotations

from functools import partial
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.jobs import Feed, Pending
from app.session import Session
from app.strings import say
from core.examples.drafting import DraftPieceCallback, execute_request, offer_drafts
from core.ports import Cancellation, Piece, ProgressCallback
from core.storage.workspace import Workspace
from core.types import Job
from core.types.documents import Draft, DraftRequest


def write_drafts(
    workspace: Workspace,
    models: Any,
    request_id: str,
    on_piece: DraftPieceCallback,
    *,
    progress: ProgressCallback,
    cancel: Cancellation,
) -> Job:
    """Write what is pending of a request, then offer four drafts; for a thread of its own."""
    request = workspace.get(DraftRequest, request_id)
    generator = models.generator(request.model_id or None)
    job = execute_request(
        workspace, request_id, generator, progress=progress, on_piece=on_piece, cancel=cancel
    )
    done = workspace.count(Draft, "request_id = ? AND state = 'done'", (request_id,))
    if job.state == "done" and done:
        workspace.transact_job("Offer drafts", request.person_id, offer_drafts, request_id)
    return job


class DraftRunner(QObject):
    """Belongs to the session, so that it outlives a page that is taken down."""

    #: A request began, ended or was queued: its id.
    changed = Signal(str)
    #: Text came: (draft id, text).
    written = Signal(str, str)

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._session = session
        self._waiting: list[str] = []
        self._pending: Pending[Job] | None = None
        self._words: list[str] = []
        self.request_id = ""
        self.draft_id = ""

    @property
    def text(self) -> str:
        """What stands of the draft being written."""
        return "".join(self._words)

    def is_active(self, request_id: str) -> bool:
        """Whether a request is being written now or waits for another to end."""
        return bool(request_id) and (request_id == self.request_id or request_id in self._waiting)

    def start(self, request_id: str) -> None:
        """Write what is pending of a request, now or when the one before it ends."""
        if self.is_active(request_id):
            return
        self._waiting.append(request_id)
        if not self.request_id:
            self._begin_next()
        self.changed.emit(request_id)

    def stop(self, request_id: str) -> None:
        """Ask a request to stop; what is written stays."""
        if request_id == self.request_id and self._pending is not None:
            self._pending.cancel()
        self._waiting = [waiting for waiting in self._waiting if waiting != request_id]
        self.changed.emit(request_id)

    def _begin_next(self) -> None:
        if not self._waiting or not self._session.has_workspace:
            return
        self.request_id = self._waiting.pop(0)
        feed: Feed[tuple[str, str]] = Feed(self._take, self)

        def push(draft_id: str, piece: Piece) -> None:
            if not piece.thinking:
                feed.push((draft_id, piece.text))

        self._pending = self._session.jobs.start(
            self,
            say("Writing drafts"),
            write_drafts,
            self._session.workspace,
            self._session.models,
            self.request_id,
            push,
            noun=say("drafts"),
        )
        self._pending.end(partial(self._on_end, feed))

    def _take(self, batch: list[tuple[str, str]]) -> None:
        for draft_id, text in batch:
            if draft_id != self.draft_id:
                self.draft_id, self._words = draft_id, []
            self._words.append(text)
            self.written.emit(draft_id, text)

    def _on_end(self, feed: Feed[tuple[str, str]]) -> None:
        feed.close()
        request_id, self.request_id = self.request_id, ""
        self._pending, self._words, self.draft_id = None, [], ""
        self._begin_next()
        self.changed.emit(request_id)


def draft_runner_of(session: Session) -> DraftRunner:
    """The session's runner of drafts, made when first asked for."""
    found = session.findChild(DraftRunner)
    return found if isinstance(found, DraftRunner) else DraftRunner(session)
