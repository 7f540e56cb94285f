"""Seeded bootstrap intervals and standard errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

SAMPLES = 10_000
SEED = 20_240_501
#: Numbers drawn at a time: more no longer fit into the cache, and hold up other threads.
_CELLS = 200_000


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with its percentile bootstrap interval and standard error; bounds are None for n < 2."""

    mean: float | None
    low: float | None
    high: float | None
    error: float | None
    n: int


def bootstrap_interval(
    values: Sequence[float],
    *,
    seed: int = SEED,
    samples: int = SAMPLES,
    level: float = 0.95,
) -> Interval:
    """The mean of ``values`` and its interval from ``samples`` resamples with replacement.

    Examples
    --------
    >>> bootstrap_interval([0.5]).low is None
    True
    """
    data = np.asarray(values, dtype=np.float64)
    if data.size == 0:
        return Interval(None, None, None, None, 0)
    if data.size == 1:
        return Interval(float(data[0]), None, None, None, 1)
    means = resample_means(data, seed=seed, samples=samples)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Interval(
        float(data.mean()), float(low), float(high), float(means.std(ddof=1)), int(data.size)
    )


def resample_means(data: np.ndarray, *, seed: int, samples: int = SAMPLES) -> np.ndarray:
    """Means of ``samples`` resamples of a vector, shape (samples,)."""
    generator = np.random.default_rng(seed)
    means = np.empty(samples)
    rows = max(1, _CELLS // data.size)
    for start in range(0, samples, rows):
        count = min(rows, samples - start)
        picks = generator.integers(0, data.size, size=(count, data.size), dtype=np.int32)
        means[start : start + count] = data[picks].mean(axis=1)
    return means
