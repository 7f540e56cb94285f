"""Settings of the person at this machine; each counts at once and is kept."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QUrl, Slot
from PySide6.QtGui import QDesktopServices, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from app import theme
from app.errors import log_path
from app.operations import run_query, run_verb
from app.pages.base import Page as BasePage
from app.strings import count_of, format_bytes, format_moment, say
from app.widgets.basics import Card, Scroller, label
from app.widgets.buttons import Button
from app.widgets.editors import LineEditor
from app.widgets.inputs import ComboBox, CopyField, Form
from app.windows.packages.watch import package_refusal, package_words
from core.changes import Changes, Outcome
from core.people import rename_person
from core.settings import data_directory, models_directory
from core.types import Person

_THEMES = (
    ("system", "Like the desktop"),
    ("light", "Light"),
    ("dark", "Dark"),
    ("high-contrast", "High contrast"),
)
#: Narrower than this, in pixels at 100 % text, the cards stand one below the other.
_TWO_COLUMNS = 700
_IDLE = ((1, "1 minute"), (5, "5 minutes"), (10, "10 minutes"), (30, "30 minutes"), (0, "Never"))


class Page(BasePage):
    """Person, look, lock, keys, and where things lie."""

    name = "settings"
    title = "Settings"
    kinds = ("person",)
    needs_workspace = False

    def build(self) -> None:
        scroller = Scroller()
        self.body.addWidget(scroller)
        self._wide: bool | None = None
        self._grid = QGridLayout()
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(theme.L)
        self._cards = (
            self._make_person(),
            self._make_look(),
            self._make_lock(),
            self._make_keys(),
            self._make_safety(),
            self._make_places(),
        )
        self._grid.setColumnStretch(0, 1)
        self._grid.setColumnStretch(1, 1)
        frame = QWidget()
        frame.setMaximumWidth(1100)
        frame.setLayout(self._grid)
        self._arrange()
        line = QHBoxLayout()
        line.addWidget(frame)
        line.addStretch(0)
        scroller.box.addLayout(line)
        scroller.box.addStretch(1)
        self.session.settings_changed.connect(self._show)
        self.session.person_changed.connect(self._show)
        self.session.package_found.connect(self._show)
        self._show()

    def refresh(self, changes: Changes | None) -> None:
        self._show()

    def first_focus(self) -> QWidget:
        return self.person_name

    def _arrange(self) -> None:
        """Two columns where there is room, one otherwise."""
        wide = self.width() >= theme.current().px(_TWO_COLUMNS)
        if wide == self._wide:
            return
        self._wide = wide
        for number, card in enumerate(self._cards):
            if wide and number < 4:
                self._grid.addWidget(card, number // 2, number % 2)
            else:
                self._grid.addWidget(card, number + 2, 0, 1, 2)

    # -- cards ---------------------------------------------------------------------------

    def _make_person(self) -> Card:
        card = Card(say("Person"))
        form = Form()
        self.person_name = LineEditor(say("Your name"))
        self.person_name.editingFinished.connect(self._rename)
        form.add(
            say("Your name"),
            self.person_name,
            say("Shown to colleagues in packages and results. Under blind review it is hidden."),
        )
        card.add(form)
        self.other_person = Button(say("Somebody else is working …"), icon="person")
        self.other_person.clicked.connect(self._choose_person)
        card.add(self.other_person)
        card.box.addStretch(1)
        return card

    def _make_look(self) -> Card:
        card = Card(say("Look"))
        form = Form()
        self.theme_box = ComboBox(say("Theme"))
        self.theme_box.fill([(say(text), value) for value, text in _THEMES])
        self.theme_box.activated.connect(self._set_theme)
        form.add(say("Theme"), self.theme_box)
        self.size_box = ComboBox(say("Text size"))
        self.size_box.fill([(f"{size} %", size) for size in theme.TEXT_SCALES])
        self.size_box.activated.connect(self._set_size)
        keys = self.session.shortcuts
        form.add(
            say("Text size"),
            self.size_box,
            say(
                "Also with {larger} and {smaller}.",
                larger=keys.hint("larger-text"),
                smaller=keys.hint("smaller-text"),
            ),
        )
        card.add(form)
        card.box.addStretch(1)
        return card

    def _make_lock(self) -> Card:
        card = Card(say("Lock"))
        form = Form()
        self.idle_box = ComboBox(say("Lock when nobody has touched anything for"))
        self.idle_box.fill([(say(text), minutes) for minutes, text in _IDLE])
        self.idle_box.activated.connect(self._set_idle)
        form.add(
            say("Lock when nobody has touched anything for"),
            self.idle_box,
            say(
                "Locking saves everything, closes the file and takes its texts out of the window. "
                "A running job goes on; the file is closed when it ends. "
                "Unlocking returns to the same place."
            ),
        )
        card.add(form)
        card.box.addStretch(1)
        return card

    def _make_safety(self) -> Card:
        card = Card(say("Safety of this workspace"))
        self.safety_words = label("", "muted", wrap=True)
        card.add(self.safety_words)
        self.backups_button = Button(say("Backups …"), icon="clock")
        self.backups_button.clicked.connect(self._show_backups)
        self.passphrase_button = Button(say("Change the passphrase …"), icon="lock")
        self.passphrase_button.clicked.connect(self._change_passphrase)
        self.deleted_button = Button(say("Deleted …"), icon="trash")
        self.deleted_button.clicked.connect(self._show_deleted)
        self.history_button = Button(say("Export the history …"), icon="export")
        self.history_button.clicked.connect(self._export_history)
        self.pack_button = Button(say("Pack for a person …"), icon="package")
        self.pack_button.clicked.connect(self._pack)
        self.merge_button = Button(say("Merge a package …"), icon="import")
        self.merge_button.clicked.connect(self._merge)
        self.safety_buttons = (
            self.backups_button,
            self.passphrase_button,
            self.deleted_button,
            self.history_button,
            self.pack_button,
            self.merge_button,
        )
        grid = QGridLayout()
        grid.setSpacing(theme.S)
        for place, button in enumerate(self.safety_buttons):
            grid.addWidget(button, place // 2, place % 2)
        card.add(grid)
        return card

    def _make_keys(self) -> Card:
        card = Card(say("Keyboard"))
        card.add(
            label(
                say(
                    "Every key can be changed. Keys without Ctrl or Alt do nothing while you "
                    "type in a field."
                ),
                "muted",
                wrap=True,
            )
        )
        self.keys_button = Button(say("Change keyboard shortcuts …"), icon="keyboard")
        self.keys_button.clicked.connect(self._edit_keys)
        card.add(self.keys_button)
        card.box.addStretch(1)
        return card

    def _make_places(self) -> Card:
        card = Card(say("Where things lie"))
        grid = QGridLayout()
        grid.setHorizontalSpacing(theme.L)
        grid.setVerticalSpacing(theme.S)
        for place, (caption, path) in enumerate(
            (
                (say("Settings and log"), data_directory()),
                (say("Models"), models_directory()),
                (say("Log (no text of yours is written to it)"), log_path()),
            )
        ):
            grid.addWidget(label(caption, "muted"), place, 0)
            grid.addWidget(CopyField(caption, str(path)), place, 1)
        grid.setColumnStretch(1, 1)
        card.add(grid)
        folder = Button(say("Show the folder"), icon="open")
        folder.clicked.connect(self._show_folder)
        line = QHBoxLayout()
        line.addWidget(folder)
        line.addStretch(1)
        bottom = QVBoxLayout()
        bottom.addLayout(line)
        card.add(bottom)
        return card

    # -- what they do --------------------------------------------------------------------

    @Slot()
    def _show(self) -> None:
        settings = self.session.settings
        self.theme_box.choose(settings.theme)
        self.size_box.choose(settings.text_scale)
        if self.idle_box.findData(settings.idle_lock_minutes) < 0:
            minutes = settings.idle_lock_minutes
            self.idle_box.addItem(say("{count} minutes", count=minutes), minutes)
        self.idle_box.choose(settings.idle_lock_minutes)
        if not self.person_name.hasFocus():
            self.person_name.load(self.session.person.name or settings.person)
        writable = self.session.has_workspace and not self.session.workspace.read_only
        self.person_name.setEnabled(writable)
        self.other_person.setEnabled(self.session.has_workspace)
        self._show_safety(writable)

    def _show_safety(self, writable: bool) -> None:
        there = self.session.has_workspace
        for button in self.safety_buttons:
            button.setEnabled(there)
        self.passphrase_button.setEnabled(writable)
        refusal = package_refusal(self.session)
        for button in (self.pack_button, self.merge_button):
            button.setEnabled(not refusal)
            button.setToolTip(refusal)
            button.setAccessibleDescription(refusal)
        if not there:
            self.safety_words.setText(say("No workspace is open."))
            return
        workspace = self.session.workspace
        self.passphrase_button.setText(
            say("Change the passphrase …") if workspace.encrypted else say("Set a passphrase …")
        )

        def read() -> list[Any]:
            from core.storage.backups import list_backups

            return list_backups(workspace.path)

        run_query(self, read).success(self._say_backups)

    def _say_backups(self, backups: list[Any]) -> None:
        if not self.session.has_workspace:
            return
        if backups:
            last = say(
                "{count}, the newest of {time}, {size} in all.",
                count=count_of(len(backups), "backup", "backups"),
                time=format_moment(backups[0].made),
                size=format_bytes(sum(backup.size for backup in backups)),
            )
        else:
            last = say("No backups yet.")
        state = (
            say("Encrypted.")
            if self.session.workspace.encrypted
            else say("Not encrypted: anybody with the file can read it.")
        )
        package = self.session.package
        about = f"{package_words(package)}\n" if package is not None else ""
        self.safety_words.setText(f"{about}{state} {last}")

    @Slot()
    def _show_backups(self) -> None:
        from app.windows.safety.restore import RestoreDialog

        dialog = RestoreDialog(self.session.workspace.path, self)
        dialog.restored.connect(self.said)
        dialog.finished.connect(self._show)
        dialog.open()

    @Slot()
    def _change_passphrase(self) -> None:
        from app.windows.safety.change_passphrase import ChangePassphraseDialog

        ChangePassphraseDialog(self).open()

    @Slot()
    def _show_deleted(self) -> None:
        from app.windows.safety.history import DeletedDialog

        DeletedDialog(self).open()

    @Slot()
    def _export_history(self) -> None:
        from app.windows.safety.export import export_history

        export_history(self.window())

    @Slot()
    def _pack(self) -> None:
        window: Any = self.window()
        window.commands.pack()

    @Slot()
    def _merge(self) -> None:
        window: Any = self.window()
        window.commands.merge()

    @Slot()
    def _rename(self) -> None:
        person = self.session.person
        name = self.person_name.text().strip()
        if not name:
            self.person_name.load(person.name)
        elif person.id and name != person.name:
            run_verb(self, "Rename person", rename_person, person.id, name).success(self._renamed)

    def _renamed(self, outcome: Outcome[Person]) -> None:
        self.session.set_person(outcome.value)

    @Slot(int)
    def _set_theme(self, _index: int) -> None:
        self.session.update_settings(theme=self.theme_box.value)

    @Slot(int)
    def _set_size(self, _index: int) -> None:
        self.session.update_settings(text_scale=self.size_box.value)

    @Slot(int)
    def _set_idle(self, _index: int) -> None:
        self.session.update_settings(idle_lock_minutes=self.idle_box.value)

    @Slot()
    def _choose_person(self) -> None:
        from app.windows.person import PersonDialog

        PersonDialog(self).open()

    @Slot()
    def _edit_keys(self) -> None:
        from app.windows.shortcut_editor import ShortcutEditor

        ShortcutEditor(self.session.shortcuts, self).open()

    @Slot()
    def _show_folder(self) -> None:
        data_directory().mkdir(parents=True, exist_ok=True)
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(data_directory())))

    # -- Qt ------------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()
