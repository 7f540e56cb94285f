"""The models on this machine: what each is, whether its file is the right one, what it is fit for.

A model is a folder under the models folder, or under ``resources/models`` where it is shipped. Facts of
imported models lie in its ``model.json``; those of the default ones are known here; any other folder is
looked into. One that cannot be read is listed with its reason and hides nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from core.errors import Cancelled, InvalidModelError, MissingModelError, RifugioError
from core.ports import Cancellation, Progress, ProgressCallback, no_progress
from core.resources import resource_path
from core.settings import data_directory, models_directory, write_atomically
from models.entry import CatalogEntry, ModelFormat, ModelRole, fitness
from models.gguf import read_gguf
from models.inspection import inspect_source

__all__ = [
    "DEFAULT_EMBEDDER", "DEFAULT_GENERATOR", "DEFAULT_NLI", "KNOWN", "RECOMMENDATIONS",
    "CatalogEntry", "ModelFormat", "ModelRole", "default_model", "ensure_verified", "find_model",
    "hash_file", "list_models", "recommend", "remember_hash", "verify_model", "write_card",
]  # fmt: skip

_CARD = "model.json"
_STAMPS = "checked_models.json"
_CHUNK = 1 << 20


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
    folders = list(_folders(directory))
    # Ids are folder names, but for cards that were moved.
    folders.sort(key=lambda found: found[0].name != model_id)
    for folder, shipped in folders:
        entry = _describe(folder, shipped)
        if entry.id == model_id:
            if entry.problem:
                raise InvalidModelError(
                    f"The model {model_id} cannot be used: {entry.problem}",
                    remedy="Import it again.",
                )
            return entry
    known = ", ".join(sorted(folder.name for folder, _ in folders)) or "none"
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
    _require_same(entry, found)
    remember_hash(entry.path, found)
    return found


def ensure_verified(entry: CatalogEntry) -> CatalogEntry:
    """The entry with the hash of the file as it is; hashed anew only where the file has changed.

    Raises
    ------
    InvalidModelError
        When it is not the file the catalogue means.
    """
    stamp = _stamps().get(str(entry.path))
    if stamp is not None and stamp[:2] == _stamp_of(entry.path):
        found = str(stamp[2])
        _require_same(entry, found)
    else:
        found = verify_model(entry)
    return replace(entry, sha256=found)


def remember_hash(path: Path, sha256: str) -> None:
    """Note the hash of a file of this size and time of change, so that it need not be read again."""
    stamps = _stamps()
    stamps[str(path)] = [*_stamp_of(path), sha256]
    kept = {name: stamp for name, stamp in stamps.items() if Path(name).exists()}
    try:
        write_atomically(data_directory() / _STAMPS, json.dumps(kept, indent=1).encode())
    except OSError:
        # Without it the file is hashed again next time, and that is all.
        pass


def _require_same(entry: CatalogEntry, found: str) -> None:
    if entry.sha256 and found != entry.sha256:
        raise InvalidModelError(
            f"{entry.path.name} of {entry.id} is not the file it was: its sha256 is {found}.",
            remedy="Import it again from a source you trust.",
        )


def _stamp_of(path: Path) -> list[Any]:
    status = path.stat()
    return [status.st_size, status.st_mtime_ns]


def _stamps() -> dict[str, list[Any]]:
    try:
        stamps = json.loads((data_directory() / _STAMPS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return stamps if isinstance(stamps, dict) else {}


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
        entry = replace(_read_facts(folder), shipped=shipped)
    except RifugioError as error:
        return _broken(folder, shipped, error.message)
    except (OSError, ValueError, TypeError, KeyError) as error:
        return _broken(folder, shipped, f"its {_CARD} cannot be read ({error})")
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


def _read_facts(folder: Path) -> CatalogEntry:
    """From the model's card, from what is known of it, or from its files."""
    card = folder / _CARD
    if card.is_file():
        facts: dict[str, Any] = json.loads(card.read_text(encoding="utf-8"))
        for name in ("fit_for", "not_fit_for"):
            facts[name] = tuple(facts.get(name, ()))
        allowed = CatalogEntry.__dataclass_fields__.keys() - {"folder"}
        return CatalogEntry(folder=folder, **{k: v for k, v in facts.items() if k in allowed})
    known = KNOWN.get(folder.name)
    if known is not None:
        return CatalogEntry(id=folder.name, folder=folder, **asdict(known))
    weights = sorted(folder.glob("*.gguf"))
    return replace(
        inspect_source(weights[0] if len(weights) == 1 else folder), id=folder.name, folder=folder
    )


def _check(entry: CatalogEntry) -> CatalogEntry:
    if not entry.path.is_file():
        raise InvalidModelError(f"its file {entry.file or '(none)'} is missing.")
    size = entry.path.stat().st_size
    if entry.bytes and size != entry.bytes:
        raise InvalidModelError(f"its file has {size:,} bytes instead of {entry.bytes:,}.")
    if not entry.fit_for and not entry.not_fit_for:
        fit, unfit = fitness(entry.role, size)
        entry = replace(entry, fit_for=fit, not_fit_for=unfit)
    if entry.format != "gguf":
        return replace(entry, bytes=size)
    info = read_gguf(entry.path)
    return replace(
        entry,
        bytes=size,
        context_tokens=info.context_tokens,
        architecture=info.architecture,
        quantisation=info.quantisation,
        chat_template=entry.chat_template or ("from the file" if info.chat_template else ""),
    )
