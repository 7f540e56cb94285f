"""What verbs share: opening a workspace, passphrases, printing, progress."""

from __future__ import annotations

import argparse
import getpass
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from core.errors import (
    DamagedWorkspaceError,
    InputError,
    NotAWorkspaceError,
    NotFoundError,
    UsageError,
    WorkspaceBusyError,
)
from core.jobs import recover_jobs
from core.ports import Cancellation, Progress
from core.storage import Workspace
from core.storage.backups import list_backups
from core.storage.cipher import inspect_file


def add_common(parser: argparse.ArgumentParser, *, workspace: bool = False) -> None:
    """Arguments every verb takes, and those of verbs on a workspace."""
    parser.add_argument("--json", action="store_true", help="print JSON on standard output")
    if workspace:
        parser.add_argument("workspace", metavar="WS", type=Path, help="the workspace file")
        add_passphrase(parser)


def add_passphrase(parser: argparse.ArgumentParser) -> None:
    """Where a passphrase comes from; never from the command line itself, which others can read."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "--passphrase-file", metavar="F", type=Path, help="read the passphrase from a file"
    )
    group.add_argument(
        "--passphrase-fd", metavar="N", type=int, help="read the passphrase from a descriptor"
    )
    parser.add_argument(
        "--key-file", metavar="F", type=Path, help="the key file, where the workspace has one"
    )


def read_passphrase(args: argparse.Namespace, prompt: str = "Passphrase: ") -> str:
    """The passphrase, from the file, the descriptor or a prompt; its first line without the line end."""
    return read_secret(args.passphrase_file, args.passphrase_fd, prompt)


def read_secret(
    file: Path | None, descriptor: int | None, prompt: str, *, flag: str = "passphrase"
) -> str:
    """A secret's first line from a file, a descriptor or a prompt; ``flag`` names its arguments."""
    if file is not None:
        try:
            text = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(
                f"cannot be read: {error}.",
                path=file,
                remedy="Give a UTF-8 text file with the passphrase on its first line.",
            ) from error
    elif descriptor is not None:
        try:
            with os.fdopen(descriptor, encoding="utf-8") as stream:
                text = stream.read()
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(
                f"The descriptor {descriptor} cannot be read: {error}.",
                remedy="Open it for reading before the call.",
            ) from error
    elif sys.stdin.isatty():
        text = getpass.getpass(prompt)
    else:
        raise UsageError(
            "The workspace needs a passphrase and there is no terminal to ask at.",
            remedy=f"Give --{flag}-file or --{flag}-fd.",
        )
    lines = text.splitlines()
    return lines[0] if lines else ""


def read_new_secret(
    file: Path | None, descriptor: int | None, prompt: str, *, flag: str = "passphrase"
) -> str:
    """A new secret as `read_secret` reads it; typed at a terminal, it is asked for twice.

    Raises
    ------
    UsageError
        When the two differ.
    """
    secret = read_secret(file, descriptor, prompt, flag=flag)
    typed = file is None and descriptor is None
    if typed and read_secret(None, None, "Once more: ", flag=flag) != secret:
        raise UsageError("The two passphrases differ.", remedy="Type the same one twice.")
    return secret


@contextmanager
def open_workspace(args: argparse.Namespace, *, write: bool = True) -> Iterator[Workspace]:
    """The workspace a verb works on; for reading only it opens beside a window too."""
    path: Path = args.workspace
    passphrase = read_passphrase(args) if inspect_file(path) == "encrypted" else None
    key_file = args.key_file if passphrase is not None else None
    try:
        workspace = Workspace.open(path, passphrase, key_file=key_file)
    except WorkspaceBusyError:
        if write:
            raise
        workspace = Workspace.open(path, passphrase, read_only=True, key_file=key_file)
    except (DamagedWorkspaceError, NotAWorkspaceError, NotFoundError) as error:
        newest = next(iter(list_backups(path)), None)
        if newest is not None:
            error.remedy = f"{error.remedy} The newest backup is '{newest.path}'."
        raise
    with workspace:
        for note in workspace.notes:
            print(f"rifugio: {note}", file=sys.stderr)
        if not workspace.read_only:
            workspace.transact_job("Recover jobs", "", recover_jobs)
        yield workspace


def print_result(args: argparse.Namespace, value: dict[str, Any], text: str) -> None:
    """JSON where it was asked for, else the human text."""
    print(json.dumps(value, ensure_ascii=False) if args.json else text)


class ProgressLine:
    """Counts, rate and time left on standard error: one moving line on a terminal, else a line a step."""

    def __init__(self, what: str, unit: str = "") -> None:
        self._what = what
        self._unit = unit
        self._start = time.monotonic()
        self._last = -1
        self._terminal = sys.stderr.isatty()

    def __call__(self, progress: Progress) -> None:
        if progress.done == self._last:
            return
        self._last = progress.done
        text = f"{self._what}: {progress.done:,}"
        if progress.total is not None:
            text += f" of {progress.total:,}"
        if self._unit:
            text += f" {self._unit}"
        if progress.failed:
            text += f", {progress.failed:,} failed"
        elapsed = time.monotonic() - self._start
        if progress.done and progress.total and elapsed > 0.5:
            left = (progress.total - progress.done) * elapsed / progress.done
            text += f", {progress.done / elapsed:.2f} a second, {_duration(left)} left"
        if self._terminal:
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
            if progress.total is not None and progress.done >= progress.total:
                print(file=sys.stderr)
        else:
            print(text, file=sys.stderr, flush=True)


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


@contextmanager
def cancel_on_interrupt() -> Iterator[Cancellation]:
    """Ctrl+C, or a polite kill, asks the work to stop and keeps what is done; a second one is final."""
    cancel = Cancellation()
    if threading.current_thread() is not threading.main_thread():
        yield cancel
        return

    def stop(number: int, frame: Any) -> None:
        if cancel.cancelled:
            raise KeyboardInterrupt
        print("\nStopping; what is done is kept.", file=sys.stderr)
        cancel.cancel()

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield cancel
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
