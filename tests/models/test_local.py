"""Models by id: shared, verified, unloaded when memory runs short, gone when closed."""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path

import pytest

from core.errors import InvalidModelError, UsageError
from models import local
from models.catalog import default_model, ensure_verified, find_model, list_models, verify_model
from models.convert import import_model
from models.local import LocalModels
from tests.models.test_onnx import LABELS
from tests.models.tiny_models import make_folder

WORDS = {"no": [9.0, 0, 0], "yes": [0, 9.0, 0], "perhaps": [0, 0, 9.0]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A models folder with an entailment model, a scorer and an embedder, none with a card."""
    make_folder(tmp_path / "judge", WORDS, config={"id2label": LABELS})
    make_folder(
        tmp_path / "scorer",
        {"good": [2.0]},
        config={"architectures": ["BertForSequenceClassification"]},
    )
    make_folder(tmp_path / "places", {"north": [1.0, 0.0]}, config={}, hidden=True)
    return tmp_path


def test_a_folder_without_a_card_is_looked_into(folder: Path) -> None:
    found = {entry.id: entry for entry in list_models(folder) if not entry.shipped}
    assert {name: entry.role for name, entry in found.items()} == {
        "judge": "nli",
        "scorer": "reranker",
        "places": "embedder",
    }
    assert not any(entry.problem for entry in found.values())
    assert "support for a claim" in found["judge"].fit_for
    assert found["judge"].bytes == (folder / "judge" / "model.onnx").stat().st_size
    assert default_model("embedder", folder).id == "places"


def test_models_are_shared_and_answer_through_their_workers(folder: Path) -> None:
    with LocalModels(directory=folder) as models:
        judge = models.entailment("judge")
        assert models.entailment("judge") is judge
        assert judge.has_contradiction
        assert judge.entail([("", "yes"), ("", "no")])[1].contradiction > 0.9
        assert judge.info.sha256 == verify_model(find_model("judge", folder))
        assert models.pair_scorer("scorer").score([("good", "good")]) == pytest.approx([4.0])
        assert models.pair_scorer(folder / "scorer").score([("good", "")]) == pytest.approx([2.0])
        with pytest.raises(UsageError, match="no number"):
            models.pair_scorer("judge")
        assert models.embedder("places").embed(["north"]) == [[1.0, 0.0]]
    with pytest.raises(UsageError, match="closed"):
        judge.entail([("", "yes")])


def test_a_model_that_one_user_closed_is_opened_again_for_the_next(folder: Path) -> None:
    with LocalModels(directory=folder) as models:
        judge = models.entailment("judge")
        judge.close()
        again = models.entailment("judge")
        assert again is not judge
        assert again.entail([("", "yes")])[0].entailment > 0.9
        assert models.entailment("judge") is again


def test_the_model_used_longest_ago_makes_room(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = (folder / "judge" / "model.onnx").stat().st_size
    with LocalModels(directory=folder) as models:
        judge = models.entailment("judge")
        first = judge.pid
        assert first is not None
        monkeypatch.setattr(local, "total_memory", lambda: 2 * size)
        models.embedder("places")
        assert judge.pid is None
        # Asked again it is there again, in a worker of its own.
        assert judge.entail([("", "yes")])[0].entailment > 0.9
        assert judge.pid not in (None, first)


def test_a_changed_file_is_noticed_at_the_next_loading(folder: Path, tmp_path: Path) -> None:
    entry = ensure_verified(find_model("judge", folder))
    assert len(entry.sha256) == 64
    assert ensure_verified(entry) == entry
    data = bytearray(entry.path.read_bytes())
    data[-1] ^= 1
    entry.path.write_bytes(data)
    os.utime(entry.path, ns=(1, 1))
    with pytest.raises(InvalidModelError, match="not the file it was"):
        ensure_verified(entry)


def test_an_unchanged_file_is_not_read_twice(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = find_model("judge", folder)
    known = ensure_verified(entry)

    def refuse(*arguments: object, **keywords: object) -> str:
        raise AssertionError("hashed again")

    monkeypatch.setattr("models.catalog.hash_file", refuse)
    assert ensure_verified(entry) == known


def test_an_import_keeps_a_card_with_hash_fitness_and_remark(tmp_path: Path) -> None:
    # This model says entailment only of the word yes, and so fails the pairs of the self-check.
    source = make_folder(tmp_path / "Urteil ß", WORDS, config={"id2label": LABELS})
    entry = import_model(source, directory=tmp_path / "models")
    assert entry.id == "urteil"
    assert entry.role == "nli"
    assert "labels" in entry.notes
    card = json.loads((entry.folder / "model.json").read_text(encoding="utf-8"))
    assert card["sha256"] == entry.sha256 == verify_model(entry)
    assert find_model("urteil", tmp_path / "models") == dataclasses.replace(entry)
    assert [path.name for path in (tmp_path / "models").iterdir()] == ["urteil"]
