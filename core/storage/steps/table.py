"""What every table of a mergeable kind has."""

from __future__ import annotations

from sqlite_utils import Database

_ROW = """
    id TEXT PRIMARY KEY NOT NULL,
    {columns},
    origin TEXT NOT NULL,
    revision INTEGER NOT NULL DEFAULT 1,
    deleted INTEGER NOT NULL DEFAULT 0,
    created TEXT NOT NULL,
    updated TEXT NOT NULL
"""


def create_table(db: Database, name: str, columns: str, *indexes: str) -> None:
    """A table of a logged kind: ``columns`` between its id and what every mergeable row has."""
    db.execute(f'CREATE TABLE "{name}" ({_ROW.format(columns=columns)}) STRICT')
    for index in indexes:
        label = index.replace(", ", "_").replace(" COLLATE NOCASE", "")
        db.execute(f'CREATE INDEX "{name}_{label}" ON "{name}" ({index})')
