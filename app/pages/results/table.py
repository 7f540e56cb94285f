"""The table of results: a row a system, a column a measure, each cell a mean with its interval."""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from app.strings import count_of, format_number, say
from core.metrics.bootstrap import SAMPLES, SEED
from core.runs.measures import RATING_PREFIX, measure_name
from core.runs.results import ResultRow, rating_rows, result_rows
from core.runs.scoring import DEFAULT_METRICS
from core.settings import write_atomically
from core.storage.workspace import Workspace
from core.types import RATING_AXES

AnyIndex = QModelIndex | QPersistentModelIndex

_RATINGS = tuple(RATING_PREFIX + axis.replace("_", " ") for axis in RATING_AXES)
_CSV_COLUMNS = (
    "system",
    "group",
    "measure",
    "mean",
    "low",
    "high",
    "standard_error",
    "interval",
    "n",
    "unscored",
    "reasons",
    "signatures",
    "bootstrap_samples",
    "bootstrap_seed",
)

#: What the table can be split by, key and words; '' for not at all.
SPLITS = (
    ("", "not split"),
    ("field", "field"),
    ("task", "task"),
    ("section", "section"),
    ("length", "length"),
    ("split", "split"),
    ("prompt", "prompt"),
    ("expert", "expert"),
    ("item", "rubric item"),
)
#: Splits whose rows are not those of whole outputs.
_OWN_ROWS = frozenset({"section", "expert", "item"})


def measure_title(metric: str) -> str:
    """A metric's or axis's name for people."""
    return say(measure_name(metric))


def measure_value(metric: str, value: float | None) -> str:
    """A value with as many digits as it deserves; a dash for none."""
    if value is None:
        return "–"
    if metric in ("length", "sari", "bleu", "flesch_kincaid"):
        return format_number(value, 1)
    return format_number(value, 2 if metric.startswith(RATING_PREFIX) else 3)


@dataclass(frozen=True, slots=True)
class Results:
    """Everything the page shows: a line a system, or a line a system and group where it is split.

    ``systems`` holds (line, name) pairs; a line is a system's id, and its group after a line end.
    ``writers`` counts the systems that wrote outputs, scored or not.
    """

    systems: tuple[tuple[str, str], ...] = ()
    metrics: tuple[str, ...] = ()
    cells: Mapping[tuple[str, str], ResultRow] = field(default_factory=dict)
    values: Mapping[tuple[str, str], Sequence[float]] = field(default_factory=dict)
    outputs: int = 0
    examples: int = 0
    writers: int = 0
    by: str = ""

    def unscored(self, system_id: str) -> int:
        """How many scores of a line could not be had."""
        return sum(row.unscored for (system, _m), row in self.cells.items() if system == system_id)

    def reasons(self, system_id: str) -> dict[str, int]:
        """Why, with how often."""
        reasons: dict[str, int] = defaultdict(int)
        for (system, _metric), row in self.cells.items():
            if system == system_id:
                for reason, count in row.reasons.items():
                    reasons[reason] += count
        return dict(reasons)


def line_of(row: ResultRow) -> str:
    """The line of the table a row stands in."""
    return "\n".join((row.system_id, *row.group))


def _line_name(row: ResultRow) -> str:
    return " · ".join((row.system, *(group or say("none") for group in row.group)))


def all_rows(workspace: Workspace, by: str = "") -> list[ResultRow]:
    """Scores and, where they can be split the same way, people's ratings."""
    groups = (by,) if by else ()
    rows = result_rows(workspace, groups)
    return rows if by in _OWN_ROWS else rows + rating_rows(workspace, groups)


def read_results(workspace: Workspace, by: str = "") -> Results:
    """Means, intervals and values; for a thread of the pool."""
    rows = all_rows(workspace, by)
    cells = {(line_of(row), row.metric): row for row in rows}
    lines = {line_of(row): _line_name(row) for row in rows}
    found = {row.metric for row in rows}
    first = [m for m in DEFAULT_METRICS if m in found]
    last = [m for m in _RATINGS if m in found]
    metrics = (*first, *sorted(found - set(first) - set(last)), *last)
    # From the index `output_run_facts`, without a look at the texts.
    counts = workspace.query(
        "SELECT count(*) AS outputs, count(DISTINCT o.example_id) AS examples,"
        " count(DISTINCT r.system_id) AS writers FROM run r"
        " JOIN output o INDEXED BY output_run_facts ON o.run_id = r.id AND o.state = 'done'"
        " AND o.deleted = 0 WHERE r.deleted = 0"
    )[0]
    return Results(
        tuple(sorted(lines.items(), key=lambda item: (item[1].casefold(), item[0]))),
        metrics,
        cells,
        {key: row.dots for key, row in cells.items()},
        counts["outputs"],
        counts["examples"],
        counts["writers"],
        by,
    )


