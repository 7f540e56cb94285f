"""A scorer of steps, trained on the user's own gold graphs: does this step belong to this task?

Logistic regression over embeddings of task and step. Right are the steps of gold graphs, wrong are
steps of other tasks. Saved with a version, so that an old result can name the scorer it used.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from core.errors import ConflictError
from core.graphs.model import StepGraph
from core.ids import new_id, now
from core.ports import Embedder
from core.storage.reads import Reads
from core.storage.transaction import Transaction
from core.types.graphs import StepScorer

Floats = npt.NDArray[np.float64]

#: Wrong steps for each right one, and the inverse strength of the penalty.
WRONG_PER_RIGHT = 2
PENALTY = 1.0
_FEWEST_TASKS = 2
_FOLDS = 5


def train_scorer(
    golds: Sequence[StepGraph], embedder: Embedder, *, seed: int = 0, measured: bool = True
) -> StepScorer:
    """Fit a scorer; ``trained`` tells counts and, over tasks left out in turn, the area under the curve.

    Parameters
    ----------
    measured
        False leaves out the latter, which costs five more fits.

    Raises
    ------
    ConflictError
        When there are steps of fewer than two tasks.
    """
    from sklearn.linear_model import LogisticRegression

    tasks, features, labels = _examples(golds, embedder, seed)
    if len(set(tasks)) < _FEWEST_TASKS:
        raise ConflictError(
            "A scorer needs gold graphs of at least two tasks.",
            remedy="Draw or import more gold graphs.",
        )
    model = LogisticRegression(C=PENALTY, class_weight="balanced", max_iter=1000)
    model.fit(features, labels)
    info = embedder.info
    return StepScorer(
        id=new_id(),
        version=1,
        embedder_id=info.id,
        embedder_sha256=info.sha256,
        weights=tuple(float(weight) for weight in model.coef_[0]),
        bias=float(model.intercept_[0]),
        threshold=0.5,
        trained={
            "tasks": len(set(tasks)),
            "right": int(labels.sum()),
            "wrong": int(len(labels) - labels.sum()),
            "area": _held_out_area(tasks, features, labels) if measured else None,
            "seed": seed,
            "time": now(),
        },
    )


def save_scorer(tx: Transaction, scorer: StepScorer) -> StepScorer:
    """Keep a scorer under the next version; earlier ones stay."""
    from dataclasses import replace

    last = tx.value("SELECT max(version) FROM step_scorer WHERE deleted = 0")
    return tx.insert(replace(scorer, id=new_id(), version=int(last or 0) + 1))


def latest_scorer(reads: Reads, embedder: Embedder | None = None) -> StepScorer | None:
    """The newest scorer, of those made with the embedder where one is named."""
    found = reads.find(StepScorer, order_by="version DESC")
    if embedder is not None:
        found = [scorer for scorer in found if scorer.embedder_sha256 == embedder.info.sha256]
    return found[0] if found else None


def score_steps(scorer: StepScorer, task: str, steps: Sequence[str], embedder: Embedder) -> Floats:
    """The probability that each step belongs to the task, shape (steps,).

    Raises
    ------
    ConflictError
        When the scorer was trained with another embedder.
    """
    if embedder.info.sha256 != scorer.embedder_sha256:
        raise ConflictError(
            f"The scorer was trained with the embedder {scorer.embedder_id}.",
            remedy="Train it again with the present one.",
        )
    vectors = np.array(embedder.embed([task, *steps]), dtype=np.float64)
    features = make_features(np.repeat(vectors[:1], len(steps), axis=0), vectors[1:])
    logits = features @ np.array(scorer.weights) + scorer.bias
    return np.asarray(1.0 / (1.0 + np.exp(-logits)), dtype=np.float64)


def make_features(tasks: Floats, steps: Floats) -> Floats:
    """Features of pairs of unit vectors, shape (pairs, 2 dimensions + 1): product, distance, cosine.

    The parts are scaled so that each has about the weight of the cosine.
    """
    scale = np.sqrt(tasks.shape[1])
    cosine = (tasks * steps).sum(axis=1, keepdims=True)
    return np.hstack([tasks * steps * scale, np.abs(tasks - steps), 5.0 * cosine])


def _examples(
    golds: Sequence[StepGraph], embedder: Embedder, seed: int
) -> tuple[list[str], Floats, npt.NDArray[np.int64]]:
    generator = np.random.default_rng(seed)
    by_task: dict[str, list[str]] = {}
    for gold in golds:
        by_task.setdefault(gold.graph.task, []).extend(step.text for step in gold.accepted)
    by_task = {task: list(dict.fromkeys(steps)) for task, steps in by_task.items() if steps}
    pairs: list[tuple[str, str, int]] = []
    for task, steps in by_task.items():
        others = [s for other, found in by_task.items() if other != task for s in found]
        others = [step for step in others if step not in steps]
        pairs += [(task, step, 1) for step in steps]
        wanted = min(len(others), WRONG_PER_RIGHT * len(steps))
        pairs += [(task, others[n], 0) for n in generator.permutation(len(others))[:wanted]]
    if not pairs:
        return [], np.zeros((0, 1)), np.zeros(0, dtype=np.int64)
    texts = list(dict.fromkeys([text for task, step, _ in pairs for text in (task, step)]))
    place = {text: number for number, text in enumerate(texts)}
    vectors = np.array(embedder.embed(texts), dtype=np.float64)
    left = vectors[[place[task] for task, _, _ in pairs]]
    right = vectors[[place[step] for _, step, _ in pairs]]
    labels = np.array([label for _, _, label in pairs], dtype=np.int64)
    return [task for task, _, _ in pairs], make_features(left, right), labels


def _held_out_area(tasks: Sequence[str], features: Any, labels: Any) -> float | None:
    """Area under the ROC curve on tasks the model did not see; None with too few tasks."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score
    from sklearn.model_selection import GroupKFold

    folds = min(_FOLDS, len(set(tasks)))
    if folds < _FEWEST_TASKS:
        return None
    scores = np.zeros(len(labels))
    for train, test in GroupKFold(folds).split(features, labels, groups=list(tasks)):
        if len(set(labels[train].tolist())) < 2:
            return None
        model = LogisticRegression(C=PENALTY, class_weight="balanced", max_iter=1000).fit(
            features[train], labels[train]
        )
        scores[test] = model.decision_function(features[test])
    return round(float(roc_auc_score(labels, scores)), 4)
