"""Sequence scoring with kept prefixes against scoring each whole sequence from scratch, in one run.

    python -m tests.benchmarks.graphs_sequence [ROUNDS]

The same orders of a sample graph's steps are scored both ways with the default generator, and the best
orders and their scores compared. On a CPU they are the same to the last bit; a GPU rounds otherwise in
batches of other sizes.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence

from core.graphs.generation.sequences import join_steps, search_orders, sequence_context
from core.ports import LogLikelihood, Message, TextGenerator
from core.resources import resource_path
from models.catalog import DEFAULT_GENERATOR
from models.local import LocalModels


class Recorder:
    """Passes log-likelihoods on and remembers what was asked."""

    def __init__(self, generator: TextGenerator) -> None:
        self._generator = generator
        self.seconds = 0.0
        self.sequences: list[tuple[str, str]] = []

    def log_likelihood(
        self, context: Sequence[Message] | str, continuations: Sequence[str]
    ) -> list[LogLikelihood]:
        """Score, and note the whole texts."""
        assert isinstance(context, str)
        start = time.perf_counter()
        found = self._generator.log_likelihood(context, continuations)
        self.seconds += time.perf_counter() - start
        self.sequences += [(context, text) for text in continuations[1:]]
        return found


def main() -> int:
    """Print both times; 1 when the kept prefixes are no faster or the scores differ."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 12
    text = resource_path("samples", "graphs.jsonl").read_text(encoding="utf-8").splitlines()[0]
    record = json.loads(text)
    steps = [step["step"] for step in record["substeps"]]
    task, assumption = record["task"], record["assumptions"][0]["assumption"]
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    with LocalModels() as models:
        generator = models.generator(DEFAULT_GENERATOR)
        context = sequence_context(task, assumption)
        generator.log_likelihood(context, ["warm up\n"])
        recorder = Recorder(generator)
        found = search_orders(recorder, task, assumption, steps, rounds=rounds, kept=999)  # type: ignore[arg-type]
        fresh: dict[tuple[int, ...], float] = {}
        scratch = 0.0
        for order in found.orders:
            # An unrelated text in between empties the cache of the shared beginning.
            generator.log_likelihood("unrelated", ["words\n"])
            start = time.perf_counter()
            fresh[order] = generator.log_likelihood(context, [join_steps(steps, order)])[0].total
            scratch += time.perf_counter() - start
    first = fresh[tuple(range(len(steps)))]
    largest = max(
        abs(score - (fresh[order] - first))
        for order, score in zip(found.orders, found.scores, strict=True)
    )
    scored = len(found.orders)
    print(f"{scored} orders of {len(steps)} steps")
    print(f"from scratch:  {scratch:6.2f} s")
    print(f"kept prefixes: {recorder.seconds:6.2f} s")
    print(f"ratio:         {scratch / recorder.seconds:6.2f}")
    print(f"largest difference of a log-likelihood: {largest:.4f}")
    return int(scratch <= recorder.seconds or largest > 0.5)


if __name__ == "__main__":
    raise SystemExit(main())
