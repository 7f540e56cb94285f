"""Graph metrics, entailment and preferences against values worked out from the papers' definitions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from core.metrics.registry import create
from tests.metrics.reference_values import assert_close, load_cases, parametrise


class Wanted(NamedTuple):
    """One item, and what the metric gives for it."""

    metric: str
    options: dict[str, str]
    item: dict[str, Any]
    components: dict[str, Any]


def _graph_item(gold: Any, predicted: Any, similarity: Any) -> dict[str, Any]:
    return {"gold": gold, "predicted": predicted, "similarity": similarity}


def _step_cases() -> Iterator[tuple[str, Wanted]]:
    for case in load_cases("tasklama_step_matching"):
        inputs, expected = case["inputs"], case["expected"]
        item = _graph_item(
            {"steps": inputs["gold"]},
            {"steps": inputs["generated"]},
            inputs["similarity_rows_generated_cols_gold"],
        )
        measures = ("precision", "recall", "f1", "f2")
        hungarian, relaxed = expected["hungarian"], expected["relaxed_one_to_two"]
        for name, wanted in (
            ("step_matching", {k: hungarian[k] for k in ("total", *measures)}),
            (
                "step_matching_relaxed",
                {k: relaxed[k] for k in ("precision_total", "recall_total", *measures)},
            ),
            ("step_matching_max", expected["zhang2021_max_based"]),
        ):
            yield f"{name}-{case['id']}", Wanted(name, {}, item, wanted)
    for case in load_cases("tasklama_document_rouge"):
        inputs = case["inputs"]
        item = _graph_item(
            {"steps": inputs["gold_steps"]}, {"steps": inputs["generated_steps"]}, None
        )
        for field, wanted in case["expected"].items():
            name = f"document_{field}"
            yield f"{name}-{case['id']}", Wanted(name, {}, item, wanted)


def _edge_cases() -> Iterator[tuple[str, Wanted]]:
    fields = {
        "both_empty_is_1": "1",
        "both_empty_is_0_literal_rouge": "0",
        "both_empty_skipped": "skip",
    }
    for case in load_cases("tasklama_edges"):
        inputs, expected = case["inputs"], case["expected"]
        item = _graph_item(
            inputs["gold"], inputs["generated"], inputs["similarity_rows_generated_cols_gold"]
        )
        for name in ("in_degree", "out_degree", "step_proximity"):
            for rouge, values in expected[name].items():
                for field, value in values.items():
                    options = {"both_empty": fields[field], "rouge": rouge.removeprefix("rouge")}
                    yield (
                        f"{name}-{rouge}-{field}-{case['id']}",
                        Wanted(
                            name,
                            options,
                            item,
                            {"value": value, "pairs": expected["n_pairs_including_dummies"]},
                        ),
                    )


def _nli_cases() -> Iterator[tuple[str, tuple[str, list[dict[str, Any]], dict[str, float]]]]:
    for case in load_cases("dolomites_nli"):
        items = [
            {key: [section[key] for section in example] for key in ("forward", "reverse")}
            for example in case["inputs"]["examples"]
        ]
        e = case["expected"]
        for average in ("sections", "examples"):
            wanted = {
                "value": e[f"harmonic_of_means_over_{average}"],
                "forward": e[f"forward_over_{average}"],
                "reverse": e[f"reverse_over_{average}"],
            }
            yield f"nli-{average}-{case['id']}", (average, items, wanted)
        yield (
            f"nli-harmonics-{case['id']}",
            (
                "harmonics",
                items,
                {"value": e["mean_of_section_harmonics"]},
            ),
        )


def _check(score: Any, components: dict[str, Any]) -> None:
    for key, value in components.items():
        found = score.value if key == "value" else score.components[key]
        if value is None:
            assert found is None
        else:
            assert_close(found, value)


@parametrise(_step_cases())
def test_steps(case: Wanted) -> None:
    score = create(case.metric, case.options).score_one(case.item)
    _check(score, case.components)
    assert score.value == score.components["f1"]


@parametrise(_edge_cases())
def test_edges(case: Wanted) -> None:
    _check(create(case.metric, case.options).score_one(case.item), case.components)


@parametrise((f"cycles-{c['id']}", c) for c in load_cases("tasklama_cycles"))
def test_cycles(case: dict[str, Any]) -> None:
    wanted = case["expected"]["edges_after_cycle_removal"]
    steps = [f"step {n}" for n in range(case["inputs"]["n_steps"])]
    item = {"predicted": {"steps": steps, "edges": case["inputs"]["edges"]}}
    score = create("cycles").score_one(item)
    assert score.components["edges"] == wanted
    assert score.value == len(wanted)
    assert create("cycles").score_one(case["inputs"]).components["edges"] == wanted


@parametrise(_nli_cases())
def test_nli(case: tuple[str, list[dict[str, Any]], dict[str, float]]) -> None:
    average, items, wanted = case
    _check(create("nli", {"average": average}).aggregate(items), wanted)


@pytest.mark.parametrize(
    ("steps", "options", "precision", "recall"),
    [
        (["u1", "u2"], "step_matching", 0.3, 0.3),
        (["u1", "u1'", "u2"], "step_matching", 0.2, 0.3),
        (["u1", "u1'", "u2"], "step_matching_relaxed", 0.4, 0.3),
    ],
)
def test_worked_example_of_the_paper(
    steps: list[str], options: str, precision: float, recall: float
) -> None:
    similarity = [[0.6, 0.0] if step.startswith("u1") else [0.0, 0.0] for step in steps]
    score = create(options).score_one(
        _graph_item({"steps": ["v1", "v2"]}, {"steps": steps}, similarity)
    )
    assert_close(score.components["precision"], precision)
    assert_close(score.components["recall"], recall)
