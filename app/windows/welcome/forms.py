"""The two forms of the welcome screen: a new workspace, and one to open."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QWidget

from app.session import Session, suggested_name
from app.strings import say
from app.widgets.basics import Card, ElidedLabel, label, row
from app.widgets.buttons import Button
from app.widgets.dialogs import choose_new_file
from app.widgets.inputs import Form, PassphraseField, text_field
from app.widgets.notice import Notice
from app.widgets.secrets import KeyFileField, NewSecret
from app.windows.welcome.opening import (
    SUFFIX,
    Opened,
    create_workspace,
    has_backups,
    is_encrypted,
    open_workspace,
)
from core.errors import (
    DamagedWorkspaceError,
    RifugioError,
    WorkspaceBusyError,
    WrongPassphraseError,
)
from core.settings import data_directory

FILTER = "Rifugio (*.rifugio);;All files (*)"


class NewForm(Card):
    """Name, file, passphrase twice; a plain file only when asked for in words."""

    opened = Signal(object, object)

    def __init__(self, session: Session) -> None:
        super().__init__(say("New workspace"))
        self.session = session
        self._made: tuple[Path, Path | None] = (Path(), None)
        form = Form()
        self.person = text_field(say("Your name"), suggested_name(session.settings))
        form.add(say("Your name"), self.person, say("Shown to colleagues you exchange work with."))
        self.file = text_field(say("File"))
        folder = data_directory().parent if not Path.home().exists() else Path.home()
        self.file.setText(str(_free_name(folder / f"My workspace{SUFFIX}")))
        self._choose = Button(say("Choose …"))
        self._choose.setAccessibleName(say("Choose the file"))
        self._choose.clicked.connect(self._choose_file)
        place = QWidget()
        place_row = QHBoxLayout(place)
        place_row.setContentsMargins(0, 0, 0, 0)
        place_row.addWidget(self.file, 1)
        place_row.addWidget(self._choose)
        form.add(say("File"), place).setBuddy(self.file)
        self.add(form)
        self.secret = NewSecret()
        self.passphrase, self.again = self.secret.passphrase, self.secret.again
        self.plain = self.secret.plain
        self.add(self.secret)
        self.notice = Notice("", "danger")
        self.notice.hide()
        self.add(self.notice)
        self.add(
            label(
                say(
                    "A forgotten passphrase cannot be recovered by anybody. Keep it in a safe place."
                ),
                "small",
                wrap=True,
            )
        )
        self.create_button = Button(say("Create the workspace"), "primary")
        self.create_button.clicked.connect(self.submit)
        self.add(self.create_button)
        self.secret.changed.connect(self._on_typed)
        self.secret.submitted.connect(self.submit)
        for field in (self.person, self.file):
            field.returnPressed.connect(self.submit)

    def take_focus(self) -> None:
        (self.passphrase if self.person.text() else self.person).setFocus()

    @Slot()
    def submit(self) -> None:
        """Make the workspace and open it."""
        problem = self._problem()
        self._complain(problem)
        if problem or not self.create_button.isEnabled():
            return
        path = Path(self.file.text()).expanduser()
        if path.suffix != SUFFIX:
            path = path.with_name(path.name + SUFFIX)
        key_file = self.secret.chosen_key_file
        self.create_button.setEnabled(False)
        pending = self.session.jobs.run(
            self,
            create_workspace,
            path,
            self.secret.chosen_passphrase,
            self.person.text(),
            key_file,
        )
        self._made = (path, key_file)
        pending.success(self._hand_over).failure(self._fail).end(self._enable)

    def _problem(self) -> str:
        if not self.person.text().strip():
            return say("Please type your name.")
        if not self.file.text().strip():
            return say("Please choose a file.")
        return self.secret.problem()

    def _complain(self, text: str) -> None:
        self.notice.set_text(text)
        self.notice.setVisible(bool(text))

    def _hand_over(self, opened: Opened) -> None:
        self.secret.wipe()
        self.session.remember_key_file(*self._made)
        self.opened.emit(*opened)

    def _fail(self, error: BaseException) -> None:
        if isinstance(error, RifugioError):
            self._complain(f"{error.message} {error.remedy}".strip())
        else:
            self.session.jobs.failed.emit(error, self)

    def _enable(self) -> None:
        self.create_button.setEnabled(True)

    @Slot()
    def _on_typed(self) -> None:
        self._complain("")

    @Slot()
    def _choose_file(self) -> None:
        choose_new_file(
            self, say("Where to keep the workspace"), FILTER, self.file.text(), self._take_file
        )

    def _take_file(self, paths: list[Path]) -> None:
        if paths:
            self.file.setText(str(paths[0]))


class OpenForm(Card):
    """A workspace's passphrase, and who is working."""

    opened = Signal(object, object)
    new_asked = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__(say("Open workspace"))
        self.session = session
        self._path = Path()
        self.needs_passphrase = True
        self._read_only = False
        self.name_label = ElidedLabel()
        self.name_label.setProperty("role", "heading")
        self.folder_label = ElidedLabel()
        self.folder_label.setProperty("role", "small")
        self.add(self.name_label)
        self.add(self.folder_label)
        form = Form()
        self.person = text_field(say("Your name"), suggested_name(session.settings))
        self.passphrase = PassphraseField(say("Passphrase"))
        self._caption = form.add(say("Passphrase"), self.passphrase)
        self.key_file = KeyFileField()
        self._key_caption = form.add(say("Key file"), self.key_file)
        form.add(say("Your name"), self.person)
        self.add(form)
        self.key_button = Button(say("It has a key file …"), "link")
        self.key_button.clicked.connect(self._show_key_file)
        self.add(self.key_button)
        self.notice = Notice("", "danger")
        self.notice.hide()
        self.add(self.notice)
        self.read_only = QCheckBox(say("Open for reading only"))
        self.read_only.hide()
        self.add(self.read_only)
        self.open_button = Button(say("Open"), "primary", icon="unlock")
        self.open_button.clicked.connect(self.submit)
        self.add(self.open_button)
        self.restore_button = Button(say("Restore a backup …"), icon="clock")
        self.restore_button.clicked.connect(self._restore)
        self.recover_button = Button(say("Recover what can be read …"))
        self.recover_button.clicked.connect(self._recover)
        self.add(row(self.restore_button, self.recover_button, None))
        self.new_button = Button(say("Make a new workspace instead"), "link")
        self.new_button.clicked.connect(self.new_asked)
        self.add(self.new_button)
        self.box.addStretch(1)
        for field in (self.passphrase, self.person, self.key_file.field):
            field.returnPressed.connect(self.submit)

    def offer(self, path: Path) -> None:
        """Get ready to open a workspace."""
        self._path = path
        self.name_label.setText(path.stem)
        self.folder_label.setText(str(path.parent))
        self.needs_passphrase = is_encrypted(path)
        self.passphrase.wipe()
        for widget in (self._caption, self.passphrase):
            widget.setVisible(self.needs_passphrase)
        key_file = self.session.key_file_of(path) if self.needs_passphrase else None
        self.key_file.set_path(key_file)
        self._show_key_fields(key_file is not None)
        self.key_button.setVisible(self.needs_passphrase and key_file is None)
        self.restore_button.hide()
        self.recover_button.hide()
        self.person.setText(suggested_name(self.session.settings))
        self.read_only.setChecked(False)
        self.read_only.hide()
        self.notice.hide()

    def take_focus(self) -> None:
        (self.passphrase if self.needs_passphrase else self.open_button).setFocus()

    @Slot()
    def submit(self) -> None:
        """Open it."""
        if not self.open_button.isEnabled():
            return
        self.open_button.setEnabled(False)
        self.notice.hide()
        passphrase = self.passphrase.text() if self.needs_passphrase else None
        pending = self.session.jobs.run(
            self,
            open_workspace,
            self._path,
            passphrase,
            self.person.text(),
            self.read_only.isChecked(),
            self.key_file.path if self.needs_passphrase else None,
        )
        pending.success(self._hand_over).failure(self._fail).end(self._enable)

    def _hand_over(self, opened: Opened) -> None:
        self.passphrase.wipe()
        self.session.remember_key_file(
            self._path, self.key_file.path if self.needs_passphrase else None
        )
        self.opened.emit(*opened)

    def _fail(self, error: BaseException) -> None:
        if not isinstance(error, RifugioError):
            self.session.jobs.failed.emit(error, self)
            return
        self.notice.set_text(f"{error.message} {error.remedy}".strip())
        self.notice.show()
        if isinstance(error, WorkspaceBusyError):
            self.read_only.show()
        else:
            # Whatever is wrong with the file, the last good backup is one step away.
            self.restore_button.setVisible(has_backups(self._path))
            self.recover_button.setVisible(isinstance(error, DamagedWorkspaceError))
        if isinstance(error, WrongPassphraseError):
            self.passphrase.selectAll()
            self.passphrase.setFocus()

    def _enable(self) -> None:
        self.open_button.setEnabled(True)

    def _show_key_fields(self, shown: bool) -> None:
        self._key_caption.setVisible(shown)
        self.key_file.setVisible(shown)

    @Slot()
    def _show_key_file(self) -> None:
        self.key_button.hide()
        self._show_key_fields(True)
        self.key_file.setFocus()

    @Slot()
    def _restore(self) -> None:
        from app.windows.safety.restore import RestoreDialog

        dialog = RestoreDialog(self._path, self)
        dialog.restored.connect(self._after_restore)
        dialog.open()

    def _after_restore(self, words: str) -> None:
        self.offer(self._path)
        self.notice.set_text(words)
        self.notice.show()
        self.take_focus()

    @Slot()
    def _recover(self) -> None:
        from app.windows.safety.recover import RecoverDialog

        dialog = RecoverDialog(self._path, self.passphrase.text(), self.key_file.path, self)
        dialog.recovered.connect(self._after_recovery)
        dialog.open()

    def _after_recovery(self, path: object, words: str) -> None:
        if isinstance(path, Path):
            self.offer(path)
            self.notice.set_text(words)
            self.notice.show()
            self.take_focus()


def _free_name(path: Path) -> Path:
    """The path, numbered when it is taken."""
    number = 2
    free = path
    while free.exists():
        free = path.with_name(f"{path.stem} {number}{path.suffix}")
        number += 1
    return free
