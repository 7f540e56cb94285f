"""Exporting a sentence-transformers folder to ONNX with torch, and measuring that both agree.

Imported only inside a worker that converts: it is the one place that needs torch.
"""

from __future__ import annotations

import json
import shutil
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sentence_transformers import CrossEncoder, SentenceTransformer

from core.errors import InvalidModelError
from core.ports import Cancellation, Progress, ProgressCallback
from models.model_config import read_model_config
from models.parity import PROBE_PAIRS, PROBE_SENTENCES

_OPSET = 18
_LEAST_COSINE = 0.999
_LARGEST_DIFFERENCE = 1e-2


def export_folder(
    source: Path,
    target: Path,
    *,
    role: str,
    progress: ProgressCallback,
    cancel: Cancellation,
) -> dict[str, Any]:
    """Export ``source`` into ``target``; returns format, role, and the parity in words.

    Raises
    ------
    InvalidModelError
        When the folder cannot be loaded or the export does not agree with it.
    """
    config = read_model_config(source)
    classifies = "SequenceClassification" in " ".join(config.get("architectures") or ())
    progress(Progress(0, 3, message="Loading"))
    try:
        if classifies:
            return _export_cross_encoder(source, target, config, progress, cancel)
        return _export_embedder(source, target, progress, cancel)
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise InvalidModelError(
            f"{source.name} cannot be converted.",
            remedy="Check that the folder is complete, and that it is a sentence-transformers model.",
            details=str(error),
        ) from error


def _export_embedder(
    source: Path, target: Path, progress: ProgressCallback, cancel: Cancellation
) -> dict[str, Any]:
    model = SentenceTransformer(str(source), device="cpu", local_files_only=True)
    transformer = model[0]
    pooling = getattr(model[1], "pooling_mode", "mean") if len(model) > 1 else "mean"
    pooling = pooling if isinstance(pooling, str) else "mean"
    if pooling not in ("mean", "cls"):
        raise InvalidModelError(
            f"The model pools by '{pooling}'.", remedy="Mean and first-token pooling are supported."
        )
    cancel.raise_if_cancelled()
    progress(Progress(1, 3, message="Exporting"))
    _export(transformer.auto_model, model.tokenizer, target / "model.onnx", "last_hidden_state")
    _copy_tokenizer(model.tokenizer, source, target)
    config = read_model_config(source)
    config |= {"rifugio_pooling": pooling, "rifugio_window": int(model.max_seq_length or 256)}
    _write_config(target, config)
    cancel.raise_if_cancelled()
    progress(Progress(2, 3, message="Comparing"))
    from models.onnx_embed import EmbedEngine

    wanted = np.asarray(model.encode(list(PROBE_SENTENCES), normalize_embeddings=True))
    engine = EmbedEngine({"path": str(target), "file": "model.onnx"})
    written = np.asarray(
        engine.call("embed", {"texts": list(PROBE_SENTENCES)}, cancel, _ignore_event)
    )
    engine.close()
    cosine = float((wanted * written).sum(axis=1).min())
    if cosine < _LEAST_COSINE:
        raise InvalidModelError(
            f"The converted model does not agree with the original (cosine {cosine:.4f}).",
            remedy="Export it with other tools and import the ONNX folder.",
        )
    return {
        "format": "onnx-embedder",
        "role": "embedder",
        "parity": f"Converted; least cosine with the original {cosine:.6f}.",
    }


def _export_cross_encoder(
    source: Path,
    target: Path,
    config: dict[str, Any],
    progress: ProgressCallback,
    cancel: Cancellation,
) -> dict[str, Any]:
    model = CrossEncoder(str(source), device="cpu", local_files_only=True)
    cancel.raise_if_cancelled()
    progress(Progress(1, 3, message="Exporting"))
    _export(model.model, model.tokenizer, target / "model.onnx", "logits")
    _copy_tokenizer(model.tokenizer, source, target)
    _write_config(target, config)
    cancel.raise_if_cancelled()
    progress(Progress(2, 3, message="Comparing"))
    wanted = model.predict(
        [list(pair) for pair in PROBE_PAIRS],
        activation_fn=torch.nn.Identity(),
        show_progress_bar=False,
    )
    written = _run_pairs(target, len(np.asarray(wanted).reshape(len(PROBE_PAIRS), -1)[0]))
    difference = float(np.abs(np.asarray(wanted).reshape(written.shape) - written).max())
    if difference > _LARGEST_DIFFERENCE:
        raise InvalidModelError(
            f"The converted model does not agree with the original (off by {difference:.4f}).",
            remedy="Export it with other tools and import the ONNX folder.",
        )
    labels = {str(label).casefold() for label in (config.get("id2label") or {}).values()}
    nli = any(label.startswith("entail") for label in labels)
    return {
        "format": "onnx-nli" if nli else "onnx-pair",
        "role": "nli" if nli else "reranker",
        "parity": f"Converted; largest difference of an output from the original {difference:.6f}.",
    }


def _run_pairs(folder: Path, width: int) -> np.ndarray:
    from models.onnx_common import feed, open_session, open_tokenizer, pad_token

    session, _ = open_session(folder / "model.onnx")
    tokenizer = open_tokenizer(folder)
    encodings = [tokenizer.encode(left, right) for left, right in PROBE_PAIRS]
    return feed(session, encodings, pad_token(tokenizer))[0].reshape(-1, width)


def _export(network: Any, tokenizer: Any, path: Path, output: str) -> None:
    network.eval()
    sample = dict(
        tokenizer(["a sentence", "another, longer one"], padding=True, return_tensors="pt")
    )
    names = [name for name in ("input_ids", "attention_mask", "token_type_ids") if name in sample]

    class Wrapper(torch.nn.Module):
        """Takes the inputs in order and gives the one output."""

        def __init__(self) -> None:
            super().__init__()
            self.network = network

        def forward(self, *values: torch.Tensor) -> torch.Tensor:
            result: torch.Tensor = getattr(
                self.network(**dict(zip(names, values, strict=True))), output
            )
            return result

    axes = {name: {0: "batch", 1: "length"} for name in names}
    axes[output] = {0: "batch"} if output == "logits" else {0: "batch", 1: "length"}
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            Wrapper(),
            tuple(sample[name] for name in names),
            str(path),
            input_names=names,
            output_names=[output],
            dynamic_axes=axes,
            opset_version=_OPSET,
            dynamo=False,
        )


def _copy_tokenizer(tokenizer: Any, source: Path, target: Path) -> None:
    if (source / "tokenizer.json").is_file():
        shutil.copy2(source / "tokenizer.json", target / "tokenizer.json")
    else:
        tokenizer.backend_tokenizer.save(str(target / "tokenizer.json"))


def _write_config(target: Path, config: dict[str, Any]) -> None:
    (target / "config.json").write_text(json.dumps(config, indent=1), encoding="utf-8")


def _ignore_event(event: str, value: Any) -> None:
    """Progress of the comparison is not shown."""
