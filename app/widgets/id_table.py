"""Tables over ids: the model holds ids and a cache of rows; sorting and filtering are SQL's work.

>>> # SOURCE = TableSource(
... #     "example e JOIN task t ON t.id = e.task_id",
... #     columns=(TableColumn("title", "Title", "e.title", order="e.title COLLATE NOCASE"), ...),
... #     id="e.id", where="e.deleted = 0", search=("e.title", "t.objective"))
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QPersistentModelIndex,
    Qt,
    Signal,
)

from app.session import Session
from core.changes import Changes
from core.storage.workspace import Workspace

_PAGE = 128
_CACHED_ROWS = 4096
_SORT_CACHE_KIB = 65_536

Row = Mapping[str, Any]
AnyIndex = QModelIndex | QPersistentModelIndex


def _as_text(value: Any) -> str:
    return "" if value is None else str(value)


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column: ``sql`` is its expression, ``order`` what it sorts by ('' for not sortable).

    ``text`` turns the value into words; ``width`` is in characters, 0 for the rest of the room, and
    ``least`` what short words or numbers that are cut for others' sake would be no use without.
    """

    key: str
    title: str
    sql: str
    order: str = ""
    width: int = 12
    least: int = 0
    right: bool = False
    text: Callable[[Any], str] = _as_text
    tooltip: Callable[[Row], str] | None = None


@dataclass(frozen=True, slots=True)
class TableSource:
    """Where rows come from. ``search`` lists the expressions a search looks into, ``kinds`` the
    kinds of rows whose changes make the list stale."""

    from_: str
    columns: tuple[TableColumn, ...]
    id: str = "id"
    where: str = "deleted = 0"
    search: tuple[str, ...] = ()
    extra: Mapping[str, str] = field(default_factory=dict)
    kinds: tuple[str, ...] = ()


