"""Reading the header of a GGUF file, to say what a model is, or what is wrong with it, before loading it.

Format: github.com/ggml-org/ggml, docs/gguf.md (version 2 and 3, little-endian).
"""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

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

#: Architectures that embed or encode and write nothing.
_ENCODERS = frozenset(
    {
        "bert", "modern-bert", "nomic-bert", "nomic-bert-moe", "neo-bert", "jina-bert-v2",
        "jina-bert-v3", "eurobert", "t5encoder", "gemma-embedding", "clip", "wavtokenizer-dec",
    }
)  # fmt: skip

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
    layers: int = 0
    metadata: dict[str, Any] = field(default_factory=dict)


def read_gguf(path: Path) -> GgufInfo:
    """Read and check a GGUF file's header against its size. An unchanged file is read once.

    Raises
    ------
    InvalidModelError
        Empty, not GGUF, cut short, a part of a divided model, or not a language model.
    """
    try:
        status = path.stat()
        return _read_cached(path, status.st_size, status.st_mtime_ns)
    except OSError as error:
        raise InvalidModelError(
            f"{path} cannot be read: {error.strerror or error}.", remedy="Check the file's rights."
        ) from error


@lru_cache(maxsize=64)
def _read_cached(path: Path, size: int, changed: int) -> GgufInfo:
    if size == 0:
        raise InvalidModelError(f"{path.name} is empty.", remedy="Copy or download it again.")
    with (
        path.open("rb") as stream,
        mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data,
    ):
        try:
            return _read(_Cursor(data), path, size)
        except (struct.error, EOFError, KeyError, OverflowError, ValueError) as error:
            raise _cut_short(path, str(error)) from error


def _cut_short(path: Path, details: str) -> InvalidModelError:
    return InvalidModelError(
        f"{path.name} is cut short or damaged.",
        remedy="Copy or download it again, and compare its sha256.",
        details=details,
    )


class _Cursor:
    """A place in the file's bytes that moves on as values are taken."""

    def __init__(self, data: mmap.mmap) -> None:
        self._data = data
        self.place = 0

    def take(self, count: int) -> bytes:
        end = self.place + count
        if end > len(self._data):
            raise EOFError("the file ends inside its header")
        taken = self._data[self.place : end]
        self.place = end
        return taken

    def number(self, layout: str) -> Any:
        return struct.unpack(layout, self.take(struct.calcsize(layout)))[0]

    def text(self) -> str:
        length = self.number("<Q")
        if length > _LARGEST_COUNT:
            raise EOFError("an impossible text length")
        return self.take(length).decode("utf-8", "replace")

    def skip_texts(self, count: int) -> None:
        """Move past ``count`` texts: a vocabulary has hundreds of thousands."""
        data, place, end = self._data, self.place, len(self._data)
        unpack = struct.Struct("<Q").unpack_from
        for _ in range(count):
            place += 8 + unpack(data, place)[0]
            if place > end:
                raise EOFError("the file ends inside its header")
        self.place = place

    def value(self, kind: int) -> Any:
        if kind == _STRING:
            return self.text()
        if kind != _ARRAY:
            return self.number(_SCALARS[kind])
        inner, count = self.number("<I"), self.number("<Q")
        if count > _LARGEST_COUNT:
            raise EOFError("an impossible array length")
        kept = [self.value(inner) for _ in range(min(count, _KEPT_ARRAY))]
        rest = count - len(kept)
        if inner == _STRING:
            self.skip_texts(rest)
        elif inner == _ARRAY:
            for _ in range(rest):
                self.value(inner)
        else:
            self.take(rest * struct.calcsize(_SCALARS[inner]))
        return kept


def _read(cursor: _Cursor, path: Path, size: int) -> GgufInfo:
    if cursor.take(min(4, size)) != _MAGIC:
        raise InvalidModelError(
            f"{path.name} is not a GGUF model.", remedy="Choose a file that ends in .gguf."
        )
    version = cursor.number("<I")
    if version not in (2, 3):
        raise InvalidModelError(
            f"{path.name} is GGUF version {version}, which is not supported.",
            remedy="Convert it to version 3 with a current llama.cpp.",
        )
    tensors, entries = cursor.number("<Q"), cursor.number("<Q")
    if tensors > _LARGEST_COUNT or entries > _LARGEST_COUNT:
        raise EOFError("impossible counts in the header")
    metadata = {}
    for _ in range(entries):
        key = cursor.text()
        metadata[key] = cursor.value(cursor.number("<I"))
    needed = _tensor_bytes(cursor, tensors)
    alignment = max(1, int(metadata.get("general.alignment", 32)))
    start = -(-cursor.place // alignment) * alignment
    _require_language_model(metadata, path, tensors)
    if start + needed > size:
        raise _cut_short(path, f"{start + needed} bytes expected, {size} found")
    return _describe(metadata, path, size)


def _require_language_model(metadata: dict[str, Any], path: Path, tensors: int) -> None:
    architecture = str(metadata.get("general.architecture", ""))
    kind = str(metadata.get("general.type", "model"))
    if not architecture or not tensors or kind != "model":
        what = "" if kind == "model" else f" (it says it is '{kind}')"
        raise InvalidModelError(
            f"{path.name} holds no language model{what}.",
            remedy="Choose the model's main GGUF file.",
        )
    if architecture in _ENCODERS:
        raise InvalidModelError(
            f"{path.name} is a '{architecture}' model, which reads text but writes none.",
            remedy="For search and entailment import the model's ONNX or "
            "sentence-transformers folder.",
        )
    parts = int(metadata.get("split.count", 1) or 1)
    if parts > 1:
        raise InvalidModelError(
            f"{path.name} is one of {parts} parts of a model.",
            remedy="Join them with 'llama-gguf-split --merge', then import the whole.",
        )


def _describe(metadata: dict[str, Any], path: Path, size: int) -> GgufInfo:
    architecture = str(metadata["general.architecture"])

    def fact(name: str, default: int = 0) -> int:
        value = metadata.get(f"{architecture}.{name}", default)
        return max(value) if isinstance(value, list) and value else int(value or default)

    heads = fact("attention.head_count", 1) or 1
    kv_heads = fact("attention.head_count_kv", heads) or heads
    key_width = fact("attention.key_length", fact("embedding_length") // heads)
    value_width = fact("attention.value_length", key_width)
    layers = fact("block_count")
    return GgufInfo(
        architecture=architecture,
        name=str(metadata.get("general.name") or path.stem),
        file_bytes=size,
        context_tokens=fact("context_length") or None,
        chat_template=str(metadata.get("tokenizer.chat_template", "")),
        quantisation=_FILE_TYPES.get(int(metadata.get("general.file_type", -1)), "mixed"),
        cache_bytes_per_token=2 * layers * kv_heads * (key_width + value_width),
        layers=layers,
        metadata={k: v for k, v in metadata.items() if not isinstance(v, list)},
    )


def _tensor_bytes(cursor: _Cursor, count: int) -> int:
    """Where the last tensor's data ends, from the beginning of the data."""
    end = 0
    for _ in range(count):
        cursor.text()
        dimensions = cursor.number("<I")
        if dimensions > 8:
            raise EOFError("an impossible tensor")
        values = 1
        for _ in range(dimensions):
            values *= cursor.number("<Q")
        kind, offset = cursor.number("<I"), cursor.number("<Q")
        per_block, block_bytes = _BLOCKS.get(kind, (1, 0))
        end = max(end, offset + values // per_block * block_bytes)
    return end
