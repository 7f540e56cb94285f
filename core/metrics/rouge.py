"""ROUGE-1, -2, -L and -Lsum with rouge-score's numbers, at a fraction of its time.

rouge-score 0.1.2 (Apache-2.0) is the reference; the longest common subsequence is rapidfuzz's, which
gives the same length by bit-parallel arithmetic.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from rapidfuzz.distance import LCSseq

from core.metrics.base import Metric, MetricScore
from core.metrics.options import need_text, need_texts, read_choice, read_flag
from core.metrics.text import NORMALISATIONS, detokenize

Triple = tuple[float, float, float]

_NOT_ALPHANUMERIC = re.compile(r"[^a-z0-9]+")
_WORD = re.compile(r"\w+")
_ZERO: Triple = (0.0, 0.0, 0.0)


class _Rouge(Metric):
    """Common part: tokens, the best of several references, warnings."""

    def __init__(
        self,
        stemmer: str = "false",
        tokenizer: str = "rouge",
        references: str = "best",
        normalisation: str = "none",
    ) -> None:
        self._stem = read_flag("stemmer", stemmer)
        self._tokenizer = read_choice("tokenizer", tokenizer, ("rouge", "unicode"))
        self._references = read_choice("references", references, ("best", "editeval"))
        self._normalisation = read_choice("normalisation", normalisation, NORMALISATIONS)

    @property
    def signature(self) -> str:
        stem = "porter" if self._stem else "none"
        return (
            f"{self.name}|stemmer:{stem}|tokenizer:{self._tokenizer}|"
            f"references:{self._references}|normalisation:{self._normalisation}|"
            f"version:{self.version}"
        )

    def score_one(self, item: Mapping[str, Any]) -> MetricScore:
        prediction = need_text(item, "prediction")
        references = need_texts(item, "references")
        if self._normalisation == "editeval":
            prediction, references = detokenize(prediction), list(map(detokenize, references))
        if self._references == "editeval":
            # EditEval hands the list over as one text, which is the list's Python notation.
            references = [str(references)]
        best = max((self.score_pair(text, prediction) for text in references), key=lambda t: t[2])
        return MetricScore(
            value=best[2],
            components={"precision": best[0], "recall": best[1], "f1": best[2]},
            signature=self.signature,
            notes=self._warnings(prediction, references),
        )

    def aggregate(self, items: Sequence[Mapping[str, Any]]) -> MetricScore:
        scores = self.score_many(items)
        if not scores:
            return self.unscored("There is no item.")
        means = {
            key: sum(score.components[key] for score in scores) / len(scores)
            for key in ("precision", "recall", "f1")
        }
        return MetricScore(
            value=means["f1"], components={**means, "n": len(scores)}, signature=self.signature
        )

    def score_pair(self, reference: str, prediction: str) -> Triple:
        """(precision, recall, F1) against one reference."""
        raise AssertionError(self)

    def tokens(self, text: str) -> list[str]:
        """The text's tokens, stemmed where asked."""
        if self._tokenizer == "unicode":
            return _WORD.findall(text.casefold())
        found = _NOT_ALPHANUMERIC.sub(" ", text.lower()).split()
        return (
            [_stem(token) if len(token) > 3 else token for token in found] if self._stem else found
        )

    def _warnings(self, prediction: str, references: Sequence[str]) -> tuple[str, ...]:
        if self._tokenizer == "unicode":
            return ()
        for text in (prediction, *references):
            letters = [character for character in text if character.isalpha()]
            lost = sum(not character.isascii() for character in letters)
            if letters and lost > len(letters) / 2:
                return (
                    "ROUGE drops every letter other than a to z, so this text scores next to nothing "
                    "even against itself; use tokenizer=unicode.",
                )
        return ()


class _RougeN(_Rouge):
    order: int

    def score_pair(self, reference: str, prediction: str) -> Triple:
        wanted = _ngrams(self.tokens(reference), self.order)
        written = _ngrams(self.tokens(prediction), self.order)
        overlap = (wanted & written).total()
        return _triple(overlap, written.total(), wanted.total())


class Rouge1(_RougeN):
    """ROUGE-1: overlap of single words with the reference, F1, 0 to 1.

    ``P = |words in both| / |words of the output|``, ``R = ... / |words of the reference|``,
    ``F1 = 2PR/(P+R)``, counted with repeats; of several references the best F1 counts. The corpus
    value is the mean over items.

    Source: Lin, 'ROUGE' (2004); rouge-score 0.1.2 is the reference implementation.

    It cannot tell order, meaning, negation, or synonyms.
    """

    name = "rouge1"
    order = 1


