"""The parent's side of a worker: start it, talk to it, notice its death, say why, start it again."""

from __future__ import annotations

import itertools
import os
import queue
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from core import errors
from core.errors import BugError, KnownError, WorkerDiedError
from core.ports import Cancellation
from models.framing import FrameWriter, FramingError, read_frame

EventCallback = Callable[[str, Any], None]

_STDERR_LINES = 60
_POLL_SECONDS = 0.02
_STOP_SECONDS = 3.0


def worker_command() -> list[str]:
    """How to start a worker: this program again, frozen or not."""
    if getattr(sys, "frozen", False):
        return [sys.executable, "--worker"]
    return [sys.executable, "-m", "models.worker"]


def worker_environment() -> dict[str, str]:
    """The child's environment: ours, with the project importable from wherever it was started."""
    environment = dict(os.environ)
    if not getattr(sys, "frozen", False):
        root = str(Path(__file__).resolve().parent.parent)
        others = environment.get("PYTHONPATH")
        # A folder called 'models' where the person happens to be must not pass for ours.
        environment["PYTHONSAFEPATH"] = "1"
        environment["PYTHONPATH"] = os.pathsep.join([root, others] if others else [root])
    return environment


class WorkerHost:
    """One child process. Calls may come from any thread; the child answers them one after another.

    Parameters
    ----------
    command
        How to start it; `worker_command` unless a test says otherwise.
    """

    def __init__(self, command: Sequence[str] | None = None) -> None:
        self._command = list(command or worker_command())
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._running: _Running | None = None
        self.starts = 0

    @property
    def alive(self) -> bool:
        running = self._running
        return running is not None and running.process.poll() is None and not running.ended.is_set()

    @property
    def pid(self) -> int | None:
        """The child's process id while it lives."""
        return self._running.process.pid if self.alive and self._running else None

    def call(
        self,
        op: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        on_event: EventCallback | None = None,
        cancel: Cancellation | None = None,
    ) -> Any:
        """Ask the worker and wait for its answer, starting it where it is not running.

        Raises
        ------
        WorkerDiedError
            When the process ends before it has answered.
        RifugioError
            Whatever the worker itself raised.
        """
        running = self._ensure()
        number = next(self._numbers)
        events: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        running.pending[number] = events
        told = answered = False
        try:
            if running.ended.is_set():
                raise running.death()
            try:
                running.writer.write({"id": number, "op": op, "arguments": dict(arguments or {})})
            except (OSError, ValueError):
                raise running.death() from None
            while True:
                if cancel is not None and cancel.cancelled and not told:
                    told = True
                    running.send({"op": "cancel", "target": number})
                try:
                    message = events.get(timeout=_POLL_SECONDS if cancel is not None else None)
                except queue.Empty:
                    continue
                if message is None:
                    answered = True
                    raise running.death()
                if message["event"] == "result":
                    answered = True
                    return message["value"]
                if message["event"] == "error":
                    answered = True
                    raise restore_error(message["error"])
                if on_event is not None:
                    on_event(message["event"], message["value"])
        finally:
            running.pending.pop(number, None)
            if not answered and not told:
                # Nobody waits any more (an interrupt, or `on_event` raised): do not go on working.
                running.send({"op": "cancel", "target": number})

    def close(self) -> None:
        """End the child and wait for it."""
        with self._lock:
            running, self._running = self._running, None
        if running is not None:
            running.stop()

    def _ensure(self) -> _Running:
        with self._lock:
            if self._running is not None and not self.alive:
                self._running.stop()
                self._running = None
            if self._running is None:
                self._running = _Running(self._command)
                self.starts += 1
            return self._running


class _Running:
    """A started child with the threads that read its pipes."""

    def __init__(self, command: Sequence[str]) -> None:
        creation = getattr(subprocess, "CREATE_NO_WINDOW", 0)
        try:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=worker_environment(),
                creationflags=creation,
                # Ctrl+C in a terminal stops the app, which then cancels in good order.
                start_new_session=os.name == "posix",
            )
        except OSError as error:
            raise WorkerDiedError(
                f"The model's process could not be started: {error.strerror}.",
                remedy="Check the installation.",
            ) from error
        assert self.process.stdin
        assert self.process.stdout
        self.writer = FrameWriter(self.process.stdin)
        self.pending: dict[int, queue.SimpleQueue[dict[str, Any] | None]] = {}
        self.ended = threading.Event()
        self._stopping = False
        self._stderr: deque[str] = deque(maxlen=_STDERR_LINES)
        self._threads = [
            threading.Thread(target=target, daemon=True, name=name)
            for target, name in (
                (self._read_answers, "worker-answers"),
                (self._read_stderr, "worker-stderr"),
            )
        ]
        for thread in self._threads:
            thread.start()

    def send(self, message: dict[str, Any]) -> None:
        """Write a message that needs no answer; a dead child is noticed elsewhere."""
        try:
            self.writer.write(message)
        except (OSError, ValueError):
            pass

    def death(self) -> WorkerDiedError:
        """What to say of a child that ended."""
        try:
            code = self.process.wait(timeout=_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        self._threads[1].join(timeout=1.0)
        if code < 0:
            try:
                reason = f"was ended by the signal {signal.Signals(-code).name}"
            except ValueError:
                reason = f"was ended by signal {-code}"
            if code == -9:
                reason += ", as happens when memory runs out"
        else:
            reason = f"ended with code {code}"
        return WorkerDiedError(
            f"The model's process {reason}.",
            remedy="It is started again by itself. If this repeats, use a smaller model.",
            details="\n".join(self._stderr),
        )

    def stop(self) -> None:
        """Close the pipe, and end the child if it does not go by itself."""
        process = self.process
        assert process.stdin
        assert process.stdout
        assert process.stderr
        try:
            process.stdin.close()
        except OSError:
            pass
        try:
            process.wait(timeout=_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        for thread in self._threads:
            thread.join(timeout=_STOP_SECONDS)
        process.stdout.close()
        process.stderr.close()

    def _read_answers(self) -> None:
        assert self.process.stdout
        try:
            while True:
                message = read_frame(self.process.stdout)
                if message is None:
                    break
                events = self.pending.get(message["id"])
                if events is not None:
                    events.put(message)
        except (FramingError, OSError, ValueError) as error:
            self._stderr.append(f"unreadable answer: {error}")
            self.process.kill()
        finally:
            self.ended.set()
            for events in tuple(self.pending.values()):
                events.put(None)

    def _read_stderr(self) -> None:
        assert self.process.stderr
        try:
            for line in self.process.stderr:
                self._stderr.append(line.decode("utf-8", "replace").rstrip())
        except (OSError, ValueError):
            pass


def restore_error(described: Mapping[str, Any]) -> Exception:
    """The error a worker described (`models.worker.describe_error`)."""
    kind = getattr(errors, described["type"], None)
    if not isinstance(kind, type) or not issubclass(kind, errors.RifugioError):
        kind = BugError
    keywords = {
        name: described[name]
        for name in ("remedy", "details", "prompt_tokens", "context_tokens")
        if name in described
    }
    try:
        error: Exception = kind(described["message"], **keywords)
    except TypeError:
        error = KnownError(described["message"], remedy=described.get("remedy", ""))
    return error
