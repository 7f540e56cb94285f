"""Runs under way: one writes at a time, further ones wait; locking the window does not stop them.

The runner belongs to the session, not to the page, so that it outlives a page that is taken down.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.jobs import Feed, Pending
from app.session import Session
from app.strings import say
from core.jobs import set_job
from core.judges.engine import add_judging, execute_judging
from core.ports import Cancellation, Piece, ProgressCallback
from core.runs.engine import PieceCallback, execute_run
from core.runs.scoring import DEFAULT_METRICS, score_run
from core.storage.workspace import Workspace
from core.types import Job, Output, Run, System
from core.types.evaluation import JudgeAnswerKind

#: Metrics that ask an entailment model.
NEED_ENTAILMENT = frozenset({"nli"})


def write_outputs(
    workspace: Workspace,
    models: Any,
    run_id: str,
    on_piece: PieceCallback,
    *,
    progress: ProgressCallback,
    cancel: Cancellation,
) -> Job:
    """Load a run's model and let it write what is pending; for a thread of its own."""
    system = workspace.get(System, workspace.get(Run, run_id).system_id)
    generator = models.generator(system.model_id or None)
    return execute_run(
        workspace, run_id, generator, progress=progress, on_piece=on_piece, cancel=cancel
    )


def score_outputs(
    workspace: Workspace,
    run_id: str,
    person_id: str,
    names: Sequence[str],
    models: Any,
    *,
    progress: ProgressCallback,
    cancel: Cancellation,
) -> Job:
    """Score a run; ``models`` is asked for an entailment model where a metric needs one.

    For a thread of its own.
    """
    from core.editing_bench.bench import score_bench_run
    from core.metrics.registry import create

    run = workspace.get(Run, run_id)
    if run.signature.get("bench") == "editeval":
        score_bench_run(workspace, run_id, progress=progress, cancel=cancel)
        return workspace.get(Job, run.job_id) if run.job_id else Job(id="", kind="score", label="")
    metrics = {
        name: create(name, entailment=models().entailment())
        if name in NEED_ENTAILMENT
        else create(name)
        for name in names
    }
    return score_run(workspace, run_id, metrics, person=person_id, progress=progress, cancel=cancel)


def judge_outputs(
    workspace: Workspace,
    models: Any,
    person_id: str,
    run_ids: Sequence[str],
    judge_ids: Sequence[str],
    kind: JudgeAnswerKind,
    *,
    progress: ProgressCallback,
    cancel: Cancellation,
) -> Job:
    """Let language models judge, one after the other; for a thread of its own."""
    job = workspace.transact_job("Judge", person_id, add_judging, run_ids, judge_ids, kind).value
    return execute_judging(
        workspace,
        job.id,
        lambda system: models.generator(system.model_id or None),
        progress=progress,
        cancel=cancel,
    )


