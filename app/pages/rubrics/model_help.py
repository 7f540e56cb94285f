"""What the person lets models do for the rubric shown: find overlaps, tag skills, suggest items."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QWidget

from app.jobs import Pending
from app.operations import run_job
from app.pages.rubrics import background
from app.pages.rubrics.studio import Studio
from app.session import Session
from app.strings import count_of, say
from core.rubrics.linter import Finding

T = TypeVar("T")


class ModelHelp(QObject):
    """Starts the jobs and tells how they ended.

    Parameters
    ----------
    studio
        Gives the rubric shown, None for none.
    """

    said = Signal(str)
    #: dict[str, tuple[Finding, ...]]: by item, which others mean the same.
    overlapping = Signal(object)
    #: Whether a model may be asked for suggestions now.
    suggesting = Signal(bool)

    def __init__(
        self, session: Session, studio: Callable[[], Studio | None], owner: QWidget
    ) -> None:
        super().__init__(owner)
        self._session, self._studio, self._owner = session, studio, owner

    @Slot()
    def find_overlaps(self) -> None:
        """Let the embedder find items that mean the same."""
        started = self._start(say("Finding overlaps"), background.find_overlaps)
        if started is not None:
            started.success(self._on_overlaps)

    @Slot()
    def tag_all(self) -> None:
        """Let the default model tag the items nobody has tagged."""
        person = self._session.person_id
        started = self._start(say("Tagging skills"), background.tag_skills, person)
        if started is not None:
            started.success(self._on_tagged)

    @Slot()
    def suggest(self) -> None:
        """Let the default model suggest items."""
        person = self._session.person_id
        started = self._start(say("Suggesting items"), background.suggest, person, noun="answers")
        if started is not None:
            self.suggesting.emit(False)
            started.success(self._on_suggested).end(lambda: self.suggesting.emit(True))

    def _start(
        self, label: str, work: Callable[..., T], *more: str, noun: str = "items"
    ) -> Pending[T] | None:
        """Begin a job on the rubric shown; where there is none that is said."""
        studio = self._studio()
        if studio is None:
            self.said.emit(no_rubric())
            return None
        session = self._session
        return run_job(
            self._owner, label, work, session.workspace, session.models, studio.rubric.id, *more,
            noun=noun,
        )  # fmt: skip

    def _on_overlaps(self, found: dict[str, tuple[Finding, ...]]) -> None:
        count = len(found)
        self.said.emit(
            say("{words} like another", words=count_of(count, "item is", "items are"))
            if count
            else say("No items overlap.")
        )
        self.overlapping.emit(found)

    def _on_tagged(self, failed: int) -> None:
        words = say("The items are tagged; results by skill are under Checklists, Numbers.")
        if failed:
            words = say("{words} could not be tagged.", words=count_of(failed, "item", "items"))
        self.said.emit(words)

    def _on_suggested(self, kept: Sequence[object]) -> None:
        self.said.emit(count_of(len(kept), "suggestion waits", "suggestions wait"))


def no_rubric() -> str:
    """What is said where something is asked of a rubric and there is none."""
    return say("There is no rubric yet. Make one with 'New rubric' first.")
