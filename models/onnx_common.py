"""What the ONNX models share: sessions on the best device, tokenizing, batches of like length."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import onnxruntime as ort
from tokenizers import Tokenizer

from core.errors import InvalidModelError
from core.ports import Cancellation
from models.engines import Send
from models.memory import usable_cores

T = TypeVar("T")

# A GPU library that is not there is no news: the device in words says what is used.
ort.set_default_logger_severity(4)

_BATCH_TOKENS = 4_096
_LARGEST_BATCH = 64


def open_session(path: Path, threads: int | None = None) -> tuple[ort.InferenceSession, str]:
    """A session on CUDA where that works, else on the CPU, and the device in words.

    Raises
    ------
    InvalidModelError
        When ONNX Runtime cannot load the file.
    """
    if not path.is_file() or path.stat().st_size == 0:
        raise InvalidModelError(
            f"{path.name} is missing or empty in {path.parent.name}.", remedy="Import it again."
        )
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = threads or usable_cores()
    wanted = ["CUDAExecutionProvider", "CPUExecutionProvider"]
    available = [name for name in wanted if name in ort.get_available_providers()]
    try:
        try:
            session = ort.InferenceSession(str(path), options, providers=available)
        except Exception:
            if len(available) == 1:
                raise
            session = ort.InferenceSession(str(path), options, providers=available[-1:])
    except Exception as error:
        raise InvalidModelError(
            f"ONNX Runtime cannot load {path.name} of {path.parent.name}.",
            remedy="Check that the file is whole, and import it again.",
            details=str(error),
        ) from error
    cuda = "CUDAExecutionProvider" in session.get_providers()
    return session, f"ONNX Runtime on {'CUDA' if cuda else 'CPU'}"


def open_tokenizer(folder: Path) -> Tokenizer:
    """The tokenizer of an exported folder, without cutting or padding of its own."""
    path = folder / "tokenizer.json"
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:
        raise InvalidModelError(
            f"{folder.name} has no tokenizer.json that can be read.",
            remedy="Export the model with its fast tokenizer.",
            details=str(error),
        ) from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def bucket(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Indices in batches of like length, the longest first, so that little is padded."""
    order = sorted(range(len(lengths)), key=lambda index: -lengths[index])
    start = 0
    while start < len(order):
        longest = max(1, lengths[order[start]])
        size = max(1, min(_LARGEST_BATCH, _BATCH_TOKENS // longest))
        yield order[start : start + size]
        start += size


def feed(session: ort.InferenceSession, encodings: Sequence[Any], pad: int) -> list[np.ndarray]:
    """Run one batch of encodings; returns the session's outputs."""
    longest = max(len(encoding.ids) for encoding in encodings)
    shape = (len(encodings), longest)
    ids = np.full(shape, pad, dtype=np.int64)
    mask = np.zeros(shape, dtype=np.int64)
    types = np.zeros(shape, dtype=np.int64)
    for row, encoding in enumerate(encodings):
        size = len(encoding.ids)
        ids[row, :size] = encoding.ids
        mask[row, :size] = 1
        types[row, :size] = encoding.type_ids
    values = {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}
    names = {entry.name for entry in session.get_inputs()}
    outputs = session.run(None, {name: values[name] for name in names & values.keys()})
    return [np.asarray(output) for output in outputs]


def run_bucketed(
    lengths: Sequence[int],
    run: Callable[[list[int]], Sequence[T]],
    cancel: Cancellation,
    send: Send,
) -> list[T]:
    """Run batches of like length and put the results back in order, telling how far it is."""
    results: dict[int, T] = {}
    for indices in bucket(lengths):
        cancel.raise_if_cancelled()
        results.update(zip(indices, run(indices), strict=True))
        send("progress", [len(results), len(lengths), ""])
    return [results[index] for index in range(len(lengths))]


def pad_token(tokenizer: Tokenizer) -> int:
    """The id used for padding; masked out, so its value hardly matters."""
    for name in ("[PAD]", "<pad>", "<|endoftext|>"):
        found = tokenizer.token_to_id(name)
        if found is not None:
            return int(found)
    return 0


def describe(arguments: Mapping[str, Any], device: str, **more: Any) -> dict[str, Any]:
    """An engine's description in the shape of `core.ports.ModelInfo`."""
    return {
        "id": arguments.get("id", ""),
        "name": arguments.get("name", ""),
        "sha256": arguments.get("sha256", ""),
        "device": device,
        "details": {"onnxruntime": ort.__version__},
        **more,
    }
