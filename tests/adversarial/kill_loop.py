"""Killing a working process at random moments, a thousand times, and looking what is left each time.

    python -m tests.adversarial.kill_loop [--kills 1000] [--seed 1]

A child process edits, imports, runs a scripted model, undoes, backs up, rekeys, merges what came back in
a package, closes and reopens. It
says what each step will change before it begins it, and that it is done when it is called saved. The
parent kills it with SIGKILL, opens the file and compares it with what it was told: everything that was
done is there, the step under way is there whole or not at all, and `verify` finds nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import select
import signal
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from core.errors import WrongPassphraseError
from core.examples.verbs import edit_example
from core.exchange.imports import import_records, read_import
from core.exchange.merging import merge
from core.exchange.packing import pack_everything
from core.ids import new_id
from core.people import add_person
from core.runs.engine import execute_run
from core.runs.verbs import add_run, add_system
from core.storage import Transaction, Workspace
from core.storage.audit import check_chain, check_file, check_rows
from core.storage.backups import back_up, check_backup, list_backups
from core.storage.cipher import Key, derive_key, read_salt
from core.storage.files import companions, remove_with_companions
from core.storage.rekey import change_key, opens
from core.storage.undo import undo
from core.tasks.verbs import add_task, delete_task, edit_task
from core.types import Example, Job, Output, Person, Run, System, Task
from models.fake import FakeGenerator

PASSPHRASES = ("correct horse battery", "another horse battery")
ANSWER = "# Note\n\nThe patient coughs and is otherwise well."
#: The package that is merged, and what a kill leaves of it.
GIVEN = "given.rifugio"
_FRESH_EVERY = 40
_LONGEST = 1.2

State = dict[str, str | None]


@dataclass
class Told:
    """What the child said: the state that is saved, and the step it was at."""

    saved: State = field(default_factory=dict)
    outputs: set[str] = field(default_factory=set)
    step: dict[str, Any] | None = None
    steps: Counter[str] = field(default_factory=Counter)

    def hear(self, line: dict[str, Any]) -> None:
        """Take in one line of the child."""
        if line["what"] == "begin":
            self.step = line
        elif line["what"] == "output":
            self.outputs.add(line["id"])
        elif self.step is not None:
            self.saved |= self.step["sets"]
            self.steps[self.step["name"]] += 1
            self.step = None


def read_state(workspace: Workspace) -> State:
    """What tasks and examples say."""
    state: State = {f"task {task.id}": task.objective for task in workspace.find(Task)}
    return state | {f"example {e.id}": e.title for e in workspace.find(Example)}


class Child:
    """Works in the workspace and says so, until it is killed."""

    def __init__(self, path: Path, key: Key, seed: int, stream: int) -> None:
        self._random = random.Random(seed)
        self._stream = stream
        self._workspace = Workspace.open_with_key(path, key)
        people = self._workspace.query("SELECT id FROM person LIMIT 1")
        self._person: str = people[0]["id"]

    def work(self) -> None:
        """Take random steps for ever."""
        steps = (
            (self._add, 5),
            (self._edit, 8),
            (self._delete, 2),
            (self._undo, 3),
            (self._import, 2),
            (self._run, 3),
            (self._back_up, 2),
            (self._rekey, 1),
            (self._merge, 2),
            (self._reopen, 1),
        )
        choices, weights = zip(*steps, strict=True)
        while True:
            self._random.choices(choices, weights)[0]()

    def _say(self, **line: Any) -> None:
        os.write(self._stream, (json.dumps(line) + "\n").encode())

    def _begin(self, name: str, sets: State) -> None:
        self._say(what="begin", name=name, sets=sets)

    def _done(self) -> None:
        self._say(what="done")

    def _text(self) -> str:
        return f"text {self._random.random()}" + " word" * self._random.randrange(300)

    def _add(self) -> None:
        task_id, text = new_id(), self._text()
        self._begin("add", {f"task {task_id}": text})
        self._workspace.transact(
            "Add task", self._person, add_task, field="Medicine", objective=text, task_id=task_id
        )
        self._done()

    def _edit(self) -> None:
        state = read_state(self._workspace)
        if not state:
            return
        name, text = self._random.choice(sorted(state)), self._text()
        kind, row = name.split()
        self._begin("edit", {name: text})
        if kind == "task":
            self._workspace.transact("Edit", self._person, edit_task, row, objective=text)
        else:
            self._workspace.transact("Edit", self._person, edit_example, row, title=text)
        self._done()

    def _delete(self) -> None:
        free = self._workspace.find(Task, "id NOT IN (SELECT task_id FROM example)")
        if not free:
            return
        task = self._random.choice(free)
        self._begin("delete", {f"task {task.id}": None})
        self._workspace.transact("Delete", self._person, delete_task, task.id)
        self._done()

    def _undo(self) -> None:
        # What an undo brings back is known from doing and undoing an edit of our own.
        state = read_state(self._workspace)
        tasks = sorted(name for name in state if name.startswith("task"))
        if not tasks:
            return
        name, text = self._random.choice(tasks), self._text()
        row = name.split()[1]
        self._begin("edit", {name: text})
        self._workspace.transact("Edit", self._person, edit_task, row, objective=text)
        self._done()
        self._begin("undo", {name: state[name]})
        undo(self._workspace, self._person)
        self._done()

    def _import(self) -> None:
        task_id = new_id()
        rows: list[dict[str, Any]] = [
            {"id": new_id(), "task": task_id, "title": self._text(),
             "input": [{"title": "T", "text": self._text()}]}
            for _ in range(12)
        ]  # fmt: skip
        objective = self._text()
        file = Path(f"{self._workspace.path}.jsonl")
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        read, _report = read_import(file, "examples")
        sets: State = {f"example {row['id']}": str(row["title"]).strip() for row in rows}
        self._begin("import", {f"task {task_id}": objective, **sets})

        def import_all(tx: Transaction) -> None:
            add_task(tx, field="Law", objective=objective, task_id=task_id)
            import_records(tx, file.name, "examples", read)

        self._workspace.transact("Import", self._person, import_all)
        self._done()
        file.unlink()

    def _run(self) -> None:
        unfinished = self._workspace.find(Job, "state NOT IN ('done')")
        if unfinished:
            run = self._workspace.find(Run, "job_id = ?", (unfinished[0].id,))[0]
        else:
            examples = [example.id for example in self._workspace.find(Example)]
            if not examples:
                return
            chosen = self._random.sample(examples, min(3, len(examples)))
            systems = self._workspace.find(System)
            self._begin("add run", {})
            run = self._workspace.transact_job(
                "Add run", self._person, add_run, systems[0].id, chosen
            ).value
            self._done()
        self._begin("run", {})

        def tell(changes: Any) -> None:
            for output in changes.ids.get("output", ()):
                self._say(what="output", id=output)

        stop = self._workspace.subscribe(tell)
        execute_run(self._workspace, run.id, FakeGenerator(answers=[ANSWER]))
        stop()
        self._done()

    def _back_up(self) -> None:
        self._begin("backup", {})
        back_up(self._workspace, "manual")
        self._done()

    def _rekey(self) -> None:
        self._begin("rekey", {})
        passphrase = self._random.choice(PASSPHRASES)
        self._workspace = change_key(self._workspace, passphrase)
        self._done()

    def _merge(self) -> None:
        state = read_state(self._workspace)
        tasks = sorted(name for name in state if name.startswith("task"))
        path = self._workspace.path.with_name(GIVEN)
        remove_with_companions(path)
        person = self._workspace.get(Person, self._person)
        pack_everything(self._workspace, path, PASSPHRASES[0], person)
        with Workspace.open(path, PASSPHRASES[0]) as package:
            sets: State = {}
            for name in self._random.sample(tasks, min(3, len(tasks))):
                sets[name] = self._text()
                row = name.split()[1]
                package.transact("Edit", person.id, edit_task, row, objective=sets[name])
            added = new_id()
            sets[f"task {added}"] = self._text()
            package.transact(
                "Add", person.id, add_task,
                field="Law", objective=sets[f"task {added}"], task_id=added,
            )  # fmt: skip
            self._begin("merge", sets)
            merge(self._workspace, package, self._person)
            self._done()
        path.unlink()

    def _reopen(self) -> None:
        self._begin("reopen", {})
        key = self._workspace.key
        assert key is not None
        key = key.copy()
        path = self._workspace.path
        self._workspace.close()
        self._workspace = Workspace.open_with_key(path, key)
        self._done()


def main() -> int:
    """Kill as often as asked; returns 1 at the first thing lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    total: Counter[str] = Counter()
    inside: Counter[str] = Counter()
    applied = kills = 0
    start = time.monotonic()
    while kills < arguments.kills:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "w.rifugio"
            key = make_workspace(path)
            told = Told()
            for _round in range(min(_FRESH_EVERY, arguments.kills - kills)):
                kill_once(path, key, rng, told)
                kills += 1
                inside[told.step["name"] if told.step else "between steps"] += 1
                try:
                    key, whole = check(path, key, told)
                except AssertionError as error:
                    print(f"kill {kills}: {error}", file=sys.stderr)
                    return 1
                applied += whole
            total += told.steps
        if kills % 100 < _FRESH_EVERY:
            print(f"{kills} kills", file=sys.stderr, flush=True)
    print(
        json.dumps(
            {
                "kills": kills,
                "seed": arguments.seed,
                "seconds": round(time.monotonic() - start),
                "steps saved": sum(total.values()),
                "steps": dict(sorted(total.items())),
                "killed inside": dict(sorted(inside.items())),
                "steps under way found whole": applied,
                "lost": 0,
                "half applied": 0,
                "verify findings": 0,
            }
        )
    )
    return 0


