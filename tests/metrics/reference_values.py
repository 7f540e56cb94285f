"""Published numbers as (metric, options, case, field, inputs, expected) for one parametrised test."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.shared_data import ROOT

FOLDER = Path(os.environ.get("RIFUGIO_SHARED") or ROOT.parent / "shared") / "reference_values"


@cache
def load_cases(family: str) -> list[dict[str, Any]]:
    """All cases of a family, its third-party texts included; none where the files are absent."""
    cases: list[dict[str, Any]] = []
    for name in (f"{family}.json", f"{family}.real.json"):
        path = FOLDER / name
        if path.exists():
            cases += json.loads(path.read_text(encoding="utf-8"))["cases"]
    return cases


def parametrise(cases: Iterator[tuple[str, Any]]) -> pytest.MarkDecorator:
    """One test a case, named by metric and case; skipped as a whole where the files are absent."""
    found = list(cases)
    if not found:
        skip = pytest.mark.skip(reason="the reference values are not on this machine")
        return pytest.mark.parametrize("case", [pytest.param(None, marks=skip)])
    return pytest.mark.parametrize("case", [pytest.param(c, id=name) for name, c in found])


def edit_items(case: dict[str, Any]) -> list[dict[str, Any]]:
    """The items of a case of an edit metric."""
    inputs = case["inputs"]
    return [
        {"source": source, "prediction": prediction, "references": references}
        for source, prediction, references in zip(
            inputs["sources"], inputs["predictions"], inputs["references"], strict=True
        )
    ]


def assert_close(found: float | None, wanted: float, tolerance: float = 1e-9) -> None:
    """Equal to within an absolute tolerance."""
    assert found is not None
    assert math.isclose(found, wanted, rel_tol=0.0, abs_tol=tolerance), (found, wanted)
