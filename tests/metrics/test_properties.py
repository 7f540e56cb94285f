"""What must hold for every text: bounds, symmetry, order, empty and odd input, never an exception."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from core.errors import UsageError
from core.metrics.registry import create, metric_class

EDIT_METRICS = (
    "sari",
    "sari_hf",
    "em",
    "em_diff",
    "bleu",
    "bleu_editeval",
    "ibleu",
    "gleu",
    "update_rouge1",
    "update_rouge2",
    "update_rougeLsum",
)
ROUGE_METRICS = ("rouge1", "rouge2", "rougeL", "rougeLsum")
#: Metrics whose value for an output equal to its only reference is 1 (or 100) from four words on.
BEST_FOR_EQUAL = {
    "em": 1.0,
    "bleu": 100.0,
    "bleu_editeval": 1.0,
    "gleu": 1.0,
    "rouge1": 1.0,
    "rouge2": 1.0,
    "rougeL": 1.0,
    "rougeLsum": 1.0,
}

#: Whole texts, odd characters among them, and short texts of few words, which meet each other often.
ODD = st.text(max_size=60)
FEW = st.lists(
    st.sampled_from(
        ["a", "b", "the", "cat.", "can't", "1,000", "'", "<skipped>", "-\n", "..", "é"]
    ),
    max_size=12,
).map(" ".join)
TEXT = st.one_of(ODD, FEW)
ITEM = st.fixed_dictionaries(
    {"source": TEXT, "prediction": TEXT, "references": st.lists(TEXT, min_size=1, max_size=4)}
)
QUICK = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])

WHITESPACE = {"source": " \n", "prediction": "\t  ", "references": ["", "\u2003"]}


def _check(name: str, value: float | None) -> None:
    kind = metric_class(name)
    assert value is not None
    assert math.isfinite(value)
    assert kind.low - 1e-9 <= value <= kind.high + 1e-9


@pytest.mark.parametrize("name", EDIT_METRICS + ROUGE_METRICS)
@pytest.mark.parametrize("normalisation", ["none", "editeval"])
@QUICK
@given(items=st.lists(ITEM, min_size=1, max_size=3))
@example(items=[WHITESPACE])
@example(items=[{"source": "", "prediction": "", "references": [""]}])
@example(items=[{"source": "\0 a", "prediction": "\ud7ff\0", "references": ["\0", "a \0 b"]}])
def test_any_text_stays_in_bounds(
    name: str, normalisation: str, items: list[dict[str, Any]]
) -> None:
    metric = create(name, {"normalisation": normalisation})
    for score in metric.score_many(items):
        _check(name, score.value)
    _check(name, metric.aggregate(items).value)


@pytest.mark.parametrize("name", EDIT_METRICS + ROUGE_METRICS)
@QUICK
@given(items=st.lists(ITEM, min_size=1, max_size=5), seed=st.integers(0, 99))
def test_one_by_one_equals_many(name: str, items: list[dict[str, Any]], seed: int) -> None:
    metric = create(name)
    many = [score.value for score in metric.score_many(items)]
    assert many == pytest.approx([metric.score_one(item).value for item in items], abs=1e-9)


@pytest.mark.parametrize("name", [n for n in EDIT_METRICS + ROUGE_METRICS if n != "gleu"])
@QUICK
@given(items=st.lists(ITEM, min_size=1, max_size=5), seed=st.integers(0, 99))
def test_order_of_items_and_references_does_not_matter(
    name: str, items: list[dict[str, Any]], seed: int
) -> None:
    metric = create(name)
    shuffled = [
        {**item, "references": item["references"][::-1]}
        for item in random.Random(seed).sample(items, len(items))
    ]
    assert metric.aggregate(items).value == pytest.approx(
        metric.aggregate(shuffled).value, abs=1e-9
    )


@QUICK
@given(items=st.lists(ITEM, min_size=1, max_size=5), seed=st.integers(0, 99))
def test_exact_gleu_knows_no_order(items: list[dict[str, Any]], seed: int) -> None:
    metric = create("gleu", {"draw": "exact"})
    shuffled = [
        {**item, "references": item["references"][::-1]}
        for item in random.Random(seed).sample(items, len(items))
    ]
    assert metric.aggregate(items).value == pytest.approx(
        metric.aggregate(shuffled).value, abs=1e-9
    )


WORDS = st.lists(
    st.sampled_from(
        ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    ),
    min_size=5,
    max_size=20,
).map(" ".join)


@pytest.mark.parametrize(("name", "best"), BEST_FOR_EQUAL.items())
@QUICK
@given(source=WORDS, text=WORDS)
def test_output_equal_to_the_reference(name: str, best: float, source: str, text: str) -> None:
    item = {"source": source, "prediction": text, "references": [text]}
    assert create(name).score_one(item).value == pytest.approx(best)


@QUICK
@given(source=WORDS, text=WORDS)
def test_ibleu_of_the_reference_is_alpha_less_likeness_to_the_source(
    source: str, text: str
) -> None:
    item = {"source": source, "prediction": text, "references": [text]}
    score = create("ibleu").score_one(item)
    assert score.value == pytest.approx(0.9 - 0.1 * score.components["bleu_source"])


def test_sari_of_the_reference_need_not_be_100() -> None:
    """Copying where a copy is wanted: nothing is added or deleted, and 0/0 is 0."""
    item = {"source": "a b c d", "prediction": "a b c d", "references": ["a b c d"]}
    assert create("sari").score_one(item).value == pytest.approx(100 / 3)


def test_em_diff_where_no_edit_was_wanted_is_0_and_says_so() -> None:
    item = {"source": "a b", "prediction": "a b", "references": ["a b"]}
    score = create("em_diff").score_one(item)
    assert score.value == 0.0
    assert score.components["no_edit_wanted"]
    assert score.notes
    assert create("em_diff").aggregate([item, item]).components["no_edit_wanted"] == 2


@QUICK
@given(a=TEXT, b=TEXT)
def test_symmetric_metrics(a: str, b: str) -> None:
    for name, forth, back in (
        ("ngram_cosine", {"a": a, "b": b}, {"a": b, "b": a}),
        ("edit_distance", {"source": a, "prediction": b}, {"source": b, "prediction": a}),
        ("rouge1", {"prediction": a, "references": [b]}, {"prediction": b, "references": [a]}),
        ("rougeL", {"prediction": a, "references": [b]}, {"prediction": b, "references": [a]}),
    ):
        metric = create(name)
        value = metric.score_one(forth).value
        _check(name, value)
        assert value == pytest.approx(metric.score_one(back).value)


@QUICK
@given(text=TEXT, corpus=st.lists(TEXT, max_size=3))
@example(text="a b c d e f g h i", corpus=["a b c d e f g h i"])
def test_texts_alone_never_fail(text: str, corpus: list[str]) -> None:
    assert create("length").score_one({"prediction": text}).value is not None
    grade = create("flesch_kincaid").score_one({"prediction": text}).value
    assert grade is not None
    assert math.isfinite(grade)
    share = create("contamination").score_one({"prediction": text, "corpus": corpus})
    assert (share.value is None) == (len(text.split()) < 8)
    whole = create("contamination").score_one({"prediction": text, "corpus": [text, *corpus]})
    assert whole.value in (None, 1.0)


@QUICK
@given(text=TEXT)
def test_nothing_changed_is_no_distance(text: str) -> None:
    score = create("edit_distance").score_one({"source": text, "prediction": text})
    assert score.value == 0.0
    assert score.components["places"] == 0


@pytest.mark.parametrize("name", EDIT_METRICS + ROUGE_METRICS)
def test_text_metrics_without_references_are_wrong_usage(name: str) -> None:
    metric = create(name)
    good = {"source": "a", "prediction": "b", "references": ["c"]}
    for item in ({**good, "references": []}, {"source": "a", "prediction": "b"}, {}):
        with pytest.raises(UsageError):
            metric.score_one(item)
    with pytest.raises(UsageError, match="Item 2"):
        metric.score_many([good, {**good, "prediction": None}])


@pytest.mark.parametrize("name", EDIT_METRICS + ROUGE_METRICS)
def test_no_items_have_no_value(name: str) -> None:
    score = create(name).aggregate([])
    assert score.value is None
    assert score.unscored


def test_scripts_that_rouge_drops_are_warned_of() -> None:
    item = {"prediction": "नमस्ते दुनिया", "references": ["नमस्ते दुनिया"]}
    assert create("rouge1").score_one(item).notes
    assert create("rouge1", {"tokenizer": "unicode"}).score_one(item).value == 1.0
