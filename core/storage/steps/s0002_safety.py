"""Step 2: what backups, recovery and the audit need."""

from __future__ import annotations

from sqlite_utils import Database


def climb(db: Database) -> None:
    # The end of each origin's chain, kept apart from it: a chain whose last entries were cut off
    # looks whole by itself.
    db.execute(
        """
        CREATE TABLE head (
            origin TEXT PRIMARY KEY NOT NULL,
            seq INTEGER NOT NULL,
            hash TEXT NOT NULL
        ) STRICT
        """
    )
    db.execute(
        "INSERT INTO head (origin, seq, hash) SELECT origin, max(seq), hash FROM change GROUP BY origin"
    )
