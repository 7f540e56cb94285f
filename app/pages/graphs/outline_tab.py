"""The outline with a field for the next step below it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget

from app import theme
from app.canvas.document import GraphDocument
from app.pages.graphs.outline import OutlineView, summary
from app.strings import say
from app.widgets.basics import label
from core.graphs.linter import lint_text


class StepField(QLineEdit):
    """Enter adds what is typed as the last step and waits for the next; Up goes to the list."""

    def __init__(self, document: GraphDocument, outline: OutlineView) -> None:
        super().__init__()
        self._document, self._outline = document, outline
        self.setAccessibleName(say("New step"))
        self.setPlaceholderText(say("New step, then Enter"))
        self.setAccessibleDescription(say("Enter adds it at the end of the list."))
        self.textChanged.connect(self._lint)
        self.returnPressed.connect(self._add)

    def _lint(self, text: str) -> None:
        graph = self._document.graph
        words = len(text.split())
        issues = lint_text(text, graph.graph.assumptions) if graph is not None and words > 1 else []
        self._outline.hinted.emit(issues[0].message if issues else "")

    @Slot()
    def _add(self) -> None:
        text = self.text().strip()
        if text and self._document.graph is not None and not self._document.read_only:
            self.clear()
            self._document.add_step(text)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Up:
            self._outline.setFocus(Qt.FocusReason.OtherFocusReason)
            return
        if event.key() == Qt.Key.Key_Escape:
            self.clear()
            self._outline.setFocus(Qt.FocusReason.OtherFocusReason)
            return
        super().keyPressEvent(event)


class OutlineTab(QWidget):
    """List, field, and what the linter says of what is being typed."""

    def __init__(self, document: GraphDocument, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.document = document
        self.view = OutlineView(document, say("Steps of the graph"))
        self.field = StepField(document, self.view)
        self.hint = label("", "pill-warning", wrap=True)
        self.hint.hide()
        self.counts = label("", "small")
        box = QVBoxLayout(self)
        box.setContentsMargins(0, theme.S, 0, 0)
        box.setSpacing(theme.S)
        box.addWidget(self.view, 1)
        box.addWidget(self.hint)
        box.addWidget(self.field)
        box.addWidget(self.counts)
        self.view.hinted.connect(self._show_hint)
        document.changed.connect(self._on_changed)
        self._on_changed()

    def _show_hint(self, text: str) -> None:
        self.hint.setText(text)
        self.hint.setVisible(bool(text))

    def _on_changed(self) -> None:
        self.counts.setText(summary(self.document))
        self.field.setEnabled(self.document.graph is not None and not self.document.read_only)
