"""Entailment by sections: windows, missing sections, intervals, wrong input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from core.errors import UsageError
from core.metrics.registry import create
from core.metrics.windows import WHOLE_TOKENS, estimate_tokens, split_pair
from core.ports import Entailment, ModelInfo


class WordEntailment:
    """Entailment is the share of the hypothesis' words that stand in the premise."""

    info = ModelInfo(id="words", name="words", sha256="0" * 64, device="none")
    has_contradiction = False

    def __init__(self) -> None:
        self.pairs: list[tuple[str, str]] = []

    def entail(self, pairs: Sequence[tuple[str, str]], **_: Any) -> list[Entailment]:
        self.pairs += pairs
        found = []
        for premise, hypothesis in pairs:
            words = hypothesis.split()
            share = sum(word in premise.split() for word in words) / len(words)
            found.append(Entailment(share, 1 - share, 0.0))
        return found

    def close(self) -> None:
        return None


def test_forward_reads_the_reference_as_premise() -> None:
    model = WordEntailment()
    item = {"sections": [{"title": "Plan", "reference": "a b c d", "prediction": "a b"}]}
    score = create("nli", entailment=model).score_one(item)
    assert model.pairs == [("a b c d", "a b"), ("a b", "a b c d")]
    assert score.components["forward"] == 1.0
    assert score.components["reverse"] == 0.5
    assert score.value == pytest.approx(2 / 3)
    assert score.components["per_section"] == [{"title": "Plan", "forward": 1.0, "reverse": 0.5}]
    assert "words" in score.signature


def test_long_sections_take_the_best_window_of_each_sentence() -> None:
    facts = [f"Fact number {n} concerns thing{n} and nothing else at all." for n in range(60)]
    premise = " ".join(facts)
    hypothesis = f"{facts[2]} {facts[57]} Unknown words stand unsupported everywhere."
    groups = split_pair(premise, hypothesis)
    assert [group[0][1] for group in groups] == [
        facts[2],
        facts[57],
        "Unknown words stand unsupported everywhere.",
    ]
    assert len({window for group in groups for window, _ in group}) > 2
    assert all(
        estimate_tokens(window) + estimate_tokens(sentence) <= WHOLE_TOKENS
        for group in groups
        for window, sentence in group
    )
    every = {fact for fact in facts for window, _ in groups[0] if fact in window}
    assert every == set(facts)
    model = WordEntailment()
    item = {"sections": [{"reference": premise, "prediction": hypothesis}]}
    score = create("nli", entailment=model).score_one(item)
    assert score.components["forward"] == pytest.approx(2 / 3)


@pytest.mark.parametrize("text", ["字" * 2_000, "word" * 2_000, "。" * 900, "\n" * 5_000 + "a"])
def test_texts_without_sentences_are_cut(text: str) -> None:
    for group in split_pair(text, text):
        for window, sentence in group:
            assert estimate_tokens(window) + estimate_tokens(sentence) <= WHOLE_TOKENS + 2


def test_missing_and_unknown_sections() -> None:
    sections = [
        {"reference": "a b", "prediction": ""},
        {"reference": "", "prediction": "a b"},
        {"reference": "a", "prediction": "a"},
    ]
    score = create("nli", entailment=WordEntailment()).score_one({"sections": sections})
    assert score.components["forward"] == 0.5
    assert (score.components["missing"], score.components["left_out"]) == (1, 1)
    assert len(score.notes) == 3 and score.notes[-1] == "Entailment by words."
    nothing = create("nli", entailment=WordEntailment()).score_one({"sections": sections[1:2]})
    assert nothing.value is None
    assert nothing.unscored


def test_intervals_are_seeded_and_hold_the_value() -> None:
    items = [{"forward": [n * n % 37 / 37], "reverse": [n * n % 41 / 41]} for n in range(30)]
    score = create("nli", {"seed": "3"}).aggregate(items)
    c = score.components
    assert score.value is not None
    assert c["low"] < score.value < c["high"]
    assert c["forward_low"] < c["forward"] < c["forward_high"]
    assert create("nli", {"seed": "3"}).aggregate(items) == score
    assert create("nli", {"seed": "4"}).aggregate(items).components["low"] != c["low"]
    one = create("nli").aggregate(items[:1])
    assert one.components["low"] is None
    assert one.notes == ("One example has no interval.",)


@pytest.mark.parametrize(
    ("item", "words"),
    [
        ({}, "'sections' is missing"),
        ({"sections": []}, "'sections' is missing"),
        ({"sections": [{"reference": "a", "prediction": "a"}]}, "no entailment model"),
        ({"forward": [0.5]}, "'reverse' is missing"),
        ({"forward": [0.5], "reverse": [0.5, 0.5]}, "1 forward and 2 reverse"),
        ({"forward": [1.5], "reverse": [0.5]}, "0 to 1"),
        ({"forward": ["x"], "reverse": [0.5]}, "0 to 1"),
    ],
)
def test_wrong_input_is_named(item: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        create("nli").score_one(item)


def test_sections_must_be_texts() -> None:
    with pytest.raises(UsageError, match="Section 1"):
        create("nli", entailment=WordEntailment()).score_one({"sections": [{"reference": 3}]})


def test_a_premise_and_a_hypothesis() -> None:
    metric = create("nli", entailment=WordEntailment())
    items = [
        {"premise": "a b c", "hypothesis": "a b"},
        {"premise": "a b c", "hypothesis": "a x"},
        {"premise": "a", "hypothesis": " "},
    ]
    scores = metric.score_many(items)
    assert [score.value for score in scores] == [1.0, 0.5, None]
    assert scores[2].unscored == "The hypothesis is empty."
    assert metric.score_one(items[1]) == scores[1]
    assert "contradiction" not in scores[0].components
    total = metric.aggregate(items)
    assert (total.value, total.components["n"], total.components["n_unscored"]) == (0.75, 2, 1)
    with pytest.raises(UsageError, match="Item 2: 'hypothesis'"):
        metric.score_many([items[0], {"premise": "a"}])
