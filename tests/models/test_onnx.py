"""ONNX models: labels by name, calibration, windows, order kept, device told; on tiny graphs made here."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from core.errors import Cancelled, InvalidModelError
from core.ports import Cancellation
from models.onnx_common import bucket
from models.onnx_embed import EmbedEngine
from models.onnx_nli import EntailmentEngine
from models.onnx_pairs import PairEngine
from tests.models.tiny_models import make_folder

LABELS = {"0": "contradiction", "1": "entailment", "2": "neutral"}


def ignore(event: str, value: object) -> None:
    """Progress is not looked at."""


def nli(folder: Path, config: dict[str, object], width: int = 3) -> EntailmentEngine:
    rows = {"no": [4.0, 0, 0], "yes": [0, 4.0, 0], "perhaps": [0, 0, 4.0], "old": [0.0, 0, 0]}
    make_folder(folder, {word: row[:width] for word, row in rows.items()}, config=config)
    return EntailmentEngine({"path": str(folder)})


def entail(engine: EntailmentEngine, *pairs: tuple[str, str]) -> list[list[float]]:
    answer: list[list[float]] = engine.call("entail", {"pairs": pairs}, Cancellation(), ignore)
    return answer


def test_classes_come_in_the_ports_order_whatever_the_models_is(tmp_path: Path) -> None:
    engine = nli(tmp_path / "m", {"id2label": LABELS})
    assert engine.describe()["has_contradiction"]
    assert "CPU" in engine.describe()["device"] or "CUDA" in engine.describe()["device"]
    yes, perhaps, no = entail(engine, ("old", "yes"), ("old", "perhaps"), ("old", "no"))
    top = math.exp(4) / (math.exp(4) + 2)
    for place, row in enumerate((yes, perhaps, no)):
        assert row[place] == pytest.approx(top)
        assert sum(row) == pytest.approx(1.0)


def test_the_calibration_temperature_divides_the_logits(tmp_path: Path) -> None:
    engine = nli(tmp_path / "m", {"id2label": LABELS, "calibration_temperature": 2.0})
    assert entail(engine, ("old", "yes"))[0][0] == pytest.approx(math.exp(2) / (math.exp(2) + 2))


def test_two_classes_put_the_rest_into_neutral(tmp_path: Path) -> None:
    engine = nli(tmp_path / "m", {"id2label": {"0": "not_entailment", "1": "entailment"}}, width=2)
    assert not engine.describe()["has_contradiction"]
    (row,) = entail(engine, ("old", "no"))
    assert row[1] == pytest.approx(math.exp(4) / (math.exp(4) + 1))
    assert row[2] == 0.0


def test_batches_of_like_length_keep_the_order_and_padding_says_nothing(tmp_path: Path) -> None:
    engine = nli(tmp_path / "m", {"id2label": LABELS})
    words = ("yes", "perhaps", "no")
    pairs = [("old " * (n * 37 % 200), words[n % 3]) for n in range(150)]
    together = entail(engine, *pairs)
    assert [int(np.argmax(row)) for row in together] == [n % 3 for n in range(150)]
    assert np.allclose(together[:5], [entail(engine, pair)[0] for pair in pairs[:5]])


def test_what_is_cut_is_the_end_of_the_premise(tmp_path: Path) -> None:
    config = {"id2label": LABELS, "max_position_embeddings": 16}
    engine = nli(tmp_path / "m", config)
    (row,) = entail(engine, ("old " * 100 + "no", "yes"))
    assert row[0] > 0.9
    # A hypothesis longer than the model reads is cut too, and not refused.
    assert len(entail(engine, ("old", "yes " * 100))) == 1


def test_a_folder_without_entailment_label_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidModelError, match="entailment"):
        nli(tmp_path / "m", {"id2label": {"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"}})


def test_a_cancelled_batch_stops(tmp_path: Path) -> None:
    engine = nli(tmp_path / "m", {"id2label": LABELS})
    cancel = Cancellation()
    cancel.cancel()
    with pytest.raises(Cancelled):
        engine.call("entail", {"pairs": [("a", "b")]}, cancel, ignore)


def test_a_pair_gets_one_number(tmp_path: Path) -> None:
    make_folder(tmp_path / "m", {"good": [2.0], "bad": [-1.0]}, config={})
    engine = PairEngine({"path": str(tmp_path / "m")})
    pairs = [("good", "good"), ("bad bad", "good"), ("", "")]
    scores = engine.call("score", {"pairs": pairs}, Cancellation(), ignore)
    assert scores == pytest.approx([4.0, 0.0, 0.0])
    make_folder(tmp_path / "two", {"good": [2.0, 1.0]}, config={})
    with pytest.raises(InvalidModelError, match="2 numbers"):
        PairEngine({"path": str(tmp_path / "two")})


def embedder(folder: Path, **config: object) -> EmbedEngine:
    words = {"north": [1.0, 0.0], "east": [0.0, 1.0], "start": [0.0, 0.0]}
    make_folder(folder, words, config=config, hidden=True)
    return EmbedEngine({"path": str(folder)})


def test_vectors_are_means_of_unit_length(tmp_path: Path) -> None:
    engine = embedder(tmp_path / "m")
    texts = ["north", "north east", "east east north", "north " * 500]
    vectors = engine.call("embed", {"texts": texts}, Cancellation(), ignore)
    assert np.allclose(vectors[:2], [[1, 0], [0.5**0.5, 0.5**0.5]])
    assert np.allclose(vectors[2], np.array([1, 2]) / 5**0.5)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0)
    assert engine.describe()["dimensions"] == 2


def test_windows_meet_the_end_and_point_into_the_text(tmp_path: Path) -> None:
    engine = embedder(tmp_path / "m", rifugio_window=64)
    text = "north " * 90 + "east " * 10
    windows = engine.call("embed_windows", {"text": text}, Cancellation(), ignore)
    assert [text[start:end].split()[0] for start, end, _ in windows] == ["north"] * len(windows)
    assert windows[-1][1] == len(text.rstrip())
    assert windows[0][2] == pytest.approx([1.0, 0.0])
    assert windows[-1][2][1] > 0


@pytest.mark.parametrize("lengths", [[], [5], [3, 300, 4_000, 9_000, 1] * 40])
def test_every_text_is_in_one_batch(lengths: list[int]) -> None:
    batches = list(bucket(lengths))
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    assert all(len(batch) * lengths[batch[0]] <= max(4096, lengths[batch[0]]) for batch in batches)
