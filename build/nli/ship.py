"""Export, quantise, calibrate, evaluate and describe: ``python -m build.nli.ship --help``.

The variants are compared on a dev sample by how well they keep the fp32 answers and labels; the best
one under 30 MB is calibrated on the dev set, measured on the evaluation sets and written with its card.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import shutil
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from onnxruntime.quantization import (
    CalibrationDataReader,
    QuantFormat,
    QuantType,
    quantize_dynamic,
    quantize_static,
)
from sentence_transformers import CrossEncoder

from build.nli.card import KINDS, write_card
from build.nli.data import LABELS, Pair, read_pairs
from build.nli.measures import area_under_curve, fit_temperature, log_loss, measure_set, softmax
from core.ports import Cancellation
from models.onnx_common import feed, open_session, open_tokenizer, pad_token, run_bucketed

_LONGEST = 512
_LIMIT = 30_000_000
_OPSET = 17
_SEED = 11
_CALIBRATE = 200


def export_fp32(trained: Path, target: Path) -> CrossEncoder:
    """Write model.onnx, with batch and length as dynamic axes, and tokenizer.json; returns the model."""
    model = CrossEncoder(str(trained), device="cpu", local_files_only=True)
    network = model.model.eval()

    class Wrapper(torch.nn.Module):
        """Takes the inputs in order and gives the logits."""

        def __init__(self) -> None:
            super().__init__()
            self.network = network

        def forward(self, ids: Any, mask: Any, types: Any) -> Any:
            return self.network(input_ids=ids, attention_mask=mask, token_type_ids=types).logits

    target.mkdir(parents=True, exist_ok=True)
    names = ["input_ids", "attention_mask", "token_type_ids"]
    sample = torch.tensor([[101, 2023, 102, 2008, 102]] * 2)
    axes: dict[str, dict[int, str]] = {name: {0: "batch", 1: "length"} for name in names}
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            Wrapper(),
            (sample, torch.ones_like(sample), torch.zeros_like(sample)),
            str(target / "model.onnx"),
            input_names=names,
            output_names=["logits"],
            dynamic_axes=axes | {"logits": {0: "batch"}},
            opset_version=_OPSET,
            dynamo=False,
        )
    shutil.copy2(trained / "tokenizer.json", target / "tokenizer.json")
    return model


def make_variants(fp32: Path, folder: Path) -> dict[str, Path]:
    """int8 files by the name of how they were made; those above the limit in size are left out."""
    graph = onnx.load(fp32 / "model.onnx").graph
    products = [node.name for node in graph.node if node.op_type in ("MatMul", "Gemm")]
    # The second product of each feed-forward block has the outliers that spoil whole-tensor ranges.
    wide = [name for name in products if "/output/dense" in name and "attention" not in name]
    ways: dict[str, dict[str, Any]] = {
        "dynamic int8, per tensor": {},
        "dynamic int8, per channel": {"per_channel": True},
        "dynamic int8, per channel, reduce_range": {"per_channel": True, "reduce_range": True},
        "dynamic int8, per channel, reduce_range, feed-forward outputs left in fp32": {
            "per_channel": True,
            "reduce_range": True,
            "nodes_to_exclude": wide,
        },
        "int8 word vectors only": {"op_types_to_quantize": ["Gather"]},
    }
    made = {}
    for number, (name, options) in enumerate(ways.items()):
        path = folder / f"variant{number}"
        path.mkdir(parents=True, exist_ok=True)
        quantize_dynamic(
            fp32 / "model.onnx", path / "model.onnx", weight_type=QuantType.QInt8, **options
        )
        shutil.copy2(fp32 / "tokenizer.json", path / "tokenizer.json")
        made[name] = path
    return made


class _Calibration(CalibrationDataReader):  # type: ignore[misc]
    """Pairs by which static quantisation finds the range of each activation."""

    def __init__(self, folder: Path, pairs: list[Pair]) -> None:
        tokenizer = open_tokenizer(folder)
        tokenizer.enable_truncation(_LONGEST, strategy="longest_first")
        encoded = [tokenizer.encode(pair.premise, pair.hypothesis) for pair in pairs]
        names = (("input_ids", "ids"), ("attention_mask", "attention_mask"))
        names = (*names, ("token_type_ids", "type_ids"))
        self._feeds = iter(
            {name: np.array([getattr(e, field)], dtype=np.int64) for name, field in names}
            for e in encoded
        )

    def get_next(self) -> dict[str, Any] | None:
        return next(self._feeds, None)


def make_static_variant(fp32: Path, folder: Path, pairs: list[Pair]) -> dict[str, Path]:
    """The int8 file of static quantisation (QDQ), its ranges found on ``pairs``."""
    folder.mkdir(parents=True, exist_ok=True)
    quantize_static(
        fp32 / "model.onnx",
        folder / "model.onnx",
        _Calibration(fp32, pairs),
        quant_format=QuantFormat.QDQ,
        per_channel=True,
        reduce_range=True,
        activation_type=QuantType.QUInt8,
        weight_type=QuantType.QInt8,
        op_types_to_quantize=["MatMul", "Gather"],
    )
    shutil.copy2(fp32 / "tokenizer.json", folder / "tokenizer.json")
    return {f"static int8, QDQ, ranges of {len(pairs)} pairs": folder}


class Scorer:
    """Logits of pairs from an exported folder, batched as the app does it."""

    def __init__(self, folder: Path, *, threads: int) -> None:
        self._session, _ = open_session(folder / "model.onnx", threads)
        self._tokenizer = open_tokenizer(folder)
        self._tokenizer.enable_truncation(_LONGEST, strategy="longest_first")
        self._pad = pad_token(self._tokenizer)

    def logits(self, pairs: list[Pair]) -> np.ndarray:
        encodings = self._tokenizer.encode_batch([(p.premise, p.hypothesis) for p in pairs])

        def run(rows: list[int]) -> list[Any]:
            return list(feed(self._session, [encodings[i] for i in rows], self._pad)[0])

        found = run_bucketed(
            [len(e.ids) for e in encodings], run, Cancellation(), lambda event, value: None
        )
        return np.asarray(found, dtype=np.float64)


def sample_set(pairs: list[Pair], limit: int) -> list[Pair]:
    """All pairs, or ``limit`` drawn with a fixed seed."""
    return pairs if len(pairs) <= limit else random.Random(_SEED).sample(pairs, limit)


def labels_of(pairs: list[Pair]) -> np.ndarray:
    return np.array([pair.label for pair in pairs], dtype=np.int64)


def compare_variants(
    fp32: Path, variants: dict[str, Path], dev: list[Pair], threads: int
) -> tuple[list[dict[str, Any]], Path, str]:
    """A table of the variants, the folder of the one to ship, and its name.

    The one of least log loss on the dev sample, after its own temperature, among those under the limit.
    """
    labels = labels_of(dev)
    truth = Scorer(fp32, threads=threads).logits(dev)
    rows, best = [], (float("inf"), fp32, "")
    for name, folder in {"fp32": fp32, **variants}.items():
        logits = truth if folder == fp32 else Scorer(folder, threads=threads).logits(dev)
        temperature = fit_temperature(logits, labels)
        loss = log_loss(softmax(logits, temperature), labels)
        size = (folder / "model.onnx").stat().st_size
        rows.append(
            {
                "variant": name,
                "bytes": size,
                "n": len(dev),
                "log_loss": round(loss, 4),
                "auc": round(area_under_curve(softmax(logits)[:, 0], labels == 0) or 0.0, 4),
                "same_class_as_fp32": round(
                    float((logits.argmax(axis=1) == truth.argmax(axis=1)).mean()), 4
                ),
            }
        )
        print(json.dumps(rows[-1]), flush=True)
        # reduce_range is exact on processors without VNNI too; among equals to .002 it is taken.
        handicap = 0.0 if "reduce_range" in name else 0.002
        if size < _LIMIT and loss + handicap < best[0]:
            best = (loss + handicap, folder, name)
    return rows, best[1], best[2]


def guess_by_hypothesis(train: list[Pair], test: list[Pair]) -> float:
    """Accuracy of answering each hypothesis with its commonest label in training, whatever the premise."""
    counts: dict[str, dict[int, int]] = {}
    for pair in train:
        seen = counts.setdefault(pair.hypothesis, {})
        seen[pair.label] = seen.get(pair.label, 0) + 1
    right = 0
    for pair in test:
        seen = counts.get(pair.hypothesis, {0: 1})
        right += max(seen, key=lambda label: seen[label]) == pair.label
    return round(right / len(test), 4)


def read_table(path: Path | None) -> list[dict[str, Any]]:
    """Rows of a table in JSON; none where there is no file."""
    if path is None or not path.is_file():
        return []
    rows: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--trained", type=Path, required=True, help="folder with best/ and training.json"
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument(
        "--limit", type=int, default=100_000, help="pairs of a set looked at, at most"
    )
    parser.add_argument("--dev", type=int, default=100_000)
    parser.add_argument(
        "--compare", type=int, default=100_000, help="dev pairs to compare variants on"
    )
    parser.add_argument("--ablations", type=Path, help="the table that build.nli.ablate wrote")
    parser.add_argument("--combination", type=Path, help="the table that build.nli.combine wrote")
    parser.add_argument("--averages", type=Path, help="the table that build.nli.average wrote")
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    fp32 = arguments.work / "fp32"
    model = export_fp32(arguments.trained / "best", fp32)
    dev_all = read_pairs(arguments.data / "dev.jsonl.xz")
    compared = sample_set(dev_all, arguments.compare)
    with torch.no_grad():
        probe = compared[:16]
        wanted = model.predict(
            [(p.premise, p.hypothesis) for p in probe],
            activation_fn=torch.nn.Identity(),
            show_progress_bar=False,
        )
    parity = float(np.abs(Scorer(fp32, threads=arguments.threads).logits(probe) - wanted).max())
    print("largest difference of fp32 ONNX from torch", parity, flush=True)
    made = make_variants(fp32, arguments.work)
    made |= make_static_variant(fp32, arguments.work / "static", dev_all[:_CALIBRATE])
    variants, chosen, name = compare_variants(fp32, made, compared, arguments.threads)
    scorer = Scorer(chosen, threads=arguments.threads)
    dev = sample_set(dev_all, arguments.dev)
    logits = scorer.logits(dev)
    temperature = fit_temperature(logits, labels_of(dev))
    sets: dict[str, Any] = {
        "dev": measure_set(softmax(logits, temperature), labels_of(dev))
        | {"kind": "", "total": len(dev_all)}
    }
    pooled: dict[str, list[Any]] = {}
    for path in sorted(arguments.data.glob("eval_*.jsonl.xz")):
        set_name = path.name.removeprefix("eval_").removesuffix(".jsonl.xz")
        everything = read_pairs(path)
        pairs = sample_set(everything, arguments.limit)
        answers = softmax(scorer.logits(pairs), temperature)
        kind = next((k for k, members in KINDS.items() if set_name in members), "other")
        sets[set_name] = measure_set(answers, labels_of(pairs)) | {
            "kind": kind,
            "total": len(everything),
        }
        pooled.setdefault(kind, []).append((answers, labels_of(pairs)))
        print(set_name, {k: v for k, v in sets[set_name].items() if k != "curve"}, flush=True)
        if set_name == "contractnli":
            sets[set_name]["hypothesis_only"] = guess_by_hypothesis(
                [
                    p
                    for p in read_pairs(arguments.data / "train.jsonl.xz")
                    if p.source == "contractnli"
                ],
                everything,
            )
    kinds = {}
    for kind, parts in pooled.items():
        # Sets of two classes say nothing of contradiction: three-class parts alone count for it.
        three = [(a, y) for a, y in parts if (y < len(LABELS)).all()]
        whole = measure_set(
            np.concatenate([a for a, _ in parts]), np.concatenate([y for _, y in parts])
        )
        if three:
            alone = measure_set(
                np.concatenate([a for a, _ in three]), np.concatenate([y for _, y in three])
            )
            for key in ("accuracy", "macro_f1", "contradiction_n", "contradiction_precision"):
                whole[key] = alone[key]
        kinds[kind] = whole
    arguments.out.mkdir(parents=True, exist_ok=True)
    shutil.copy2(chosen / "model.onnx", arguments.out / "model.onnx")
    shutil.copy2(chosen / "tokenizer.json", arguments.out / "tokenizer.json")
    sha256 = hashlib.sha256((arguments.out / "model.onnx").read_bytes()).hexdigest()
    config = model.model.config.to_dict()
    config = {k: v for k, v in config.items() if k not in ("_name_or_path", "dtype", "torch_dtype")}
    config |= {
        "id2label": {str(i): label for i, label in enumerate(LABELS)},
        "label2id": {label: i for i, label in enumerate(LABELS)},
        "calibration_temperature": temperature,
    }
    (arguments.out / "config.json").write_text(
        json.dumps(config, indent=1) + "\n", encoding="utf-8"
    )
    training = json.loads((arguments.trained / "training.json").read_text(encoding="utf-8"))
    write_card(
        arguments.out,
        sha256=sha256,
        size=(arguments.out / "model.onnx").stat().st_size,
        variant=name,
        variants=variants,
        parity=parity,
        temperature=temperature,
        training=training,
        sets=sets,
        kinds=kinds,
        ablations=read_table(arguments.ablations),
        combination=read_table(arguments.combination),
        averages=read_table(arguments.averages),
    )


if __name__ == "__main__":
    main()