def write_csv(workspace: Workspace, path: Path, by: str = "") -> int:
    """Write the table, one line a system and measure, with all that is needed to repeat it."""
    rows = all_rows(workspace, by)
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(_CSV_COLUMNS)
    for row in rows:
        interval = row.interval
        writer.writerow(
            (
                plain_cell(row.system),
                plain_cell("; ".join(row.group)),
                row.metric,
                interval.mean,
                interval.low,
                interval.high,
                interval.error,
                row.method,
                interval.n,
                row.unscored,
                plain_cell("; ".join(f"{count} x {why}" for why, count in row.reasons.items())),
                "; ".join(row.signatures),
                SAMPLES,
                SEED,
            )
        )
    write_atomically(path, stream.getvalue().encode())
    return len(rows)


def plain_cell(text: str) -> str:
    """Text that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t")) else text


class ResultsModel(QAbstractTableModel):
    """System, measures, and how many scores are missing."""

    def __init__(self, parent: Any = None) -> None:
        super().__init__(parent)
        self.results = Results()

    def show(self, results: Results) -> None:
        """Show other results."""
        self.beginResetModel()
        self.results = results
        self.endResetModel()

    def cell(self, index: AnyIndex) -> tuple[str, str] | None:
        """(system id, metric) of a cell that holds a measure."""
        column = index.column() - 1
        if not index.isValid() or not 0 <= column < len(self.results.metrics):
            return None
        return self.results.systems[index.row()][0], self.results.metrics[column]

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self.results.systems)

    def columnCount(self, parent: AnyIndex = QModelIndex()) -> int:
        return 0 if parent.isValid() or not self.results.systems else len(self.results.metrics) + 2

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if index.column() else Qt.AlignmentFlag.AlignLeft
            return int(side | Qt.AlignmentFlag.AlignVCenter)
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(index)
        if role == Qt.ItemDataRole.ToolTipRole:
            return self._tooltip(index)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            system = self.results.systems[index.row()][1]
            title = self.headerData(index.column(), Qt.Orientation.Horizontal)
            return f"{system}, {title}: {self._text(index)}"
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < self.columnCount():
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if section else Qt.AlignmentFlag.AlignLeft
            return int(side | Qt.AlignmentFlag.AlignVCenter)
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        if section == 0:
            return say("System")
        if section > len(self.results.metrics):
            return say("Unscored")
        return measure_title(self.results.metrics[section - 1])

    def _text(self, index: AnyIndex) -> str:
        system_id, system = self.results.systems[index.row()]
        if index.column() == 0:
            return system
        cell = self.cell(index)
        if cell is None:
            return format_number(self.results.unscored(system_id))
        row = self.results.cells.get(cell)
        if row is None:
            return ""
        interval = row.interval
        text = measure_value(row.metric, interval.mean)
        if interval.low is None or interval.high is None:
            return text
        half = (interval.high - interval.low) / 2
        return f"{text} ± {measure_value(row.metric, half)}"

    def _tooltip(self, index: AnyIndex) -> str | None:
        system_id, _system = self.results.systems[index.row()]
        cell = self.cell(index)
        if cell is None:
            reasons = self.results.reasons(system_id)
            return (
                "\n".join(f"{n} x {why}" for why, n in reasons.items()) if index.column() else None
            )
        row = self.results.cells.get(cell)
        return describe_cell(row) if row is not None else None


def describe_cell(row: ResultRow) -> str:
    """A cell in words: mean, interval, how many, how it was computed."""
    interval = row.interval
    lines = [
        say(
            "Mean {mean} of {count}",
            mean=measure_value(row.metric, interval.mean),
            count=count_of(interval.n, "value", "values"),
        )
    ]
    if interval.low is not None and interval.high is not None:
        low, high = (measure_value(row.metric, v) for v in (interval.low, interval.high))
        lines.append(say("95 % interval {low} to {high}", low=low, high=high))
    if row.unscored:
        lines.append(say("{count} without a score", count=row.unscored))
    lines += row.signatures
    return "\n".join(lines)
