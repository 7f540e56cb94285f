"""Talking to the person at set-up: steps with their time, one sentence for a failure."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

#: Lines of a failed command that are shown.
_TAIL = 25
#: Seconds between signs of life of a long command, where the output is not a terminal.
_SIGN_OF_LIFE = 60.0


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
    """Run a command with signs of life; when it fails, show the end of what it printed.

    Raises
    ------
    SetupError
        With ``what`` and ``remedy``.
    """
    try:
        process = subprocess.Popen(
            [str(part) for part in command],
            env=dict(env) if env is not None else None,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
    except OSError as error:
        raise SetupError(f"{what} could not start: {error}. {remedy}".strip()) from error
    lines: deque[str] = deque(maxlen=_TAIL)
    reader = threading.Thread(target=_keep_tail, args=(process, lines), daemon=True)
    reader.start()
    try:
        _wait(process, lines)
    except BaseException:
        process.kill()
        process.wait()
        raise
    reader.join()
    if process.returncode != 0:
        say("\n".join(lines))
        raise SetupError(f"{what} failed (exit code {process.returncode}). {remedy}".strip())


def _keep_tail(process: subprocess.Popen[str], lines: deque[str]) -> None:
    assert process.stdout is not None
    with process.stdout as stream:
        for line in stream:
            if line.strip():
                lines.append(line.rstrip())


def _wait(process: subprocess.Popen[str], lines: deque[str]) -> None:
    """Until the process ends: a line that renews itself on a terminal, else one now and then."""
    terminal = sys.stderr.isatty()
    start = said = time.monotonic()
    while True:
        try:
            process.wait(timeout=1.0)
            break
        except subprocess.TimeoutExpired:
            now = time.monotonic()
            last = lines[-1].strip()[:80] if lines else ""
            if terminal:
                sys.stderr.write(f"\r\x1b[K   {now - start:.0f} s  {last}")
                sys.stderr.flush()
            elif now - said >= _SIGN_OF_LIFE:
                said = now
                say(f"   {now - start:.0f} s  {last}")
    if terminal:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()
