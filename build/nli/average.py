"""Whether the mean of weights helps: ``python -m build.nli.average --help``.

Networks trained from one encoder on one task lie in one basin, so that a mean of their weights may rank
texts unlike the training's better than each alone (Wortsman et al. 2022, 'Model soups'), and one drawn
back towards the encoder may keep what the encoder knew (Wortsman et al. 2022, 'Robust fine-tuning of
zero-shot models'). Both are measured on samples of the evaluation sets, or with ``--write`` one mean is
written as a training of its own, for `build.nli.ship`.
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
    parser.add_argument("--out", type=Path, help="where the table is written")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument(
        "--write", type=Path, help="write a mean into this folder, measuring nothing"
    )
    parser.add_argument("--second-share", type=float, default=0.0, help="of that mean")
    parser.add_argument("--encoder-share", type=float, default=0.0, help="of the mean of both")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    if arguments.write is not None:
        write_mean(
            arguments.trained, arguments.second, arguments.encoder, arguments.write,
            second_share=arguments.second_share, encoder_share=arguments.encoder_share,
        )  # fmt: skip
        return
    if arguments.out is None:
        parser.error("--out or --write is needed")
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
        "encoder": _body(arguments.encoder),
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


def write_mean(
    trained: Path,
    second: Path,
    encoder: Path,
    target: Path,
    *,
    second_share: float,
    encoder_share: float,
) -> None:
    """Write the mean of two trainings, drawn back towards the encoder, with what both took."""
    model = CrossEncoder(str(trained / "best"), device="cpu", local_files_only=True)
    both = mix_weights(model.model.state_dict(), _weights(second / "best"), second_share)
    model.model.load_state_dict(mix_weights(both, _body(encoder), encoder_share))
    model.save_pretrained(str(target / "best"))
    training = json.loads((trained / "training.json").read_text(encoding="utf-8"))
    training["mean"] = {
        "second_share": second_share,
        "encoder_share": encoder_share,
        "second": json.loads((second / "training.json").read_text(encoding="utf-8")),
    }
    (target / "training.json").write_text(json.dumps(training, indent=1), encoding="utf-8")


def _body(encoder: Path) -> dict[str, torch.Tensor]:
    """The encoder's weights; it has no classifier of its own."""
    return {n: tensor for n, tensor in _weights(encoder).items() if not n.startswith(_HEAD)}


def _weights(folder: Path) -> dict[str, torch.Tensor]:
    model = CrossEncoder(str(folder), num_labels=3, device="cpu", local_files_only=True)
    weights: dict[str, torch.Tensor] = model.model.state_dict()
    return weights


if __name__ == "__main__":
    main()
