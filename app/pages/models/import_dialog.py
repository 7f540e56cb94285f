"""Importing a model: which file or folder, what for, and which chat template where it brings none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app import theme
from app.strings import say
from app.widgets.basics import label
from app.widgets.buttons import Button
from app.widgets.dialogs import Dialog, choose_files, choose_folder
from app.widgets.inputs import ComboBox, Form, text_field
from app.widgets.notice import Notice

_ROLES = (
    ("", "Find out from the model"),
    ("generator", "Writes text (GGUF)"),
    ("embedder", "Search and similarity"),
    ("nli", "Support for claims (entailment)"),
    ("reranker", "Ranks passages"),
    ("metric", "Scores pairs (learned metric)"),
)

Start = Callable[[Path, str | None, str | None], object]


class ImportDialog(Dialog):
    """Calls ``start`` with path, role and chat template; None where the model says so itself."""

    def __init__(
        self,
        parent: QWidget,
        start: Start,
        *,
        path: Path | None = None,
        role: str | None = None,
        problem: str = "",
    ) -> None:
        from models.templates import BUILT_IN_TEMPLATES

        super().__init__(say("Import a model"), parent, width=560)
        self._start = start
        self.body.addWidget(
            label(
                say(
                    "From this disk or a USB stick: a GGUF file, a folder with an ONNX model, or a "
                    "sentence-transformers folder, which is converted. It is copied into the models "
                    "folder, hashed, loaded once and asked something."
                ),
                "muted",
                wrap=True,
            )
        )
        form = Form()
        self.path = text_field(say("File or folder"), str(path) if path else "")
        form.add(say("File or folder"), self.path)
        choices = QHBoxLayout()
        self.file_button = Button(say("Choose a GGUF file …"))
        self.file_button.clicked.connect(self._choose_file)
        self.folder_button = Button(say("Choose a folder …"))
        self.folder_button.clicked.connect(self._choose_folder)
        choices.setSpacing(theme.S)
        choices.setContentsMargins(0, 0, 0, theme.S)
        choices.addWidget(self.file_button)
        choices.addWidget(self.folder_button)
        choices.addStretch(1)
        form.addRow(choices)
        self.role = ComboBox(say("What for"))
        self.role.fill([(say(text), value) for value, text in _ROLES], role or "")
        form.add(say("What for"), self.role)
        self.template = ComboBox(say("Chat template"))
        names = [(name, name) for name in BUILT_IN_TEMPLATES]
        self.template.fill([(say("From the file"), ""), *names], "")
        form.add(
            say("Chat template"),
            self.template,
            say("How turns are written for the model. Only for files that do not say so."),
        )
        self.body.addLayout(form)
        self.notice = Notice(problem, "warning")
        self.notice.setVisible(bool(problem))
        self.body.addWidget(self.notice)
        self.add_cancel()
        self.import_button = self.add_button(say("Import"), self._accept, "primary")
        (self.template if problem else self.path).setFocus()

    @Slot()
    def _accept(self) -> None:
        text = self.path.text().strip()
        path = Path(text).expanduser()
        if not text or not path.exists():
            self.notice.set_text(say("Please choose a file or folder that is there."))
            self.notice.show()
            self.path.setFocus()
            return
        self.accept()
        self._start(path, self.role.value or None, self.template.value or None)

    @Slot()
    def _choose_file(self) -> None:
        choose_files(self, say("Choose a model file"), "GGUF (*.gguf)", self._take)

    @Slot()
    def _choose_folder(self) -> None:
        choose_folder(self, say("Choose a model folder"), self._take)

    def _take(self, paths: list[Path]) -> None:
        if paths:
            self.path.setText(str(paths[0]))
