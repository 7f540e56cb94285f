"""Runs under way in this window: text as it streams in, kept while pages come and go."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject, Signal

from app.jobs import Feed, Pending
from app.session import Session
from app.strings import say
from core.ports import Cancellation, Piece, Progress, ProgressCallback
from core.runs.engine import execute_run
from core.runs.scoring import DEFAULT_METRICS, score_run
from core.storage.workspace import Workspace
from core.types import Job, Output, Run, System


class LiveRuns(QObject):
    """Starts runs as jobs and hands their text to whoever shows it, 25 times a second at most.

    Lives as long as the session, so that locking the window or leaving the page stops nothing.
    """

    #: (output id, new text, whether it is reasoning)
    streamed = Signal(str, str, bool)
    #: A run began or ended; carries its id.
    changed = Signal(str)
    progressed = Signal(str, object)

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._session = session
        self._pending: dict[str, Pending[Job]] = {}
        self._texts: dict[str, list[str]] = {}
        self._run_of: dict[str, str] = {}
        self.progress: dict[str, Progress] = {}
        #: The output each run writes now.
        self.writing: dict[str, str] = {}

    def is_running(self, run_id: str) -> bool:
        """Whether a run is under way in this window."""
        return run_id in self._pending

    def text_of(self, output_id: str) -> str:
        """What has streamed in for an output so far."""
        return "".join(self._texts.get(output_id, ()))

    def start(self, run_id: str) -> None:
        """Let a run's system write what is still pending, then score it."""
        if run_id in self._pending:
            return
        feed: Feed[tuple[str, Piece]] = Feed(lambda batch: self._take(run_id, batch), self)
        workspace = self._session.workspace
        models = self._session.models
        self._pending[run_id] = job = self._session.jobs.start(
            self,
            say("Writing outputs"),
            _execute,
            workspace,
            models,
            run_id,
            feed,
            _Relay(self, run_id),
            noun=say("outputs"),
        )

        def end() -> None:
            feed.close()
            self._forget(run_id)

        job.end(end)
        self.changed.emit(run_id)

    def stop(self, run_id: str) -> None:
        """Ask a run to stop; it can be resumed."""
        if run_id in self._pending:
            self._pending[run_id].cancel()

    def note_progress(self, run_id: str, progress: Progress) -> None:
        """Keep how far a run is; from any thread."""
        self.progress[run_id] = progress
        self._session.jobs.dispatcher.post(lambda: self.progressed.emit(run_id, progress), self)

    def _take(self, run_id: str, batch: list[tuple[str, Piece]]) -> None:
        joined: dict[tuple[str, bool], list[str]] = {}
        for output_id, piece in batch:
            joined.setdefault((output_id, piece.thinking), []).append(piece.text)
        for (output_id, thinking), parts in joined.items():
            text = "".join(parts)
            if not thinking:
                self._texts.setdefault(output_id, []).append(text)
                self._run_of[output_id] = run_id
            if self.writing.get(run_id) != output_id:
                self.writing[run_id] = output_id
                self.changed.emit(run_id)
            self.streamed.emit(output_id, text, thinking)

    def _forget(self, run_id: str) -> None:
        self._pending.pop(run_id, None)
        self.writing.pop(run_id, None)
        self.progress.pop(run_id, None)
        for output_id in [o for o, run in self._run_of.items() if run == run_id]:
            del self._run_of[output_id]
            self._texts.pop(output_id, None)
        self.changed.emit(run_id)


class _Relay:
    """Reports progress both to the bottom bar and to the run's page."""

    def __init__(self, live: LiveRuns, run_id: str) -> None:
        self._live = live
        self._run_id = run_id

    def join(self, other: ProgressCallback) -> ProgressCallback:
        def report(progress: Progress) -> None:
            other(progress)
            self._live.note_progress(self._run_id, progress)

        return report


def _execute(
    workspace: Workspace,
    models: Any,
    run_id: str,
    feed: Feed[tuple[str, Piece]],
    relay: _Relay,
    *,
    progress: ProgressCallback,
    cancel: Cancellation,
) -> Job:
    """Write and score a run; on a worker thread."""
    from core.metrics.registry import create

    run = workspace.get(Run, run_id)
    system = workspace.get(System, run.system_id)
    progress(Progress(0, workspace.count(Output, "run_id = ?", (run_id,)), message="loading"))
    generator = models.generator(system.model_id)
    job = execute_run(
        workspace,
        run_id,
        generator,
        progress=relay.join(progress),
        on_piece=lambda output_id, piece: feed.push((output_id, piece)),
        cancel=cancel,
    )
    if job.state == "done":
        metrics = {name: create(name) for name in DEFAULT_METRICS}
        score_run(workspace, run_id, metrics, person=job.person_id, cancel=cancel)
    return job


def live_runs(session: Session) -> LiveRuns:
    """The session's one `LiveRuns`."""
    found = session.findChild(LiveRuns)
    return found if isinstance(found, LiveRuns) else LiveRuns(session)
