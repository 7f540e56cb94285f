"""Counting the n-grams of many small groups of texts at once, by sorting numbers instead of hashing.

Each position's next words are packed into one integer; sorted, the n-grams of every order lie in runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]

#: Tokens counted in one go: enough to make array calls cheap, little enough to stay in cache.
BATCH_TOKENS = 16_000


@dataclass(frozen=True, slots=True)
class NgramCounts:
    """How often each n-gram of one order stands in each item's texts.

    ``counts`` has shape (roles, groups); a group is one n-gram of one item, and ``item`` names that
    item. Groups lie in ascending order of items.
    """

    counts: Ints
    item: Ints

    def sum_by_item(
        self, columns: Sequence[npt.NDArray[np.generic]], items: int
    ) -> npt.NDArray[np.float64]:
        """Sums of columns over the groups of each item, shape (items, columns)."""
        found = np.zeros((items, len(columns)))
        if not len(self.item):
            return found
        starts = np.flatnonzero(np.concatenate(([True], self.item[1:] != self.item[:-1])))
        owners = self.item[starts]
        for number, column in enumerate(columns):
            kind = np.float64 if column.dtype == np.float64 else np.int64
            found[owners, number] = np.add.reduceat(column, starts, dtype=kind)
        return found


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts of items as numbered words: all words one after the other, and of each text its length,
    the role it plays, and the item it belongs to, items ascending from 0."""

    words: Ints
    lengths: Ints
    role: Ints
    item: Ints

    @property
    def items(self) -> int:
        return int(self.item[-1]) + 1 if len(self.item) else 0

    def batches(self, limit: int = BATCH_TOKENS) -> Iterator[tuple[slice, Texts]]:
        """Parts of about ``limit`` words, at least one item each, with the slice of their items."""
        if not len(self.item):
            return
        word_ends = np.cumsum(self.lengths)
        first_text = np.flatnonzero(np.diff(self.item, prepend=-1))
        text_ends = np.append(first_text[1:], len(self.item))
        ends = word_ends[text_ends - 1]
        start = 0
        while start < len(ends):
            done = int(ends[start - 1]) if start else 0
            stop = max(start + 1, int(np.searchsorted(ends, done + limit, side="right")))
            part = slice(int(first_text[start]), int(text_ends[stop - 1]))
            yield (
                slice(start, stop),
                Texts(
                    self.words[done : int(ends[stop - 1])],
                    self.lengths[part],
                    self.role[part],
                    self.item[part] - start,
                ),
            )
            start = stop


def count_ngrams(texts: Texts, roles: int, orders: int = 4) -> Iterator[NgramCounts]:
    """Counts of 1-grams, 2-grams and so on up to ``orders``.

    Texts of the same item and role are counted together; roles go from 0 to ``roles - 1``.
    """
    lengths, total = texts.lengths, len(texts.words)
    words, vocabulary = _renumber(texts.words)
    # Words that follow in the same text, this one included.
    left = np.repeat(np.cumsum(lengths), lengths) - np.arange(total)
    role, item = np.repeat(texts.role, lengths), np.repeat(texts.item, lengths)
    columns = [words]
    for order in range(1, orders):
        # 0 stands where the text has ended.
        column = np.zeros(total, dtype=np.int64)
        column[: max(total - order, 0)] = words[order:]
        column[left <= order] = 0
        columns.append(column)
    bits = vocabulary.bit_length()
    role_bits = (roles - 1).bit_length()
    if orders * bits + role_bits + texts.items.bit_length() < 63:
        key = item
        for column in columns:
            key = (key << bits) | column
        key = (key << role_bits) | role
        key.sort()
        differs = key[1:] ^ key[:-1]
        shifts = [role_bits + bits * (orders - order) for order in range(1, orders + 1)]
        changes = [differs >= (1 << shift) for shift in shifts]
        role = key & ((1 << role_bits) - 1)
        item = key >> (shifts[0] + bits)
        columns = [(key >> shift) & ((1 << bits) - 1) for shift in shifts]
    else:
        turn = np.lexsort((*columns[::-1], item))
        role, item = role[turn], item[turn]
        columns = [column[turn] for column in columns]
        changed = item[1:] != item[:-1]
        changes = []
        for column in columns:
            changed = changed | (column[1:] != column[:-1])
            changes.append(changed)
    sums = np.zeros((roles, total + 1), dtype=np.int64)
    for number in range(roles):
        np.cumsum(role == number, out=sums[number, 1:])
    for changed, column in zip(changes, columns, strict=True):
        starts = np.flatnonzero(np.concatenate((np.ones(min(total, 1), dtype=bool), changed)))
        ends = np.append(starts[1:], total) if len(starts) else starts
        whole = column[starts] > 0
        starts, ends = starts[whole], ends[whole]
        yield NgramCounts(sums[:, ends] - sums[:, starts], item[starts])


def _renumber(words: Ints) -> tuple[Ints, int]:
    """Word numbers from 1 without gaps, and the largest, so that n-grams pack into one integer."""
    if not len(words):
        return words, 1
    seen = np.zeros(int(words.max()) + 1, dtype=np.int64)
    seen[words] = 1
    numbers = np.cumsum(seen)
    return numbers[words], int(numbers[-1])
