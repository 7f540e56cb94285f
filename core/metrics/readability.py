"""Reading grade of an English text by the Flesch-Kincaid formula, as textstat 0.7.4 computes it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from core.metrics.base import Metric, MetricScore
from core.metrics.options import need_text, read_flag

_SENTENCE = re.compile(r"\b[^.!?]+[.!?]*")
_NO_WORD_CHARACTER = re.compile(r"[^\w\s]")
_SHORTEST = 3


class FleschKincaid(Metric):
    """Flesch-Kincaid grade: the school year in which an English text can be read, about -3 upwards.

    ``0.39 · words / sentences + 11.8 · syllables / words - 15.59``. As in textstat 0.7.4 sentences of
    one or two words do not count (at least one always does), syllables are the parts at which pyphen's
    American dictionary would hyphenate, and both ratios and the grade are rounded to one decimal
    (``rounding=false`` rounds nothing). A text without words gives the formula's constant, -15.7, as
    there, with a note. The corpus value is the mean of the texts.

    Source: Kincaid et al. (1975); DOLOMITES and EASSE report it. textstat 0.7.4 is the reference.

    It cannot tell whether a text makes sense, knows English only, and takes every full stop for the
    end of a sentence.
    """

    name = "flesch_kincaid"
    low = -15.7
    high = float("inf")

    def __init__(self, rounding: str = "true") -> None:
        self._rounding = read_flag("rounding", rounding)

    @property
    def signature(self) -> str:
        rounding = "1" if self._rounding else "none"
        return (
            f"flesch_kincaid|like:textstat0.7.4|syllables:pyphen en_US|decimals:{rounding}|"
            f"version:{self.version}"
        )

    def score_one(self, item: Mapping[str, Any]) -> MetricScore:
        text = need_text(item, "prediction")
        words = len(_NO_WORD_CHARACTER.sub("", text).split())
        sentences = count_textstat_sentences(text)
        plain = _NO_WORD_CHARACTER.sub("", text.lower())
        syllables = sum(map(count_syllables, plain.split()))
        length, weight = self._round(words / sentences), self._round(syllables / max(words, 1))
        return MetricScore(
            value=self._round(0.39 * length + 11.8 * weight - 15.59),
            components={"words": words, "sentences": sentences, "syllables": syllables},
            signature=self.signature,
            notes=()
            if words
            else ("The text has no words: the number is the formula's constant.",),
        )

    def aggregate(self, items: Sequence[Mapping[str, Any]]) -> MetricScore:
        if not items:
            return self.unscored("There is no item.")
        values = [score.value or 0.0 for score in self.score_many(items)]
        return MetricScore(
            value=sum(values) / len(values), components={"n": len(values)}, signature=self.signature
        )

    def _round(self, number: float) -> float:
        if not self._rounding:
            return number
        return math.floor(number * 10 + math.copysign(0.5, number)) / 10


def count_textstat_sentences(text: str) -> int:
    """Sentences of three words or more, at least one."""
    found = 0
    for sentence in _SENTENCE.findall(text):
        found += len(_NO_WORD_CHARACTER.sub("", sentence).split()) >= _SHORTEST
    return max(1, found)


@lru_cache(maxsize=50_000)
def count_syllables(word: str) -> int:
    """Parts of a lower-case word at which it could be hyphenated."""
    return len(_hyphenator().positions(word)) + 1


@lru_cache(maxsize=1)
def _hyphenator() -> Any:
    from pyphen import Pyphen

    return Pyphen(lang="en_US")
