"""What a desk of the review page is given: where its items come from, and what they are made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from app.pages.review.items import OwnCounts
from core.storage.workspace import Workspace
from core.types import Task


class Item(Protocol):
    """A row of the queue."""

    @property
    def id(self) -> str: ...
    @property
    def state(self) -> str: ...
    @property
    def comment(self) -> str: ...


class View(Protocol):
    """An item with what is shown of it."""

    @property
    def item(self) -> Item: ...
    @property
    def place(self) -> int: ...
    @property
    def task(self) -> Task: ...


V = TypeVar("V", bound=View)
C = TypeVar("C", bound=OwnCounts)


@dataclass(frozen=True, slots=True)
class Source(Generic[V, C]):
    """Where a desk's items come from, on a worker thread, and how a comment is kept.

    ``read`` takes the person, the wanted item ('' for the first that waits) and a step (see
    `app.pages.review.items.pick_item`). ``save_comment`` is a verb on the item's id and the comment.
    """

    count: Callable[[Workspace, str], C]
    read: Callable[[Workspace, str, str, int], V | None]
    save_comment: Callable[..., object]


def look(
    source: Source[V, C], workspace: Workspace, person_id: str, wanted: str
) -> tuple[C, V | None]:
    """Counts, and the wanted item or the first that waits; for a worker thread."""
    # Counted first: counting also fills the queue with what was written since.
    return source.count(workspace, person_id), source.read(workspace, person_id, wanted, 0)
