"""Drawing of training pairs, the loss, and the measures, against values worked out by hand."""

from __future__ import annotations

import json
import lzma
import math
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from build.nli.card import say_in_words, shows_contradiction
from build.nli.data import NOT_ENTAILMENT, BalancedDraw, Pair, read_pairs
from build.nli.measures import (
    area_under_curve,
    calibration,
    fit_temperature,
    log_loss,
    measure_set,
    softmax,
)


def _pairs(**sizes: int) -> list[Pair]:
    return [Pair(f"{s} {n}", "h", 0, s) for s, size in sizes.items() for n in range(size)]


def test_pairs_are_read_without_left_out_sources(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl.xz"
    rows = [
        {"premise": "p", "hypothesis": "h", "label": label, "source": source}
        for label, source in (("contradiction", "a"), ("not_entailment", "b"), ("entailment", "c"))
    ]
    with lzma.open(path, "wt", encoding="utf-8") as out:
        out.writelines(json.dumps(row) + "\n" for row in rows)
    found = read_pairs(path, without=["c"])
    assert [(pair.label, pair.source) for pair in found] == [(2, "a"), (NOT_ENTAILMENT, "b")]


def test_draw_is_repeatable_resumable_and_within_its_tokens() -> None:
    pairs = _pairs(big=300, small=20)
    lengths = [10 + index % 40 for index in range(len(pairs))]
    first = list(islice(BalancedDraw(pairs, seed=3, batch_tokens=400).batches(lengths), 60))
    again = islice(BalancedDraw(pairs, seed=3, batch_tokens=400).batches(lengths, skip=20), 40)
    assert list(again) == first[20:]
    assert all(len(batch) * max(lengths[i] for i in batch) <= 400 for batch in first)


def test_small_sources_are_drawn_more_than_their_share() -> None:
    pairs = _pairs(big=1600, small=100)
    batches = islice(BalancedDraw(pairs, seed=3).batches([20] * len(pairs)), 160)
    counts = Counter(pairs[i].source for batch in batches for i in batch)
    # 100^.75 of 100^.75 + 1600^.75 is 1/9, by size it would be 1/17.
    assert counts["small"] / counts.total() == pytest.approx(1 / 9, abs=0.015)


def test_marginal_loss_takes_neutral_and_contradiction_together() -> None:
    torch = pytest.importorskip("torch")
    from build.nli.loss import marginal_loss, rate_at

    p = torch.tensor([[0.2, 0.3, 0.5]]).log()
    for label, wanted in ((0, 0.2), (2, 0.5), (NOT_ENTAILMENT, 0.8)):
        loss = marginal_loss(p, torch.tensor([label]), smoothing=0.0)
        assert float(loss) == pytest.approx(-math.log(wanted), abs=1e-5)
    assert rate_at(1.0, 1e-4) == 0.0
    assert rate_at(0.04, 1e-4) == pytest.approx(1e-4)
    assert rate_at(0.52, 1e-4) == pytest.approx(5e-5)


def test_area_under_curve_counts_ties_half() -> None:
    scores = np.array([0.9, 0.5, 0.5, 0.1])
    assert area_under_curve(scores, np.array([True, True, False, False])) == 0.875
    assert area_under_curve(scores, np.ones(4, dtype=bool)) is None


def test_calibration_error_by_hand() -> None:
    error, curve = calibration(
        np.array([0.95, 0.95, 0.15, 0.15]), np.array([True, False, False, False])
    )
    assert error == pytest.approx(0.5 * 0.45 + 0.5 * 0.15)
    assert curve == [[0.15, 0.0, 2], [0.95, 0.5, 2]]


def test_temperature_undoes_overconfidence() -> None:
    rng = np.random.default_rng(1)
    logits = rng.normal(size=(4000, 3)) * 1.5
    labels = np.array([rng.choice(3, p=p) for p in softmax(logits)])
    assert fit_temperature(logits * 2.0, labels) == pytest.approx(2.0, rel=0.12)


def test_two_class_sets_have_no_three_class_numbers() -> None:
    p = np.array([[0.9, 0.05, 0.05], [0.2, 0.1, 0.7]])
    two = measure_set(p, np.array([0, NOT_ENTAILMENT]))
    assert (two["accuracy"], two["binary"], two["auc"]) == (None, 1.0, 1.0)
    three = measure_set(p, np.array([0, 1]))
    assert (three["accuracy"], three["contradiction_n"]) == (0.5, 1)
    assert three["contradiction_precision"] == 0.0
    assert log_loss(p, np.array([0, NOT_ENTAILMENT])) == pytest.approx(
        -(math.log(0.9) + math.log(0.8)) / 2
    )


def test_contradiction_needs_precision_pairs_and_hypotheses_of_its_own() -> None:
    good = {"contradiction_precision": 0.9, "contradiction_n": 200, "binary": 0.9, "ece": 0.02}
    assert shows_contradiction("encyclopaedia", good)
    assert not shows_contradiction("contracts", good)
    assert not shows_contradiction("encyclopaedia", good | {"contradiction_n": 20})
    assert not shows_contradiction("encyclopaedia", good | {"contradiction_precision": None})
    assert "usable" in say_in_words("encyclopaedia", good)
    assert "weak" in say_in_words("encyclopaedia", good | {"ece": 0.2})
    assert "recur" in say_in_words("contracts", good)


def test_a_mean_of_networks_keeps_whole_numbers_and_what_some_lack() -> None:
    torch = pytest.importorskip("torch")
    from build.nli.average import mix_weights

    first = {
        "weight": torch.tensor([1.0, 2.0]),
        "head": torch.tensor([4.0]),
        "n": torch.tensor([3]),
    }
    second = {"weight": torch.tensor([5.0, -2.0]), "n": torch.tensor([9])}
    third = {"weight": torch.tensor([1.0, 2.0]), "head": torch.tensor([8.0])}
    mixed = mix_weights([(0.5, first), (0.25, second), (0.25, third)])
    assert mixed["weight"].tolist() == [2.0, 1.0]
    assert mixed["head"].tolist() == pytest.approx([16 / 3])
    assert mixed["n"].tolist() == [3]


def _pair(number: int, source: str = "fever", label: int = 0) -> Pair:
    return Pair(f"Premise {number} of its own.", f"Claim {number}.", label, source)


def test_negatives_are_near_premises_of_others_and_never_the_pairs_own() -> None:
    from build.nli.mixing import RETRIEVED, retrieved_negatives

    pairs = [_pair(number) for number in range(40)] + [_pair(99, "snli_sample")]
    angles = {text: n for n, p in enumerate(pairs) for text in (p.premise, p.hypothesis)}

    def embed(texts: Sequence[str]) -> np.ndarray:
        turns = np.array([angles[text] * 0.1 for text in texts])
        return np.stack([np.cos(turns), np.sin(turns)], axis=1)

    made = retrieved_negatives(pairs, embed, count=40, seed=1)
    assert len(made) > 20 and {p.source for p in made} == {RETRIEVED}
    assert {p.label for p in made} == {NOT_ENTAILMENT}
    for pair in made:
        apart = abs(angles[pair.premise] - angles[pair.hypothesis]) * 0.1
        assert np.arccos(0.8) - 1e-6 <= min(apart % 6.283, -apart % 6.283) < 1.571
    assert made == retrieved_negatives(pairs, embed, count=40, seed=1)


def test_a_premise_among_others_keeps_its_words_and_its_label() -> None:
    from build.nli.mixing import PASSAGES, premises_in_passages

    pairs = [_pair(number, label=number % 3) for number in range(30)]
    labels = {pair.hypothesis: pair.label for pair in pairs}
    made = premises_in_passages([*pairs, _pair(99, "snli_sample")], count=30, seed=1)
    assert len(made) == 30 and {p.source for p in made} == {PASSAGES}
    for pair in made:
        number = pair.hypothesis.removeprefix("Claim ").removesuffix(".")
        assert f"Premise {number} of its own." in pair.premise
        assert pair.label == labels[pair.hypothesis]
        assert 1 <= pair.premise.count("Premise") <= 5


def test_pooled_dropout_drops_its_share_and_nothing_when_measuring() -> None:
    torch = pytest.importorskip("torch")
    from build.nli.dropout import PooledDropout, pool_dropout

    network = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(0.5))
    pool_dropout(network, 0.25)
    assert isinstance(network[1], PooledDropout)
    dropped = network[1](torch.ones(200, 100))
    assert float((dropped == 0).float().mean()) == pytest.approx(0.25, abs=0.02)
    assert float(dropped.mean()) == pytest.approx(1.0, abs=0.02)
    network.eval()
    assert bool((network[1](torch.ones(3, 4)) == 1).all())
