"""The mean of several trainings' weights: ``python -m build.nli.average --out O TRAINED TRAINED ...``.

Networks that were trained from the same encoder on the same task, in another order or for another time,
lie in one basin: the mean of their weights ranks texts unlike the training's better than each alone, at
the cost of one (Wortsman et al. 2022, 'Model soups'). Needs the development environment.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from sentence_transformers import CrossEncoder

from build.nli.data import read_pairs
from build.nli.train import Encoder, measure


def mean_weights(
    networks: Sequence[Mapping[str, torch.Tensor]], shares: Sequence[float]
) -> dict[str, torch.Tensor]:
    """Each tensor as the weighted mean of the networks' own; whole numbers as the first has them.

    Raises
    ------
    ValueError
        When there is not one share for each network, or the shares do not add up to 1.
    """
    if len(networks) != len(shares) or abs(sum(shares) - 1.0) > 1e-9:
        raise ValueError("One share for each network, adding up to 1, is needed.")
    first = networks[0]
    return {
        name: sum(
            (share * network[name] for share, network in zip(shares, networks, strict=True)),
            torch.zeros_like(tensor),
        )
        if tensor.is_floating_point()
        else tensor
        for name, tensor in first.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trained", type=Path, nargs="+", help="folders that train.py wrote")
    parser.add_argument("--shares", type=float, nargs="*", help="equal ones where none are given")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--dev", type=int, default=1_000)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    folders: list[Path] = arguments.trained
    shares = arguments.shares or [1 / len(folders)] * len(folders)
    models = [
        CrossEncoder(
            str(folder / "best"),
            device="cpu",
            local_files_only=True,
            model_kwargs={"attn_implementation": "eager"},
        )
        for folder in folders
    ]
    records = [json.loads((folder / "training.json").read_text("utf-8")) for folder in folders]
    first = models[0]
    dev = read_pairs(arguments.data / "dev.jsonl.xz")
    dev = random.Random(records[0]["seed"]).sample(dev, min(arguments.dev, len(dev)))
    encoded = Encoder(first.tokenizer, records[0]["longest"]).encode(dev)
    for model, record in zip(models, records, strict=True):
        record["dev_loss_alone"] = round(measure(model.model, encoded, dev), 4)
    weights = mean_weights([model.model.state_dict() for model in models], shares)
    first.model.load_state_dict(weights)
    loss = round(measure(first.model, encoded, dev), 4)
    first.save_pretrained(str(arguments.out / "best"))
    told = {
        "averaged": [
            record | {"share": share} for record, share in zip(records, shares, strict=True)
        ],
        "dev_loss": loss,
    }
    (arguments.out / "training.json").write_text(json.dumps(told, indent=1), encoding="utf-8")
    print(json.dumps({"alone": [r["dev_loss_alone"] for r in records], "mean": loss}))


if __name__ == "__main__":
    main()
