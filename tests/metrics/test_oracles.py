"""Fast metrics against the packages and plain formulas they must equal, on texts made to be awkward."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from core.metrics.gleu import draw_references
from core.metrics.ngrams import Texts, count_ngrams
from core.metrics.registry import create
from core.metrics.words import WordNumbers, split_words
from tests.benchmarks.metrics_plain import ngrams, plain_gleu, plain_sari
from tests.shared_data import shared_path

QUICK = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
PIECES = [
    "a",
    "B",
    "the",
    "1,000",
    "3.5",
    "x.y",
    "-",
    "2-3",
    "-\n",
    "\n",
    "&quot;",
    "&amp;lt;",
    "<skipped>",
    "<SKIPPED>",
    "(b)",
    "..",
    ",.",
    "!?",
    "\u00a0",
    "\u2003",
    "ΟΔΟΣ",
    "İ",
    "é",
    "🙂",
    "\0",
]
TEXT = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=14).map(" ".join),
    st.lists(st.sampled_from(PIECES), max_size=10).map("".join),
    st.text(max_size=30),
)


def _item(count: int) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {
            "source": TEXT,
            "prediction": TEXT,
            "references": st.lists(TEXT, min_size=count, max_size=count),
        }
    )


CORPUS = st.integers(1, 3).flatmap(lambda r: st.lists(_item(r), min_size=1, max_size=4))


def _columns(items: list[dict[str, Any]]) -> tuple[list[str], list[str], list[list[str]]]:
    return (
        [item["source"] for item in items],
        [item["prediction"] for item in items],
        [item["references"] for item in items],
    )


@QUICK
@given(texts=st.lists(TEXT, min_size=1, max_size=4), lowercase=st.booleans())
@example(texts=["a-<skipped>\nb", "\0", "a \0 b"], lowercase=True)
def test_words_are_those_of_sacrebleu(texts: list[str], lowercase: bool) -> None:
    tokenizer = Tokenizer13a()
    wanted = [tokenizer(text.lower() if lowercase else text).split() for text in texts]
    assert [split_words(text.lower() if lowercase else text, "13a") for text in texts] == wanted
    numbers = WordNumbers("13a", lowercase=lowercase)
    words, lengths = numbers.encode(texts)
    assert lengths.tolist() == [len(entry) for entry in wanted]
    flat = [word for entry in wanted for word in entry]
    assert words.tolist() == [numbers.number(word) for word in flat]
    assert len({*words.tolist()}) == len({*flat})


@QUICK
@example(items=[{"source": "", "prediction": "a 2-3", "references": ["-\n"]}])
@example(items=[{"source": "", "prediction": "-\n", "references": ["-"]}])
@given(items=CORPUS)
def test_bleu_equals_sacrebleu(items: list[dict[str, Any]]) -> None:
    _, outputs, references = _columns(items)
    transposed = [list(column) for column in zip(*references, strict=True)]
    wanted = BLEU().corpus_score(outputs, transposed).score
    assert create("bleu").aggregate(items).value == pytest.approx(wanted, abs=1e-9)
    scorer = BLEU(effective_order=True)
    for score, output, own in zip(
        create("bleu").score_many(items), outputs, references, strict=True
    ):
        assert score.value == pytest.approx(scorer.sentence_score(output, own).score, abs=1e-9)


@QUICK
@given(items=CORPUS)
def test_sari_equals_the_plain_formula(items: list[dict[str, Any]]) -> None:
    wanted = plain_sari(*_columns(items))
    assert create("sari").aggregate(items).value == pytest.approx(wanted, abs=1e-9)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(items=st.lists(st.integers(1, 4).flatmap(_item), min_size=1, max_size=4))
def test_gleu_equals_the_plain_formula(items: list[dict[str, Any]]) -> None:
    wanted = plain_gleu(*_columns(items))
    assert create("gleu").aggregate(items).value == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("counts", [[4] * 50, [3] * 7, [10] * 300, [1, 2, 3, 4, 5] * 20, [2] * 9])
@pytest.mark.parametrize("draw", [0, 1, 250, 499])
def test_draws_are_those_of_python(counts: list[int], draw: int) -> None:
    generator = random.Random(draw * 101)
    wanted = [generator.randint(0, count - 1) for count in counts]
    assert draw_references(np.array(counts), draw, "py3").tolist() == wanted
    generator = random.Random(draw * 101)
    wanted = [int(generator.random() * count) for count in counts]
    assert draw_references(np.array(counts), draw, "py2").tolist() == wanted


@QUICK
@given(
    texts=st.lists(st.lists(st.integers(0, 6), max_size=9), min_size=1, max_size=6),
    spread=st.sampled_from([1, 9_999]),
    seed=st.integers(0, 9),
)
def test_ngram_counts(texts: list[list[int]], spread: int, seed: int) -> None:
    """Small word numbers are packed into one integer, large vocabularies are not."""
    generator = random.Random(seed)
    # Words that no other text has make the vocabulary large.
    filler = [list(range(100, 100 + spread * 2))] if spread > 1 else []
    texts = [*texts, *filler]
    item = np.array(sorted(generator.choices(range(2), k=len(texts))))
    item[0] = 0
    role = np.array(generator.choices(range(3), k=len(texts)))
    batch = Texts(
        np.array([word for text in texts for word in text], dtype=np.int64),
        np.array([len(text) for text in texts], dtype=np.int64),
        role,
        item,
    )
    for order, found in enumerate(count_ngrams(batch, 3, 4), start=1):
        wanted = sorted(
            tuple(column)
            for i in range(2)
            for column in _plain_counts(texts, item.tolist(), role.tolist(), i, order)
        )
        columns = [(int(i), *map(int, c)) for i, c in zip(found.item, found.counts.T, strict=True)]
        assert sorted(columns) == wanted


def _plain_counts(
    texts: list[list[int]], item: list[int], role: list[int], wanted: int, order: int
) -> list[tuple[int, ...]]:
    counts = [ngrams([], order) for _ in range(3)]
    for text, owner, number in zip(texts, item, role, strict=True):
        if owner == wanted:
            counts[number] += ngrams([str(word) for word in text], order)
    return [(wanted, *(c[key] for c in counts)) for key in set().union(*counts)]


def _lines(*parts: str) -> list[str]:
    return shared_path("data", *parts).read_text(encoding="utf-8").splitlines()


def test_published_sari_on_asset() -> None:
    """The first 180 lines of ASSET's test set: a published system, and the input as it is."""
    source = _lines("asset", "asset.test.orig")
    references = [_lines("asset", f"asset.test.simp.{number}") for number in range(10)]
    output = _lines("easse_system_outputs", "turkcorpus_test", "ACCESS")
    for texts, value in ((output, 40.5847), (source, 20.8291)):
        items = [
            {"source": s, "prediction": o, "references": r}
            for s, o, *r in zip(source, texts, *references, strict=True)
        ]
        assert create("sari").aggregate(items).value == pytest.approx(value, abs=5e-5)


def test_published_gleu_of_the_jfleg_source() -> None:
    """The input of JFLEG's development set as it is, with Python 2's draw as published."""
    source = _lines("jfleg", "dev", "dev.src")
    references = [_lines("jfleg", "dev", f"dev.ref{number}") for number in range(4)]
    items = [
        {"source": s, "prediction": s, "references": r}
        for s, *r in zip(source, *references, strict=True)
    ]
    found = create("gleu", {"draw": "py2"}).aggregate(items).value
    assert 100 * (found or 0.0) == pytest.approx(38.21, abs=0.005)
    exact = create("gleu", {"draw": "exact"}).aggregate(items).value
    assert exact == pytest.approx(found, abs=0.002)
