"""The int8 ONNX embedder against sentence-transformers on torch: speed and agreement, in one run.

.venv/bin/python tests/benchmarks/embedding_speed.py
"""

from __future__ import annotations

import random
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

from core.offline import apply_offline_environment
from core.settings import models_directory
from models.local import LocalModels

VOCABULARY = (
    "patient court lesson reports pain judgment fraction evidence dose plan on the of a with "
    "after before because pupils appeal heart normal daily contract notice objective review"
)
WORDS = VOCABULARY.split()


def sentences(count: int) -> list[str]:
    """Reproducible sentences of 5 to 30 words."""
    draw = random.Random(7)
    return [" ".join(draw.choices(WORDS, k=draw.randint(5, 30))) for _ in range(count)]


def main() -> None:
    apply_offline_environment()
    texts = sentences(1_000)
    with LocalModels() as models:
        embedder = models.embedder()
        embedder.embed(texts[:32])
        start = time.perf_counter()
        ours = np.asarray(embedder.embed(texts))
        our_seconds = time.perf_counter() - start
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(models_directory() / "all-minilm-l6-v2"), device="cpu")
    model.encode(texts[:32])
    start = time.perf_counter()
    theirs = model.encode(texts, normalize_embeddings=True)
    their_seconds = time.perf_counter() - start
    cosines = (ours * np.asarray(theirs)).sum(axis=1)
    print(f"sentence-transformers on torch: {len(texts) / their_seconds:7.1f} texts/s")
    print(f"ONNX int8 through the worker:   {len(texts) / our_seconds:7.1f} texts/s")
    print(f"ratio:                          {their_seconds / our_seconds:7.2f}")
    print(f"cosine, least and mean:         {cosines.min():7.4f} {cosines.mean():.4f}")


if __name__ == "__main__":
    main()
