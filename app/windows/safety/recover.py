"""Recovering what can be read of a damaged workspace into a new file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QWidget

from app.strings import say
from app.widgets.basics import label, row
from app.widgets.buttons import Button
from app.widgets.dialogs import Dialog, choose_new_file
from app.widgets.inputs import Form, text_field
from app.widgets.notice import Notice
from core.errors import RifugioError

if TYPE_CHECKING:
    from core.storage.recovery import Recovered


class RecoverDialog(Dialog):
    """Says what recovery does, asks for the new file's name, and does it."""

    #: The new file, and what came out.
    recovered = Signal(object, str)

    def __init__(
        self,
        path: Path,
        passphrase: str,
        key_file: Path | None,
        parent: QWidget,
    ) -> None:
        super().__init__(say("Recover {name}", name=path.stem), parent, width=520)
        self._path = path
        self._passphrase = passphrase
        self._key_file = key_file
        self._busy = False
        self.body.addWidget(
            label(
                say(
                    "Reads what can be read, fills the gaps from the history and from the last good "
                    "backup, and writes all of it to a new file under the same passphrase. The damaged "
                    "file stays as it is."
                ),
                wrap=True,
            )
        )
        form = Form()
        target = path.with_name(f"{path.stem} recovered{path.suffix}")
        self.file = text_field(say("New file"), str(target))
        choose = Button(say("Choose …"))
        choose.clicked.connect(self._choose)
        place = QWidget()
        line = row(choose)
        line.insertWidget(0, self.file, 1)
        place.setLayout(line)
        form.add(say("New file"), place).setBuddy(self.file)
        self.body.addLayout(form)
        self.notice = Notice("", "danger")
        self.notice.hide()
        self.body.addWidget(self.notice)
        self.add_cancel()
        self.recover_button = self.add_button(say("Recover"), self.recover, "primary")

    @Slot()
    def recover(self) -> None:
        """Write the new file."""
        path, target = self._path, Path(self.file.text()).expanduser()
        passphrase, key_file = self._passphrase, self._key_file
        self._busy = True
        self.recover_button.setEnabled(False)
        self.notice.hide()

        def work() -> Recovered:
            from core.storage.cipher import derive_key, inspect_file, read_salt
            from core.storage.recovery import recover_workspace

            key = None
            if inspect_file(path) == "encrypted":
                key = derive_key(passphrase, read_salt(path), key_file=key_file)
            return recover_workspace(path, target, key)

        def take(report: Recovered) -> None:
            self._busy = False
            self.session.remember_key_file(target, key_file)
            self.recovered.emit(target, report.words)
            self.accept()

        self.session.jobs.run(self, work).success(take).failure(self._fail)

    def _fail(self, error: BaseException) -> None:
        self._busy = False
        self.recover_button.setEnabled(True)
        if isinstance(error, RifugioError):
            self.notice.set_text(f"{error.message} {error.remedy}".strip())
            self.notice.show()
        else:
            self.session.jobs.failed.emit(error, self)

    @Slot()
    def _choose(self) -> None:
        choose_new_file(
            self,
            say("Where to write what is recovered"),
            "Rifugio (*.rifugio)",
            self.file.text(),
            self._take,
        )

    def _take(self, paths: list[Path]) -> None:
        if paths:
            self.file.setText(str(paths[0]))

    def reject(self) -> None:
        if not self._busy:
            super().reject()
