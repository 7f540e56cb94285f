"""The arithmetic of scoring with a language model: batches, log-probabilities, shares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def part_sizes(count: int, most: int) -> list[int]:
    """How many tokens to evaluate at a time: ``most``, and never one alone where there are more.

    On a CPU a token's values are the same to the last bit in batches of two tokens and of two hundred, but
    not alone, where llama.cpp sums in another order. That is rounding: with 32-bit weights and cache no
    log-probability moves by more than 0.00001. Weights of four bits have each layer's input rounded to
    eight, which makes of it up to 0.22 a token and 1.09 for 70 of them; a cache of 32 bits instead of 16
    moves the same 70 by 0.33 (measured with the default model on an x86 CPU).
    """
    sizes = [most] * (count // most)
    rest = count % most
    if rest == 1 and sizes:
        return [*sizes[:-1], most - 1, 2]
    return [*sizes, rest] if rest else sizes


def as_choice(logs: Sequence[float]) -> dict[str, Any]:
    """Options' log-probabilities as their shares of each other, and of all probability."""
    values = np.array(logs)
    weights = np.exp(values - values.max())
    return {
        "probabilities": (weights / weights.sum()).tolist(),
        "mass": float(min(1.0, np.exp(values).sum())),
    }


def log_softmax(logits: np.ndarray) -> np.ndarray:
    """Log-probabilities of logits, of the same shape (vocabulary,)."""
    shifted = logits - logits.max()
    return np.asarray(shifted - np.log(np.exp(shifted).sum()))
