"""A slot for learned metrics: any model over pairs of texts that gives one number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from core.errors import UsageError
from core.metrics.base import Metric, MetricScore
from core.metrics.options import need_text, need_texts
from core.ports import Cancellation, PairScorer, ProgressCallback, no_progress


class Learned(Metric):
    """A learned metric: what a model of your own gives for (reference, output), on its own scale.

    The model is an exported ONNX regression or reranking model, such as BLEURT's kin, imported under
    Models and named with ``model=ID``. Of several references the highest value counts; the corpus
    value is the mean. What an output equal to its reference gives depends on the model, and so does
    the range.

    Source: the model; its name and sha256 stand in the signature. Sellam et al., 'BLEURT' (ACL 2020)
    is the kind of model that DOLOMITES reports.

    It cannot tell what the model was not trained for: other languages, long texts, other fields.
    """

    name = "learned"
    low = float("-inf")
    high = float("inf")

    def __init__(self, pair_scorer: PairScorer | None = None) -> None:
        self._model = pair_scorer

    @property
    def signature(self) -> str:
        if self._model is None:
            return f"learned|model:none|version:{self.version}"
        info = self._model.info
        return f"learned|model:{info.id}|sha256:{info.sha256}|version:{self.version}"

    def score_one(self, item: Mapping[str, Any]) -> MetricScore:
        return self.score_many([item])[0]

    def score_many(
        self,
        items: Sequence[Mapping[str, Any]],
        *,
        progress: ProgressCallback = no_progress,
        cancel: Cancellation | None = None,
    ) -> list[MetricScore]:
        if self._model is None:
            raise UsageError(
                "The learned metric needs a model.", remedy="Name one with the option model=ID."
            )
        pairs: list[tuple[str, str]] = []
        counts = []
        for number, item in enumerate(items, start=1):
            try:
                prediction, references = (
                    need_text(item, "prediction"),
                    need_texts(item, "references"),
                )
            except UsageError as error:
                raise UsageError(f"Item {number}: {error.message}", remedy=error.remedy) from error
            pairs += [(reference, prediction) for reference in references]
            counts.append(len(references))
        values = iter(self._model.score(pairs, progress=progress, cancel=cancel) if pairs else [])
        scores = []
        for count in counts:
            found = [next(values) for _ in range(count)]
            scores.append(
                MetricScore(
                    value=max(found),
                    components={"per_reference": found},
                    signature=self.signature,
                )
            )
        return scores

    def aggregate(self, items: Sequence[Mapping[str, Any]]) -> MetricScore:
        if not items:
            return self.unscored("There is no item.")
        values = [score.value or 0.0 for score in self.score_many(items)]
        return MetricScore(
            value=sum(values) / len(values), components={"n": len(values)}, signature=self.signature
        )
