"""Exact checks speak where the evidence has the same kind of thing otherwise, and only there."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.nli.exact import check_exactly


@pytest.mark.parametrize(
    ("sentence", "evidence", "kind", "text"),
    [
        ("Start lisinopril 20 mg daily.", "Lisinopril 10 mg daily was started.", "dose", "20 mg"),
        ("Give 5 mg of it.", "Give 5 ml of it.", "unit", "5 mg"),
        ("He is 54 years old.", "He is 45 years old.", "number", "54 years"),
        ("Twelve pupils came.", "There were 13 pupils.", "number", "Twelve"),
        ("Seen on 3 May 2021.", "Seen on May 4, 2021.", "date", "3 May 2021"),
        ("Signed 2020-01-02.", "Signed on 2 January 2019.", "date", "2020-01-02"),
        ("Dr. Miller saw him.", "He was seen by Dr. Smith.", "name", "Dr. Miller"),
        ("Anna Berg signed.", "Signed by Anna Holm.", "name", "Anna Berg"),
        ("The patient denies chest pain.", "The patient has chest pain.", "negation", "denies"),
        ("It cost $1,500.", "It cost $1,200.", "number", "$1,500"),
    ],
)
def test_difference_is_found(sentence: str, evidence: str, kind: str, text: str) -> None:
    found = check_exactly(sentence, evidence)
    assert [(d.kind, d.text) for d in found] == [(kind, text)]
    assert sentence[found[0].start : found[0].end] == text


def test_negation_lost_marks_the_whole_sentence() -> None:
    sentence = "The tenant paid the rent."
    (found,) = check_exactly(
        sentence, "The tenant did not pay the rent and the tenant paid nothing."
    )
    assert (found.kind, found.start, found.end) == ("negation", 0, len(sentence))


@pytest.mark.parametrize(
    ("sentence", "evidence"),
    [
        ("He takes 5 mg.", "He takes five milligrams daily."),
        ("Seen on 3 May.", "Seen on 2021-05-03."),
        ("It weighs 1,000 kg.", "It weighs 1000 kilograms."),
        ("One of them left.", "Three of them left, two stayed."),
        ("Anna Berg signed.", "The contract was signed by Berg, Anna."),
        ("Paris is big.", "The patient takes 5 mg."),
        ("There are 7 days in a week.", "The dose is 5 mg."),
        ("The patient denies chest pain.", "No chest pain."),
        ("", ""),
    ],
)
def test_nothing_is_said_where_nothing_differs(sentence: str, evidence: str) -> None:
    assert check_exactly(sentence, evidence) == []


@given(st.text(max_size=200))
def test_a_text_never_differs_from_itself_in_numbers_or_names(text: str) -> None:
    assert [d for d in check_exactly(text, text) if d.kind != "negation"] == []


@given(st.text(max_size=120), st.text(max_size=120))
def test_odd_text_never_raises_and_spans_fit(sentence: str, evidence: str) -> None:
    for found in check_exactly(sentence, evidence):
        assert 0 <= found.start <= found.end <= len(sentence)
