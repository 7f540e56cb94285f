"""The models on this machine: what each is, whether its file is the right one, what it is fit for.

A model is a folder under the models folder. Facts of imported models lie in its ``model.json``; those of
the default ones are known here. A folder that cannot be read is listed with its reason and hides nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from core.errors import Cancelled, InvalidModelError, MissingModelError, RifugioError
from core.ports import Cancellation, Progress, ProgressCallback, no_progress
from core.resources import resource_path
from core.settings import models_directory, write_atomically
from models.gguf import read_gguf

ModelFormat = Literal["gguf", "onnx-embedder", "onnx-nli", "onnx-pair", "sentence-transformers"]
ModelRole = Literal["generator", "embedder", "nli", "reranker", "metric"]

_CARD = "model.json"
_CHUNK = 1 << 20
_WEIGHTS = (".gguf", ".onnx", ".safetensors")


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


@dataclass(frozen=True, slots=True)
class _Known:
    name: str
    role: ModelRole
    format: ModelFormat
    file: str
    bytes: int
    sha256: str
    licence: str
    fit_for: tuple[str, ...]
    not_fit_for: tuple[str, ...] = ()
    notes: str = ""
    context_tokens: int | None = None


DEFAULT_GENERATOR = "smollm2-135m-instruct-q4_1"
DEFAULT_EMBEDDER = "all-minilm-l6-v2-int8"
DEFAULT_NLI = "nli"

#: The default models, as fetched at set-up.
KNOWN: Mapping[str, _Known] = {
    DEFAULT_GENERATOR: _Known(
        name="SmolLM2 135M Instruct (Q4_1)",
        role="generator",
        format="gguf",
        file="SmolLM2-135M-Instruct.Q4_1.gguf",
        bytes=98_362_432,
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        licence="Apache-2.0",
        fit_for=("trying Rifugio out", "tests"),
        not_fit_for=("drafts to be used", "judging", "entailment"),
        notes="A stand-in: small enough to come along. It writes fluent but poor text and judges nothing.",
    ),
    DEFAULT_EMBEDDER: _Known(
        name="all-MiniLM-L6-v2 (ONNX, int8)",
        role="embedder",
        format="onnx-embedder",
        file="model.onnx",
        bytes=22_928_619,
        sha256="8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
        licence="Apache-2.0",
        fit_for=("search", "step matching", "finding duplicates"),
        not_fit_for=("entailment",),
        notes="English. Reads 256 tokens at a time.",
        context_tokens=256,
    ),
    "all-minilm-l6-v2": _Known(
        name="all-MiniLM-L6-v2 (sentence-transformers)",
        role="embedder",
        format="sentence-transformers",
        file="model.safetensors",
        bytes=90_868_376,
        sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        licence="Apache-2.0",
        fit_for=("conversion and training",),
        notes="The original weights; the ONNX twin is faster and is used.",
        context_tokens=256,
    ),
}

#: What to import for which machine: (least gigabytes of memory or video memory, advice).
RECOMMENDATIONS: Sequence[tuple[int, str]] = (
    (8, "A 3-4B instruct model at Q4 (about 2.5 GB), for short drafts."),
    (16, "A 7-8B instruct model at Q4 (about 5 GB), for drafting; the least we recommend for it."),
    (32, "A 12-14B instruct model at Q4 (about 9 GB), for drafting and simple judging."),
    (64, "A 27-32B instruct model at Q4 (about 20 GB), for judging against rubrics."),
    (
        96,
        "A 70B instruct model at Q4 (about 42 GB), for judging where agreement with experts counts.",
    ),
)


def recommend(gigabytes: float) -> str:
    """Advice for a machine with so much memory."""
    fitting = [advice for least, advice in RECOMMENDATIONS if gigabytes >= least]
    return fitting[-1] if fitting else "A 1-2B instruct model at Q4; do not expect usable drafts."


def list_models(directory: Path | None = None) -> list[CatalogEntry]:
    """Every model on this machine, usable or not, by role and name."""
    entries = [_describe(folder, shipped) for folder, shipped in _folders(directory)]
    return sorted(entries, key=lambda entry: (entry.role, entry.name.casefold()))


def find_model(model_id: str, directory: Path | None = None) -> CatalogEntry:
    """A usable model by id.

    Raises
    ------
    MissingModelError
        When there is none of that id.
    InvalidModelError
        When there is one and it cannot be used.
    """
    entries = list_models(directory)
    for entry in entries:
        if entry.id == model_id:
            if entry.problem:
                raise InvalidModelError(
                    f"The model {model_id} cannot be used: {entry.problem}",
                    remedy="Import it again.",
                )
            return entry
    known = ", ".join(entry.id for entry in entries) or "none"
    raise MissingModelError(
        f"There is no model '{model_id}' on this machine.",
        remedy=f"Import it with 'rifugio models import PATH'. There are: {known}.",
    )


def default_model(role: ModelRole, directory: Path | None = None) -> CatalogEntry:
    """The model used where none is named: the default one, else the first that is usable."""
    preferred = {"generator": DEFAULT_GENERATOR, "embedder": DEFAULT_EMBEDDER, "nli": DEFAULT_NLI}
    usable = [
        entry
        for entry in list_models(directory)
        if entry.role == role and not entry.problem and entry.format != "sentence-transformers"
    ]
    for entry in usable:
        if entry.id == preferred.get(role):
            return entry
    if usable:
        return usable[0]
    raise MissingModelError(
        f"There is no {role} model on this machine.",
        remedy="Run the set-up again, or import one with 'rifugio models import PATH'.",
    )


def hash_file(
    path: Path,
    *,
    progress: ProgressCallback = no_progress,
    cancel: Cancellation | None = None,
) -> str:
    """SHA-256 of a file, read in pieces; progress counts bytes."""
    digest = hashlib.sha256()
    total = path.stat().st_size
    done = 0
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            if cancel is not None and cancel.cancelled:
                raise Cancelled
            digest.update(chunk)
            done += len(chunk)
            progress(Progress(done, total))
    return digest.hexdigest()


def verify_model(
    entry: CatalogEntry,
    *,
    progress: ProgressCallback = no_progress,
    cancel: Cancellation | None = None,
) -> str:
    """Hash a model's weights and compare with what the catalogue says; returns the hash.

    Raises
    ------
    InvalidModelError
        When they differ.
    """
    found = hash_file(entry.path, progress=progress, cancel=cancel)
    if entry.sha256 and found != entry.sha256:
        raise InvalidModelError(
            f"{entry.path.name} of {entry.id} is not the file it was: its sha256 is {found}.",
            remedy="Import it again from a source you trust.",
        )
    return found


def write_card(folder: Path, entry: CatalogEntry) -> None:
    """Write a model's facts beside it."""
    facts = asdict(entry)
    for name in ("folder", "problem", "shipped"):
        del facts[name]
    write_atomically(folder / _CARD, json.dumps(facts, indent=1, ensure_ascii=False).encode())


