"""Scripted stand-ins for every port: deterministic, without weights, failing on cue.

The whole application runs and is tested with these. They are also loadable inside a worker
(engine 'fake'), so that process handling is tested without native libraries.
"""

from __future__ import annotations

import hashlib
import math
import os
import re
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.errors import BugError, ContextOverflowError, ModelError
from core.ports import (
    Cancellation,
    Choice,
    Entailment,
    FinishReason,
    Generation,
    GenerationRequest,
    LogLikelihood,
    Message,
    ModelInfo,
    Piece,
    Progress,
    ProgressCallback,
    no_progress,
)
from models.engines import Send
from models.reasoning import ReasoningSplitter


def fake_info(name: str, context_tokens: int | None = None) -> ModelInfo:
    """Who a fake says it is."""
    return ModelInfo(
        id=f"fake-{name}",
        name=f"Fake {name}",
        sha256=hashlib.sha256(name.encode()).hexdigest(),
        device="none (scripted)",
        context_tokens=context_tokens,
    )


@dataclass
class FakeGenerator:
    """Writes scripted answers word by word.

    Parameters
    ----------
    answers
        Given in turn and over again; without any, an answer is made from the words of the prompt.
    delay
        Seconds between words.
    fail_on
        Text in a prompt that makes the call fail, to the error raised.
    """

    answers: Sequence[str] = ()
    delay: float = 0.0
    context_tokens: int = 8192
    fail_on: Mapping[str, ModelError] = field(default_factory=dict)
    requests: list[GenerationRequest] = field(default_factory=list)
    closed: bool = False

    @property
    def info(self) -> ModelInfo:
        return fake_info("generator", self.context_tokens)

    def generate(
        self,
        request: GenerationRequest,
        *,
        on_piece: Callable[[Piece], None] | None = None,
        cancel: Cancellation | None = None,
    ) -> Generation:
        prompt = " ".join(message.content for message in request.messages)
        for cue, error in self.fail_on.items():
            if cue in prompt:
                raise error
        used = self.count_tokens(request.messages)
        if used + request.max_tokens > self.context_tokens:
            raise ContextOverflowError(
                "The prompt does not fit.",
                prompt_tokens=used + request.max_tokens,
                context_tokens=self.context_tokens,
            )
        answer = self._answer(request)
        self.requests.append(request)
        words = re.findall(r"\S+\s*|\s+", answer)
        splitter = ReasoningSplitter()
        pieces: list[Piece] = []

        def give(new: Sequence[Piece]) -> None:
            pieces.extend(new)
            if on_piece is not None:
                for piece in new:
                    on_piece(piece)

        finish: FinishReason = "stop" if len(words) <= request.max_tokens else "length"
        count = 0
        for word in words[: request.max_tokens]:
            if cancel is not None and cancel.cancelled:
                finish = "cancelled"
                break
            count += 1
            give(splitter.feed(word))
            if self.delay:
                time.sleep(self.delay)
        give(splitter.finish())
        return Generation(
            text="".join(piece.text for piece in pieces if not piece.thinking),
            thinking="".join(piece.text for piece in pieces if piece.thinking),
            finish=finish,
            prompt_tokens=used,
            completion_tokens=count,
            seconds=self.delay * count,
        )

    def choose(self, messages: Sequence[Message], options: Sequence[str]) -> Choice:
        weights = [1.0 + _hash(option + messages[-1].content) for option in options]
        return Choice(tuple(weight / sum(weights) for weight in weights), 1.0)

    def log_likelihood(
        self, context: Sequence[Message] | str, continuations: Sequence[str]
    ) -> list[LogLikelihood]:
        return [
            LogLikelihood(-float(len(text)), max(1, len(text.split()))) for text in continuations
        ]

    def count_tokens(self, text: str | Sequence[Message]) -> int:
        plain = text if isinstance(text, str) else " ".join(m.content for m in text)
        return len(plain.split())

    def close(self) -> None:
        self.closed = True

    def _answer(self, request: GenerationRequest) -> str:
        if self.answers:
            return self.answers[len(self.requests) % len(self.answers)]
        words = request.messages[-1].content.split()
        start = request.seed % max(1, len(words))
        return " ".join((words[start:] + words[:start])[:40])


@dataclass
class FakeEntailment:
    """Entailment by how many of the hypothesis's words stand in the premise."""

    has_contradiction: bool = True

    @property
    def info(self) -> ModelInfo:
        return fake_info("entailment")

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
            have, want = set(premise.casefold().split()), set(hypothesis.casefold().split())
            share = len(have & want) / len(want) if want else 1.0
            results.append(Entailment(share, 1.0 - share, 0.0))
            progress(Progress(number, len(pairs)))
        return results

    def close(self) -> None:
        """Nothing to let go of."""


