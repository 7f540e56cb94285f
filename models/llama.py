"""llama.cpp inside a worker: streaming text, option probabilities, log-likelihoods, a kept prefix.

The key-value cache holds the last prompt. A new one is compared with it and evaluated only from where
the two part, which makes many questions about one text cheap (measured: 11.6 times as fast).
"""

from __future__ import annotations

import ctypes
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import llama_cpp
import numpy as np
from llama_cpp.llama_chat_format import Jinja2ChatFormatter
from llama_cpp.llama_grammar import LlamaGrammar

from core.errors import (
    BugError,
    Cancelled,
    ContextOverflowError,
    InvalidModelError,
    MemoryShortageError,
    UsageError,
)
from core.ports import Cancellation
from models.engines import Send
from models.gguf import GgufInfo, read_gguf
from models.llama_many import ManyContext
from models.llama_runtime import Aborter, fit_context, list_gpus, load_llama
from models.llama_scores import as_choice, log_softmax, part_sizes
from models.llama_stream import TokenStream
from models.llama_threads import ThreadAdviser
from models.memory import available_memory, usable_cores
from models.reasoning import MARK_TOKENS
from models.templates import BUILT_IN_TEMPLATES

_DEFAULT_CONTEXT = 16_384
_TOKENS_A_LOOK = 4

#: What looks like a control token in a text: <|im_end|>, </s>, [INST], <start_of_turn>.
_MARK_LIKE = re.compile(r"<[^<>\s]{1,40}>|\[/?[A-Z_]{2,20}\]")

# Sorting a whole vocabulary for top-p takes longer than a small model's token (3.9 ms against 0.1).
# The candidates that low temperatures can draw are among the first few; hotter draws see more of them.
_CANDIDATES_COLD, _CANDIDATES_HOT, _COLD = 40, 1_000, 0.3


