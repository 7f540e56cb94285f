"""Likeness of two texts by their n-grams, and whether a text stands in a corpus already."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from core.errors import UsageError
from core.metrics.base import Metric, MetricScore
from core.metrics.options import need_text

_WORD = re.compile(r"\w+")
_RANGE = re.compile(r"(\d)(?:-(\d))?")

NGRAM_WORDS = 8
CONTAMINATED = 0.7


class NgramCosine(Metric):
    """N-gram cosine: the cosine of two texts' raw n-gram counts, 0 to 1.

    ``Σ a·b / (|a| · |b|)`` over counts of n-grams of lower-cased ``\\w+`` words, n from 1 to 2 unless
    ``ngrams`` says otherwise; 0 where a text has no n-gram. The corpus value is the mean. Equal texts
    with at least one n-gram give 1.

    Source: DOLOMITES (Malaviya et al., 2024), where it tells how much of an example comes from its
    evidence; the paper does not state n.

    It cannot tell paraphrase from unrelated text, nor copying from a shared topic in short texts.
    """

    name = "ngram_cosine"

    def __init__(self, ngrams: str = "1-2") -> None:
        match = _RANGE.fullmatch(ngrams)
        low = int(match[1]) if match else 0
        high = int(match[2] or match[1]) if match else 0
        if not 1 <= low <= high:
            raise UsageError(
                f"ngrams={ngrams} is no range of lengths.", remedy="Write ngrams=1-2 or ngrams=3."
            )
        self._low, self._high = low, high

    @property
    def signature(self) -> str:
        return (
            rf"ngram_cosine|ngrams:{self._low}-{self._high}|words:\w+ lower|version:{self.version}"
        )

    def score_one(self, item: Mapping[str, Any]) -> MetricScore:
        a, b = (self._count(need_text(item, key)) for key in ("a", "b"))
        shorter, longer = (a, b) if len(a) <= len(b) else (b, a)
        product = sum(count * longer[ngram] for ngram, count in shorter.items() if ngram in longer)
        # Whole numbers up to the last step, so that equal texts give exactly 1.
        norm = math.sqrt(_squares(a) * _squares(b))
        return MetricScore(
            value=min(1.0, product / norm) if norm else 0.0,
            components={"ngrams_a": a.total(), "ngrams_b": b.total()},
            signature=self.signature,
        )

    def aggregate(self, items: Sequence[Mapping[str, Any]]) -> MetricScore:
        if not items:
            return self.unscored("There is no item.")
        values = [score.value or 0.0 for score in self.score_many(items)]
        return MetricScore(
            value=sum(values) / len(values), components={"n": len(values)}, signature=self.signature
        )

    def _count(self, text: str) -> Counter[tuple[str, ...]]:
        words = _WORD.findall(text.lower())
        found: Counter[tuple[str, ...]] = Counter()
        for order in range(self._low, self._high + 1):
            found.update(zip(*(words[start:] for start in range(order)), strict=False))
        return found


class Contamination(Metric):
    """Contamination: the share of a text's 8-grams that stand in a corpus, 0 to 1.

    ``8-grams seen at least once in the corpus / all 8-grams``, words as white space separates them,
    repeats counted. From 0.7 on ``contaminated`` is true. A text of fewer than eight words has no
    8-gram and is unscored. The corpus value is the share of contaminated texts. A text that stands
    whole in the corpus gives 1.

    Source: DOLOMITES (Malaviya et al., 2024), after Chowdhery et al., 'PaLM' (2022), section 8.

    It cannot tell paraphrased copies, nor a corpus that it was not given.
    """

    name = "contamination"

    def __init__(self) -> None:
        self._last: tuple[tuple[str, ...], frozenset[tuple[str, ...]]] = ((), frozenset())

    @property
    def signature(self) -> str:
        return (
            f"contamination|n:{NGRAM_WORDS}|words:white space|repeats:counted|"
            f"threshold:>={CONTAMINATED}|version:{self.version}"
        )

    def score_one(self, item: Mapping[str, Any]) -> MetricScore:
        words = need_text(item, "prediction").split()
        corpus = item.get("corpus")
        if not isinstance(corpus, list | tuple) or not all(isinstance(t, str) for t in corpus):
            raise UsageError(
                "'corpus' is missing or no list of texts.", remedy='Give {"corpus": ["..."]}.'
            )
        ngrams = _word_ngrams(words)
        if not ngrams:
            return self.unscored(f"The text has fewer than {NGRAM_WORDS} words.", words=len(words))
        known = self._known(tuple(corpus))
        seen = sum(ngram in known for ngram in ngrams)
        unique = set(ngrams)
        value = seen / len(ngrams)
        return MetricScore(
            value=value,
            components={
                "ngrams": len(ngrams),
                "seen": seen,
                "unique_share": sum(ngram in known for ngram in unique) / len(unique),
                "contaminated": value >= CONTAMINATED,
            },
            signature=self.signature,
        )

    def aggregate(self, items: Sequence[Mapping[str, Any]]) -> MetricScore:
        scores = self.score_many(items)
        scored = [score for score in scores if score.value is not None]
        skipped = len(scores) - len(scored)
        if not scored:
            return self.unscored("No text has eight words or more.", unscored_items=skipped)
        bad = sum(bool(score.components["contaminated"]) for score in scored)
        return MetricScore(
            value=bad / len(scored),
            components={
                "contaminated": bad,
                "mean_share": sum(score.value or 0.0 for score in scored) / len(scored),
                "n": len(scored),
                "unscored_items": skipped,
            },
            signature=self.signature,
        )

    def _known(self, corpus: tuple[str, ...]) -> frozenset[tuple[str, ...]]:
        """The corpus's 8-grams; the last corpus is remembered, since many texts share one."""
        before, known = self._last
        if before != corpus or not known:
            known = frozenset(ngram for text in corpus for ngram in _word_ngrams(text.split()))
            self._last = (corpus, known)
        return known


def _word_ngrams(words: Sequence[str]) -> list[tuple[str, ...]]:
    return list(zip(*(words[start:] for start in range(NGRAM_WORDS)), strict=False))


def _squares(counts: Counter[tuple[str, ...]]) -> int:
    return sum(count * count for count in counts.values())
