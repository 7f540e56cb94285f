"""What undo costs as the history grows: at 1,000, 10,000 and 100,000 changes.

    python -m tests.benchmarks.storage_undo [MOST] [--cpu]

With ``--cpu`` processor time counts instead of the clock's, for a machine that is busy with other things.

At each size the median over 30 tries, in milliseconds, of an edit, of asking what undo would take back
(the window does so after every change), of an undo and of a redo, and of reading a row's history; and the
size of the file. Besides the person's own changes, nine in ten are of jobs, which undo has to pass over.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from core.people import add_person
from core.storage import Transaction, Workspace
from core.storage.history import row_history
from core.storage.undo import redo, undo, undoable
from core.tasks.verbs import add_task, edit_task
from core.types import Task

LIMIT_MILLISECONDS = 50.0
_TRIES = 30
_PERSON_SHARE = 10


def grow(workspace: Workspace, person: str, task: Task, until: int) -> None:
    """Add changes up to so many: one in ten the person's own, in between those of jobs."""
    number = int(workspace.value("SELECT count(*) FROM change"))

    def edit_many(tx: Transaction, count: int) -> None:
        for _ in range(count):
            edit_task(tx, task.id, notes=f"note {time.perf_counter_ns()}")

    while number < until:
        workspace.transact("Edit task", person, edit_task, task.id, procedure=f"step {number}")
        count = min(_PERSON_SHARE - 1, until - number - 1)
        if count > 0:
            workspace.transact_job("Job", person, edit_many, count)
        number += 1 + max(0, count)


def median_milliseconds(
    clock: Callable[[], float], deed: Callable[[int], object], tries: int = _TRIES
) -> float:
    """The median time of a deed."""
    seconds = []
    for number in range(tries):
        start = clock()
        deed(number)
        seconds.append(clock() - start)
    return statistics.median(seconds) * 1000


def main() -> int:
    """Print a line a size; 1 when undo takes longer than the limit at any."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("most", nargs="?", type=int, default=100_000)
    parser.add_argument("--cpu", action="store_true")
    arguments = parser.parse_args()
    most = arguments.most
    clock = time.process_time if arguments.cpu else time.perf_counter
    slow = False
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "w.rifugio"
        with Workspace.create(path, "correct horse battery") as workspace:
            person = workspace.transact_job("Add person", "", add_person, "Ann").value.id
            task = workspace.transact(
                "Add task", person, add_task, field="Law", objective="Write"
            ).value
            other = workspace.transact(
                "Add task", person, add_task, field="Law", objective="Other"
            ).value
            for size in (1_000, 10_000, 100_000):
                if size > most:
                    break
                grow(workspace, person, task, size)

                def edit(number: int, size: int = size) -> None:
                    workspace.transact(
                        "Edit", person, edit_task, other.id, objective=f"o {size} {number}"
                    )

                found = {
                    "edit": median_milliseconds(clock, edit),
                    "what undo would take": median_milliseconds(
                        clock, lambda _n: undoable(workspace, person)
                    ),
                    "undo": median_milliseconds(clock, lambda _n: undo(workspace, person), 20),
                    "redo": median_milliseconds(clock, lambda _n: redo(workspace, person), 20),
                    "history of a row": median_milliseconds(
                        clock, lambda _n: row_history(workspace, "task", other.id), 5
                    ),
                }
                slow = slow or max(found["undo"], found["redo"]) > LIMIT_MILLISECONDS
                words = ", ".join(f"{name} {value:.1f} ms" for name, value in found.items())
                size_now = sum(p.stat().st_size for p in path.parent.glob(path.name + "*"))
                print(f"{size:,} changes, {size_now / 1e6:.0f} MB: {words}", flush=True)
    return int(slow)


if __name__ == "__main__":
    raise SystemExit(main())