def make_workspace(path: Path) -> Key:
    """A new workspace with a person and a system; returns its key."""
    with Workspace.create(path, PASSPHRASES[0]) as workspace:
        person = workspace.transact_job("Add person", "", add_person, "Ann").value
        workspace.transact_job("Add", person.id, add_system, "S", model_id="fake-generator")
        assert workspace.key is not None
        return workspace.key.copy()


def kill_once(path: Path, key: Key, rng: random.Random, told: Told) -> None:
    """Let a child work for a random time, kill it, and take in what it said."""
    told.step = None
    read, write = os.pipe()
    seed = rng.randrange(1 << 30)
    child = os.fork()
    if child == 0:
        os.close(read)
        _be_child(path, key, seed, write)
    os.close(write)
    # Short times too: opening itself has to stand a kill.
    wait = rng.random() ** 2 * _LONGEST
    data = bytearray()
    end = time.monotonic() + wait
    alive = True
    while alive and (left := end - time.monotonic()) > 0:
        if select.select([read], [], [], left)[0]:
            piece = os.read(read, 65536)
            alive = bool(piece)
            data += piece
    os.kill(child, signal.SIGKILL)
    while piece := os.read(read, 65536):
        data += piece
    os.close(read)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), f"the child ended by itself:\n{data.decode()[-2000:]}"
    for line in data.decode().splitlines():
        told.hear(json.loads(line))


