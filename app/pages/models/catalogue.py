"""The catalogue as a table, and trying a model out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from app.strings import format_bytes, say
from core.ports import (
    Cancellation,
    GenerationRequest,
    Message,
    Progress,
    ProgressCallback,
    no_progress,
)
from models.catalog import CatalogEntry, verify_model

ROLE_WORDS = {
    "generator": "Writes text",
    "embedder": "Search, similarity",
    "nli": "Support for claims",
    "reranker": "Ranks passages",
    "metric": "Scores pairs",
}

AnyIndex = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What checking a model found: its hash, where it ran, and a remark."""

    model_id: str
    sha256: str
    device: str
    remark: str


class CatalogueModel(QAbstractTableModel):
    """The models on this machine, by role and name."""

    def __init__(self, parent: Any = None) -> None:
        super().__init__(parent)
        self.entries: list[CatalogEntry] = []
        self._titles = (say("Model"), say("Role"), say("Size"), say("Licence"), say("State"))

    def show(self, entries: Sequence[CatalogEntry]) -> None:
        self.beginResetModel()
        self.entries = list(entries)
        self.endResetModel()

    def row_of(self, model_id: str) -> int:
        """The row of a model; -1 when it is not there."""
        ids = [entry.id for entry in self.entries]
        return ids.index(model_id) if model_id in ids else -1

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self.entries)

    def columnCount(self, parent: AnyIndex = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self._titles)

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        text = self._text(self.entries[index.row()], index.column())
        if role == Qt.ItemDataRole.DisplayRole:
            return text
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{self._titles[index.column()]}: {text}"
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = (
                Qt.AlignmentFlag.AlignRight if index.column() == 2 else Qt.AlignmentFlag.AlignLeft
            )
            return int(side | Qt.AlignmentFlag.AlignVCenter)
        return None

    def headerData(
        self,
        section: int,
        orientation: Qt.Orientation,
        role: int = Qt.ItemDataRole.DisplayRole,
    ) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._titles[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if section == 2 else Qt.AlignmentFlag.AlignLeft
            return int(side | Qt.AlignmentFlag.AlignVCenter)
        return None

    @staticmethod
    def _text(entry: CatalogEntry, column: int) -> str:
        if column == 0:
            return entry.name
        if column == 1:
            return say(ROLE_WORDS.get(entry.role, entry.role))
        if column == 2:
            return format_bytes(entry.bytes) if entry.bytes else ""
        if column == 3:
            return entry.licence
        return say("Cannot be used") if entry.problem else say("Ready")


def check_model(
    models: Any,
    entry: CatalogEntry,
    *,
    progress: ProgressCallback = no_progress,
    cancel: Cancellation | None = None,
) -> CheckResult:
    """Compare a model's hash with the catalogue, load it, and let it answer once.

    Raises
    ------
    InvalidModelError, ModelError
        When the file is another, or the model does not answer.
    """
    sha256 = verify_model(entry, progress=progress, cancel=cancel)
    if entry.format == "sentence-transformers":
        remark = say("Not loaded: it is the source for conversion; the ONNX twin is used.")
        return CheckResult(entry.id, sha256, "", remark)
    progress(Progress(entry.bytes, entry.bytes, message=say("trying it")))
    if entry.role == "generator":
        model = models.generator(entry.id)
        request = GenerationRequest(messages=(Message("user", "Say hello."),), max_tokens=8)
        model.generate(request, cancel=cancel)
    elif entry.role == "embedder":
        model = models.embedder(entry.id)
        model.embed(["hello"])
    elif entry.role == "nli":
        model = models.entailment(entry.id)
        model.entail([("It rains.", "It is wet.")])
    else:
        model = models.pair_scorer(entry.id)
        model.score([("It rains.", "It is wet.")])
    return CheckResult(entry.id, sha256, model.info.device, say("It answers."))
