"""What encryption costs in an hour's work: the same verbs on an encrypted and on a plain workspace.

    python -m tests.benchmarks.storage_encryption [--cpu]

The mix: an import of 200 examples, then 500 edits that save themselves, each followed by what the window
reads after it, edits of the task, undo and redo, 100 ratings, outputs of a run, and a backup. Each step is
taken on both workspaces one after the other, in turn; a kind of step counts with its median time, so that
a busy machine does not decide. With ``--cpu`` only processor time counts, which leaves out the waits for
the disk that both share, so that its ratio is the higher one. Typing pauses are left out:
with them the difference would vanish.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from core.examples.verbs import add_example, edit_example_section
from core.people import add_person
from core.review.verbs import record_rating
from core.runs.verbs import add_run, add_system
from core.storage import Transaction, Workspace
from core.storage.backups import back_up
from core.storage.undo import redo, undo, undoable
from core.tasks.verbs import add_task, edit_task
from core.types import RATING_AXES, Example, Output, SectionSpec, SectionText, Task

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


class Pair:
    """A plain and an encrypted workspace on which the same is done, and how long each kind took."""

    def __init__(self, plain: Workspace, encrypted: Workspace, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._both = (plain, encrypted)
        self._turn = 0
        self.times: dict[str, tuple[list[float], list[float]]] = {}

    def step(self, name: str, deed: Callable[[Workspace, int], Any]) -> tuple[Any, Any]:
        """Do something on both; ``deed`` also gets 0 or 1, for which of the two it is."""
        self._turn += 1
        values: list[Any] = [None, None]
        for place in (0, 1) if self._turn % 2 else (1, 0):
            start = self._clock()
            values[place] = deed(self._both[place], place)
            self.times.setdefault(name, ([], []))[place].append(self._clock() - start)
        return values[0], values[1]

    def total(self, place: int) -> float:
        """Seconds of an hour's work, each kind of step at its median."""
        kinds = self.times.values()
        return sum(len(both[place]) * statistics.median(both[place]) for both in kinds)


def work_an_hour(pair: Pair, seed: int) -> None:
    """Do what an expert does in an hour, without the pauses."""
    rng = random.Random(seed)
    people = pair.step(
        "add person", lambda w, _: w.transact_job("Add person", "", add_person, "Ann").value.id
    )
    texts = [(text(rng, 900), text(rng, 250)) for _ in range(200)]

    def fill(tx: Transaction) -> list[str]:
        sections = (SectionSpec(title="Note"),)
        task = add_task(tx, field="Medicine", objective="Note", output_sections=sections)
        return [
            add_example(
                tx,
                task.id,
                title=f"Case {number}",
                input=(SectionText(title="Transcript", text=source),),
                output=(SectionText(title="Note", text=note),),
            ).id
            for number, (source, note) in enumerate(texts)
        ]

    examples = pair.step("import", lambda w, i: w.transact("Import", people[i], fill).value)
    tasks = pair.step("find tasks", lambda w, _: w.find(Task)[0].id)
    for number in range(500):
        chosen, note = rng.randrange(200), text(rng, 250)
        pair.step(
            "save an edit",
            lambda w, i, c=chosen, n=note: w.transact(
                "Edit", people[i], edit_example_section, examples[i][c], "output", 0, n
            ),
        )
        # What the window reads after each save: the row, the list, what undo would take back.
        pair.step("show a row", lambda w, i, c=chosen: w.get(Example, examples[i][c]))
        pair.step("show a list", lambda w, _: w.query(_LIST))
        pair.step("look for undo", lambda w, i: undoable(w, people[i]))
        if number % 10 == 0:
            pair.step(
                "save a task",
                lambda w, i, n=note: w.transact("Edit", people[i], edit_task, tasks[i], notes=n),
            )
        if number % 25 == 0:
            pair.step("undo", lambda w, i: undo(w, people[i]))
            pair.step("redo", lambda w, i: redo(w, people[i]))
    outputs = add_outputs(pair, people, examples, rng)
    for output in range(20):
        for axis in RATING_AXES:
            value = rng.randrange(1, 6)
            pair.step(
                "rate",
                lambda w, i, o=output, a=axis, v=value: w.transact(
                    "Rate", people[i], record_rating, outputs[i][o], people[i], a, v
                ),
            )
    pair.step("back up", lambda w, _: back_up(w))


def add_outputs(
    pair: Pair, people: tuple[str, str], examples: tuple[list[str], list[str]], rng: random.Random
) -> tuple[list[str], list[str]]:
    """A run with 20 outputs, written as a model's come: one transaction each."""

    def begin(workspace: Workspace, i: int) -> list[str]:
        system = workspace.transact(
            "Add", people[i], add_system, "S", model_id="fake-generator"
        ).value
        run = workspace.transact_job("Run", people[i], add_run, system.id, examples[i][:20]).value
        return [o.id for o in workspace.find(Output, "run_id = ?", (run.id,))]

    outputs: tuple[list[str], list[str]] = pair.step("begin a run", begin)
    for output in range(20):
        answer = text(rng, 300)
        pair.step(
            "write an output",
            lambda w, i, o=output, a=answer: w.transact_job(
                "Run", people[i], _finish, outputs[i][o], a
            ),
        )
    return outputs


def _finish(tx: Transaction, output_id: str, answer: str) -> None:
    tx.update(Output, output_id, state="done", text=answer)


def main() -> int:
    """Print each kind of step, both totals and the ratio; 1 when it is over the limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cpu", action="store_true")
    clock = time.process_time if parser.parse_args().cpu else time.perf_counter
    with tempfile.TemporaryDirectory() as folder:
        plain = Workspace.create(Path(folder) / "plain.rifugio", None)
        encrypted = Workspace.create(Path(folder) / "encrypted.rifugio", _PASSPHRASE)
        with plain, encrypted:
            pair = Pair(plain, encrypted, clock)
            work_an_hour(pair, 1)
    for name, both in pair.times.items():
        medians = [statistics.median(times) * 1000 for times in both]
        print(f"{name} ({len(both[0])}): plain {medians[0]:.2f} ms, encrypted {medians[1]:.2f} ms")
    ratio = pair.total(1) / pair.total(0)
    print(f"an hour's work: plain {pair.total(0):.2f} s, encrypted {pair.total(1):.2f} s")
    print(f"ratio: {ratio:.3f} (limit {LIMIT})")
    return int(ratio > LIMIT)


if __name__ == "__main__":
    raise SystemExit(main())
