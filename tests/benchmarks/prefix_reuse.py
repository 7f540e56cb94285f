"""Sixteen questions about one text: the kept prefix against evaluating each prompt from scratch, in one run.

.venv/bin/python tests/benchmarks/prefix_reuse.py
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

from core.ports import Message
from models.catalog import DEFAULT_GENERATOR
from models.local import LocalModels

QUESTIONS = 16
TEXT = "The patient reports a cough since Monday and takes five milligrams of ramipril. " * 75


def prompt(number: int, salt: str = "") -> tuple[Message, ...]:
    return (
        Message(
            "user", f"{salt}{TEXT}\n\nQuestion {number}: is item {number} in the text? Yes or No."
        ),
    )


def main() -> None:
    with LocalModels() as models:
        generator = models.generator(DEFAULT_GENERATOR)
        print(f"prompt: {generator.count_tokens(prompt(0))} tokens, {QUESTIONS} questions")
        generator.choose(prompt(0), ("Yes", "No"))
        start = time.perf_counter()
        kept = [generator.choose(prompt(n), ("Yes", "No")).probabilities for n in range(QUESTIONS)]
        kept_seconds = time.perf_counter() - start
        seconds, fresh = 0.0, []
        for number in range(QUESTIONS):
            # An unrelated prompt in between empties the cache of the shared text.
            generator.choose((Message("user", f"{number} unrelated"),), ("Yes", "No"))
            start = time.perf_counter()
            fresh.append(generator.choose(prompt(number), ("Yes", "No")).probabilities)
            seconds += time.perf_counter() - start
    difference = float(np.abs(np.asarray(kept) - np.asarray(fresh)).max())
    print(f"from scratch: {seconds:7.2f} s")
    print(f"kept prefix:  {kept_seconds:7.2f} s")
    print(f"ratio:        {seconds / kept_seconds:7.1f}")
    print(f"largest difference of a probability: {difference:.5f}")


if __name__ == "__main__":
    main()
