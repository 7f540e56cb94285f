"""Each sentence of a text against its evidence: the best passage, whether it follows, exact checks.

Only the windows of the evidence that share most words with a sentence are put to the entailment model,
and of these the sentences that share most, so that an edited sentence is judged while the person goes on
typing. A sentence that stands word for word in the evidence needs no model. Without a model the words
alone decide, and the answer says so. Questions claim nothing and are left out.

A small model takes what speaks of the same matter for support: of what it calls entailed every second
sentence was not. So 'supported' is said only where it is surer, most of the words stand in the window too
and no exact check finds anything otherwise, and 'perhaps' of the rest (measured by
``tests/benchmarks/support_precision.py``, told in the help of Drafts).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from core.examples.premises import Premises, Window, find_place, find_premises, is_claim
from core.nli.exact import Difference, check_exactly
from core.nli.support import THRESHOLD, find_sentences
from core.ports import Cancellation, Entailment, EntailmentModel
from core.types.documents import Evidence

Basis = Literal["entailment", "words"]
SupportVerdict = Literal["supported", "perhaps", "not found", "contradicted"]

#: Share of a sentence's words from which another sentence is compared with it: numbers of another
#: matter are no difference.
_LIKE_MATTER = 0.3
#: Share of a sentence's content words in a window from which, without a model, it is perhaps supported,
#: and below which no model's word makes it supported.
WORD_THRESHOLD = 0.7
#: P(entailment) and, without a model, share of words from which it may be called supported.
_SURE, _SURE_BY_WORDS = 0.7, 0.9


@dataclass(frozen=True, slots=True)
class Grounded:
    """A sentence at code points ``start`` to ``end`` as its evidence has it.

    ``passage`` is the index of the evidence with the best window, -1 when there is no evidence;
    ``window_start`` and ``window_end`` are the place in the passage of the sentence of that window
    that shares most words, or its beginning twice where none shares any. ``support`` is
    P(entailment), or the share of words where ``basis`` is 'words'.
    """

    start: int
    end: int
    text: str
    verdict: SupportVerdict
    support: float
    basis: Basis
    passage: int
    window_start: int
    window_end: int
    differences: tuple[Difference, ...]


def keep_on() -> None:
    """Go on at once."""


def ground_text(
    text: str,
    evidence: Sequence[Evidence],
    model: EntailmentModel | None = None,
    *,
    tells_contradiction: bool = False,
    cancel: Cancellation | None = None,
    breathe: Callable[[], None] = keep_on,
) -> list[Grounded]:
    """Judge every sentence of ``text``; headings, questions and lines without letters are left out.

    Parameters
    ----------
    model
        None goes by words. Wrap it in `CachedEntailment`, so that a sentence is put to it once.
    tells_contradiction
        Whether the model's precision for contradiction was measured for this kind of text.
    breathe
        Called after each sentence; may wait, to let a thread go first that a person waits for.
    """
    passages = tuple(item.text for item in evidence)
    sentences: list[tuple[int, int, str, Premises]] = []
    for start, end in find_sentences(text):
        sentence = text[start:end]
        if is_claim(sentence):
            sentences.append((start, end, sentence, find_premises(sentence, passages)))
        breathe()
    pairs = [(text, sentence) for _, _, sentence, found in sentences for text in found.texts]
    answers = iter(model.entail(pairs, cancel=cancel) if model is not None and pairs else ())
    made = []
    for start, end, sentence, found in sentences:
        mine = [next(answers) for _text in found.texts] if model is not None else []
        told = _judge(
            found, mine, tells_contradiction and model is not None and model.has_contradiction
        )
        made.append(_place(start, end, sentence, found, told, passages))
        breathe()
    return made


@dataclass(frozen=True, slots=True)
class _Told:
    verdict: SupportVerdict
    support: float
    basis: Basis
    window: Window | None


def _judge(found: Premises, answers: Sequence[Entailment], tells_contradiction: bool) -> _Told:
    """The verdict on a sentence, and the window that it rests on."""
    if found.said is not None:
        return _Told("supported", 1.0, "words", found.said)
    if not found.near:
        return _Told("not found", 0.0, "words", None)
    if not answers:
        best, share = max(found.near, key=lambda pair: pair[1])
        by_words: SupportVerdict = "perhaps" if share >= WORD_THRESHOLD else "not found"
        return _Told("supported" if share >= _SURE_BY_WORDS else by_words, share, "words", best)
    windows = [*(w for w, _share in found.near), *(w for w, _text, _share in found.close)]
    told = list(zip(windows, answers, strict=True))
    best, answer = max(told, key=lambda pair: pair[1].entailment)
    against = max(told, key=lambda pair: pair[1].contradiction)
    if answer.entailment >= THRESHOLD:
        share = next(share for window, share in found.near if window == best)
        sure = answer.entailment >= _SURE and share >= WORD_THRESHOLD
        return _Told("supported" if sure else "perhaps", answer.entailment, "entailment", best)
    if tells_contradiction and against[1].contradiction >= THRESHOLD:
        return _Told("contradicted", answer.entailment, "entailment", against[0])
    # What the sentence speaks of is where its words are.
    best = found.near[0][0] if answer.entailment < 0.1 else best
    return _Told("not found", answer.entailment, "entailment", best)


def _place(
    start: int, end: int, sentence: str, found: Premises, told: _Told, passages: Sequence[str]
) -> Grounded:
    """The verdict with its place in the evidence and what the evidence has otherwise."""
    best = told.window
    if best is None:
        return Grounded(start, end, sentence, told.verdict, told.support, told.basis, -1, 0, 0, ())
    differences: tuple[Difference, ...] = ()
    like = found.close[0] if found.close and found.said is None else None
    if like is not None and like[2] >= _LIKE_MATTER:
        differences = _not_beside(_differences(sentence, like[1]), like[0])
        # Where some passage has it otherwise, that is the one to look at.
        best = like[0] if differences else best
    verdict = "perhaps" if differences and told.verdict == "supported" else told.verdict
    first, last = find_place(sentence, best, passages[best.passage])
    return Grounded(
        start, end, sentence, verdict, told.support, told.basis, best.passage, first, last, differences,
    )  # fmt: skip


def _not_beside(differences: Sequence[Difference], window: Window) -> tuple[Difference, ...]:
    """Without what the sentences beside say: one sentence may take up two of its evidence."""
    around = window.text.casefold()
    return tuple(
        found
        for found in differences
        if found.kind == "negation" or not _stands(found.text.casefold(), around)
    )


def _stands(value: str, text: str) -> bool:
    return re.search(rf"(?<![\w.,]){re.escape(value)}(?!\w)", text) is not None


@lru_cache(maxsize=8192)
def _differences(sentence: str, window: str) -> tuple[Difference, ...]:
    """The exact checks, kept: a sentence that stays as it is costs nothing while others are edited."""
    return tuple(check_exactly(sentence, window))
