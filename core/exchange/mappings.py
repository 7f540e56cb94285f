"""How files were read the last time: a mapping of columns is remembered for files with the same ones."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

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

#: What a record cannot do without; of two in a group, one is enough.
REQUIRED: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "outputs": (("example",), ("output",)),
    "ratings": (("example", "output"), ("person",), ("axis",), ("value",)),
    "preferences": (("example",), ("left",), ("right",), ("person",), ("choice", "strength")),
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


#: Shorter than this on average, a column holds names or numbers rather than texts.
_SHORT = 40


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


def missing_targets(kind: str, targets: Collection[str]) -> list[str]:
    """What records of a kind still lack with these targets, the first of each group."""
    return [group[0] for group in REQUIRED.get(kind, ()) if not set(group) & set(targets)]


def guess_from_values(
    reads: Reads, rows: Sequence[Mapping[str, Any]], mapping: Mapping[str, str]
) -> dict[str, str]:
    """What columns of outputs are by what stands in them, where their names did not tell.

    An example's column holds titles or ids of examples here, an output's the longest texts, and a
    system's names that come back row after row.
    """
    found = dict(mapping)
    columns = list(dict.fromkeys(name for row in rows for name in row))
    taken = set(found.values()) | {name for name in columns if name in TARGETS["outputs"]}
    free = [name for name in columns if name not in found and name not in taken]
    values = {
        name: [text for row in rows if (text := str(row.get(name) or "").strip())] for name in free
    }
    if "example" not in taken:
        for name in free:
            known = _known_examples(reads, values[name])
            if values[name] and 2 * known >= len(values[name]):
                found[name] = "example"
                free.remove(name)
                break
    lengths = {name: sum(map(len, values[name])) / max(1, len(values[name])) for name in free}
    if "output" not in taken and free:
        longest = max(free, key=lengths.__getitem__)
        if lengths[longest] > _SHORT:
            found[longest] = "output"
            free.remove(longest)
    if "system" not in taken:
        case = next((name for name, target in found.items() if target == "example"), "example")
        # No system writes twice for an example, and each writes for several.
        fitting = {
            name: len(set(values[name]))
            for name in free
            if len({(row.get(case), row.get(name)) for row in rows}) == len(rows)
            and len(set(values[name])) <= len(values[name]) / 2
        }
        fewest = [name for name, kinds in fitting.items() if kinds == min(fitting.values())]
        if len(fewest) == 1:
            found[fewest[0]] = "system"
    return found


def _known_examples(reads: Reads, texts: Sequence[str]) -> int:
    """How many of some texts are titles or ids of examples."""
    known = {
        row["name"]
        for row in reads.query(
            "SELECT title AS name FROM example WHERE deleted = 0 AND title IN"
            " (SELECT value FROM json_each(?1)) UNION SELECT id FROM example WHERE deleted = 0"
            " AND id IN (SELECT value FROM json_each(?1))",
            (json.dumps(sorted(set(texts))),),
        )
    }
    return sum(text in known for text in texts)


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
