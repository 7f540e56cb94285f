"""Asking a model the same kind of thing many times, so that one failure costs one answer.

A generator that can evaluate many prompts from their common beginning is given them together; another
is asked one by one. The answers are the same but for the last bits of the probabilities.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

from core.errors import ModelError
from core.ports import Cancellation, Choice, Message, TextGenerator

#: Questions put to the model in one call, an even number; cancelling is heeded between calls.
CHUNK = 16
#: Answers whose two best options are nearer than this may come out either way (counted, shown).
CLOSE = 0.01

_REFUSAL = re.compile(
    r"\b(?:I(?:'m| am) (?:sorry|unable|not able)|I (?:can(?:no|')t|won't|must decline)|as an? (?:AI|language "
    r"model)|I do(?:n't| not) have (?:the )?(?:ability|access))",
    re.IGNORECASE,
)


@runtime_checkable
class BatchChooser(Protocol):
    """A text generator that answers many multiple-choice questions at once."""

    def choose_many(
        self, questions: Sequence[Sequence[Message]], options: Sequence[Sequence[str]]
    ) -> list[Choice]:
        """As `TextGenerator.choose` for each question with its own options, in order."""
        ...


def choose_each(
    generator: TextGenerator,
    questions: Sequence[Sequence[Message]],
    options: Sequence[Sequence[str]],
    *,
    cancel: Cancellation | None = None,
    on_answers: Callable[[int, Sequence[Choice | ModelError]], None] | None = None,
) -> list[Choice | ModelError]:
    """An answer for each question, or what went wrong with that one.

    Parameters
    ----------
    on_answers
        Called with the place of the first and the answers after each chunk, so that they can be kept.
    """
    answers: list[Choice | ModelError] = []
    for start in range(0, len(questions), CHUNK):
        if cancel is not None:
            cancel.raise_if_cancelled()
        part, choices = questions[start : start + CHUNK], options[start : start + CHUNK]
        fresh = _choose_chunk(generator, part, choices, cancel)
        answers += fresh
        if on_answers is not None:
            on_answers(start, fresh)
    return answers


def is_close(choice: Choice) -> bool:
    """Whether the two best options are so near that rounding could turn them round."""
    if len(choice.probabilities) < 2:
        return False
    first, second = sorted(choice.probabilities, reverse=True)[:2]
    return first - second < CLOSE


def is_refusal(text: str) -> bool:
    """Whether an answer is the model declining to answer."""
    return _REFUSAL.search(text[:300]) is not None


def describe_error(error: ModelError) -> str:
    """A model's failure in one line, with a worker's last words where it left some."""
    last = error.details.strip().splitlines()[-1:] if error.details.strip() else []
    return f"{error.message} ({last[0]})" if last else error.message


def _choose_chunk(
    generator: TextGenerator,
    questions: Sequence[Sequence[Message]],
    options: Sequence[Sequence[str]],
    cancel: Cancellation | None,
) -> list[Choice | ModelError]:
    if len(questions) > 1 and isinstance(generator, BatchChooser):
        try:
            return list(generator.choose_many(questions, options))
        except ModelError:
            # One of them is to blame: asked by itself it fails by itself.
            pass
    answers: list[Choice | ModelError] = []
    for question, choices in zip(questions, options, strict=True):
        if cancel is not None:
            cancel.raise_if_cancelled()
        try:
            answers.append(generator.choose(question, choices))
        except ModelError as error:
            answers.append(error)
    return answers
