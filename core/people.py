"""Verbs on persons."""

from __future__ import annotations

from core.errors import ConflictError, NotFoundError, UsageError
from core.ids import new_id
from core.storage.reads import Reads
from core.storage.transaction import Transaction
from core.types import ROLES, Person, Role


def add_person(tx: Transaction, name: str, role: Role = "expert") -> Person:
    """Add somebody who works in the workspace; names are unique, whatever their case."""
    name = name.strip()
    if not name:
        raise UsageError("A person needs a name.", remedy="Type the name shown to colleagues.")
    if role not in ROLES:
        raise UsageError(f"'{role}' is no role.", remedy=f"Use one of {', '.join(ROLES)}.")
    if any(person.name.casefold() == name.casefold() for person in tx.find(Person)):
        raise ConflictError(f"{name} is there already.", remedy="Add a surname or initial.")
    return tx.insert(Person(id=new_id(), name=name, role=role))


def rename_person(tx: Transaction, person_id: str, name: str) -> Person:
    """Change a person's name."""
    return tx.update(Person, person_id, name=name.strip())


def find_person(reads: Reads, name_or_id: str) -> Person:
    """A person by id or, whatever the case, by name."""
    for person in reads.find(Person):
        if name_or_id == person.id or name_or_id.casefold() == person.name.casefold():
            return person
    raise NotFoundError(
        f"There is no person '{name_or_id}' in this workspace.",
        remedy="Add them first: rifugio persons add WORKSPACE NAME.",
    )
