"""Looking for garbage on the window's thread, and while nobody waits.

Left to itself Python begins a collection on whichever thread makes an object next. Two things speak against
that here. What Qt made must be taken apart on the thread it lives on: a collection that a thread of the pool
begins may end the process. And a full collection visits every object Python keeps, some hundred thousand
with the window open: 50 to 60 milliseconds in which no key is answered. So none begins by itself. When
keyboard and mouse rest, what came since the last look is looked at; where that is much, as after an import
of modules, it is put aside. All is looked at once nobody has touched anything for a minute, and when a
workspace is left.
"""

from __future__ import annotations

import gc
import time

from PySide6.QtCore import QObject, Qt, QTimer, Slot

from app.windows.idle import IdleWatch

_LOOK_EVERY_SECONDS = 2
_PAUSE_SECONDS, _AWAY_SECONDS = 2.0, 60.0
#: New objects from which a look is worth while, and from which it would take more than some milliseconds.
_DUE, _MANY = 1_000, 20_000


class QuietCollector(QObject):
    """Collects on the thread it lives on; `stop` gives the work back to Python."""

    def __init__(self, idle: IdleWatch, parent: QObject) -> None:
        super().__init__(parent)
        self._idle = idle
        gc.disable()
        gc.freeze()
        #: When somebody had last touched something at the last look at everything.
        self._seen = -1.0
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.VeryCoarseTimer)
        self._timer.setInterval(_LOOK_EVERY_SECONDS * 1000)
        self._timer.timeout.connect(self.look)
        self._timer.start()

    @Slot()
    def look(self) -> None:
        """Collect if it is due and disturbs nobody."""
        touched = self._idle.touched
        rest, new = time.monotonic() - touched, gc.get_count()[0]
        if rest >= _AWAY_SECONDS and self._seen != touched:
            self._seen = touched
            self.collect()
        elif new >= _MANY:
            gc.freeze()
        elif rest >= _PAUSE_SECONDS and new >= _DUE:
            self._collect_new()

    @Slot()
    def collect(self) -> None:
        """Collect now, whatever was seen before."""
        gc.unfreeze()
        self._collect_new()

    @Slot()
    def collect_soon(self) -> None:
        """Collect once Qt has deleted what it has to: texts of a workspace that was left go with it."""
        QTimer.singleShot(0, self, self.collect)

    def stop(self) -> None:
        """Leave collecting to Python again."""
        self._timer.stop()
        gc.unfreeze()
        gc.enable()

    @staticmethod
    def _collect_new() -> None:
        gc.collect()
        gc.freeze()
