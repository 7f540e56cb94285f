"""The work at hand: the open workspace, who works in it, the local models and the settings.

One a window. Pages get it in their constructor and ask nothing of globals.
"""

from __future__ import annotations

import getpass
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import msgspec
from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.bus import Bus
from app.jobs import Jobs
from app.shortcuts import Shortcuts
from core.errors import BugError, OutputError
from core.settings import Settings, load_settings, save_settings
from core.types import Person

if TYPE_CHECKING:
    from core.storage.workspace import Workspace
    from models.local import LocalModels

_RECENT = 8
_SAVE_MILLISECONDS = 400


@dataclass(frozen=True, slots=True)
class OpenPackage:
    """Whom an open package is for, when it was made (UTC, ISO 8601), and whether it holds only what they
    are to review."""

    person: str
    made: str
    only_reviews: bool


class Models(Protocol):
    """What the session asks of the local models: to be ended with it."""

    def close(self) -> None: ...


def make_local_models() -> LocalModels:
    """The models of this machine; nothing is loaded yet."""
    from app.services import local_models

    return local_models()


class Session(QObject):
    """Workspace, person, models, settings, background work and the bus of changes."""

    #: A workspace was opened, closed or locked.
    workspace_changed = Signal()
    person_changed = Signal()
    #: What is open was found to be a package, or to be none.
    package_found = Signal()
    settings_changed = Signal()

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        make_models: Callable[[], Any] = make_local_models,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.settings = settings or load_settings()
        self.jobs = Jobs(self)
        self.bus = Bus(self.jobs.dispatcher, self)
        self.shortcuts = Shortcuts(self.settings.shortcuts, self)
        self.shortcuts.changed.connect(self._keep_shortcuts)
        self._make_models = make_models
        self._models: Any = None
        self._workspace: Workspace | None = None
        self._person = Person(id="", name="")
        #: What the open workspace says of itself where it is a package, as `note_package` found it.
        self.package: OpenPackage | None = None
        self._save_timer = QTimer(self)
        self._save_timer.setSingleShot(True)
        self._save_timer.setInterval(_SAVE_MILLISECONDS)
        self._save_timer.timeout.connect(self._save_settings)

    # -- the workspace -------------------------------------------------------------------

    @property
    def has_workspace(self) -> bool:
        return self._workspace is not None

    @property
    def workspace(self) -> Workspace:
        """The open workspace.

        Raises
        ------
        BugError
            When none is open: no page should be showing then.
        """
        if self._workspace is None:
            raise BugError("No workspace is open.")
        return self._workspace

    def adopt(self, workspace: Workspace, person: Person) -> None:
        """Work in a workspace that was just opened (see `prepare_workspace`)."""
        if self._workspace is not None:
            raise BugError("Another workspace is open.")
        self._workspace = workspace
        self._person = person
        self.bus.listen_to(workspace)
        self.remember_recent(workspace.path)
        self.workspace_changed.emit()
        self.person_changed.emit()

    def release(self) -> Workspace | None:
        """Stop working in the workspace, which the caller closes."""
        workspace, self._workspace = self._workspace, None
        self._person = Person(id="", name="")
        self.package = None
        if workspace is not None:
            self.workspace_changed.emit()
        return workspace

    def note_package(self, package: OpenPackage | None) -> None:
        """What is open is a package, or is none."""
        self.package = package
        self.package_found.emit()

    # -- the person ----------------------------------------------------------------------

    @property
    def person(self) -> Person:
        """Who is working."""
        return self._person

    @property
    def person_id(self) -> str:
        return self._person.id

    def set_person(self, person: Person) -> None:
        """Somebody else takes over, or the name changed."""
        self._person = person
        self.update_settings(person=person.name)
        self.person_changed.emit()

    # -- models --------------------------------------------------------------------------

    @property
    def models(self) -> Any:
        """The local models (`models.local.LocalModels`), made when first asked for."""
        if self._models is None:
            self._models = self._make_models()
        return self._models

    # -- settings ------------------------------------------------------------------------

    def update_settings(self, **fields: Any) -> None:
        """Change some settings; they are written shortly after."""
        changed = msgspec.structs.replace(self.settings, **fields)
        if changed == self.settings:
            return
        self.settings = changed
        self._save_timer.start()
        self.settings_changed.emit()

    def remember_recent(self, path: Path) -> None:
        """Put a workspace first among the recent ones."""
        text = str(path.absolute())
        others = tuple(entry for entry in self.settings.recent if entry != text)
        self.update_settings(recent=(text, *others)[:_RECENT])

    def forget_recent(self, path: str) -> None:
        """Leave a workspace out of the recent ones."""
        self.update_settings(recent=tuple(entry for entry in self.settings.recent if entry != path))

    def remember_key_file(self, path: Path, key_file: Path | None) -> None:
        """Keep where a workspace's key file lies, so that it is not asked for each time."""
        kept = {k: v for k, v in self.settings.key_files.items() if k != str(path.absolute())}
        if key_file is not None:
            kept[str(path.absolute())] = str(key_file.absolute())
        self.update_settings(key_files=kept)

    def key_file_of(self, path: Path) -> Path | None:
        """Where a workspace's key file lay last."""
        kept = self.settings.key_files.get(str(path.absolute()))
        return Path(kept) if kept else None

    # -- end -----------------------------------------------------------------------------

    def close(self) -> None:
        """Stop all background work, close the workspace and end every model's process."""
        self._save_timer.stop()
        self._save_settings()
        self.jobs.close()
        workspace = self.release()
        if workspace is not None:
            workspace.close()
        if self._models is not None:
            self._models.close()
            self._models = None

    @Slot()
    def _keep_shortcuts(self) -> None:
        self.update_settings(shortcuts=self.shortcuts.own)

    @Slot()
    def _save_settings(self) -> None:
        try:
            save_settings(self.settings)
        except OutputError as error:
            self.jobs.failed.emit(error, None)


def suggested_name(settings: Settings) -> str:
    """The name the person used last, or this machine's name for them."""
    if settings.person:
        return settings.person
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return ""


def prepare_workspace(workspace: Workspace, name: str, *, recover: bool = True) -> Person:
    """Settle what a crash left behind and find the person at work, adding them if they are new.

    For a worker thread. In a workspace open for reading only, a stranger goes without an id. In a package
    a stranger is whom it is for: what waits there waits for nobody else.
    """
    from core.exchange.packages import package_info
    from core.jobs import recover_jobs
    from core.people import add_person

    name = name.strip() or "Me"
    people = workspace.find(Person)
    found = next((p for p in people if p.name.casefold() == name.casefold()), None)
    if found is None and (package := package_info(workspace)) is not None:
        found = next((p for p in people if p.id == package.person), None)
    if workspace.read_only:
        return found or Person(id="", name=name, role="reviewer")
    if found is None:
        found = workspace.transact_job("Add person", "", add_person, name).value
    if recover:
        interrupted = workspace.transact_job("Recover jobs", found.id, recover_jobs).value
        if interrupted:
            # The label would name a model, which a blind rater must not see.
            workspace.notes.append(
                "A run was interrupted in the middle. What it had finished is kept; go on with it in Runs."
                if len(interrupted) == 1
                else f"{len(interrupted)} runs were interrupted in the middle. What they had finished "
                "is kept; go on with them in Runs."
            )
    return found
