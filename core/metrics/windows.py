"""Long premises in overlapping windows, long hypotheses in sentences, to fit a small entailment model."""

from __future__ import annotations

import math
import re
from itertools import pairwise

from core.metrics.nltk_words import split_sentences

TextPair = tuple[str, str]

#: Estimated tokens of premise and hypothesis together up to which a pair is put as it is.
WHOLE_TOKENS = 360
#: Estimated tokens of a premise window; windows overlap by a sentence.
WINDOW_TOKENS = 240

_OTHER_STOPS = re.compile(r"(?<=[。！？।۔])\s*")


def split_pair(premise: str, hypothesis: str) -> list[list[TextPair]]:
    """For each sentence of the hypothesis its pairs with the windows of the premise.

    A pair short enough for a model is one sentence and one window.
    """
    if estimate_tokens(premise) + estimate_tokens(hypothesis) <= WHOLE_TOKENS:
        return [[(premise, hypothesis)]]
    windows = _windows(premise)
    return [[(window, sentence) for window in windows] for sentence in _sentences(hypothesis, 120)]


def estimate_tokens(text: str) -> float:
    """A cautious guess of a model's tokens: four ASCII characters, or one other, to a token."""
    ascii_ = sum(character < "\x80" for character in text)
    return ascii_ / 4 + (len(text) - ascii_)


def _windows(text: str) -> list[str]:
    windows: list[list[str]] = [[]]
    size = 0.0
    for before, sentence in pairwise(["", *_sentences(text, WINDOW_TOKENS)]):
        length = estimate_tokens(sentence)
        if windows[-1] and size + length > WINDOW_TOKENS:
            overlap = [before] if estimate_tokens(before) + length <= WINDOW_TOKENS else []
            windows.append(overlap)
            size = sum(map(estimate_tokens, overlap))
        windows[-1].append(sentence)
        size += length
    return [" ".join(window) for window in windows]


def _sentences(text: str, limit: float) -> list[str]:
    """Sentences of at most about ``limit`` tokens; what is longer is cut."""
    found = []
    for line in text.splitlines():
        for sentence in split_sentences(line):
            for piece in _OTHER_STOPS.split(sentence):
                parts = math.ceil(estimate_tokens(piece) / limit)
                step = math.ceil(len(piece) / max(parts, 1))
                found += [piece[n : n + step].strip() for n in range(0, len(piece), step or 1)]
    return [piece for piece in found if piece] or [text]
