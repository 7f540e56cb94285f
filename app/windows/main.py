"""The main window: welcome, work or locked; keeps its place, its size and its word."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from concurrent.futures import wait
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QByteArray, QEvent, QTimer, Slot
from PySide6.QtGui import QClipboard, QCloseEvent, QGuiApplication
from PySide6.QtWidgets import QApplication, QDialog, QMainWindow, QStackedWidget

from app import errors, theme
from app.pages import PAGES
from app.pages.base import Command
from app.session import Session, prepare_workspace
from app.strings import say
from app.widgets.dialogs import ask, tell
from app.widgets.notice import Toast
from app.windows.idle import IdleWatch
from app.windows.lock import LockScreen
from app.windows.safety.checks import check_passphrase
from app.windows.safety.history import row_in_view
from app.windows.safety.keeper import BackupKeeper
from app.windows.welcome import Welcome
from app.windows.work import WorkSurface
from core.changes import Changes, Outcome
from core.errors import ConflictError, NotFoundError
from core.types import Person

if TYPE_CHECKING:
    from core.storage.undo import UndoEntry
    from core.storage.workspace import Workspace

_SETTLE_SECONDS = 10.0
_PLACES_KEPT = 8


class MainWindow(QMainWindow):
    """One window, one session."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self._held: Workspace | None = None
        self._locked_path: Path | None = None
        self._closing = False
        self._replacing = False
        self._kept_open = False
        self._leave_unsaved = False
        self._undo_generation = 0
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
        self.welcome.opened.connect(self._adopt)
        self.lock_screen.unlock_asked.connect(self.unlock)
        self.lock_screen.close_asked.connect(self.close_workspace)
        self.work.top.lock_asked.connect(self.lock)
        self.work.top.palette_asked.connect(self.show_palette)
        self.work.top.help_asked.connect(self.show_help)
        self.work.top.person_asked.connect(self.choose_person)
        self.work.bottom.undo_asked.connect(self.undo)
        self.work.said.connect(self.toast.say)
        session.jobs.failed.connect(self._show_failure)
        session.jobs.changed.connect(self._close_held)
        session.bus.changed.connect(self._look_for_undo)
        session.settings_changed.connect(self._follow_settings)
        self._bind_keys()
        self._restore_geometry()

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
        saved = self._settle()
        self._close_dialogs()
        self._clear_clipboard()
        self._keep_place()
        workspace = self.session.workspace
        self._locked_path = workspace.path
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
        name = self.session.settings.person
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
        if not self._settle():
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
            if not self._settle() and not self._kept_open:
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
        self.session.update_settings(person=person.name)
        self.setWindowTitle(f"{workspace.path.stem} - Rifugio")
        self.stack.setCurrentWidget(self.work)
        self.work.restore_places(self._kept_place(workspace))
        self._look_for_undo()
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

    def _settle(self) -> bool:
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

    # -- undo ----------------------------------------------------------------------------

    @Slot()
    def undo(self) -> None:
        """Take back the person's last deed."""
        from core.storage.undo import undo

        self._step(undo, "Undid: {label}")

    @Slot()
    def redo(self) -> None:
        """Bring it back."""
        from core.storage.undo import redo

        self._step(redo, "Did again: {label}")

    def _step(self, step: Callable[[Workspace, str], Outcome[UndoEntry]], words: str) -> None:
        if not self.session.has_workspace or self.session.workspace.read_only:
            return
        self._settle()

        def told(outcome: Outcome[UndoEntry]) -> None:
            self.toast.say(say(words, label=outcome.value.label))

        self.session.jobs.run(self, step, self.session.workspace, self.session.person_id).success(
            told
        ).failure(self._say_no_undo)

    def _say_no_undo(self, error: BaseException) -> None:
        if isinstance(error, NotFoundError):
            self.toast.say(error.message)
        else:
            self._show_failure(error, self)

    @Slot(object)
    def _look_for_undo(self, changes: Changes | None = None) -> None:
        if not self.session.has_workspace or not self.session.person_id:
            return
        from core.storage.undo import undoable

        self._undo_generation += 1
        generation = self._undo_generation

        def take(entry: UndoEntry | None) -> None:
            if generation == self._undo_generation and self.session.has_workspace:
                self.work.bottom.show_undo(entry)

        self.session.jobs.run(
            self.work, undoable, self.session.workspace, self.session.person_id
        ).success(take)

    # -- palette, help, person -----------------------------------------------------------

    def commands(self) -> list[Command]:
        """Everything that can be run from here, for the palette."""
        keys = self.session.shortcuts
        found = [
            Command(
                say("Go to {page}", page=entry.title),
                partial(self.work.choose, entry.name),
                keys.hint(f"page-{entry.name}"),
                say("Pages"),
            )
            for entry in PAGES
        ]
        page = self.work.current_page
        if page is not None:
            found = [*page.commands(), *found]
        own = say("Rifugio")
        if row_in_view(page) is not None:
            found.insert(0, Command(say("History of what is shown …"), self.show_history, "", own))
        found += [
            Command(say("Undo"), self.undo, keys.hint("undo"), own),
            Command(say("Redo"), self.redo, keys.hint("redo"), own),
            Command(say("Lock the workspace"), self.lock, keys.hint("lock"), own),
            Command(
                say("Close the workspace"), self.close_workspace, keys.hint("close-workspace"), own
            ),
            Command(say("Change who is working"), self.choose_person, "", own),
            Command(say("Backups of this workspace …"), self.show_backups, "", own),
            Command(say("Change the passphrase …"), self.change_passphrase, "", own),
            Command(say("Bring back something deleted …"), self.show_deleted, "", own),
            Command(say("Export the history …"), self.export_history, "", own),
            Command(say("Help for this page"), self.show_help, keys.hint("help"), own),
            Command(say("Keyboard shortcuts"), self.show_shortcuts, "", own),
            Command(say("Larger text"), self.larger_text, keys.hint("larger-text"), own),
            Command(say("Smaller text"), self.smaller_text, keys.hint("smaller-text"), own),
            Command(say("Light theme"), lambda: self._set_theme("light"), "", own),
            Command(say("Dark theme"), lambda: self._set_theme("dark"), "", own),
            Command(say("High contrast theme"), lambda: self._set_theme("high-contrast"), "", own),
            Command(say("Follow the desktop's theme"), lambda: self._set_theme("system"), "", own),
            Command(say("Quit"), self.close, keys.hint("quit"), own),
        ]
        return found

    @Slot()
    def show_palette(self) -> None:
        """Open the command palette."""
        from app.windows.palette import Palette

        if self.session.has_workspace:
            Palette(self.commands(), self).open()

    @Slot()
    def show_backups(self) -> None:
        """Open the list of backups."""
        from app.windows.safety.restore import RestoreDialog

        if self.session.has_workspace:
            dialog = RestoreDialog(self.session.workspace.path, self)
            dialog.restored.connect(self.toast.say)
            dialog.open()

    @Slot()
    def change_passphrase(self) -> None:
        """Ask for a new passphrase."""
        from app.windows.safety.change_passphrase import ChangePassphraseDialog

        if self.session.has_workspace and not self.session.workspace.read_only:
            ChangePassphraseDialog(self).open()

    @Slot()
    def show_history(self) -> None:
        """Open the history of the row the page shows."""
        from app.windows.safety.history import HistoryDialog

        found = row_in_view(self.work.current_page) if self.session.has_workspace else None
        if found is not None:
            self._settle()
            HistoryDialog(*found, self).open()

    @Slot()
    def show_deleted(self) -> None:
        """List what was deleted."""
        from app.windows.safety.history import DeletedDialog

        if self.session.has_workspace:
            DeletedDialog(self).open()

    @Slot()
    def export_history(self) -> None:
        """Write every change to a file, after saying that it is not encrypted."""
        from app.windows.safety.export import export_history

        if self.session.has_workspace:
            export_history(self)

    @Slot()
    def show_help(self) -> None:
        """Open the help of the page that is shown."""
        from app.windows.help import HelpWindow

        page = self.work.current_page if self.session.has_workspace else None
        HelpWindow(self, page.help_topic() if page is not None else "start").open()

    @Slot()
    def show_shortcuts(self) -> None:
        """Open the one place where keys are changed."""
        from app.windows.shortcut_editor import ShortcutEditor

        ShortcutEditor(self.session.shortcuts, self).open()

    @Slot()
    def choose_person(self) -> None:
        """Say who is working."""
        from app.windows.person import PersonDialog

        if self.session.has_workspace:
            # What was typed belongs to the person who typed it.
            self._settle()
            PersonDialog(self).open()

    @Slot()
    def larger_text(self) -> None:
        self._scale_text(1)

    @Slot()
    def smaller_text(self) -> None:
        self._scale_text(-1)

    def _scale_text(self, step: int) -> None:
        sizes = theme.TEXT_SCALES
        now = self.session.settings.text_scale
        place = min(range(len(sizes)), key=lambda i: abs(sizes[i] - now)) + step
        if 0 <= place < len(sizes):
            self.session.update_settings(text_scale=sizes[place])

    def _set_theme(self, name: theme.ThemeName) -> None:
        self.session.update_settings(theme=name)

    # -- inside --------------------------------------------------------------------------

    def _bind_keys(self) -> None:
        keys = self.session.shortcuts
        for action, slot in (
            ("palette", self.show_palette),
            ("help", self.show_help),
            ("lock", self.lock),
            ("close-workspace", self._close_by_key),
            ("quit", self.close),
            ("larger-text", self.larger_text),
            ("smaller-text", self.smaller_text),
        ):
            keys.bind(self, action, slot)
        keys.bind(self.work, "undo", self.undo)
        keys.bind(self.work, "redo", self.redo)
        keys.bind(self.work, "go-rail", self.work.rail.take_focus)
        for entry in PAGES:
            keys.bind(self.work, f"page-{entry.name}", _PageKey(self.work, entry.name).press)

    @Slot()
    def _close_by_key(self) -> None:
        if self.session.has_workspace:
            self.close_workspace()

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

    def _restore_geometry(self) -> None:
        kept = self.session.settings.window.get("geometry", "")
        if not kept or not self.restoreGeometry(QByteArray(base64.b64decode(kept))):
            screen = QGuiApplication.primaryScreen()
            room = screen.availableSize() if screen is not None else self.minimumSize()
            self.resize(
                min(1440, max(900, room.width() - 80)), min(900, max(600, room.height() - 80))
            )

    def _kept_place(self, workspace: Workspace) -> dict[str, Any]:
        try:
            kept = json.loads(self.session.settings.window.get(f"place:{workspace.origin}", "{}"))
        except ValueError:
            return {}
        return kept if isinstance(kept, dict) else {}

    def _keep_place(self) -> None:
        if not self.session.has_workspace:
            return
        name = f"place:{self.session.workspace.origin}"
        window = {key: value for key, value in self.session.settings.window.items() if key != name}
        places = [key for key in window if key.startswith("place:")]
        for old in places[: max(0, len(places) - _PLACES_KEPT + 1)]:
            del window[old]
        window[name] = json.dumps(self.work.places())
        self.session.update_settings(window=window)

    def _keep_geometry(self) -> None:
        data = bytes(self.saveGeometry().data())
        window = {**self.session.settings.window, "geometry": base64.b64encode(data).decode()}
        self.session.update_settings(window=window)

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
            if not self._settle() and not self._leave_unsaved:
                event.ignore()
                self._ask_to_leave()
                return
            self._keep_place()
            self._keep_geometry()
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


class _PageKey:
    """Goes to one page; an object because a key wants a bound method."""

    def __init__(self, work: WorkSurface, name: str) -> None:
        self._work = work
        self._name = name

    def press(self) -> None:
        self._work.choose(self._name)
