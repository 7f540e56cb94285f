"""Deleting a run: what goes with it is said before, and undo brings all of it back."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QWidget

from app.operations import run_query, run_verb, session_of
from app.strings import count_of, say
from app.widgets.dialogs import ask
from core.runs.deletion import RunContents, contents_of, delete_run


def contents_words(contents: RunContents) -> str:
    """What goes with a run, in words; '' where it is empty."""
    parts = (
        (contents.outputs, "output", "outputs"),
        (contents.scores, "score or answer of a judge", "scores and answers of judges"),
        (contents.judgements, "rating or choice of a person", "ratings and choices of people"),
        (contents.checklists, "checklist", "checklists"),
    )
    return ", ".join(count_of(number, one, many) for number, one, many in parts if number)


def ask_to_delete(window: QWidget, run_id: str, name: str, done: Callable[[], object]) -> None:
    """Say what goes with a run and, when the answer is yes, delete it and call ``done``."""

    def delete() -> None:
        verb = run_verb(window, say("Delete run"), delete_run, run_id)
        verb.success(lambda _outcome: done())

    def show(contents: RunContents) -> None:
        words = contents_words(contents) or say("nothing yet")
        text = say(
            "With this run of {name} goes what rests on it: {what}. Its system and the examples "
            "stay. {key} brings everything back.",
            name=name,
            what=words,
            key=session_of(window).shortcuts.hint("undo"),
        )
        ask(window, say("Delete this run?"), text, say("Delete the run"), delete, danger=True)

    run_query(window, contents_of, session_of(window).workspace, run_id).success(show)
