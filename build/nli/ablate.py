"""What helps and what does not: ``python -m build.nli.ablate --help``.

Short runs on one sample of 15,000 pairs, each differing from the first in one thing, measured on the same
dev pairs and on samples of the evaluation sets. Also the run without ContractNLI beside its twin with it.
A run that is there already is not repeated.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sentence_transformers import CrossEncoder

from build.nli.data import Pair, read_pairs
from build.nli.measures import area_under_curve, fit_temperature, log_loss, measure_set, softmax
from build.nli.ship import labels_of, sample_set
from build.nli.train import Encoder, collate

_SAMPLE = 15_000
_DEV, _EACH = 2_000, 300

#: What differs from the base: (words, further arguments of train.py).
RUNS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("base", "as shipped, on the sample", ()),
    ("smoothing", "label smoothing 0.05", ("--smoothing", "0.05")),
    ("dropout", "dropout 0.1", ("--dropout", "0.1")),
    ("rate-low", "peak learning rate 5e-5", ("--rate", "5e-5")),
    ("rate-high", "peak learning rate 2e-4", ("--rate", "2e-4")),
    ("short", "pairs cut at 128 tokens", ("--longest", "128")),
    ("flat", "sources drawn by their size", ("--balance", "1.0")),
    ("equal", "sources drawn alike", ("--balance", "0.0")),
    ("words", "word vectors trained too", ("--word-vectors",)),
    ("no-contracts", "without ContractNLI", ("--without", "contractnli")),
    ("epochs", "the sample seen twice", ("--pairs", str(2 * _SAMPLE))),
)


def network_logits(model: CrossEncoder, pairs: list[Pair]) -> np.ndarray:
    """(n, 3): a network's answers in torch, pairs of like length together."""
    network = model.model.eval()
    encoded = Encoder(model.tokenizer, 256).encode(pairs)
    order = sorted(range(len(pairs)), key=lambda i: len(encoded[i][0]))
    found = np.zeros((len(pairs), 3))
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
        for start in range(0, len(order), 32):
            rows = order[start : start + 32]
            found[rows] = network(**collate([encoded[i] for i in rows])).logits.float().numpy()
    return found


def measure_run(folder: Path, dev: list[Pair], sets: dict[str, list[Pair]]) -> dict[str, Any]:
    """Numbers of one trained model, in torch."""
    model = CrossEncoder(str(folder / "best"), device="cpu", local_files_only=True)
    labels = labels_of(dev)
    on_dev = network_logits(model, dev)
    temperature = fit_temperature(on_dev, labels)
    aucs: dict[str, float] = {}
    accuracies: list[float] = []
    extra: dict[str, Any] = {}
    for name, pairs in sets.items():
        answers = softmax(network_logits(model, pairs), temperature)
        auc = area_under_curve(answers[:, 0], labels_of(pairs) == 0)
        aucs[name] = round(float(auc or 0.0), 4)
        numbers = measure_set(answers, labels_of(pairs))
        if numbers["accuracy"] is not None:
            accuracies.append(numbers["accuracy"])
        if name == "contractnli":
            extra = {key: numbers[key] for key in ("accuracy", "binary", "auc", "ece", "n")}
    return {
        "dev_log_loss": round(log_loss(softmax(on_dev, temperature), labels), 4),
        "mean_auc": round(float(np.mean(list(aucs.values()))), 4),
        "mean_accuracy": round(float(np.mean(accuracies)), 4),
        "auc": aucs,
        "contractnli": extra,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--encoder", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True, help="the JSON file of the table")
    parser.add_argument("--only", nargs="*", default=[], help="names of runs; all where none is")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    dev = sample_set(read_pairs(arguments.data / "dev.jsonl.xz"), _DEV)
    sets = {
        path.name.removeprefix("eval_").removesuffix(".jsonl.xz"): sample_set(
            read_pairs(path), _EACH
        )
        for path in sorted(arguments.data.glob("eval_*.jsonl.xz"))
    }
    sets["contractnli"] = read_pairs(arguments.data / "eval_contractnli.jsonl.xz")
    rows = []
    for name, words, more in RUNS:
        if arguments.only and name not in arguments.only:
            continue
        folder = arguments.work / name
        measured = folder / "measured.json"
        if not measured.is_file():
            command = [
                *(sys.executable, "-m", "build.nli.train"),
                *("--data", arguments.data, "--encoder", arguments.encoder, "--out", folder),
                *("--minutes", "600", "--most", str(_SAMPLE), "--pairs", str(_SAMPLE)),
                *("--dev", "400", "--threads", "1", *more),
            ]
            subprocess.run([str(part) for part in command], check=True)
            numbers = measure_run(folder, dev, sets)
            training = json.loads((folder / "training.json").read_text(encoding="utf-8"))
            numbers |= {"pairs_seen": training["pairs_seen"], "minutes": training["minutes"]}
            measured.write_text(json.dumps(numbers, indent=1), encoding="utf-8")
        rows.append({"name": name, "what": words, **json.loads(measured.read_text("utf-8"))})
        arguments.out.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
        print(json.dumps({k: v for k, v in rows[-1].items() if k != "auc"}), flush=True)


if __name__ == "__main__":
    main()
