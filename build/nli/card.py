"""What the shipped entailment model says of itself: model.json, evaluation.json, model_card.md."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from build.nli.card_tables import ablation_table, average_table, combination_table, number_text

#: Kinds of text and the evaluation sets that stand for them.
KINDS: Mapping[str, tuple[str, ...]] = {
    "picture captions": ("snli_test", "cfad_revised", "sick", "breaking"),
    "mixed genres": ("mnli_m",),
    "encyclopaedia": ("fever", "feversym", "wice", "gtenp_base", "gtenp_paragraph"),
    "contracts": ("contractnli",),
    "school science": ("scitail",),
    "grammar and logic": ("hans", "med", "conjnli"),
}

#: Sets whose high numbers say nothing of their kind of text in general.
_RECURRING = {"contracts": "its 17 hypotheses recur in training and test"}
_LEAST_PRECISION = 0.8
_LEAST_FLAGGED = 100
_GOOD_BINARY = 0.85
_GOOD_ERROR = 0.08

STRONGER = (
    "Import a stronger one where support decides anything: DeBERTa-v3 (base or large) or "
    "RoBERTa-large, trained on MNLI, FEVER and ANLI, exported as a sequence-classification folder."
)
UNMEASURED = "Clinical notes, court decisions and lesson plans were not measured."
LICENCE = "Apache-2.0 (code and encoder); training text CC BY, CC BY-SA, MIT, Apache-2.0, ODC-BY, MultiNLI"

_SOURCES = (
    ("Google textual entailment protocols (base, contrast, edits)", "CC BY-SA 3.0"),
    ("SNLI samples and dev", "CC BY-SA 4.0"),
    ("MultiNLI samples and dev mismatched", "OANC / CC BY-SA 3.0 / CC BY 3.0"),
    ("Counterfactually augmented SNLI", "Apache-2.0 over CC BY-SA 4.0"),
    ("ConjNLI adversarial", "MIT"),
    ("HELP", "CC BY-SA 4.0"),
    ("DNC megaveridicality", "MIT"),
    ("FEVER as NLI, FEVER symmetric", "CC BY-SA 3.0"),
    ("WiCE claims", "ODC-BY (text CC BY-SA / Common Crawl)"),
    ("ContractNLI", "CC BY 4.0"),
    ("HANS, from its generator", "MIT"),
)


def shows_contradiction(kind: str, numbers: Mapping[str, Any]) -> bool:
    """Whether contradiction may be told apart from neutral for this kind of text."""
    precision = numbers["contradiction_precision"]
    return (
        kind not in _RECURRING
        and precision is not None
        and precision >= _LEAST_PRECISION
        and numbers["contradiction_n"] >= _LEAST_FLAGGED
    )


def is_good(kind: str, numbers: Mapping[str, Any]) -> bool:
    """Whether the evidence for a kind of text carries more than a hint to look."""
    good = numbers["binary"] >= _GOOD_BINARY and numbers["ece"] <= _GOOD_ERROR
    return bool(good and kind not in _RECURRING)


def say_in_words(kind: str, numbers: Mapping[str, Any]) -> str:
    """One or two sentences on what the numbers mean for a reader."""
    good = numbers["binary"] >= _GOOD_BINARY and numbers["ece"] <= _GOOD_ERROR
    text = (
        f"'Supported' was right or rightly withheld in {numbers['binary']:.0%} of pairs, and its "
        f"probabilities were off by {numbers['ece']:.0%} on average: "
        + (
            "a usable hint, not a verdict."
            if good
            else "weak; check by eye or import a stronger model."
        )
    )
    if kind in _RECURRING:
        text += f" Read with care: {_RECURRING[kind]}."
    return text


def write_card(
    folder: Path,
    *,
    sha256: str,
    size: int,
    variant: str,
    variants: list[dict[str, Any]],
    parity: float,
    temperature: float,
    training: Mapping[str, Any],
    sets: Mapping[str, dict[str, Any]],
    kinds: Mapping[str, dict[str, Any]],
    ablations: list[dict[str, Any]],
    combination: list[dict[str, Any]],
    averages: list[dict[str, Any]],
) -> None:
    """Write the three files into ``folder``, which holds the weights."""
    described = {
        kind: numbers
        | {
            "contradiction_shown": shows_contradiction(kind, numbers),
            "in_words": say_in_words(kind, numbers),
            "good": is_good(kind, numbers),
        }
        for kind, numbers in kinds.items()
    }
    evaluation = {
        "model_sha256": sha256,
        "label": "small, built in",
        "calibration_temperature": temperature,
        "measures": {
            "accuracy": "three classes; none where a set knows entailment and not-entailment only",
            "binary": "entailment against the rest at 0.5",
            "auc": "ranking of entailed pairs above the others",
            "ece": "mean distance of P(entailment) from the share entailed, ten bins",
            "contradiction_precision": "share right where contradiction is the likeliest class",
            "n": "pairs measured; total is the size of the set",
        },
        "kinds": described,
        "sets": sets,
        "variants": variants,
        "shipped_variant": variant,
        "bytes": size,
        "parity": parity,
        "training": training,
        "ablations": ablations,
        "combination": combination,
        "averages": averages,
        "notes": [UNMEASURED, _contract_limit(sets, ablations)],
        "stronger": STRONGER,
    }
    _write_json(folder / "evaluation.json", evaluation)
    weak = [kind for kind, n in described.items() if "weak" in n["in_words"]]
    facts = {
        "id": "nli",
        "name": "Rifugio entailment (small, built in)",
        "role": "nli",
        "format": "onnx-nli",
        "file": "model.onnx",
        "sha256": sha256,
        "bytes": size,
        "licence": LICENCE,
        "context_tokens": 512,
        "architecture": "BertForSequenceClassification, from all-MiniLM-L6-v2",
        "quantisation": variant,
        "fit_for": ["hints on the support for a claim", "trying Rifugio out"],
        "not_fit_for": [
            "verdicts without a reader",
            *(f"relying on it for {kind}" for kind in weak),
        ],
        "notes": f"Small, built in, English. {STRONGER}",
    }
    _write_json(folder / "model.json", facts)
    (folder / "model_card.md").write_text(
        _markdown(evaluation, described, parity, size), encoding="utf-8"
    )


def _write_json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _row(name: str, numbers: Mapping[str, Any]) -> str:
    shown = [number_text(numbers[key]) for key in ("accuracy", "macro_f1", "binary", "auc", "ece")]
    precision = number_text(numbers["contradiction_precision"])
    return f"| {name} | {numbers['n']} | {' | '.join(shown)} | {precision} ({numbers['contradiction_n']}) |"


def _markdown(
    evaluation: Mapping[str, Any],
    kinds: Mapping[str, dict[str, Any]],
    parity: float,
    size: int,
) -> str:
    training = evaluation["training"]
    head = "| {} | pairs | 3-class | macro-F1 | binary | AUC | ECE | contradiction precision (flagged) |"
    rule = "|---|---|---|---|---|---|---|---|"
    lines = [
        "# Rifugio entailment (small, built in)",
        "",
        "A cross-encoder of three classes (entailment, neutral, contradiction) on all-MiniLM-L6-v2 "
        f"(Apache-2.0). English. {size / 1e6:.1f} MB, {evaluation['shipped_variant']}; "
        f"sha256 `{evaluation['model_sha256']}`; calibration temperature "
        f"{evaluation['calibration_temperature']}. fp32 ONNX differs from torch by at most {parity:.1e} "
        "in a logit.",
        "",
        "## Training",
        "",
        *_training_text(training),
        "",
        _training_limit(training),
        "",
        "| data | licence |",
        "|---|---|",
        *(f"| {name} | {licence} |" for name, licence in _SOURCES),
        "",
        "## By kind of text",
        "",
        head.format("kind"),
        rule,
        *(_row(kind, numbers) for kind, numbers in kinds.items()),
        "",
        *(f"- **{kind}**: {numbers['in_words']}" for kind, numbers in kinds.items()),
        "",
        "Contradiction is told apart from neutral only for: "
        + (", ".join(k for k, n in kinds.items() if n["contradiction_shown"]) or "no kind of text")
        + f" (precision of at least {_LEAST_PRECISION} on {_LEAST_FLAGGED} flagged pairs or more).",
        "",
        "## By evaluation set",
        "",
        head.format("set"),
        rule,
        *(_row(name, numbers) for name, numbers in evaluation["sets"].items()),
        "",
        "Where a set has more pairs than were measured (evaluation.json has both numbers), they were "
        "drawn with a fixed seed. SICK is non-commercial and was used for evaluation only.",
        "",
        "## Calibration curve",
        "",
        "Mean P(entailment) in a bin: share of pairs entailed (pairs).",
        "",
        *(
            f"- **{kind}**: "
            + "; ".join(f"{p:.2f}: {share:.2f} ({n})" for p, share, n in n_["curve"])
            for kind, n_ in kinds.items()
        ),
        "",
        "## Variants",
        "",
        "| variant | bytes | dev pairs | log loss | AUC | same class as fp32 |",
        "|---|---|---|---|---|---|",
        *(
            f"| {v['variant']} | {v['bytes']:,} | {v['n']} | {v['log_loss']} | {v['auc']} | "
            f"{v['same_class_as_fp32']} |"
            for v in evaluation["variants"]
        ),
        "",
        "int8 activations are scaled by batch: the same pair in another batch may differ in the second "
        "decimal.",
        "",
        *ablation_table(evaluation["ablations"]),
        *combination_table(evaluation["combination"]),
        *average_table(evaluation["averages"]),
        "## Limits",
        "",
        _contract_limit(evaluation["sets"], evaluation["ablations"]) + " "
        "FEVER, SNLI, MultiNLI, Google's and WiCE's test sets share their sources with training; HANS uses "
        "the templates of training; FEVER's neutrals are weak labels; the encoder had itself seen SNLI and "
        "MultiNLI. Numbers, doses, dates and negations are read badly by models of this size: Rifugio "
        f"checks those without a model. {UNMEASURED} {evaluation['stronger']}",
        "",
    ]
    return "\n".join(lines)


def _training_text(training: Mapping[str, Any]) -> list[str]:
    """What was trained; where the weights are a mean, of which trainings."""
    parts = training.get("mean_of", [])
    if not parts:
        return _one_training(training)
    lines = ["The weights are a mean of those of several networks (`build/nli/average.py`):", ""]
    lines += [f"- {part['share']:.0%} {part['what']}" for part in parts]
    for part in parts:
        if "pairs_seen" in part:
            lines += ["", f"### {part['name'].capitalize()}", "", *_one_training(part)]
    for tried in training.get("tried", []):
        lines += ["", f"Tried and not used: {tried}"]
    return lines


def _one_training(training: Mapping[str, Any]) -> list[str]:
    vectors = "trained too" if training.get("word_vectors") else "not trained"
    added = training.get("in_passages", 0)
    return [
        f"{training['pairs_seen']:,} pairs drawn from {training['pairs_in_training_set']:,} "
        f"({training['epochs']} epochs) in {training['steps']:,} steps and {training['minutes']} minutes "
        f"on {training['threads']} processor core(s); peak rate {training['rate']}, "
        f"falling to zero at the end; pairs cut at {training['longest']} tokens; dropout "
        f"{training.get('dropout', 0.0)}; word vectors {vectors}; seed {training['seed']}. Sources are "
        f"drawn by size to the power {training.get('balance', 0.75)}. Pairs known only as not entailed "
        "train neutral and contradiction together."
        + (f" {added:,} premises stood among others of their source." if added else "")
        + " The checkpoint of least dev loss was kept:",
        "",
        "| share of the time | pairs seen | dev log loss |",
        "|---|---|---|",
        *(f"| {d['share']:.0%} | {d['seen']:,} | {d['dev_loss']} |" for d in training["dev"]),
    ]


def _training_limit(training: Mapping[str, Any]) -> str:
    again = "`build/nli/train.py` takes the time it may use and can be stopped and resumed."
    if training["epochs"] < 1:
        return f"Not every pair was seen once: more training would help. {again}"
    return again


def _contract_limit(sets: Mapping[str, Mapping[str, Any]], ablations: list[dict[str, Any]]) -> str:
    numbers = sets.get("contractnli")
    if numbers is None:
        return ""
    text = (
        f"ContractNLI's 17 hypotheses recur in training and test: answering each with its commonest label "
        f"in training, without reading the contract, is right in {numbers['hypothesis_only']:.3f} of the "
        f"pairs, against {numbers['accuracy']:.3f} here."
    )
    by_name = {row["name"]: row for row in ablations}
    if {"base", "no-contracts"} <= by_name.keys():
        seen, unseen = (by_name[name]["contractnli"] for name in ("base", "no-contracts"))
        text += (
            f" Of two short trainings alike but for ContractNLI, the one that saw it reached AUC "
            f"{seen['auc']:.3f} (accuracy {seen['accuracy']:.3f}) on its test set, the one that did not "
            f"{unseen['auc']:.3f} ({unseen['accuracy']:.3f}): expect the latter of other contracts."
        )
    return text
