"""Whether the mean of weights helps: ``python -m build.nli.average --help``.

Networks trained from one encoder on one task lie in one basin, so that a mean of their weights may rank
texts unlike the training's better than each alone (Wortsman et al. 2022, 'Model soups'), and one drawn
back towards the encoder may keep what the encoder knew (Wortsman et al. 2022, 'Robust fine-tuning of
zero-shot models'). Both are measured on samples of the evaluation sets.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from sentence_transformers import CrossEncoder

from build.nli.ablate import network_logits
from build.nli.data import read_pairs
from build.nli.measures import area_under_curve, softmax
from build.nli.ship import labels_of, sample_set

_EACH = 300
_SHARES = {"second training": (0.3, 0.5, 1.0), "encoder": (0.1, 0.2)}
#: The classifier is not the encoder's: drawn back to nothing it would only grow timid.
_HEAD = "classifier"


def mix_weights(
    first: Mapping[str, torch.Tensor], second: Mapping[str, torch.Tensor], share: float
) -> dict[str, torch.Tensor]:
    """The mean of two networks, ``share`` of it the second's; what the second lacks is the first's."""
    return {
        name: (1 - share) * tensor + share * second[name]
        if name in second and tensor.is_floating_point()
        else tensor
        for name, tensor in first.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--trained", type=Path, required=True)
    parser.add_argument("--second", type=Path, required=True, help="trained in another order")
    parser.add_argument("--encoder", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    sets = {
        path.name.removeprefix("eval_").removesuffix(".jsonl.xz"): sample_set(
            read_pairs(path), _EACH
        )
        for path in sorted(arguments.data.glob("eval_*.jsonl.xz"))
    }
    model = CrossEncoder(str(arguments.trained / "best"), device="cpu", local_files_only=True)
    first = {name: tensor.clone() for name, tensor in model.model.state_dict().items()}
    others = {
        "second training": _weights(arguments.second / "best"),
        "encoder": {
            name: tensor
            for name, tensor in _weights(arguments.encoder).items()
            if not name.startswith(_HEAD)
        },
    }
    rows = []
    for other, share in [("", 0.0), *((o, s) for o, shares in _SHARES.items() for s in shares)]:
        model.model.load_state_dict(mix_weights(first, others.get(other, {}), share))
        aucs = {}
        for name, pairs in sets.items():
            answers = softmax(network_logits(model, pairs))[:, 0]
            auc = area_under_curve(answers, labels_of(pairs) == 0)
            aucs[name] = round(float(auc or 0.0), 4)
        mean = round(float(np.mean(list(aucs.values()))), 4)
        rows.append({"with": other, "share": share, "mean_auc": mean, "auc": aucs})
        print(json.dumps(rows[-1]), flush=True)
    arguments.out.write_text(json.dumps(rows, indent=1), encoding="utf-8")


def _weights(folder: Path) -> dict[str, torch.Tensor]:
    model = CrossEncoder(str(folder), num_labels=3, device="cpu", local_files_only=True)
    weights: dict[str, torch.Tensor] = model.model.state_dict()
    return weights


if __name__ == "__main__":
    main()
