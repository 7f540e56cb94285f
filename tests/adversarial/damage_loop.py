"""Flipping bits in, and cutting short, a workspace, its log and its backups, a thousand times.

    python -m tests.adversarial.damage_loop [--attacks 1000] [--seed 1]

Each time the damaged file is opened as a person would. Either it is refused with a sentence and a remedy
and left as it was, and what is recovered from it was written once; or it opens and holds exactly what
was saved; or it opens with a note and holds an earlier state as it was saved then. Never anything else.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from core.errors import KnownError
from core.examples.verbs import add_example, edit_example
from core.storage import Workspace, cipher, opening
from core.storage.audit import check_chain, check_file, check_rows
from core.storage.backups import back_up, check_backup
from core.storage.cipher import Key
from core.storage.connection import open_connection
from core.storage.files import companions
from core.storage.recovery import recover_workspace
from core.storage.restore import restore_to_new_file
from core.tasks.verbs import add_task, edit_task
from core.types import Example, Task

PASSPHRASE = "correct horse battery"
TARGETS = ("file", "log", "index", "backup")

State = dict[str, str]


@dataclass
class Image:
    """A workspace as a power cut leaves it, and every state it ever had."""

    folder: Path
    path: Path
    key: Key
    backup: Path
    states: list[State] = field(default_factory=list)
    saved_in_backup: State = field(default_factory=dict)


@lru_cache(maxsize=64)
def _derive(passphrase: str, salt: bytes) -> bytes:
    return bytes(cipher.derive_key(passphrase, salt).raw)


def derive_once(passphrase: str, salt: bytes, *, key_file: Path | None = None) -> Key:
    """`derive_key`, remembered: the derivation is slow on purpose and not what is attacked here."""
    return Key(bytearray(_derive(passphrase, salt)), salt)


def read_state(workspace: Workspace) -> State:
    """Every text of tasks and examples."""
    state = {task.id: f"{task.objective}|{task.notes}" for task in workspace.find(Task)}
    return state | {e.id: e.title for e in workspace.find(Example)}


def make_image(folder: Path, rng: random.Random) -> Image:
    """Half of its work is in the file, half in the log, some of it in a backup."""
    work = folder / "work"
    work.mkdir()
    path = work / "w.rifugio"
    with Workspace.create(path, PASSPHRASE) as workspace:
        assert workspace.key is not None
        image = Image(folder / "image", path, workspace.key.copy(), Path())

        def keep() -> None:
            image.states.append(read_state(workspace))

        keep()
        tasks, examples = [], []
        for number in range(60):
            text = f"text {number} " + "word " * rng.randrange(200)
            if number % 3 == 0:
                task = workspace.transact("Add", "", add_task, field="Law", objective=text).value
                tasks.append(task.id)
            elif number % 3 == 1:
                added = workspace.transact("Add", "", add_example, tasks[-1], title=text).value
                examples.append(added.id)
            elif number % 2:
                workspace.transact("Edit", "", edit_task, rng.choice(tasks), notes=text)
            else:
                workspace.transact("Edit", "", edit_example, rng.choice(examples), title=text)
            keep()
            if number == 30:
                backup = back_up(workspace)
                image.saved_in_backup = image.states[-1]
                db = open_connection(path, image.key)
                db.conn.execute("PRAGMA wal_checkpoint(PASSIVE)")
                db.conn.close()
        shutil.copytree(work, image.folder)
        image.path = image.folder / path.name
        image.backup = image.folder / backup.path.parent.name / backup.path.name
    (image.folder / f".{path.name}.lock").unlink(missing_ok=True)
    return image


def harm(path: Path, rng: random.Random) -> str:
    """Flip a bit, overwrite a few bytes, or cut the file short; returns what was done."""
    data = bytearray(path.read_bytes())
    if not data:
        return "nothing"
    kind = rng.choice(("flip", "flip", "noise", "cut"))
    place = rng.randrange(len(data))
    if kind == "flip":
        data[place] ^= 1 << rng.randrange(8)
    elif kind == "noise":
        length = min(rng.randrange(2, 64), len(data) - place)
        data[place : place + length] = rng.randbytes(length)
    else:
        del data[place:]
    path.write_bytes(data)
    return f"{kind} at {place}"


def attack(image: Image, rng: random.Random, *, recover: bool) -> str:
    """One attack; returns how it ended.

    Raises
    ------
    AssertionError
        When damage was taken for good, or something but a sentence came out.
    """
    target = rng.choice(TARGETS)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "w"
        shutil.copytree(image.folder, folder)
        path = folder / image.path.name
        log, index = companions(path)
        backup = folder / image.backup.parent.name / image.backup.name
        victim = {"file": path, "log": log, "index": index, "backup": backup}[target]
        before = victim.read_bytes()
        what = f"{target}, {harm(victim, rng)}"
        if victim.read_bytes() == before:
            return f"{target}: unharmed"
        try:
            if target == "backup":
                return f"{target}: {_judge_backup(image, backup)}"
            return f"{target}: {_judge_file(image, path, recover=recover)}"
        except AssertionError as error:
            raise AssertionError(f"{what}: {error}") from error
        except Exception as error:
            raise AssertionError(f"{what}: {type(error).__name__}: {error}") from error


def _check_words(error: KnownError) -> None:
    assert error.message.endswith("."), f"no sentence: {error.message}"
    assert error.remedy.endswith("."), f"no remedy: {error.message}"


def _judge_backup(image: Image, backup: Path) -> str:
    try:
        check_backup(backup, image.key)
    except KnownError as error:
        _check_words(error)
        try:
            restore_to_new_file(backup, backup.with_name("new.rifugio"), image.key)
        except KnownError:
            return "refused"
        raise AssertionError("a damaged backup was restored") from error
    raise AssertionError("a damaged backup passed")


def _judge_file(image: Image, path: Path, *, recover: bool) -> str:
    kept = {part: part.read_bytes() for part in (path, companions(path)[0])}
    try:
        workspace = Workspace.open(path, PASSPHRASE)
    except KnownError as error:
        _check_words(error)
        for part, data in kept.items():
            assert part.read_bytes() == data, f"{part.name} was changed though it was refused"
        if recover:
            _judge_recovery(image, path)
            return "refused, then recovered"
        return "refused"
    with workspace:
        found = read_state(workspace)
        findings = [
            *check_file(workspace, encrypted=True),
            *check_chain(workspace),
            *check_rows(workspace),
        ]
        if found == image.states[-1]:
            # A page nobody needs may be broken: free, or newer in the log. `verify` names it.
            assert all("HMAC" in finding.message for finding in findings), findings
            return "opened whole, the page named by verify" if findings else "opened whole"
        assert not findings, findings
        assert workspace.notes, "an earlier state was taken for the present one"
        assert found in image.states, "a state that never was"
        return "opened at an earlier state, and said so"


def _judge_recovery(image: Image, path: Path) -> None:
    target = path.with_name("recovered.rifugio")
    ever: dict[str, set[str]] = {}
    for state in image.states:
        for row, text in state.items():
            ever.setdefault(row, set()).add(text)
    try:
        recover_workspace(path, target, image.key)
    except KnownError as error:
        _check_words(error)
        return
    with Workspace.open_with_key(target, image.key.copy()) as recovered:
        for row, text in read_state(recovered).items():
            assert text in ever[row], "something was recovered that was never written"
        assert not check_file(recovered, encrypted=True)


def run_attacks(count: int, seed: int, *, recover_every: int = 5) -> Counter[str]:
    """Attack so often; returns how often each ended how."""
    rng = random.Random(seed)
    ends: Counter[str] = Counter()
    derive = opening.derive_key
    opening.derive_key = derive_once
    try:
        with tempfile.TemporaryDirectory() as folder:
            image = make_image(Path(folder), rng)
            for number in range(count):
                ends[attack(image, rng, recover=number % recover_every == 0)] += 1
                if number % 100 == 99:
                    print(f"{number + 1} attacks", file=sys.stderr, flush=True)
    finally:
        opening.derive_key = derive
    return ends


def main() -> int:
    """Attack as often as asked; returns 1 at the first damage taken for good."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--attacks", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    start = time.monotonic()
    try:
        ends = run_attacks(arguments.attacks, arguments.seed)
    except AssertionError as error:
        print(error, file=sys.stderr)
        return 1
    print(
        json.dumps(
            {
                "attacks": arguments.attacks,
                "seed": arguments.seed,
                "seconds": round(time.monotonic() - start),
                "ends": dict(sorted(ends.items())),
                "wrong": 0,
                "crashes": 0,
            }
        )
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
