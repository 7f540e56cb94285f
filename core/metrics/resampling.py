"""Bootstrap intervals of statistics that are not means: resamples as weights of the units.

A resample with replacement is a vector of how often each unit was drawn. Statistics that are functions
of weighted sums are then one matrix product for all resamples. Units that look alike are drawn
together, so that a million ratings of five kinds cost no more than a few.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.metrics.bootstrap import SAMPLES, SEED

Floats = npt.NDArray[np.float64]
Statistic = Callable[[Floats], Floats]

LEVEL = 0.95
_FEWEST_SAMPLES = 200
#: Numbers drawn at a time: more no longer fit into the cache, and hold up other threads.
_CELLS = 200_000
_BUDGET = 2e7


@dataclass(frozen=True, slots=True)
class Bounds:
    """A bootstrap interval; None where too few resamples have a value."""

    low: float | None
    high: float | None
    samples: int


def bootstrap_statistic(
    statistic: Statistic,
    counts: npt.NDArray[np.int64],
    *,
    seed: int = SEED,
    samples: int = SAMPLES,
    level: float = LEVEL,
    cost: float = 1.0,
) -> Bounds:
    """The percentile interval of a statistic of weighted units.

    Parameters
    ----------
    statistic
        From weights of shape (samples, kinds) to values of shape (samples,); nan where undefined.
    counts
        How many units there are of each kind, shape (kinds,).
    cost
        Work for one resample of one kind in units of a weighted sum; where the whole would take more
        than a second or so, fewer resamples are drawn, and ``Bounds.samples`` says how many.
    """
    kinds, units = len(counts), int(counts.sum())
    if units < 2:
        return Bounds(None, None, 0)
    samples = int(min(samples, max(_FEWEST_SAMPLES, _BUDGET / (cost * kinds))))
    generator = np.random.default_rng(seed)
    values = np.empty(samples)
    rows = max(1, _CELLS // kinds)
    for start in range(0, samples, rows):
        count = min(rows, samples - start)
        values[start : start + count] = statistic(draw_weights(generator, counts, count))
    defined = values[np.isfinite(values)]
    if len(defined) < samples / 2:
        return Bounds(None, None, samples)
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return Bounds(float(low), float(high), samples)


def draw_weights(
    generator: np.random.Generator, counts: npt.NDArray[np.int64], samples: int
) -> Floats:
    """How often each kind of unit was drawn in resamples of all units, shape (samples, kinds)."""
    kinds, units = len(counts), int(counts.sum())
    if units > 4 * kinds:
        return generator.multinomial(units, counts / units, size=samples).astype(np.float64)
    kind = np.repeat(np.arange(kinds), counts)
    picks = kind[generator.integers(0, units, size=(samples, units), dtype=np.int32)]
    picks += np.arange(samples)[:, None] * kinds
    drawn = np.bincount(picks.ravel(), minlength=samples * kinds)
    return drawn.reshape(samples, kinds).astype(np.float64)


def average_ranks(values: Floats, weights: Floats) -> Floats:
    """Average ranks of units in each resample, ties sharing theirs, shape (samples, kinds)."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    first = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    tied = np.add.reduceat(weights[:, order], first, axis=1)
    ranks = np.cumsum(tied, axis=1) - tied + (tied + 1) / 2
    group = np.repeat(np.arange(len(first)), np.diff(first, append=len(values)))
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    return np.asarray(ranks[:, group[back]], dtype=np.float64)
