"""Files written whole or not at all, and the ones SQLite keeps beside a workspace."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


def companions(path: Path) -> tuple[Path, Path]:
    """The write-ahead log and its index, which lie beside a workspace while it is open."""
    return path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm")


def remove_with_companions(path: Path) -> None:
    """Remove a database and what SQLite left beside it."""
    journal = path.with_name(path.name + "-journal")
    for leftover in (path, *companions(path), journal):
        leftover.unlink(missing_ok=True)


def remove_unfinished(path: Path) -> None:
    """Remove copies of a workspace that a power cut left unfinished; for whoever holds its lock."""
    for what in ("migrating", "rekeying", "restoring"):
        remove_with_companions(path.with_name(f".{path.name}.{what}"))


def sync_file(path: Path) -> None:
    """Wait until a file's bytes are on the disk."""
    with path.open("rb") as stream:
        os.fsync(stream.fileno())


def sync_folder(folder: Path) -> None:
    """Wait until names made or changed in a folder are on the disk, where the system can say so."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def put_in_place(new: Path, target: Path) -> None:
    """Give a finished file its name: a power cut leaves the old file or the new one, never half."""
    sync_file(new)
    os.replace(new, target)
    sync_folder(target.parent)


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """A stream whose bytes become ``path`` when all were written, and nothing when not."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
