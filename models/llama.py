"""llama.cpp inside a worker: streaming text, option probabilities, log-likelihoods, a kept prefix.

The key-value cache holds the last prompt. A new one is compared with it and evaluated only from where
the two part, which makes many questions about one text cheap (measured: 11.6 times as fast).
"""

from __future__ import annotations

import codecs
import ctypes
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import llama_cpp
import numpy as np
from llama_cpp.llama_chat_format import Jinja2ChatFormatter
from llama_cpp.llama_grammar import LlamaGrammar

from core.errors import BugError, ContextOverflowError, InvalidModelError, MemoryShortageError
from core.ports import Cancellation
from models.engines import Send
from models.gguf import GgufInfo, read_gguf
from models.memory import available_memory
from models.reasoning import ReasoningSplitter
from models.templates import BUILT_IN_TEMPLATES

_DEFAULT_CONTEXT = 16_384
_BATCH = 512

_LEAST_LEVEL_SHOWN = 4  # GGML_LOG_LEVEL_ERROR
_last_level = [0]


@llama_cpp.llama_log_callback  # type: ignore[untyped-decorator]
def _log(level: int, text: bytes, data: Any) -> None:
    """Errors go to standard error, whose last lines the parent keeps; the chatter does not."""
    shown = _last_level[0] if level == 5 else level  # 5 continues the line before
    _last_level[0] = shown
    if shown >= _LEAST_LEVEL_SHOWN:
        sys.stderr.write(text.decode("utf-8", "replace"))
        sys.stderr.flush()


llama_cpp.llama_log_set(_log, ctypes.c_void_p(0))


