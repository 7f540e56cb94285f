"""An entailment model that goes by shared words and counts what it is asked."""

from __future__ import annotations

from collections.abc import Sequence

from core.ports import Cancellation, Entailment, ModelInfo, ProgressCallback, no_progress


class WordEntailment:
    """P(entailment) is the share of the hypothesis' words in the premise; 'not' means contradiction."""

    def __init__(self, sha256: str = "f" * 64) -> None:
        self.info = ModelInfo(id="words", name="words", sha256=sha256, device="none")
        self.has_contradiction = True
        self.asked: list[tuple[str, str]] = []

    def entail(
        self,
        pairs: Sequence[tuple[str, str]],
        *,
        progress: ProgressCallback = no_progress,
        cancel: Cancellation | None = None,
    ) -> list[Entailment]:
        self.asked += pairs
        answers = []
        for premise, hypothesis in pairs:
            words = hypothesis.casefold().strip(".").split()
            if "not" in words:
                answers.append(Entailment(0.05, 0.05, 0.9))
                continue
            share = sum(word in premise.casefold() for word in words) / max(1, len(words))
            answers.append(Entailment(share, 1 - share, 0.0))
        return answers

    def close(self) -> None:
        self.asked.clear()
