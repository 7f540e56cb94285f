"""What the Models page says of how far a model may be believed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from app.pages.models.evaluation import EvaluationView
from build.nli.card import write_card
from core.errors import InvalidModelError
from models.entry import CatalogEntry
from models.evaluation import format_evaluation, read_evaluation


def _numbers(binary: float, ece: float, precision: float | None = 0.9) -> dict[str, Any]:
    return {
        "n": 1000,
        "total": 1000,
        "accuracy": binary - 0.1,
        "macro_f1": binary - 0.1,
        "binary": binary,
        "auc": binary + 0.05,
        "ece": ece,
        "curve": [[0.05, 0.1, 400], [0.5, 0.4, 200], [0.95, 0.9, 400]],
        "contradiction_n": 300,
        "contradiction_precision": precision,
        "hypothesis_only": 0.7,
    }


def make_evaluation(folder: Path, sha256: str = "a" * 64) -> CatalogEntry:
    """A folder with an evaluation as the set-up for training writes it."""
    kinds = {
        "encyclopaedia": _numbers(0.88, 0.04),
        "school science": _numbers(0.75, 0.2, None),
        "contracts": _numbers(0.9, 0.03),
    }
    write_card(
        folder,
        sha256=sha256,
        size=23_000_000,
        variant="int8",
        variants=[],
        parity=1e-6,
        temperature=1.1,
        training={
            "pairs_seen": 10,
            "pairs_in_training_set": 20,
            "epochs": 0.5,
            "steps": 2,
            "minutes": 1.0,
            "threads": 1,
            "rate": 1e-4,
            "longest": 256,
            "seed": 7,
            "dev": [],
        },
        sets={"fever": kinds["encyclopaedia"], "contractnli": kinds["contracts"]},
        kinds=kinds,
        ablations=[],
        combination=[],
        averages=[],
    )
    return CatalogEntry(
        id="nli", name="NLI", role="nli", format="onnx-nli", folder=folder, sha256=sha256
    )


def test_weak_kinds_are_named_with_what_to_do(qtbot: QtBot, tmp_path: Path) -> None:
    found = read_evaluation(make_evaluation(tmp_path))
    assert found is not None
    view = EvaluationView(found)
    qtbot.addWidget(view)
    words = " ".join(label.text() for label in view.findChildren(QLabel))
    assert "small, built in" in words
    # The contracts' numbers are high, and still not to be relied on: their hypotheses recur.
    assert "Weak or unknown for: school science, contracts." in words
    assert "DeBERTa" in words
    assert "calibration error 0.20" in words
    assert "Clinical notes, court decisions and lesson plans were not measured." in words
    named = [w.accessibleName() for w in view.findChildren(QWidget) if w.accessibleName()]
    assert "Calibration for school science" in named


def test_table_for_the_terminal(tmp_path: Path) -> None:
    found = read_evaluation(make_evaluation(tmp_path))
    assert found is not None
    lines = format_evaluation(found).splitlines()
    fever = next(line for line in lines if line.startswith("fever"))
    assert fever.split() == ["fever", "1,000", "0.780", "0.780", "0.880", "0.930", "0.040", "0.900"]


def test_an_evaluation_of_other_weights_is_refused(tmp_path: Path) -> None:
    entry = make_evaluation(tmp_path)
    facts = json.loads((tmp_path / "evaluation.json").read_text())
    facts["model_sha256"] = "b" * 64
    (tmp_path / "evaluation.json").write_text(json.dumps(facts))
    with pytest.raises(InvalidModelError, match="other weights"):
        read_evaluation(entry)
    (tmp_path / "evaluation.json").write_text("{}")
    with pytest.raises(InvalidModelError, match="cannot be read"):
        read_evaluation(entry)
    (tmp_path / "evaluation.json").unlink()
    assert read_evaluation(entry) is None
