"""Sentences a second of the support view: first reading, and again after one sentence was edited.

    python -m tests.benchmarks.documents_support [--model shipped] [--sentences N]

By words alone and with a scripted entailment model; ``--model shipped`` adds the built-in one, on as
many sentences as asked (24): a sentence is put beside three windows and two sentences of its evidence.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import Any


def main(arguments: Sequence[str] | None = None) -> int:
    """Print speeds; returns 0."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", choices=("none", "shipped"), default="none")
    parser.add_argument("--sentences", type=int, default=24, help="for the shipped model")
    asked = parser.parse_args(arguments)
    from core.examples.grounding import ground_text
    from core.nli.cache import CachedEntailment, MemoryCache
    from core.types.documents import Evidence
    from models.fake import FakeEntailment

    topics = ("ramipril", "aspirin", "insulin", "heparin", "codeine")
    evidence = [
        Evidence(
            passage_id=str(n), document_id="d", document="D", page=1, start=0, end=1, sha256="",
            text=" ".join(f"On day {m} the patient took {topic} {m} mg and slept well." for m in range(70)),
        )
        for n, topic in enumerate(topics)
    ]  # fmt: skip
    sentences = [
        f"On day {m} the patient took {topics[m % 5]} {m} mg with water at noon."
        for m in range(120)
    ]
    ground_text("A sentence. Another one.", evidence)
    models: dict[str, Any] = {"words alone": None, "scripted model": FakeEntailment()}
    if asked.model == "shipped":
        from app import services

        models["shipped model"] = services.entailment_model()
        # Loading the model is no part of what is timed.
        models["shipped model"].entail([("A premise.", "A sentence.")])
    for name, model in models.items():
        text = " ".join(sentences[: asked.sentences] if name == "shipped model" else sentences)
        cached = CachedEntailment(model, MemoryCache()) if model is not None else None
        started = time.perf_counter()
        claims = ground_text(text, evidence, cached)
        first = time.perf_counter() - started
        started = time.perf_counter()
        ground_text(text.replace("On day 3 ", "On day 4 ", 1), evidence, cached)
        again = time.perf_counter() - started
        if name == "shipped model":
            model.close()
        print(
            f"{name:22} {len(claims) / first:8.1f} sentences/s; "
            f"after an edit {1000 * again:6.1f} ms for {len(claims)} sentences"
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
