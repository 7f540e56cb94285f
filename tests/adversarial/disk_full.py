"""A disk that is full at a random write: in the test a small file system of its own, where one can be had.

`small_disk` mounts it (Linux, as root); elsewhere a child process under a limit of file size stands in.
"""

from __future__ import annotations

import os
import random
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from core.errors import DiskFullError
from core.storage import Workspace
from core.storage.audit import check_chain, check_file, check_rows
from core.storage.backups import back_up, list_backups
from core.storage.files import companions
from core.tasks.verbs import add_task

PASSPHRASE = "correct horse battery"


@contextmanager
def small_disk(folder: Path, size: int) -> Iterator[Path | None]:
    """A file system of so many bytes; None where none can be mounted."""
    point = folder / "disk"
    point.mkdir()
    if sys.platform != "linux" or os.geteuid() != 0:
        yield None
        return
    options = f"size={size},mode=700"
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(point)],
        capture_output=True,
        check=False,
    )
    if done.returncode != 0:
        yield None
        return
    try:
        yield point
    finally:
        subprocess.run(["umount", str(point)], check=True)


def fill_disk(disk: Path, leave: int) -> Path:
    """Fill the disk but for some bytes; returns the file that does."""
    filler = disk / "filler"
    free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
    with filler.open("wb") as stream:
        stream.write(bytes(max(0, free - leave)))
    return filler


def write_until_full(workspace: Workspace, rng: random.Random, most: int = 400) -> set[str]:
    """Add tasks until the disk has no room; returns the ids of those called saved."""
    saved = set()
    for number in range(most):
        text = f"{number} " + "word " * rng.randrange(40, 600)
        try:
            outcome = workspace.transact("Add", "", add_task, field="Law", objective=text)
        except DiskFullError:
            return saved
        saved.add(outcome.value.id)
    raise AssertionError("the disk was never full")


def check_all(workspace: Workspace, saved: set[str], *, closely: bool = True) -> None:
    """Everything saved is there, and nothing else."""
    rows = workspace.query("SELECT id FROM task WHERE deleted = 0")
    assert {row["id"] for row in rows} == saved
    if not closely:
        return
    assert not check_file(workspace, encrypted=True)
    assert not check_chain(workspace)
    assert not check_rows(workspace)


def fill_again_and_again(disk: Path, rounds: int, seed: int) -> int:
    """Fill the disk at so many random writes, each time with the workspace open or just closed.

    Returns
    -------
    int
        How many steps were saved before, between and after.
    """
    rng = random.Random(seed)
    path = disk / "w.rifugio"
    workspace = Workspace.create(path, PASSPHRASE)
    assert workspace.key is not None
    key = workspace.key.copy()
    saved: set[str] = set()
    try:
        for number in range(rounds):
            filler = fill_disk(disk, rng.randrange(0, 150_000))
            saved |= write_until_full(workspace, rng)
            check_all(workspace, saved, closely=number % 5 == 0)
            try:
                back_up(workspace)
            except DiskFullError:
                folder = path.with_name(f"{path.stem} backups")
                assert not folder.exists() or not list(folder.glob(".*"))
            if number % 3 == 0:
                # Closing with the disk full: the log stays, and is folded in when there is room.
                workspace.close()
                filler.unlink()
                workspace = Workspace.open_with_key(path, key.copy())
                check_all(workspace, saved, closely=number % 9 == 0)
            else:
                filler.unlink()
            outcome = workspace.transact("Add", "", add_task, field="Law", objective="after")
            saved.add(outcome.value.id)
            for backup in list_backups(path)[1:]:
                backup.path.unlink()
        check_all(workspace, saved)
    finally:
        workspace.close()
    assert not companions(path)[0].exists()
    return len(saved)


def fill_under_limit(folder: Path, rounds: int, seed: int) -> None:
    """The same for a process that may not make files beyond a size; for a child, which it limits."""
    import signal

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    rng = random.Random(seed)
    path = folder / "w.rifugio"
    saved: set[str] = set()
    workspace = Workspace.create(path, PASSPHRASE)
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    for _ in range(rounds):
        log = companions(path)[0]
        size = max(path.stat().st_size, log.stat().st_size) + rng.randrange(4_096, 200_000)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
        saved |= write_until_full(workspace, rng)
        check_all(workspace, saved)
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        check_all(workspace, saved)
    workspace.close()
    with Workspace.open(path, PASSPHRASE) as opened:
        check_all(opened, saved)


if __name__ == "__main__":
    fill_under_limit(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
