"""Comparing systems and judges: paired bootstrap, sampled pairs, agreement with human preferences."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import ndtri, stdtrit

from core.errors import UsageError
from core.metrics.agreement import Agreement, percentage
from core.metrics.bootstrap import SAMPLES, SEED, resample_means

Preference = Literal["left", "right", "tie"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """How much higher the first system scores than the second on the same items.

    ``p`` is the two-sided share of resamples on the other side of zero, at least ``2 ** (1 - n)``; None
    with the interval where there are fewer than two common items.
    """

    value: float | None
    low: float | None
    high: float | None
    p: float | None
    n: int
    reason: str | None
    signature: str


def compare_systems(
    first: Sequence[float | None],
    second: Sequence[float | None],
    *,
    seed: int = SEED,
    samples: int = SAMPLES,
    level: float = 0.95,
) -> Difference:
    """The mean difference of two systems over the items both have, by paired bootstrap.

    Resampled means of few items lie too close together: of equal systems, one comparison in six at 6
    items and one in ten at 10 would be called unlikely by chance at p < 0.05. They are therefore spread
    by ``sqrt(n / (n - 1)) · t / z``, the quantiles of Student's and of the normal distribution, which
    leaves large samples as they are; and no p is less than that of n equal signs.

    Source: Koehn, 'Statistical Significance Tests for Machine Translation Evaluation' (EMNLP 2004);
    the spread is that of Hesterberg's expanded percentile interval ('What Teachers Should Know About the
    Bootstrap', 2015).

    Examples
    --------
    >>> compare_systems([1.0, 0.5], [0.5, 0.0]).value
    0.5
    """
    if len(first) != len(second):
        raise UsageError(
            f"The systems have {len(first)} and {len(second)} scores.",
            remedy="Give both one score an item, None where it is missing.",
        )
    gaps = [a - b for a, b in zip(first, second, strict=True) if a is not None and b is not None]
    signature = f"paired_bootstrap|samples:{samples}:seed {seed}|spread:t|version:2"
    if len(gaps) < 2:
        return Difference(
            value=gaps[0] if gaps else None,
            low=None,
            high=None,
            p=None,
            n=len(gaps),
            reason="Fewer than two items have scores of both systems.",
            signature=signature,
        )
    value, n = float(np.mean(gaps)), len(gaps)
    means = resample_means(np.array(gaps), seed=seed, samples=samples)
    means = value + _spread(n, level) * (means - value)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    # One more than counted on either side, so that no finite sample claims certainty.
    below = (np.count_nonzero(means <= 0) + 1) / (samples + 1)
    above = (np.count_nonzero(means >= 0) + 1) / (samples + 1)
    return Difference(
        value=value,
        low=float(low),
        high=float(high),
        p=float(min(1.0, max(2 * min(below, above), 2.0 ** (1 - n)))),
        n=n,
        reason=None,
        signature=signature,
    )


def _spread(n: int, level: float) -> float:
    """How much wider the means of n items lie than their resamples show."""
    tail = (1 + level) / 2
    return float(np.sqrt(n / (n - 1)) * stdtrit(n - 1, tail) / ndtri(tail))


@dataclass(frozen=True, slots=True)
class Pair:
    """Two systems' outputs for one example, to be shown side by side."""

    example: str
    left: str
    right: str


def sample_pairs(
    outputs: Mapping[str, Sequence[str]], *, count: int, seed: int = SEED
) -> list[Pair]:
    """Pairs for judging: a random example, and the outputs of two systems drawn at random for it.

    No example is taken twice with the same two systems; sides are drawn too. Source: DOLOMITES
    (Malaviya et al., 2024), human evaluation of random pairs of systems.

    Parameters
    ----------
    outputs
        Example to the systems that wrote an output for it.
    """
    every = [
        (example, one, other)
        for example in sorted(outputs)
        for systems in [sorted(set(outputs[example]))]
        for place, one in enumerate(systems)
        for other in systems[place + 1 :]
    ]
    generator = random.Random(seed)
    chosen = generator.sample(every, min(max(count, 0), len(every)))
    return [
        Pair(example, *(pair if generator.random() < 0.5 else pair[::-1]))
        for example, *pair in chosen
    ]


def prefer_by_score(
    left: Sequence[float | None], right: Sequence[float | None], *, margin: float = 0.0
) -> list[Preference | None]:
    """What a metric prefers: the higher score, a tie within the margin, None where a score is missing."""
    found: list[Preference | None] = []
    for a, b in zip(left, right, strict=True):
        if a is None or b is None:
            found.append(None)
        elif abs(a - b) <= margin:
            found.append("tie")
        else:
            found.append("left" if a > b else "right")
    return found


def prefer_longer(left: Sequence[str], right: Sequence[str]) -> list[Preference | None]:
    """The baseline every judge has to beat: the text with more words wins."""
    return prefer_by_score([len(t.split()) for t in left], [len(t.split()) for t in right])


def compare_preferences(
    human: Sequence[Preference | None],
    automatic: Mapping[str, Sequence[Preference | None]],
    *,
    longer: Sequence[Preference | None] | None = None,
    seed: int = SEED,
) -> dict[str, tuple[Agreement, Agreement]]:
    """Agreement of each automatic judge with people, with ties and without, the baseline included.

    Parameters
    ----------
    longer
        What `prefer_longer` gives for the same pairs; listed as ``longer wins``.
    """
    judges = dict(automatic)
    if longer is not None:
        judges["longer wins"] = longer
    return {
        name: (
            percentage(human, choices, seed=seed),
            percentage(human, choices, ignore=("tie",), seed=seed),
        )
        for name, choices in judges.items()
    }
