"""Step 2: what backups, recovery and the audit need."""

from __future__ import annotations

from sqlite_utils import Database


def climb(db: Database) -> None:
    """Nothing yet: the step is not released."""