class LlamaEngine:
    """One GGUF model. Arguments: path, id, name, sha256; context, threads, gpu_layers, template, batched."""

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        path = Path(arguments["path"])
        info = read_gguf(path)
        self._arguments = arguments
        threads = int(arguments.get("threads") or usable_cores())
        wanted = int(arguments.get("context") or _DEFAULT_CONTEXT)
        layers = arguments.get("gpu_layers")
        self._llm, self._device = load_llama(
            path,
            info,
            context=fit_context(info, wanted, _room()),
            threads=threads,
            gpu_layers=None if layers is None or int(layers) < 0 else int(layers),
        )
        self._threads = threads
        # A number given is meant; a GPU leaves the cores alone.
        on_cpu = "on the CPU" in self._device
        self._adviser = ThreadAdviser(threads) if on_cpu and not arguments.get("threads") else None
        self._vocab = self._llm._model.vocab
        self._buffer = ctypes.create_string_buffer(256)
        self._cancel: Cancellation = Cancellation()
        self._aborter = Aborter(self._llm)
        self._many = ManyContext(self._llm, self._raise_if_cancelled)
        # How many leading tokens of the cache were evaluated in whole batches from the beginning.
        self._whole = 0
        self._batch = int(self._llm.n_batch)
        try:
            self._formatter = self._make_formatter(info, arguments.get("template"))
        except BaseException:
            self._llm.close()
            raise

    def describe(self) -> dict[str, Any]:
        return {
            "id": self._arguments.get("id", ""),
            "name": self._arguments.get("name", ""),
            "sha256": self._arguments.get("sha256", ""),
            "device": self._device,
            "context_tokens": int(self._llm.n_ctx()),
            "details": {"llama_cpp": llama_cpp.__version__},
        }

    def call(self, op: str, arguments: Mapping[str, Any], cancel: Cancellation, send: Send) -> Any:
        if op == "count_tokens":
            return len(self._tokens_of(arguments["text"]))
        self._cancel = cancel
        self._heed_load()
        with self._aborter.watching(cancel):
            if op == "generate":
                return self._generate(arguments, send)
            try:
                if op == "choose":
                    return self._choose(arguments)
                if op == "choose_many":
                    return self._choose_many(arguments)
                if op == "log_likelihood":
                    return self._log_likelihoods(arguments)
            except _Aborted:
                raise Cancelled from None
        raise BugError(f"A language model cannot '{op}'.")

    def close(self) -> None:
        self._many.close()
        # Left to the interpreter's shutdown, its destructor raises.
        self._llm.close()

    # -- prompts -------------------------------------------------------------------------

    def _make_formatter(self, info: GgufInfo, named: str | None) -> Jinja2ChatFormatter:
        template = BUILT_IN_TEMPLATES[named] if named else info.chat_template
        if not template:
            raise InvalidModelError(
                f"{self._arguments.get('name') or 'The model'} has no chat template.",
                remedy=f"Import it again with one of: {', '.join(BUILT_IN_TEMPLATES)}.",
            )
        try:
            return Jinja2ChatFormatter(
                template=template,
                eos_token=self._text_of(llama_cpp.llama_vocab_eos(self._vocab)),
                bos_token=self._text_of(llama_cpp.llama_vocab_bos(self._vocab)),
            )
        except Exception as error:
            raise InvalidModelError(
                "The chat template in the model's file cannot be read.",
                remedy=f"Import it again with one of: {', '.join(BUILT_IN_TEMPLATES)}.",
                details=str(error),
            ) from error

    def _text_of(self, token: int) -> str:
        return str(self._llm._model.token_get_text(token)) if token >= 0 else ""

    def _prompt_text(self, messages: Sequence[Mapping[str, str]], answer_prefix: str = "") -> str:
        plain = [
            {"role": message["role"], "content": self._disarm(message["content"])}
            for message in messages
        ]
        try:
            text = self._formatter(messages=cast(Any, plain)).prompt
        except Exception:
            # Some families have no system role: its text then opens the first question.
            text = self._formatter(messages=cast(Any, fold_system(plain))).prompt
        return str(text) + answer_prefix

    def _disarm(self, text: str) -> str:
        """Break up control tokens inside a text, so that a document cannot end the person's turn."""

        def break_up(found: re.Match[str]) -> str:
            tokens = self._llm.tokenize(found[0].encode(), add_bos=False, special=True)
            if len(tokens) == 1 and self._is_control(tokens[0]):
                return f"{found[0][0]}\N{ZERO WIDTH SPACE}{found[0][1:]}"
            return found[0]

        return _MARK_LIKE.sub(break_up, text)

    def _is_control(self, token: int) -> bool:
        attributes = llama_cpp.llama_vocab_get_attr(self._vocab, token)
        return bool(attributes & llama_cpp.LLAMA_TOKEN_ATTR_CONTROL)

    def _tokens_of(
        self, text: str | Sequence[Mapping[str, str]], answer_prefix: str = ""
    ) -> list[int]:
        if isinstance(text, str):
            return list(self._llm.tokenize(text.encode(), add_bos=True, special=False))
        prompt = self._prompt_text(text, answer_prefix)
        wants_bos = bool(llama_cpp.llama_vocab_get_add_bos(self._vocab))
        bos = self._text_of(llama_cpp.llama_vocab_bos(self._vocab)) if wants_bos else ""
        add_bos = bool(bos) and not prompt.startswith(bos)
        return list(self._llm.tokenize(prompt.encode(), add_bos=add_bos, special=True))

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

    def _heed_load(self) -> None:
        """Use fewer threads where other programs are busy; the results are the same to the last bit."""
        if self._adviser is None:
            return
        wanted = self._adviser.advise(self._threads)
        if wanted != self._threads:
            self._threads = wanted
            llama_cpp.llama_set_n_threads(self._llm._ctx.ctx, wanted, wanted)

    # -- evaluation ----------------------------------------------------------------------

    @contextmanager
    def _abortable(self) -> Iterator[None]:
        """Turn llama.cpp's 'aborted' into our cancellation, leaving the cache usable."""
        try:
            yield
        except RuntimeError as error:
            if self._cancel.cancelled:
                raise _Aborted from error
            if "returned 1" in str(error) or "returned -2" in str(error):
                raise MemoryShortageError(
                    "There is not enough memory for this prompt.",
                    remedy="Close other programs, or use a smaller model.",
                    details=str(error),
                ) from error
            raise BugError(f"llama.cpp failed: {error}", details=str(error)) from error

    def _common(self, tokens: Sequence[int]) -> int:
        """How many leading tokens the cache holds already."""
        held = self._llm._input_ids
        limit = min(len(held), len(tokens))
        if not limit:
            return 0
        same = np.asarray(held[:limit]) == np.asarray(tokens[:limit])
        return limit if same.all() else int(np.argmin(same))

    def _trim(self, count: int) -> None:
        """Forget all but the first ``count`` tokens; all of them where the model cannot go back so."""
        memory = llama_cpp.llama_get_memory(self._llm._ctx.ctx)
        if not llama_cpp.llama_memory_seq_rm(memory, 0, count, -1):
            # Recurrent layers hold one state, not one a token.
            llama_cpp.llama_memory_clear(memory, True)
            count = 0
        self._llm.n_tokens = count
        self._llm._requires_eval = True
        self._whole = min(self._whole, count)

    def _evaluate(self, tokens: Sequence[int]) -> np.ndarray:
        """Make the cache hold exactly ``tokens``; returns the logits after the last, (vocabulary,)."""
        # The last token is always evaluated anew: its logits are what is asked for. The one before it
        # comes along: see `part_sizes`.
        self._trim(min(self._common(tokens), max(0, len(tokens) - 2)))
        start = self._llm.n_tokens
        sizes = part_sizes(len(tokens) - start, self._batch)
        self._mark_whole(start + self._batch * sizes.count(self._batch))
        with self._abortable():
            for size in sizes:
                self._llm.eval(tokens[start : start + size])
                start += size
        return self._logits(-1)

    def _mark_whole(self, size: int) -> None:
        """Note that what comes up to ``size`` is evaluated in batches as if from the beginning."""
        if self._llm.n_tokens == self._whole:
            self._whole = size // self._batch * self._batch

    def _logits(self, index: int) -> np.ndarray:
        pointer = llama_cpp.llama_get_logits_ith(self._llm._ctx.ctx, index)
        return np.ctypeslib.as_array(pointer, shape=(self._llm.n_vocab(),)).astype(np.float64)

    def _continuation(self, logits: np.ndarray, prefix: int, tokens: Sequence[int]) -> float:
        """Log-probability of ``tokens`` after a prefix of that many tokens, which stays in the cache."""
        total = log_softmax(logits)[tokens[0]]
        batch, start = self._llm._batch, 0
        for size in part_sizes(len(tokens) - 1, self._batch):
            part = list(tokens[start : start + size])
            batch.set_batch(batch=part, n_past=prefix + start, logits_all=True)
            with self._abortable():
                self._llm._ctx.decode(batch)
            for position in range(len(part)):
                total += log_softmax(self._logits(position))[tokens[start + position + 1]]
            start += size
        return float(total)

    def _score_continuations(
        self, context: list[int], continuations: Sequence[str]
    ) -> list[tuple[float, int]]:
        tokenised = [
            list(self._llm.tokenize(text.encode(), add_bos=False, special=False))
            for text in continuations
        ]
        if not context or not all(tokenised):
            raise UsageError("A continuation or its context is empty.")
        self._require_room(len(context), max(map(len, tokenised)))
        logits = self._evaluate(context)
        results = []
        for tokens in tokenised:
            if self._cancel.cancelled:
                raise _Aborted
            try:
                results.append((self._continuation(logits, len(context), tokens), len(tokens)))
            finally:
                # These tokens are in llama.cpp's cache and not in the wrapper's list.
                self._trim(len(context))
            if len(tokens) > 1 and self._llm.n_tokens < len(context):
                logits = self._evaluate(context)
        return results

    # -- what is asked -------------------------------------------------------------------

    def _generate(self, arguments: Mapping[str, Any], send: Send) -> dict[str, Any]:
        messages, prefix = arguments["messages"], arguments["answer_prefix"]
        tokens = self._tokens_of(messages, prefix)
        limit = int(arguments["max_tokens"])
        self._require_room(len(tokens), limit)
        # Batches of other sizes give other last bits, and so in time another text. What is kept is
        # therefore whole batches only: the same request and seed give the same answer.
        kept = min(
            self._common(tokens), self._whole, (len(tokens) - 1) // self._batch * self._batch
        )
        self._trim(kept)
        kept = self._llm.n_tokens
        self._mark_whole(len(tokens))
        opens_trace = self._prompt_text(messages, prefix).rstrip().endswith("<think>")
        stream = TokenStream(send, tuple(arguments["stop"]), inside=opens_trace)
        finish, count = "length", 0
        start = first = time.perf_counter()
        pieces = self._draw(tokens, arguments)
        try:
            with self._abortable():
                for token in pieces:
                    if not count:
                        first = time.perf_counter()
                    if self._cancel.cancelled:
                        raise _Aborted
                    if llama_cpp.llama_vocab_is_eog(self._vocab, token):
                        finish = "stop"
                        break
                    count += 1
                    if count % _TOKENS_A_LOOK == 0:
                        self._heed_load()
                    if stream.add(self._piece(token)):
                        finish = "stop"
                        break
                    if count >= limit:
                        break
        except _Aborted:
            finish = "cancelled"
            if not count:
                first = time.perf_counter()
        finally:
            pieces.close()
            # An evaluation cut short is not whole.
            self._whole = min(self._whole, self._llm.n_tokens // self._batch * self._batch)
        stream.finish(stopped=finish == "stop")
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

    def _draw(self, tokens: Sequence[int], arguments: Mapping[str, Any]) -> Any:
        temperature = float(arguments["temperature"])
        grammar = arguments["grammar"]
        if grammar:
            self._require_grammar(grammar)
        self._llm.set_seed(int(arguments["seed"]) & 0xFFFFFFFF)
        return self._llm.generate(
            tokens,
            top_k=_CANDIDATES_COLD if temperature <= _COLD else _CANDIDATES_HOT,
            top_p=float(arguments["top_p"]),
            min_p=float(arguments["min_p"]),
            temp=temperature,
            repeat_penalty=float(arguments["repeat_penalty"]),
            grammar=LlamaGrammar.from_string(grammar, verbose=False) if grammar else None,
        )

    def _require_grammar(self, grammar: str) -> None:
        """The wrapper takes a grammar unseen, and a bad one ends the process."""
        sampler = llama_cpp.llama_sampler_init_grammar(self._vocab, grammar.encode(), b"root")
        if not sampler:
            raise UsageError(
                "The grammar cannot be read.",
                remedy="Give GBNF text with a rule named 'root'.",
                details=grammar,
            )
        llama_cpp.llama_sampler_free(sampler)

    def _piece(self, token: int) -> bytes:
        """A token's bytes, which need not be whole characters.

        Control tokens have none, but for those that mark where a reasoning trace begins and ends.
        """
        shown = self._is_control(token) and self._text_of(token) in MARK_TOKENS
        size = llama_cpp.llama_token_to_piece(
            self._vocab, token, self._buffer, len(self._buffer), 0, shown
        )
        if size < 0:
            self._buffer = ctypes.create_string_buffer(-size)
            return self._piece(token)
        return self._buffer.raw[:size]

    def _choose(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        context = self._tokens_of(arguments["messages"])
        likelihoods = self._score_continuations(context, arguments["options"])
        return as_choice([total for total, _ in likelihoods])

    def _choose_many(self, arguments: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The same for many questions, from one evaluation of how they all begin."""
        questions, options = arguments["questions"], arguments["options"]
        prompts = [self._tokens_of(messages) for messages in questions]
        tokens = [
            [
                list(self._llm.tokenize(text.encode(), add_bos=False, special=False))
                for text in texts
            ]
            for texts in options
        ]
        for prompt, choices in zip(prompts, tokens, strict=True):
            if not prompt or not choices or not all(choices):
                raise UsageError("A question or one of its options is empty.")
            self._require_room(len(prompt), max(map(len, choices)))
        on_gpu = "on the CPU" not in self._device
        if len(prompts) > 1 and self._arguments.get("batched", on_gpu) and self._many.usable:
            totals = self._many.score(prompts, tokens, threads=self._threads)
            return [as_choice(logs) for logs in totals]
        return [
            self._choose({"messages": messages, "options": texts})
            for messages, texts in zip(questions, options, strict=True)
        ]

    def _raise_if_cancelled(self) -> None:
        if self._cancel.cancelled:
            raise _Aborted

    def _log_likelihoods(self, arguments: Mapping[str, Any]) -> list[list[float]]:
        context = self._tokens_of(arguments["context"])
        return [
            [total, float(count)]
            for total, count in self._score_continuations(context, arguments["continuations"])
        ]


class _Aborted(Exception):
    """Evaluation was stopped by the cancellation flag."""


def fold_system(messages: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """The messages without a system turn, whose text opens the first other one."""
    system = [message["content"] for message in messages if message["role"] == "system"]
    others = [dict(message) for message in messages if message["role"] != "system"]
    if system and others:
        others[0]["content"] = "\n\n".join([*system, others[0]["content"]])
    return others


def _room() -> int | None:
    """Bytes free for a model: the machine's memory or the GPUs', whichever is more."""
    memory = available_memory()
    video = sum(gpu.free for gpu in list_gpus())
    return max(memory, video) if memory is not None else None
