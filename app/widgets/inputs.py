"""Fields: search, passphrase with its strength, and combo boxes and sliders the wheel leaves alone."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, TypeVar

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QAction, QGuiApplication, QKeyEvent, QPaintEvent, QWheelEvent
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QComboBox,
    QDoubleSpinBox,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QProgressBar,
    QSizePolicy,
    QSpinBox,
    QStyle,
    QStyleOptionComboBox,
    QStylePainter,
    QVBoxLayout,
    QWidget,
)

from app import icons, theme
from app.strings import say
from app.widgets.basics import Label, label, row

_SEARCH_MILLISECONDS = 180
#: Characters that a combo box with little room keeps, and pixels its text keeps from the arrow.
_SHORTEST, _CLEAR = 10, 4

_LOOKALIKES = str.maketrans("0134578@$!", "oieastbasi")
_WORD = 6

_Box = TypeVar("_Box", bound=QAbstractSpinBox)


class SearchField(QLineEdit):
    """Emits `searched` shortly after typing stops; Esc empties it, Down goes to the list."""

    searched = Signal(str)
    left_down = Signal()

    def __init__(self, placeholder: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setPlaceholderText(placeholder)
        self.setAccessibleName(placeholder)
        self.setClearButtonEnabled(True)
        self._icon = QAction(self)
        self.addAction(self._icon, QLineEdit.ActionPosition.LeadingPosition)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_SEARCH_MILLISECONDS)
        self._timer.timeout.connect(self._emit)
        self.textChanged.connect(self._on_text)
        theme.notifier().changed.connect(self._dress)
        self._dress()

    def _dress(self) -> None:
        self._icon.setIcon(icons.icon("search"))

    def _on_text(self) -> None:
        self._timer.start()

    def _emit(self) -> None:
        self.searched.emit(self.text())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.text():
            self.clear()
            return
        if event.key() == Qt.Key.Key_Down:
            self.left_down.emit()
            return
        super().keyPressEvent(event)


class ComboBox(QComboBox):
    """A combo box that the wheel changes only while it has the focus.

    Parameters
    ----------
    stretch
        Take the room there is instead of that of the longest entry, and cut what is too long.
    """

    def __init__(self, name: str, parent: QWidget | None = None, *, stretch: bool = False) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        policy = QComboBox.SizeAdjustPolicy
        self.setSizeAdjustPolicy(policy.AdjustToContents)
        if stretch:
            self.setSizeAdjustPolicy(policy.AdjustToMinimumContentsLengthWithIcon)
            self.setMinimumContentsLength(_SHORTEST)
            self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def fill(self, entries: Sequence[tuple[str, Any]], current: Any = None) -> None:
        """Offer (text, value) pairs without telling anybody.

        The same ones again are left as they are: somebody may have pulled the list down to choose.
        """
        was = self.blockSignals(True)
        offered = [(self.itemText(row), self.itemData(row)) for row in range(self.count())]
        if offered == list(entries):
            self.setCurrentIndex(0 if offered else -1)
        else:
            self.clear()
            for text, value in entries:
                self.addItem(text, value)
        self.blockSignals(was)
        if current is not None:
            self.choose(current)

    def choose(self, value: Any) -> None:
        """Select a value without telling anybody."""
        was = self.blockSignals(True)
        self.setCurrentIndex(self.findData(value))
        self.blockSignals(was)

    @property
    def value(self) -> Any:
        return self.currentData()

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()

    def paintEvent(self, event: QPaintEvent) -> None:
        """As Qt draws it, but what has no room ends in '…' instead of in the middle of a letter."""
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        field = self.style().subControlRect(
            QStyle.ComplexControl.CC_ComboBox,
            option,
            QStyle.SubControl.SC_ComboBoxEditField,
            self,
        )
        # As wide as its longest entry, there is nothing to cut.
        if self.sizeAdjustPolicy() != QComboBox.SizeAdjustPolicy.AdjustToContents:
            option.currentText = self.fontMetrics().elidedText(
                option.currentText, Qt.TextElideMode.ElideRight, field.width() - _CLEAR
            )
        painter = QStylePainter(self)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)


class _WheelGuard(QObject):
    """Keeps the wheel from a spin box that has no focus."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        unfocused = isinstance(watched, QWidget) and not watched.hasFocus()
        if event.type() == QEvent.Type.Wheel and unfocused:
            event.ignore()
            return True
        return False


