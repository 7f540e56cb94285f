"""The ports of `core.ports` over a worker process; a worker that died is started and loaded again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from core.errors import UsageError
from core.ports import (
    Cancellation,
    Choice,
    Entailment,
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
from models.host import WorkerHost


class HostedModel:
    """A model loaded in a worker of its own.

    Parameters
    ----------
    arguments
        What `models.engines.load_engine` takes.
    """

    def __init__(self, arguments: Mapping[str, Any], command: Sequence[str] | None = None) -> None:
        self._arguments = dict(arguments)
        self._host = WorkerHost(command)
        self._lock = threading.Lock()
        self._loaded_start = 0
        self._described: dict[str, Any] = {}
        self._calls = 0
        self._closed = False
        try:
            self._ensure_loaded()
        except BaseException:
            self._host.close()
            raise

    @property
    def info(self) -> ModelInfo:
        described = self._described
        return ModelInfo(
            id=described["id"],
            name=described["name"],
            sha256=described["sha256"],
            device=described["device"],
            context_tokens=described.get("context_tokens"),
            details=described.get("details", {}),
        )

    @property
    def pid(self) -> int | None:
        """The worker's process id while it lives."""
        return self._host.pid

    @property
    def busy(self) -> bool:
        """Whether a call is on its way."""
        return self._calls > 0

    @property
    def closed(self) -> bool:
        """Whether it was ended for good."""
        return self._closed

    def unload(self) -> None:
        """End the worker to free its memory; the next call starts it again."""
        self._host.close()

    def close(self) -> None:
        """End the worker for good."""
        with self._lock:
            self._closed = True
        self._host.close()

    def _ensure_loaded(self) -> None:
        with self._lock:
            if self._closed:
                raise UsageError("This model was closed.", remedy="Open it again.")
            if not self._host.alive or self._loaded_start != self._host.starts:
                self._described = self._host.call("load", self._arguments)
                self._loaded_start = self._host.starts

    def _call(
        self,
        op: str,
        arguments: Mapping[str, Any],
        *,
        on_event: Callable[[str, Any], None] | None = None,
        cancel: Cancellation | None = None,
    ) -> Any:
        with self._lock:
            self._calls += 1
        try:
            self._ensure_loaded()
            return self._host.call(op, arguments, on_event=on_event, cancel=cancel)
        finally:
            with self._lock:
                self._calls -= 1

    def _call_counted(
        self,
        op: str,
        arguments: Mapping[str, Any],
        progress: ProgressCallback,
        cancel: Cancellation | None,
    ) -> Any:
        def on_event(event: str, value: Any) -> None:
            if event == "progress":
                progress(Progress(value[0], value[1], message=value[2]))

        return self._call(op, arguments, on_event=on_event, cancel=cancel)


class HostedGenerator(HostedModel):
    """`core.ports.TextGenerator`."""

    def generate(
        self,
        request: GenerationRequest,
        *,
        on_piece: Callable[[Piece], None] | None = None,
        cancel: Cancellation | None = None,
    ) -> Generation:
        def on_event(event: str, value: Any) -> None:
            if event == "piece" and on_piece is not None:
                on_piece(Piece(value[0], value[1]))

        answer = self._call(
            "generate",
            {
                "messages": _plain(request.messages),
                "max_tokens": request.max_tokens,
                "temperature": request.temperature,
                "top_p": request.top_p,
                "min_p": request.min_p,
                "repeat_penalty": request.repeat_penalty,
                "seed": request.seed,
                "stop": list(request.stop),
                "grammar": request.grammar,
                "answer_prefix": request.answer_prefix,
            },
            on_event=on_event,
            cancel=cancel,
        )
        return Generation(**answer)

    def choose(self, messages: Sequence[Message], options: Sequence[str]) -> Choice:
        answer = self._call("choose", {"messages": _plain(messages), "options": list(options)})
        return Choice(tuple(answer["probabilities"]), answer["mass"])

    def choose_many(
        self, questions: Sequence[Sequence[Message]], options: Sequence[Sequence[str]]
    ) -> list[Choice]:
        """`choose` for many questions at once; what they begin with alike is evaluated once."""
        plain = [_plain(messages) for messages in questions]
        answer = self._call(
            "choose_many", {"questions": plain, "options": [list(texts) for texts in options]}
        )
        return [Choice(tuple(one["probabilities"]), one["mass"]) for one in answer]

    def log_likelihood(
        self, context: Sequence[Message] | str, continuations: Sequence[str]
    ) -> list[LogLikelihood]:
        plain = context if isinstance(context, str) else _plain(context)
        answer = self._call(
            "log_likelihood", {"context": plain, "continuations": list(continuations)}
        )
        return [LogLikelihood(total, int(tokens)) for total, tokens in answer]

    def count_tokens(self, text: str | Sequence[Message]) -> int:
        plain = text if isinstance(text, str) else _plain(text)
        return int(self._call("count_tokens", {"text": plain}))


class HostedEmbedder(HostedModel):
    """`core.ports.Embedder`."""

    @property
    def dimensions(self) -> int:
        return int(self._described["dimensions"])

    def embed(
        self,
        texts: Sequence[str],
        *,
        progress: ProgressCallback = no_progress,
        cancel: Cancellation | None = None,
    ) -> list[list[float]]:
        vectors: list[list[float]] = self._call_counted(
            "embed", {"texts": list(texts)}, progress, cancel
        )
        return vectors

    def embed_windows(self, text: str) -> list[tuple[int, int, list[float]]]:
        answer = self._call("embed_windows", {"text": text})
        return [(start, end, vector) for start, end, vector in answer]


class HostedEntailment(HostedModel):
    """`core.ports.EntailmentModel`."""

    @property
    def has_contradiction(self) -> bool:
        return bool(self._described["has_contradiction"])

    def entail(
        self,
        pairs: Sequence[tuple[str, str]],
        *,
        progress: ProgressCallback = no_progress,
        cancel: Cancellation | None = None,
    ) -> list[Entailment]:
        answer = self._call_counted(
            "entail", {"pairs": [list(pair) for pair in pairs]}, progress, cancel
        )
        return [Entailment(*row) for row in answer]


class HostedPairScorer(HostedModel):
    """`core.ports.PairScorer`."""

    def score(
        self,
        pairs: Sequence[tuple[str, str]],
        *,
        progress: ProgressCallback = no_progress,
        cancel: Cancellation | None = None,
    ) -> list[float]:
        scores: list[float] = self._call_counted(
            "score", {"pairs": [list(pair) for pair in pairs]}, progress, cancel
        )
        return scores


def _plain(messages: Sequence[Message]) -> list[dict[str, str]]:
    return [{"role": message.role, "content": message.content} for message in messages]
