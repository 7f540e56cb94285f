"""Whether plain similarity adds to entailment: ``python -m build.nli.combine --help``.

A logistic regression on the model's margin of entailment and the embedder's cosine, fitted on the dev
set, ranked against each alone on samples of the evaluation sets.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

from build.nli.data import Pair, read_pairs
from build.nli.measures import area_under_curve
from build.nli.ship import Scorer, labels_of, sample_set
from core.ports import Cancellation
from models.onnx_embed import EmbedEngine

_DEV, _EACH = 1_500, 600


def features(pairs: list[Pair], scorer: Scorer, embedder: EmbedEngine) -> np.ndarray:
    """(n, 2): log-odds of entailment against the rest, and the cosine of the two texts."""
    logits = scorer.logits(pairs)
    margin = logits[:, 0] - np.logaddexp(logits[:, 1], logits[:, 2])
    texts = [text for pair in pairs for text in (pair.premise, pair.hypothesis)]
    vectors = np.asarray(
        embedder.call("embed", {"texts": texts}, Cancellation(), lambda event, value: None)
    )
    vectors = vectors.reshape(len(texts), -1)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.column_stack([margin, (vectors[::2] * vectors[1::2]).sum(axis=1)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--model", type=Path, required=True, help="folder of the exported model")
    parser.add_argument("--embedder", type=Path, required=True, help="folder of the ONNX embedder")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    scorer = Scorer(arguments.model, threads=1)
    embedder = EmbedEngine({"path": str(arguments.embedder), "id": "e", "name": "e"})
    dev = sample_set(read_pairs(arguments.data / "dev.jsonl.xz"), _DEV)
    regression = LogisticRegression().fit(features(dev, scorer, embedder), labels_of(dev) == 0)
    rows = []
    for path in sorted(arguments.data.glob("eval_*.jsonl.xz")):
        pairs = sample_set(read_pairs(path), _EACH)
        found = features(pairs, scorer, embedder)
        entailed = labels_of(pairs) == 0
        scores = {
            "model": found[:, 0],
            "cosine": found[:, 1],
            "both": regression.decision_function(found),
        }
        rows.append(
            {
                "set": path.name.removeprefix("eval_").removesuffix(".jsonl.xz"),
                "n": len(pairs),
                **{k: round(area_under_curve(v, entailed) or 0.0, 4) for k, v in scores.items()},
            }
        )
        print(json.dumps(rows[-1]), flush=True)
    arguments.out.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
