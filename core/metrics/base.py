"""The one shape every metric has: items in, scores with signatures out, never an exception for odd text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from core.errors import UsageError
from core.ports import Cancellation, Progress, ProgressCallback, no_progress


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricScore:
    """A number with what it is made of, or the reason why there is none.

    Parameters
    ----------
    value
        The headline number on the metric's own scale; None when unscored.
    components
        Further named numbers (``precision``, ``recall`` ...).
    unscored
        Why there is no value, in words; None when there is one.
    signature
        Metric, version, tokenizer, options, model id and sha256, seed: all that makes it repeatable.
    notes
        Warnings for the reader, in words.
    """

    value: float | None
    components: Mapping[str, Any] = field(default_factory=dict)
    unscored: str | None = None
    signature: str = ""
    notes: tuple[str, ...] = ()

    def as_line(self) -> dict[str, Any]:
        """The object printed by ``rifugio metric``."""
        line: dict[str, Any] = {"value": self.value}
        if self.unscored is not None:
            line["unscored"] = self.unscored
        line.update(self.components)
        line["signature"] = self.signature
        if self.notes:
            line["notes"] = list(self.notes)
        return line


class Metric(ABC):
    """Base of all metrics; an instance holds its options and is safe to share between threads.

    An *item* is a mapping of the shape CLI.md gives for the metric's family, for example
    ``{"source": str?, "prediction": str, "references": [str, ...]}`` for text metrics.
    """

    name: ClassVar[str]
    version: ClassVar[str] = "1"
    low: ClassVar[float] = 0.0
    high: ClassVar[float] = 1.0

    @abstractmethod
    def score_one(self, item: Mapping[str, Any]) -> MetricScore:
        """Score one item.

        Raises
        ------
        UsageError
            When a key the metric needs is missing or has the wrong type. Odd text never raises.
        """

    def score_many(
        self,
        items: Sequence[Mapping[str, Any]],
        *,
        progress: ProgressCallback = no_progress,
        cancel: Cancellation | None = None,
    ) -> list[MetricScore]:
        """Score items in order."""
        scores = []
        for number, item in enumerate(items, start=1):
            if cancel is not None:
                cancel.raise_if_cancelled()
            try:
                scores.append(self.score_one(item))
            except UsageError as error:
                raise UsageError(f"Item {number}: {error.message}", remedy=error.remedy) from error
            progress(Progress(number, len(items)))
        return scores

    @abstractmethod
    def aggregate(self, items: Sequence[Mapping[str, Any]]) -> MetricScore:
        """The corpus-level value, which is not always the mean of the items' values."""

    @property
    @abstractmethod
    def signature(self) -> str:
        """What makes the number repeatable, ``name|option:value|...|version:1``."""

    def unscored(self, reason: str, **components: Any) -> MetricScore:
        """A score without a value and the reason why."""
        return MetricScore(
            value=None, components=components, unscored=reason, signature=self.signature
        )
