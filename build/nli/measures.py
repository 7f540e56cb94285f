"""Accuracy, ranking and calibration of class probabilities, from their definitions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from build.nli.data import NOT_ENTAILMENT

Floats = npt.NDArray[np.float64]
_BINS = 10


def softmax(logits: Floats, temperature: float = 1.0) -> Floats:
    """Class probabilities of logits of shape (n, 3)."""
    scaled = logits / temperature
    scaled = scaled - scaled.max(axis=1, keepdims=True)
    weights = np.exp(scaled)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def area_under_curve(scores: Floats, positive: npt.NDArray[np.bool_]) -> float | None:
    """Probability that a positive outranks a negative, ties half (Mann-Whitney); None without both."""
    n, m = int(positive.sum()), int((~positive).sum())
    if not n or not m:
        return None
    _, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    return float((ranks[positive].sum() - n * (n + 1) / 2) / (n * m))


def calibration(confidence: Floats, right: npt.NDArray[np.bool_]) -> tuple[float, list[Any]]:
    """Expected calibration error over ten equal bins, and the curve: [mean confidence, share right, n]."""
    places = np.minimum((confidence * _BINS).astype(int), _BINS - 1)
    error, curve = 0.0, []
    for place in range(_BINS):
        chosen = places == place
        n = int(chosen.sum())
        if n:
            mean, share = float(confidence[chosen].mean()), float(right[chosen].mean())
            error += n / len(confidence) * abs(mean - share)
            curve.append([round(mean, 3), round(share, 3), n])
    return error, curve


def measure_set(probabilities: Floats, labels: npt.NDArray[np.int64]) -> dict[str, Any]:
    """All numbers of one evaluation set.

    ``accuracy`` and ``macro_f1`` are of three classes, absent where a set knows two; ``binary`` is
    entailment against the rest at 0.5; ``ece`` is of P(entailment) read as the probability of it.
    """
    entailed = labels == 0
    p = probabilities[:, 0]
    ece, curve = calibration(p, entailed)
    auc = area_under_curve(p, entailed)
    result: dict[str, Any] = {
        "n": len(labels),
        "accuracy": None,
        "macro_f1": None,
        "binary": round(float(((p > 0.5) == entailed).mean()), 4),
        "auc": None if auc is None else round(auc, 4),
        "ece": round(ece, 4),
        "curve": curve,
        "contradiction_n": 0,
        "contradiction_precision": None,
    }
    if (labels == NOT_ENTAILMENT).any():
        return result
    found = probabilities.argmax(axis=1)
    result["accuracy"] = round(float((found == labels).mean()), 4)
    parts = []
    for code in np.unique(labels):
        hit = int(((found == code) & (labels == code)).sum())
        parts.append(2 * hit / max(1, int((found == code).sum()) + int((labels == code).sum())))
    result["macro_f1"] = round(float(np.mean(parts)), 4)
    flagged = found == 2
    result["contradiction_n"] = int(flagged.sum())
    if flagged.any():
        result["contradiction_precision"] = round(float((labels[flagged] == 2).mean()), 4)
    return result


def log_loss(probabilities: Floats, labels: npt.NDArray[np.int64]) -> float:
    """Mean negative log-likelihood; not-entailment is neutral and contradiction together."""
    p = np.concatenate([probabilities, 1 - probabilities[:, :1]], axis=1)
    return float(-np.log(np.clip(p[np.arange(len(labels)), labels], 1e-9, 1)).mean())


def fit_temperature(logits: Floats, labels: npt.NDArray[np.int64]) -> float:
    """The temperature of least log loss, on a grid of steps of 2 %."""
    grid = [0.5 * math.pow(1.02, step) for step in range(106)]
    losses = [log_loss(softmax(logits, temperature), labels) for temperature in grid]
    return round(grid[losses.index(min(losses))], 3)
