"""GLEU of grammatical error correction, by sampling references as published, or exactly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from core.metrics.base import MetricScore
from core.metrics.ngrams import Ints, Texts, count_ngrams
from core.metrics.options import read_choice, read_flag
from core.metrics.text import EditItem, EditMetric
from core.metrics.words import WordNumbers

Floats = npt.NDArray[np.float64]

DRAWS = 500
_SEED_STEP = 101
_ORDERS = 4
_COLUMNS = 2 + 2 * _ORDERS


class Gleu(EditMetric):
    """GLEU: n-grams shared with a reference, less those kept from the source by mistake; 0 to 1.

    For an output h, its source s, one reference r, and n = 1 to 4::

        numerator   = max(0, Σ min(h, r) - Σ min(h, s where r has none))
        denominator = max(0, |h| + 1 - n)
        GLEU = exp(min(0, 1 - |r|/|h|) + mean over n of ln(Σ numerator / Σ denominator))

    summed over the corpus with one reference drawn for each sentence, 0 if any sum is 0, and averaged
    over 500 draws. Draw j seeds Python's generator with 101·j and takes one ``randint(0, R-1)`` for
    each sentence in order. ``draw=py2`` takes ``int(random() * R)`` as the published JFLEG numbers did;
    ``draw=exact`` replaces the sums by their expectation over all references, without chance. A
    sentence alone takes the mean over its references with zeros replaced by 1. Words are what white
    space separates, with ``normalisation=editeval`` what NLTK's tokenizer gives. An output equal to
    the only reference gives 1 from four words on.

    Source: Napoles et al., 'Ground Truth for Grammatical Error Correction Metrics' (ACL 2015) and 'GLEU
    Without Tuning' (2016); the numbers are those of the authors' script.

    It cannot tell a good rewrite that no annotator thought of from an error.
    """

    name = "gleu"

    def __init__(
        self,
        draw: str = "py3",
        lowercase: str = "false",
        tokenizer: str = "auto",
        normalisation: str = "none",
    ) -> None:
        super().__init__(normalisation)
        tokenizer = read_choice("tokenizer", tokenizer, ("auto", "none", "nltk", "13a"))
        if tokenizer == "auto":
            tokenizer = "nltk" if normalisation == "editeval" else "none"
        self._tokenizer = tokenizer
        self._draw = read_choice("draw", draw, ("py3", "py2", "exact"))
        self._lowercase = read_flag("lowercase", lowercase)

    def _options(self) -> Mapping[str, str]:
        draw = self._draw if self._draw == "exact" else f"{self._draw}:{DRAWS}:seed j*{_SEED_STEP}"
        return {
            "draw": draw,
            "tokenizer": self._tokenizer,
            "lowercase": str(self._lowercase).lower(),
        }

    def _score_batch(self, items: Sequence[EditItem]) -> list[MetricScore]:
        table = self._statistics(items)
        smooth = table.astype(np.float64)
        # Zeros become 1, but the reference's n-gram statistics alone: an empty text has no length.
        smooth[smooth == 0] = 1.0
        values = _gleu(smooth)
        ends = np.cumsum([len(item.references) for item in items])
        scores = []
        for end, item in zip(ends.tolist(), items, strict=True):
            found = values[end - len(item.references) : end]
            scores.append(
                MetricScore(
                    value=float(found.sum() / len(found)),
                    components={"per_reference": found.tolist()},
                    signature=self.signature,
                )
            )
        return scores

    def _aggregate(self, items: Sequence[EditItem]) -> MetricScore:
        table = self._statistics(items)
        counts = np.array([len(item.references) for item in items], dtype=np.int64)
        starts = np.cumsum(counts) - counts
        if self._draw == "exact":
            sums = (np.add.reduceat(table, starts, axis=0) / counts[:, None]).sum(axis=0)
            return MetricScore(
                value=float(_gleu(sums[None])[0]),
                components={"n": len(items)},
                signature=self.signature,
            )
        if counts.max() == 1:
            values = _gleu(table.sum(axis=0)[None].astype(np.float64))
        else:
            rows = table.astype(np.float64)
            sums = np.empty((DRAWS, _COLUMNS))
            state = np.random.RandomState(0)
            for draw in range(DRAWS):
                picks = draw_references(counts, draw, self._draw, state)
                chosen = np.zeros(len(table))
                chosen[starts + picks] = 1.0
                # Whole numbers below 2**53, so that the product is exact.
                sums[draw] = chosen @ rows
            values = _gleu(sums)
        return MetricScore(
            value=float(values.mean()),
            components={"deviation": float(values.std()), "n": len(items)},
            signature=self.signature,
        )

    def _statistics(self, items: Sequence[EditItem]) -> Ints:
        """|h|, |r|, then numerator and denominator for n = 1 to 4, a row each reference in order."""
        numbers = WordNumbers(self._tokenizer, lowercase=self._lowercase)
        words, lengths = numbers.encode(
            [text for item in items for text in (item.prediction, item.source, *item.references)]
        )
        counts = np.array([len(item.references) for item in items], dtype=np.int64)
        first = np.cumsum(counts + 2) - counts - 2
        owner = np.repeat(np.arange(len(items)), counts + 2)
        role = np.arange(len(lengths)) - np.repeat(first, counts + 2)
        is_reference = role >= 2
        row_item = owner[is_reference]
        written = lengths[first][row_item]
        table = np.zeros((len(row_item), _COLUMNS), dtype=np.int64)
        table[:, 0], table[:, 1] = written, lengths[is_reference]
        starts = np.cumsum(counts) - counts
        for place, batch in Texts(words, lengths, role, owner).batches():
            roles = int(batch.role.max()) + 1
            row_counts = counts[place]
            rows = slice(int(starts[place.start]), int(starts[place.stop - 1] + row_counts[-1]))
            item, reference = _cells(row_counts)
            for order, found in enumerate(count_ngrams(batch, roles, _ORDERS)):
                h, s, refs = found.counts[0], found.counts[1], found.counts[2:]
                # Only n-grams of the output count for or against it.
                mine = h > 0
                h, s, refs, owners = h[mine], s[mine], refs[:, mine], found.item[mine]
                gains = np.minimum(h, refs) - np.where(refs > 0, 0, np.minimum(h, s))
                sums = np.stack(
                    [np.bincount(owners, weights=gain, minlength=batch.items) for gain in gains]
                )
                numerator = sums[reference, item].astype(np.int64)
                table[rows, 2 + 2 * order] = np.maximum(numerator, 0)
                table[rows, 3 + 2 * order] = np.maximum(written[rows] - order, 0)
        return table


def draw_references(
    counts: Ints, draw: int, rule: str, state: np.random.RandomState | None = None
) -> Ints:
    """Which reference each sentence gets in one draw, as Python 3's or Python 2's generator draws it.

    numpy's Mersenne twister is the same generator, seeded in the same way, many times as fast.
    """
    state = np.random.RandomState(0) if state is None else state
    # A list, not a number: only lists are seeded as Python seeds.
    state.seed([draw * _SEED_STEP])
    if rule == "py2":
        return (state.random_sample(len(counts)) * counts).astype(np.int64)
    largest = int(counts.max())
    if largest == int(counts.min()):
        bits = largest.bit_length()
        picks = np.empty(0, dtype=np.int64)
        while len(picks) < len(counts):
            # Python takes the top bits and throws away what is too large.
            wanted = (len(counts) - len(picks)) * 5 // 2 + 16
            raw = state.randint(0, 2**32, size=wanted, dtype=np.uint32) >> (32 - bits)
            picks = np.append(picks, raw[raw < largest].astype(np.int64))
        return picks[: len(counts)]
    raw = iter(state.randint(0, 2**32, size=64 + 8 * len(counts), dtype=np.uint32).tolist())
    found = []
    for count in counts.tolist():
        bits = count.bit_length()
        pick = count
        while pick >= count:
            number = next(raw, None)
            if number is None:
                raw = iter(state.randint(0, 2**32, size=len(counts) + 64, dtype=np.uint32).tolist())
                continue
            pick = number >> (32 - bits)
        found.append(pick)
    return np.array(found, dtype=np.int64)


def _cells(counts: Ints) -> tuple[Ints, Ints]:
    """Item and number of each reference, references in order."""
    item = np.repeat(np.arange(len(counts)), counts)
    return item, np.arange(len(item)) - np.repeat(np.cumsum(counts) - counts, counts)


def _gleu(sums: Floats) -> Floats:
    """GLEU of rows of statistics, shape (rows,)."""
    found = np.zeros(len(sums))
    whole = (sums > 0).all(axis=1)
    rows = sums[whole]
    logs = np.log(rows[:, 2::2] / rows[:, 3::2]).sum(axis=1) / _ORDERS
    found[whole] = np.exp(np.minimum(0.0, 1 - rows[:, 1] / rows[:, 0]) + logs)
    return found
