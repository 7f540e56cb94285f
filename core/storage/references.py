"""Which rows refer to which, from the schema's foreign keys; asked for many rows at a time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from core.storage.kinds import KINDS
from core.storage.reads import Reads

# A list as one parameter: SQLite takes no more than 32,766 of them, and JSON of any length.
AMONG = "(SELECT value FROM json_each(?))"


@dataclass(frozen=True, slots=True)
class Reference:
    """A column of one kind that holds ids of another."""

    kind: str
    column: str
    parent: str


class References:
    """The references between the logged kinds of a workspace."""

    def __init__(self, reads: Reads) -> None:
        self._reads = reads
        self._of: Mapping[str, list[Reference]] = defaultdict(list)
        self._to: Mapping[str, list[Reference]] = defaultdict(list)
        for kind in KINDS.values():
            if not kind.logged:
                continue
            for key in reads.query(f'PRAGMA foreign_key_list("{kind.name}")'):
                found = Reference(kind.name, key["from"], key["table"])
                self._of[found.kind].append(found)
                self._to[found.parent].append(found)

    def count_users(self, kind: str, rows: Sequence[str]) -> Iterator[tuple[str, str, int]]:
        """Live rows that refer to some of these: (row, kind that refers, how many), where there are any."""
        for reference in self._to[kind]:
            found = self._reads.query(
                f'SELECT "{reference.column}" AS row, count(*) AS n FROM "{reference.kind}"'
                f' WHERE deleted = 0 AND "{reference.column}" IN {AMONG} GROUP BY 1',
                (pack_ids(rows),),
            )
            yield from ((each["row"], reference.kind, each["n"]) for each in found)

    def lost_parents(self, kind: str, rows: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Deleted rows to which live ones among these refer: (kind, row), each once."""
        for reference in self._of[kind]:
            found = self._reads.query(
                f'SELECT DISTINCT p.id FROM "{kind}" c JOIN "{reference.parent}" p'
                f' ON p.id = c."{reference.column}" WHERE c.deleted = 0 AND p.deleted = 1'
                f" AND c.id IN {AMONG}",
                (pack_ids(rows),),
            )
            yield from ((reference.parent, each["id"]) for each in found)

    def hanging(self, kind: str, rows: Sequence[str]) -> dict[str, list[str]]:
        """Live rows that refer to these, and those that refer to them, by kind and without these."""
        held: dict[str, dict[str, None]] = {kind: dict.fromkeys(rows)}
        fresh = {kind: list(rows)}
        while fresh:
            found: dict[str, dict[str, None]] = defaultdict(dict)
            for parent, ids in fresh.items():
                for reference in self._to[parent]:
                    for each in self._reads.query(
                        f'SELECT id FROM "{reference.kind}" WHERE deleted = 0'
                        f' AND "{reference.column}" IN {AMONG} ORDER BY id',
                        (pack_ids(ids),),
                    ):
                        if each["id"] not in held.get(reference.kind, ()):
                            found[reference.kind][each["id"]] = None
            for name, more in found.items():
                held.setdefault(name, {}).update(more)
            fresh = {name: list(more) for name, more in found.items()}
        for row in rows:
            held[kind].pop(row, None)
        return {name: list(kept) for name, kept in held.items() if kept}


def pack_ids(ids: Iterable[str]) -> str:
    """Ids as the one parameter that `AMONG` takes."""
    return msgspec.json.encode(list(ids)).decode()
