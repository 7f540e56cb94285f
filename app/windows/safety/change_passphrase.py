"""Changing the passphrase and the key file of the open workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QCheckBox, QWidget

from app.strings import say
from app.widgets.basics import label
from app.widgets.dialogs import Dialog
from app.widgets.inputs import Form, PassphraseField
from app.widgets.notice import Notice
from app.widgets.secrets import NewSecret
from app.windows.safety.checks import check_passphrase
from core.errors import RifugioError

if TYPE_CHECKING:
    from core.storage.workspace import Workspace


class ChangePassphraseDialog(Dialog):
    """Asks for the present passphrase and the new one; the file is encrypted anew as a copy."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(say("Change the passphrase"), parent, width=480)
        self._busy = False
        encrypted = self.session.workspace.encrypted
        if not encrypted:
            self.setWindowTitle(say("Set a passphrase"))
            self.title_label.setText(say("Set a passphrase"))
        self.body.addWidget(
            label(
                say(
                    "The file is encrypted anew as a copy, which then takes its place. A forgotten "
                    "passphrase cannot be recovered by anybody."
                ),
                "muted",
                wrap=True,
            )
        )
        form = Form()
        self.present = PassphraseField(say("Present passphrase"))
        caption = form.add(say("Present passphrase"), self.present)
        for widget in (caption, self.present):
            widget.setVisible(encrypted)
        self.body.addLayout(form)
        self.secret = NewSecret(word=say("New passphrase") if encrypted else say("Passphrase"))
        self.body.addWidget(self.secret)
        self.remove_older = QCheckBox(say("Remove older backups, which keep the old passphrase"))
        self.remove_older.setVisible(encrypted)
        self.body.addWidget(self.remove_older)
        self.notice = Notice("", "danger")
        self.notice.hide()
        self.body.addWidget(self.notice)
        self.add_cancel()
        words = say("Change it") if encrypted else say("Set it")
        self.change_button = self.add_button(words, self.change, "primary")
        self.secret.changed.connect(self.notice.hide)
        self.secret.submitted.connect(self.change)
        (self.present if encrypted else self.secret.passphrase).setFocus()

    @Slot()
    def change(self) -> None:
        """Check what was typed and change the passphrase."""
        if self._busy:
            return
        problem = self.secret.problem()
        if problem:
            self._complain(problem)
            return
        present = self.present.text()
        path = self.session.workspace.path
        old_file = self.session.key_file_of(path)
        passphrase, key_file = self.secret.chosen_passphrase, self.secret.chosen_key_file
        remove = self.remove_older.isChecked()

        def change(workspace: Workspace) -> Workspace:
            from core.storage.cipher import make_key_file
            from core.storage.rekey import change_key, remove_older_backups

            if key_file is not None and not key_file.exists():
                make_key_file(key_file)
            changed = change_key(workspace, passphrase, key_file=key_file)
            if remove:
                remove_older_backups(changed)
            return changed

        def take(error: BaseException | None) -> None:
            if error is not None:
                self._fail(error)
                return
            self._set_busy(False)
            self.session.remember_key_file(path, key_file)
            self.secret.wipe()
            self.present.wipe()
            self.accept()

        def begin(_checked: None) -> None:
            window: Any = self.parentWidget()
            try:
                window.replace_workspace(change, take)
            except RifugioError as error:
                self._fail(error)

        self._set_busy(True)
        # The window is taken down only for a passphrase that is right.
        self.session.jobs.run(
            self, check_passphrase, self.session.workspace, present, old_file
        ).success(begin).failure(self._fail)

    def _fail(self, error: BaseException) -> None:
        self._set_busy(False)
        if isinstance(error, RifugioError):
            self._complain(f"{error.message} {error.remedy}".strip())
        else:
            self.session.jobs.failed.emit(error, self)

    def _set_busy(self, busy: bool) -> None:
        self._busy = busy
        self.change_button.setEnabled(not busy)
        self.change_button.setText(say("Encrypting anew …") if busy else say("Change it"))

    def _complain(self, text: str) -> None:
        self.notice.set_text(text)
        self.notice.show()

    def reject(self) -> None:
        if not self._busy:
            self.secret.wipe()
            self.present.wipe()
            super().reject()
