"""Jobs as rows: what background work will do, how far it is, and picking it up after a crash."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from core.ids import new_id, now
from core.storage.transaction import Transaction
from core.storage.workspace import Workspace
from core.types import Job, JobState


def add_job(tx: Transaction, kind: str, label: str, *, total: int, spec: Mapping[str, Any]) -> Job:
    """Write down a job before any of it is done."""
    stamp = now()
    return tx.insert(
        Job(
            id=new_id(),
            kind=kind,
            label=label,
            spec=dict(spec),
            total=total,
            person_id=tx.person,
            created=stamp,
            updated=stamp,
        )
    )


def set_job(tx: Transaction, /, job_id: str, **fields: Any) -> Job:
    """Change a job's state, counts or message."""
    return tx.update(Job, job_id, updated=now(), **fields)


def recover_jobs(tx: Transaction) -> list[Job]:
    """Pause every job that says it is running: called on opening, when none can be."""
    return [
        set_job(tx, job.id, state="paused", message="Interrupted; it can be resumed.")
        for job in tx.find(Job, "state IN ('running', 'queued')")
    ]


class JobClock:
    """Times a job's work and writes its counts; made when the work starts or goes on."""

    def __init__(self, workspace: Workspace, job: Job) -> None:
        self._workspace = workspace
        self._job = job
        self._before = job.seconds
        self._start = time.monotonic()

    @property
    def seconds(self) -> float:
        """Seconds worked, earlier sittings included."""
        return self._before + time.monotonic() - self._start

    def set(self, tx: Transaction, **fields: Any) -> Job:
        """Write counts or state within the transaction of the step they belong to."""
        return set_job(tx, self._job.id, seconds=round(self.seconds, 3), **fields)

    def finish(self, state: JobState, message: str = "") -> Job:
        """Write how it ended."""
        return self._workspace.transact_job(
            self._job.label,
            self._job.person_id,
            lambda tx: self.set(tx, state=state, message=message),
        ).value
