"""Whether what is open is a package, and what follows from that."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot

from app.session import OpenPackage, Session
from app.strings import format_time, say, shorten

_NAME = 60


class PackageWatch(QObject):
    """Looks at each workspace that is opened, and keeps the name of who works for the next one.

    In a package whoever is a stranger works as whom it is for. That name is not kept: it would be offered
    for the next workspace, in which it is somebody else's.
    """

    def __init__(self, session: Session, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session
        session.workspace_changed.connect(self._look)

    @Slot()
    def _look(self) -> None:
        if not self._session.has_workspace:
            return
        workspace, person = self._session.workspace, self._session.person

        def read() -> OpenPackage | None:
            from core.exchange.packages import package_info

            info = package_info(workspace)
            if info is None:
                return None
            name = workspace.value("SELECT name FROM person WHERE id = ?", (info.person,))
            return OpenPackage(str(name or ""), info.made, info.kind == "reviews")

        def take(package: OpenPackage | None) -> None:
            if not self._session.has_workspace or self._session.workspace is not workspace:
                return
            if package is None and person.name:
                self._session.update_settings(person=person.name)
            self._session.note_package(package)

        def fail(error: BaseException) -> None:
            # Closed or locked meanwhile, it is looked at when it is opened next.
            if self._session.has_workspace and self._session.workspace is workspace:
                self._session.jobs.failed.emit(error, self._session)

        self._session.jobs.run(self, read).success(take).failure(fail)


def package_words(package: OpenPackage) -> str:
    """One line on what is open and what to do with it."""
    return say(
        "Package for {name} from {time}: send this file back when you are done.",
        name=shorten(package.person, _NAME),
        time=format_time(package.made),
    )


def package_refusal(session: Session) -> str:
    """Why nothing can be packed or merged here; '' where it can."""
    if not session.has_workspace:
        return say("No workspace is open.")
    if session.package is not None:
        return say("This is a package: send it back instead.")
    if session.workspace.read_only:
        return say("Open for reading only.")
    return ""
