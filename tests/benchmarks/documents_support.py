"""Sentences a second of the support view: first reading, and again after one sentence was edited.

    python -m tests.benchmarks.documents_support [--real]

By words alone and with a scripted entailment model; ``--real`` adds the entailment model of this machine.
"""

from __future__ import annotations

import sys
import time
from typing import Any


def main() -> int:
    """Print speeds; returns 0."""
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
    text = " ".join(
        f"On day {m} the patient took {topics[m % 5]} {m} mg with water at noon."
        for m in range(120)
    )
    ground_text("A sentence. Another one.", evidence)
    models: dict[str, Any] = {"words alone": None, "scripted model": FakeEntailment()}
    if "--real" in sys.argv:
        from app import services

        models["model of this machine"] = services.entailment_model()
    for name, model in models.items():
        cached = CachedEntailment(model, MemoryCache()) if model is not None else None
        started = time.perf_counter()
        claims = ground_text(text, evidence, cached)
        first = time.perf_counter() - started
        started = time.perf_counter()
        ground_text(text.replace("day 60", "day 61", 1), evidence, cached)
        again = time.perf_counter() - started
        print(
            f"{name:22} {len(claims) / first:8.0f} sentences/s; "
            f"after an edit {1000 * again:6.1f} ms for {len(claims)} sentences"
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
