"""Work off the UI thread, and its one way home: every result, error and report of progress is delivered
by a single object that lives on the main thread.

Callbacks name an owner widget; when the owner is gone by then, they are dropped.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Generic, TypeVar

import shiboken6
from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot

from core.errors import Cancelled
from core.ports import Cancellation, Progress

T = TypeVar("T")

_WORKERS = 4
_FEED_MILLISECONDS = 40
#: How long the window's thread waits for a thread that computes in Python, in seconds. It waits anew
#: at each step of painting, so Python's own 5 ms add up to what is felt.
_SWITCH = 0.0005


class Dispatcher(QObject):
    """Runs calls on the thread it was made on, in the order they were posted from any thread."""

    _arrived = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._arrived.connect(self._deliver, Qt.ConnectionType.QueuedConnection)

    def post(self, call: Callable[[], None], owner: QObject | None = None) -> None:
        """Run ``call`` on the main thread soon, unless ``owner`` is gone by then."""
        if shiboken6.isValid(self):
            self._arrived.emit((call, owner))

    @Slot(object)
    def _deliver(self, item: tuple[Callable[[], None], QObject | None]) -> None:
        call, owner = item
        if owner is None or shiboken6.isValid(owner):
            call()


class Feed(Generic[T]):
    """Takes items from any thread, as fast as they come, and hands them over in batches, 25 a second.

    Made on the main thread.
    """

    def __init__(self, on_batch: Callable[[list[T]], None], owner: QObject) -> None:
        self._on_batch = on_batch
        self._items: deque[T] = deque()
        self._timer = QTimer(owner)
        self._timer.setInterval(_FEED_MILLISECONDS)
        self._timer.timeout.connect(self.flush)
        self._timer.start()

    def push(self, item: T) -> None:
        """Add an item; safe from any thread."""
        self._items.append(item)

    def flush(self) -> None:
        """Hand over what has come; on the main thread."""
        batch: list[T] = []
        while self._items:
            batch.append(self._items.popleft())
        if batch:
            self._on_batch(batch)

    def close(self) -> None:
        """Hand over the rest and stop."""
        if shiboken6.isValid(self._timer):
            self._timer.stop()
        self.flush()


class Pending(Generic[T]):
    """Something under way: what to do when it comes home. Also cancels it, where it listens."""

    def __init__(self, owner: QObject | None, cancel: Cancellation | None = None) -> None:
        self._owner = owner
        self._cancel = cancel
        self._on_success: Callable[[T], object] | None = None
        self._on_failure: Callable[[BaseException], object] | None = None
        self._on_end: Callable[[], object] | None = None
        self.finished = False

    def success(self, call: Callable[[T], object]) -> Pending[T]:
        """Call with the value, on the main thread."""
        self._on_success = call
        return self

    def failure(self, call: Callable[[BaseException], object]) -> Pending[T]:
        """Call with the error instead of showing it."""
        self._on_failure = call
        return self

    def end(self, call: Callable[[], object]) -> Pending[T]:
        """Call afterwards, however it went."""
        self._on_end = call
        return self

    def cancel(self) -> None:
        """Ask it to stop; a no-op where it can't."""
        if self._cancel is not None:
            self._cancel.cancel()

    def settle(
        self, future: Future[T], show_error: Callable[[BaseException, QObject | None], None]
    ) -> None:
        """Deliver the outcome; called on the main thread by `Jobs`."""
        self.finished = True
        alive = self._owner is None or shiboken6.isValid(self._owner)
        error = None if future.cancelled() else future.exception()
        try:
            if future.cancelled():
                return
            if error is None:
                if alive and self._on_success is not None:
                    self._on_success(future.result())
            elif alive and self._on_failure is not None:
                self._on_failure(error)
            elif not isinstance(error, Cancelled):
                show_error(error, self._owner if alive else None)
        finally:
            if alive and self._on_end is not None:
                self._on_end()


