"""Importing a model: look before copying, convert where needed, let it answer once, then keep it.

GGUF files and ONNX folders are copied; sentence-transformers folders are loaded with that library and
exported to ONNX, and the parity of the two is measured. torch is imported only here, in a worker.
"""

from __future__ import annotations

import errno
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from core.errors import (
    Cancelled,
    ConflictError,
    DiskFullError,
    InputError,
    InvalidModelError,
    KnownError,
    MemoryShortageError,
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
from models.catalog import hash_file, remember_hash, write_card
from models.entry import FORMAT_OF_ROLE, CatalogEntry, fitness
from models.gguf import read_gguf
from models.host import WorkerHost
from models.hosted import (
    HostedEmbedder,
    HostedEntailment,
    HostedGenerator,
    HostedModel,
    HostedPairScorer,
)
from models.inspection import MissingTemplateError, inspect_source
from models.memory import total_memory
from models.parity import PROBE_PAIRS, PROBE_SENTENCES, self_check
from models.templates import BUILT_IN_TEMPLATES

__all__ = ["MissingTemplateError", "convert_folder", "import_model", "try_model"]

_COPY_BYTES = 8 << 20


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
    if role is not None and role not in FORMAT_OF_ROLE:
        raise UsageError(f"'{role}' is no role.", remedy=f"Use one of {', '.join(FORMAT_OF_ROLE)}.")
    cancel = cancel or Cancellation()
    source = _find_source(path)
    found = inspect_source(source, role, chat_template)
    _require_memory(source, found)
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
        size = entry.path.stat().st_size
        fit, unfit = fitness(entry.role, size)
        entry = replace(
            entry,
            sha256=hash_file(entry.path, progress=_say(progress, "Hashing"), cancel=cancel),
            bytes=size,
            fit_for=fit,
            not_fit_for=unfit,
        )
        progress(Progress(0, None, message="Trying it"))
        entry = replace(entry, notes=_join(entry.notes, try_model(entry)))
        write_card(work, entry)
        work.rename(target)
    except OSError as error:
        raise _copy_error(error) from error
    finally:
        shutil.rmtree(work, ignore_errors=True)
    entry = replace(entry, folder=target)
    remember_hash(entry.path, entry.sha256)
    return entry


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


def _require_memory(source: Path, found: CatalogEntry) -> None:
    """Refuse before copying what could not be loaded after it."""
    memory = total_memory()
    size = read_gguf(source).file_bytes if found.format == "gguf" else 0
    if memory is not None and size > memory:
        raise MemoryShortageError(
            f"{source.name} needs {size / 1e9:.1f} GB of memory and this machine has "
            f"{memory / 1e9:.1f} GB.",
            remedy="Choose a smaller model or a stronger quantisation.",
        )


def _copy_error(error: OSError) -> KnownError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return DiskFullError(
            "The disk filled up while the model was copied.",
            remedy="Free some space, or set another models folder with RIFUGIO_MODELS.",
            details=str(error),
        )
    return InputError(
        f"The model could not be copied: {error.strerror or error}.",
        path=error.filename,
        remedy="Check that the file can be read and the models folder written.",
        details=str(error),
    )


def _say(progress: ProgressCallback, message: str) -> ProgressCallback:
    return lambda report: progress(replace(report, message=message))


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
