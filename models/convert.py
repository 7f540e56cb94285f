"""Importing a model: look before copying, convert where needed, let it answer once, then keep it.

GGUF files and ONNX folders are copied; sentence-transformers folders are loaded with that library and
exported to ONNX, and the parity of the two is measured. torch is imported only here, in a worker.
"""

from __future__ import annotations

import re
import shutil
import unicodedata
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from core.errors import (
    Cancelled,
    ConflictError,
    DiskFullError,
    InvalidModelError,
    NotFoundError,
    UsageError,
)
from core.ids import new_id
from core.ports import (
    Cancellation,
    GenerationRequest,
    Message,
    Progress,
    ProgressCallback,
    no_progress,
)
from core.settings import models_directory
from models.catalog import CatalogEntry, ModelFormat, ModelRole, hash_file, write_card
from models.gguf import read_gguf
from models.host import WorkerHost
from models.hosted import (
    HostedEmbedder,
    HostedEntailment,
    HostedGenerator,
    HostedModel,
    HostedPairScorer,
)
from models.parity import PROBE_PAIRS, PROBE_SENTENCES, self_check
from models.templates import BUILT_IN_TEMPLATES

_COPY_BYTES = 8 << 20
_ROLE_OF_FORMAT: Mapping[ModelFormat, ModelRole] = {
    "gguf": "generator",
    "onnx-embedder": "embedder",
    "onnx-nli": "nli",
    "onnx-pair": "reranker",
    "sentence-transformers": "embedder",
}
_FORMAT_OF_ROLE: Mapping[str, ModelFormat] = {
    "generator": "gguf",
    "embedder": "onnx-embedder",
    "nli": "onnx-nli",
    "reranker": "onnx-pair",
    "metric": "onnx-pair",
}


class MissingTemplateError(InvalidModelError):
    """The model brings no chat template, so the person has to say which to use."""


def import_model(
    path: Path,
    *,
    role: str | None = None,
    chat_template: str | None = None,
    directory: Path | None = None,
    progress: ProgressCallback = no_progress,
    cancel: Cancellation | None = None,
) -> CatalogEntry:
    """Check a model, copy or convert it into the models folder, and let it answer once.

    Parameters
    ----------
    path
        A GGUF file, an ONNX folder, or a sentence-transformers folder.
    role
        generator, embedder, nli, reranker or metric; guessed where it is clear.
    chat_template
        A name of `models.templates.BUILT_IN_TEMPLATES` for a GGUF file without one of its own.

    Raises
    ------
    NotFoundError, InvalidModelError, MissingTemplateError, ConflictError, DiskFullError, ModelError
        Nothing is kept of a model that does not pass.
    """
    if role is not None and role not in _FORMAT_OF_ROLE:
        raise UsageError(
            f"'{role}' is no role.", remedy=f"Use one of {', '.join(_FORMAT_OF_ROLE)}."
        )
    cancel = cancel or Cancellation()
    source = _find_source(path)
    found = _inspect(source, role, chat_template)
    target = (directory or models_directory()) / found.id
    if target.exists():
        raise ConflictError(
            f"There is a model '{found.id}' already.",
            remedy=f"Remove the folder {target} first, or rename the file.",
        )
    work = target.with_name(f".import-{new_id()}")
    try:
        work.mkdir(parents=True)
        _require_room(source, work)
        if found.format == "sentence-transformers":
            entry = _convert(source, work, found, progress, cancel)
        else:
            entry = _copy(source, work, found, progress, cancel)
        entry = replace(entry, sha256=hash_file(entry.path), bytes=entry.path.stat().st_size)
        entry = replace(entry, notes=_join(entry.notes, try_model(entry)))
        write_card(work, entry)
        work.rename(target)
    except OSError as error:
        raise DiskFullError(
            f"The model could not be copied: {error.strerror or error}.",
            remedy="Free some space, or choose another models folder.",
        ) from error
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return replace(entry, folder=target)


