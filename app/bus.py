"""What changed in the workspace, told to every view on the main thread."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from app.jobs import Dispatcher
from core.changes import Changes

if TYPE_CHECKING:
    from core.storage.workspace import Workspace


class Bus(QObject):
    """Carries each commit's `Changes` home; those that come faster than they are shown are merged."""

    changed = Signal(object)

    def __init__(self, dispatcher: Dispatcher, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._dispatcher = dispatcher
        self._lock = threading.Lock()
        self._waiting: list[Changes] = []

    def listen_to(self, workspace: Workspace) -> None:
        """Carry what this workspace's writer thread commits, until it is closed."""
        workspace.subscribe(self._take)

    def _take(self, changes: Changes) -> None:
        if not changes:
            return
        with self._lock:
            self._waiting.append(changes)
            first = len(self._waiting) == 1
        if first:
            self._dispatcher.post(self._deliver, self)

    @Slot()
    def _deliver(self) -> None:
        with self._lock:
            waiting, self._waiting = self._waiting, []
        if waiting:
            self.changed.emit(merge_changes(waiting))


def merge_changes(several: list[Changes]) -> Changes:
    """One `Changes` for several; transaction and label are the last one's."""
    if len(several) == 1:
        return several[0]
    ids: dict[str, frozenset[str]] = {}
    for changes in several:
        for kind, rows in changes.ids.items():
            ids[kind] = ids.get(kind, frozenset()) | rows
    return Changes(several[-1].transaction, several[-1].label, ids)
