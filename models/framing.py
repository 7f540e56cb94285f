"""Frames between the app and a worker: a four-byte little-endian length, then msgpack."""

from __future__ import annotations

import threading
from typing import IO, Any

import msgspec

#: No message is larger: a length beyond it means that the stream is not ours.
LARGEST_FRAME = 1 << 30


class FramingError(Exception):
    """The bytes are not a frame."""


def read_frame(stream: IO[bytes]) -> dict[str, Any] | None:
    """The next message, or None at the end of the stream."""
    head = stream.read(4)
    if len(head) < 4:
        return None
    size = int.from_bytes(head, "little")
    if size > LARGEST_FRAME:
        raise FramingError(f"a frame of {size} bytes")
    body = stream.read(size)
    if len(body) < size:
        return None
    try:
        message = msgspec.msgpack.decode(body)
    except msgspec.MsgspecError as error:
        raise FramingError(str(error)) from error
    if not isinstance(message, dict):
        raise FramingError("a message that is not a map")
    return message


class FrameWriter:
    """Writes whole frames from any thread."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._lock = threading.Lock()

    def write(self, message: dict[str, Any]) -> None:
        body = msgspec.msgpack.encode(message)
        with self._lock:
            self._stream.write(len(body).to_bytes(4, "little") + body)
            self._stream.flush()
