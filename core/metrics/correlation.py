"""Correlation of two series of numbers, with a bootstrap interval; and of metrics with each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import numpy as np

from core.errors import UsageError
from core.metrics.agreement import (
    NO_COMMON_ITEM,
    ONE_COMMON_ITEM,
    Agreement,
    _common,
    _from_statistic,
    _none,
    _numbers,
    _ratio,
)
from core.metrics.bootstrap import SAMPLES, SEED
from core.metrics.resampling import Floats, average_ranks

Method = Literal["pearson", "spearman", "kendall"]
Series = Sequence[float | int | None]

_MOST_PAIRWISE = 1_500

NO_VARIANCE = "One side has the same value everywhere, so nothing can vary with it."


def pearson(
    first: Series, second: Series, *, seed: int = SEED, samples: int = SAMPLES
) -> Agreement:
    """Pearson's product-moment correlation, -1 to 1; pairs with a missing side are left out.

    Examples
    --------
    >>> round(pearson([1, 2, 3], [2, 4, 6]).value, 9)
    1.0
    """
    return _correlate("pearson", first, second, seed, samples)


def spearman(
    first: Series, second: Series, *, seed: int = SEED, samples: int = SAMPLES
) -> Agreement:
    """Spearman's rank correlation, -1 to 1: Pearson's of average ranks."""
    return _correlate("spearman", first, second, seed, samples)


def kendall(
    first: Series, second: Series, *, seed: int = SEED, samples: int = SAMPLES
) -> Agreement:
    """Kendall's tau-b, -1 to 1: concordant less discordant pairs, corrected for ties on each side."""
    return _correlate("kendall", first, second, seed, samples)


def correlate_metrics(
    scores: Mapping[str, Series],
    *,
    method: Method = "spearman",
    seed: int = SEED,
    samples: int = SAMPLES,
) -> dict[tuple[str, str], Agreement]:
    """The metric-by-metric correlation matrix over the same items, each pair once in each order."""
    names = list(scores)
    found: dict[tuple[str, str], Agreement] = {}
    for place, one in enumerate(names):
        for other in names[place:]:
            result = _correlate(method, scores[one], scores[other], seed, samples)
            found[one, other] = found[other, one] = result
    return found


def _correlate(method: Method, first: Series, second: Series, seed: int, samples: int) -> Agreement:
    pairs = _common(first, second)
    if len(pairs) < 2:
        reason = ONE_COMMON_ITEM if pairs else NO_COMMON_ITEM
        return _none(method, len(pairs), reason, seed)
    values = np.stack([_numbers([pair[side] for pair in pairs]) for side in (0, 1)], axis=1)
    if not np.isfinite(values).all():
        raise UsageError("A value is not finite.", remedy="Leave it out, as a missing value.")
    kinds, counts = np.unique(values, axis=0, return_counts=True)
    x, y = kinds.T
    if len(np.unique(x)) < 2 or len(np.unique(y)) < 2:
        return _none(method, len(pairs), NO_VARIANCE, seed)
    if method == "kendall" and len(x) > _MOST_PAIRWISE:
        statistic, cost = _kendall_by_sorting(x, y), 10.0
    elif method == "kendall":
        statistic, cost = _kendall(x, y), 2.0 + len(x) / 25
    elif method == "spearman":
        statistic, cost = _spearman(x, y), 4.0
    else:
        statistic, cost = _pearson(x, y), 1.0
    return _from_statistic(method, statistic, counts, NO_VARIANCE, seed, samples, cost=cost)


def _pearson(x: Floats, y: Floats) -> Callable[[Floats], Floats]:
    x, y = _centre(x), _centre(y)
    columns = np.stack([x, y, x * x, y * y, x * y], axis=1)

    def value(w: Floats) -> Floats:
        n = w.sum(axis=1)
        sx, sy, sxx, syy, sxy = (w @ columns).T
        across = sxy - sx * sy / n
        spread = _spread(sxx, sx, n) * _spread(syy, sy, n)
        return np.clip(_ratio(across, np.sqrt(spread)), -1.0, 1.0)

    return value


def _spearman(x: Floats, y: Floats) -> Callable[[Floats], Floats]:
    def value(w: Floats) -> Floats:
        n = w.sum(axis=1)
        # Ranks of n things have the mean (n + 1) / 2 whatever the ties.
        middle = ((n + 1) / 2)[:, None]
        rx, ry = average_ranks(x, w) - middle, average_ranks(y, w) - middle
        across = (w * rx * ry).sum(axis=1)
        spread = (w * rx * rx).sum(axis=1) * (w * ry * ry).sum(axis=1)
        return np.clip(_ratio(across, np.sqrt(spread)), -1.0, 1.0)

    return value


def _kendall(x: Floats, y: Floats) -> Callable[[Floats], Floats]:
    sx = np.sign(np.subtract.outer(x, x))
    sy = np.sign(np.subtract.outer(y, y))
    agree, apart_x, apart_y = sx * sy, sx * sx, sy * sy

    def value(w: Floats) -> Floats:
        across, one, other = (((w @ m) * w).sum(axis=1) for m in (agree, apart_x, apart_y))
        return np.clip(_ratio(across, np.sqrt(one * other)), -1.0, 1.0)

    return value


def _kendall_by_sorting(x: Floats, y: Floats) -> Callable[[Floats], Floats]:
    """One resample after another, for series whose pairs do not fit into memory."""
    from scipy.stats import kendalltau

    def value(w: Floats) -> Floats:
        found = np.empty(len(w))
        for place, row in enumerate(w):
            drawn = np.repeat(np.arange(len(x)), row.astype(np.int64))
            found[place] = kendalltau(x[drawn], y[drawn]).statistic
        return found

    return value


def _centre(values: Floats) -> Floats:
    """Values shifted and scaled to about -1 to 1, which changes no correlation and keeps sums exact."""
    values = values - values.mean()
    scale = np.abs(values).max()
    return np.asarray(values / scale if scale > 0 else values)


def _spread(squares: Floats, sums: Floats, n: Floats) -> Floats:
    found = squares - sums * sums / n
    # What rounding leaves of a constant series is no variance.
    found[found <= 1e-13 * np.maximum(squares, 1e-300)] = 0.0
    return found
