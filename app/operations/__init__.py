"""Things a person does: a verb runs off the UI thread, its changes go to the bus, its errors to a dialog.

>>> # run_verb(page, "Edit task", edit_task, task.id, objective=text).success(page.show_task)

The label is what undo will say it undoes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from PySide6.QtWidgets import QWidget

from app.jobs import Pending
from app.session import Session
from core.changes import Outcome
from core.errors import BugError

T = TypeVar("T")

__all__ = ["run_job", "run_query", "run_verb", "session_of"]


def session_of(widget: QWidget) -> Session:
    """The session of the page, dialog or window a widget is in."""
    seeker: QWidget | None = widget
    while seeker is not None:
        session = getattr(seeker, "session", None)
        if isinstance(session, Session):
            return session
        seeker = seeker.parentWidget()
    raise BugError(f"{type(widget).__name__} is in no window with a session.")


def run_verb(
    window: QWidget, label: str, verb: Callable[..., T], *args: Any, **kwargs: Any
) -> Pending[Outcome[T]]:
    """Run a core verb as one transaction of the person at work, on the writer thread.

    ``verb`` takes the transaction first. ``success`` gets the `Outcome` (``.value``, ``.changes``),
    after the bus has told the views. Without ``failure`` an error is shown as a dialog.
    """
    session = session_of(window)
    future = session.workspace.submit(label, session.person_id, verb, *args, **kwargs)
    return session.jobs.watch(window, future)


def run_query(window: QWidget, function: Callable[..., T], *args: Any) -> Pending[T]:
    """Read, or compute something short, off the UI thread."""
    return session_of(window).jobs.run(window, function, *args)


def run_job(
    window: QWidget,
    label: str,
    function: Callable[..., T],
    *args: Any,
    noun: str = "items",
    **kwargs: Any,
) -> Pending[T]:
    """Run something long, shown in the bottom bar with its rate and a way to stop it.

    ``function`` also gets ``progress`` and ``cancel`` as keyword arguments.
    """
    return session_of(window).jobs.start(window, label, function, *args, noun=noun, **kwargs)