class LlamaEngine:
    """One GGUF model. Arguments: path, id, name, sha256, context?, threads?, gpu_layers?, template?."""

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        path = Path(arguments["path"])
        info = read_gguf(path)
        self._arguments = arguments
        self._threads = int(arguments.get("threads") or os.cpu_count() or 1)
        self._gpu = bool(llama_cpp.llama_supports_gpu_offload())
        wanted = int(arguments.get("context") or _DEFAULT_CONTEXT)
        self._context = fit_context(info, wanted, available_memory())
        self._cancel: Cancellation | None = None
        self._buffer = ctypes.create_string_buffer(256)
        self._llm = self._load(path)
        self._formatter = self._make_formatter(info, arguments.get("template"))
        # The callback must outlive the context, so the engine keeps it.
        self._abort = llama_cpp.ggml_abort_callback(self._is_cancelled)
        llama_cpp.llama_set_abort_callback(self._llm._ctx.ctx, self._abort, ctypes.c_void_p(0))

    def describe(self) -> dict[str, Any]:
        where = "GPU" if self._gpu else "CPU"
        return {
            "id": self._arguments.get("id", ""),
            "name": self._arguments.get("name", ""),
            "sha256": self._arguments.get("sha256", ""),
            "device": f"llama.cpp on {where}, {self._threads} threads",
            "context_tokens": int(self._llm.n_ctx()),
            "details": {"llama_cpp": llama_cpp.__version__},
        }

    def call(self, op: str, arguments: Mapping[str, Any], cancel: Cancellation, send: Send) -> Any:
        self._cancel = cancel
        try:
            if op == "generate":
                return self._generate(arguments, cancel, send)
            if op == "choose":
                return self._choose(arguments)
            if op == "log_likelihood":
                return self._log_likelihoods(arguments)
            if op == "count_tokens":
                return len(self._tokens_of(arguments["text"]))
        finally:
            self._cancel = None
        raise BugError(f"A language model cannot '{op}'.")

    def close(self) -> None:
        # Left to the interpreter's shutdown, its destructor raises.
        self._llm.close()

    # -- loading -------------------------------------------------------------------------

    def _load(self, path: Path) -> llama_cpp.Llama:
        try:
            return llama_cpp.Llama(
                str(path),
                n_ctx=self._context,
                n_batch=_BATCH,
                n_threads=self._threads,
                n_threads_batch=self._threads,
                n_gpu_layers=int(self._arguments.get("gpu_layers", -1)) if self._gpu else 0,
                verbose=False,
            )
        except (ValueError, RuntimeError, AssertionError) as error:
            raise InvalidModelError(
                f"llama.cpp cannot load {path.name}.",
                remedy="Check that the file is whole, or update Rifugio for newer model families.",
                details=str(error),
            ) from error

    def _make_formatter(self, info: GgufInfo, named: str | None) -> Jinja2ChatFormatter:
        template = BUILT_IN_TEMPLATES[named] if named else info.chat_template
        if not template:
            raise InvalidModelError(
                f"{self._arguments.get('name') or 'The model'} has no chat template.",
                remedy=f"Import it again with one of: {', '.join(BUILT_IN_TEMPLATES)}.",
            )
        model = self._llm._model
        vocab = model.vocab

        def text_of(token: int) -> str:
            return model.token_get_text(token) if token >= 0 else ""

        return Jinja2ChatFormatter(
            template=template,
            eos_token=text_of(llama_cpp.llama_vocab_eos(vocab)),
            bos_token=text_of(llama_cpp.llama_vocab_bos(vocab)),
        )

    # -- prompts -------------------------------------------------------------------------

    def _prompt_text(self, messages: Sequence[Mapping[str, str]], answer_prefix: str = "") -> str:
        plain = [dict(message) for message in messages]
        try:
            text = self._formatter(messages=cast(Any, plain)).prompt
        except Exception:
            # Some families have no system role: its text then opens the first question.
            text = self._formatter(messages=cast(Any, _fold_system(plain))).prompt
        return str(text) + answer_prefix

    def _tokens_of(
        self, text: str | Sequence[Mapping[str, str]], answer_prefix: str = ""
    ) -> list[int]:
        if isinstance(text, str):
            return list(self._llm.tokenize(text.encode(), add_bos=True, special=False))
        prompt = self._prompt_text(text, answer_prefix)
        bos = self._llm._model.token_get_text(self._llm.token_bos()) if self._has_bos else ""
        add_bos = bool(bos) and not prompt.startswith(bos)
        return list(self._llm.tokenize(prompt.encode(), add_bos=add_bos, special=True))

    @property
    def _has_bos(self) -> bool:
        vocab = self._llm._model.vocab
        return bool(llama_cpp.llama_vocab_get_add_bos(vocab)) and self._llm.token_bos() >= 0

    def _require_room(self, tokens: int, answer: int) -> None:
        context = int(self._llm.n_ctx())
        if tokens + answer > context:
            raise ContextOverflowError(
                f"The prompt has {tokens:,} tokens and {answer:,} are asked for, "
                f"but the model reads {context:,} in all.",
                prompt_tokens=tokens + answer,
                context_tokens=context,
                remedy="Shorten the input, ask for less, or use a model with a longer context.",
            )

    # -- evaluation ----------------------------------------------------------------------

    def _is_cancelled(self, data: Any) -> bool:
        return self._cancel is not None and self._cancel.cancelled

    @contextmanager
    def _abortable(self) -> Iterator[None]:
        """Turn llama.cpp's 'aborted' into our cancellation, leaving the cache usable."""
        try:
            yield
        except RuntimeError as error:
            if not self._is_cancelled(None):
                if "memory" in str(error).lower():
                    raise MemoryShortageError(
                        "There is not enough memory for this prompt.",
                        remedy="Close other programs, or use a smaller model.",
                        details=str(error),
                    ) from error
                raise BugError(f"llama.cpp failed: {error}", details=str(error)) from error
            raise _Aborted from error

    def _kept(self, tokens: Sequence[int]) -> int:
        """How many leading tokens the cache holds already."""
        held = self._llm._input_ids
        limit = min(len(held), len(tokens))
        if not limit:
            return 0
        same = np.asarray(held[:limit]) == np.asarray(tokens[:limit])
        return limit if same.all() else int(np.argmin(same))

    def _evaluate(self, tokens: Sequence[int]) -> np.ndarray:
        """Make the cache hold exactly ``tokens``; returns the logits after the last, (vocabulary,)."""
        # The last token is always evaluated anew: its logits are what is asked for.
        kept = min(self._kept(tokens), len(tokens) - 1)
        self._llm.n_tokens = kept
        with self._abortable():
            self._llm.eval(tokens[kept:])
        return self._logits(-1)

    def _logits(self, index: int) -> np.ndarray:
        pointer = llama_cpp.llama_get_logits_ith(self._llm._ctx.ctx, index)
        return np.ctypeslib.as_array(pointer, shape=(self._llm.n_vocab(),)).astype(np.float64)

    def _continuation(self, logits: np.ndarray, prefix: int, tokens: Sequence[int]) -> float:
        """Log-probability of ``tokens`` after a prefix of that many tokens, which stays in the cache."""
        total = _log_softmax(logits)[tokens[0]]
        if len(tokens) > 1:
            batch = self._llm._batch
            batch.set_batch(batch=list(tokens[:-1]), n_past=prefix, logits_all=True)
            with self._abortable():
                self._llm._ctx.decode(batch)
            for position, token in enumerate(tokens[1:]):
                total += _log_softmax(self._logits(position))[token]
            llama_cpp.llama_memory_seq_rm(
                llama_cpp.llama_get_memory(self._llm._ctx.ctx), 0, prefix, -1
            )
        return float(total)

    # -- what is asked -------------------------------------------------------------------

    def _generate(
        self, arguments: Mapping[str, Any], cancel: Cancellation, send: Send
    ) -> dict[str, Any]:
        tokens = self._tokens_of(arguments["messages"], arguments["answer_prefix"])
        limit = int(arguments["max_tokens"])
        self._require_room(len(tokens), limit)
        kept = min(self._kept(tokens), len(tokens) - 1)
        stream = _Stream(send, tuple(arguments["stop"]), inside=self._opens_trace(arguments))
        self._llm.set_seed(int(arguments["seed"]))
        grammar = arguments["grammar"]
        pieces = self._llm.generate(
            tokens,
            top_k=0,
            top_p=float(arguments["top_p"]),
            min_p=float(arguments["min_p"]),
            temp=float(arguments["temperature"]),
            repeat_penalty=float(arguments["repeat_penalty"]),
            grammar=LlamaGrammar.from_string(grammar, verbose=False) if grammar else None,
        )
        finish, count = "length", 0
        start = first = time.perf_counter()
        vocab = self._llm._model.vocab
        try:
            with self._abortable():
                for token in pieces:
                    if not count:
                        first = time.perf_counter()
                    if cancel.cancelled:
                        raise _Aborted
                    if llama_cpp.llama_vocab_is_eog(vocab, token):
                        finish = "stop"
                        break
                    count += 1
                    if stream.add(self._piece(token)):
                        finish = "stop"
                        break
                    if count >= limit:
                        break
        except _Aborted:
            finish = "cancelled"
        finally:
            pieces.close()
        stream.finish()
        end = time.perf_counter()
        return {
            "text": stream.text,
            "thinking": stream.thinking,
            "finish": finish,
            "prompt_tokens": len(tokens),
            "kept_tokens": kept,
            "completion_tokens": count,
            "prompt_seconds": first - start,
            "seconds": end - first,
        }

    def _piece(self, token: int) -> bytes:
        """A token's bytes, which need not be whole characters; marks such as end of turn have none."""
        vocab = self._llm._model.vocab
        size = llama_cpp.llama_token_to_piece(
            vocab, token, self._buffer, len(self._buffer), 0, False
        )
        if size < 0:
            self._buffer = ctypes.create_string_buffer(-size)
            return self._piece(token)
        return self._buffer.raw[:size]

    def _opens_trace(self, arguments: Mapping[str, Any]) -> bool:
        prompt = self._prompt_text(arguments["messages"], arguments["answer_prefix"])
        return prompt.rstrip().endswith("<think>")

    def _choose(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        context = self._tokens_of(arguments["messages"])
        likelihoods = self._score_continuations(context, arguments["options"])
        logs = np.array([total for total, _ in likelihoods])
        weights = np.exp(logs - logs.max())
        return {
            "probabilities": (weights / weights.sum()).tolist(),
            "mass": float(min(1.0, np.exp(logs).sum())),
        }

    def _log_likelihoods(self, arguments: Mapping[str, Any]) -> list[list[float]]:
        context = self._tokens_of(arguments["context"])
        return [
            [total, float(count)]
            for total, count in self._score_continuations(context, arguments["continuations"])
        ]

    def _score_continuations(
        self, context: list[int], continuations: Sequence[str]
    ) -> list[tuple[float, int]]:
        tokenised = [
            list(self._llm.tokenize(text.encode(), add_bos=False, special=False))
            for text in continuations
        ]
        if not context or not all(tokenised):
            raise BugError("A continuation or its context is empty.")
        longest = max(map(len, tokenised))
        if longest > _BATCH:
            raise BugError(f"A continuation has more than {_BATCH} tokens.")
        self._require_room(len(context), longest)
        logits = self._evaluate(context)
        try:
            return [(self._continuation(logits, len(context), t), len(t)) for t in tokenised]
        finally:
            # Multi-token options decoded behind the wrapper's back: say what the cache holds.
            self._llm.n_tokens = len(context)


class _Aborted(Exception):
    """Evaluation was stopped by the cancellation flag."""


class _Stream:
    """Bytes of tokens to whole characters, reasoning apart, stop texts never shown."""

    def __init__(self, send: Send, stop: tuple[str, ...], *, inside: bool) -> None:
        self._send = send
        self._stop = stop
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._splitter = ReasoningSplitter(inside=inside)
        self._held = ""
        self._parts: tuple[list[str], list[str]] = ([], [])

    @property
    def text(self) -> str:
        return "".join(self._parts[0])

    @property
    def thinking(self) -> str:
        return "".join(self._parts[1])

    def add(self, data: bytes) -> bool:
        """Take a token's bytes; True when a stop text was reached."""
        self._held += self._decoder.decode(data)
        for stop in self._stop:
            position = self._held.find(stop)
            if position >= 0:
                self._release(self._held[:position])
                self._held = ""
                return True
        keep = max((len(stop) - 1 for stop in self._stop), default=0)
        if len(self._held) > keep:
            cut = len(self._held) - keep
            self._release(self._held[:cut])
            self._held = self._held[cut:]
        return False

    def finish(self) -> None:
        self._release(self._held + self._decoder.decode(b"", True))
        self._held = ""
        for piece in self._splitter.finish():
            self._emit(piece.text, piece.thinking)

    def _release(self, text: str) -> None:
        for piece in self._splitter.feed(text) if text else ():
            self._emit(piece.text, piece.thinking)

    def _emit(self, text: str, thinking: bool) -> None:
        self._parts[thinking].append(text)
        self._send("piece", [text, thinking])


def fit_context(info: GgufInfo, wanted: int, memory: int | None) -> int:
    """Context tokens: what is wanted, at most what the model was trained on and half the memory holds.

    Raises
    ------
    MemoryShortageError
        When the model itself does not fit.
    """
    context = min(wanted, info.context_tokens or wanted)
    if memory is None:
        return context
    left = memory - info.file_bytes
    if left < 0:
        raise MemoryShortageError(
            f"The model needs {info.file_bytes / 1e9:.1f} GB of memory and "
            f"{memory / 1e9:.1f} GB are free.",
            remedy="Close other programs, or use a smaller model.",
        )
    if info.cache_bytes_per_token:
        context = min(context, max(512, int(left * 0.5 / info.cache_bytes_per_token)))
    return context


def _fold_system(messages: list[dict[str, str]]) -> list[dict[str, str]]:
    system = [message["content"] for message in messages if message["role"] == "system"]
    others = [dict(message) for message in messages if message["role"] != "system"]
    if system and others:
        others[0]["content"] = "\n\n".join([*system, others[0]["content"]])
    return others


def _log_softmax(logits: np.ndarray) -> np.ndarray:
    shifted = logits - logits.max()
    return np.asarray(shifted - np.log(np.exp(shifted).sum()))
