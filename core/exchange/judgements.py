"""Ratings and preferences of people as CSV with a header, in both directions.

Ratings: ``example, system, person, axis, value, comment``; preferences: ``example, left, right, person,
choice, strength, comment`` with systems' names on both sides. An ``output`` column (and ``left_output``,
``right_output``) with ids takes precedence, so that our own files come back without doubt.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.errors import InputError, NotFoundError, UsageError
from core.people import add_person, find_person
from core.review.verbs import record_preference, record_rating
from core.settings import write_atomically
from core.storage.reads import Reads
from core.storage.transaction import Transaction
from core.types import RATING_AXES, Example, Output, Run, System

RATING_COLUMNS = ("output", "example", "system", "person", "axis", "value", "comment")
PREFERENCE_COLUMNS = (
    "left_output",
    "right_output",
    "example",
    "left",
    "right",
    "person",
    "choice",
    "strength",
    "comment",
)
_CHOICES = {"left": 2, "tie": 3, "right": 4}


def import_rating(tx: Transaction, values: Mapping[str, Any]) -> None:
    """Write one rating, the person added where they are new.

    Raises
    ------
    InputError, NotFoundError, UsageError
        What keeps the row from being used.
    """
    output_id = _output(tx, values, "output", "system")
    axis = str(values.get("axis", "")).strip().casefold().replace(" ", "_")
    if axis not in RATING_AXES:
        raise UsageError(f"'{axis}' is no axis.", remedy=f"Use one of {', '.join(RATING_AXES)}.")
    value = _whole(values.get("value"), "value")
    record_rating(tx, output_id, _person(tx, values), axis, value, str(values.get("comment") or ""))
    _mark_submitted(tx, output_id, _person(tx, values))


def _mark_submitted(tx: Transaction, output_id: str, person_id: str) -> None:
    """Ratings that come from a file count: their review is handed in."""
    from core.ids import new_id
    from core.types import ReviewItem

    found = tx.find(ReviewItem, "output_id = ? AND person_id = ?", (output_id, person_id))
    if found:
        if found[0].state != "submitted":
            tx.update(ReviewItem, found[0].id, state="submitted")
        return
    tx.insert(
        ReviewItem(
            id=new_id(),
            output_id=output_id,
            person_id=person_id,
            state="submitted",
            position=tx.count(ReviewItem, "person_id = ?", (person_id,)),
        )
    )


def import_preference(tx: Transaction, values: Mapping[str, Any]) -> None:
    """Write one preference; raises as `import_rating` does."""
    left = _output(tx, values, "left_output", "left")
    right = _output(tx, values, "right_output", "right")
    if left == right:
        raise InputError("both sides are the same output.", remedy="Name two systems.")
    strength = values.get("strength")
    choice = str(values.get("choice", "")).strip().casefold()
    if strength in (None, ""):
        if choice not in _CHOICES:
            raise UsageError(f"'{choice}' is no choice.", remedy="Use left, right or tie.")
        number = _CHOICES[choice]
    else:
        number = _whole(strength, "strength")
        side = "left" if number < 3 else "right" if number > 3 else "tie"
        if choice and choice != side:
            raise UsageError(
                f"the strength {number} says {side} and the choice says {choice}.",
                remedy="Correct one of them.",
            )
    record_preference(
        tx, left, right, _person(tx, values), number, str(values.get("comment") or "")
    )


def _person(tx: Transaction, values: Mapping[str, Any]) -> str:
    name = str(values.get("person") or "").strip()
    if not name:
        raise InputError("it names no person.", remedy="Add a person column.")
    try:
        return find_person(tx, name).id
    except NotFoundError:
        return add_person(tx, name).id


def _whole(value: Any, name: str) -> int:
    try:
        number = float(str(value).replace(",", "."))
    except ValueError:
        raise UsageError(f"the {name} '{value}' is no number.", remedy="Use 1 to 5.") from None
    if number != int(number):
        raise UsageError(f"the {name} {value} is not whole.", remedy="Use 1 to 5.")
    return int(number)


def _output(reads: Reads, values: Mapping[str, Any], key: str, system_key: str) -> str:
    """The output a row means: by id, or the latest one of a system for an example."""
    output_id = str(values.get(key) or "").strip()
    if output_id:
        return reads.get(Output, output_id).id
    example, system = str(values.get("example") or ""), str(values.get(system_key) or "")
    found = reads.query(
        "SELECT o.id FROM output o JOIN run r ON r.id = o.run_id AND r.deleted = 0"
        " JOIN system y ON y.id = r.system_id JOIN example e ON e.id = o.example_id"
        " WHERE (e.id = ? OR e.title = ?) AND (y.id = ? OR y.name = ? COLLATE NOCASE)"
        " AND o.state = 'done' AND o.deleted = 0 ORDER BY o.id DESC LIMIT 1",
        (example, example, system, system),
    )
    if not found:
        raise NotFoundError(
            f"'{system}' has no output for the example '{example}'.",
            remedy="Import the outputs first.",
        )
    return str(found[0]["id"])


def export_judgements(reads: Reads, what: str, path: Path) -> int:
    """Write ratings or preferences as CSV; returns how many."""
    people = {
        row["id"]: row["name"]
        for row in reads.query("SELECT id, name FROM person WHERE deleted = 0")
    }
    names = {system.id: system.name for system in reads.find(System)}
    systems = {run.id: names.get(run.system_id, "") for run in reads.find(Run)}
    titles = {example.id: example.title for example in reads.find(Example)}
    outputs = {
        row["id"]: (systems.get(row["run_id"], ""), titles.get(row["example_id"], ""))
        for row in reads.query("SELECT id, run_id, example_id FROM output WHERE deleted = 0")
    }
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    count = 0
    if what == "ratings":
        writer.writerow(RATING_COLUMNS)
        for row in reads.query("SELECT * FROM rating WHERE deleted = 0 ORDER BY id"):
            system, title = outputs.get(row["output_id"], ("", ""))
            person = people.get(row["person_id"], "")
            writer.writerow(
                (row["output_id"], title, system, person, row["axis"], row["value"], row["comment"])
            )
            count += 1
    else:
        writer.writerow(PREFERENCE_COLUMNS)
        for row in reads.query("SELECT * FROM preference WHERE deleted = 0 ORDER BY id"):
            left, right = row["left_output_id"], row["right_output_id"]
            writer.writerow(
                (
                    left, right, outputs.get(left, ("", ""))[1], outputs.get(left, ("", ""))[0],
                    outputs.get(right, ("", ""))[0], people.get(row["person_id"], ""),
                    row["choice"], row["strength"], row["comment"],
                )
            )  # fmt: skip
            count += 1
    write_atomically(path, stream.getvalue().encode())
    return count
