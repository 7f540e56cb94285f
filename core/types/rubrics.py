"""Values of the rubrics rooms that are stored; see `core.types` for ids, times and positions."""

from __future__ import annotations

#: Stored kinds by the name of their table.
STORED: dict[str, type] = {}
