"""Agreement, matching and bootstrap against the plain way of computing the same number; and growth.

.venv/bin/python -m tests.benchmarks.metrics_agreement
"""

from __future__ import annotations

import random
from typing import Any

import krippendorff
import numpy as np
from scipy.optimize import linear_sum_assignment

from core.metrics.agreement import LEVELS, krippendorff_alpha
from core.metrics.bootstrap import SAMPLES, bootstrap_interval
from core.metrics.correlation import kendall, pearson, spearman
from core.metrics.graphs import remove_cycles
from core.metrics.steps import StepMatchingRelaxed
from tests.benchmarks.metrics_text import measure, print_growth

RATERS = 5


def make_ratings(items: int, seed: int = 1) -> list[list[int | None]]:
    """Ratings from 1 to 5 of five raters around a common value, a tenth of them missing."""
    generator = random.Random(seed)
    table: list[list[int | None]] = [[] for _ in range(RATERS)]
    for _ in range(items):
        truth = generator.randint(1, 5)
        for row in table:
            rating = min(5, max(1, truth + generator.choice([-1, 0, 0, 0, 1])))
            row.append(None if generator.random() < 0.1 else rating)
    return table


def plain_alpha(table: list[list[int | None]]) -> float:
    """Nominal alpha by its definition: coincidences of all pairs within units, one after another."""
    pairs: dict[tuple[int, int], float] = {}
    for row in zip(*table, strict=True):
        given = [label for label in row if label is not None]
        for i, a in enumerate(given):
            for j, b in enumerate(given):
                if i != j:
                    pairs[a, b] = pairs.get((a, b), 0.0) + 1 / (len(given) - 1)
    totals: dict[int, float] = {}
    for (a, _), weight in pairs.items():
        totals[a] = totals.get(a, 0.0) + weight
    n = sum(totals.values())
    unlike = sum(weight for (a, b), weight in pairs.items() if a != b)
    chance = sum(x * y for a, x in totals.items() for b, y in totals.items() if a != b)
    return 1 - (n - 1) * unlike / chance


def print_alpha() -> None:
    """50,000 ratings: value and 95 % interval together; then the value alone, by other means."""
    table = make_ratings(10_000)
    data = np.array([[np.nan if v is None else v for v in row] for row in table])
    for level in LEVELS:
        seconds, found = measure(lambda level=level: krippendorff_alpha(*table, level=level), 2)  # type: ignore[misc]
        wanted = krippendorff.alpha(data, level_of_measurement=level)
        assert abs(found.value - wanted) < 1e-9
        plain, _ = measure(
            lambda level=level: krippendorff.alpha(data, level_of_measurement=level)  # type: ignore[misc]
        )
        print(
            f"alpha {level:<9} 50,000 ratings, {SAMPLES:,} resamples: {seconds:.3f} s; resampling "
            f"the package's {plain * 1000:.1f} ms a value would take {plain * SAMPLES:,.0f} s, "
            f"ratio {plain * SAMPLES / seconds:,.0f}"
        )
    seconds, found = measure(lambda: krippendorff_alpha(*table, samples=1))
    plain, value = measure(lambda: plain_alpha(table), 1)
    assert abs(found.value - value) < 1e-9
    print(
        f"alpha without interval: {seconds:.3f} s, plain {plain:.3f} s, ratio {plain / seconds:.1f}"
    )


def print_matching() -> None:
    """Relaxed matching of 50 x 50 steps against integer columns doubled by hand and solved once a side."""
    similarity = np.random.default_rng(1).random((50, 50))
    metric = StepMatchingRelaxed()
    seconds, found = measure(lambda: metric.match(similarity), 20)
    total = 0.0
    for matrix in (similarity, similarity.T):
        doubled = np.repeat(matrix, 2, axis=1)
        total += doubled[linear_sum_assignment(doubled, maximize=True)].sum()
    assert abs(found["precision_total"] + found["recall_total"] - total) < 1e-9
    print(f"relaxed matching of 50 x 50 steps: {seconds * 1000:.2f} ms")


def print_bootstrap() -> None:
    """10,000 resamples of 1,000 values against one resample after another."""
    values = np.random.default_rng(2).random(1_000).tolist()
    seconds, found = measure(lambda: bootstrap_interval(values), 2)

    def plain() -> float:
        generator = random.Random(1)
        means = [
            sum(generator.choices(values, k=len(values))) / len(values)
            for _ in range(SAMPLES // 10)
        ]
        return float(np.std(means))

    plain_seconds, error = measure(plain, 1)
    assert found.error is not None and abs(found.error - error) < 0.1 * error
    print(
        f"bootstrap {SAMPLES:,} x 1,000: {seconds:.3f} s, plain {plain_seconds * 10:.2f} s "
        "(ten times a tenth of it), "
        f"ratio {plain_seconds * 10 / seconds:.1f}"
    )


def print_growths() -> None:
    """Doubled inputs."""
    ratings = {n: make_ratings(n) for n in (1_250, 2_500, 5_000, 10_000)}
    print_growth(
        "alpha, value (items)", lambda n: krippendorff_alpha(*ratings[n], samples=1), 1_250
    )
    print_growth("alpha, interval (items)", lambda n: krippendorff_alpha(*ratings[n]), 1_250)
    print_growth("bootstrap (values)", lambda n: bootstrap_interval([0.1, 0.7] * (n // 2)), 250)
    series: dict[int, tuple[Any, Any]] = {}
    for n in (100, 200, 400, 800):
        x = np.random.default_rng(n).normal(size=n)
        series[n] = (x.tolist(), (x + np.random.default_rng(n + 1).normal(size=n)).tolist())
    for function in (pearson, spearman, kendall):
        print_growth(
            f"{function.__name__} (items)",
            lambda n, f=function: f(*series[n]),  # type: ignore[misc]
            100,
        )
    matrices = {n: np.random.default_rng(n).random((n, n)) for n in (50, 100, 200, 400)}
    metric = StepMatchingRelaxed()
    print_growth("relaxed matching (steps a side)", lambda n: metric.match(matrices[n]), 50)
    print_growth(
        "cycle removal (edges of a ring)",
        lambda n: remove_cycles(n, [(i, (i + 1) % n) for i in range(n)]),
        2_000,
    )


if __name__ == "__main__":
    print_alpha()
    print_matching()
    print_bootstrap()
    print_growths()