class Rouge2(_RougeN):
    """ROUGE-2: overlap of word pairs with the reference, F1, 0 to 1.

    As ROUGE-1, over pairs of neighbouring words.

    Source: Lin, 'ROUGE' (2004); rouge-score 0.1.2 is the reference implementation.

    It cannot tell meaning, negation, or synonyms; short texts score near 0 by chance.
    """

    name = "rouge2"
    order = 2


class RougeL(_Rouge):
    """ROUGE-L: longest common subsequence of words with the reference, F1, 0 to 1.

    ``P = LCS / |words of the output|``, ``R = LCS / |words of the reference|``,
    ``F1 = 2PR/(P+R)``; of several references the best F1 counts. The corpus value is the mean.

    Source: Lin, 'ROUGE' (2004); rouge-score 0.1.2 is the reference implementation.

    It cannot tell meaning, negation, or synonyms, and punishes sections in another order.
    """

    name = "rougeL"

    def score_pair(self, reference: str, prediction: str) -> Triple:
        wanted, written = self.tokens(reference), self.tokens(prediction)
        if not wanted or not written:
            return _ZERO
        return _triple(LCSseq.similarity(wanted, written), len(written), len(wanted))


class RougeLsum(_Rouge):
    """ROUGE-Lsum: union of longest common subsequences, sentence by sentence, F1, 0 to 1.

    For each reference sentence (a line) the words that lie on a longest common subsequence with any
    output sentence are united; hits are counted at most as often as a word occurs on either side.

    Source: Lin, 'ROUGE' (2004), section 3.2; rouge-score 0.1.2 is the reference implementation.

    It cannot tell meaning, negation, or synonyms, and depends on where lines break.
    """

    name = "rougeLsum"

    def score_pair(self, reference: str, prediction: str) -> Triple:
        wanted = [self.tokens(line) for line in reference.split("\n") if line]
        written = [self.tokens(line) for line in prediction.split("\n") if line]
        m, n = sum(map(len, wanted)), sum(map(len, written))
        if not m or not n:
            return _ZERO
        left_wanted = Counter(token for line in wanted for token in line)
        left_written = Counter(token for line in written for token in line)
        hits = 0
        for line in wanted:
            for index in _union_lcs(line, written):
                token = line[index]
                if left_written[token] > 0 and left_wanted[token] > 0:
                    hits += 1
                    left_written[token] -= 1
                    left_wanted[token] -= 1
        return _triple(hits, n, m)


def _triple(hits: int, written: int, wanted: int) -> Triple:
    precision = hits / max(written, 1)
    recall = hits / max(wanted, 1)
    total = precision + recall
    return precision, recall, 2 * precision * recall / total if total > 0 else 0.0


def _ngrams(tokens: Sequence[str], order: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(tokens[start:] for start in range(order)), strict=False))


def _union_lcs(reference: list[str], sentences: Sequence[list[str]]) -> list[int]:
    """Indices of the reference's words on a longest common subsequence with any of the sentences."""
    found: set[int] = set()
    for sentence in sentences:
        found.update(_lcs_indices(reference, sentence))
    return sorted(found)


def _lcs_indices(reference: list[str], sentence: list[str]) -> list[int]:
    """Indices into the reference of the subsequence that rouge-score's backtracking takes."""
    if not sentence or not reference:
        return []
    numbers: dict[str, int] = {}
    a = [numbers.setdefault(token, len(numbers)) for token in reference]
    b = np.array([numbers.setdefault(token, len(numbers)) for token in sentence])
    table = np.zeros((len(a) + 1, len(b) + 1), dtype=np.int32)
    for row, token in enumerate(a, start=1):
        # A cell is the best of: above, diagonal plus a match, and what the row reached so far.
        best = np.maximum(table[row - 1, 1:], table[row - 1, :-1] + (b == token))
        table[row, 1:] = np.maximum.accumulate(best)
    i, j = len(a), len(b)
    indices = []
    while i and j:
        if a[i - 1] == b[j - 1]:
            indices.append(i - 1)
            i -= 1
            j -= 1
        elif table[i, j - 1] > table[i - 1, j]:
            j -= 1
        else:
            i -= 1
    return indices[::-1]


@lru_cache(maxsize=100_000)
def _stem(token: str) -> str:
    return str(_porter().stem(token))


@lru_cache(maxsize=1)
def _porter() -> Any:
    from nltk.stem import porter

    return porter.PorterStemmer()