def captioned(words: str, field: QWidget) -> QHBoxLayout:
    """A field at the right of words on it, which take the room and wrap."""
    caption = label(words, wrap=True)
    caption.setBuddy(field)
    line = row(caption, field)
    line.setStretch(0, 1)
    return line


def spin_box(name: str, low: int, high: int, value: int, *, suffix: str = "") -> QSpinBox:
    """A whole-number field."""
    box = QSpinBox()
    box.setRange(low, high)
    box.setValue(value)
    box.setSuffix(suffix)
    return _guard(box, name)


def decimal_box(
    name: str, low: float, high: float, value: float, *, decimals: int = 2, step: float = 0.05
) -> QDoubleSpinBox:
    """A decimal-number field."""
    box = QDoubleSpinBox()
    box.setRange(low, high)
    box.setDecimals(decimals)
    box.setSingleStep(step)
    box.setValue(value)
    return _guard(box, name)


def _guard(box: _Box, name: str) -> _Box:
    box.setAccessibleName(name)
    box.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    box.installEventFilter(_WheelGuard(box))
    # The style sheet's padding does not reach the text of a spin box.
    box.lineEdit().setTextMargins(theme.S, 0, 0, 0)
    return box


def text_field(name: str, text: str = "", *, placeholder: str = "") -> QLineEdit:
    """A one-line field with a name for assistive tools."""
    field = QLineEdit(text)
    field.setAccessibleName(name)
    field.setPlaceholderText(placeholder)
    return field


