"""What the catalogue says of one model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

ModelFormat = Literal["gguf", "onnx-embedder", "onnx-nli", "onnx-pair", "sentence-transformers"]
ModelRole = Literal["generator", "embedder", "nli", "reranker", "metric"]

ROLE_OF_FORMAT: Mapping[ModelFormat, ModelRole] = {
    "gguf": "generator",
    "onnx-embedder": "embedder",
    "onnx-nli": "nli",
    "onnx-pair": "reranker",
    "sentence-transformers": "embedder",
}
FORMAT_OF_ROLE: Mapping[str, ModelFormat] = {
    "generator": "gguf",
    "embedder": "onnx-embedder",
    "nli": "onnx-nli",
    "reranker": "onnx-pair",
    "metric": "onnx-pair",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogEntry:
    """One model. ``problem`` says why it cannot be used; '' when it can."""

    id: str
    name: str
    role: ModelRole
    format: ModelFormat
    folder: Path
    file: str = ""
    sha256: str = ""
    bytes: int = 0
    licence: str = "not stated"
    context_tokens: int | None = None
    chat_template: str = ""
    architecture: str = ""
    quantisation: str = ""
    fit_for: tuple[str, ...] = ()
    not_fit_for: tuple[str, ...] = ()
    notes: str = ""
    shipped: bool = False
    problem: str = ""

    @property
    def path(self) -> Path:
        """The file that holds the weights."""
        return self.folder / self.file


def fitness(role: ModelRole, size: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What an imported model is fit for and what not, from its role and its bytes.

    A rule of thumb for instruct models at four bits a weight; agreement with experts is what counts,
    and the Results page measures it.
    """
    if role == "embedder":
        return ("search", "step matching", "finding duplicates"), ("entailment",)
    if role == "nli":
        return ("support for a claim", "checklists by entailment"), ("drafting",)
    if role == "reranker":
        return ("ranking passages",), ("drafting", "entailment")
    if role == "metric":
        return ("scoring",), ("drafting", "entailment")
    if size < 1_200_000_000:
        return ("trying Rifugio out",), ("drafts to be used", "judging", "entailment")
    if size < 3_500_000_000:
        return ("short drafts",), ("judging", "entailment")
    if size < 8_000_000_000:
        return ("drafting", "steps and edits"), ("judging where agreement with experts counts",)
    return ("drafting", "steps and edits", "judging"), ()
