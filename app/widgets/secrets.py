"""Asking for a new passphrase, and for a key file: used where a workspace is made, opened and rekeyed."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QWidget

from app import theme
from app.strings import say
from app.widgets.basics import label
from app.widgets.buttons import Button, IconButton
from app.widgets.dialogs import choose_files, choose_new_file
from app.widgets.inputs import Form, PassphraseField, StrengthMeter, text_field

_KEY_FILTER = "Key files (*.key);;All files (*)"


class KeyFileField(QWidget):
    """A file needed beside the passphrase: its path, choosing one and, where ``new``, making one."""

    changed = Signal()

    def __init__(self, *, new: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.S)
        self.field = text_field(say("Key file"))
        self.field.textChanged.connect(self.changed)
        self.setFocusProxy(self.field)
        layout.addWidget(self.field, 1)
        self.choose_button = IconButton("open", say("Choose the key file"))
        self.choose_button.clicked.connect(self._choose)
        layout.addWidget(self.choose_button)
        self.make_button = Button(say("Make one …"))
        self.make_button.setAccessibleName(say("Make a new key file"))
        self.make_button.clicked.connect(self._make)
        self.make_button.setVisible(new)
        layout.addWidget(self.make_button)

    @property
    def path(self) -> Path | None:
        """The file named; None for none."""
        text = self.field.text().strip()
        return Path(text).expanduser() if text else None

    def set_path(self, path: Path | None) -> None:
        """Name a file."""
        self.field.setText("" if path is None else str(path))

    @Slot()
    def _choose(self) -> None:
        choose_files(self, say("Choose the key file"), _KEY_FILTER, self._take)

    @Slot()
    def _make(self) -> None:
        suggestion = str(Path.home() / "Rifugio.key")
        choose_new_file(
            self, say("Where to keep the key file"), _KEY_FILTER, suggestion, self._take
        )

    def _take(self, paths: list[Path]) -> None:
        if paths:
            self.set_path(paths[0])


class NewSecret(QWidget):
    """A passphrase twice with its strength, a key file where wanted, or none of both, said in words.

    Parameters
    ----------
    bare
        Only the passphrase: neither a key file nor going without is offered.
    """

    changed = Signal()
    submitted = Signal()

    def __init__(
        self, *, word: str = "", bare: bool = False, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        form = Form()
        self.setLayout(form)
        caption = word or say("Passphrase")
        self.passphrase = PassphraseField(caption)
        self.meter = StrengthMeter()
        form.add(caption, self.passphrase)
        form.addRow(self.meter)
        form.add_gap()
        self.again = PassphraseField(say("Passphrase again"))
        form.add(say("Passphrase again"), self.again)
        self.more = Button(say("Use a key file as well …"), "link")
        self.more.clicked.connect(self._show_key_file)
        form.addRow(self.more)
        self.key_file = KeyFileField(new=True)
        self._caption = label(say("Key file"), "strong")
        self._note = label(
            say(
                "Needed beside the passphrase each time. Keep a copy elsewhere: without it nobody can "
                "open the workspace."
            ),
            "small",
            wrap=True,
        )
        self._hidden = (self._caption, self.key_file, self._note)
        for widget in self._hidden:
            form.addRow(widget)
            widget.hide()
        self.plain = QCheckBox(say("No passphrase: anybody with the file can read it"))
        form.addRow(self.plain)
        if bare:
            self.more.hide()
            self.plain.hide()
        self.passphrase.textChanged.connect(self._on_typed)
        self.again.textChanged.connect(self._on_typed)
        self.key_file.changed.connect(self.changed)
        self.plain.toggled.connect(self._on_plain)
        for field in (self.passphrase, self.again, self.key_file.field):
            field.returnPressed.connect(self.submitted)

    @property
    def chosen_passphrase(self) -> str | None:
        """None for a plain workspace."""
        return None if self.plain.isChecked() else self.passphrase.text()

    @property
    def chosen_key_file(self) -> Path | None:
        return None if self.plain.isChecked() else self.key_file.path

    def problem(self) -> str:
        """What is wrong with what was typed; '' for nothing."""
        if self.plain.isChecked():
            return ""
        from core.storage.workspace import MINIMUM_PASSPHRASE

        if len(self.passphrase.text()) < MINIMUM_PASSPHRASE:
            return say(
                "The passphrase needs at least {count} characters.", count=MINIMUM_PASSPHRASE
            )
        if self.passphrase.text() != self.again.text():
            return say("The two passphrases differ.")
        return ""

    def take_focus(self) -> None:
        """Give the keyboard to the field that `problem` is about."""
        from core.storage.workspace import MINIMUM_PASSPHRASE

        long_enough = len(self.passphrase.text()) >= MINIMUM_PASSPHRASE
        (self.again if long_enough else self.passphrase).setFocus()

    def wipe(self) -> None:
        """Forget what was typed."""
        self.passphrase.wipe()
        self.again.wipe()

    @Slot()
    def _show_key_file(self) -> None:
        self.more.hide()
        for widget in self._hidden:
            widget.show()
        self.key_file.setFocus()

    @Slot()
    def _on_typed(self) -> None:
        self.meter.rate(self.passphrase.text())
        self.changed.emit()

    @Slot(bool)
    def _on_plain(self, plain: bool) -> None:
        for widget in (self.passphrase, self.again, self.meter, self.more, self.key_file):
            widget.setEnabled(not plain)
        self.changed.emit()
