"""Sentence embeddings by ONNX Runtime: windows of tokens, mean-pooled, normalised."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from core.errors import BugError
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

#: all-MiniLM-L6-v2 was trained on, and reads, 256 tokens at most.
WINDOW_TOKENS = 256
_OVERLAP_TOKENS = 32


class EmbedEngine:
    """Arguments: path of the folder, id, name, sha256, file?, threads?, window?, pooling?."""

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        folder = Path(arguments["path"])
        config = read_model_config(folder)
        self._arguments = arguments
        self._session, self._device = open_session(
            folder / arguments.get("file", "model.onnx"), arguments.get("threads")
        )
        self._tokenizer = open_tokenizer(folder)
        self._pad = pad_token(self._tokenizer)
        self._pooling = arguments.get("pooling") or config.get("rifugio_pooling") or "mean"
        self._window = int(arguments.get("window") or config.get("rifugio_window") or WINDOW_TOKENS)
        self._dimensions = len(self._embed_encodings([self._encode("probe")])[0])

    def describe(self) -> dict[str, Any]:
        return describe(
            self._arguments,
            self._device,
            context_tokens=self._window,
            dimensions=self._dimensions,
        )

    def call(self, op: str, arguments: Mapping[str, Any], cancel: Cancellation, send: Send) -> Any:
        if op == "embed":
            return self._embed(arguments["texts"], cancel, send)
        if op == "embed_windows":
            return self._embed_windows(arguments["text"], cancel, send)
        raise BugError(f"An embedder cannot '{op}'.")

    def close(self) -> None:
        del self._session

    def _encode(self, text: str) -> Any:
        encoding = self._tokenizer.encode(text)
        if len(encoding.ids) > self._window:
            encoding.truncate(self._window)
            # The end mark goes with the cut; put back what the model was trained to see.
            special = self._tokenizer.encode("").ids
            if len(special) > 1:
                ids = list(encoding.ids)
                ids[-1] = special[-1]
                return _Encoding(ids, encoding.type_ids)
        return encoding

    def _embed(self, texts: Sequence[str], cancel: Cancellation, send: Send) -> list[list[float]]:
        encodings = [self._encode(text) for text in texts]
        return run_bucketed(
            [len(encoding.ids) for encoding in encodings],
            lambda indices: self._embed_encodings([encodings[i] for i in indices]),
            cancel,
            send,
        )

    def _embed_encodings(self, encodings: Sequence[Any]) -> list[list[float]]:
        hidden = feed(self._session, encodings, self._pad)[0].astype(np.float32)
        if hidden.ndim == 3:
            sizes = np.array([len(encoding.ids) for encoding in encodings])
            if self._pooling == "cls":
                hidden = hidden[:, 0]
            else:
                mask = (np.arange(hidden.shape[1]) < sizes[:, None]).astype(np.float32)
                hidden = (hidden * mask[:, :, None]).sum(axis=1) / sizes[:, None]
        norms = np.linalg.norm(hidden, axis=1, keepdims=True)
        return (hidden / np.maximum(norms, 1e-12)).tolist()  # type: ignore[no-any-return]

    def _embed_windows(self, text: str, cancel: Cancellation, send: Send) -> list[list[Any]]:
        """[start, end, vector] of each window; positions are code points, as tokenizers counts."""
        offsets = self._tokenizer.encode(text, add_special_tokens=False).offsets
        if not offsets:
            return []
        step = self._window - 2 - _OVERLAP_TOKENS
        spans = []
        for start in range(0, len(offsets), step):
            end = min(start + self._window - 2, len(offsets))
            spans.append((offsets[start][0], offsets[end - 1][1]))
            if end == len(offsets):
                break
        vectors = self._embed([text[start:end] for start, end in spans], cancel, send)
        return [[start, end, vector] for (start, end), vector in zip(spans, vectors, strict=True)]


class _Encoding:
    """Ids and type ids, as `feed` reads them."""

    def __init__(self, ids: Sequence[int], type_ids: Sequence[int]) -> None:
        self.ids = ids
        self.type_ids = type_ids