class LongJob(QObject):
    """A job the bottom bar shows: what it is, how far, how fast, and the way to stop it."""

    progressed = Signal()
    finished = Signal()

    def __init__(self, label: str, noun: str, parent: QObject) -> None:
        super().__init__(parent)
        self.label = label
        self.noun = noun
        self.cancellation = Cancellation()
        self.progress = Progress(0)
        self.started = time.monotonic()
        self._first: tuple[float, int] | None = None
        self._latest: Progress | None = None
        self._lock = threading.Lock()

    @property
    def rate(self) -> float | None:
        """Items a second since the first report; None before there is anything to go by."""
        if self._first is None:
            return None
        seconds = time.monotonic() - self._first[0]
        done = self.progress.done - self._first[1]
        return done / seconds if done > 0 and seconds > 0 else None

    @property
    def seconds_left(self) -> float | None:
        """Estimate from the rate; None when unknown."""
        rate, total = self.rate, self.progress.total
        return None if rate is None or total is None else max(0, total - self.progress.done) / rate

    def cancel(self) -> None:
        """Ask it to stop."""
        self.cancellation.cancel()
        self.progressed.emit()

    def store(self, progress: Progress) -> bool:
        """Keep the latest report, from any thread; True when none was waiting to be shown."""
        with self._lock:
            was_empty = self._latest is None
            self._latest = progress
            return was_empty

    @Slot()
    def show_latest(self) -> None:
        """Take over the latest report, on the main thread."""
        with self._lock:
            latest, self._latest = self._latest, None
        if latest is None:
            return
        self.progress = latest
        if self._first is None:
            self._first = (time.monotonic(), latest.done)
        self.progressed.emit()


class Jobs(QObject):
    """The pool of threads, and what is under way in it."""

    #: The list of long jobs changed.
    changed = Signal()
    #: Something failed that nobody took care of: (error, owner or None).
    failed = Signal(object, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        sys.setswitchinterval(_SWITCH)
        self.dispatcher = Dispatcher(self)
        self._pool = ThreadPoolExecutor(_WORKERS, thread_name_prefix="rifugio-job")
        self._long_pool = ThreadPoolExecutor(_WORKERS, thread_name_prefix="rifugio-long")
        self._long: list[LongJob] = []
        self._under_way = 0
        self._closed = False

    @property
    def long_jobs(self) -> tuple[LongJob, ...]:
        """Long jobs under way, oldest first."""
        return tuple(self._long)

    @property
    def idle(self) -> bool:
        """Whether everything that was begun, long or short, has come home."""
        return not self._under_way and not self._long

    def run(self, owner: QObject | None, function: Callable[..., T], *args: Any) -> Pending[T]:
        """Run something short off the UI thread; once closed nothing runs, and nothing comes home."""
        if self._closed:
            return Pending(owner)
        return self.watch(owner, self._pool.submit(function, *args))

    def watch(self, owner: QObject | None, future: Future[T]) -> Pending[T]:
        """Bring a future's outcome home, such as the writer thread's."""
        pending: Pending[T] = Pending(owner)
        self._under_way += 1

        def come_home(done: Future[T]) -> None:
            self._under_way -= 1
            pending.settle(done, self._show_error)

        future.add_done_callback(lambda done: self.dispatcher.post(lambda: come_home(done)))
        return pending

    def start(
        self,
        owner: QObject | None,
        label: str,
        function: Callable[..., T],
        *args: Any,
        noun: str = "items",
        **kwargs: Any,
    ) -> Pending[T]:
        """Run something long, shown in the bottom bar.

        ``function`` also gets ``progress`` and ``cancel``. ``noun`` names what its counts are of.
        """
        if self._closed:
            return Pending(owner)
        job = LongJob(label, noun, self)
        pending: Pending[T] = Pending(owner, job.cancellation)

        def report(progress: Progress) -> None:
            if job.store(progress):
                self.dispatcher.post(job.show_latest, job)

        future = self._long_pool.submit(
            function, *args, progress=report, cancel=job.cancellation, **kwargs
        )

        def come_home() -> None:
            self._forget(job)
            pending.settle(future, self._show_error)

        self._long.append(job)
        self.changed.emit()
        future.add_done_callback(lambda _done: self.dispatcher.post(come_home))
        return pending

    def cancel_all(self) -> None:
        """Ask every long job to stop."""
        for job in self._long:
            job.cancel()

    def close(self) -> None:
        """Stop everything and wait for it; nothing comes home afterwards."""
        self._closed = True
        self.cancel_all()
        self._long_pool.shutdown(wait=True, cancel_futures=True)
        self._pool.shutdown(wait=True)

    def _forget(self, job: LongJob) -> None:
        if job in self._long:
            self._long.remove(job)
            job.finished.emit()
            job.deleteLater()
            self.changed.emit()

    def _show_error(self, error: BaseException, owner: QObject | None) -> None:
        if not self._closed:
            self.failed.emit(error, owner)
