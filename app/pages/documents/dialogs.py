"""What an import left out, and what is known of a document."""

from __future__ import annotations

from typing import Any

from PySide6.QtWidgets import QFormLayout, QWidget

from app import theme
from app.operations import run_query, run_verb
from app.pages.documents.work import count_passages
from app.strings import count_of, format_bytes, format_number, format_time, say
from app.widgets.basics import Scroller, label, row
from app.widgets.dialogs import Dialog
from app.widgets.inputs import ComboBox, CopyField, spin_box, text_field
from core.documents.library import LibraryReport, delete_document, edit_document, recut_document
from core.storage import Transaction
from core.storage.workspace import Workspace
from core.tasks.verbs import ensure_field
from core.types import Field
from core.types.documents import Document


class ReportDialog(Dialog):
    """One line a file that did not come in, or came in only partly."""

    def __init__(self, parent: QWidget, words: str, report: LibraryReport) -> None:
        super().__init__(say("Import finished"), parent, width=640)
        self.body.addWidget(label(words, "strong"))
        lines = Scroller()
        lines.setMinimumHeight(theme.current().px(160))
        groups = (
            (say("Not imported"), [_shorten(str(path), text) for path, text in report.failed]),
            (
                say("In the workspace already"),
                [say("{file}: as '{twin}'", file=p.name, twin=t) for p, t in report.known],
            ),
            (say("Only partly read"), report.notes),
        )
        for title, entries in groups:
            if entries:
                lines.box.addWidget(label(title, "strong"))
                for entry in entries:
                    lines.box.addWidget(label(entry, wrap=True, selectable=True))
        lines.box.addStretch(1)
        self.body.addWidget(lines, 1)
        self.add_button(say("Close"), self.accept, "primary")


def _shorten(path: str, text: str) -> str:
    """The file's name instead of its whole path."""
    rest = text.removeprefix(f"{path}: ")
    return f"{path.replace(chr(92), '/').rsplit('/', 1)[-1]}: {rest}"


class DetailsDialog(Dialog):
    """Title, field, size of passages; where it came from; delete."""

    def __init__(self, parent: QWidget, document_id: str) -> None:
        super().__init__(say("Document"), parent, width=560)
        self._document: Document | None = None
        self.name = text_field(say("Title"))
        self.field = ComboBox(say("Field"))
        self.field.setEditable(True)
        line = self.field.lineEdit()
        assert line is not None
        line.setAccessibleName(say("Field"))
        self.window_box = spin_box(say("Characters a passage"), 200, 100_000, 4000)
        self.overlap_box = spin_box(say("Characters shared"), 0, 5000, 100)
        self.facts = label("", "muted", wrap=True)
        self.hash = CopyField(say("SHA-256 of the original"), "")
        form = QFormLayout()
        form.addRow(say("Title"), self.name)
        form.addRow(say("Field"), self.field)
        form.addRow(
            say("Passages"),
            row(self.window_box, label(say("characters, sharing")), self.overlap_box, None),
        )
        form.addRow(say("SHA-256"), self.hash)
        self.body.addLayout(form)
        self.body.addWidget(self.facts)
        self.add_button(say("Delete"), self._delete, "danger")
        self.add_cancel()
        self.save_button = self.add_button(say("Save"), self._save, "primary")
        self.save_button.setEnabled(False)
        run_query(self, _read, self.session.workspace, document_id).success(self._fill)

    def _fill(self, found: tuple[Document, list[Field], int]) -> None:
        document, fields, passages = found
        self._document = document
        self.name.setText(document.title)
        self.field.fill([("", ""), *((f.name, f.id) for f in fields)], document.field_id)
        self.window_box.setValue(document.window)
        self.overlap_box.setValue(document.overlap)
        self.hash.setText(document.sha256)
        self.hash.setCursorPosition(0)
        lines = [
            say(
                "{file}, {size}, {pages}, {characters} characters in {passages}, imported {time}",
                file=document.file,
                size=format_bytes(document.bytes),
                pages=count_of(document.pages, say("page"), say("pages")),
                characters=format_number(document.characters),
                passages=count_of(passages, say("passage"), say("passages")),
                time=format_time(document.added),
            ),
            *document.notes,
        ]
        self.facts.setText("\n".join(lines))
        self.save_button.setEnabled(True)

    def _save(self) -> None:
        if self._document is None:
            return
        run_verb(
            self,
            say("Edit document"),
            _edit,
            self._document,
            self.name.text().strip() or self._document.title,
            self.field.currentText().strip(),
            self.window_box.value(),
            self.overlap_box.value(),
        ).success(lambda _outcome: self.accept())

    def _delete(self) -> None:
        if self._document is not None:
            run_verb(self, say("Delete document"), delete_document, self._document.id).success(
                lambda _outcome: self.accept()
            )


def _read(workspace: Workspace, document_id: str) -> tuple[Document, list[Field], int]:
    return (
        workspace.get(Document, document_id),
        workspace.find(Field, order_by="name"),
        count_passages(workspace, document_id),
    )


def _edit(
    tx: Transaction, document: Document, title: str, field: str, window: int, overlap: int
) -> Document:
    changed: dict[str, Any] = {"title": title}
    changed["field_id"] = ensure_field(tx, field).id if field else ""
    if (window, overlap) != (document.window, document.overlap):
        recut_document(tx, document.id, window=window, overlap=overlap)
    return edit_document(tx, document.id, **changed)
