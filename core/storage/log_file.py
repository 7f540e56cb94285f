"""Looking at a write-ahead log before SQLite does.

SQLite takes a log up to the first frame whose checksum is wrong and drops the rest without a word.
After a power cut that is right: what was dropped had never been called saved. After damage it is not,
and the two can be told apart.

Source: 'The SQLite database file format', section 4.
"""

from __future__ import annotations

import struct
import sys
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

_HEADER = 32
_FRAME_HEADER = 24
_MAGIC = (0x377F0682, 0x377F0683)


@dataclass(frozen=True, slots=True)
class LogState:
    """What a log holds.

    Parameters
    ----------
    kept
        Transactions SQLite will take.
    dropped
        Transactions written after the first broken frame, which SQLite will pass over.
    torn
        Whether something unfinished follows the last whole transaction.
    unreadable
        Whether not even its beginning makes sense, so that nothing of it is taken.
    short
        Whether its index, which is written after the log is on the disk, tells of more than there is.
    """

    kept: int = 0
    dropped: int = 0
    torn: bool = False
    unreadable: bool = False
    short: bool = False

    @property
    def damaged(self) -> bool:
        """Whether saved work is lost with it: more was dropped than one power cut can break."""
        return self.unreadable or self.short or self.dropped > 1


def inspect_log(path: Path, index: Path | None = None) -> LogState:
    """Read a log, and its index where there is one, without changing them.

    An absent or empty log holds nothing. Nobody may be writing to it meanwhile.
    """
    data = _read(path)
    frames, salts, folded_in = _read_index(b"" if index is None else _read(index))
    if not data:
        return LogState(short=frames > folded_in)
    state, kept_frames = _read_log(data)
    if salts and salts == data[16:24] and frames > kept_frames:
        return replace(state, short=True)
    return state


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


def _read_index(data: bytes) -> tuple[int, bytes, int]:
    """Number of committed frames, the salts of their log, and how many are in the file already.

    The index is in the machine's byte order.
    """
    if len(data) < 100 or data[:48] != data[48:96]:
        return 0, b"", 0
    frames, folded_in = (
        int.from_bytes(data[place : place + 4], sys.byteorder) for place in (16, 96)
    )
    return frames, data[32:40], folded_in


def _read_log(data: bytes) -> tuple[LogState, int]:
    """The state, and how many frames lie up to the end of the last whole transaction."""
    if len(data) < _HEADER:
        return LogState(torn=True), 0
    magic, _version, page_size = struct.unpack_from(">III", data, 0)
    salts = data[16:24]
    if magic not in _MAGIC or page_size not in (1, *(1 << n for n in range(9, 16))):
        return LogState(unreadable=len(data) > _HEADER), 0
    page_size = 65536 if page_size == 1 else page_size
    order = ">" if magic & 1 else "<"
    sums = _checksum(data[:24], (0, 0), order)
    if sums != struct.unpack_from(">II", data, 24):
        return LogState(unreadable=len(data) > _HEADER), 0
    kept = dropped = kept_frames = 0
    broken = False
    pending = False
    size = _FRAME_HEADER + page_size
    place = _HEADER
    while place + size <= len(data):
        header = data[place : place + _FRAME_HEADER]
        commit = header[4:8] != b"\0\0\0\0"
        if header[8:16] == salts:
            if not broken:
                after = _checksum(header[:8], sums, order)
                after = _checksum(data[place + _FRAME_HEADER : place + size], after, order)
                broken = after != struct.unpack_from(">II", header, 16)
                sums = after
            if broken:
                dropped += commit
                pending = True
            else:
                kept += commit
                pending = not commit
                if commit:
                    kept_frames = (place - _HEADER) // size + 1
        elif not broken:
            # The rest may be left over from before the log was begun anew; a frame of this log
            # further on shows that it is not.
            broken = True
        place += size
    return LogState(kept=kept, dropped=dropped, torn=pending or dropped > 0), kept_frames


def _checksum(data: bytes, start: tuple[int, int], order: str) -> tuple[int, int]:
    """SQLite's running sums over pairs of 32-bit words: ``a += x + b; b += y + a``, modulo 2**32."""
    import numpy

    words = numpy.frombuffer(data, dtype=f"{order}u4").astype(numpy.uint64)
    weights, step = _weights(len(words) // 2)
    # Each step is linear, so all of them together are one weighted sum.
    mask = 0xFFFFFFFF
    first = int((weights[0] * words).sum() & mask)
    second = int((weights[1] * words).sum() & mask)
    a, b = start
    return (first + step[0] * a + step[1] * b) & mask, (second + step[2] * a + step[3] * b) & mask


@cache
def _weights(pairs: int) -> tuple[Any, tuple[int, int, int, int]]:
    """How much each word, and the start, counts for the two sums after so many pairs."""
    import numpy

    mask = 0xFFFFFFFF
    rows = numpy.zeros((2, 2 * pairs), dtype=numpy.uint64)
    # The matrix of the steps still to come, as ((p, q), (r, s)); at the end it is that of them all.
    p, q, r, s = 1, 0, 0, 1
    for number in range(pairs - 1, -1, -1):
        # A pair adds (x, x + y) to (a, b) before the steps that follow it.
        rows[0, 2 * number] = (p + q) & mask
        rows[0, 2 * number + 1] = q
        rows[1, 2 * number] = (r + s) & mask
        rows[1, 2 * number + 1] = s
        # One more step in front: (a, b) -> (a + b, a + 2b).
        p, q = (p + q) & mask, (p + 2 * q) & mask
        r, s = (r + s) & mask, (r + 2 * s) & mask
    return rows, (p, q, r, s)
