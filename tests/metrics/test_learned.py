"""The slot for a learned metric."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from core.errors import UsageError
from core.metrics.learned import Learned
from core.metrics.registry import create
from core.ports import Cancellation, ModelInfo, ProgressCallback, no_progress


class Overlap:
    """A model that counts words in common."""

    def __init__(self) -> None:
        self.calls = 0

    @property
    def info(self) -> ModelInfo:
        return ModelInfo(id="overlap", name="Overlap", sha256="ab" * 32, device="cpu")

    def score(
        self,
        pairs: Sequence[tuple[str, str]],
        *,
        progress: ProgressCallback = no_progress,
        cancel: Cancellation | None = None,
    ) -> list[float]:
        self.calls += 1
        return [float(len({*a.split()} & {*b.split()})) for a, b in pairs]

    def close(self) -> None:
        """There is nothing to end."""


ITEMS = [
    {"prediction": "a b c", "references": ["a x", "a b"]},
    {"prediction": "", "references": ["a"]},
]


def test_best_reference_counts_in_one_call() -> None:
    model = Overlap()
    scores = create("learned", pair_scorer=model).score_many(ITEMS)
    assert [score.value for score in scores] == [2.0, 0.0]
    assert scores[0].components["per_reference"] == [1.0, 2.0]
    assert model.calls == 1
    assert "ab" * 32 in scores[0].signature


def test_corpus_value_is_the_mean() -> None:
    assert Learned(Overlap()).aggregate(ITEMS).value == 1.0
    assert Learned(Overlap()).aggregate([]).value is None


def test_without_a_model_it_says_so() -> None:
    with pytest.raises(UsageError, match="needs a model"):
        Learned().score_one(ITEMS[0])


def test_wrong_items_name_their_number() -> None:
    with pytest.raises(UsageError, match="Item 2"):
        Learned(Overlap()).score_many([ITEMS[0], {"prediction": "a"}])
