"""Further pairs made from the published ones: negatives found by search, and premises among others.

A claim is read in the app beside the passage that search found nearest, and a passage is longer than the
sentence that carries the claim. The published pairs have little of either: their neutral hypotheses were
written to a premise, and most premises are one sentence.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from build.nli.data import NOT_ENTAILMENT, Pair

#: Sources whose hypotheses name what they speak of. 'A man is outside' would be entailed anywhere.
_SPECIFIC = (
    "fever",
    "gtenp_base",
    "gtenp_contrast",
    "gtenp_edit_other",
    "gtenp_edit_premise",
    "mnli_dev_mismatched",
    "mnli_sample",
    "mnli_sample2",
    "wice_claim",
)
RETRIEVED, PASSAGES = "retrieved", "passages"
_NEAREST = 12
#: Cosines: a nearer premise may state the hypothesis too, or be the pair's own premise edited.
_TOO_NEAR, _SAME_TEXT = 0.8, 0.7
_SHORT_WORDS = 60
_MOST_OTHERS = 4

Embed = Callable[[Sequence[str]], np.ndarray]


def retrieved_negatives(
    pairs: Sequence[Pair], embed: Embed, *, count: int, seed: int
) -> list[Pair]:
    """Hypotheses beside one of the nearest premises of other pairs, known as not entailed.

    ``embed`` gives unit vectors, (n, d). Fewer than ``count`` come back where no premise near enough is
    unlike the pair's own.
    """
    draw = random.Random(seed)
    usable = [pair for pair in pairs if pair.source in _SPECIFIC]
    chosen = draw.sample(usable, min(count, len(usable)))
    searched = draw.sample(usable, min(2 * count, len(usable)))
    premises = sorted({pair.premise for pair in (*chosen, *searched)})
    place_of = {text: place for place, text in enumerate(premises)}
    found_p = embed(premises)
    found_h = embed([pair.hypothesis for pair in chosen])
    found_own = found_p[[place_of[pair.premise] for pair in chosen]]
    made = []
    for start in range(0, len(chosen), 512):
        rows = slice(start, start + 512)
        near = found_h[rows] @ found_p.T
        own = found_own[rows] @ found_p.T
        near[(own > _SAME_TEXT) | (near > _TOO_NEAR)] = -1.0
        best = np.argpartition(-near, _NEAREST, axis=1)[:, :_NEAREST]
        for place, pair in enumerate(chosen[rows]):
            other = draw.choice([int(c) for c in best[place]])
            if near[place, other] > 0.0:
                made.append(Pair(premises[other], pair.hypothesis, NOT_ENTAILMENT, RETRIEVED))
    return made


def premises_in_passages(pairs: Sequence[Pair], *, count: int, seed: int) -> list[Pair]:
    """Pairs whose short premise stands among one to four others of its source, the label unchanged."""
    draw = random.Random(seed)
    usable = [
        pair
        for pair in pairs
        if pair.source in _SPECIFIC and len(pair.premise.split()) < _SHORT_WORDS
    ]
    by_source: dict[str, list[Pair]] = {}
    for pair in usable:
        by_source.setdefault(pair.source, []).append(pair)
    made = []
    for pair in draw.sample(usable, min(count, len(usable))):
        others = draw.sample(by_source[pair.source], draw.randint(1, _MOST_OTHERS))
        texts = [o.premise for o in others if o.hypothesis != pair.hypothesis]
        texts.insert(draw.randint(0, len(texts)), pair.premise)
        made.append(replace(pair, premise=" ".join(texts), source=PASSAGES))
    return made
