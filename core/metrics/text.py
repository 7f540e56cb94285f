"""What metrics of edited text share: reading items, EditEval's normalisation, means."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from core.errors import UsageError
from core.metrics.base import Metric, MetricScore
from core.metrics.options import need_text, need_texts, read_choice
from core.ports import Cancellation, Progress, ProgressCallback, no_progress

NORMALISATIONS = ("none", "editeval")


@dataclass(frozen=True, slots=True)
class EditItem:
    """A source, what a system made of it, and what people made of it."""

    source: str
    prediction: str
    references: tuple[str, ...]


class EditMetric(Metric):
    """Base of metrics over (source, prediction, references), scored in batches.

    A subclass implements `_score_batch`; it gets items that are read and normalised already.
    """

    needs_source: ClassVar[bool] = True
    batch_items: ClassVar[int] = 512

    def __init__(self, normalisation: str = "none") -> None:
        self._normalisation = read_choice("normalisation", normalisation, NORMALISATIONS)

    @property
    def signature(self) -> str:
        options = "".join(f"|{key}:{value}" for key, value in self._options().items())
        return f"{self.name}|normalisation:{self._normalisation}{options}|version:{self.version}"

    def score_one(self, item: Mapping[str, Any]) -> MetricScore:
        return self._score_batch([self.read(item)])[0]

    def score_many(
        self,
        items: Sequence[Mapping[str, Any]],
        *,
        progress: ProgressCallback = no_progress,
        cancel: Cancellation | None = None,
    ) -> list[MetricScore]:
        scores: list[MetricScore] = []
        for batch in self._batches(items):
            if cancel is not None:
                cancel.raise_if_cancelled()
            scores += self._score_batch(batch)
            progress(Progress(len(scores), len(items)))
        return scores

    def aggregate(self, items: Sequence[Mapping[str, Any]]) -> MetricScore:
        if not items:
            return self.unscored("There is no item.")
        return self._aggregate([item for batch in self._batches(items) for item in batch])

    def read(self, item: Mapping[str, Any]) -> EditItem:
        """An item, checked and normalised."""
        references = need_texts(item, "references")
        prediction = need_text(item, "prediction")
        source = need_text(item, "source") if self.needs_source else ""
        if self._normalisation == "editeval":
            source, prediction = detokenize(source), detokenize(prediction)
            references = [detokenize(text) for text in references]
        return EditItem(source, prediction, tuple(references))

    def mean_score(self, scores: Sequence[MetricScore], **components: Any) -> MetricScore:
        """The plain mean of items' values."""
        values = [score.value for score in scores if score.value is not None]
        if not values:
            return self.unscored("No item has a score.", **components)
        return MetricScore(
            value=sum(values) / len(values),
            components={**components, "n": len(values)},
            signature=self.signature,
            notes=tuple(dict.fromkeys(note for score in scores for note in score.notes)),
        )

    @abstractmethod
    def _score_batch(self, items: Sequence[EditItem]) -> list[MetricScore]:
        """Scores of items, in order."""

    def _aggregate(self, items: Sequence[EditItem]) -> MetricScore:
        return self.mean_score(self._score_batch(items))

    def _options(self) -> Mapping[str, str]:
        """Further options named in the signature."""
        return {}

    def _batches(self, items: Sequence[Mapping[str, Any]]) -> Iterator[list[EditItem]]:
        for start in range(0, len(items), self.batch_items):
            batch = []
            for number, item in enumerate(items[start : start + self.batch_items], start + 1):
                try:
                    batch.append(self.read(item))
                except UsageError as error:
                    raise UsageError(
                        f"Item {number}: {error.message}", remedy=error.remedy
                    ) from error
            yield batch


# NLTK 3.7's TreebankWordDetokenizer (Apache-2.0), whose rules later versions changed: EditEval's
# published numbers come from these.
_SPLIT_WORDS = (
    r"(?i) ('t)\s(is)\b",
    r"(?i) ('t)\s(was)\b",
    r"(?i)\b(can)\s(not)\b",
    r"(?i)\b(d)\s('ye)\b",
    r"(?i)\b(gim)\s(me)\b",
    r"(?i)\b(gon)\s(na)\b",
    r"(?i)\b(got)\s(ta)\b",
    r"(?i)\b(lem)\s(me)\b",
    r"(?i)\b(more)\s('n)\b",
    r"(?i)\b(wan)\s(na)(?=\s)",
)
_DETOKENIZE_WORDS = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        *((pattern, r"\1\2") for pattern in _SPLIT_WORDS),
        (r"([^' ])\s('ll|'LL|'re|'RE|'ve|'VE|n't|N'T) ", r"\1\2 "),
        (r"([^' ])\s('[sS]|'[mM]|'[dD]|') ", r"\1\2 "),
        (r"(\S)\s(\'\')", r"\1\2"),
        (r"(\'\')\s([.,:)\]>};%])", r"\1\2"),
        (r"\'\'", '"'),
    )
)
_DETOKENIZE_MARKS = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r" -- ", r"--"),
        (r"([\[\(\{\<])\s", r"\1"),
        (r"\s([\]\)\}\>])", r"\1"),
        (r"([\]\)\}\>])\s([:;,.])", r"\1\2"),
        (r"([^'])\s'\s", r"\1' "),
        (r"\s([?!])", r"\1"),
        (r'([^\.])\s(\.)([\]\)}>"\']*)\s*$', r"\1\2\3"),
        (r"([#$])\s", r"\1"),
        (r"\s([;%])", r"\1"),
        (r"\s\.\.\.\s", r"..."),
        (r"\s([:,])", r"\1"),
        (r"([ (\[{<])\s``", r"\1``"),
        (r"(``)\s", r"\1"),
        (r"``", r'"'),
    )
)


def detokenize(text: str) -> str:
    """A text as EditEval's normalisation leaves it: split at spaces, joined as written prose.

    Examples
    --------
    >>> detokenize("I ca n't , he said .")
    "I can't, he said."
    """
    for pattern, replacement in _DETOKENIZE_WORDS:
        text = pattern.sub(replacement, text)
    text = text.strip()
    for pattern, replacement in _DETOKENIZE_MARKS:
        text = pattern.sub(replacement, text)
    return text.strip()
