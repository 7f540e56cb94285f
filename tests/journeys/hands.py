"""A person's hands at the window: what they press is found by its name, through what they can see.

`Mouse` clicks where a control lies, so that one hidden, covered or scrolled away cannot be pressed.
`Keyboard` has no mouse: it goes from control to control with Tab, and fails where the way does not lead.
Keys go to the window that has the focus, as the desktop sends them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QComboBox,
    QLabel,
    QScrollArea,
    QTabBar,
    QWidget,
)
from pytestqt.exceptions import TimeoutError as WaitedInVain
from pytestqt.qtbot import QtBot

from tests.event_loop import spin

_MOST_TABS = 120
#: Long enough for a machine that has much else to do; what comes at once costs nothing.
_WAIT = 60_000


class Hands:
    """What both ways of working share: waiting for a control, and typing."""

    def __init__(self, qtbot: QtBot) -> None:
        self.qtbot = qtbot

    # -- to be done differently ------------------------------------------------------------

    def press(self, name: str) -> None:
        """Press the button of this name."""
        raise NotImplementedError

    def reach(self, name: str) -> QWidget:
        """Put the keyboard focus on the control of this name."""
        raise NotImplementedError

    def go(self, page: str, key: Qt.Key) -> None:
        """Go to a page of the rail, which a key leads to as well."""
        raise NotImplementedError

    def choose(self, name: str, words: str) -> None:
        """Choose the entry of a drop-down list that has these words."""
        raise NotImplementedError

    def turn_to(self, tab: str) -> None:
        """Bring a tab to the front."""
        raise NotImplementedError

    # -- the same for both -----------------------------------------------------------------

    def fill(self, name: str, text: str) -> None:
        """Replace what stands in a field."""
        self.reach(name)
        self.key(Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
        self.key(Qt.Key.Key_Delete)
        self.type(text)

    def type(self, text: str) -> None:
        """Type characters, to wherever the focus is."""
        for letter in text:
            QTest.keyClick(self._target(), letter)

    def key(
        self,
        key: Qt.Key,
        modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier,
    ) -> None:
        """Press one key."""
        QTest.keyClick(self._target(), key, modifier)

    def wait(self, condition: Callable[[], object], timeout: int = _WAIT) -> None:
        """Wait until something is so; what had the keyboard is said when it does not come."""

        def look() -> bool:
            _bring_to_front()
            return bool(condition())

        try:
            self.qtbot.waitUntil(look, timeout=timeout)
        except WaitedInVain as error:
            focus = _focus()
            where = type(focus).__name__, names_of(focus) if focus is not None else set()
            raise AssertionError(
                f"waited in vain; keyboard at {where}, window {QGuiApplication.focusWindow()}, "
                f"front {_bring_to_front()}, dialog {_words_of(QApplication.activeModalWidget())}"
            ) from error

    def find(self, name: str) -> QWidget:
        """The control of a name in the window at the front, once it is there and enabled.

        Raises
        ------
        AssertionError
            With the names that are there, when it does not come.
        """
        found: list[QWidget] = []

        def look() -> bool:
            found[:] = [w for w in self._controls() if name in names_of(w)]
            # What only frames a control may have its name.
            found.sort(key=lambda w: w.focusPolicy() == Qt.FocusPolicy.NoFocus)
            return bool(found)

        try:
            self.wait(look)
        except Exception:
            there = sorted({n for w in self._controls() for n in names_of(w) if n})
            raise AssertionError(f"no control '{name}' among {there}") from None
        return found[0]

    def find_tab(self, words: str) -> tuple[QTabBar, int]:
        """The row of tabs in which one begins with these words, and its place there."""
        found: list[tuple[QTabBar, int]] = []

        def look() -> bool:
            bars = [widget for widget in self._controls() if isinstance(widget, QTabBar)]
            found[:] = [
                (bar, place)
                for bar in bars
                for place in range(bar.count())
                if bar.tabText(place).startswith(words)
            ]
            return bool(found)

        self.wait(look)
        return found[0]

    def _target(self) -> object:
        """The window that keys go to: the one at the front, or what popped up over it."""

        def can_type() -> bool:
            front, target = _front(), QGuiApplication.focusWindow()
            if front is None or target is None or not target.isVisible():
                return False
            # A dialog that is just closing may still be said to have the keyboard, and eats what is typed.
            return target is front.windowHandle() or QApplication.activePopupWidget() is not None

        self.wait(can_type)
        return QGuiApplication.focusWindow()

    def _controls(self) -> Iterator[QWidget]:
        front = _front()
        if front is None:
            return
        for widget in front.findChildren(QWidget):
            if widget.window() is front and widget.isVisible() and widget.isEnabled():
                yield widget


def names_of(widget: QWidget) -> set[str]:
    """What a person may call a control: the words on it, or those a screen reader says."""
    names = {widget.accessibleName()}
    if isinstance(widget, QAbstractButton):
        names.add(widget.text().replace("&", ""))
    return names


class Mouse(Hands):
    """Works with the mouse, and with keys where text is typed."""

    def press(self, name: str) -> None:
        widget = self.find(name)
        self._bring_into_view(widget)
        self._click(widget, widget.rect().center())

    def reach(self, name: str) -> QWidget:
        widget = self.find(name)
        self._bring_into_view(widget)
        self._click(widget, widget.rect().center())
        self.wait(lambda: widget.isAncestorOf(_focus()) or _focus() is widget)
        return widget

    def turn_to(self, tab: str) -> None:
        bar, place = self.find_tab(tab)
        self._click(bar, bar.tabRect(place).center())

    def choose(self, name: str, words: str) -> None:
        combo = self.find(name)
        assert isinstance(combo, QComboBox)
        self._bring_into_view(combo)
        self._click(combo, combo.rect().center())
        view = combo.view()
        self.wait(view.isVisible)

        def pick() -> bool:
            if view.isVisible():
                # Right after it opened, a list takes a release for the end of the click that opened it.
                entry = combo.model().index(_entry_of(combo, words), 0)
                view.scrollTo(entry)
                place = view.visualRect(entry).center()
                QTest.mouseMove(view.viewport(), place)
                QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
            return words in combo.currentText() and not view.isVisible()

        self.wait(pick)

    def go(self, page: str, key: Qt.Key) -> None:
        self.wait(lambda: _front() is not None and QApplication.activeModalWidget() is None)
        button = self.find(page)
        self._bring_into_view(button)
        self._click(button, button.rect().center())

    def _bring_into_view(self, widget: QWidget) -> None:
        """Scroll, as with the wheel, until it shows; what just appeared is laid out first."""
        spin(20)
        area = widget.parentWidget()
        while area is not None:
            if isinstance(area, QScrollArea):
                area.ensureWidgetVisible(widget)
            area = area.parentWidget()
        spin(0)

    def _click(self, widget: QWidget, place: QPoint) -> None:
        window = widget.window()
        hit: list[QWidget | None] = [None]

        def lies_open() -> bool:
            hit[0] = window.childAt(widget.mapTo(window, place))
            return hit[0] is widget or (hit[0] is not None and widget.isAncestorOf(hit[0]))

        try:
            # A moment may pass until what just came has its place.
            self.wait(lies_open)
        except AssertionError as error:
            raise AssertionError(f"{names_of(widget)} is covered by {hit[0]}") from error
        handle = window.windowHandle()
        assert handle is not None
        point = widget.mapTo(window, place)
        QTest.mouseClick(handle, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, point)


class Keyboard(Hands):
    """Never touches the mouse."""

    def press(self, name: str) -> None:
        widget = self.reach(name)
        assert isinstance(widget, QAbstractButton | QTabBar), f"'{name}' is no button"
        self.key(Qt.Key.Key_Space)

    def reach(self, name: str) -> QWidget:
        return self._tab_to(name, self.find(name))

    def turn_to(self, tab: str) -> None:
        bar, place = self.find_tab(tab)
        self._tab_to(tab, bar)
        while bar.currentIndex() != place:
            ahead = place > bar.currentIndex()
            self.key(Qt.Key.Key_Right if ahead else Qt.Key.Key_Left)

    def _tab_to(self, name: str, wanted: QWidget) -> QWidget:
        seen: list[str] = []
        for _step in range(_MOST_TABS):
            focus = _focus()
            if focus is not None and (focus is wanted or name in names_of(focus)):
                return focus
            seen.append("/".join(sorted(names_of(focus) - {""})) if focus is not None else "-")
            self.key(Qt.Key.Key_Tab)
        raise AssertionError(f"Tab does not lead to '{name}', only over {seen}")

    def choose(self, name: str, words: str) -> None:
        combo = self.reach(name)
        assert isinstance(combo, QComboBox)
        wanted = _entry_of(combo, words)
        while combo.currentIndex() != wanted:
            self.key(Qt.Key.Key_Down if combo.currentIndex() < wanted else Qt.Key.Key_Up)

    def go(self, page: str, key: Qt.Key) -> None:
        self.wait(lambda: _front() is not None and QApplication.activeModalWidget() is None)
        self.key(key, Qt.KeyboardModifier.ControlModifier)


def _entry_of(combo: QComboBox, words: str) -> int:
    found = [place for place in range(combo.count()) if words in combo.itemText(place)]
    assert found, f"no entry '{words}' among {[combo.itemText(n) for n in range(combo.count())]}"
    return found[0]


def _words_of(dialog: QWidget | None) -> list[str]:
    """What a dialog says."""
    labels = dialog.findChildren(QLabel) if dialog is not None else []
    return [label.text() for label in labels if label.text()]


def _front() -> QWidget | None:
    """The window at the front, with the keyboard."""
    front = _bring_to_front()
    if front is not None and not front.isActiveWindow():
        spin(10)
    return front


def _bring_to_front() -> QWidget | None:
    """Where a closed dialog leaves no window active, as happens without a desktop, activate the one below
    it, which a desktop does by itself."""
    front = QApplication.activeModalWidget() or QApplication.activeWindow()
    if front is None:
        front = next((w for w in QApplication.topLevelWidgets() if w.isVisible()), None)
    if front is not None and not front.isActiveWindow():
        front.activateWindow()
    return front


def _focus() -> QWidget | None:
    return QApplication.focusWidget()
