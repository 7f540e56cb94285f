"""Metrics of edited text against numbers computed by the published implementations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from core.metrics.registry import create
from tests.metrics.reference_values import assert_close, edit_items, load_cases, parametrise


class Wanted(NamedTuple):
    """A metric with options, the items, whether as a corpus, and the values wanted."""

    metric: str
    options: dict[str, str]
    items: list[dict[str, Any]]
    corpus: bool
    values: list[float]
    component: str = ""


#: family, field of the fixture, metric, options
CORPUS_FIELDS = (
    ("sari", "easse_corpus_sari", "sari", {}),
    ("sari", "easse_no_lowercase", "sari", {"lowercase": "false"}),
    ("sari", "easse_tok_intl", "sari", {"tokenizer": "intl"}),
    ("sari", "easse_del_precision_only", "sari", {"deletion": "precision"}),
    ("sari", "easse_paper_version_micro", "sari", {"average": "micro"}),
    ("sari", "easse_functions_lowercase_whitespace_only", "sari", {"tokenizer": "none"}),
    ("sari", "hf_evaluate_sari", "sari_hf", {}),
    ("gleu", "gec_ranking_py3_random", "gleu", {}),
    ("gleu", "gec_ranking_py2_random_emulated", "gleu", {"draw": "py2"}),
    ("gleu", "editeval_gleu_raw__nltk3.7", "gleu", {"tokenizer": "nltk"}),
    ("gleu", "editeval_gleu_normalised_default__nltk3.7", "gleu", {"normalisation": "editeval"}),
    ("bleu", "sacrebleu_13a_exp", "bleu", {}),
    ("bleu", "sacrebleu_13a_exp_lowercase", "bleu", {"lowercase": "true"}),
    ("bleu", "sacrebleu_tok_none", "bleu", {"tokenizer": "none"}),
    ("bleu", "sacrebleu_tok_intl", "bleu", {"tokenizer": "intl"}),
    ("bleu", "sacrebleu_tok_char", "bleu", {"tokenizer": "char"}),
    ("bleu", "sacrebleu_tok_zh", "bleu", {"tokenizer": "zh"}),
    ("bleu", "sacrebleu_smooth_none", "bleu", {"smoothing": "none"}),
    ("bleu", "sacrebleu_smooth_floor", "bleu", {"smoothing": "floor"}),
    ("bleu", "sacrebleu_smooth_add-k", "bleu", {"smoothing": "add-k"}),
    ("bleu", "editeval_bleu_0to1_nltk_tokens_unsmoothed__nltk3.7", "bleu_editeval", {}),
    ("ibleu", "editeval_ibleu_alpha0.9_0to1_raw__nltk3.7", "ibleu", {}),
    (
        "ibleu",
        "editeval_ibleu_alpha0.9_0to1_normalised__nltk3.7",
        "ibleu",
        {"normalisation": "editeval"},
    ),
    ("ibleu", "sacrebleu_ibleu_alpha0.8_0to100", "ibleu", {"bleu": "sacrebleu", "alpha": "0.8"}),
    ("ibleu", "sacrebleu_ibleu_alpha0.9_0to100", "ibleu", {"bleu": "sacrebleu"}),
    ("em_emdiff", "em_raw", "em", {}),
    ("em_emdiff", "em_normalised_default__nltk3.7", "em", {"normalisation": "editeval"}),
    ("em_emdiff", "em_diff_raw", "em_diff", {}),
    ("em_emdiff", "em_diff_normalised_default__nltk3.7", "em_diff", {"normalisation": "editeval"}),
)

SENTENCE_FIELDS = (
    ("sari", "easse_sentence_sari", "sari", {}),
    ("bleu", "sacrebleu_sentence_bleu", "bleu", {}),
    ("gleu", "sentence_gleu_smooth_full_precision", "gleu", {}),
)

PARTS = {"sari": ("easse_add_keep_del", ("add", "keep", "delete"))}


def _number(found: Any) -> float:
    """A value of a fixture; where the reference fails, our answer is 0."""
    if isinstance(found, dict):
        if "error" in found:
            return 0.0
        found = next(found[key] for key in ("score", "mean", "bleu") if key in found)
    return float(found)


def _cases() -> Iterator[tuple[str, Wanted]]:
    for family, field, metric, options in CORPUS_FIELDS:
        for case in load_cases(family):
            wanted = Wanted(
                metric, options, edit_items(case), True, [_number(case["expected"][field])]
            )
            yield f"{metric}-{field}-{case['id']}", wanted
    for family, field, metric, options in SENTENCE_FIELDS:
        for case in load_cases(family):
            values = [_number(value) for value in case["expected"][field]]
            yield (
                f"{metric}-{field}-{case['id']}",
                Wanted(metric, options, edit_items(case), False, values),
            )
    for metric, (field, parts) in PARTS.items():
        for case in load_cases(metric):
            for part, value in zip(parts, case["expected"][field], strict=True):
                yield (
                    f"{metric}-{part}-{case['id']}",
                    Wanted(metric, {}, edit_items(case), True, [value], part),
                )
    for case in load_cases("update_rouge"):
        items = edit_items(case)
        expected = case["expected"]
        for metric in ("update_rouge1", "update_rouge2", "update_rougeLsum"):
            mean = expected["plain_mean_over_examples_then_references"][metric]
            yield f"{metric}-mean-{case['id']}", Wanted(metric, {}, items, True, [mean])
            values = [
                sum(entry[metric] for entry in entries) / len(entries)
                for entries in expected["per_example_per_reference"]
            ]
            yield f"{metric}-examples-{case['id']}", Wanted(metric, {}, items, False, values)
    for case in load_cases("rouge"):
        inputs = case["inputs"]
        items = [{"prediction": inputs["prediction"], "references": inputs["targets"]}]
        for variant, options in (
            ("score_multi_no_stemmer", {}),
            ("editeval_rouge_quirk_repr_of_reference_list", {"references": "editeval"}),
        ):
            for metric, triple in case["expected"][variant].items():
                for part, value in zip(("precision", "recall", "f1"), triple, strict=True):
                    yield (
                        f"{metric}-{variant}-{part}-{case['id']}",
                        Wanted(metric, options, items, True, [value], part),
                    )
        for target, entry in zip(inputs["targets"], case["expected"]["per_reference"], strict=True):
            single = [{"prediction": inputs["prediction"], "references": [target]}]
            for metric, triple in entry["stemmer"].items():
                yield (
                    f"{metric}-stemmer-{case['id']}-{inputs['targets'].index(target)}",
                    Wanted(metric, {"stemmer": "true"}, single, True, [triple[2]]),
                )


@parametrise(_cases())
def test_equals_the_reference(case: Wanted) -> None:
    metric = create(case.metric, case.options)
    scores = [metric.aggregate(case.items)] if case.corpus else metric.score_many(case.items)
    found = [
        score.components[case.component] if case.component else score.value for score in scores
    ]
    assert len(found) == len(case.values)
    for value, wanted in zip(found, case.values, strict=True):
        assert_close(value, wanted)
