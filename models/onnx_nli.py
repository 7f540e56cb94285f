"""Natural language inference by any exported sequence-classification folder.

Labels are read from ``id2label`` in config.json; ``calibration_temperature`` there, where present,
divides the logits. A model that knows only entailment and not-entailment has its rest in 'neutral'.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

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
_ROLES = ("entailment", "neutral", "contradiction")


def read_labels(config: Mapping[str, Any], folder: str) -> dict[str, int]:
    """Which output column is which class.

    Raises
    ------
    InvalidModelError
        When no label is called entailment, so that the folder is something else.
    """
    columns: dict[str, int] = {}
    for index, name in (config.get("id2label") or {}).items():
        folded = str(name).casefold().replace("-", "_").replace(" ", "_")
        if folded.startswith(("not_entail", "non_entail")):
            columns["neutral"] = int(index)
        elif folded.startswith("entail"):
            columns["entailment"] = int(index)
        elif folded.startswith("neutral"):
            columns["neutral"] = int(index)
        elif folded.startswith("contra"):
            columns["contradiction"] = int(index)
    if "entailment" not in columns:
        raise InvalidModelError(
            f"{folder} names no 'entailment' label in config.json.",
            remedy="Set id2label there as the model was trained, for example 0: entailment.",
        )
    return columns


class EntailmentEngine:
    """Arguments: path of the folder, id, name, sha256, file?, threads?."""

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        folder = Path(arguments["path"])
        config = read_model_config(folder)
        self._arguments = arguments
        self._columns = read_labels(config, folder.name)
        self._temperature = float(config.get("calibration_temperature") or 1.0)
        self._longest = min(_LONGEST, int(config.get("max_position_embeddings") or _LONGEST))
        self._session, self._device = open_session(
            folder / arguments.get("file", "model.onnx"), arguments.get("threads")
        )
        self._tokenizer = open_tokenizer(folder)
        self._pad = pad_token(self._tokenizer)
        # The hypothesis is short and decides; what is cut is the end of the premise.
        self._tokenizer.enable_truncation(self._longest, strategy="only_first")

    def describe(self) -> dict[str, Any]:
        return describe(
            self._arguments,
            self._device,
            context_tokens=self._longest,
            has_contradiction="contradiction" in self._columns,
        )

    def call(self, op: str, arguments: Mapping[str, Any], cancel: Cancellation, send: Send) -> Any:
        if op == "entail":
            return self._entail(arguments["pairs"], cancel, send)
        raise BugError(f"An entailment model cannot '{op}'.")

    def close(self) -> None:
        del self._session

    def _encode(self, premise: str, hypothesis: str) -> Any:
        try:
            return self._tokenizer.encode(premise, hypothesis)
        except Exception:
            # The hypothesis alone is longer than the model reads: cut the longer of the two.
            self._tokenizer.enable_truncation(self._longest, strategy="longest_first")
            try:
                return self._tokenizer.encode(premise, hypothesis)
            finally:
                self._tokenizer.enable_truncation(self._longest, strategy="only_first")

    def _entail(
        self, pairs: Sequence[Sequence[str]], cancel: Cancellation, send: Send
    ) -> list[list[float]]:
        encodings = [self._encode(premise, hypothesis) for premise, hypothesis in pairs]
        return run_bucketed(
            [len(encoding.ids) for encoding in encodings],
            lambda indices: self._classify([encodings[i] for i in indices]),
            cancel,
            send,
        )

    def _classify(self, encodings: Sequence[Any]) -> list[list[float]]:
        logits = feed(self._session, encodings, self._pad)[0].astype(np.float64)
        logits /= self._temperature
        logits -= logits.max(axis=1, keepdims=True)
        weights = np.exp(logits)
        weights /= weights.sum(axis=1, keepdims=True)
        result = np.zeros((len(encodings), len(_ROLES)))
        for place, role in enumerate(_ROLES):
            if role in self._columns:
                result[:, place] = weights[:, self._columns[role]]
        # Classes beyond the three, if a model has any, count as neither.
        result[:, 1] += 1.0 - result.sum(axis=1)
        return result.tolist()