def try_model(entry: CatalogEntry) -> str:
    """Load a model in a worker and ask it one thing; returns a remark for its card, or ''.

    Raises
    ------
    ModelError
        When it cannot be loaded or does not answer.
    """
    arguments: dict[str, Any] = {
        "path": str(entry.folder),
        "file": entry.file,
        "id": entry.id,
        "name": entry.name,
        "sha256": entry.sha256,
    }
    model: HostedModel
    if entry.format == "gguf":
        arguments |= {"engine": "llama", "path": str(entry.path), "context": 512}
        if entry.chat_template in BUILT_IN_TEMPLATES:
            arguments["template"] = entry.chat_template
        model = generator = HostedGenerator(arguments)
        try:
            generator.generate(
                GenerationRequest(messages=(Message("user", "Say hello."),), max_tokens=8)
            )
        finally:
            model.close()
        return ""
    if entry.format == "onnx-nli":
        model = entailment = HostedEntailment({**arguments, "engine": "nli"})
        try:
            return self_check(entailment)
        finally:
            model.close()
    if entry.format == "onnx-pair":
        model = scorer = HostedPairScorer({**arguments, "engine": "pair"})
        try:
            scorer.score(PROBE_PAIRS)
        finally:
            model.close()
        return ""
    model = embedder = HostedEmbedder({**arguments, "engine": "embed"})
    try:
        embedder.embed(PROBE_SENTENCES)
    finally:
        model.close()
    return ""


def _find_source(path: Path) -> Path:
    if not path.exists():
        raise NotFoundError(f"There is no {path}.", remedy="Check the name and the folder.")
    if path.is_dir():
        files = sorted(path.glob("*.gguf"))
        if len(files) == 1:
            return files[0]
    return path


def _inspect(source: Path, role: str | None, chat_template: str | None) -> CatalogEntry:
    """What a source is, as a catalogue entry whose folder is still the source."""
    model_id = _make_id(source.stem if source.is_file() else source.name)
    if source.is_file():
        if source.suffix.casefold() == ".onnx":
            raise InvalidModelError(
                f"{source.name} is only the weights.",
                remedy="Import its folder, with tokenizer.json and config.json beside it.",
            )
        return _inspect_gguf(source, model_id, chat_template)
    format = _guess_format(source, role)
    return CatalogEntry(
        id=model_id,
        name=source.name,
        role=role or _ROLE_OF_FORMAT[format],  # type: ignore[arg-type]
        format=format,
        folder=source,
        file="" if format == "sentence-transformers" else _find_onnx(source),
    )


def _inspect_gguf(source: Path, model_id: str, chat_template: str | None) -> CatalogEntry:
    info = read_gguf(source)
    if chat_template is not None and chat_template not in BUILT_IN_TEMPLATES:
        raise UsageError(
            f"There is no chat template '{chat_template}'.",
            remedy=f"Use one of {', '.join(BUILT_IN_TEMPLATES)}.",
        )
    if not info.chat_template and chat_template is None:
        raise MissingTemplateError(
            f"{source.name} brings no chat template.",
            remedy=(
                f"Say which its family uses with --chat-template: {', '.join(BUILT_IN_TEMPLATES)}."
            ),
        )
    return CatalogEntry(
        id=model_id,
        name=info.name,
        role="generator",
        format="gguf",
        folder=source.parent,
        file=source.name,
        context_tokens=info.context_tokens,
        chat_template=chat_template or "from the file",
        architecture=info.architecture,
        quantisation=info.quantisation,
        licence=str(info.metadata.get("general.license", "not stated")),
    )


