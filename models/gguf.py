"""Reading the header of a GGUF file, to say what a model is, or what is wrong with it, before loading it.

Format: github.com/ggml-org/ggml, docs/gguf.md (version 2 and 3, little-endian).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from core.errors import InvalidModelError

_MAGIC = b"GGUF"
_SCALARS = {
    0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?",
    10: "<Q", 11: "<q", 12: "<d",
}  # fmt: skip
_STRING, _ARRAY = 8, 9
_LARGEST_COUNT = 10_000_000
_KEPT_ARRAY = 64

#: ggml type: (values in a block, bytes of a block).
_BLOCKS = {
    0: (1, 4), 1: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34),
    9: (32, 36), 10: (256, 84), 11: (256, 110), 12: (256, 144), 13: (256, 176), 14: (256, 210),
    15: (256, 292), 16: (256, 66), 17: (256, 74), 18: (256, 98), 19: (256, 50), 20: (32, 18),
    21: (256, 110), 22: (256, 82), 23: (256, 136), 24: (1, 1), 25: (1, 2), 26: (1, 4), 27: (1, 8),
    28: (1, 8), 29: (256, 56), 30: (1, 2), 34: (256, 54), 35: (256, 66), 39: (32, 17),
}  # fmt: skip

_FILE_TYPES = {
    0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 7: "Q8_0", 8: "Q5_0", 9: "Q5_1", 10: "Q2_K",
    11: "Q3_K_S", 12: "Q3_K_M", 13: "Q3_K_L", 14: "Q4_K_S", 15: "Q4_K_M", 16: "Q5_K_S",
    17: "Q5_K_M", 18: "Q6_K", 32: "BF16",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class GgufInfo:
    """What a GGUF file says of itself. ``cache_bytes_per_token`` assumes a 16-bit key-value cache."""

    architecture: str
    name: str
    file_bytes: int
    context_tokens: int | None
    chat_template: str
    quantisation: str
    cache_bytes_per_token: int
    metadata: dict[str, Any] = field(default_factory=dict)


def read_gguf(path: Path) -> GgufInfo:
    """Read and check a GGUF file's header against its size.

    Raises
    ------
    InvalidModelError
        Empty, not GGUF, cut short, or not a language model.
    """
    try:
        size = path.stat().st_size
        with path.open("rb") as stream:
            return _read(stream, path, size)
    except OSError as error:
        raise InvalidModelError(
            f"{path} cannot be read: {error.strerror or error}.", remedy="Check the file's rights."
        ) from error
    except (struct.error, UnicodeDecodeError, EOFError, KeyError, OverflowError) as error:
        raise _cut_short(path, str(error)) from error


def _cut_short(path: Path, details: str) -> InvalidModelError:
    return InvalidModelError(
        f"{path.name} is cut short or damaged.",
        remedy="Copy or download it again, and compare its sha256.",
        details=details,
    )


def _read(stream: IO[bytes], path: Path, size: int) -> GgufInfo:
    if size == 0:
        raise InvalidModelError(f"{path.name} is empty.", remedy="Copy or download it again.")
    if stream.read(4) != _MAGIC:
        raise InvalidModelError(
            f"{path.name} is not a GGUF model.", remedy="Choose a file that ends in .gguf."
        )
    (version,) = struct.unpack("<I", _take(stream, 4))
    if version not in (2, 3):
        raise InvalidModelError(
            f"{path.name} is GGUF version {version}, which is not supported.",
            remedy="Convert it to version 3 with a current llama.cpp.",
        )
    tensors, entries = struct.unpack("<QQ", _take(stream, 16))
    if tensors > _LARGEST_COUNT or entries > _LARGEST_COUNT:
        raise EOFError("impossible counts in the header")
    metadata = {}
    for _ in range(entries):
        key = _string(stream)
        (kind,) = struct.unpack("<I", _take(stream, 4))
        metadata[key] = _value(stream, kind)
    needed = _tensor_bytes(stream, tensors)
    alignment = int(metadata.get("general.alignment", 32))
    start = -(-stream.tell() // alignment) * alignment
    if start + needed > size:
        raise _cut_short(path, f"{start + needed} bytes expected, {size} found")
    return _describe(metadata, path, size, tensors)


def _describe(metadata: dict[str, Any], path: Path, size: int, tensors: int) -> GgufInfo:
    architecture = str(metadata.get("general.architecture", ""))
    if not architecture or not tensors:
        raise InvalidModelError(
            f"{path.name} holds no language model.", remedy="Choose the model's main GGUF file."
        )

    def fact(name: str, default: int = 0) -> int:
        value = metadata.get(f"{architecture}.{name}", default)
        return max(value) if isinstance(value, list) and value else int(value or default)

    heads = fact("attention.head_count", 1) or 1
    kv_heads = fact("attention.head_count_kv", heads) or heads
    width = fact("embedding_length")
    head_width = fact("attention.key_length", width // heads)
    return GgufInfo(
        architecture=architecture,
        name=str(metadata.get("general.name", path.stem)),
        file_bytes=size,
        context_tokens=fact("context_length") or None,
        chat_template=str(metadata.get("tokenizer.chat_template", "")),
        quantisation=_FILE_TYPES.get(int(metadata.get("general.file_type", -1)), "mixed"),
        cache_bytes_per_token=2 * 2 * fact("block_count") * kv_heads * head_width,
        metadata={k: v for k, v in metadata.items() if not isinstance(v, list)},
    )


def _take(stream: IO[bytes], count: int) -> bytes:
    data = stream.read(count)
    if len(data) < count:
        raise EOFError("the file ends inside its header")
    return data


def _string(stream: IO[bytes]) -> str:
    (length,) = struct.unpack("<Q", _take(stream, 8))
    if length > _LARGEST_COUNT:
        raise EOFError("an impossible text length")
    return _take(stream, length).decode("utf-8", "replace")


def _value(stream: IO[bytes], kind: int) -> Any:
    if kind == _STRING:
        return _string(stream)
    if kind == _ARRAY:
        (inner, count) = struct.unpack("<IQ", _take(stream, 12))
        if count > _LARGEST_COUNT:
            raise EOFError("an impossible array length")
        values = [_value(stream, inner) for _ in range(count)]
        return values if count <= _KEPT_ARRAY else values[:_KEPT_ARRAY]
    layout = _SCALARS[kind]
    return struct.unpack(layout, _take(stream, struct.calcsize(layout)))[0]


def _tensor_bytes(stream: IO[bytes], count: int) -> int:
    """Where the last tensor's data ends, from the beginning of the data."""
    end = 0
    for _ in range(count):
        _string(stream)
        (dimensions,) = struct.unpack("<I", _take(stream, 4))
        if dimensions > 8:
            raise EOFError("an impossible tensor")
        shape = struct.unpack(f"<{dimensions}Q", _take(stream, 8 * dimensions))
        kind, offset = struct.unpack("<IQ", _take(stream, 12))
        values = 1
        for length in shape:
            values *= length
        per_block, block_bytes = _BLOCKS.get(kind, (1, 0))
        end = max(end, offset + values // per_block * block_bytes)
    return end
