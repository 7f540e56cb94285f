"""What the window offers besides its pages: by the palette, by keys and from its bars."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Slot

from app import theme
from app.pages import PAGES
from app.pages.base import Command
from app.strings import say
from app.windows.packages.watch import package_refusal
from app.windows.safety.history import row_in_view

if TYPE_CHECKING:
    from app.windows.main import MainWindow


class WindowCommands(QObject):
    """Opens the window's dialogs; each command does nothing where it makes no sense."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._session = window.session
        self._work = window.work
        self._bind_keys()

    def offered(self) -> list[Command]:
        """Everything that can be run from here, for the palette."""
        keys = self._session.shortcuts
        found = [
            Command(
                say("Go to {page}", page=entry.title),
                partial(self._work.choose, entry.name),
                keys.hint(f"page-{entry.name}"),
                say("Pages"),
            )
            for entry in PAGES
        ]
        page = self._work.current_page
        if page is not None:
            found = [*page.commands(), *found]
        own = say("Rifugio")
        refusal = package_refusal(self._session)
        if row_in_view(page) is not None:
            found.insert(0, Command(say("History of what is shown …"), self.show_history, "", own))
        found += [
            Command(say("Undo"), self._window.undoing.undo, keys.hint("undo"), own),
            Command(say("Redo"), self._window.undoing.redo, keys.hint("redo"), own),
            Command(say("Save now"), self.save, keys.hint("save"), own),
            Command(say("Lock the workspace"), self._window.lock, keys.hint("lock"), own),
            Command(
                say("Close the workspace"),
                self._window.close_workspace,
                keys.hint("close-workspace"),
                own,
            ),
            Command(say("Change who is working"), self.choose_person, "", own),
            Command(say("Backups of this workspace …"), self.show_backups, "", own),
            Command(say("Change the passphrase …"), self.change_passphrase, "", own),
            Command(say("Bring back something deleted …"), self.show_deleted, "", own),
            Command(say("Export the history …"), self.export_history, "", own),
            Command(say("Pack for a person …"), self.pack, "", own, refusal),
            Command(say("Merge a package …"), self.merge, "", own, refusal),
            Command(say("Help for this page"), self.show_help, keys.hint("help"), own),
            Command(say("Keyboard shortcuts"), self.show_shortcuts, "", own),
            Command(say("Larger text"), self.larger_text, keys.hint("larger-text"), own),
            Command(say("Smaller text"), self.smaller_text, keys.hint("smaller-text"), own),
            Command(say("Light theme"), lambda: self._set_theme("light"), "", own),
            Command(say("Dark theme"), lambda: self._set_theme("dark"), "", own),
            Command(say("High contrast theme"), lambda: self._set_theme("high-contrast"), "", own),
            Command(say("Follow the desktop's theme"), lambda: self._set_theme("system"), "", own),
            Command(say("Quit"), self._window.close, keys.hint("quit"), own),
        ]
        return found

    @Slot()
    def save(self) -> None:
        """Write at once what was typed; it is saved by itself at every pause, too."""
        if self._session.has_workspace and self._window.settle():
            self._window.toast.say(say("Everything is saved on disk."))

    @Slot()
    def search(self) -> None:
        """Put the keyboard into the page's search."""
        page = self._work.current_page if self._session.has_workspace else None
        field = page.search_field() if page is not None else None
        if field is not None:
            field.setFocus(Qt.FocusReason.ShortcutFocusReason)
            field.selectAll()

    @Slot()
    def show_palette(self) -> None:
        """Open the command palette."""
        from app.windows.palette import Palette

        if self._session.has_workspace:
            Palette(self.offered(), self._window).open()

    @Slot()
    def show_backups(self) -> None:
        """Open the list of backups."""
        from app.windows.safety.restore import RestoreDialog

        if self._session.has_workspace:
            dialog = RestoreDialog(self._session.workspace.path, self._window)
            dialog.restored.connect(self._window.toast.say)
            dialog.open()

    @Slot()
    def change_passphrase(self) -> None:
        """Ask for a new passphrase."""
        from app.windows.safety.change_passphrase import ChangePassphraseDialog

        if self._session.has_workspace and not self._session.workspace.read_only:
            ChangePassphraseDialog(self._window).open()

    @Slot()
    def show_history(self) -> None:
        """Open the history of the row the page shows."""
        from app.windows.safety.history import HistoryDialog

        found = row_in_view(self._work.current_page) if self._session.has_workspace else None
        if found is not None:
            self._window.settle()
            HistoryDialog(*found, self._window).open()

    @Slot()
    def show_deleted(self) -> None:
        """List what was deleted."""
        from app.windows.safety.history import DeletedDialog

        if self._session.has_workspace:
            DeletedDialog(self._window).open()

    @Slot()
    def export_history(self) -> None:
        """Write every change to a file, after saying that it is not encrypted."""
        from app.windows.safety.export import export_history

        if self._session.has_workspace:
            export_history(self._window)

    @Slot()
    def pack(self) -> None:
        """Pack what waits for somebody, or everything."""
        from app.windows.packages.pack import PackDialog

        if not package_refusal(self._session) and self._window.settle():
            PackDialog(self._window).open()

    @Slot()
    def merge(self) -> None:
        """Take over what was done in a package or in another copy."""
        from app.windows.packages.merge import MergeDialog

        if not package_refusal(self._session) and self._window.settle():
            MergeDialog(self._window).open()

    @Slot()
    def show_help(self) -> None:
        """Open the help of the page that is shown."""
        from app.windows.help import HelpWindow

        page = self._work.current_page if self._session.has_workspace else None
        HelpWindow(self._window, page.help_topic() if page is not None else "start").open()

    @Slot()
    def show_shortcuts(self) -> None:
        """Open the one place where keys are changed."""
        from app.windows.shortcut_editor import ShortcutEditor

        ShortcutEditor(self._session.shortcuts, self._window).open()

    @Slot()
    def choose_person(self) -> None:
        """Say who is working."""
        from app.windows.person import PersonDialog

        if self._session.has_workspace:
            # What was typed belongs to the person who typed it.
            self._window.settle()
            PersonDialog(self._window).open()

    @Slot()
    def larger_text(self) -> None:
        self._scale_text(1)

    @Slot()
    def smaller_text(self) -> None:
        self._scale_text(-1)

    def _scale_text(self, step: int) -> None:
        sizes = theme.TEXT_SCALES
        now = self._session.settings.text_scale
        place = min(range(len(sizes)), key=lambda i: abs(sizes[i] - now)) + step
        if 0 <= place < len(sizes):
            self._session.update_settings(text_scale=sizes[place])

    def _set_theme(self, name: theme.ThemeName) -> None:
        self._session.update_settings(theme=name)

    def _bind_keys(self) -> None:
        keys = self._session.shortcuts
        for action, slot in (
            ("palette", self.show_palette),
            ("save", self.save),
            ("find", self.search),
            ("help", self.show_help),
            ("lock", self._window.lock),
            ("close-workspace", self._close_by_key),
            ("quit", self._window.close),
            ("larger-text", self.larger_text),
            ("smaller-text", self.smaller_text),
        ):
            keys.bind(self._window, action, slot)
        keys.bind(self._work, "undo", self._window.undoing.undo)
        keys.bind(self._work, "redo", self._window.undoing.redo)
        keys.bind(self._work, "go-rail", self._work.rail.take_focus)
        for entry in PAGES:
            keys.bind(self._work, f"page-{entry.name}", partial(self._work.choose, entry.name))

    @Slot()
    def _close_by_key(self) -> None:
        if self._session.has_workspace:
            self._window.close_workspace()
