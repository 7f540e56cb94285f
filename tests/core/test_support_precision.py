"""The measurement of the support view: its pairs, its counts and its intervals."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import pytest
from scipy import stats

from core.ports import Entailment
from models.fake import FakeEntailment
from tests.benchmarks.support_precision import (
    VERDICTS,
    Pair,
    Row,
    count,
    in_words,
    interval,
    judge,
    own_pairs,
)


class Contrary(FakeEntailment):
    """Holds every sentence for contradicted."""

    def entail(self, pairs: Sequence[tuple[str, str]], **_more: Any) -> list[Entailment]:
        return [Entailment(0.1, 0.1, 0.8) for _pair in pairs]


def test_our_pairs_have_every_verdict_for_every_passage() -> None:
    pairs = {kind: own_pairs(kind) for kind in ("close", "reworded")}
    assert {kind: len(found) for kind, found in pairs.items()} == {"close": 60, "reworded": 100}
    by_passage: dict[str, Counter[str]] = defaultdict(Counter)
    for pair in pairs["close"]:
        by_passage[pair.evidence][pair.label] += 1
    assert len(by_passage) == 20
    labels = [verdict for verdict in VERDICTS if verdict != "perhaps"]
    assert all(found == Counter(labels) for found in by_passage.values())
    assert {pair.evidence for pair in pairs["reworded"]} == set(by_passage)
    assert {pair.label for pair in pairs["reworded"]} == set(labels)
    sentences = [pair.sentence for found in pairs.values() for pair in found]
    assert len(set(sentences)) == len(sentences)


def test_precision_and_recall_are_counted_by_verdict() -> None:
    wanted = ["supported", "supported", "not found", "contradicted"]
    given = ["supported", "not found", "not found", "supported"]
    rows = count(wanted, given)
    assert [(row.verdict, row.precision, row.recall) for row in rows] == [
        ("supported", 0.5, 0.5),
        ("not found", 0.5, 1.0),
        ("contradicted", None, 0.0),
    ]
    assert "precision - (n 0)" in in_words(rows[2])
    perhaps = count(wanted, ["perhaps", "supported", "perhaps", "perhaps"])[1]
    assert (perhaps.given, perhaps.right, perhaps.wanted) == (3, 1, 2)
    assert "recall 0.50" in in_words(Row("supported", 2, 1, 2))


@pytest.mark.parametrize(("right", "n"), [(0, 5), (5, 5), (19, 37), (262, 1028)])
def test_intervals_are_wilsons(right: int, n: int) -> None:
    found = stats.binomtest(right, n).proportion_ci(0.95, "wilson")
    assert interval(right, n) == pytest.approx(tuple(found), abs=1e-4)


def test_each_sentence_is_judged_as_the_view_does() -> None:
    pairs = [
        Pair("He took 5 mg of it at noon. He slept.", "He took 5 mg of it at noon.", "supported"),
        Pair("The lease ended in May of that year.", "The lease was prolonged.", "contradicted"),
    ]
    told = [claim.verdict if claim else "" for claim in judge(pairs, Contrary(), beside=1)]
    # Word for word needs no model.
    assert told == ["supported", "contradicted"]
