"""Steps from a model: one sequence, several merged, and samples filtered by a trained scorer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.errors import UsageError
from core.graphs.generation.scorer import score_steps
from core.graphs.generation.shots import Shot
from core.graphs.verbs import clean_text
from core.ports import (
    Cancellation,
    Embedder,
    GenerationRequest,
    Progress,
    ProgressCallback,
    TextGenerator,
    no_progress,
)
from core.runs.prompts import prompt_hash, render_prompt
from core.types.graphs import StepScorer

#: In-context learning; k sequences merged; samples filtered by a scorer; both.
STEP_METHODS = ("icl", "multseq", "sf", "multseq+sf")
PROMPT = "graph_steps"

#: k of MultSeq and its temperature, as published; samples to be filtered are drawn hotter.
SEQUENCES = 5
MULTSEQ_TEMPERATURE = 0.5
SAMPLE_TEMPERATURE = 1.0
#: Cosine above which two generated steps are one.
SAME = 0.85
_MOST_STEPS = 40
_TOKENS = 220
_NUMBERED = re.compile(r"^(?:\s*(?:step\s*)?(?:\d+\s*[.):]|[-*•]))+\s*", re.IGNORECASE)
_LETTER = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True)
class Proposal:
    """A generated step, in how many of the sequences it stood, and the scorer's word where it was asked."""

    text: str
    votes: int = 1
    score: float | None = None


def generate_steps(
    method: str,
    task: str,
    assumption: str,
    generator: TextGenerator,
    embedder: Embedder,
    *,
    shots: Sequence[Shot] = (),
    scorer: StepScorer | None = None,
    sequences: int = SEQUENCES,
    max_tokens: int = _TOKENS,
    seed: int = 0,
    progress: ProgressCallback = no_progress,
    cancel: Cancellation | None = None,
) -> list[Proposal]:
    """Propose the steps of a task, in order.

    Parameters
    ----------
    assumption
        Under which the task is done; '' leaves it out of the prompt.
    scorer
        Needed by the methods with 'sf'.

    Raises
    ------
    UsageError
        For an unknown method, or a missing scorer.
    """
    if method not in STEP_METHODS:
        raise UsageError(
            f"'{method}' is no way to generate steps.", remedy=f"Use {', '.join(STEP_METHODS)}."
        )
    filters = method.endswith("sf")
    if filters and scorer is None:
        raise UsageError(
            "This way of generating steps needs a scorer.",
            remedy="Train one on your gold graphs first.",
        )
    count = 1 if method == "icl" else sequences
    temperature = {"icl": 0.0, "sf": SAMPLE_TEMPERATURE}.get(method, MULTSEQ_TEMPERATURE)
    found = []
    for number in range(count):
        if cancel is not None:
            cancel.raise_if_cancelled()
        found.append(
            write_sequence(
                task,
                assumption,
                generator,
                shots=shots,
                temperature=temperature,
                seed=seed + number,
                max_tokens=max_tokens,
                cancel=cancel,
            )
        )
        progress(Progress(number + 1, count))
    proposals = (
        [Proposal(text) for text in found[0]] if count == 1 else merge_sequences(found, embedder)
    )
    if filters and scorer is not None:
        proposals = filter_steps(task, proposals, scorer, embedder)
    return proposals


def write_sequence(
    task: str,
    assumption: str,
    generator: TextGenerator,
    *,
    shots: Sequence[Shot],
    temperature: float,
    seed: int,
    max_tokens: int = _TOKENS,
    cancel: Cancellation | None = None,
) -> list[str]:
    """One sequence of steps as the model writes it."""
    messages = render_prompt(PROMPT, {"shots": list(shots), "task": task, "assumption": assumption})
    answer = generator.generate(
        GenerationRequest(
            messages=messages,
            max_tokens=max_tokens,
            temperature=temperature,
            repeat_penalty=1.1,
            seed=seed,
            stop=("\n\n", "Task:"),
            # No blank after it: the words of a model begin with theirs, and two put it off its track.
            answer_prefix="1.",
        ),
        cancel=cancel,
    )
    if answer.finish == "cancelled" and cancel is not None:
        cancel.raise_if_cancelled()
    whole = answer.finish != "length"
    return parse_steps(answer.text, whole=whole)


def parse_steps(text: str, *, whole: bool = True) -> list[str]:
    """Steps of an answer, one a line, numbers and marks gone, repetitions too.

    Parameters
    ----------
    whole
        False where the answer was cut: its last line, which may be half a step, is then left out.

    Examples
    --------
    >>> parse_steps("Boil water\\n2. Boil water\\n3) Pour it.")
    ['Boil water', 'Pour it']
    """
    lines = text.splitlines()
    if not whole and len(lines) > 1:
        lines = lines[:-1]
    found: dict[str, str] = {}
    for line in lines:
        plain = clean_text(_NUMBERED.sub("", line)).strip("*_ ")
        plain = plain[:-1] if plain.endswith(".") and plain.count(".") == 1 else plain
        if _LETTER.search(plain) and not plain.endswith(":") and len(plain) <= 200:
            found.setdefault(plain.casefold(), plain)
    return list(found.values())[:_MOST_STEPS]


def merge_sequences(
    sequences: Sequence[Sequence[str]], embedder: Embedder, *, same: float = SAME
) -> list[Proposal]:
    """The union of sequences without near copies, in the order of mean relative place.

    Of near copies the one that most sequences have is kept, among equals the first.
    """
    places: dict[str, list[float]] = {}
    texts: dict[str, str] = {}
    for sequence in sequences:
        for number, text in enumerate(sequence):
            key = text.casefold()
            texts.setdefault(key, text)
            places.setdefault(key, []).append((number + 0.5) / len(sequence))
    if not places:
        return []
    keys = sorted(places, key=lambda key: -len(places[key]))
    vectors = np.array(embedder.embed([texts[key] for key in keys]), dtype=np.float64)
    kept: list[int] = []
    owners: dict[int, list[int]] = {}
    for number in range(len(keys)):
        close = [n for n in kept if float(vectors[n] @ vectors[number]) >= same]
        if close:
            best = max(close, key=lambda n: float(vectors[n] @ vectors[number]))
            owners[best].append(number)
        else:
            kept.append(number)
            owners[number] = [number]
    merged = []
    for number in kept:
        all_places = [place for n in owners[number] for place in places[keys[n]]]
        merged.append((sum(all_places) / len(all_places), texts[keys[number]], len(all_places)))
    merged.sort(key=lambda entry: entry[0])
    return [Proposal(text, votes) for _, text, votes in merged]


def filter_steps(
    task: str, proposals: Sequence[Proposal], scorer: StepScorer, embedder: Embedder
) -> list[Proposal]:
    """The proposals that the scorer takes for steps of the task, with its probability."""
    if not proposals:
        return []
    scores = score_steps(scorer, task, [proposal.text for proposal in proposals], embedder)
    return [
        Proposal(proposal.text, proposal.votes, float(score))
        for proposal, score in zip(proposals, scores, strict=True)
        if score >= scorer.threshold
    ]


def steps_signature(method: str, generator: TextGenerator, *, assumption: bool, seed: int) -> str:
    """All that makes a generation repeatable."""
    info = generator.info
    return (
        f"steps:{method}|model:{info.id} {info.sha256[:12]}|prompt:{prompt_hash(PROMPT)[:12]}|"
        f"k:{1 if method == 'icl' else SEQUENCES}|assumption:{'with' if assumption else 'without'}|"
        f"seed:{seed}"
    )