class Runner(QObject):
    """Starts, stops and queues runs, and keeps the text of the output being written."""

    #: A run began, ended, was queued or asked to stop: its id.
    changed = Signal(str)
    #: Text came: (output id, text). The first piece of an output follows `began`.
    written = Signal(str, str)
    #: An output is being written: (run id, output id).
    began = Signal(str, str)
    #: A run was scored: its id.
    scored = Signal(str)
    #: Judges have answered: the job as it ended.
    judged = Signal(object)

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._session = session
        self._waiting: list[tuple[str, bool]] = []
        self._pending: Pending[Job] | None = None
        self._stopping = False
        self._scoring: set[str] = set()
        self._words: list[str] = []
        self.run_id = ""
        self.output_id = ""

    @property
    def text(self) -> str:
        """What stands of the output being written."""
        return "".join(self._words)

    @property
    def stopping(self) -> bool:
        """Whether the run was asked to stop and has not yet."""
        return self._stopping

    def is_active(self, run_id: str) -> bool:
        """Whether a run is being written now."""
        return bool(run_id) and run_id == self.run_id

    def is_waiting(self, run_id: str) -> bool:
        """Whether a run waits for another to end."""
        return any(run_id == waiting for waiting, _score in self._waiting)

    def is_scoring(self, run_id: str) -> bool:
        """Whether a run is being scored now."""
        return run_id in self._scoring

    def is_busy(self, run_id: str) -> bool:
        """Whether anything is done for a run, or waits to be done."""
        return self.is_active(run_id) or self.is_waiting(run_id) or self.is_scoring(run_id)

    def start(self, run_id: str, *, score: bool = False) -> None:
        """Let a run write what is pending, now or when the one before it ends."""
        if self.is_active(run_id) or self.is_waiting(run_id):
            return
        self._waiting.append((run_id, score))
        if not self.run_id:
            self._begin_next()
        self.changed.emit(run_id)

    def stop(self, run_id: str) -> None:
        """Ask a run to stop; a waiting one is taken out of the line."""
        if self.is_active(run_id) and self._pending is not None:
            self._stopping = True
            self._pending.cancel()
        elif self.is_waiting(run_id):
            self._waiting = [item for item in self._waiting if item[0] != run_id]
            self._mark_stopped(run_id)
        self.changed.emit(run_id)

    def score(self, run_id: str, names: Sequence[str] = DEFAULT_METRICS) -> None:
        """Score a run's outputs with metrics by name."""
        if run_id in self._scoring:
            return
        self._scoring.add(run_id)
        session = self._session
        job = session.jobs.start(
            self,
            say("Scoring outputs"),
            score_outputs,
            session.workspace,
            run_id,
            session.person_id,
            tuple(names),
            lambda: session.models,
            noun="outputs",
        )
        job.success(partial(self._on_scored, run_id)).end(partial(self._after_scoring, run_id))
        self.changed.emit(run_id)

    def judge(
        self, run_ids: Sequence[str], judge_ids: Sequence[str], kind: JudgeAnswerKind
    ) -> None:
        """Let language models judge the outputs of runs; what has an answer is not asked again."""
        session = self._session
        job = session.jobs.start(
            self,
            say("Judging outputs"),
            judge_outputs,
            session.workspace,
            session.models,
            session.person_id,
            tuple(run_ids),
            tuple(judge_ids),
            kind,
            noun="answers",
        )
        job.success(lambda done: self.judged.emit(done))

    # -- inside --------------------------------------------------------------------------

    def _begin_next(self) -> None:
        if not self._waiting or not self._session.has_workspace:
            # What waited stays queued in the workspace and can be resumed.
            self._waiting = []
            return
        run_id, score = self._waiting.pop(0)
        self.run_id, self._stopping = run_id, False
        self._forget_text()
        feed: Feed[tuple[str, str]] = Feed(partial(self._take, run_id), self)

        def push(output_id: str, piece: Piece) -> None:
            feed.push((output_id, "" if piece.thinking else piece.text))

        # The label is shown in the bottom bar, also to somebody who reviews blind: no names in it.
        self._pending = self._session.jobs.start(
            self,
            say("Writing outputs"),
            write_outputs,
            self._session.workspace,
            self._session.models,
            run_id,
            push,
            noun="outputs",
        )
        self._pending.success(partial(self._on_done, score)).end(partial(self._on_end, feed))

    def _take(self, run_id: str, batch: list[tuple[str, str]]) -> None:
        for output_id, text in _joined(batch):
            if output_id != self.output_id:
                self._words = []
                self.output_id = output_id
                self.began.emit(run_id, output_id)
            if text:
                self._words.append(text)
                self.written.emit(output_id, text)

    def _on_done(self, score: bool, job: Job) -> None:
        if score and job.state == "done" and self._session.has_workspace:
            self.score(str(job.spec["run"]))

    def _on_end(self, feed: Feed[tuple[str, str]]) -> None:
        feed.close()
        run_id, self.run_id = self.run_id, ""
        self._pending, self._stopping = None, False
        self._forget_text()
        self._begin_next()
        self.changed.emit(run_id)

    def _forget_text(self) -> None:
        self._words = []
        self.output_id = ""

    def _mark_stopped(self, run_id: str) -> None:
        session = self._session

        def mark(workspace: Workspace) -> None:
            run = workspace.get(Run, run_id)
            message = say("Stopped; it can be resumed.")
            workspace.transact_job(
                "Stop", "", set_job, run.job_id, state="cancelled", message=message
            )

        session.jobs.run(self, mark, session.workspace)

    def _on_scored(self, run_id: str, _job: Job) -> None:
        self.scored.emit(run_id)

    def _after_scoring(self, run_id: str) -> None:
        self._scoring.discard(run_id)
        self.changed.emit(run_id)


def runner_of(session: Session) -> Runner:
    """The session's runner, made when first asked for."""
    found = session.findChild(Runner)
    return found if isinstance(found, Runner) else Runner(session)


def partial_text(workspace: Workspace, output: Output) -> str:
    """An output's text, or what had streamed in when it was interrupted."""
    if output.text or output.state == "done":
        return output.text
    return str(workspace.value("SELECT text FROM partial WHERE output_id = ?", (output.id,)) or "")


def _joined(batch: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Pieces of one output that follow each other as one."""
    joined: list[tuple[str, str]] = []
    for output_id, text in batch:
        if joined and joined[-1][0] == output_id:
            joined[-1] = (output_id, joined[-1][1] + text)
        else:
            joined.append((output_id, text))
    return joined
