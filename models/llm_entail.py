"""Entailment by asking a language model yes or no: the fallback where no entailment model is there.

Its worth depends on the model wholly, so it is measured on the built-in pairs before its first use, and
a model that does no better than chance is refused with its count.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.errors import InvalidModelError
from core.ports import (
    Cancellation,
    Entailment,
    Message,
    ModelInfo,
    Progress,
    ProgressCallback,
    TextGenerator,
    no_progress,
)
from models.parity import CHECK_PAIRS, count_right_by_class

#: Of each class, the share a model must judge right. Saying always no gets eight of the twelve pairs
#: right, so that the classes are counted apart.
LEAST_SHARE = 0.75


class GeneratorEntailment:
    """`core.ports.EntailmentModel` over a text generator.

    Parameters
    ----------
    checked
        False leaves the check of usefulness to the caller.

    Raises
    ------
    InvalidModelError
        When the model fails the check.
    """

    has_contradiction = False

    def __init__(self, generator: TextGenerator, *, checked: bool = True) -> None:
        self._generator = generator
        if checked:
            shares = count_right_by_class(self)
            if any(right < LEAST_SHARE * total for right, total in shares):
                (yes, yeses), (no, noes) = shares
                raise InvalidModelError(
                    f"{generator.info.name} judges {yes + no} of {len(CHECK_PAIRS)} simple pairs right "
                    f"({yes} of {yeses} that follow, {no} of {noes} that do not), "
                    "which is no better than guessing.",
                    remedy="Use an entailment model, or a language model of 7B or more.",
                )

    @property
    def info(self) -> ModelInfo:
        return self._generator.info

    def entail(
        self,
        pairs: Sequence[tuple[str, str]],
        *,
        progress: ProgressCallback = no_progress,
        cancel: Cancellation | None = None,
    ) -> list[Entailment]:
        results = []
        for number, (premise, hypothesis) in enumerate(pairs, start=1):
            if cancel is not None:
                cancel.raise_if_cancelled()
            choice = self._generator.choose(_question(premise, hypothesis), ("Yes", "No"))
            yes = choice.probabilities[0]
            results.append(Entailment(yes, 1.0 - yes, 0.0))
            progress(Progress(number, len(pairs)))
        return results

    def close(self) -> None:
        """The generator belongs to whoever made it."""


def _question(premise: str, hypothesis: str) -> tuple[Message, ...]:
    return (
        Message(
            "user",
            f"Text:\n{premise}\n\nStatement:\n{hypothesis}\n\n"
            "Does the text say that the statement is true? Answer with Yes or No only.",
        ),
    )
