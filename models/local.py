"""The one way to a local model: by id, loaded in a worker, let go when another needs the memory."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from core.errors import UsageError
from models.catalog import CatalogEntry, ModelRole, default_model, find_model
from models.hosted import (
    HostedEmbedder,
    HostedEntailment,
    HostedGenerator,
    HostedModel,
    HostedPairScorer,
)
from models.memory import available_memory
from models.templates import BUILT_IN_TEMPLATES

M = TypeVar("M", bound=HostedModel)

_HEADROOM = 1.3


class LocalModels:
    """Models in use. A second model of the same id is the same worker.

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

    def pair_scorer(self, model_id: str) -> HostedPairScorer:
        """A reranker or learned metric."""
        entry = find_model(model_id, self._directory)
        return self._load(entry, {**_arguments(entry), "engine": "pair"}, HostedPairScorer)

    def close(self) -> None:
        """End every worker."""
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
        if key in self._open:
            self._open.move_to_end(key)
            model = self._open[key][0]
            assert isinstance(model, kind)
            return model
        self._make_room(entry.bytes)
        model = kind(arguments, self._command)
        self._open[key] = (model, entry.bytes)
        return model

    def _make_room(self, needed: int) -> None:
        """End the least recently used workers until the next model fits."""
        while self._open:
            free = available_memory()
            if free is None or free > needed * _HEADROOM:
                return
            self._open.popitem(last=False)[1][0].close()


def _arguments(entry: CatalogEntry) -> dict[str, Any]:
    return {
        "path": str(entry.folder),
        "file": entry.file,
        "id": entry.id,
        "name": entry.name,
        "sha256": entry.sha256,
    }
