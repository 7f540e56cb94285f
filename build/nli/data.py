"""Reading the published pairs, and drawing batches of like length from balanced sources."""

from __future__ import annotations

import json
import lzma
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

#: Output columns of the model. A fourth label, not_entailment, is the sum of the last two.
LABELS = ("entailment", "neutral", "contradiction")
NOT_ENTAILMENT = 3
_CODES = {name: index for index, name in enumerate((*LABELS, "not_entailment"))}

#: Sources smaller than this are seen more often than their size says, larger ones less.
BALANCE = 0.75
_LARGEST_BATCH = 64
_CHUNK = 1_024


@dataclass(frozen=True, slots=True)
class Pair:
    """One premise-hypothesis pair; ``label`` indexes `LABELS` or is `NOT_ENTAILMENT`."""

    premise: str
    hypothesis: str
    label: int
    source: str


def read_pairs(path: Path, *, without: Sequence[str] = ()) -> list[Pair]:
    """Read a ``.jsonl.xz`` file of pairs, leaving out the sources named in ``without``."""
    pairs = []
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            if row["source"] not in without:
                pairs.append(
                    Pair(row["premise"], row["hypothesis"], _CODES[row["label"]], row["source"])
                )
    return pairs


class BalancedDraw:
    """An endless, seeded draw of batches; its position is a number, so that a run can be resumed."""

    def __init__(
        self,
        pairs: Sequence[Pair],
        *,
        seed: int,
        batch_tokens: int = 2_048,
        balance: float = BALANCE,
    ) -> None:
        self._batch_tokens = batch_tokens
        self._pairs = pairs
        self._random = random.Random(seed)
        self._members: dict[str, list[int]] = {}
        for index, pair in enumerate(pairs):
            self._members.setdefault(pair.source, []).append(index)
        self._sources = sorted(self._members)
        self._weights = [len(self._members[name]) ** balance for name in self._sources]
        self._queues: dict[str, list[int]] = {name: [] for name in self._sources}

    def _draw_one(self) -> int:
        source = self._random.choices(self._sources, self._weights)[0]
        queue = self._queues[source]
        if not queue:
            queue.extend(self._members[source])
            self._random.shuffle(queue)
        return queue.pop()

    def batches(self, lengths: Sequence[int], *, skip: int = 0) -> Iterator[list[int]]:
        """Indices of pairs, in batches of at most ``batch_tokens`` padded tokens, from batch ``skip`` on."""
        number = 0
        while True:
            chunk = sorted((self._draw_one() for _ in range(_CHUNK)), key=lengths.__getitem__)
            made: list[list[int]] = [[]]
            for index in chunk:
                size = len(made[-1]) + 1
                if size > _LARGEST_BATCH or (
                    size > 1 and size * lengths[index] > self._batch_tokens
                ):
                    made.append([])
                made[-1].append(index)
            self._random.shuffle(made)
            for batch in made:
                number += 1
                if number > skip:
                    yield batch
