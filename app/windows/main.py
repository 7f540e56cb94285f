"""The main window: welcome, work or locked; keeps its place, its size and its word."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import wait
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QTimer, Slot
from PySide6.QtGui import QClipboard, QCloseEvent, QGuiApplication
from PySide6.QtWidgets import QApplication, QDialog, QMainWindow, QStackedWidget

from app import errors, theme
from app.session import Session, prepare_workspace
from app.strings import say
from app.widgets.dialogs import ask, tell
from app.widgets.notice import Toast
from app.windows.commands import WindowCommands
from app.windows.idle import IdleWatch
from app.windows.lock import LockScreen
from app.windows.packages.watch import PackageWatch
from app.windows.places import keep_geometry, keep_place, kept_place, restore_geometry
from app.windows.safety.checks import check_passphrase
from app.windows.safety.keeper import BackupKeeper
from app.windows.undoing import Undoing
from app.windows.welcome import Welcome
from app.windows.work import WorkSurface
from core.errors import ConflictError
from core.types import Person

if TYPE_CHECKING:
    from core.storage.workspace import Workspace

_SETTLE_SECONDS = 10.0


class MainWindow(QMainWindow):
    """One window, one session."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self._held: Workspace | None = None
        self._locked_path: Path | None = None
        self._locked_name = ""
        self._closing = False
        self._replacing = False
        self._kept_open = False
        self._leave_unsaved = False
        self.setWindowTitle("Rifugio")
        self.setMinimumSize(900, 600)
        self.welcome = Welcome(session)
        self.work = WorkSurface(session)
        self.lock_screen = LockScreen(session)
        self.stack = QStackedWidget()
        for part in (self.welcome, self.work, self.lock_screen):
            self.stack.addWidget(part)
        self.setCentralWidget(self.stack)
        self.toast = Toast(self)
        self.idle = IdleWatch(session.settings.idle_lock_minutes, self)
        self.idle.idled.connect(self.lock)
        self.keeper = BackupKeeper(session, self)
        self.keeper.said.connect(self.toast.say)
        self.packages = PackageWatch(session, self)
        self.undoing = Undoing(session, self.work, self.toast, self.settle)
        self.commands = WindowCommands(self)
        self.welcome.opened.connect(self._adopt)
        self.lock_screen.unlock_asked.connect(self.unlock)
        self.lock_screen.close_asked.connect(self.close_workspace)
        self.work.top.lock_asked.connect(self.lock)
        self.work.top.palette_asked.connect(self.commands.show_palette)
        self.work.top.help_asked.connect(self.commands.show_help)
        self.work.top.person_asked.connect(self.commands.choose_person)
        self.work.bottom.undo_asked.connect(self.undoing.undo)
        self.work.said.connect(self.toast.say)
        session.jobs.failed.connect(self._show_failure)
        session.jobs.changed.connect(self._close_held)
        session.settings_changed.connect(self._follow_settings)
        restore_geometry(self, session)

    # -- opening, closing, locking -------------------------------------------------------

    def open_path(self, path: Path) -> None:
        """Open a workspace, asking for its passphrase where it has one."""
        self.welcome.offer(path)

    @Slot()
    def lock(self) -> None:
        """Save, close what is open, and hide everything behind the passphrase.

        In the order of KeePassXC: wait for the save, close dialogs, clear the clipboard, remember the
        place, let go of texts and keys. What could not be saved stays in memory behind the lock.
        """
        if not self.session.has_workspace:
            return
        saved = self.settle()
        self._close_dialogs()
        self._clear_clipboard()
        self._keep_place()
        workspace = self.session.workspace
        self._locked_path = workspace.path
        self._locked_name = self.session.person.name
        busy = bool(self.session.jobs.long_jobs)
        encrypted = workspace.encrypted
        if saved:
            self._take_down()
            if busy:
                self._held = workspace
            else:
                workspace.close()
        self._kept_open = not saved
        self.lock_screen.show_for(
            self._locked_path,
            encrypted=encrypted,
            busy=busy and saved,
            unsaved=not saved,
            key_file=self.session.key_file_of(self._locked_path),
        )
        self.stack.setCurrentWidget(self.lock_screen)
        self.lock_screen.take_focus()

    def _clear_clipboard(self) -> None:
        clipboard = QGuiApplication.clipboard()
        if clipboard.ownsClipboard():
            clipboard.clear()
        if clipboard.supportsSelection() and clipboard.ownsSelection():
            clipboard.clear(QClipboard.Mode.Selection)

    @Slot(str)
    def unlock(self, passphrase: str) -> None:
        """Open the locked workspace again at the same place."""
        path, held = self._locked_path, self._held
        if path is None:
            return
        key_file = self.lock_screen.key_file.path
        if self._kept_open:
            self.session.jobs.run(
                self, check_passphrase, self.session.workspace, passphrase, key_file
            ).success(self._show_kept).failure(self.lock_screen.refuse)
            return
        name = self._locked_name
        from core.storage.workspace import Workspace

        def open_again() -> tuple[Workspace, Person]:
            workspace = held
            if workspace is not None:
                check_passphrase(workspace, passphrase, key_file)
            else:
                workspace = Workspace.open(path, passphrase or None, key_file=key_file)
            try:
                return workspace, prepare_workspace(workspace, name, recover=held is None)
            except BaseException:
                if held is None:
                    workspace.close()
                raise

        def take(opened: tuple[Workspace, Person]) -> None:
            self._held = None
            self._adopt(*opened)

        self.session.jobs.run(self, open_again).success(take).failure(self.lock_screen.refuse)

    def _show_kept(self, _checked: None) -> None:
        """Go on with what could not be saved when the window was locked."""
        self._kept_open = False
        self._locked_path = None
        self.stack.setCurrentWidget(self.work)

    def replace_workspace(
        self,
        change: Callable[[Workspace], Workspace],
        done: Callable[[BaseException | None], object],
    ) -> None:
        """Let something take the open workspace and give back another, shown at the same place.

        Parameters
        ----------
        change
            Run on a worker thread; closes what it is given. When it fails the file is opened again.
        done
            Called afterwards, with the error where there was one.

        Raises
        ------
        ConflictError
            When a job is running, or what was typed could not be saved.
        """
        if self.session.jobs.long_jobs:
            raise ConflictError(
                say("A job is still running."),
                remedy=say("Wait for it, or stop it, and try again."),
            )
        if not self.settle():
            raise ConflictError(
                say("Something could not be saved."), remedy=say("See to that first.")
            )
        self._keep_place()
        name = self.session.person.name
        workspace = self._take_down()
        if workspace is None:
            return
        key = workspace.key.copy() if workspace.key is not None else None
        self._replacing = True

        def work() -> tuple[Workspace, Person, BaseException | None]:
            from core.storage.workspace import Workspace

            failure: BaseException | None = None
            try:
                changed = change(workspace)
            except Exception as error:
                failure = error
                workspace.close()
                changed = Workspace.open_with_key(workspace.path, key)
            return changed, prepare_workspace(changed, name), failure

        def take(found: tuple[Workspace, Person, BaseException | None]) -> None:
            self._adopt(found[0], found[1], focus=False)
            done(found[2])

        def fail(error: BaseException) -> None:
            self.welcome.refresh()
            self.stack.setCurrentWidget(self.welcome)
            done(error)

        def end() -> None:
            self._replacing = False

        self.session.jobs.run(self, work).success(take).failure(fail).end(end)

    @Slot()
    def close_workspace(self) -> None:
        """Go back to the welcome screen."""
        if self.session.has_workspace:
            if not self.settle() and not self._kept_open:
                return
            self._kept_open = False
            self._close_dialogs()
            self._keep_place()
            self.session.jobs.cancel_all()
            workspace = self._take_down()
        else:
            workspace = self._held
        if self.session.jobs.long_jobs:
            # Its jobs stop between two writes; the file is let go of when the last one has.
            self.session.jobs.cancel_all()
            self._held = workspace
        elif workspace is not None:
            workspace.close()
            self._held = None
        self._locked_path = None
        self.setWindowTitle("Rifugio")
        self.welcome.refresh()
        self.stack.setCurrentWidget(self.welcome)
        self.welcome.take_focus()

    def _adopt(self, workspace: Workspace, person: Person, focus: bool = True) -> None:
        self._locked_path = None
        self.session.adopt(workspace, person)
        self.setWindowTitle(f"{workspace.path.stem} - Rifugio")
        self.stack.setCurrentWidget(self.work)
        self.work.restore_places(kept_place(self.session))
        self.undoing.look()
        for note in workspace.notes:
            tell(self, say("While opening"), note)
        page = self.work.current_page
        if page is not None and focus:
            target = page.first_focus()
            (target or page).setFocus()

    def _take_down(self) -> Workspace | None:
        self.work.clear()
        self.work.bottom.show_undo(None)
        return self.session.release()

    @Slot()
    def _close_held(self) -> None:
        """Close a workspace that was kept open for jobs that have now ended."""
        if self._held is not None and not self.session.jobs.long_jobs:
            held, self._held = self._held, None
            held.close()
            self.lock_screen.set_busy(False)

    def settle(self) -> bool:
        """Wait until what was typed is on disk; False, and the error shown, where it could not be."""
        futures = self.work.settle()
        for dialog in self._dialogs():
            settle = getattr(dialog, "settle", None)
            if settle is not None:
                futures += settle()
        wait(futures, timeout=_SETTLE_SECONDS)
        saved = True
        for future in futures:
            if not future.done():
                saved = False
            elif (error := future.exception()) is not None:
                saved = False
                self._show_failure(error)
        return saved

    def _dialogs(self) -> list[QDialog]:
        return [
            widget
            for widget in QApplication.topLevelWidgets()
            if isinstance(widget, QDialog) and widget.isVisible()
        ]

    def _close_dialogs(self) -> None:
        for dialog in self._dialogs():
            dialog.reject()

    # -- inside --------------------------------------------------------------------------

    @Slot()
    def _follow_settings(self) -> None:
        settings = self.session.settings
        app = QApplication.instance()
        if isinstance(app, QApplication):
            theme.apply_theme(app, settings.theme, settings.text_scale)
        self.idle.set_minutes(settings.idle_lock_minutes)

    @Slot(object, object)
    def _show_failure(self, error: BaseException, owner: object = None) -> None:
        if not self._closing:
            errors.show_error(error, self)

    def _keep_place(self) -> None:
        if self.session.has_workspace:
            keep_place(self.session, self.work.places())

    def _ask_to_leave(self) -> None:
        """Something could not be saved: leaving loses it, and that is the person's to say."""

        def leave() -> None:
            self._leave_unsaved = True
            self.close()

        ask(
            self,
            say("Leave without saving?"),
            say("What you typed last could not be saved, and is lost when the window closes."),
            say("Leave and lose it"),
            leave,
            danger=True,
        )

    # -- Qt ------------------------------------------------------------------------------

    def closeEvent(self, event: QCloseEvent) -> None:
        if self._replacing:
            event.ignore()
            return
        if not self._closing:
            if not self.settle() and not self._leave_unsaved:
                event.ignore()
                self._ask_to_leave()
                return
            self._keep_place()
            keep_geometry(self, self.session)
            self._close_dialogs()
            self._closing = True
            self.hide()
            self.work.clear()
            held, self._held = self._held, None
            self.session.close()
            if held is not None:
                held.close()
        event.accept()
        super().closeEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.ThemeChange and self.session.settings.theme == "system":
            QTimer.singleShot(0, self._follow_settings)
