"""Typing a step where it stands on the canvas, linted while one types."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from app import theme
from app.strings import say
from app.widgets.basics import label
from core.graphs.linter import lint_text


class InlineEditor(QLineEdit):
    """A field over a card. Enter or leaving keeps the text, Esc does not.

    Parameters
    ----------
    done
        Called once with the text, '' when it was given up.
    """

    closed = Signal()

    def __init__(
        self,
        parent: QWidget,
        box: QRect,
        text: str,
        done: Callable[[str], object],
        *,
        assumptions: Sequence[str] = (),
        before: Sequence[str] = (),
        name: str = "",
    ) -> None:
        super().__init__(text, parent)
        self._done = done
        self._assumptions, self._before = assumptions, before
        self._over = False
        self.setAccessibleName(name or say("Text of the step"))
        self.setPlaceholderText(say("Verb first, one action"))
        width = max(box.width(), theme.current().px(240))
        height = self.sizeHint().height()
        left = max(4, min(box.center().x() - width // 2, parent.width() - width - 4))
        top = max(4, min(box.center().y() - height // 2, parent.height() - 2 * height - 8))
        self.setGeometry(left, top, width, height)
        self._hint = label("", "pill-warning", wrap=True)
        self._hint.setParent(parent)
        self._hint.hide()
        self.textChanged.connect(self._lint)
        self.selectAll()
        self.show()
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def hint(self) -> str:
        """What the linter says of the text as it stands."""
        return self._hint.text() if not self._hint.isHidden() else ""

    def _lint(self, text: str) -> None:
        issues = lint_text(text, self._assumptions, self._before) if len(text.split()) > 1 else []
        self._hint.setVisible(bool(issues))
        if not issues:
            return
        self._hint.setText(issues[0].message)
        self._hint.setFixedWidth(self.width())
        self._hint.setFixedHeight(self._hint.heightForWidth(self.width()) + 2)
        self._hint.move(self.x(), self.y() + self.height() + 4)
        self._hint.raise_()
        self.setAccessibleDescription(issues[0].message)

    def finish(self, keep: bool) -> None:
        """Close it, with or without its text."""
        if self._over:
            return
        self._over = True
        text = self.text().strip() if keep else ""
        self._hint.deleteLater()
        self.hide()
        parent = self.parentWidget()
        self.deleteLater()
        view = parent.parentWidget() if parent is not None else None
        if view is not None:
            view.setFocus(Qt.FocusReason.OtherFocusReason)
        self._done(text)
        self.closed.emit()

    # -- Qt ------------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.finish(True)
            return
        if event.key() == Qt.Key.Key_Escape:
            self.finish(False)
            return
        super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason:
            self.finish(True)
