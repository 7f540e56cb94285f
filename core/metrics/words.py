"""Words of a text as sacrebleu's tokenizers give them, numbered, at a fraction of their time.

The 13a rules never look across white space, so each distinct word is split once and remembered.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain, count
from typing import Any

import numpy as np
import numpy.typing as npt

from core.metrics.nltk_words import tokenize_words

Ints = npt.NDArray[np.int64]

TOKENIZERS = ("13a", "intl", "char", "zh", "nltk", "none")

# A word of its own between texts, so that many are split in one go.
_BREAK = "\0"

_RULES_13A = (
    (re.compile(r"([{-~\[-`!-&(-+:-@/])"), r" \1 "),
    (re.compile(r"([^0-9])([.,])"), r"\1 \2 "),
    (re.compile(r"([.,])([^0-9])"), r" \1 \2"),
    (re.compile(r"([0-9])(-)"), r"\1 \2 "),
)


class WordNumbers:
    """Texts to numbered words; equal words have equal numbers within one instance.

    Parameters
    ----------
    tokenizer
        ``13a`` (mteval-v13a), ``intl`` (mteval-v14), ``char``, ``zh``, ``nltk`` or
        ``none`` (white space).
    lowercase
        Lower-case before anything else.
    """

    def __init__(self, tokenizer: str = "13a", *, lowercase: bool = False) -> None:
        self._tokenizer = tokenizer
        self._lowercase = lowercase
        self._numbers: defaultdict[str, int] = defaultdict(count().__next__)
        self._break = self._numbers[_BREAK]
        self._look_up = _Pieces(self._numbers, lowercase).__getitem__

    def encode(self, texts: Sequence[str]) -> tuple[Ints, Ints]:
        """The numbers of all texts' words one after the other, and each text's count of words."""
        if self._tokenizer not in ("13a", "none"):
            return self._encode_singly(texts)
        if self._tokenizer == "13a" and any("<" in text or "-\n" in text for text in texts):
            texts = [_prepare_13a(text.lower() if self._lowercase else text) for text in texts]
        joined = f" {_BREAK} ".join(texts)
        if joined.count(_BREAK) != len(texts) - 1:
            return self._encode_singly(texts)
        if self._tokenizer == "none":
            split = (joined.lower() if self._lowercase else joined).split()
            numbers = np.fromiter(map(self._numbers.__getitem__, split), np.int64, len(split))
        else:
            # Lower-casing word by word is the same: no rule of it looks across white space.
            pieces = chain.from_iterable(map(self._look_up, joined.split()))
            numbers = np.fromiter(pieces, dtype=np.int64)
        breaks = np.flatnonzero(numbers == self._break)
        lengths = np.diff(breaks, prepend=-1, append=len(numbers)) - 1
        return np.delete(numbers, breaks), lengths

    def _encode_singly(self, texts: Sequence[str]) -> tuple[Ints, Ints]:
        if self._lowercase:
            texts = [text.lower() for text in texts]
        found = [
            [self.number(word) for word in split_words(text, self._tokenizer)] for text in texts
        ]
        lengths = np.fromiter(map(len, found), dtype=np.int64, count=len(found))
        return np.fromiter(chain.from_iterable(found), np.int64, int(lengths.sum())), lengths

    def number(self, word: str) -> int:
        """The number of one word."""
        return self._numbers[word]


class _Pieces(dict[str, tuple[int, ...]]):
    """The numbers of the pieces of each word met so far."""

    def __init__(self, numbers: Mapping[str, int], lowercase: bool) -> None:
        super().__init__()
        self._number = numbers.__getitem__
        self._lowercase = lowercase

    def __missing__(self, word: str) -> tuple[int, ...]:
        plain = word.lower() if self._lowercase else word
        pieces = self[word] = tuple(map(self._number, _split_word_13a(plain)))
        return pieces


def split_words(text: str, tokenizer: str) -> list[str]:
    """A text's words by one of `TOKENIZERS`."""
    if tokenizer == "none":
        return text.split()
    if tokenizer == "nltk":
        return list(tokenize_words(text))
    if tokenizer == "13a":
        return [piece for word in _prepare_13a(text).split() for piece in _split_word_13a(word)]
    return str(_sacrebleu_tokenizer(tokenizer)(text)).split()


def _prepare_13a(text: str) -> str:
    if "<skipped>" in text:
        text = text.replace("<skipped>", "")
    if "-\n" in text:
        text = text.replace("-\n", "")
    return text


@lru_cache(maxsize=2**17)
def _split_word_13a(word: str) -> tuple[str, ...]:
    """One white-space-free word by the mteval-v13a rules."""
    if word.isalpha():
        return (word,)
    stem, mark = word[:-1], word[-1]
    if mark in ".," and stem.isalpha():
        return stem, mark
    if "&" in word:
        word = word.replace("&quot;", '"').replace("&amp;", "&")
        word = word.replace("&lt;", "<").replace("&gt;", ">")
    line = f" {word} "
    for pattern, replacement in _RULES_13A:
        line = pattern.sub(replacement, line)
    return tuple(line.split())


@lru_cache(maxsize=8)
def _sacrebleu_tokenizer(name: str) -> Any:
    from sacrebleu.metrics.bleu import _get_tokenizer

    return _get_tokenizer(name)()
