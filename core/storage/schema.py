"""The workspace schema as a ladder of numbered migrations; a new file climbs all of it.

A released migration is never edited: later ones are added below it. Each runs in one transaction
together with the record that it ran.
"""

from __future__ import annotations

from functools import cache

from sqlite_utils import Database, Migrations

from core.storage.steps import (
    s0001_foundation,
    s0002_safety,
    s0003_documents,
    s0004_rubrics,
    s0005_graphs,
    s0006_evaluation,
)

#: 'RFGO' in the file header says whose SQLite file this is.
APPLICATION_ID = 0x5246474F

migrations = Migrations("rifugio")

_STEPS = (
    ("0001_foundation", s0001_foundation.climb),
    ("0002_safety", s0002_safety.climb),
    ("0003_documents", s0003_documents.climb),
    ("0004_rubrics", s0004_rubrics.climb),
    ("0005_graphs", s0005_graphs.climb),
    ("0006_evaluation", s0006_evaluation.climb),
)
for _name, _climb in _STEPS:
    migrations(name=_name)(_climb)


def latest_schema() -> int:
    """The number of migrations this version knows."""
    return len(_names())


@cache
def _names() -> tuple[str, ...]:
    return tuple(migration.name for migration in migrations.pending(Database(memory=True)))


def applied_names(db: Database) -> list[str]:
    return [migration.name for migration in migrations.applied(db)]


def unknown_names(db: Database) -> list[str]:
    """Migrations a later version applied and this one does not know."""
    known = set(_names())
    return [name for name in applied_names(db) if name not in known]


def migrate(db: Database) -> list[str]:
    """Apply what is pending, each step all or nothing; returns the names applied."""
    pending = [migration.name for migration in migrations.pending(db)]
    if pending:
        migrations.apply(db)
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        db.execute(f"PRAGMA user_version = {len(applied_names(db))}")
    return pending