def _be_child(path: Path, key: Key, seed: int, stream: int) -> NoReturn:
    try:
        Child(path, key.copy(), seed, stream).work()
    except BaseException:
        import traceback

        os.write(stream, traceback.format_exc().encode())
    os._exit(1)


def check(path: Path, key: Key, told: Told) -> tuple[Key, bool]:
    """Compare the file with what was told.

    Returns
    -------
    tuple
        The key it has now, and whether the step under way was found whole.
    """
    if read_salt(path) != key.salt:
        assert told.step is None or told.step["name"] == "rekey" or told.steps["rekey"]
        key = find_key(path)
    workspace = Workspace.open_with_key(path, key.copy())
    with workspace:
        findings = [
            *check_file(workspace, encrypted=True),
            *check_chain(workspace),
            *check_rows(workspace),
        ]
        assert not findings, findings
        found = read_state(workspace)
        saved = {name: text for name, text in told.saved.items() if text is not None}
        sets = told.step["sets"] if told.step else {}
        after = {name: text for name, text in (told.saved | sets).items() if text is not None}
        assert found in (saved, after), describe(found, saved, told)
        whole = bool(sets) and found == after and found != saved
        outputs = {o.id: o for o in workspace.find(Output, "state = 'done'")}
        assert told.outputs <= outputs.keys(), "a finished output is missing"
        assert all(output.text == ANSWER for output in outputs.values())
        told.saved = dict(found)
        told.outputs = set(outputs)
    for backup in list_backups(path)[:2]:
        if opens(backup.path, key):
            check_backup(backup.path, key)
    left = sorted(p.name for p in path.parent.iterdir() if p != path)
    own = (f"{path.stem} backups", f"{path.name}.jsonl")
    stray = [n for n in left if n not in own and GIVEN not in n]
    assert not stray, f"left behind: {stray}"
    assert not companions(path)[0].exists()
    return key, whole


def find_key(path: Path) -> Key:
    """The key of a file that was rekeyed to one of the passphrases."""
    for passphrase in PASSPHRASES:
        try:
            workspace = Workspace.open(path, passphrase)
        except WrongPassphraseError:
            continue
        workspace.close()
        return derive_key(passphrase, read_salt(path))
    raise AssertionError("none of the passphrases opens the file")


def describe(found: State, saved: State, told: Told) -> str:
    """What differs, in short."""
    lost = [name for name in saved if found.get(name) != saved[name]]
    more = [name for name in found if name not in saved]
    return f"differs from what was saved: {lost[:3]} {more[:3]} at {told.step}"


if __name__ == "__main__":
    raise SystemExit(main())
