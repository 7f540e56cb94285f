"""What a verb changed: the answer of every transaction, from which views refresh themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Changes:
    """Kinds and ids of the rows a transaction touched.

    Examples
    --------
    >>> changes = Changes("t1", "Add task", {"task": frozenset({"a"})})
    >>> changes.touches("task"), changes.touches("example")
    (True, False)
    """

    transaction: str = ""
    label: str = ""
    ids: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def touches(self, *kinds: str) -> bool:
        """Whether any row of these kinds was touched."""
        return any(kind in self.ids for kind in kinds)

    def __bool__(self) -> bool:
        return bool(self.ids)


@dataclass(frozen=True, slots=True)
class Outcome(Generic[T_co]):
    """A verb's value and what it changed."""

    value: T_co
    changes: Changes
