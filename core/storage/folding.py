"""What a row is, by all the entries of its history: the same in every copy that has them.

Of each column the latest change counts. A deed that was taken back counts as not done, and its undo as
nothing, so that doing and undoing something in one copy leaves alone what another copy wrote meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from core.storage.taken import merge_order

Entry = Mapping[str, Any]
#: Which columns of an entry count, with their values; none for an entry that does not.
Heed = Callable[[Entry], dict[str, Any]]


def standing_changes(
    entries: Sequence[Entry], heed: Heed
) -> Iterator[tuple[Entry, dict[str, Any]]]:
    """The changes of a row that stand, in their order, each with the columns it sets.

    Parameters
    ----------
    entries
        All of the row's entries, with at least ``tx, undoes, before, time, origin, seq`` and what
        ``heed`` reads. An entry that made the row stands in any case; where it was taken back the row
        is deleted.
    """
    counted = [(entry, after) for entry in entries if (after := heed(entry))]
    taken_back: dict[str, list[str]] = {}
    for entry, _after in counted:
        if entry["undoes"]:
            taken_back.setdefault(entry["undoes"], []).append(entry["tx"])

    def stands(tx: str) -> bool:
        return not any(stands(by) for by in taken_back.get(tx, ()))

    for entry, after in sorted(counted, key=lambda pair: merge_order(pair[0])):
        if entry["undoes"]:
            continue
        made = entry["before"] is None
        if stands(entry["tx"]):
            yield entry, {"deleted": 0, **after} if made else after
        elif made:
            yield entry, {**after, "deleted": 1}


def fold_changes(entries: Sequence[Entry], heed: Heed) -> dict[str, Any]:
    """The columns that a row's changes leave."""
    columns: dict[str, Any] = {}
    for _entry, after in standing_changes(entries, heed):
        columns |= after
    return columns
