"""The child process: one native model, asked over pipes. Started as ``python -m models.worker``.

Standard output belongs to the frames alone: whatever a library prints goes to standard error, where the
parent keeps the last lines. When the parent goes away, so does the worker.
"""

from __future__ import annotations

import os
import queue
import sys
import threading
from collections.abc import Callable
from typing import Any

from core.errors import BugError, Cancelled, KnownError
from core.offline import apply_offline_environment, install_offline_guard
from core.ports import Cancellation, Progress
from models.engines import Engine, load_engine
from models.framing import FrameWriter, FramingError, read_frame
from models.native_cancel import NativeCancellation

_LEAVE_SECONDS = 2.0


def main() -> int:
    """Serve until the parent closes the pipe."""
    apply_offline_environment()
    install_offline_guard()
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    # A stray print, from Python or from C, must not end up between frames.
    os.dup2(2, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    sys.stdout = sys.stderr
    _Worker(requests, answers).serve()
    return 0


class _Worker:
    def __init__(self, requests: Any, answers: Any) -> None:
        self._requests = requests
        self._writer = FrameWriter(answers)
        self._queue: queue.Queue[dict[str, Any]] = queue.Queue()
        self._cancels: dict[int, NativeCancellation] = {}
        self._engine: Engine | None = None

    def serve(self) -> None:
        threading.Thread(target=self._read, daemon=True, name="worker-reader").start()
        while True:
            message = self._queue.get()
            if message["op"] == "stop":
                break
            self._answer(message)
        if self._engine is not None:
            self._engine.close()

    def _read(self) -> None:
        while True:
            try:
                message = read_frame(self._requests)
            except (FramingError, OSError, ValueError):
                message = None
            if message is None:
                self._leave()
                return
            if message["op"] == "cancel":
                cancel_or_none = self._cancels.get(message["target"])
                if cancel_or_none is not None:
                    cancel_or_none.cancel()
                continue
            if "id" in message:
                self._cancels[message["id"]] = NativeCancellation()
            self._queue.put(message)

    def _leave(self) -> None:
        """The parent is gone or done: end what runs, and leave hard where native code does not end."""
        for cancel in tuple(self._cancels.values()):
            cancel.cancel()
        self._queue.put({"op": "stop"})
        timer = threading.Timer(_LEAVE_SECONDS, os._exit, (0,))
        timer.daemon = True
        timer.start()

    def _answer(self, message: dict[str, Any]) -> None:
        number = message["id"]
        cancel = self._cancels[number]
        try:
            result = self._run(message, cancel, self._sender(number))
        except KnownError as error:
            self._writer.write({"id": number, "event": "error", "error": describe_error(error)})
        except MemoryError:
            self._writer.write(
                {
                    "id": number,
                    "event": "error",
                    "error": {
                        "type": "MemoryShortageError",
                        "message": "There is not enough memory for the model.",
                        "remedy": "Close other programs, or use a smaller model.",
                    },
                }
            )
        except Exception as error:
            import traceback

            bug = BugError(
                f"The model's process met an error: {error}", details=traceback.format_exc()
            )
            self._writer.write({"id": number, "event": "error", "error": describe_error(bug)})
        else:
            self._writer.write({"id": number, "event": "result", "value": result})
        finally:
            self._cancels.pop(number, None)

    def _sender(self, number: int) -> Callable[[str, Any], None]:
        def send(event: str, value: Any) -> None:
            self._writer.write({"id": number, "event": event, "value": value})

        return send

    def _run(
        self, message: dict[str, Any], cancel: Cancellation, send: Callable[[str, Any], None]
    ) -> Any:
        arguments = message.get("arguments", {})
        if message["op"] == "load":
            if self._engine is not None:
                self._engine.close()
                self._engine = None
            self._engine = load_engine(arguments)
            return self._engine.describe()
        if message["op"] == "convert":
            from models.convert import convert_folder

            return convert_folder(
                arguments,
                progress=report_progress(send),
                cancel=cancel,
            )
        if self._engine is None:
            raise BugError("No model is loaded.")
        if cancel.cancelled:
            raise Cancelled
        return self._engine.call(message["op"], arguments, cancel, send)


def describe_error(error: Any) -> dict[str, Any]:
    """An error of ours as a message; `models.host` makes it again."""
    described = {
        "type": type(error).__name__,
        "message": error.message,
        "remedy": error.remedy,
        "details": error.details,
    }
    for name in ("prompt_tokens", "context_tokens"):
        if hasattr(error, name):
            described[name] = getattr(error, name)
    return described


def report_progress(send: Callable[[str, Any], None]) -> Callable[[Progress], None]:
    """A progress callback that goes over the pipe."""
    return lambda progress: send("progress", [progress.done, progress.total, progress.message])


if __name__ == "__main__":
    sys.exit(main())
