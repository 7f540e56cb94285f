"""The precision of the exact checks is what the window says, and they miss none of the written cases."""

from __future__ import annotations

from collections import Counter

from core.examples.exact_precision import PRECISION
from core.nli.exact import check_exactly
from tests.core.exact_check_cases import CASES


def test_the_measured_precision_is_the_one_shown() -> None:
    right: Counter[str] = Counter()
    spoke: Counter[str] = Counter()
    missed = []
    for kind, sentence, evidence, differs in CASES:
        found = {difference.kind for difference in check_exactly(sentence, evidence)}
        for said in found:
            spoke[said] += 1
            right[said] += said == kind and differs
        if differs and kind not in found:
            missed.append(sentence)
    assert {kind: (right[kind], spoke[kind]) for kind in PRECISION} == dict(PRECISION)
    assert missed == []


def test_half_of_the_cases_of_each_kind_differ() -> None:
    for kind in PRECISION:
        told = [differs for case_kind, _s, _e, differs in CASES if case_kind == kind]
        assert len(told) == 16
        assert sum(told) == 8
