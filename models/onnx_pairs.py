"""A number for a pair of texts by any exported regression folder: rerankers, learned metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from core.errors import BugError, InvalidModelError
from core.ports import Cancellation
from models.engines import Send
from models.model_config import read_model_config
from models.onnx_common import (
    describe,
    feed,
    open_session,
    open_tokenizer,
    pad_token,
    run_bucketed,
)

_LONGEST = 512


class PairEngine:
    """Arguments: path of the folder, id, name, sha256, file?, threads?."""

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        folder = Path(arguments["path"])
        config = read_model_config(folder)
        self._arguments = arguments
        self._session, self._device = open_session(
            folder / arguments.get("file", "model.onnx"), arguments.get("threads")
        )
        self._tokenizer = open_tokenizer(folder)
        self._pad = pad_token(self._tokenizer)
        longest = min(_LONGEST, int(config.get("max_position_embeddings") or _LONGEST))
        self._tokenizer.enable_truncation(longest, strategy="longest_first")
        probe = feed(self._session, [self._tokenizer.encode("a", "b")], self._pad)[0]
        if probe.reshape(1, -1).shape[1] != 1:
            raise InvalidModelError(
                f"{folder.name} gives {probe.reshape(1, -1).shape[1]} numbers for a pair, not one.",
                remedy="Import a model with one output, such as a reranker.",
            )

    def describe(self) -> dict[str, Any]:
        return describe(self._arguments, self._device)

    def call(self, op: str, arguments: Mapping[str, Any], cancel: Cancellation, send: Send) -> Any:
        if op == "score":
            return self._score(arguments["pairs"], cancel, send)
        raise BugError(f"A pair scorer cannot '{op}'.")

    def close(self) -> None:
        del self._session

    def _score(
        self, pairs: Sequence[Sequence[str]], cancel: Cancellation, send: Send
    ) -> list[float]:
        encodings = [self._tokenizer.encode(left, right) for left, right in pairs]
        return run_bucketed(
            [len(encoding.ids) for encoding in encodings],
            lambda indices: (
                feed(self._session, [encodings[i] for i in indices], self._pad)[0]
                .reshape(-1)
                .tolist()
            ),
            cancel,
            send,
        )
