"""Looking for garbage while nobody waits.

A full collection visits every object Python keeps: some hundred thousand with the window open, 50 to 60
milliseconds in which no key is answered, whichever thread began it. Left to itself Python begins one in
the middle of typing. Here one begins when keyboard and mouse rest, and passes over what an earlier one
saw, nearly all of it modules: a tenth of the time. All of it is looked at once nobody has touched
anything for a minute, and when a workspace is left.
"""

from __future__ import annotations

import gc
import time

from PySide6.QtCore import QObject, Qt, QTimer, Slot

from app.windows.idle import IdleWatch

#: No full collection begins by itself with this threshold; those of young objects go on.
_NEVER = 1_000_000_000
_LOOK_EVERY_SECONDS = 5
_PAUSE_SECONDS, _AWAY_SECONDS = 2.0, 60.0
#: Collections of young objects after which Python would look at all, and after which it is done in any case.
_DUE, _OVERDUE = 10, 2_000


class QuietCollector(QObject):
    """Collects when keyboard and mouse rest; `stop` gives the work back to Python."""

    def __init__(self, idle: IdleWatch, parent: QObject) -> None:
        super().__init__(parent)
        self._idle = idle
        self._thresholds = gc.get_threshold()
        gc.set_threshold(*self._thresholds[:2], _NEVER)
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
        rest = time.monotonic() - touched
        if rest >= _AWAY_SECONDS and self._seen != touched:
            self._seen = touched
            self.collect()
            return
        young = gc.get_count()[2]
        if young >= _OVERDUE or (rest >= _PAUSE_SECONDS and young >= _DUE):
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
        gc.set_threshold(*self._thresholds)

    @staticmethod
    def _collect_new() -> None:
        gc.collect()
        gc.freeze()
