"""What a merge says of itself."""

from __future__ import annotations

from dataclasses import dataclass, field

from core.exchange.packages import PackageInfo


@dataclass(frozen=True, slots=True)
class Change:
    """Who set a column, and when."""

    person: str
    time: str


@dataclass(frozen=True, slots=True)
class Conflict:
    """A column that was changed here and there, each without seeing the other.

    ``theirs_stands`` says whose value the row has now: the later one.
    """

    kind: str
    row: str
    name: str
    column: str
    ours: Change
    theirs: Change
    theirs_stands: bool


@dataclass(slots=True)
class MergeReport:
    """What a merge does, or would do.

    Parameters
    ----------
    entries
        How many entries of history are new; 0 when there is nothing to take over.
    people
        How many of them each person made, by name; '' for jobs.
    added, changed, removed
        How many rows, by kind.
    left_out
        Changes that are not taken over, by kind: what a package of reviews changed beside them, and
        rows that were made where this workspace never was.
    settled
        How many rows gave way to a twin, such as two ratings of one output by one person.
    """

    package: PackageInfo | None = None
    entries: int = 0
    people: dict[str, int] = field(default_factory=dict)
    added: dict[str, int] = field(default_factory=dict)
    changed: dict[str, int] = field(default_factory=dict)
    removed: dict[str, int] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)
    settled: int = 0
    conflicts: list[Conflict] = field(default_factory=list)
