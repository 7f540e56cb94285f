"""Talking to the person at set-up: steps with their time, one sentence for a failure."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path


class SetupError(Exception):
    """Something the person has to do; the message says what."""


def say(text: str) -> None:
    """One line on standard error, at once."""
    print(text, file=sys.stderr, flush=True)


@contextmanager
def step(what: str) -> Iterator[None]:
    """Say what begins and how long it took."""
    say(f"-> {what} ...")
    start = time.monotonic()
    yield
    say(f"   done in {time.monotonic() - start:.0f} s")


def run(
    command: Sequence[str | Path],
    *,
    what: str,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    remedy: str = "",
) -> None:
    """Run a command; when it fails, show the end of what it printed.

    Raises
    ------
    SetupError
        With ``what`` and ``remedy``.
    """
    done = subprocess.run(
        [str(part) for part in command],
        env=dict(env) if env is not None else None,
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode != 0:
        say("\n".join(done.stdout.splitlines()[-25:]))
        raise SetupError(f"{what} failed (exit code {done.returncode}). {remedy}".strip())
