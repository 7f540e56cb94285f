"""Every page, in every theme and text size: names, contrast as drawn, nothing clipped, no traps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QAccessible, QColor, QImage
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QApplication,
    QLabel,
    QLineEdit,
    QScrollArea,
    QToolButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.pages import PAGES
from app.theme import contrast
from app.widgets.basics import ElidedLabel
from app.windows.main import MainWindow
from core.settings import Settings
from tests.app.conftest import settle

Open = Callable[..., MainWindow]
SIZES = {"wide": (1440, 900), "narrow": (1100, 700)}


def settings(theme: str = "light", scale: int = 100) -> Settings:
    return Settings(person="Ann", theme=theme, text_scale=scale, idle_lock_minutes=0)  # type: ignore[arg-type]


def shown(window: MainWindow, kind: type[QWidget] = QWidget) -> Iterator[QWidget]:
    """Widgets of a kind that a person can see at least part of."""
    for widget in window.findChildren(kind):
        if widget.isVisibleTo(window) and not widget.visibleRegion().isEmpty():
            yield widget


def each_page(window: MainWindow, qtbot: QtBot) -> Iterator[str]:
    """Show every page in turn, with what it has read."""
    for entry in PAGES:
        window.work.show_page(entry.name)
        settle(window, qtbot)
        yield entry.name


def describe(widget: QWidget) -> str:
    text = getattr(widget, "text", lambda: "")
    return f"{type(widget).__name__} '{widget.accessibleName() or (text() if callable(text) else text)}'"


def spoken_name(widget: QWidget) -> str:
    interface = QAccessible.queryAccessibleInterface(widget)
    return interface.text(QAccessible.Text.Name) if interface is not None else ""


def test_every_focusable_control_has_a_name(open_window: Open, qtbot: QtBot) -> None:
    window = open_window(settings())
    nameless = []
    for page in each_page(window, qtbot):
        for widget in shown(window):
            inner = isinstance(widget.parentWidget(), QAbstractScrollArea) and (
                widget.parentWidget().viewport() is widget  # type: ignore[union-attr]
            )
            if widget.focusPolicy() == Qt.FocusPolicy.NoFocus or inner:
                continue
            if widget.focusProxy() is not None or isinstance(widget, QScrollArea):
                continue
            if not spoken_name(widget).strip():
                nameless.append(f"{page}: {describe(widget)} in {type(widget.parent()).__name__}")
    assert not nameless, "\n".join(nameless)


def test_passphrases_are_not_spoken(make_window: Open, qtbot: QtBot) -> None:
    window = make_window(settings())
    field = window.welcome.new_form.passphrase
    field.setText("secret words here")
    interface = QAccessible.queryAccessibleInterface(field)
    assert "secret" not in interface.text(QAccessible.Text.Value)
    assert field.echoMode() == QLineEdit.EchoMode.Password


def drawn_contrast(image: QImage, area: QRect) -> float | None:
    """Contrast of the ink that differs most from the ground, the most frequent colour; None if plain."""
    area = area.intersected(image.rect())
    counts: Counter[int] = Counter()
    for y in range(area.top(), area.bottom() + 1):
        for x in range(area.left(), area.right() + 1):
            counts[image.pixel(x, y)] += 1
    if len(counts) < 3:
        return None
    ground = QColor(counts.most_common(1)[0][0])
    return max(contrast(QColor(pixel), ground) for pixel in counts)


@pytest.mark.parametrize("theme", ["light", "dark", "high-contrast"])
def test_text_is_drawn_with_contrast(open_window: Open, qtbot: QtBot, theme: str) -> None:
    window = open_window(settings(theme))
    faint = []
    for page in each_page(window, qtbot):
        image = window.grab().toImage()
        for widget in (*shown(window, QLabel), *shown(window, QAbstractButton)):
            text = widget.text()  # type: ignore[attr-defined]
            if not text.strip() or not widget.isEnabled():
                continue
            seen = widget.visibleRegion().boundingRect()
            area = seen.translated(widget.mapTo(window, QPoint(0, 0)))
            found = drawn_contrast(image, area)
            # An icon is a graphic, which WCAG asks 3:1 of.
            least = 3.0 if isinstance(widget, QToolButton) else 4.5
            if found is not None and found < least:
                faint.append(f"{page}: {describe(widget)} {found:.1f}")
    assert not faint, "\n".join(faint)


def clipped(widget: QWidget) -> bool:
    """Whether a label's or button's text has less room than it takes."""
    text = widget.text()  # type: ignore[attr-defined]
    if not text.strip() or isinstance(widget, ElidedLabel):
        return False
    if isinstance(widget, QLabel):
        if widget.wordWrap():
            return widget.height() + 1 < widget.heightForWidth(widget.width())
        return widget.width() + 1 < widget.sizeHint().width()
    return widget.width() + 2 < widget.minimumSizeHint().width() - 8


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scale", [100, 125, 150])
def test_no_text_is_clipped(open_window: Open, qtbot: QtBot, scale: int, size: str) -> None:
    window = open_window(settings(scale=scale), size=SIZES[size])
    assert (window.width(), window.height()) == SIZES[size]
    cut = []
    for page in each_page(window, qtbot):
        for widget in (*shown(window, QLabel), *shown(window, QAbstractButton)):
            if clipped(widget):
                cut.append(
                    f"{page}: {describe(widget)} has {widget.width()}x{widget.height()},"
                    f" wants {widget.sizeHint().width()}x{widget.sizeHint().height()}"
                )
        right = window.work.stack.mapTo(window, QPoint(0, 0)).x() + window.work.stack.width()
        if right > window.width():
            cut.append(f"{page}: the page is wider than the window by {right - window.width()}")
    assert not cut, "\n".join(cut)


def test_tab_goes_round_every_page_and_comes_back(open_window: Open, qtbot: QtBot) -> None:
    window = open_window(settings())
    trapped = []
    for page in each_page(window, qtbot):
        window.work.rail.take_focus()
        start = QApplication.focusWidget()
        visited: list[QWidget] = []
        for _step in range(300):
            focused = QApplication.focusWidget()
            qtbot.keyClick(focused, Qt.Key.Key_Tab)
            now = QApplication.focusWidget()
            if now is start:
                break
            if now is focused or now in visited:
                trapped.append(f"{page}: {describe(now)} keeps the focus")
                break
            visited.append(now)
        else:
            trapped.append(f"{page}: Tab never comes back")
        if len(visited) < 2:
            trapped.append(f"{page}: only {len(visited)} stops")
    assert not trapped, "\n".join(trapped)


def test_focus_is_visible(open_window: Open, qtbot: QtBot) -> None:
    window = open_window(settings())
    invisible = []
    for page in each_page(window, qtbot):
        window.work.rail.take_focus()
        for _step in range(40):
            focused = QApplication.focusWidget()
            qtbot.keyClick(focused, Qt.Key.Key_Tab)
            now = QApplication.focusWidget()
            if now is window.work.rail or now is focused:
                break
            with_focus = now.grab().toImage()
            now.clearFocus()
            if with_focus == now.grab().toImage():
                invisible.append(f"{page}: {describe(now)}")
            now.setFocus(Qt.FocusReason.TabFocusReason)
            if isinstance(now.parent(), QWidget) and type(now).__name__ == "NavButton":
                break
    assert not invisible, "\n".join(invisible)
