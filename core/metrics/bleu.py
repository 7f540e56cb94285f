"""BLEU as sacrebleu and as EditEval compute it, and iBLEU, which takes away likeness to the source."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from core.errors import UsageError
from core.metrics.base import MetricScore
from core.metrics.ngrams import Ints, Texts, count_ngrams
from core.metrics.options import read_choice, read_flag
from core.metrics.text import EditItem, EditMetric
from core.metrics.words import TOKENIZERS, WordNumbers

Floats = npt.NDArray[np.float64]

_ORDERS = 4
_SMOOTHING = ("exp", "floor", "add-k", "none")


class _Counts:
    """Matches and totals for n = 1 to 4, lengths, and the reference lengths of each item."""

    def __init__(
        self, outputs: Sequence[str], references: Sequence[Sequence[str]], numbers: WordNumbers
    ) -> None:
        counts = np.array([len(entry) for entry in references], dtype=np.int64)
        words, lengths = numbers.encode(
            [text for o, entry in zip(outputs, references, strict=True) for text in (o, *entry)]
        )
        first = np.cumsum(counts + 1) - counts - 1
        owner = np.repeat(np.arange(len(outputs)), counts + 1)
        role = np.arange(len(lengths)) - np.repeat(first, counts + 1)
        self.length: Ints = lengths[first]
        self.shortest: Ints = np.zeros(len(outputs), dtype=np.int64)
        self.closest: Ints = np.zeros(len(outputs), dtype=np.int64)
        for item, (start, count) in enumerate(zip(first.tolist(), counts.tolist(), strict=True)):
            others = lengths[start + 1 : start + 1 + count].tolist()
            own = int(self.length[item])
            self.shortest[item] = min(others)
            self.closest[item] = min(others, key=lambda length: (abs(length - own), length))
        self.matches: Ints = np.zeros((len(outputs), _ORDERS), dtype=np.int64)
        for place, batch in Texts(words, lengths, role, owner).batches():
            roles = int(batch.role.max()) + 1
            for order, found in enumerate(count_ngrams(batch, roles, _ORDERS)):
                shared = np.minimum(found.counts[0], found.counts[1:].max(axis=0))
                self.matches[place, order] = found.sum_by_item([shared], batch.items)[:, 0]
        self.totals: Ints = np.maximum(self.length[:, None] - np.arange(_ORDERS), 0)


class Bleu(EditMetric):
    """BLEU: n-gram precision against all references with a penalty for brevity, 0 to 100.

    ``100 · BP · exp(mean over n = 1..4 of ln p_n)``, p_n the share of the output's n-grams found in a
    reference (each counted at most as often as in the reference that has it most), summed over the
    corpus; ``BP = min(1, exp(1 - r/c))`` with r the reference length closest to the output's. Zero
    counts are smoothed (``smoothing=exp``: the k-th zero becomes 100/(2^k · total)). A sentence alone
    uses no orders longer than itself. An output equal to a reference gives 100 from four words on.

    Source: Papineni et al., 'BLEU' (ACL 2002); sacrebleu 2 (Post, WMT 2018) is the reference: 13a
    words, case kept.

    It cannot tell meaning or negation, and a single sentence's value is mostly noise.
    """

    name = "bleu"
    high = 100.0
    needs_source = False

    def __init__(
        self,
        tokenizer: str = "13a",
        lowercase: str = "false",
        smoothing: str = "exp",
        normalisation: str = "none",
    ) -> None:
        super().__init__(normalisation)
        self._tokenizer = read_choice("tokenizer", tokenizer, TOKENIZERS)
        self._lowercase = read_flag("lowercase", lowercase)
        self._smoothing = read_choice("smoothing", smoothing, _SMOOTHING)

    def _options(self) -> Mapping[str, str]:
        return {
            "tokenizer": self._tokenizer,
            "lowercase": str(self._lowercase).lower(),
            "smoothing": self._smoothing,
            "reference_length": "closest",
        }

    def _count(self, items: Sequence[EditItem]) -> _Counts:
        return _Counts(
            # sacrebleu strips the end first: 13a would join '-' with a line break after it to nothing.
            [item.prediction.rstrip() for item in items],
            [[text.rstrip() for text in item.references] for item in items],
            WordNumbers(self._tokenizer, lowercase=self._lowercase),
        )

    def _score_batch(self, items: Sequence[EditItem]) -> list[MetricScore]:
        found = self._count(items)
        rows = zip(
            found.matches.tolist(),
            found.totals.tolist(),
            found.length.tolist(),
            found.closest.tolist(),
            strict=True,
        )
        return [self._score(*row, effective=True) for row in rows]

    def _aggregate(self, items: Sequence[EditItem]) -> MetricScore:
        found = self._count(items)
        return self._score(
            found.matches.sum(axis=0).tolist(),
            found.totals.sum(axis=0).tolist(),
            int(found.length.sum()),
            int(found.closest.sum()),
            n=len(items),
        )

    def _score(
        self,
        matches: Sequence[int],
        totals: Sequence[int],
        length: int,
        reference_length: int,
        *,
        effective: bool = False,
        **more: Any,
    ) -> MetricScore:
        precisions, penalty, value = smoothed_bleu(
            matches, totals, length, reference_length, self._smoothing, effective=effective
        )
        return MetricScore(
            value=value,
            components={
                "precisions": precisions,
                "brevity_penalty": penalty,
                "length": length,
                "reference_length": reference_length,
                **more,
            },
            signature=self.signature,
        )


class BleuEditEval(EditMetric):
    """BLEU as EditEval computes it: unsmoothed, NLTK words, shortest reference, 0 to 1.

    ``BP · exp(mean over n = 1..4 of ln p_n)`` from corpus sums, 0 where any p_n is 0; the reference
    length is the shortest. Text is split in sentences by Punkt, then in words by NLTK 3.7's rules. An
    output without any word gives 0, where the published script fails.

    Source: Dwivedi-Yu et al., 'EditEval' (2022), whose script calls the BLEU of TensorFlow NMT.

    It cannot tell meaning, and is 0 for most single sentences shorter than some ten words.
    """

    name = "bleu_editeval"
    needs_source = False

    def _options(self) -> Mapping[str, str]:
        return {"tokenizer": "nltk3.7+punkt", "smoothing": "none", "reference_length": "shortest"}

    def _score_batch(self, items: Sequence[EditItem]) -> list[MetricScore]:
        found = _Counts(
            [item.prediction for item in items],
            [item.references for item in items],
            WordNumbers("nltk"),
        )
        return [self._score(found, slice(row, row + 1)) for row in range(len(items))]

    def _aggregate(self, items: Sequence[EditItem]) -> MetricScore:
        found = _Counts(
            [item.prediction for item in items],
            [item.references for item in items],
            WordNumbers("nltk"),
        )
        return self._score(found, slice(None), n=len(items))

    def _score(self, found: _Counts, rows: slice, **more: Any) -> MetricScore:
        matches = found.matches[rows].sum(axis=0).tolist()
        totals = found.totals[rows].sum(axis=0).tolist()
        length, wanted = int(found.length[rows].sum()), int(found.shortest[rows].sum())
        precisions, penalty, value = plain_bleu(matches, totals, length, wanted)
        return MetricScore(
            value=value,
            components={
                "precisions": precisions,
                "brevity_penalty": penalty,
                "length": length,
                "reference_length": wanted,
                **more,
            },
            signature=self.signature,
        )


class IBleu(EditMetric):
    """iBLEU: BLEU against the references less BLEU against the input; can be negative.

    ``a · BLEU(output, references) - (1 - a) · BLEU(output, input)``. By default a = 0.9 on
    `bleu_editeval` (-0.1 to 0.9), as EditEval; ``bleu=sacrebleu`` takes sacrebleu's BLEU (-10 to 90 for
    a = 0.9), and ``alpha`` sets a. An output equal to the only reference and unlike the input gives a.

    Source: Sun and Zhou, 'Joint Learning of a Dual SMT System for Paraphrase Generation' (ACL 2012);
    a as in EditEval (2022).

    It cannot tell whether a difference from the input keeps its meaning.
    """

    name = "ibleu"
    low = -100.0
    high = 100.0

    def __init__(
        self, alpha: str = "0.9", bleu: str = "editeval", normalisation: str = "none"
    ) -> None:
        super().__init__(normalisation)
        try:
            self._alpha = float(alpha)
        except ValueError:
            self._alpha = -1.0
        if not 0 <= self._alpha <= 1:
            raise UsageError(f"alpha={alpha} is not between 0 and 1.", remedy="Write alpha=0.9.")
        kind = read_choice("bleu", bleu, ("editeval", "sacrebleu"))
        self._bleu: EditMetric = BleuEditEval() if kind == "editeval" else Bleu()

    def _options(self) -> Mapping[str, str]:
        return {"alpha": f"{self._alpha:g}", "bleu": f"({self._bleu.signature})"}

    def _score_batch(self, items: Sequence[EditItem]) -> list[MetricScore]:
        to_references = self._bleu._score_batch(items)
        to_source = self._bleu._score_batch([_against_source(item) for item in items])
        return [self._join(r, s) for r, s in zip(to_references, to_source, strict=True)]

    def _aggregate(self, items: Sequence[EditItem]) -> MetricScore:
        return self._join(
            self._bleu._aggregate(items),
            self._bleu._aggregate([_against_source(item) for item in items]),
            n=len(items),
        )

    def _join(self, references: MetricScore, source: MetricScore, **more: Any) -> MetricScore:
        good, bad = references.value or 0.0, source.value or 0.0
        return MetricScore(
            value=self._alpha * good - (1 - self._alpha) * bad,
            components={"bleu_references": good, "bleu_source": bad, **more},
            signature=self.signature,
        )


def _against_source(item: EditItem) -> EditItem:
    return EditItem(item.source, item.prediction, (item.source,))


def plain_bleu(
    matches: Sequence[int], totals: Sequence[int], length: int, reference_length: int
) -> tuple[list[float], float, float]:
    """Precisions, brevity penalty and unsmoothed BLEU, all 0 to 1."""
    precisions = [m / t if t else 0.0 for m, t in zip(matches, totals, strict=True)]
    if not length:
        return precisions, 0.0, 0.0
    ratio = length / reference_length if reference_length else math.inf
    penalty = 1.0 if ratio > 1 else math.exp(1 - 1 / ratio)
    if min(precisions) <= 0:
        return precisions, penalty, 0.0
    return precisions, penalty, penalty * math.exp(sum(map(math.log, precisions)) / _ORDERS)


def smoothed_bleu(
    matches: Sequence[int],
    totals: Sequence[int],
    length: int,
    reference_length: int,
    smoothing: str,
    *,
    effective: bool = False,
) -> tuple[list[float], float, float]:
    """Precisions (0 to 100), brevity penalty and BLEU (0 to 100) as sacrebleu smooths them."""
    precisions = [0.0] * _ORDERS
    penalty = 1.0
    if length < reference_length:
        penalty = math.exp(1 - reference_length / length) if length else 0.0
    if not any(matches):
        return precisions, penalty, 0.0
    orders, divisor = _ORDERS, 1.0
    for number, (match, total) in enumerate(zip(matches, totals, strict=True)):
        if smoothing == "add-k" and number:
            match, total = match + 1, total + 1
        if not total:
            break
        if effective:
            orders = number + 1
        if match:
            precisions[number] = 100.0 * match / total
        elif smoothing == "exp":
            divisor *= 2
            precisions[number] = 100.0 / (divisor * total)
        elif smoothing == "floor":
            precisions[number] = 100.0 * 0.1 / total
    used = precisions[:orders]
    if min(used) <= 0:
        return precisions, penalty, 0.0
    return precisions, penalty, penalty * math.exp(sum(map(math.log, used)) / orders)
