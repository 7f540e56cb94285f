"""SARI of edited text: EASSE's corpus form, and the per-sentence form of another library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from core.metrics.base import MetricScore
from core.metrics.ngrams import Ints, NgramCounts, Texts, count_ngrams
from core.metrics.options import read_choice, read_flag
from core.metrics.text import EditItem, EditMetric
from core.metrics.words import TOKENIZERS, WordNumbers

Floats = npt.NDArray[np.float64]

_SOURCE, _PREDICTION, _REFERENCE = 0, 1, 2
_ORDERS = 4

# Columns of the sums kept for each item and n.
_ADD, _ADD_SYS, _ADD_REF, _KEEP, _KEEP_SYS, _KEEP_REF, _DEL, _DEL_SYS, _DEL_REF = range(9)
_COLUMNS = 9


class _SariBase(EditMetric):
    """Counting that both forms share."""

    high = 100.0

    def __init__(
        self, tokenizer: str = "13a", lowercase: str = "true", normalisation: str = "none"
    ) -> None:
        super().__init__(normalisation)
        self._tokenizer = read_choice("tokenizer", tokenizer, TOKENIZERS)
        self._lowercase = read_flag("lowercase", lowercase)

    def _options(self) -> Mapping[str, str]:
        return {"tokenizer": self._tokenizer, "lowercase": str(self._lowercase).lower()}

    def _sums(self, items: Sequence[EditItem]) -> Floats:
        """Sums for each item, n and column, shape (items, 4, columns)."""
        numbers = WordNumbers(self._tokenizer, lowercase=self._lowercase)
        words, lengths = self._encode(
            numbers,
            [text for item in items for text in (item.source, item.prediction, *item.references)],
        )
        references = np.array([len(item.references) for item in items], dtype=np.int64)
        role = np.full(len(lengths), _REFERENCE, dtype=np.int64)
        first = np.cumsum(references + 2) - references - 2
        role[first], role[first + 1] = _SOURCE, _PREDICTION
        texts = Texts(words, lengths, role, np.repeat(np.arange(len(items)), references + 2))
        sums = np.zeros((len(items), _ORDERS, _COLUMNS))
        for place, batch in texts.batches():
            for order, counts in enumerate(count_ngrams(batch, 3, _ORDERS)):
                sums[place, order] = self._sum_order(counts, references[place], batch.items)
        return sums

    def _encode(self, numbers: WordNumbers, texts: Sequence[str]) -> tuple[Ints, Ints]:
        return numbers.encode(texts)

    def _sum_order(self, counts: NgramCounts, references: Ints, size: int) -> Floats:
        raise AssertionError(self)


class Sari(_SariBase):
    """SARI: how well words were added, kept and deleted, 0 to 100, corpus counts.

    With o, s, R the n-gram counts of source, output and all r references together, for n = 1 to 4 and
    summed over the corpus::

        add:    F1 of (s \\ o) against (R \\ o), as sets
        keep:   F1 of (r·o ∩ r·s) against (r·o ∩ R), as counts
        delete: F1 of (r·o - r·s) against (r·o - R), as counts
        SARI  = 100 · mean over the three of the mean over n

    0 stands where a denominator is 0, so an output equal to the only reference need not reach 100
    (33.33 where it only deletes or only keeps). Text is lower-cased and split by sacrebleu's 13a rules.
    ``deletion=precision`` and ``average=micro`` (F1 of the mean precision and mean recall) are the
    paper's variants. The corpus value is not the mean of sentences.

    Source: Xu et al., 'Optimizing Statistical Machine Translation for Text Simplification' (TACL
    2016), section 4; the numbers are those of EASSE, whose choices are the default.

    It cannot tell fluency or truth, and needs references that show the edits that were wanted.
    """

    name = "sari"

    def __init__(
        self,
        tokenizer: str = "13a",
        lowercase: str = "true",
        deletion: str = "f1",
        average: str = "macro",
        normalisation: str = "none",
    ) -> None:
        super().__init__(tokenizer, lowercase, normalisation)
        self._deletion = read_choice("deletion", deletion, ("f1", "precision"))
        self._average = read_choice("average", average, ("macro", "micro"))

    def _options(self) -> Mapping[str, str]:
        return {**super()._options(), "deletion": self._deletion, "average": self._average}

    def _score_batch(self, items: Sequence[EditItem]) -> list[MetricScore]:
        add, keep, delete = self._parts(self._sums(items))
        return [
            self._score(*values)
            for values in zip(add.tolist(), keep.tolist(), delete.tolist(), strict=True)
        ]

    def _aggregate(self, items: Sequence[EditItem]) -> MetricScore:
        add, keep, delete = self._parts(self._sums(items).sum(axis=0, keepdims=True))
        return self._score(float(add[0]), float(keep[0]), float(delete[0]), n=len(items))

    def _score(self, add: float, keep: float, delete: float, **more: Any) -> MetricScore:
        return MetricScore(
            value=(add + keep + delete) / 3,
            components={"add": add, "keep": keep, "delete": delete, **more},
            signature=self.signature,
        )

    def _parts(self, sums: Floats) -> tuple[Floats, Floats, Floats]:
        """Add, keep and delete, 0 to 100, each of shape (items,)."""
        found = []
        for start in (_ADD, _KEEP, _DEL):
            precision = _divide(sums[..., start], sums[..., start + 1])
            recall = _divide(sums[..., start], sums[..., start + 2])
            if self._average == "micro":
                precision, recall = precision.mean(axis=-1), recall.mean(axis=-1)
            if start == _DEL and self._deletion == "precision":
                value = precision
            else:
                value = _f1(precision, recall)
            found.append(100 * (value if self._average == "micro" else value.mean(axis=-1)))
        return found[0], found[1], found[2]

    def _sum_order(self, counts: NgramCounts, references: Ints, size: int) -> Floats:
        o, s, r = counts.counts
        weight = references[counts.item]
        keep_sys, keep_ref = weight * np.minimum(o, s), np.minimum(weight * o, r)
        del_sys, del_ref = weight * np.maximum(o - s, 0), np.maximum(weight * o - r, 0)
        new = o == 0
        columns = (
            new & (s > 0) & (r > 0),
            new & (s > 0),
            new & (r > 0),
            np.minimum(keep_sys, keep_ref),
            keep_sys,
            keep_ref,
            np.minimum(del_sys, del_ref),
            del_sys,
            del_ref,
        )
        return counts.sum_by_item(columns, size)


class SariHf(_SariBase):
    """SARI of the 'evaluate' library: sentence by sentence, 0/0 = 1, deletion precision; 0 to 100.

    As SARI, but each sentence is scored alone with n-grams weighted equally, an empty denominator
    counts as 1, deletion is precision only, and the corpus value is the mean of the sentences. It lies
    some twenty points above SARI on the same texts, so the two must never stand in one column.

    Source: the `sari` metric of Hugging Face's 'evaluate', after the released script of Xu et al.
    (TACL 2016).

    It cannot tell fluency or truth, and gives a good score to doing nothing where nothing was wanted.
    """

    name = "sari_hf"

    def _encode(self, numbers: WordNumbers, texts: Sequence[str]) -> tuple[Ints, Ints]:
        # A text without words counts there as one empty word.
        words, lengths = numbers.encode(texts)
        empty = lengths == 0
        words = np.insert(words, np.cumsum(lengths)[empty], numbers.number(""))
        return words, lengths + empty

    def _score_batch(self, items: Sequence[EditItem]) -> list[MetricScore]:
        sums = self._sums(items)
        keep_precision = _divide(sums[..., 0], sums[..., 1], empty=1.0)
        keep_recall = _divide(sums[..., 2], sums[..., 3], empty=1.0)
        add_precision = _divide(sums[..., 6], sums[..., 7], empty=1.0)
        add_recall = _divide(sums[..., 6], sums[..., 8], empty=1.0)
        parts = (
            _f1(add_precision, add_recall),
            _f1(keep_precision, keep_recall),
            _divide(sums[..., 4], sums[..., 5], empty=1.0),
        )
        add, keep, delete = (100 * part.mean(axis=-1) for part in parts)
        return [
            MetricScore(
                value=(a + k + d) / 3,
                components={"add": a, "keep": k, "delete": d},
                signature=self.signature,
            )
            for a, k, d in zip(add.tolist(), keep.tolist(), delete.tolist(), strict=True)
        ]

    def _sum_order(self, counts: NgramCounts, references: Ints, size: int) -> Floats:
        o, s, r = counts.counts
        weight = references[counts.item]
        keep_sys, keep_ref = weight * np.minimum(o, s), np.minimum(weight * o, r)
        good = np.minimum(keep_sys, r)
        del_sys = weight * np.maximum(o - s, 0)
        good_del = np.maximum(del_sys - r, 0)
        new = o == 0
        columns = (
            _divide(good, keep_sys),
            keep_sys > 0,
            good,
            keep_ref,
            _divide(good_del, del_sys),
            del_sys > 0,
            new & (s > 0) & (r > 0),
            new & (s > 0),
            new & (r > 0),
        )
        return counts.sum_by_item(columns, size)


def _divide(top: npt.NDArray[Any], bottom: npt.NDArray[Any], empty: float = 0.0) -> Floats:
    found = np.full(top.shape, empty, dtype=np.float64)
    np.divide(top, bottom, out=found, where=bottom > 0)
    return found


def _f1(precision: Floats, recall: Floats) -> Floats:
    return _divide(2 * precision * recall, precision + recall)
