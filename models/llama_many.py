"""Many prompts that begin alike, evaluated together: the common beginning once, the rests in batches.

A context of its own beside the engine's holds the beginning as sequence 0. Each prompt gets a sequence
that shares those cells (a unified cache copies nothing), and the rests of several prompts go through the
model in one batch. That pays where small batches waste the device, on a GPU; a CPU is as fast with one rest
after the other, which the engine then does.

Cells of other sequences between those of one shift the order in which numbers are added up, and a small
quantised model turns last bits into hundredths of a probability. Prompts whose best options are near each
other are therefore evaluated again alone, right behind the beginning, which gives the same bits as one
prompt at a time.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import llama_cpp
import numpy as np

from core.errors import BugError, MemoryShortageError

#: Prompts evaluated at a time.
SEQUENCES = 16
#: Best options whose probabilities are nearer than this are evaluated again alone.
RECHECK = 0.2
_STEP = 1024

Heed = Callable[[], None]


class ManyContext:
    """The context for many prompts of one loaded model; made when first needed.

    Parameters
    ----------
    llm
        The loaded model, whose parameters the context takes over.
    heed
        Called between batches; raises to stop.
    """

    def __init__(self, llm: llama_cpp.Llama, heed: Heed) -> None:
        self._llm = llm
        self._heed = heed
        self._context: Any = None
        self._batch: Any = None
        self._size = 0
        self._prefix: list[int] = []
        self._vocabulary = llm.n_vocab()
        self._batch_size = int(llm.n_batch)

    @property
    def usable(self) -> bool:
        """Whether this kind of model can share a beginning: recurrent layers keep one state, not cells."""
        model = self._llm._model.model
        return not (
            llama_cpp.llama_model_is_recurrent(model) or llama_cpp.llama_model_is_hybrid(model)
        )

    def score(
        self,
        prompts: Sequence[Sequence[int]],
        options: Sequence[Sequence[Sequence[int]]],
        *,
        threads: int,
    ) -> list[list[float]]:
        """Log-probability of each option's tokens after each prompt.

        Raises
        ------
        MemoryShortageError
            When there is no memory for the context.
        """
        shared = _common_length(prompts)
        longest = [max(map(len, choices)) for choices in options]
        needs = [len(p) - shared + o for p, o in zip(prompts, longest, strict=True)]
        self._ensure(shared, needs)
        llama_cpp.llama_set_n_threads(self._context, threads, threads)
        self._hold(list(prompts[0][:shared]))
        results: list[list[float]] = []
        for start, stop in self._rounds(shared, needs):
            results += self._round(shared, prompts[start:stop], options[start:stop])
        if len(prompts) > 1:
            for place, logs in enumerate(results):
                if _gap(logs) < RECHECK:
                    results[place] = self._round(shared, [prompts[place]], [options[place]])[0]
        return results

    def close(self) -> None:
        """Free the context."""
        if self._batch is not None:
            llama_cpp.llama_batch_free(self._batch)
            self._batch = None
        if self._context is not None:
            llama_cpp.llama_free(self._context)
            self._context = None
        self._prefix = []

    # -- inside --------------------------------------------------------------------------

    def _ensure(self, shared: int, needs: Sequence[int]) -> None:
        """A context with room for the beginning and a round of rests, as far as the model's own goes."""
        wanted = shared + sum(sorted(needs)[-SEQUENCES:])
        least = shared + max(needs)
        most = int(self._llm.n_ctx())
        size = min(max(-(-wanted // _STEP) * _STEP, _STEP), max(most, least))
        if self._context is not None and self._size >= min(wanted, size):
            return
        self.close()
        parameters = llama_cpp.llama_context_default_params()
        own = self._llm.context_params
        for name in (
            "n_threads",
            "n_threads_batch",
            "type_k",
            "type_v",
            "offload_kqv",
            "flash_attn_type",
            "rope_scaling_type",
            "rope_freq_base",
            "rope_freq_scale",
        ):
            if hasattr(own, name):
                setattr(parameters, name, getattr(own, name))
        parameters.n_ctx = size
        parameters.n_batch = self._batch_size
        parameters.n_ubatch = self._batch_size
        parameters.n_seq_max = SEQUENCES + 1
        parameters.kv_unified = True
        self._context = llama_cpp.llama_init_from_model(self._llm._model.model, parameters)
        if not self._context:
            self._context = None
            raise MemoryShortageError(
                "There is not enough memory to answer many questions at once.",
                remedy="Close other programs, or use a smaller model.",
            )
        self._batch = llama_cpp.llama_batch_init(self._batch_size, 0, 1)
        self._size = size

    def _rounds(self, shared: int, needs: Sequence[int]) -> list[tuple[int, int]]:
        """Which prompts go together: as many as there are sequences and room for."""
        rounds = []
        start = 0
        used = shared
        for place, need in enumerate(needs):
            if place > start and (place - start >= SEQUENCES or used + need > self._size):
                rounds.append((start, place))
                start, used = place, shared
            used += need
        rounds.append((start, len(needs)))
        return rounds

    def _hold(self, tokens: list[int]) -> None:
        """Make sequence 0 hold exactly these tokens, evaluating only what it lacks."""
        memory = llama_cpp.llama_get_memory(self._context)
        kept = _common_length([tokens, self._prefix]) if self._prefix else 0
        if tokens == self._prefix:
            kept = len(tokens)
        if kept < len(self._prefix) and not llama_cpp.llama_memory_seq_rm(memory, 0, kept, -1):
            llama_cpp.llama_memory_clear(memory, True)
            kept = 0
        self._prefix = tokens[:kept]
        cells = [(token, place, 0, False) for place, token in enumerate(tokens)][kept:]
        self._decode(cells)
        self._prefix = tokens

    def _round(
        self,
        shared: int,
        prompts: Sequence[Sequence[int]],
        options: Sequence[Sequence[Sequence[int]]],
    ) -> list[list[float]]:
        memory = llama_cpp.llama_get_memory(self._context)
        sequences = range(1, len(prompts) + 1)
        try:
            cells = []
            for sequence, prompt in zip(sequences, prompts, strict=True):
                llama_cpp.llama_memory_seq_cp(memory, 0, sequence, -1, -1)
                rest = list(enumerate(prompt))[shared:]
                cells += [(token, p, sequence, p == len(prompt) - 1) for p, token in rest]
            ends = self._decode(cells)
            totals = [
                [float(logs[choice[0]]) for choice in choices]
                for logs, choices in zip(ends, options, strict=True)
            ]
            for number in range(max(map(len, options))):
                self._add_rests(memory, prompts, options, number, totals)
            return totals
        finally:
            for sequence in sequences:
                llama_cpp.llama_memory_seq_rm(memory, sequence, -1, -1)

    def _add_rests(
        self,
        memory: Any,
        prompts: Sequence[Sequence[int]],
        options: Sequence[Sequence[Sequence[int]]],
        number: int,
        totals: list[list[float]],
    ) -> None:
        """Add what the tokens after an option's first are worth, for all prompts at once."""
        cells: list[tuple[int, int, int, bool]] = []
        wanted: list[tuple[int, int]] = []
        for place, choices in enumerate(options):
            if number >= len(choices) or len(choices[number]) < 2:
                continue
            tokens = choices[number]
            for offset, token in enumerate(tokens[:-1]):
                cells.append((token, len(prompts[place]) + offset, place + 1, True))
                wanted.append((place, tokens[offset + 1]))
        if not cells:
            return
        for logs, (place, token) in zip(self._decode(cells), wanted, strict=True):
            totals[place][number] += float(logs[token])
        for place in {place for place, _ in wanted}:
            llama_cpp.llama_memory_seq_rm(memory, place + 1, len(prompts[place]), -1)

    def _decode(self, cells: Sequence[tuple[int, int, int, bool]]) -> list[np.ndarray]:
        """Evaluate (token, position, sequence, wanted); log-probabilities where wanted, in order."""
        found = []
        batch = self._batch
        for start in range(0, len(cells), self._batch_size):
            self._heed()
            part = cells[start : start + self._batch_size]
            batch.n_tokens = len(part)
            for place, (token, position, sequence, wanted) in enumerate(part):
                batch.token[place] = token
                batch.pos[place] = position
                batch.seq_id[place][0] = sequence
                batch.n_seq_id[place] = 1
                batch.logits[place] = wanted
            code = llama_cpp.llama_decode(self._context, batch)
            if code != 0:
                self._forget()
                if code in (1, -2):
                    raise MemoryShortageError(
                        "There is not enough memory for these prompts.",
                        remedy="Close other programs, or use a smaller model.",
                        details=f"llama_decode returned {code}",
                    )
                raise BugError(f"llama.cpp failed: llama_decode returned {code}")
            for place, (_, _, _, wanted) in enumerate(part):
                if wanted:
                    found.append(self._log_softmax(place))
        return found

    def _forget(self) -> None:
        llama_cpp.llama_memory_clear(llama_cpp.llama_get_memory(self._context), True)
        self._prefix = []

    def _log_softmax(self, place: int) -> np.ndarray:
        pointer = llama_cpp.llama_get_logits_ith(self._context, ctypes.c_int32(place))
        logits = np.ctypeslib.as_array(pointer, shape=(self._vocabulary,)).astype(np.float64)
        shifted = logits - logits.max()
        return np.asarray(shifted - np.log(np.exp(shifted).sum()))


def _gap(logs: Sequence[float]) -> float:
    """How far the two best options are apart, in shares of the options' probability."""
    weights = np.exp(np.array(logs) - max(logs))
    shares = np.sort(weights / weights.sum())[::-1]
    return float(shares[0] - shares[1]) if len(shares) > 1 else 1.0


def _common_length(prompts: Sequence[Sequence[int]]) -> int:
    """How many leading tokens all prompts share, one short of the shortest."""
    shortest = min(map(len, prompts)) - 1
    first = prompts[0]
    for place in range(shortest):
        if any(prompt[place] != first[place] for prompt in prompts):
            return place
    return max(0, shortest)
