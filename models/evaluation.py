"""What is known of how good a model is: the ``evaluation.json`` beside its weights, read and said in words.

The built-in entailment model brings one (``build/nli`` writes it). An imported model has none, and that
is said too: nothing is known of it here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.errors import InvalidModelError
from models.entry import CatalogEntry

_FILE = "evaluation.json"
_COLUMNS = ("accuracy", "macro_f1", "binary", "auc", "ece", "contradiction_precision")
_HEADS = ("3-class", "macro-F1", "binary", "AUC", "calib. err.", "contrad. prec.")


@dataclass(frozen=True, slots=True)
class Measured:
    """Numbers of one evaluation set, or of one kind of text; None where the set cannot tell.

    ``binary`` is the accuracy of entailment against the rest at 0.5, ``ece`` the expected calibration
    error of P(entailment) over ten bins, ``curve`` its bins: (mean probability, share entailed, pairs).
    """

    name: str
    n: int
    accuracy: float | None
    macro_f1: float | None
    binary: float
    auc: float | None
    ece: float
    contradiction_precision: float | None
    contradiction_n: int
    curve: tuple[tuple[float, float, int], ...]
    in_words: str = ""
    contradiction_shown: bool = False
    good: bool = False


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A model's evaluation: by kind of text, by set, and what to do where it is bad."""

    model_sha256: str
    label: str
    kinds: tuple[Measured, ...]
    sets: tuple[Measured, ...]
    notes: tuple[str, ...]
    stronger: str
    raw: Mapping[str, Any]


def read_evaluation(entry: CatalogEntry) -> Evaluation | None:
    """The evaluation beside a model's weights; None where there is none.

    Raises
    ------
    InvalidModelError
        When it cannot be read, or belongs to other weights.
    """
    path = entry.folder / _FILE
    if not path.is_file():
        return None
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        found = Evaluation(
            model_sha256=raw["model_sha256"],
            label=raw["label"],
            kinds=tuple(_measured(name, row) for name, row in raw["kinds"].items()),
            sets=tuple(_measured(name, row) for name, row in raw["sets"].items()),
            notes=tuple(raw.get("notes", ())),
            stronger=raw["stronger"],
            raw=raw,
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidModelError(
            f"{path.name} of {entry.id} cannot be read ({error}).",
            remedy="Take it away, or put the right one beside the weights.",
        ) from error
    if entry.sha256 and entry.sha256 != found.model_sha256:
        raise InvalidModelError(
            f"{path.name} of {entry.id} was measured on other weights.",
            remedy="Take it away, or put the right one beside the weights.",
        )
    return found


def _measured(name: str, row: Mapping[str, Any]) -> Measured:
    return Measured(
        name=name,
        n=int(row["n"]),
        accuracy=row["accuracy"],
        macro_f1=row["macro_f1"],
        binary=float(row["binary"]),
        auc=row["auc"],
        ece=float(row["ece"]),
        contradiction_precision=row["contradiction_precision"],
        contradiction_n=int(row["contradiction_n"]),
        curve=tuple((float(p), float(share), int(n)) for p, share, n in row["curve"]),
        in_words=str(row.get("in_words", "")),
        contradiction_shown=bool(row.get("contradiction_shown", False)),
        good=bool(row.get("good", False)),
    )


def format_evaluation(evaluation: Evaluation) -> str:
    """The evaluation as a table for a terminal."""
    width = max(len(row.name) for row in (*evaluation.kinds, *evaluation.sets)) + 2
    head = "".join(f"{text:>16}" for text in _HEADS)
    lines = [f"{evaluation.label}; measured on these weights."]
    for title, rows in (("kind of text", evaluation.kinds), ("evaluation set", evaluation.sets)):
        lines += ["", f"{title:<{width}}{'pairs':>8}{head}"]
        for row in rows:
            numbers = "".join(f"{_number(getattr(row, column)):>16}" for column in _COLUMNS)
            lines.append(f"{row.name:<{width}}{row.n:>8,}{numbers}")
    lines += ["", *(f"{row.name}: {row.in_words}" for row in evaluation.kinds)]
    lines += ["", *evaluation.notes, evaluation.stronger]
    return "\n".join(lines)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
