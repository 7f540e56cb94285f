"""Answers of an entailment model, kept by hashes of model and pair: no text is kept."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from typing import Protocol

from core.ports import (
    Cancellation,
    Entailment,
    EntailmentModel,
    ModelInfo,
    Progress,
    ProgressCallback,
    no_progress,
)


class PairCache(Protocol):
    """Where answers are kept; keys are hexadecimal SHA-256."""

    def get(self, key: str) -> Entailment | None: ...

    def put(self, key: str, answer: Entailment) -> None: ...


class MemoryCache:
    """The most recently used answers, in memory."""

    def __init__(self, size: int = 50_000) -> None:
        self._size = size
        self._answers: OrderedDict[str, Entailment] = OrderedDict()

    def get(self, key: str) -> Entailment | None:
        answer = self._answers.get(key)
        if answer is not None:
            self._answers.move_to_end(key)
        return answer

    def put(self, key: str, answer: Entailment) -> None:
        self._answers[key] = answer
        self._answers.move_to_end(key)
        while len(self._answers) > self._size:
            self._answers.popitem(last=False)


def pair_key(model: str, premise: str, hypothesis: str) -> str:
    """The key of a pair under a model, named by the hash of its weights.

    Lengths go in first, so that no two pairs can run together into one.
    """
    digest = hashlib.sha256()
    for text in (model, premise, hypothesis):
        data = text.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.hexdigest()


_AT_ONCE = 64


class CachedEntailment:
    """An entailment model that asks the one behind it only for pairs not yet answered, each once."""

    def __init__(self, model: EntailmentModel, cache: PairCache) -> None:
        self._model = model
        self._cache = cache

    @property
    def info(self) -> ModelInfo:
        return self._model.info

    @property
    def has_contradiction(self) -> bool:
        return self._model.has_contradiction

    def entail(
        self,
        pairs: Sequence[tuple[str, str]],
        *,
        progress: ProgressCallback = no_progress,
        cancel: Cancellation | None = None,
    ) -> list[Entailment]:
        info = self._model.info
        # A model without a hash is known by its id alone.
        name = info.sha256 or info.id
        keys = [pair_key(name, premise, hypothesis) for premise, hypothesis in pairs]
        answers: dict[str, Entailment] = {}
        wanted: dict[str, tuple[str, str]] = {}
        for key, pair in zip(keys, pairs, strict=True):
            if key in answers or key in wanted:
                continue
            known = self._cache.get(key)
            if known is None:
                wanted[key] = pair
            else:
                answers[key] = known
        missing = list(wanted.items())
        for first in range(0, len(missing), _AT_ONCE):
            # What was answered before a stop need not be asked again.
            part = missing[first : first + _AT_ONCE]
            found = self._model.entail([pair for _key, pair in part], cancel=cancel)
            for (key, _pair), answer in zip(part, found, strict=True):
                self._cache.put(key, answer)
                answers[key] = answer
            progress(Progress(min(first + _AT_ONCE, len(missing)), len(missing)))
        return [answers[key] for key in keys]

    def close(self) -> None:
        self._model.close()
