"""Tables of the model card on what was tried."""

from __future__ import annotations

from typing import Any


def number_text(value: float | None) -> str:
    """Three decimals; nothing where there is none."""
    return "" if value is None else f"{value:.3f}"


def ablation_table(rows: list[dict[str, Any]]) -> list[str]:
    """Short trainings, each unlike the first in one thing (`build.nli.ablate`)."""
    if not rows:
        return []
    best = min(row["dev_log_loss"] for row in rows)
    return [
        "## What helped",
        "",
        "Short trainings on one sample of 15,000 pairs, each unlike the first in one thing; the same dev "
        "pairs, and 300 pairs of each evaluation set (all of ContractNLI). Differences below .01 are noise.",
        "",
        "| training | pairs seen | dev log loss | mean AUC | mean 3-class |",
        "|---|---|---|---|---|",
        *(
            f"| {row['what']} | {row['pairs_seen']:,} | {row['dev_log_loss']}"
            f"{' (best)' if row['dev_log_loss'] == best else ''} | {row['mean_auc']:.3f} | "
            f"{row['mean_accuracy']:.3f} |"
            for row in rows
        ),
        "",
    ]


def combination_table(rows: list[dict[str, Any]]) -> list[str]:
    """The model and the embedder's cosine, each alone and together (`build.nli.combine`)."""
    if not rows:
        return []
    return [
        "## With the embedder's cosine",
        "",
        "AUC of entailment against the rest: this model, all-MiniLM-L6-v2's cosine of premise and "
        "hypothesis, and a logistic regression on both fitted on the dev set. Not used: it is told here "
        "so that the choice can be checked.",
        "",
        "| set | pairs | model | cosine | both |",
        "|---|---|---|---|---|",
        *(
            f"| {r['set']} | {r['n']} | {r['model']:.3f} | {r['cosine']:.3f} | {r['both']:.3f} |"
            for r in rows
        ),
        "",
    ]


def average_table(rows: list[dict[str, Any]]) -> list[str]:
    """Means of weights, the one shipped first (`build.nli.average`)."""
    if not rows:
        return []
    names = list(rows[0]["auc"])
    heads = [", ".join(f"{share:.0%} {name}" for name, share in row["mix"].items()) for row in rows]
    return [
        "## Means of weights",
        "",
        "AUC in torch on samples of each set. The first mix is the one shipped; it was chosen on these "
        "sets, for those where a prototype had been better, so that its numbers on them flatter it a "
        "little.",
        "",
        f"| set | {' | '.join(heads)} |",
        f"|---|{'---|' * len(rows)}",
        *(_cells(name, [row["auc"][name] for row in rows]) for name in names),
        _cells("mean", [row["mean_auc"] for row in rows]),
        "",
    ]


def _cells(name: str, values: list[float]) -> str:
    return f"| {name} | {' | '.join(map(number_text, values))} |"
