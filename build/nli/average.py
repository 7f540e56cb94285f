"""Means of weights, compared and made: ``python -m build.nli.average --help``.

Networks trained from one encoder on one task lie in one basin, so that a mean of their weights may rank
texts unlike the training's better than each alone (Wortsman et al. 2022, 'Model soups'), and one drawn
back towards the encoder may keep what the encoder knew (Wortsman et al. 2022, 'Robust fine-tuning of
zero-shot models'). Each mix is measured on samples of the evaluation sets; the first one named is written.

    python -m build.nli.average --data D --out OUT --encoder encoder \
        --folder main=runs/main/best --folder second=runs/second/best --folder encoder=MiniLM \
        --mix main=0.5,second=0.4,encoder=0.1 --mix main=1
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from sentence_transformers import CrossEncoder

from build.nli.ablate import network_logits
from build.nli.data import read_pairs
from build.nli.measures import area_under_curve, softmax
from build.nli.ship import labels_of, sample_set

Weights = Mapping[str, torch.Tensor]
#: The classifier is not the encoder's: drawn back to nothing it would only grow timid.
_HEAD = "classifier"


def mix_weights(parts: Sequence[tuple[float, Weights]]) -> dict[str, torch.Tensor]:
    """The mean of networks, each with its share; what some lack is the mean of those that have it.

    What holds no floating-point numbers is the first network's, which has to have everything.
    """
    first = parts[0][1]
    mixed = {}
    for name, tensor in first.items():
        having = [(share, weights[name]) for share, weights in parts if name in weights]
        total = sum(share for share, _tensor in having)
        mixed[name] = (
            sum((share / total * one for share, one in having), torch.zeros_like(tensor))
            if tensor.is_floating_point()
            else tensor
        )
    return mixed


def read_mix(text: str) -> dict[str, float]:
    """'main=0.6,encoder=0.4' as shares by name."""
    return {name: float(share) for name, share in (part.split("=") for part in text.split(","))}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--folder", action="append", required=True, metavar="NAME=DIR")
    parser.add_argument("--encoder", default="", help="which of the names is the bare encoder")
    parser.add_argument("--mix", action="append", required=True, metavar="NAME=SHARE,...")
    parser.add_argument("--each", type=int, default=300, help="pairs of a set looked at, at most")
    parser.add_argument("--out", type=Path, required=True, help="for best/ and averages.json")
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    folders = dict(text.split("=", 1) for text in arguments.folder)
    weights = {name: _read_weights(Path(folder)) for name, folder in folders.items()}
    if arguments.encoder:
        kept = weights[arguments.encoder].items()
        weights[arguments.encoder] = {n: t for n, t in kept if not n.startswith(_HEAD)}
    sets = {
        path.name.removeprefix("eval_").removesuffix(".jsonl.xz"): sample_set(
            read_pairs(path), arguments.each
        )
        for path in sorted(arguments.data.glob("eval_*.jsonl.xz"))
    }
    mixes = [read_mix(text) for text in arguments.mix]
    model = CrossEncoder(folders[next(iter(mixes[0]))], device="cpu", local_files_only=True)
    rows = []
    for number, mix in enumerate(mixes):
        mixed = mix_weights([(share, weights[name]) for name, share in mix.items()])
        model.model.load_state_dict(mixed)
        if number == 0:
            model.save_pretrained(str(arguments.out / "best"))
        aucs = {}
        for name, pairs in sets.items():
            answers = softmax(network_logits(model, pairs))[:, 0]
            auc = area_under_curve(answers, labels_of(pairs) == 0)
            aucs[name] = round(float(auc or 0.0), 4)
        mean = round(float(np.mean(list(aucs.values()))), 4)
        rows.append({"mix": mix, "mean_auc": mean, "auc": aucs})
        print(json.dumps(rows[-1]), flush=True)
    text = json.dumps(rows, indent=1)
    (arguments.out / "averages.json").write_text(text, encoding="utf-8")


def _read_weights(folder: Path) -> Weights:
    model = CrossEncoder(str(folder), num_labels=3, device="cpu", local_files_only=True)
    weights: Weights = model.model.state_dict()
    return weights


if __name__ == "__main__":
    main()
