"""Buttons that show their key, and icon buttons that have a name."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QPushButton, QStyle, QStyleOptionButton, QStylePainter, QWidget

from app import icons, theme
from app.shortcuts import Shortcuts

Kind = Literal["", "primary", "danger", "quiet", "choice", "nav", "row", "link"]

_GAP = 8


class Button(QPushButton):
    """A push button, with the key that does the same drawn beside its text when it has one.

    Parameters
    ----------
    text
        What it does, a verb first.
    kind
        How much it stands out; one 'primary' a page.
    icon
        Name of an icon before the text.
    shortcuts, action
        Whose key to show, and to press the button with while it is visible.
    """

    #: Enter is the page's while this button has the keyboard, such as to hand in after a rating; where it
    #: is not, `Shortcuts` presses the button instead.
    passes_enter = False

    def __init__(
        self,
        text: str,
        kind: Kind = "",
        *,
        icon: str = "",
        shortcuts: Shortcuts | None = None,
        action: str = "",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(text, parent)
        self._hint = ""
        self._icon_name = icon
        self._shortcuts = shortcuts
        self._action = action
        self.setProperty("kind", kind)
        self.setAutoDefault(False)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        if icon:
            theme.notifier().changed.connect(self._dress)
            self._dress()
        if shortcuts is not None and action:
            shortcuts.changed.connect(self._show_hint)
            shortcuts.bind(self, action, self.press)
            self._show_hint()

    @property
    def hint(self) -> str:
        """The key shown."""
        return self._hint

    def set_hint(self, hint: str) -> None:
        """Show a key that works by other means."""
        self._hint = hint
        self.updateGeometry()
        self.update()

    def press(self) -> None:
        """What the key does: the same as a click, and at once. Qt's animated one comes 100 ms later, and
        is one click for two quick keys."""
        if self.isVisible():
            self.click()

    def _show_hint(self) -> None:
        if self._shortcuts is not None:
            self.set_hint(self._shortcuts.hint(self._action))

    def _dress(self) -> None:
        token = {"primary": "on_accent", "danger": "danger", "link": "accent", "": "text"}.get(
            self.property("kind") or "", "muted"
        )
        on_token = {"nav": "accent", "choice": "on_accent"}.get(self.property("kind") or "")
        self.setIcon(icons.icon(self._icon_name, token, on_token=on_token))
        side = theme.current().px(18)
        self.setIconSize(QSize(side, side))

    def _chip_width(self) -> int:
        if not self._hint:
            return 0
        return self._chip_metrics().horizontalAdvance(self._hint) + 12

    def _chip_metrics(self) -> QFontMetrics:
        return QFontMetrics(theme.current().ui_font(theme.SMALL - 0.5))

    # -- Qt ------------------------------------------------------------------------------

    def sizeHint(self) -> QSize:
        size = super().sizeHint()
        if self._hint:
            size.setWidth(size.width() + self._chip_width() + _GAP)
        return size

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter presses the button that has the keyboard, as Space does: Qt would do nothing, or press a
        dialog's default one even from its Cancel."""
        if _is_enter(event) and not self.passes_enter:
            if not event.isAutoRepeat():
                self.click()
            return
        super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._hint:
            super().paintEvent(event)
            return
        option = QStyleOptionButton()
        self.initStyleOption(option)
        painter = QStylePainter(self)
        painter.drawControl(QStyle.ControlElement.CE_PushButtonBevel, option)
        # The text is laid out in what the chip leaves, then the chip beside it.
        chip = self._chip_width()
        metrics = self.fontMetrics()
        text_width = metrics.horizontalAdvance(self.text())
        icon_width = 0 if self.icon().isNull() else self.iconSize().width() + 6
        left = (self.width() - text_width - icon_width - _GAP - chip) // 2
        option.rect = QRect(left - 20, 0, text_width + icon_width + 40, self.height())
        painter.drawControl(QStyle.ControlElement.CE_PushButtonLabel, option)
        self._paint_chip(
            painter, QRect(left + icon_width + text_width + _GAP, 0, chip, self.height())
        )

    def _paint_chip(self, painter: QPainter, room: QRect) -> None:
        metrics = self._chip_metrics()
        height = metrics.height() + 2
        frame = QRect(room.x(), (self.height() - height) // 2, room.width(), height)
        ink = self._ink()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(theme.current().ui_font(theme.SMALL - 0.5))
        edge = (
            ink if self.property("kind") == "primary" else theme.current().color("control_border")
        )
        painter.setPen(QPen(edge, 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(frame.adjusted(0, 0, -1, -1), 4, 4)
        painter.setPen(ink)
        painter.drawText(frame, Qt.AlignmentFlag.AlignCenter, self._hint)

    def _ink(self) -> QColor:
        current = theme.current()
        if not self.isEnabled():
            return current.color("muted")
        filled = self.property("kind") == "primary" or (
            self.property("kind") == "choice" and self.isChecked()
        )
        return current.color("on_accent" if filled else "muted")


def _is_enter(event: QKeyEvent) -> bool:
    held = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
    return event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not held


class IconButton(Button):
    """A button that is only an icon; its name is spoken and shown as a tooltip."""

    def __init__(self, icon: str, name: str, *, parent: QWidget | None = None) -> None:
        super().__init__("", "quiet", icon=icon, parent=parent)
        self.set_name(name)

    def set_name(self, name: str) -> None:
        """Say what it does."""
        self.setAccessibleName(name)
        self.setToolTip(name)

    def sizeHint(self) -> QSize:
        side = theme.current().px(32)
        return QSize(side, side)
