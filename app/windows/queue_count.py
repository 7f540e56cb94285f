"""The number beside 'Queue' in the rail: what waits for the person at work, whatever page is shown."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot

from app.session import Session
from app.windows.rail import Rail
from core.changes import Changes


class QueueCount(QObject):
    """Keeps the rail's number true, from opening a workspace on."""

    def __init__(self, session: Session, rail: Rail) -> None:
        super().__init__(rail)
        self._session = session
        self._rail = rail
        self._generation = 0
        session.person_changed.connect(self.count)
        session.workspace_changed.connect(self.count)
        session.bus.changed.connect(self._on_changes)

    @Slot()
    def count(self) -> None:
        """Count anew."""
        self._generation += 1
        if not self._session.has_workspace or not self._session.person_id:
            self._rail.set_count("queue", None)
            return
        # Imported here: the storage is no part of the window's start.
        from app.pages.review.items import QueueCounts, prepare_queue

        generation = self._generation

        def take(counts: QueueCounts) -> None:
            if generation == self._generation and self._session.has_workspace:
                self._rail.set_count("queue", counts.open)

        self._session.jobs.run(
            self, prepare_queue, self._session.workspace, self._session.person_id
        ).success(take)

    @Slot(object)
    def _on_changes(self, changes: Changes) -> None:
        if changes.touches("review_item", "output", "person"):
            self.count()
