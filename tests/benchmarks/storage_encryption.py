"""What encryption costs in an hour's work: the same verbs on an encrypted and on a plain workspace.

    python -m tests.benchmarks.storage_encryption [ROUNDS]

The mix: an import of 200 examples, then edits that save themselves, ratings, additions, undo, a run of
a scripted model, and the queries the pages make after each. Rounds alternate, so that a busy machine
slows both; each round has a pair of new files, and the median of the pairs' ratios counts. Typing pauses
are left out: with them the difference would vanish.
"""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

from core.examples.verbs import add_example, edit_example_section
from core.people import add_person
from core.review.verbs import record_rating
from core.runs.engine import execute_run
from core.runs.verbs import add_run, add_system
from core.storage import Transaction, Workspace
from core.storage.backups import back_up
from core.storage.undo import undo, undoable
from core.tasks.verbs import add_task, edit_task
from core.types import RATING_AXES, Example, Output, SectionSpec, SectionText, Task
from models.fake import FakeGenerator

LIMIT = 1.15
#: What the Examples page asks for its list.
_LIST = (
    "SELECT e.id FROM example e JOIN task t ON t.id = e.task_id"
    " WHERE e.deleted = 0 ORDER BY e.title COLLATE NOCASE, e.id"
)
_PASSPHRASE = "correct horse battery"
_WORDS = ("the", "patient", "reports", "a", "dry", "cough", "since", "Tuesday", "no", "fever")


def text(rng: random.Random, words: int) -> str:
    """Running text of so many words."""
    return " ".join(rng.choice(_WORDS) for _ in range(words))


def work_an_hour(workspace: Workspace, seed: int) -> float:
    """Do what an expert does in an hour, without the pauses; returns the seconds it took."""
    rng = random.Random(seed)
    person = workspace.transact_job("Add person", "", add_person, "Ann").value.id

    def fill(tx: Transaction) -> list[str]:
        task = add_task(
            tx, field="Medicine", objective="Note", output_sections=(SectionSpec(title="Note"),)
        )
        return [
            add_example(
                tx,
                task.id,
                title=f"Case {number}",
                input=(SectionText(title="Transcript", text=text(rng, 900)),),
                output=(SectionText(title="Note", text=text(rng, 250)),),
            ).id
            for number in range(200)
        ]

    start = time.perf_counter()
    examples = workspace.transact("Import", person, fill).value
    task = workspace.find(Task)[0]
    for number in range(500):
        chosen = rng.choice(examples)
        workspace.transact(
            "Edit reference", person, edit_example_section, chosen, "output", 0, text(rng, 250)
        )
        # What the window reads after each save: the row, the list, what undo would take back.
        workspace.get(Example, chosen)
        workspace.query(_LIST)
        undoable(workspace, person)
        if number % 10 == 0:
            workspace.transact("Edit task", person, edit_task, task.id, notes=text(rng, 40))
        if number % 50 == 0:
            undo(workspace, person)
    system = workspace.transact("Add", person, add_system, "S", model_id="fake-generator").value
    run = workspace.transact_job("Run", person, add_run, system.id, examples[:20]).value
    answer = f"# Note\n\n{text(rng, 300)}"
    execute_run(workspace, run.id, FakeGenerator(answers=[answer]))
    for output in workspace.find(Output):
        for axis in RATING_AXES:
            workspace.transact(
                "Rate", person, record_rating, output.id, person, axis, rng.randrange(1, 6)
            )
    back_up(workspace)
    return time.perf_counter() - start


def main() -> int:
    """Print both times and the ratio; 1 when it is over the limit."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    times: dict[str, list[float]] = {"plain": [], "encrypted": []}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(rounds):
            for name in ("plain", "encrypted") if number % 2 else ("encrypted", "plain"):
                path = Path(folder) / f"{name}-{number}.rifugio"
                passphrase = _PASSPHRASE if name == "encrypted" else None
                with Workspace.create(path, passphrase) as workspace:
                    times[name].append(work_an_hour(workspace, number))
    ratio = statistics.median(
        encrypted / plain
        for encrypted, plain in zip(times["encrypted"], times["plain"], strict=True)
    )
    for name, seconds in times.items():
        print(f"{name}: {statistics.median(seconds):.2f} s (median of {rounds})")
    print(f"ratio: {ratio:.3f} (limit {LIMIT})")
    return int(ratio > LIMIT)


if __name__ == "__main__":
    raise SystemExit(main())