class CopyField(QLineEdit):
    """A long value without blanks, such as a hash, to look at and to copy."""

    def __init__(self, name: str, text: str, parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self.setAccessibleName(name)
        self.setReadOnly(True)
        self.setCursorPosition(0)
        self.setToolTip(text)
        self._copy = QAction(say("Copy"), self)
        self._copy.triggered.connect(self.copy_all)
        self.addAction(self._copy, QLineEdit.ActionPosition.TrailingPosition)
        theme.notifier().changed.connect(self._dress)
        self._dress()

    @Slot()
    def copy_all(self) -> None:
        """Put the whole value on the clipboard."""
        QGuiApplication.clipboard().setText(self.text())

    def _dress(self) -> None:
        self._copy.setIcon(icons.icon("copy"))


class PassphraseField(QLineEdit):
    """Hidden text with a button that shows it while wanted. Never spoken, never kept for undo."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setEchoMode(QLineEdit.EchoMode.Password)
        self.setInputMethodHints(
            Qt.InputMethodHint.ImhHiddenText
            | Qt.InputMethodHint.ImhSensitiveData
            | Qt.InputMethodHint.ImhNoPredictiveText
            | Qt.InputMethodHint.ImhNoAutoUppercase
        )
        self._toggle = QAction(say("Show the passphrase"), self)
        self._toggle.setCheckable(True)
        self._toggle.toggled.connect(self._show)
        self.addAction(self._toggle, QLineEdit.ActionPosition.TrailingPosition)
        theme.notifier().changed.connect(self._dress)
        self._dress()

    def wipe(self) -> None:
        """Empty it and hide it again."""
        self._toggle.setChecked(False)
        self.clear()

    def _show(self, shown: bool) -> None:
        mode = QLineEdit.EchoMode.Normal if shown else QLineEdit.EchoMode.Password
        self.setEchoMode(mode)
        self._toggle.setText(say("Hide the passphrase") if shown else say("Show the passphrase"))
        self._dress()

    def _dress(self) -> None:
        self._toggle.setIcon(icons.icon("eye-off" if self._toggle.isChecked() else "eye"))


def passphrase_bits(passphrase: str) -> float:
    """A cautious estimate of how hard a passphrase is to guess, in bits.

    The smaller of what its characters' variety allows and, for words, some 11 bits a word; repeated
    characters and runs such as 'abcd' or '1234' count once.
    """
    if not passphrase:
        return 0.0
    kinds = (
        (26, any(c.islower() and c.isascii() for c in passphrase)),
        (26, any(c.isupper() and c.isascii() for c in passphrase)),
        (10, any(c.isdigit() for c in passphrase)),
        (32, any(not c.isalnum() and c.isascii() for c in passphrase)),
        (100, any(not c.isascii() for c in passphrase)),
    )
    alphabet = sum(size for size, used in kinds if used) or 1
    fresh = 1 + sum(
        1 for before, after in pairwise(passphrase) if ord(after) - ord(before) not in (-1, 0, 1)
    )
    by_characters = min(fresh, 2 * len(set(passphrase))) * math.log2(alphabet)
    words = [word for word in passphrase.split() if len(word) > 2]
    if len(words) >= 2 and all(word.isalpha() for word in words):
        return min(by_characters, 11.0 * len(set(words)) + 2)
    # Letters in a row, 'pa55w0rd' included, may well be a word: a dictionary finds it soon.
    plain = passphrase.translate(_LOOKALIKES)
    longest = max((len(run) for run in re.findall(r"[^\W\d_]+", plain)), default=0)
    if longest >= _WORD:
        rest = len(passphrase) - longest
        return min(by_characters, 12.0 + 1.5 * max(0, longest - 8) + 5.0 * rest)
    return by_characters


class StrengthMeter(QWidget):
    """How hard a passphrase is to guess: a bar and words, never colour alone."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.XS)
        self._bar = QProgressBar()
        self._bar.setRange(0, 100)
        self._bar.setTextVisible(False)
        self._bar.setAccessibleName(say("Strength of the passphrase"))
        self._words = label("", "small", wrap=True)
        layout.addWidget(self._bar)
        layout.addWidget(self._words)
        self.rate("")

    @property
    def words(self) -> str:
        return self._words.text()

    def rate(self, passphrase: str) -> None:
        """Show the strength of a passphrase."""
        bits = passphrase_bits(passphrase)
        if not passphrase:
            words = say("Several unrelated words are easy to remember and hard to guess.")
        elif len(passphrase) < 8:
            words = say("Too short: at least 8 characters.")
        elif bits < 35:
            words = say("Weak: guessed within hours. Add words.")
        elif bits < 50:
            words = say("Fair: withstands a casual thief. Another word makes it good.")
        elif bits < 70:
            words = say("Good: out of reach for most.")
        else:
            words = say("Strong.")
        self._bar.setValue(min(100, round(bits / 80 * 100)))
        self._words.setText(words)


class Form(QFormLayout):
    """Labels above their fields; a label names its field for assistive tools."""

    def __init__(self) -> None:
        super().__init__()
        self.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapAllRows)
        self.setContentsMargins(0, 0, 0, 0)
        self.setVerticalSpacing(theme.XS)
        self.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)

    def add(self, text: str, field: QWidget, help_text: str = "") -> QLabel:
        """A field under its label, with a line of help below."""
        caption = Label(text)
        caption.setProperty("role", "strong")
        caption.setBuddy(field)
        if not field.accessibleName():
            field.setAccessibleName(text)
        self.addRow(caption, field)
        if help_text:
            words = label(help_text, "small", wrap=True)
            field.setAccessibleDescription(help_text)
            self.addRow(words)
        self.add_gap()
        return caption

    def add_gap(self) -> None:
        """The distance to the next field, after what was not added with `add`."""
        self.addItem(_gap())


def _gap() -> Any:
    from PySide6.QtWidgets import QSizePolicy, QSpacerItem

    return QSpacerItem(0, theme.S, QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Fixed)
