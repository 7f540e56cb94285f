"""How files were read the last time: a mapping of columns is remembered for files with the same ones."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping

from core.ids import new_id
from core.storage.reads import Reads
from core.storage.transaction import Transaction
from core.types.evaluation import ImportMapping

#: What a record of each kind may have, for a mapping to aim at.
TARGETS: Mapping[str, tuple[str, ...]] = {
    "tasks": (
        "id",
        "field",
        "objective",
        "procedure",
        "input_sections",
        "output_sections",
        "notes",
    ),
    "examples": ("id", "task", "title", "input", "output", "split"),
    "outputs": ("example", "system", "output"),
    "rubrics": ("id", "task", "title", "items"),
    "ratings": ("output", "example", "system", "person", "axis", "value", "comment"),
    "preferences": ("example", "left", "right", "person", "choice", "strength", "comment"),
}

#: Names that other tools use for ours.
_LIKELY = {
    "prediction": "output",
    "response": "output",
    "completion": "output",
    "generated": "output",
    "model": "system",
    "model_name": "system",
    "example_id": "example",
    "reference": "output.Reference",
    "target": "output.Reference",
    "source": "input.Source",
    "prompt": "input.Prompt",
    "question": "input.Question",
    "rater": "person",
    "annotator": "person",
    "score": "value",
}


def _key(columns: Collection[str]) -> str:
    return json.dumps(sorted(columns), ensure_ascii=False)


def remember_mapping(
    tx: Transaction, kind: str, columns: Collection[str], mapping: Mapping[str, str]
) -> ImportMapping:
    """Keep a mapping for files with these columns."""
    found = tx.find(ImportMapping, "kind = ? AND columns = ?", (kind, _key(columns)))
    if found:
        return tx.update(ImportMapping, found[0].id, mapping=dict(mapping))
    return tx.insert(
        ImportMapping(id=new_id(), kind=kind, columns=_key(columns), mapping=dict(mapping))
    )


def suggest_mapping(reads: Reads, kind: str, columns: Collection[str]) -> dict[str, str]:
    """The mapping remembered for these columns, else what their names suggest."""
    found = reads.find(ImportMapping, "kind = ? AND columns = ?", (kind, _key(columns)))
    if found:
        return dict(found[0].mapping)
    known = set(TARGETS[kind])
    suggested: dict[str, str] = {}
    taken = set(columns) & known
    for column in columns:
        likely = _LIKELY.get(column.strip().casefold().replace(" ", "_"), "")
        base = likely.partition(".")[0]
        if column in known or not likely or base not in known or likely in taken:
            continue
        if "." in likely and kind != "examples":
            continue
        suggested[column] = likely
        taken.add(likely)
    return suggested
