"""The one way to a local model: by id, loaded in a worker, let go when another needs the memory."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from core.errors import UsageError
from models.catalog import default_model, ensure_verified, find_model
from models.entry import CatalogEntry, ModelRole
from models.hosted import (
    HostedEmbedder,
    HostedEntailment,
    HostedGenerator,
    HostedModel,
    HostedPairScorer,
)
from models.inspection import inspect_source
from models.memory import available_memory, total_memory
from models.templates import BUILT_IN_TEMPLATES

M = TypeVar("M", bound=HostedModel)

# Weights with what belongs to them (cache, buffers), and the share of memory models may take in all.
_HEADROOM, _LARGEST_SHARE = 1.3, 0.8


class LocalModels:
    """Models in use, from any thread. A second request for the same model is the same worker.

    Where memory runs short, the workers used longest ago end; one whose model is asked again starts
    again. A model that is answering is left alone.

    Parameters
    ----------
    command
        How workers are started (`models.host.worker_command`).
    directory
        Where the models lie, the person's models folder unless given.
    """

    def __init__(self, command: Sequence[str] | None = None, directory: Path | None = None) -> None:
        self._command = command
        self._directory = directory
        self._lock = threading.RLock()
        self._open: OrderedDict[tuple[str, str], tuple[HostedModel, int]] = OrderedDict()

    def generator(self, model_id: str | None = None, **params: Any) -> HostedGenerator:
        """A text generator. ``params``: context (tokens), threads, gpu_layers."""
        entry = self._entry(model_id, "generator")
        arguments = {**_arguments(entry), "engine": "llama", "path": str(entry.path), **params}
        if entry.chat_template in BUILT_IN_TEMPLATES:
            arguments["template"] = entry.chat_template
        return self._load(entry, arguments, HostedGenerator)

    def embedder(self, model_id: str | None = None) -> HostedEmbedder:
        """A sentence embedder."""
        entry = self._entry(model_id, "embedder")
        if entry.format != "onnx-embedder":
            raise UsageError(
                f"{entry.id} is not in ONNX format.", remedy="Import its folder to convert it."
            )
        return self._load(entry, {**_arguments(entry), "engine": "embed"}, HostedEmbedder)

    def entailment(self, model_id: str | None = None) -> HostedEntailment:
        """An entailment model."""
        entry = self._entry(model_id, "nli")
        return self._load(entry, {**_arguments(entry), "engine": "nli"}, HostedEntailment)

    def pair_scorer(self, model: str | Path) -> HostedPairScorer:
        """A reranker or learned metric, by id or, not imported, by the path of its ONNX folder."""
        if isinstance(model, Path):
            entry = inspect_source(model, "reranker")
        else:
            entry = find_model(model, self._directory)
        if entry.format != "onnx-pair":
            raise UsageError(
                f"{entry.id} gives no number for a pair of texts.",
                remedy="Choose a reranker or a learned metric, or import it with --role reranker.",
            )
        return self._load(entry, {**_arguments(entry), "engine": "pair"}, HostedPairScorer)

    def close(self) -> None:
        """End every worker."""
        with self._lock:
            while self._open:
                self._open.popitem()[1][0].close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _entry(self, model_id: str | None, role: ModelRole) -> CatalogEntry:
        if model_id is None:
            return default_model(role, self._directory)
        entry = find_model(model_id, self._directory)
        if entry.role != role:
            raise UsageError(
                f"{entry.id} is a model for '{entry.role}', not for '{role}'.",
                remedy="'rifugio models list' shows roles.",
            )
        return entry

    def _load(self, entry: CatalogEntry, arguments: Mapping[str, Any], kind: type[M]) -> M:
        key = (entry.id, repr(sorted(arguments.items())))
        with self._lock:
            # One that its user closed for good is not given to the next.
            if key in self._open and not self._open[key][0].closed:
                self._open.move_to_end(key)
                model = self._open[key][0]
                assert isinstance(model, kind)
                return model
            entry = ensure_verified(entry)
            self._make_room(entry.bytes)
            model = kind({**arguments, "sha256": entry.sha256}, self._command)
            self._open[key] = (model, entry.bytes)
            return model

    def _make_room(self, needed: int) -> None:
        """Unload the models used longest ago until the next one fits."""
        for model, _ in list(self._open.values()):
            if self._fits(needed):
                return
            if model.pid is not None and not model.busy:
                model.unload()

    def _fits(self, needed: int) -> bool:
        """Whether weights of so many bytes go beside what is loaded.

        Mapped files count as free in the system's eyes, so that the loaded ones are summed up too.
        """
        free, total = available_memory(), total_memory()
        loaded = sum(size for model, size in self._open.values() if model.pid is not None)
        if free is not None and free < needed * _HEADROOM:
            return False
        return total is None or (loaded + needed) * _HEADROOM <= total * _LARGEST_SHARE


def _arguments(entry: CatalogEntry) -> dict[str, Any]:
    return {
        "path": str(entry.folder),
        "file": entry.file,
        "id": entry.id,
        "name": entry.name,
        "sha256": entry.sha256,
    }
