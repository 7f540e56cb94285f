"""How far a text is supported by its evidence, sentence by sentence.

Each sentence of the text is put against windows of the evidence and the best window counts. A sentence
is 'supported' or 'not found'; 'contradicted' only where the model's precision for that class was
measured for the kind of text. Beside it stand the exact checks, which need no model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from core.metrics.nltk_words import split_sentences
from core.metrics.windows import WHOLE_TOKENS, estimate_tokens, split_pair
from core.nli.exact import Difference, check_exactly
from core.ports import Cancellation, EntailmentModel, ProgressCallback, no_progress

Verdict = Literal["supported", "not found", "contradicted"]

#: P(entailment) from which a sentence is called supported, and P(contradiction) likewise.
THRESHOLD = 0.5


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of the text, at code points ``start`` to ``end``, as its evidence has it.

    ``support`` is the greatest P(entailment) over windows of the evidence and ``window`` that window;
    ``contradiction`` is the greatest P(contradiction), None where it may not be told from neutral.
    """

    start: int
    end: int
    text: str
    verdict: Verdict
    support: float
    window: str
    contradiction: float | None
    differences: tuple[Difference, ...]


def reads_contradiction(evaluation: Mapping[str, Any] | None, kind: str | None) -> bool:
    """Whether contradiction may be shown for a kind of text, by the model's evaluation.json.

    An unknown kind, or a model without an evaluation, may not.
    """
    if evaluation is None or kind is None:
        return False
    measured = evaluation.get("kinds", {}).get(kind)
    return bool(measured and measured.get("contradiction_shown"))


def find_sentences(text: str) -> list[tuple[int, int]]:
    """(start, end) in code points of each sentence, without the space around it; lines end sentences."""
    spans = []
    offset = 0
    for line in text.splitlines(keepends=True):
        spans += [(offset + start, offset + end) for start, end in _sentences_of(line)]
        offset += len(line)
    return spans


@lru_cache(maxsize=4096)
def _sentences_of(line: str) -> tuple[tuple[int, int], ...]:
    """Kept, since of a text being edited most lines stay as they were."""
    spans, place = [], 0
    for sentence in split_sentences(line):
        stripped = sentence.strip()
        if not stripped:
            continue
        start = line.index(stripped, place)
        place = start + len(stripped)
        spans.append((start, place))
    return tuple(spans)


def find_support(
    text: str,
    evidence: str,
    model: EntailmentModel,
    *,
    evaluation: Mapping[str, Any] | None = None,
    kind: str | None = None,
    progress: ProgressCallback = no_progress,
    cancel: Cancellation | None = None,
) -> list[Claim]:
    """Judge every sentence of ``text`` by ``evidence``; all pairs go to the model in one call.

    Parameters
    ----------
    evaluation
        The model's evaluation.json, from which it is read whether contradiction may be shown.
    kind
        The kind of text, one of the evaluation's kinds; None when it is none of them.
    """
    spans = find_sentences(text)
    if not evidence.strip():
        return [
            Claim(start, end, text[start:end], "not found", 0.0, "", None, ())
            for start, end in spans
        ]
    jobs = [_pairs(evidence, text[start:end]) for start, end in spans]
    flat = [pair for job in jobs for pair in job]
    answers = iter(model.entail(flat, progress=progress, cancel=cancel) if flat else [])
    told = model.has_contradiction and reads_contradiction(evaluation, kind)
    claims = []
    for (start, end), job in zip(spans, jobs, strict=True):
        found = [(next(answers), premise) for premise, _ in job]
        best, window = max(found, key=lambda pair: pair[0].entailment)
        against = max(answer.contradiction for answer, _ in found) if told else None
        verdict: Verdict = "not found"
        if best.entailment >= THRESHOLD:
            verdict = "supported"
        elif against is not None and against >= THRESHOLD:
            verdict = "contradicted"
        sentence = text[start:end]
        claims.append(
            Claim(
                start,
                end,
                sentence,
                verdict,
                best.entailment,
                window,
                against,
                tuple(check_exactly(sentence, window)),
            )
        )
    return claims


def _pairs(evidence: str, sentence: str) -> Sequence[tuple[str, str]]:
    """A sentence against the windows of its evidence."""
    if estimate_tokens(evidence) + estimate_tokens(sentence) <= WHOLE_TOKENS:
        return [(evidence, sentence)]
    return [pair for windows in split_pair(evidence, sentence) for pair in windows]


def share_supported(claims: Sequence[Claim]) -> float | None:
    """The share of sentences that are supported; None of no sentences."""
    if not claims:
        return None
    return sum(claim.verdict == "supported" for claim in claims) / len(claims)
