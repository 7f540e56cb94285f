"""The lock screen: nothing of the workspace but its file's name, and the way back in."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app import theme
from app.session import Session
from app.strings import say
from app.widgets.basics import Card, ElidedLabel, IconLabel, label
from app.widgets.buttons import Button
from app.widgets.inputs import PassphraseField
from app.widgets.notice import Notice
from app.widgets.secrets import KeyFileField
from core.errors import InputError, RifugioError


class LockScreen(QWidget):
    """Asks for the passphrase; emits `unlock_asked` with it."""

    unlock_asked = Signal(str)
    close_asked = Signal()

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self.setProperty("role", "background")
        self.setAccessibleName(say("Locked"))
        outer = QVBoxLayout(self)
        outer.addStretch(2)
        middle = QHBoxLayout()
        middle.addStretch(1)
        card = Card()
        card.setFixedWidth(theme.current().px(400))
        card.box.setContentsMargins(theme.XL, theme.XL, theme.XL, theme.XL)
        card.box.setSpacing(theme.M)
        card.box.addWidget(IconLabel("lock", "accent", 32), 0, Qt.AlignmentFlag.AlignHCenter)
        self._name = ElidedLabel()
        self._name.setProperty("role", "heading")
        self._name.setAlignment(Qt.AlignmentFlag.AlignCenter)
        card.add(self._name)
        self._words = label("", "muted", wrap=True)
        self._words.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        card.add(self._words)
        self.passphrase = PassphraseField(say("Passphrase"))
        self.passphrase.setPlaceholderText(say("Passphrase"))
        self.passphrase.returnPressed.connect(self._submit)
        card.add(self.passphrase)
        self.key_file = KeyFileField()
        card.add(self.key_file)
        self.notice = Notice("", "danger")
        self.notice.hide()
        card.add(self.notice)
        self.unlock_button = Button(say("Unlock"), "primary", icon="unlock")
        self.unlock_button.clicked.connect(self._submit)
        card.add(self.unlock_button)
        self.close_button = Button(say("Close the workspace"), "quiet")
        self.close_button.clicked.connect(self.close_asked)
        card.add(self.close_button)
        self._busy = Notice(
            say("A job is still running. The file stays open for it and is closed when it ends.")
        )
        self._busy.hide()
        card.add(self._busy)
        self._card = card
        middle.addWidget(card)
        middle.addStretch(1)
        outer.addLayout(middle)
        outer.addStretch(3)
        theme.notifier().changed.connect(self._fit)

    def show_for(
        self,
        path: Path,
        *,
        encrypted: bool,
        busy: bool,
        unsaved: bool = False,
        key_file: Path | None = None,
    ) -> None:
        """Get ready for a workspace that was just locked."""
        self._name.setText(path.stem)
        self._words.setText(
            say("Locked. Something could not be saved and waits in memory: unlock to see to it.")
            if unsaved
            else say("Locked. Your work is saved.")
            if encrypted
            else say("Locked. This workspace has no passphrase, so anybody can go on.")
        )
        self.key_file.set_path(key_file)
        self.key_file.setVisible(encrypted and key_file is not None)
        self.close_button.setVisible(not unsaved)
        self.passphrase.wipe()
        self.passphrase.setVisible(encrypted)
        self.notice.hide()
        self.set_busy(busy)
        self._enable(True)

    def set_busy(self, busy: bool) -> None:
        """Say whether a job keeps the file open."""
        self._busy.setVisible(busy)

    def take_focus(self) -> None:
        (self.unlock_button if self.passphrase.isHidden() else self.passphrase).setFocus()

    def refuse(self, error: BaseException) -> None:
        """Say why it stays locked."""
        self._enable(True)
        if isinstance(error, InputError):
            # The key file is not where it was.
            self.key_file.show()
        if isinstance(error, RifugioError):
            self.notice.set_text(f"{error.message} {error.remedy}".strip())
            self.notice.show()
        else:
            self.session.jobs.failed.emit(error, self)
        self.passphrase.selectAll()
        self.take_focus()

    @Slot()
    def _submit(self) -> None:
        if self.unlock_button.isEnabled():
            self._enable(False)
            self.notice.hide()
            self.unlock_asked.emit(self.passphrase.text())
            self.passphrase.wipe()

    def _enable(self, enabled: bool) -> None:
        self.unlock_button.setEnabled(enabled)

    def _fit(self) -> None:
        self._card.setFixedWidth(theme.current().px(400))
