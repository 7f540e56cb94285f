"""Looking at a file or a folder to say which kind of model it is, before anything is loaded."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

from core.errors import InvalidModelError, UsageError
from models.entry import FORMAT_OF_ROLE, ROLE_OF_FORMAT, CatalogEntry, ModelFormat
from models.gguf import read_gguf
from models.model_config import read_model_config
from models.templates import BUILT_IN_TEMPLATES


class MissingTemplateError(InvalidModelError):
    """The model brings no chat template, so the person has to say which to use.

    ``choices`` names the built-in templates.
    """

    def __init__(self, message: str, *, remedy: str = "", details: str = "") -> None:
        super().__init__(message, remedy=remedy, details=details)
        self.choices = tuple(BUILT_IN_TEMPLATES)


def inspect_source(
    source: Path, role: str | None = None, chat_template: str | None = None
) -> CatalogEntry:
    """What a source is, as a catalogue entry whose folder is still the source.

    Parameters
    ----------
    source
        A GGUF file or a folder.

    Raises
    ------
    InvalidModelError, MissingTemplateError, UsageError
        In words, why it is no model that can be used.
    """
    model_id = make_id(source.stem if source.is_file() else source.name)
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
        role=role or ROLE_OF_FORMAT[format],  # type: ignore[arg-type]
        format=format,
        folder=source,
        file=_find_weights(source),
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
    config = read_model_config(folder)
    if not list(folder.rglob("*.onnx")):
        if not list(folder.glob("*.safetensors")) and not list(folder.glob("pytorch_model*.bin")):
            raise InvalidModelError(
                f"{folder.name} holds no weights.", remedy="Copy the whole folder."
            )
        return "sentence-transformers"
    if role is not None:
        return FORMAT_OF_ROLE[role]
    labels = {str(label).casefold() for label in (config.get("id2label") or {}).values()}
    if any(label.startswith("entail") for label in labels):
        return "onnx-nli"
    architectures = " ".join(config.get("architectures") or ())
    if "SequenceClassification" in architectures:
        return "onnx-pair"
    return "onnx-embedder"


def _find_weights(folder: Path) -> str:
    for pattern, usual in (("*.onnx", "model.onnx"), ("*.safetensors", ""), ("*.bin", "")):
        files = sorted(folder.rglob(pattern), key=lambda file: (len(file.parts), file.name))
        preferred = [file for file in files if file.name == usual] or files
        if preferred:
            return preferred[0].relative_to(folder).as_posix()
    return ""


def make_id(name: str) -> str:
    """A folder name from any file name: ASCII, lower case, hyphens."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().casefold()
    return re.sub(r"[^a-z0-9._]+", "-", plain).strip("-.") or "model"