class IdTableModel(QAbstractTableModel):
    """Rows of a `TableSource`, read off the UI thread.

    Ids come together with the rows that were last looked at, so that a list is there with its words;
    others are read as they come into view, and are blank until then.
    """

    #: New ids are in; the view has kept its place by id.
    loaded = Signal()

    IdRole = Qt.ItemDataRole.UserRole + 1
    RowRole = Qt.ItemDataRole.UserRole + 2

    def __init__(self, session: Session, source: TableSource, parent: Any = None) -> None:
        super().__init__(parent)
        self._session = session
        self._source = source
        self._ids: list[str] = []
        self._places: dict[str, int] | None = None
        self._cache: OrderedDict[str, Row] = OrderedDict()
        self._search = ""
        self._filter: tuple[str, tuple[Any, ...]] = ("1", ())
        self._sort = (-1, Qt.SortOrder.AscendingOrder)
        self._generation = 0
        self._looked_at = 0
        self._missing: int | None = None
        self._reading = False
        self.loading = False
        self.loaded_once = False
        selected = {column.key: column.sql for column in source.columns} | dict(source.extra)
        self._select = ", ".join(f'{sql} AS "{key}"' for key, sql in selected.items())

    # -- what to show --------------------------------------------------------------------

    @property
    def ids(self) -> Sequence[str]:
        """All ids in order."""
        return self._ids

    @property
    def source(self) -> TableSource:
        return self._source

    @property
    def searching(self) -> bool:
        """Whether a search or a filter narrows the list."""
        return bool(self._search) or self._filter[0] != "1"

    def set_search(self, text: str) -> None:
        """Keep rows in which every word of the text occurs."""
        if text.strip() != self._search:
            self._search = text.strip()
            self.reload()

    def set_filter(self, where: str = "1", parameters: Sequence[Any] = ()) -> None:
        """Keep rows that satisfy an SQL condition."""
        if (where, tuple(parameters)) != self._filter:
            self._filter = (where, tuple(parameters))
            self.reload()

    def show_nothing(self) -> None:
        """Hold no rows from now on, those on their way included, until a filter is set."""
        self._filter = ("0", ())
        self._generation += 1
        self._take([], {})

    def reload(self) -> None:
        """Read the ids anew, off the UI thread; an older answer that comes late is dropped."""
        if not self._session.has_workspace:
            return
        self._generation += 1
        self.loading = True
        generation = self._generation

        def take(found: tuple[list[str], dict[str, Row]]) -> None:
            if generation == self._generation:
                self._take(*found)

        self._session.jobs.run(self, self._make_reading()).success(take)

    def load_now(self) -> None:
        """Read on this thread, for tests."""
        self._generation += 1
        self._take(*self._make_reading()())

    def apply_changes(self, changes: Changes | None) -> None:
        """Refresh what a transaction touched: everything for None."""
        if changes is None or not self._source.kinds or changes.touches(*self._source.kinds):
            self.reload()

    def row_of(self, row_id: str) -> int:
        """The row of an id; -1 when it is not in the list."""
        if self._places is None:
            self._places = {known: place for place, known in enumerate(self._ids)}
        return self._places.get(row_id, -1)

    def id_at(self, row: int) -> str:
        """The id of a row; '' past the end."""
        return self._ids[row] if 0 <= row < len(self._ids) else ""

    def row_at(self, row: int) -> Row:
        """The values of a row; empty where they are still being read."""
        found = self._cache.get(self._ids[row])
        if found is None:
            self._ask_for(row)
            return {}
        self._looked_at = row
        return found

    # -- Qt ------------------------------------------------------------------------------

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self._ids)

    def columnCount(self, parent: AnyIndex = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self._source.columns)

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        if role == self.IdRole:
            return self._ids[index.row()]
        column = self._source.columns[index.column()]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if column.right else Qt.AlignmentFlag.AlignLeft
            return int(side | Qt.AlignmentFlag.AlignVCenter)
        if role not in (
            Qt.ItemDataRole.DisplayRole,
            Qt.ItemDataRole.ToolTipRole,
            Qt.ItemDataRole.AccessibleTextRole,
            self.RowRole,
        ):
            return None
        row = self.row_at(index.row())
        if role == self.RowRole:
            return row
        if role == Qt.ItemDataRole.ToolTipRole:
            return column.tooltip(row) if column.tooltip and row else None
        text = column.text(row.get(column.key)) if row else ""
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{column.title}: {text}"
        return text

    def headerData(
        self,
        section: int,
        orientation: Qt.Orientation,
        role: int = Qt.ItemDataRole.DisplayRole,
    ) -> Any:
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < self.columnCount():
            return None
        column = self._source.columns[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return column.title
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if column.right else Qt.AlignmentFlag.AlignLeft
            return int(side | Qt.AlignmentFlag.AlignVCenter)
        return None

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        if (column, order) != self._sort:
            self._sort = (column, order)
            self.reload()

    # -- inside --------------------------------------------------------------------------

    def _ids_query(self) -> tuple[str, list[Any]]:
        source = self._source
        conditions = [f"({source.where})", f"({self._filter[0]})"]
        parameters = list(self._filter[1])
        if source.search:
            for word in self._search.split():
                mark = word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
                conditions.append(
                    "(" + " OR ".join(f"{sql} LIKE ? ESCAPE '\\'" for sql in source.search) + ")"
                )
                parameters += [f"%{mark}%"] * len(source.search)
        order = [f"{source.id}"]
        column, direction = self._sort
        if 0 <= column < len(source.columns) and source.columns[column].order:
            way = "DESC" if direction == Qt.SortOrder.DescendingOrder else "ASC"
            order.insert(0, f"{source.columns[column].order} {way}")
        where = " AND ".join(conditions)
        return (
            f"SELECT {source.id} FROM {source.from_} WHERE {where} ORDER BY {', '.join(order)}",
            parameters,
        )

    def _make_reading(self) -> Callable[[], tuple[list[str], dict[str, Row]]]:
        """What reads the ids, and the rows about the one last looked at, on any thread."""
        sql, parameters = self._ids_query()
        workspace = self._session.workspace
        old_place, row_id = self._looked_at, self.id_at(self._looked_at)

        def read() -> tuple[list[str], dict[str, Row]]:
            with workspace.reader() as db:
                # Sorting visits every page; a cache that holds them spares decrypting some twice.
                db.conn.execute(f"PRAGMA cache_size = -{_SORT_CACHE_KIB}")
                ids = [row[0] for row in db.conn.execute(sql, parameters)]
            try:
                place = ids.index(row_id)
            except ValueError:
                # It is gone: what took its place is as near as can be.
                place = old_place
            return ids, self._read_rows(workspace, ids[:_PAGE] + _about(ids, place))

        return read

    def _take(self, ids: list[str], rows: Mapping[str, Row]) -> None:
        self.loading = False
        self.loaded_once = True
        self.beginResetModel()
        self._ids = ids
        self._places = None
        self._cache = OrderedDict(rows)
        self.endResetModel()
        self.loaded.emit()

    def _ask_for(self, row: int) -> None:
        """Read a row and its neighbours; while some are read, only the last asked for waits its turn."""
        if self._reading:
            self._missing = row
            return
        if not self._session.has_workspace:
            return
        self._reading = True
        self._missing = None
        generation = self._generation
        workspace = self._session.workspace
        ids = [row_id for row_id in _about(self._ids, row) if row_id not in self._cache]

        def take(rows: Mapping[str, Row]) -> None:
            if generation == self._generation:
                # One that is gone has no values, and is not to be asked for again.
                self._keep({row_id: rows.get(row_id, {}) for row_id in ids})

        def refuse(error: BaseException) -> None:
            # Said once, not at each painting.
            take({})
            self._session.jobs.failed.emit(error, self)

        def go_on() -> None:
            self._reading = False
            waiting, self._missing = self._missing, None
            if waiting is not None and self.id_at(waiting) not in self._cache:
                self._ask_for(min(waiting, len(self._ids) - 1))

        reading = self._session.jobs.run(self, self._read_rows, workspace, ids)
        reading.success(take).failure(refuse).end(go_on)

    def _keep(self, rows: Mapping[str, Row]) -> None:
        self._cache.update(rows)
        while len(self._cache) > _CACHED_ROWS:
            self._cache.popitem(last=False)
        places = [place for place in map(self.row_of, rows) if place >= 0]
        if places:
            last = self.columnCount() - 1
            self.dataChanged.emit(self.index(min(places), 0), self.index(max(places), last))

    def _read_rows(self, workspace: Workspace, ids: Sequence[str]) -> dict[str, Row]:
        """The values of rows by id, on any thread."""
        marks = ", ".join("?" * len(ids))
        rows = workspace.query(
            f'SELECT {self._source.id} AS "__id", {self._select} FROM {self._source.from_}'
            f" WHERE {self._source.id} IN ({marks})",
            list(ids),
        )
        return {values.pop("__id"): values for values in rows}


def _about(ids: Sequence[str], row: int) -> list[str]:
    """The ids about a row."""
    start = max(0, row - _PAGE // 2)
    return list(ids[start : start + _PAGE])