def _guess_format(folder: Path, role: str | None) -> ModelFormat:
    if not (folder / "config.json").is_file():
        raise InvalidModelError(
            f"{folder.name} is not a model folder: it has no config.json.",
            remedy="Choose a GGUF file, an ONNX folder, or a sentence-transformers folder.",
        )
    from models.model_config import read_model_config

    config = read_model_config(folder)
    if not list(folder.rglob("*.onnx")):
        if not list(folder.glob("*.safetensors")) and not list(folder.glob("pytorch_model*.bin")):
            raise InvalidModelError(
                f"{folder.name} holds no weights.", remedy="Copy the whole folder."
            )
        return "sentence-transformers"
    if role is not None:
        return _FORMAT_OF_ROLE[role]
    labels = {str(label).casefold() for label in (config.get("id2label") or {}).values()}
    if any(label.startswith("entail") for label in labels):
        return "onnx-nli"
    architectures = " ".join(config.get("architectures") or ())
    if "SequenceClassification" in architectures:
        return "onnx-pair"
    return "onnx-embedder"


def _find_onnx(folder: Path) -> str:
    files = sorted(folder.rglob("*.onnx"), key=lambda file: (len(file.parts), file.name))
    preferred = [file for file in files if file.name == "model.onnx"] or files
    return preferred[0].relative_to(folder).as_posix()


def _make_id(name: str) -> str:
    """A folder name from any file name: ASCII, lower case, hyphens."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().casefold()
    return re.sub(r"[^a-z0-9._]+", "-", plain).strip("-.") or "model"


def _require_room(source: Path, work: Path) -> None:
    files = [source] if source.is_file() else [f for f in source.rglob("*") if f.is_file()]
    needed = sum(file.stat().st_size for file in files)
    free = shutil.disk_usage(work).free
    if needed > free:
        raise DiskFullError(
            f"The model has {needed / 1e9:.1f} GB and {free / 1e9:.1f} GB are free.",
            remedy="Free some space, or set another models folder.",
        )


def _copy(
    source: Path,
    work: Path,
    found: CatalogEntry,
    progress: ProgressCallback,
    cancel: Cancellation,
) -> CatalogEntry:
    if source.is_file():
        files = [(source, source.name)]
    else:
        kept = (".json", ".txt", ".model", ".md", ".onnx", ".onnx_data", ".data")
        files = [
            (file, file.relative_to(source).as_posix())
            for file in sorted(source.rglob("*"))
            if file.is_file() and file.suffix in kept
        ]
    total = sum(file.stat().st_size for file, _ in files)
    done = 0
    for file, name in files:
        target = work / name
        target.parent.mkdir(parents=True, exist_ok=True)
        with file.open("rb") as reading, target.open("wb") as writing:
            while chunk := reading.read(_COPY_BYTES):
                if cancel.cancelled:
                    raise Cancelled
                writing.write(chunk)
                done += len(chunk)
                progress(Progress(done, total, message="Copying"))
    return replace(found, folder=work)


def _convert(
    source: Path,
    work: Path,
    found: CatalogEntry,
    progress: ProgressCallback,
    cancel: Cancellation,
) -> CatalogEntry:
    host = WorkerHost()

    def on_event(event: str, value: Any) -> None:
        if event == "progress":
            progress(Progress(value[0], value[1], message=value[2]))

    try:
        facts = host.call(
            "convert",
            {"source": str(source), "target": str(work), "role": found.role},
            on_event=on_event,
            cancel=cancel,
        )
    finally:
        host.close()
    return replace(
        found,
        folder=work,
        format=facts["format"],
        role=facts["role"],
        file="model.onnx",
        notes=facts["parity"],
    )


def convert_folder(
    arguments: Mapping[str, Any], *, progress: ProgressCallback, cancel: Cancellation
) -> dict[str, Any]:
    """Run inside a worker: export a sentence-transformers folder to ONNX."""
    try:
        from models.export import export_folder
    except ImportError as error:
        raise InvalidModelError(
            "This installation cannot convert models, since it comes without torch.",
            remedy="Convert the folder to ONNX on a machine with the full set-up, then import that.",
            details=str(error),
        ) from error
    return export_folder(
        Path(arguments["source"]),
        Path(arguments["target"]),
        role=arguments["role"],
        progress=progress,
        cancel=cancel,
    )


def _join(*notes: str) -> str:
    return " ".join(note for note in notes if note)