def _folders(directory: Path | None) -> Iterator[tuple[Path, bool]]:
    own = directory or models_directory()
    for root, shipped in ((own, False), (resource_path("models"), True)):
        if root.is_dir():
            for folder in sorted(root.iterdir()):
                if folder.is_dir() and not folder.name.startswith("."):
                    yield folder, shipped


def _describe(folder: Path, shipped: bool) -> CatalogEntry:
    try:
        entry = _read_card(folder)
    except (OSError, ValueError, TypeError, KeyError) as error:
        return _broken(folder, shipped, f"its {_CARD} cannot be read ({error})")
    if entry is None:
        return _broken(folder, shipped, "it holds no model that Rifugio knows")
    entry = replace(entry, shipped=shipped)
    try:
        return _check(entry)
    except (RifugioError, OSError) as error:
        return replace(entry, problem=str(error))


def _broken(folder: Path, shipped: bool, problem: str) -> CatalogEntry:
    return CatalogEntry(
        id=folder.name,
        name=folder.name,
        role="generator",
        format="gguf",
        folder=folder,
        shipped=shipped,
        problem=problem,
    )


def _read_card(folder: Path) -> CatalogEntry | None:
    card = folder / _CARD
    if card.is_file():
        facts: dict[str, Any] = json.loads(card.read_text(encoding="utf-8"))
        for name in ("fit_for", "not_fit_for"):
            facts[name] = tuple(facts.get(name, ()))
        allowed = CatalogEntry.__dataclass_fields__.keys() - {"folder"}
        return CatalogEntry(folder=folder, **{k: v for k, v in facts.items() if k in allowed})
    known = KNOWN.get(folder.name)
    if known is not None:
        facts = asdict(known)
        return CatalogEntry(id=folder.name, folder=folder, **facts)
    return None


def _check(entry: CatalogEntry) -> CatalogEntry:
    if not entry.path.is_file():
        raise InvalidModelError(f"its file {entry.file or '(none)'} is missing.")
    size = entry.path.stat().st_size
    if entry.bytes and size != entry.bytes:
        raise InvalidModelError(f"its file has {size:,} bytes instead of {entry.bytes:,}.")
    if entry.format != "gguf":
        return entry
    info = read_gguf(entry.path)
    return replace(
        entry,
        bytes=size,
        context_tokens=info.context_tokens,
        architecture=info.architecture,
        quantisation=info.quantisation,
        chat_template=entry.chat_template or ("from the file" if info.chat_template else ""),
    )
