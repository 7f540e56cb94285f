"""Published formulas written straightforwardly, with dictionaries and loops: what speed is compared with."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Sequence

from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

Ngrams = Counter[tuple[str, ...]]


def ngrams(words: Sequence[str], order: int) -> Ngrams:
    """Counted n-grams of a list of words."""
    return Counter(tuple(words[i : i + order]) for i in range(len(words) - order + 1))


def plain_sari(
    sources: Sequence[str], outputs: Sequence[str], references: Sequence[Sequence[str]]
) -> float:
    """Corpus SARI by its definition, 0 to 100."""
    tokenizer = Tokenizer13a()

    def words(text: str) -> list[str]:
        # The tokenizer remembers what it has seen; its wrapped rules are called, as in a fresh corpus.
        line = Tokenizer13a.__call__.__wrapped__(tokenizer, text.lower())
        return line.split()

    sums = [[0] * 9 for _ in range(4)]
    for source, output, wanted in zip(sources, outputs, references, strict=True):
        source_words, output_words = words(source), words(output)
        reference_words = [words(reference) for reference in wanted]
        for order in range(1, 5):
            o, s = ngrams(source_words, order), ngrams(output_words, order)
            r: Ngrams = Counter()
            for entry in reference_words:
                r += ngrams(entry, order)
            row = sums[order - 1]
            added, addable = set(s) - set(o), set(r) - set(o)
            row[0] += len(added & addable)
            row[1] += len(added)
            row[2] += len(addable)
            o_all = Counter({key: count * len(wanted) for key, count in o.items()})
            s_all = Counter({key: count * len(wanted) for key, count in s.items()})
            kept, keepable = o_all & s_all, o_all & r
            row[3] += (kept & keepable).total()
            row[4] += kept.total()
            row[5] += keepable.total()
            deleted, deletable = o_all - s_all, o_all - r
            row[6] += (deleted & deletable).total()
            row[7] += deleted.total()
            row[8] += deletable.total()
    total = 0.0
    for row in sums:
        for start in (0, 3, 6):
            precision = row[start] / row[start + 1] if row[start + 1] else 0.0
            recall = row[start] / row[start + 2] if row[start + 2] else 0.0
            if precision + recall:
                total += 2 * precision * recall / (precision + recall)
    return 100 * total / 12


def plain_gleu(
    sources: Sequence[str],
    outputs: Sequence[str],
    references: Sequence[Sequence[str]],
    draws: int = 500,
) -> float:
    """Corpus GLEU by its definition and sampling rule, 0 to 1."""
    statistics: list[list[list[int]]] = []
    for source, output, wanted in zip(sources, outputs, references, strict=True):
        h_words, s_words = output.split(), source.split()
        rows = []
        for reference in wanted:
            r_words = reference.split()
            row = [len(h_words), len(r_words)]
            for order in range(1, 5):
                h, s, r = (ngrams(words, order) for words in (h_words, s_words, r_words))
                only_source = Counter({key: count for key, count in s.items() if key not in r})
                row.append(max((h & r).total() - (h & only_source).total(), 0))
                row.append(max(len(h_words) + 1 - order, 0))
            rows.append(row)
        statistics.append(rows)
    total = 0.0
    for draw in range(draws):
        random.seed(draw * 101)
        sums = [0] * 10
        for rows in statistics:
            sums = [
                a + b for a, b in zip(sums, rows[random.randint(0, len(rows) - 1)], strict=True)
            ]
        total += gleu_of(sums)
    return total / draws


def gleu_of(sums: Sequence[int]) -> float:
    """GLEU from summed statistics."""
    if min(sums) == 0:
        return 0.0
    logarithm = sum(math.log(sums[i] / sums[i + 1]) for i in range(2, 10, 2)) / 4
    return math.exp(min(0.0, 1 - sums[1] / sums[0]) + logarithm)
