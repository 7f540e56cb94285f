"""Metrics of long-form text against numbers computed by the published definitions and packages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from core.metrics.registry import create
from tests.metrics.reference_values import assert_close, load_cases, parametrise


class Wanted(NamedTuple):
    """One item, and what the metric gives for it; None means unscored."""

    metric: str
    options: dict[str, str]
    item: dict[str, Any]
    value: float | None
    components: dict[str, Any]


def _cases() -> Iterator[tuple[str, Wanted]]:
    for case in load_cases("dolomites_ngram_cosine"):
        for field, value in case["expected"].items():
            low, high = field.removeprefix("n").split("_")
            options = {"ngrams": f"{low}-{high}"}
            yield (
                f"ngram_cosine-{field}-{case['id']}",
                Wanted("ngram_cosine", options, case["inputs"], value, {}),
            )
    for case in load_cases("dolomites_contamination"):
        inputs, expected = case["inputs"], case["expected"]
        item = {"prediction": inputs["example"], "corpus": inputs["corpus"]}
        components = {
            "ngrams": expected["n_8grams"],
            "seen": expected["n_seen"],
            "unique_share": expected["fraction_unique"],
            "contaminated": expected["contaminated_ge_70"],
        }
        yield (
            f"contamination-{case['id']}",
            Wanted("contamination", {}, item, expected["fraction"], components),
        )
    for case in load_cases("flesch_kincaid"):
        expected = case["expected"]["textstat_0.7.4"]
        components = {key: expected[key] for key in ("words", "sentences", "syllables")}
        yield (
            f"flesch_kincaid-{case['id']}",
            Wanted(
                "flesch_kincaid",
                {},
                {"prediction": case["inputs"]["text"]},
                expected["fk"],
                components,
            ),
        )
    for case in load_cases("dolomites_section_presence"):
        for number, example in enumerate(case["inputs"]["examples"]):
            item = {
                "output_sections": example["output_sections"],
                "prediction": example["generated_output"],
            }
            for rule in ("heading", "substring"):
                field = "as_heading" if rule == "heading" else "as_casefold_substring"
                found = case["expected"][f"present_{field}"][number]
                yield (
                    f"section_presence-{rule}-{case['id']}-{number}",
                    Wanted(
                        "section_presence",
                        {"sections": rule},
                        item,
                        sum(found) / len(found) if found else None,
                        {},
                    ),
                )


@parametrise(_cases())
def test_equals_the_reference(case: Wanted) -> None:
    score = create(case.metric, case.options).score_one(case.item)
    if case.value is None:
        assert score.value is None
        assert score.unscored
    else:
        assert_close(score.value, case.value)
    for key, wanted in case.components.items():
        assert_close(score.components[key], wanted)


_WINNERS = {"win": "candidate", "loss": "base", "tie": "tie"}


@parametrise((f"win_rate-{case['id']}", case) for case in load_cases("dolomites_win_rate"))
def test_win_rate_equals_the_reference(case: dict[str, Any]) -> None:
    items = [{"winner": _WINNERS[word]} for word in case["inputs"]["judgements"]]
    found = create("win_rate").aggregate(items)
    assert_close(found.value, case["expected"]["win_rate"])
    for key in ("wins", "ties", "losses", "n"):
        assert found.components[key] == case["expected"][key]
