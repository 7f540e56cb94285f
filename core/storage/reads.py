"""Reading values out of a workspace; shared by the workspace and by a running transaction."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from core.errors import NotFoundError
from core.storage.kinds import decode_row, kind_of

T = TypeVar("T")
Parameters = Sequence[Any] | Mapping[str, Any]


class Reads(ABC):
    """Queries over live rows. ``where`` is SQL over a table's columns; deleted rows never show."""

    @abstractmethod
    def query(self, sql: str, parameters: Parameters = ()) -> list[dict[str, Any]]:
        """Rows of any SELECT, as dictionaries."""

    def value(self, sql: str, parameters: Parameters = ()) -> Any:
        """The first column of the first row, or None."""
        rows = self.query(sql, parameters)
        return next(iter(rows[0].values())) if rows else None

    def get(self, type_: type[T], row_id: str) -> T:
        """One value by id.

        Raises
        ------
        NotFoundError
            When there is none or it was deleted.
        """
        found = self.find(type_, "id = ?", (row_id,))
        if not found:
            name = kind_of(type_).name.replace("_", " ")
            raise NotFoundError(
                f"There is no {name} {row_id} in this workspace.",
                remedy="It may have been deleted; reload the list.",
            )
        return found[0]

    def find(
        self,
        type_: type[T],
        where: str = "1",
        parameters: Sequence[Any] = (),
        *,
        order_by: str = "id",
        limit: int = -1,
        offset: int = 0,
    ) -> list[T]:
        """Values that satisfy ``where``, in order."""
        kind = kind_of(type_)
        live = f"({where}) AND deleted = 0" if kind.logged else where
        rows = self.query(
            f'SELECT * FROM "{kind.name}" WHERE {live} ORDER BY {order_by} LIMIT ? OFFSET ?',
            (*parameters, limit, offset),
        )
        return [decode_row(type_, row) for row in rows]

    def count(self, type_: type, where: str = "1", parameters: Sequence[Any] = ()) -> int:
        """How many live rows satisfy ``where``."""
        kind = kind_of(type_)
        live = f"({where}) AND deleted = 0" if kind.logged else where
        return int(
            self.value(f'SELECT count(*) FROM "{kind.name}" WHERE {live}', tuple(parameters))
        )
