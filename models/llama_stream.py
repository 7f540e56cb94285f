"""Bytes of generated tokens to text: whole characters, reasoning apart, stop texts never shown."""

from __future__ import annotations

import codecs
import time

from models.engines import Send
from models.reasoning import ReasoningSplitter

#: Text is sent at most this often: a frame a token would take time from the model on a small machine.
_SEND_SECONDS = 0.03


class TokenStream:
    """Collects an answer and sends it in pieces.

    Parameters
    ----------
    stop
        Texts that end the answer.
    inside
        True when the prompt already opened a reasoning trace.
    """

    def __init__(self, send: Send, stop: tuple[str, ...], *, inside: bool) -> None:
        self._send = send
        self._stop = stop
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._splitter = ReasoningSplitter(inside=inside)
        self._held = ""
        self._parts: tuple[list[str], list[str]] = ([], [])
        self._waiting = ""
        self._waiting_thinks = False
        self._sent_at = 0.0

    @property
    def text(self) -> str:
        return "".join(self._parts[0])

    @property
    def thinking(self) -> str:
        return "".join(self._parts[1])

    def add(self, data: bytes) -> bool:
        """Take a token's bytes; True when a stop text was reached."""
        self._held += self._decoder.decode(data)
        found = [at for at in (self._held.find(stop) for stop in self._stop) if at >= 0]
        if found:
            self._release(self._held[: min(found)])
            self._held = ""
            return True
        keep = max((len(stop) - 1 for stop in self._stop), default=0)
        if len(self._held) > keep:
            cut = len(self._held) - keep
            self._release(self._held[:cut])
            self._held = self._held[cut:]
        return False

    def finish(self, *, stopped: bool = False) -> None:
        """Send what was held back. After a stop text there is nothing more to come."""
        rest = self._decoder.decode(b"", True)
        self._release(self._held if stopped else self._held + rest)
        self._held = ""
        for piece in self._splitter.finish():
            self._emit(piece.text, piece.thinking)
        self._flush()

    def _release(self, text: str) -> None:
        for piece in self._splitter.feed(text) if text else ():
            self._emit(piece.text, piece.thinking)

    def _emit(self, text: str, thinking: bool) -> None:
        self._parts[thinking].append(text)
        if thinking != self._waiting_thinks:
            self._flush()
            self._waiting_thinks = thinking
        self._waiting += text
        if time.monotonic() - self._sent_at >= _SEND_SECONDS:
            self._flush()

    def _flush(self) -> None:
        if self._waiting:
            self._send("piece", [self._waiting, self._waiting_thinks])
            self._waiting = ""
            self._sent_at = time.monotonic()