@dataclass
class FakePairScorer:
    """The share of words two texts have in common."""

    @property
    def info(self) -> ModelInfo:
        return fake_info("pair scorer")

    def score(
        self,
        pairs: Sequence[tuple[str, str]],
        *,
        progress: ProgressCallback = no_progress,
        cancel: Cancellation | None = None,
    ) -> list[float]:
        scores = []
        for number, (left, right) in enumerate(pairs, start=1):
            if cancel is not None:
                cancel.raise_if_cancelled()
            a, b = set(left.casefold().split()), set(right.casefold().split())
            scores.append(len(a & b) / len(a | b) if a | b else 1.0)
            progress(Progress(number, len(pairs)))
        return scores

    def close(self) -> None:
        """Nothing to let go of."""


@dataclass
class FakeEmbedder:
    """Hashed bags of words as unit vectors: like texts are near each other."""

    dimensions: int = 64

    @property
    def info(self) -> ModelInfo:
        return fake_info("embedder", 256)

    def embed(
        self,
        texts: Sequence[str],
        *,
        progress: ProgressCallback = no_progress,
        cancel: Cancellation | None = None,
    ) -> list[list[float]]:
        vectors = []
        for number, text in enumerate(texts, start=1):
            if cancel is not None:
                cancel.raise_if_cancelled()
            vectors.append(self._embed_one(text))
            progress(Progress(number, len(texts)))
        return vectors

    def embed_windows(self, text: str) -> list[tuple[int, int, list[float]]]:
        words = list(re.finditer(r"\S+", text))
        windows = []
        for start in range(0, len(words), 200):
            part = words[start : start + 200]
            first, last = part[0].start(), part[-1].end()
            windows.append((first, last, self._embed_one(text[first:last])))
        return windows

    def close(self) -> None:
        """Nothing to let go of."""

    def _embed_one(self, text: str) -> list[float]:
        vector = [0.0] * self.dimensions
        for word in text.casefold().split():
            vector[int(_hash(word) * self.dimensions)] += 1.0
        norm = math.sqrt(sum(value * value for value in vector))
        if not norm:
            vector[0] = norm = 1.0
        return [value / norm for value in vector]


class FakeEngine:
    """A `FakeGenerator` inside a worker. Prompts with these words make it misbehave:

    ``die`` kills the process, ``noise`` prints to both standard streams, ``bug`` raises.
    """

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        self._generator = FakeGenerator(
            answers=arguments.get("answers", ()),
            delay=float(arguments.get("delay", 0.0)),
            context_tokens=int(arguments.get("context", 8192)),
        )

    def describe(self) -> dict[str, Any]:
        info = self._generator.info
        return {
            "id": info.id,
            "name": info.name,
            "sha256": info.sha256,
            "device": info.device,
            "context_tokens": info.context_tokens,
            "details": {},
        }

    def call(self, op: str, arguments: Mapping[str, Any], cancel: Cancellation, send: Send) -> Any:
        if op == "count_tokens":
            text = arguments["text"]
            plain = text if isinstance(text, str) else " ".join(m["content"] for m in text)
            return self._generator.count_tokens(plain)
        if op != "generate":
            raise BugError(f"The fake engine cannot '{op}'.")
        messages = tuple(Message(**message) for message in arguments["messages"])
        prompt = messages[-1].content
        if "noise" in prompt:
            os.write(1, b"\x00\x01noise on stdout\n")
            os.write(2, b"noise on stderr\n")
        if "bug" in prompt:
            raise ValueError("scripted")
        answer = self._generator.generate(
            GenerationRequest(
                messages=messages,
                max_tokens=int(arguments["max_tokens"]),
                seed=int(arguments["seed"]),
            ),
            on_piece=lambda piece: self._send(send, piece, prompt),
            cancel=cancel,
        )
        return {
            "text": answer.text,
            "thinking": answer.thinking,
            "finish": answer.finish,
            "prompt_tokens": answer.prompt_tokens,
            "completion_tokens": answer.completion_tokens,
            "seconds": answer.seconds,
        }

    def close(self) -> None:
        self._generator.close()

    def _send(self, send: Send, piece: Piece, prompt: str) -> None:
        send("piece", [piece.text, piece.thinking])
        if "die" in prompt:
            os.write(2, b"last words\n")
            os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))


def _hash(text: str) -> float:
    """A number in [0, 1) that depends on the text alone."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big") / (1 << 48)
