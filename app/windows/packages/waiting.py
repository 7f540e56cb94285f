"""What waits for each person, and packing it; for threads of the pool, never the UI thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from app.strings import for_file_name
from core.errors import ConflictError
from core.exchange.packing import Packed, pack_everything, pack_reviews
from core.people import add_person, find_person
from core.review.blinding import is_blind
from core.review.verbs import REVIEWED, refill_queue
from core.storage.workspace import SUFFIX, Workspace
from core.types import Person

#: How long a name may grow in a file's name.
_LONGEST_NAME = 60

_DONE = f"o.state = 'done' AND o.deleted = 0 AND {REVIEWED}"
_IN_QUEUE = """SELECT count(*) FROM {table} v JOIN output o ON o.id = v.{column} AND o.deleted = 0
    WHERE v.person_id = p.id AND v.deleted = 0 AND v.state IN ('pending', 'draft')"""


@dataclass(frozen=True, slots=True)
class Waiting:
    """What waits for one person: outputs to rate, those included that their queue takes in when it is
    next looked at, and pairs to compare. ``handed_in`` counts what they have done."""

    person: Person
    outputs: int
    pairs: int
    handed_in: int = 0

    @property
    def total(self) -> int:
        return self.outputs + self.pairs


@dataclass(frozen=True, slots=True)
class Everybody:
    """Everybody of a workspace. ``written`` outputs would wait for somebody new; with ``blind`` nobody
    is to see how far the others are."""

    people: Sequence[Waiting]
    written: int
    blind: bool


def read_waiting(workspace: Workspace, own_id: str) -> Everybody:
    """What waits for everybody, by name; ``own_id`` is who asks."""
    to_rate = _IN_QUEUE.format(table="review_item", column="output_id")
    to_compare = _IN_QUEUE.format(table="pair_item", column="left_output_id")
    counted = {
        row["id"]: row
        for row in workspace.query(
            f"""SELECT p.id, ({to_rate}) + (SELECT count(*) FROM output o WHERE {_DONE}
                    AND NOT EXISTS (SELECT 1 FROM review_item v WHERE v.output_id = o.id
                        AND v.person_id = p.id AND v.deleted = 0)) AS outputs,
                ({to_compare}) AS pairs,
                (SELECT count(*) FROM review_item v WHERE v.person_id = p.id AND v.deleted = 0
                    AND v.state = 'submitted') AS handed_in
            FROM person p WHERE p.deleted = 0"""
        )
    }
    people = [
        Waiting(person, row["outputs"], row["pairs"], row["handed_in"])
        for person in workspace.find(Person)
        if (row := counted.get(person.id)) is not None
    ]
    people.sort(key=lambda waiting: waiting.person.name.casefold())
    written = int(workspace.value(f"SELECT count(*) FROM output o WHERE {_DONE}"))
    return Everybody(people, written, is_blind(workspace, own_id))


def suggest_file(workspace_path: Path, name: str) -> Path:
    """A name for a package, beside the workspace, that no file has yet."""
    plain = for_file_name(name, instead="-")[:_LONGEST_NAME].strip(" .") or "somebody"
    stem = f"{workspace_path.stem[:_LONGEST_NAME]} for {plain}"
    free = workspace_path.with_name(stem + SUFFIX)
    number = 2
    while free.exists():
        free = workspace_path.with_name(f"{stem} {number}{SUFFIX}")
        number += 1
    return free


@dataclass(frozen=True, slots=True)
class Order:
    """What to pack: ``person`` None for somebody new, of that ``name``; ``path`` None for a file beside
    the workspace, of a name that is free."""

    person: Person | None
    name: str
    everything: bool
    hide_names: bool
    path: Path | None
    passphrase: str = field(repr=False)


def pack_order(workspace: Workspace, own_id: str, order: Order) -> tuple[Person, Packed]:
    """Add who is new, put what was written since into their queue, and write the package.

    Raises
    ------
    ConflictError
        When the file is there already.
    NotFoundError
        When nothing waits for them.
    UsageError
        When somebody new has no name.
    """
    name = order.person.name if order.person is not None else order.name
    path = order.path or suggest_file(workspace.path, name)
    if path.exists():
        # Before anybody is added.
        raise ConflictError(f"{path} is there already.", remedy="Choose another name.")
    person = order.person or _find_or_add(workspace, own_id, order.name)
    if order.everything:
        return person, pack_everything(workspace, path, order.passphrase, person)
    refill_queue(workspace, person.id)
    return person, pack_reviews(
        workspace, path, order.passphrase, person, hide_names=order.hide_names
    )


def _find_or_add(workspace: Workspace, own_id: str, name: str) -> Person:
    known = {person.name.casefold() for person in workspace.find(Person)}
    if name.strip().casefold() in known:
        return find_person(workspace, name.strip())
    return workspace.transact("Add person", own_id, add_person, name).value
