"""The backups of a workspace: what is in each, what restoring it would change, and restoring it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QHeaderView, QTreeWidget, QTreeWidgetItem, QWidget

from app import theme
from app.strings import count_of, format_bytes, format_moment, format_number, say
from app.widgets.basics import Card, label, row
from app.widgets.buttons import Button
from app.widgets.dialogs import Dialog, ask
from app.widgets.inputs import PassphraseField
from app.widgets.notice import Notice
from app.widgets.secrets import KeyFileField
from app.windows.safety.entries import EntryList
from core.errors import RifugioError

if TYPE_CHECKING:
    from core.storage.backups import Backup
    from core.storage.cipher import Key
    from core.storage.restore import Preview
    from core.storage.workspace import Workspace

#: What becomes of one row, and of several.
_FATE_WORDS = {
    "goes": ("goes: not in the backup", "go: not in the backup"),
    "comes back": ("comes back", "come back"),
    "changes back": ("changes back", "change back"),
}


class RestoreDialog(Dialog):
    """Lists backups, previews one and restores it, with the workspace open or without."""

    #: Done, with what to say about it; the workspace is closed then, or open anew in its window.
    restored = Signal(str)

    def __init__(self, path: Path, parent: QWidget) -> None:
        super().__init__(say("Backups of {name}", name=path.stem), parent, width=820)
        self.path = path
        self._backups: list[Backup] = []
        self._key: Key | None = None
        self._generation = 0
        self._busy = False
        self.body.addWidget(
            label(
                say(
                    "Made on opening, every hour while you work, and before updates, merges, restores "
                    "and changes of passphrase. They lie beside the workspace, encrypted like it."
                ),
                "muted",
                wrap=True,
            )
        )
        self.list = EntryList(say("Backups"))
        self.list.setMinimumHeight(theme.current().px(300))
        self.list.setMinimumWidth(theme.current().px(300))
        self.list.currentRowChanged.connect(self._on_chosen)
        left = Card(say("Backups"))
        left.add(self.list, 1)
        self.now_button = Button(say("Back up now"), icon="plus")
        self.now_button.clicked.connect(self.back_up_now)
        self.now_button.setVisible(self._is_open)
        left.add(row(self.now_button, None))
        right = Card(say("What restoring it would change"))
        self.words = label("", wrap=True)
        right.add(self.words)
        self.passphrase = PassphraseField(say("Passphrase the backup was made under"))
        self.passphrase.setPlaceholderText(say("Passphrase"))
        self.passphrase.returnPressed.connect(self.look)
        self.key_file = KeyFileField()
        self.key_file.field.setPlaceholderText(say("Key file, if it had one"))
        self.look_button = Button(say("Look into it"), "primary")
        self.look_button.clicked.connect(self.look)
        self._asking = QWidget()
        asking = Card()
        asking.box.setContentsMargins(0, 0, 0, 0)
        for part in (self.passphrase, self.key_file):
            asking.add(part)
        asking.add(row(self.look_button, None))
        asking.setProperty("role", "")
        self._asking = asking
        right.add(asking)
        self.tree = QTreeWidget()
        self.tree.setAccessibleName(say("What would change"))
        self.tree.setHeaderHidden(True)
        self.tree.setColumnCount(2)
        header = self.tree.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        right.add(self.tree, 1)
        columns = row(spacing=theme.M)
        columns.addWidget(left, 5)
        columns.addWidget(right, 6)
        self.body.addLayout(columns, 1)
        self.notice = Notice("", "danger")
        self.notice.hide()
        self.body.addWidget(self.notice)
        self.add_cancel(say("Close"))
        self.restore_button = self.add_button(say("Restore this backup …"), self._ask_restore)
        self.restore_button.setEnabled(False)
        self._show_asking(False)
        self._fill()

    @property
    def _is_open(self) -> bool:
        return self.session.has_workspace and self.session.workspace.path == self.path

    @property
    def current(self) -> Backup | None:
        """The backup chosen."""
        place = self.list.currentRow()
        return self._backups[place] if 0 <= place < len(self._backups) else None

    @Slot()
    def back_up_now(self) -> None:
        """Make a backup by hand."""
        from core.storage.backups import back_up

        self.now_button.setEnabled(False)
        self.notice.hide()
        self.session.jobs.run(self, back_up, self.session.workspace).success(
            self._on_backed_up
        ).failure(self._fail).end(self._enable_now)

    @Slot()
    def look(self) -> None:
        """Preview the chosen backup under the passphrase typed."""
        backup = self.current
        if backup is None or not self.passphrase.text():
            return
        passphrase, key_file = self.passphrase.text(), self.key_file.path

        def derive() -> Key:
            from core.storage.cipher import derive_key, read_salt

            return derive_key(passphrase, read_salt(backup.path), key_file=key_file)

        def take(key: Key) -> None:
            if self.current == backup:
                self._preview(backup, key)

        self.session.jobs.run(self, derive).success(take).failure(self._fail)

    # -- inside --------------------------------------------------------------------------

    def _fill(self) -> None:
        def read() -> list[Backup]:
            from core.storage.backups import list_backups

            return list_backups(self.path)

        self.session.jobs.run(self, read).success(self._take_list)

    def _take_list(self, backups: list[Backup]) -> None:
        from core.storage.backups import REASON_WORDS

        self._backups = backups
        self.list.clear()
        for backup in backups:
            text = say(
                "{time}, {reason}\n{changes}, {size}",
                time=format_moment(backup.made),
                reason=say(REASON_WORDS[backup.reason]),
                changes=count_of(backup.changes, "change", "changes"),
                size=format_bytes(backup.size),
            )
            self.list.add(text)
        if backups:
            self.list.setCurrentRow(0)
            self.list.setFocus()
        else:
            self.words.setText(say("There are no backups yet."))

    def _on_chosen(self, _place: int) -> None:
        self.tree.clear()
        self.restore_button.setEnabled(False)
        self.notice.hide()
        self._key = None
        self._generation += 1
        backup = self.current
        if backup is None:
            return
        self.words.setText(say("Reading …"))
        own = self.session.workspace.key if self._is_open else None
        own = own.copy() if own is not None else None

        def find() -> tuple[bool, Key | None]:
            from core.storage.cipher import inspect_file
            from core.storage.rekey import opens

            if inspect_file(backup.path) == "plain":
                return True, None
            return opens(backup.path, own), own

        def take(found: tuple[bool, Key | None]) -> None:
            if self.current != backup:
                return
            if found[0]:
                self._preview(backup, found[1])
            else:
                self._show_asking(True)

        self.session.jobs.run(self, find).success(take).failure(self._fail)

    def _show_asking(self, shown: bool) -> None:
        self._asking.setVisible(shown)
        self.tree.setVisible(not shown)
        if shown:
            self.words.setText(
                say("It was made under another passphrase than the open one: type that one.")
                if self._is_open
                else say("Type the passphrase it was made under.")
            )
            if not self.key_file.path:
                self.key_file.set_path(self.session.key_file_of(self.path))

    def _preview(self, backup: Backup, key: Key | None) -> None:
        workspace = self.session.workspace if self._is_open else None
        path = self.path
        self._generation += 1
        generation = self._generation
        self.words.setText(say("Reading it through …"))

        def compare() -> Preview:
            from core.storage.restore import preview_restore
            from core.storage.workspace import Workspace

            if workspace is not None:
                return preview_restore(workspace, backup.path, key)
            try:
                own = key.copy() if key is not None else None
                closed: Workspace | None = Workspace.open_with_key(path, own, read_only=True)
            except RifugioError:
                closed = None
            try:
                return preview_restore(closed, backup.path, key)
            finally:
                if closed is not None:
                    closed.close()

        def take(preview: Preview) -> None:
            if generation == self._generation:
                self._key = key
                self._show_asking(False)
                self._show(preview)

        self.session.jobs.run(self, compare).success(take).failure(self._fail)

    def _show(self, preview: Preview) -> None:
        self.tree.clear()
        from core.storage.titles import kind_words

        self.restore_button.setEnabled(True)
        if not preview.compared:
            self.words.setText(
                say(
                    "The workspace itself cannot be read, so there is nothing to compare. It holds:"
                )
            )
            for kind, count in preview.held.items():
                self.tree.addTopLevelItem(
                    QTreeWidgetItem([kind_words(kind, 2).capitalize(), format_number(count)])
                )
        elif not preview.counts:
            self.words.setText(say("Nothing: it holds what the workspace holds now."))
            self.restore_button.setEnabled(False)
        else:
            total = sum(sum(fates.values()) for fates in preview.counts.values())
            self.words.setText(
                say("{rows} would change.", rows=count_of(total, "entry", "entries"))
            )
            for kind, fates in preview.counts.items():
                parts = [f"{format_number(n)} {_fate(f, n)}" for f, n in fates.items()]
                top = QTreeWidgetItem([kind_words(kind, 2).capitalize(), ", ".join(parts)])
                rows = [found for found in preview.rows if found.kind == kind]
                named = [found for found in rows if found.name]
                for found in named:
                    top.addChild(QTreeWidgetItem([found.name, _fate(found.fate)]))
                if named and len(named) < sum(fates.values()):
                    top.addChild(QTreeWidgetItem([say("and others"), ""]))
                self.tree.addTopLevelItem(top)
                top.setExpanded(len(preview.counts) <= 3)
        for item in _items(self.tree):
            item.setToolTip(0, item.text(0))
            item.setToolTip(1, item.text(1))

    @Slot()
    def _ask_restore(self) -> None:
        backup = self.current
        if backup is None:
            return
        ask(
            self,
            say("Restore the backup of {time}?", time=format_moment(backup.made)),
            say(
                "The workspace becomes what it was then. What it is now is kept as a backup of its own, "
                "so this can be taken back the same way. Undo does not reach across a restore."
            ),
            say("Restore"),
            self.restore,
        )

    @Slot()
    def restore(self) -> None:
        """Restore the chosen backup."""
        from core.storage.restore import restore_backup

        backup, key, path = self.current, self._key, self.path
        if backup is None or self._busy:
            return
        self._set_busy(True)
        done = say("Restored the backup of {time}.", time=format_moment(backup.made))
        if not self._is_open:
            self.session.jobs.run(self, restore_backup, backup.path, path, key).success(
                lambda _kept: self._finish(done)
            ).failure(self._fail)
            return

        def change(workspace: Workspace) -> Workspace:
            from core.storage.workspace import Workspace as Opener

            workspace.close()
            restore_backup(backup.path, path, key)
            return Opener.open_with_key(path, key.copy() if key is not None else None)

        def take(error: BaseException | None) -> None:
            if error is None:
                self._finish(done)
            else:
                self._fail(error)

        try:
            self._main_window().replace_workspace(change, take)
        except RifugioError as error:
            self._fail(error)

    def _main_window(self) -> Any:
        """The window that shows the workspace: the dialog's parent."""
        return self.parentWidget()

    def _finish(self, words: str) -> None:
        self._set_busy(False)
        self.restored.emit(words)
        self.accept()

    def _set_busy(self, busy: bool) -> None:
        self._busy = busy
        self.restore_button.setEnabled(not busy)
        self.restore_button.setText(say("Restoring …") if busy else say("Restore this backup …"))

    def _on_backed_up(self, _backup: Backup) -> None:
        self._fill()

    def _enable_now(self) -> None:
        self.now_button.setEnabled(True)

    def _fail(self, error: BaseException) -> None:
        self._set_busy(False)
        self.restore_button.setEnabled(False)
        if not isinstance(error, RifugioError):
            self.session.jobs.failed.emit(error, self)
            return
        self.words.setText("")
        self.notice.set_text(f"{error.message} {error.remedy}".strip())
        self.notice.show()

    def reject(self) -> None:
        if not self._busy:
            super().reject()


def _fate(fate: str, count: int = 1) -> str:
    return say(_FATE_WORDS[fate][count != 1])


def _items(tree: QTreeWidget) -> list[QTreeWidgetItem]:
    found = tree.findItems("*", Qt.MatchFlag.MatchWildcard | Qt.MatchFlag.MatchRecursive)
    return list(found)
