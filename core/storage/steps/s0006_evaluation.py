"""Step 6: experiments, judges and adjudication."""

from __future__ import annotations

from sqlite_utils import Database


def climb(db: Database) -> None:
    """Nothing yet: the step is not released."""
