"""Agreement between raters, each with its bootstrap interval, or the reason why there is none.

Ratings are sequences as long as there are items; None is missing, and is never a label. Every function
returns an `Agreement`, never nan, and never 0 or 1 for want of data.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from core.errors import UsageError
from core.metrics.bootstrap import SAMPLES, SEED
from core.metrics.resampling import Floats, bootstrap_statistic

Label = Hashable
Ratings = Sequence[Label | None]
Level = Literal["nominal", "ordinal", "interval"]
LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval")

NO_COMMON_ITEM = "No item was rated by both."
ONE_COMMON_ITEM = "Only one item was rated by both, which is too little."
NO_PAIRED_ITEM = "No item has ratings of two raters."
NO_VARIATION = "All ratings are the same, so chance agreement cannot be told from agreement."


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """A coefficient, on how many items it rests, and its 95 % bootstrap interval over items.

    ``reason`` says in words why ``value`` (or, where there is a value, the interval) is None.
    """

    measure: str
    value: float | None
    n: int
    low: float | None = None
    high: float | None = None
    reason: str | None = None
    signature: str = ""

    def as_line(self) -> dict[str, Any]:
        """The object printed by ``rifugio agreement``."""
        return asdict(self)


def percentage(
    *raters: Ratings, ignore: Sequence[Label] = (), seed: int = SEED, samples: int = SAMPLES
) -> Agreement:
    """Share of pairs of ratings that are equal, the mean over items with two or more ratings; 0 to 1.

    Parameters
    ----------
    ignore
        Labels taken as missing, such as 'tie' for agreement without ties.

    Examples
    --------
    >>> percentage(["a", "b", "a"], ["a", "b", "b"]).value
    0.6666666666666666
    """
    name = "percentage_without_ties" if ignore else "percentage"
    rows = _rows(raters, ignore)
    kinds, counts, _ = _patterns(rows)
    raw = _row_sums(kinds)
    pairs = _row_sums(kinds.power(2)) - raw
    usable = raw >= 2
    counts = counts[usable]
    share = pairs[usable] / (raw[usable] * (raw[usable] - 1))
    n = int(counts.sum())
    if not n:
        return _none(name, 0, NO_PAIRED_ITEM, seed)
    value = float((share * counts).sum() / n)
    return _bounded(name, value, lambda w: (w @ share) / n, counts, seed, samples)


def cohen_kappa(
    first: Ratings,
    second: Ratings,
    *,
    weights: Literal["none", "linear", "quadratic"] = "none",
    order: Sequence[Label] | None = None,
    seed: int = SEED,
    samples: int = SAMPLES,
) -> Agreement:
    """Cohen's kappa of two raters, -1 to 1.

    ``1 - Σ w·observed / Σ w·expected`` over cells of the two raters' table, with w = 1 off the
    diagonal, or the distance of the categories' places in the order, or its square. Source: Cohen
    (1960, 1968).

    Parameters
    ----------
    order
        The categories from low to high; else numbers by size, other labels by name.

    Examples
    --------
    >>> cohen_kappa(list("aabb"), list("aabb")).value
    1.0
    """
    name = "cohen_kappa" if weights == "none" else f"cohen_kappa_{weights}"
    pairs = _common(first, second)
    labels = _order([label for pair in pairs for label in pair], order)
    place = {label: number for number, label in enumerate(labels)}
    size = len(labels)
    if not pairs:
        return _none(name, 0, NO_COMMON_ITEM, seed)
    cell = np.array([place[a] * size + place[b] for a, b in pairs])
    cells, counts = np.unique(cell, return_counts=True)
    row, column = cells // size, cells % size
    distance = np.abs(np.subtract.outer(np.arange(size), np.arange(size))).astype(np.float64)
    weight = {"none": (distance > 0) * 1.0, "linear": distance, "quadratic": distance**2}[weights]
    by_row = (row[:, None] == np.arange(size)) * 1.0
    by_column = (column[:, None] == np.arange(size)) * 1.0

    def kappa(w: Floats) -> Floats:
        total = w.sum(axis=1)
        expected = (((w @ by_row) @ weight) * (w @ by_column)).sum(axis=1) / total
        return 1.0 - _ratio(w @ weight[row, column], expected)

    return _from_statistic(name, kappa, counts, NO_VARIATION, seed, samples, cost=2.0 + size / 5)


def fleiss_kappa(*raters: Ratings, seed: int = SEED, samples: int = SAMPLES) -> Agreement:
    """Fleiss' kappa of any number of raters, -1 to 1.

    ``(P - P_e) / (1 - P_e)``, P the mean over items of the share of equal pairs, P_e the sum of squared
    shares of the categories. Items that not every rater rated are left out and counted in the
    signature. Source: Fleiss (1971).
    """
    rows = _rows(raters, ())
    whole = [row for row in rows if len(row) == len(raters)]
    n = len(whole)
    if len(raters) < 2:
        return _none("fleiss_kappa", n, "There is only one rater.", seed)
    if not n:
        return _none("fleiss_kappa", 0, "No item was rated by every rater.", seed)
    kinds, counts, _ = _patterns(whole)
    k = len(raters)
    share = (_row_sums(kinds.power(2)) - k) / (k * (k - 1))

    def kappa(w: Floats) -> Floats:
        total = w.sum(axis=1)
        observed = (w @ share) / total
        expected = (((w @ kinds) / (total[:, None] * k)) ** 2).sum(axis=1)
        return 1.0 - _ratio(1.0 - observed, 1.0 - expected)

    left_out = f"left_out:{len(rows) - n}"
    return _from_statistic(
        "fleiss_kappa", kappa, counts, NO_VARIATION, seed, samples, extra=left_out
    )


def krippendorff_alpha(
    *raters: Ratings,
    level: Level = "nominal",
    order: Sequence[Label] | None = None,
    seed: int = SEED,
    samples: int = SAMPLES,
) -> Agreement:
    """Krippendorff's alpha of any number of raters, missing ratings allowed, at most 1.

    ``1 - D_o / D_e`` over coincidences within units with two ratings or more, with the squared
    difference 0/1 (nominal), of cumulated counts (ordinal), or of values (interval). Source:
    Krippendorff, 'Computing Krippendorff's Alpha-Reliability' (2011).

    Raises
    ------
    UsageError
        For interval level with labels that are no numbers.
    """
    name = f"krippendorff_alpha_{level}"
    rows = [row for row in _rows(raters, ()) if len(row) >= 2]
    if not rows:
        return _none(name, 0, NO_PAIRED_ITEM, seed)
    kinds, counts, labels = _patterns(rows, order)
    raters_of = _row_sums(kinds)
    if level == "interval":
        alpha, cost = _interval_alpha(kinds, raters_of, _numbers(labels)), 1.0
    elif level == "nominal":
        alpha, cost = _nominal_alpha(kinds, raters_of), 2.0
    else:
        alpha, cost = _ordinal_alpha(kinds, raters_of), 8.0
    return _from_statistic(name, alpha, counts, NO_VARIATION, seed, samples, cost=cost)


def _nominal_alpha(kinds: Any, raters_of: Floats) -> Callable[[Floats], Floats]:
    # Within a unit, ordered pairs of unlike ratings, each weighing 1/(m-1).
    unlike = (raters_of**2 - _row_sums(kinds.power(2))) / (raters_of - 1)

    def alpha(w: Floats) -> Floats:
        totals = w @ kinds
        n = totals.sum(axis=1)
        expected = (n**2 - (totals**2).sum(axis=1)) / np.maximum(n - 1, 1)
        return 1.0 - _ratio(w @ unlike, expected)

    return alpha


def _interval_alpha(kinds: Any, raters_of: Floats, values: Floats) -> Callable[[Floats], Floats]:
    # Differences do not change when all values are shifted; small values keep the sums exact.
    values = values - values.mean()
    sums, squares = kinds @ values, kinds @ values**2
    within = 2 * (raters_of * squares - sums**2) / (raters_of - 1)
    columns = np.stack([raters_of, sums, squares, np.maximum(within, 0.0)], axis=1)

    def alpha(w: Floats) -> Floats:
        n, total, square, observed = (w @ columns).T
        expected = 2 * (n * square - total**2) / np.maximum(n - 1, 1)
        # Below what rounding leaves of equal values there is no variation.
        expected[expected <= 1e-12 * np.maximum(n * square, 1e-300)] = 0.0
        return 1.0 - _ratio(observed, expected)

    return alpha


def _ordinal_alpha(kinds: Any, raters_of: Floats) -> Callable[[Floats], Floats]:
    transposed = kinds.T.tocsr()

    def alpha(w: Floats) -> Floats:
        totals = w @ kinds
        n = totals.sum(axis=1)
        # The difference of two categories is that of their middle places among all ratings.
        middle = np.cumsum(totals, axis=1) - totals / 2 - n[:, None] / 2
        sums, squares = middle @ transposed, middle**2 @ transposed
        within = 2 * (raters_of * squares - sums**2) / (raters_of - 1)
        expected = n * (totals * middle**2).sum(axis=1) - (totals * middle).sum(axis=1) ** 2
        return 1.0 - _ratio((w * within).sum(axis=1), 2 * expected / np.maximum(n - 1, 1))

    return alpha


def _rows(raters: Sequence[Ratings], ignore: Sequence[Label]) -> list[list[Label]]:
    """The ratings of each item, missing ones left out."""
    lengths = {len(ratings) for ratings in raters}
    if len(lengths) > 1:
        raise UsageError(
            f"Raters have {min(lengths)} to {max(lengths)} ratings.",
            remedy="Give every rater one rating an item, None where it is missing.",
        )
    skip = set(ignore)
    return [
        [label for label in row if not is_missing(label) and label not in skip]
        for row in zip(*raters, strict=True)
    ]


def is_missing(label: object) -> bool:
    """None and nan are missing ratings."""
    return label is None or (isinstance(label, float) and label != label)


def _common(first: Ratings, second: Ratings) -> list[tuple[Label, Label]]:
    """Pairs of ratings of items that both rated."""
    return [(row[0], row[1]) for row in _rows((first, second), ()) if len(row) == 2]


def _order(labels: Sequence[Label], order: Sequence[Label] | None = None) -> list[Label]:
    """Distinct labels from low to high: as given, numbers by size, others by name."""
    distinct = set(labels)
    if order is not None:
        unknown = distinct - set(order)
        if unknown:
            raise UsageError(
                f"The label {sorted(map(str, unknown))[0]!r} is not among the ordered categories.",
                remedy="List every category from low to high.",
            )
        return list(dict.fromkeys(order))
    if all(isinstance(label, int | float) for label in distinct):
        return sorted(distinct, key=lambda label: float(label))  # type: ignore[arg-type]
    return sorted(distinct, key=lambda label: (type(label).__name__, str(label)))


def _numbers(labels: Sequence[Label]) -> Floats:
    for label in labels:
        if isinstance(label, bool) or not isinstance(label, int | float):
            raise UsageError(
                f"The rating {label!r} is no number, which this level needs.",
                remedy="Use the nominal level, or ratings that are numbers.",
            )
    return np.array(labels, dtype=np.float64)


def _patterns(
    rows: Sequence[Sequence[Label]], order: Sequence[Label] | None = None
) -> tuple[Any, npt.NDArray[np.int64], list[Label]]:
    """Kinds of items by how often each label was given, how many items of each kind, the labels.

    Kinds are a sparse matrix of shape (kinds, labels).
    """
    labels = _order([label for row in rows for label in row], order)
    place = {label: number for number, label in enumerate(labels)}
    seen: dict[tuple[int, ...], int] = {}
    for row in rows:
        key = tuple(sorted([place[label] for label in row]))
        seen[key] = seen.get(key, 0) + 1
    from scipy.sparse import csr_array

    lengths = np.array([len(key) for key in seen], dtype=np.int64)
    columns = np.fromiter(chain.from_iterable(seen), dtype=np.int64, count=int(lengths.sum()))
    spots = np.repeat(np.arange(len(seen)), lengths)
    shape = (len(seen), max(len(labels), 1))
    # Equal places are summed, so each cell counts how often the label was given.
    kinds = csr_array((np.ones(len(columns)), (spots, columns)), shape=shape)
    return kinds, np.fromiter(seen.values(), dtype=np.int64, count=len(seen)), labels


def _row_sums(kinds: Any) -> Floats:
    return np.asarray(kinds.sum(axis=1), dtype=np.float64).ravel()


def _ratio(top: Floats, bottom: Floats) -> Floats:
    """``top / bottom``, nan where the bottom is 0."""
    found = np.full(np.broadcast(top, bottom).shape, np.nan)
    np.divide(top, bottom, out=found, where=bottom > 0)
    return found


def _from_statistic(
    measure: str,
    statistic: Callable[[Floats], Floats],
    counts: npt.NDArray[np.int64],
    reason: str,
    seed: int,
    samples: int,
    *,
    cost: float = 1.0,
    extra: str = "",
) -> Agreement:
    value = float(statistic(counts[None].astype(np.float64))[0])
    if not np.isfinite(value):
        return _none(measure, int(counts.sum()), reason, seed)
    return _bounded(measure, value, statistic, counts, seed, samples, cost=cost, extra=extra)


def _bounded(
    measure: str,
    value: float,
    statistic: Callable[[Floats], Floats],
    counts: npt.NDArray[np.int64],
    seed: int,
    samples: int,
    *,
    cost: float = 1.0,
    extra: str = "",
) -> Agreement:
    bounds = bootstrap_statistic(statistic, counts, seed=seed, samples=samples, cost=cost)
    reason = None
    if bounds.low is None:
        reason = "There is no interval: too few resamples of the items have a value."
    return Agreement(
        measure=measure,
        value=value,
        n=int(counts.sum()),
        low=bounds.low,
        high=bounds.high,
        reason=reason,
        signature=_signature(measure, seed, bounds.samples, extra),
    )


def _none(measure: str, n: int, reason: str, seed: int) -> Agreement:
    return Agreement(
        measure=measure, value=None, n=n, reason=reason, signature=_signature(measure, seed, 0)
    )


def _signature(measure: str, seed: int, samples: int, extra: str = "") -> str:
    more = f"|{extra}" if extra else ""
    return f"{measure}|bootstrap:items:{samples}:seed {seed}{more}|version:1"
