"""What the domain asks of the outside world, as protocols; `models` implements them, `models.fake` too."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

from core.errors import Cancelled

FinishReason = Literal["stop", "length", "cancelled"]


class Cancellation:
    """A flag that one side sets and the other looks at; safe across threads."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def cancel(self) -> None:
        """Ask the work to stop. Calling it again changes nothing."""
        self._event.set()

    @property
    def cancelled(self) -> bool:
        return self._event.is_set()

    def raise_if_cancelled(self) -> None:
        """Raise `Cancelled` once the flag is set."""
        if self._event.is_set():
            raise Cancelled

    def wait(self, seconds: float) -> bool:
        """Sleep up to ``seconds``; True when cancelled meanwhile."""
        return self._event.wait(seconds)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a piece of work is: ``done`` of ``total`` (None when unknown), ``failed`` among the done."""

    done: int
    total: int | None = None
    failed: int = 0
    message: str = ""


ProgressCallback = Callable[[Progress], None]


def no_progress(progress: Progress) -> None:
    """Take a progress report and drop it."""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a chat."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationRequest:
    """What to write.

    ``messages`` go through the model file's own chat template. ``max_tokens`` counts new tokens;
    ``seed`` makes the draw repeatable on one machine. ``grammar`` is GBNF text. ``answer_prefix`` is
    text put at the start of the assistant's turn, and is not repeated in the result.
    """

    messages: tuple[Message, ...]
    max_tokens: int = 4096
    temperature: float = 0.1
    top_p: float = 0.95
    min_p: float = 0.0
    repeat_penalty: float = 1.0
    seed: int = 0
    stop: tuple[str, ...] = ()
    grammar: str | None = None
    answer_prefix: str = ""


@dataclass(frozen=True, slots=True)
class Piece:
    """A streamed bit of text; ``thinking`` bits are the model's reasoning trace, not its answer."""

    text: str
    thinking: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """What came of a `GenerationRequest`. ``seconds`` is generation alone, without the prompt."""

    text: str
    thinking: str = ""
    finish: FinishReason = "stop"
    prompt_tokens: int = 0
    kept_tokens: int = 0
    completion_tokens: int = 0
    prompt_seconds: float = 0.0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Choice:
    """Probabilities of the options in the order asked, summing to 1, and their share of all probability."""

    probabilities: tuple[float, ...]
    mass: float

    @property
    def best(self) -> int:
        return max(range(len(self.probabilities)), key=self.probabilities.__getitem__)


@dataclass(frozen=True, slots=True)
class LogLikelihood:
    """Natural-log probability of a continuation, and of how many tokens it is the sum."""

    total: float
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelInfo:
    """Who answers: goes into signatures and the Models page."""

    id: str
    name: str
    sha256: str
    device: str
    context_tokens: int | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


@runtime_checkable
class TextGenerator(Protocol):
    """A local language model."""

    @property
    def info(self) -> ModelInfo: ...

    def generate(
        self,
        request: GenerationRequest,
        *,
        on_piece: Callable[[Piece], None] | None = None,
        cancel: Cancellation | None = None,
    ) -> Generation:
        """Stream an answer. Cancelling returns what there is with ``finish="cancelled"``.

        Raises
        ------
        ContextOverflowError
            Before any generation, when prompt and room for the answer do not fit.
        WorkerDiedError
            When the process behind it ended.
        """
        ...

    def choose(self, messages: Sequence[Message], options: Sequence[str]) -> Choice:
        """Probability of each option as the answer, from the logits of the options' tokens."""
        ...

    def log_likelihood(
        self, context: Sequence[Message] | str, continuations: Sequence[str]
    ) -> list[LogLikelihood]:
        """Log-likelihood of each continuation after one context, whose evaluation is kept."""
        ...

    def count_tokens(self, text: str | Sequence[Message]) -> int: ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Entailment:
    """Calibrated class probabilities of a premise-hypothesis pair, summing to 1.

    A model without a contradiction class puts the rest into ``neutral``.
    """

    entailment: float
    neutral: float
    contradiction: float


@runtime_checkable
class EntailmentModel(Protocol):
    """Natural language inference."""

    @property
    def info(self) -> ModelInfo: ...

    @property
    def has_contradiction(self) -> bool: ...

    def entail(
        self,
        pairs: Sequence[tuple[str, str]],
        *,
        progress: ProgressCallback = no_progress,
        cancel: Cancellation | None = None,
    ) -> list[Entailment]:
        """Classify (premise, hypothesis) pairs, in the order given."""
        ...

    def close(self) -> None: ...


@runtime_checkable
class PairScorer(Protocol):
    """Any model that gives a pair of texts one number: a reranker, a learned metric."""

    @property
    def info(self) -> ModelInfo: ...

    def score(
        self,
        pairs: Sequence[tuple[str, str]],
        *,
        progress: ProgressCallback = no_progress,
        cancel: Cancellation | None = None,
    ) -> list[float]: ...

    def close(self) -> None: ...


@runtime_checkable
class Embedder(Protocol):
    """Text to unit vectors."""

    @property
    def info(self) -> ModelInfo: ...

    @property
    def dimensions(self) -> int: ...

    def embed(
        self,
        texts: Sequence[str],
        *,
        progress: ProgressCallback = no_progress,
        cancel: Cancellation | None = None,
    ) -> list[list[float]]:
        """One unit vector of `dimensions` floats a text; text past the model's window is cut."""
        ...

    def embed_windows(self, text: str) -> list[tuple[int, int, list[float]]]:
        """Windows of a long text: (start, end) in code points and the window's vector."""
        ...

    def close(self) -> None: ...


class ProcessPool(Protocol):
    """Pure-Python work off the interpreter that draws the window."""

    def map(
        self,
        function: Callable[[Any], Any],
        items: Sequence[Any],
        *,
        progress: ProgressCallback = no_progress,
        cancel: Cancellation | None = None,
    ) -> list[Any]: ...


class PdfPrinter(Protocol):
    """Turns a self-contained HTML page into a PDF file."""

    def print_html(self, html: str, path: Path) -> None: ...
