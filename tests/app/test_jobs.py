"""Whatever thread work runs on, its outcome comes home to the main one."""

from __future__ import annotations

import threading
import time

import pytest
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.jobs import Feed
from app.operations import run_query, session_of
from app.session import Session
from core.errors import BugError, Cancelled, KnownError
from core.ports import Cancellation, Progress, ProgressCallback


def test_success_on_the_main_thread(session: Session, qtbot: QtBot) -> None:
    got: list[tuple[int, threading.Thread]] = []
    ran: list[threading.Thread] = []

    def work(number: int) -> int:
        ran.append(threading.current_thread())
        return number + 1

    pending = session.jobs.run(None, work, 1)
    pending.success(lambda value: got.append((value, threading.current_thread())))
    qtbot.waitUntil(lambda: bool(got))
    assert got == [(2, threading.main_thread())]
    assert ran[0] is not threading.main_thread()


def test_failure_goes_to_its_handler_or_to_all(session: Session, qtbot: QtBot) -> None:
    def fail() -> None:
        raise KnownError("No.")

    own: list[BaseException] = []
    shown: list[BaseException] = []
    session.jobs.failed.connect(lambda error, owner: shown.append(error))
    session.jobs.run(None, fail).failure(own.append)
    qtbot.waitUntil(lambda: bool(own))
    assert not shown
    session.jobs.run(None, fail)
    qtbot.waitUntil(lambda: bool(shown))
    assert len(own) == 1


def test_once_closed_nothing_runs_and_nothing_is_raised(session: Session) -> None:
    ran: list[int] = []
    session.jobs.close()
    session.jobs.run(None, ran.append, 1).success(ran.append)
    session.jobs.start(None, "Late", lambda progress, cancel: ran.append(2))
    assert not ran
    assert not session.jobs.long_jobs


def test_stopping_is_no_error(session: Session, qtbot: QtBot) -> None:
    def stop() -> None:
        raise Cancelled

    shown: list[BaseException] = []
    ended: list[bool] = []
    session.jobs.failed.connect(lambda error, owner: shown.append(error))
    session.jobs.run(None, stop).end(lambda: ended.append(True))
    qtbot.waitUntil(lambda: bool(ended))
    assert not shown


def test_nothing_reaches_an_owner_that_is_gone(session: Session, qtbot: QtBot) -> None:
    owner = QObject()
    release = threading.Event()
    called: list[object] = []
    pending = session.jobs.run(owner, release.wait, 5.0)
    pending.success(called.append)
    owner.deleteLater()
    qtbot.wait(10)
    release.set()
    qtbot.waitUntil(lambda: pending.finished)
    assert not called


def test_long_job_shows_progress_and_stops(session: Session, qtbot: QtBot) -> None:
    def work(*, progress: ProgressCallback, cancel: Cancellation) -> int:
        done = 0
        while not cancel.wait(0.002):
            done += 1
            progress(Progress(done, 100_000))
        raise Cancelled

    ended: list[bool] = []
    pending = session.jobs.start(None, "Counting", work, noun="steps").end(
        lambda: ended.append(True)
    )
    job = session.jobs.long_jobs[0]
    qtbot.waitUntil(lambda: job.progress.done > 3 and job.rate is not None)
    assert job.seconds_left is not None and job.seconds_left > 0
    pending.cancel()
    qtbot.waitUntil(lambda: bool(ended))
    assert session.jobs.long_jobs == ()


def test_a_flood_of_reports_is_thinned_out(session: Session, qtbot: QtBot) -> None:
    shown: list[int] = []

    def work(*, progress: ProgressCallback, cancel: Cancellation) -> int:
        for done in range(50_000):
            progress(Progress(done, 50_000))
        return 1

    ended: list[bool] = []
    session.jobs.start(None, "Flood", work).end(lambda: ended.append(True))
    job = session.jobs.long_jobs[0]
    job.progressed.connect(lambda: shown.append(job.progress.done))
    qtbot.waitUntil(lambda: bool(ended), timeout=10_000)
    assert shown and shown[-1] == 49_999
    assert len(shown) < 25_000


def test_feed_hands_over_everything_in_order(session: Session, qtbot: QtBot) -> None:
    owner = QObject()
    batches: list[list[int]] = []
    feed: Feed[int] = Feed(batches.append, owner)
    thread = threading.Thread(target=lambda: [feed.push(n) for n in range(1000)])
    thread.start()
    qtbot.waitUntil(lambda: sum(map(len, batches)) > 0)
    thread.join()
    feed.push(1000)
    feed.close()
    assert [n for batch in batches for n in batch] == list(range(1001))
    owner.deleteLater()


def test_session_is_found_through_parents(session: Session, qtbot: QtBot) -> None:
    outer, lonely = QWidget(), QWidget()
    outer.session = session  # type: ignore[attr-defined]
    inner = QWidget(outer)
    assert session_of(inner) is session
    with pytest.raises(BugError):
        session_of(lonely)
    got: list[int] = []
    run_query(inner, time.monotonic_ns).success(got.append)
    qtbot.waitUntil(lambda: bool(got))
    outer.deleteLater()
    lonely.deleteLater()


def test_qt_calls_use_up_no_singletons(session: Session) -> None:
    import sys

    # 40,000 calls abort the interpreter where a PySide6 gives back what it never took.
    for _ in range(40_000):
        session.jobs.changed.emit()
        session.setObjectName("x")
    assert sys.getrefcount(None) > 1000
    assert sys.getrefcount(True) > 1000
