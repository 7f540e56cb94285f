"""The navigation rail: pages in four groups, moved through with the arrow keys."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QButtonGroup, QFrame, QVBoxLayout, QWidget

from app import theme
from app.pages import PAGES, PageEntry
from app.shortcuts import Shortcuts
from app.strings import format_number
from app.widgets.basics import Scroller, label
from app.widgets.buttons import Button

#: With names, and where there is room for icons only.
_WIDTH, _NARROW = 176, 64


class Rail(QFrame):
    """Emits `chosen` with a page's name. One Tab stop; Up and Down move inside."""

    chosen = Signal(str)

    def __init__(self, shortcuts: Shortcuts, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "rail")
        self.setAccessibleName("Pages")
        self._shortcuts = shortcuts
        self._buttons: dict[str, NavButton] = {}
        self._headings: list[QWidget] = []
        self._compact = False
        self._group = QButtonGroup(self)
        self._group.setExclusive(True)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 1, 0)
        scroller = Scroller()
        box = scroller.box
        box.setContentsMargins(theme.S, theme.S, theme.S, theme.S)
        box.setSpacing(0)
        group = ""
        for entry in PAGES:
            if entry.group != group:
                group = entry.group
                box.addSpacing(theme.XS)
                heading = label(group.upper(), "overline")
                heading.setContentsMargins(theme.M, theme.XS, 0, 2)
                heading.setAccessibleName(group)
                box.addWidget(heading)
                self._headings.append(heading)
            button = NavButton(entry)
            button.clicked.connect(self._on_click)
            button.installEventFilter(self)
            self._group.addButton(button)
            self._buttons[entry.name] = button
            box.addWidget(button)
        box.addStretch(1)
        outer.addWidget(scroller)
        theme.notifier().changed.connect(self._fit)
        shortcuts.changed.connect(self._fit)
        self._fit()

    def select(self, name: str) -> None:
        """Mark a page as the one shown."""
        for other, button in self._buttons.items():
            button.setChecked(other == name)
            button.setFocusPolicy(
                Qt.FocusPolicy.StrongFocus if other == name else Qt.FocusPolicy.ClickFocus
            )

    def set_count(self, name: str, count: int | None) -> None:
        """Show a number beside a page's name; None or 0 shows none."""
        self._buttons[name].set_count(count or 0)

    def set_compact(self, compact: bool) -> None:
        """Icons only; the names are in the tooltips, and spoken."""
        if compact == self._compact:
            return
        self._compact = compact
        for heading in self._headings:
            heading.setVisible(not compact)
        for button in self._buttons.values():
            button.set_compact(compact)
        self._fit()

    def take_focus(self) -> None:
        """Give the keyboard to the page that is shown."""
        checked = self._group.checkedButton()
        if checked is not None:
            checked.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _fit(self) -> None:
        self.setFixedWidth(theme.current().px(_NARROW if self._compact else _WIDTH))
        for name, button in self._buttons.items():
            hint = self._shortcuts.hint(f"page-{name}")
            button.setToolTip(f"{button.entry.title} ({hint})" if hint else button.entry.title)

    def _on_click(self) -> None:
        button = self.sender()
        if isinstance(button, NavButton):
            self.chosen.emit(button.entry.name)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(Qt.Key(event.key()))
            if step and isinstance(watched, NavButton):
                buttons = list(self._buttons.values())
                place = (buttons.index(watched) + step) % len(buttons)
                buttons[place].setFocus(Qt.FocusReason.TabFocusReason)
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                if isinstance(watched, NavButton):
                    watched.click()
                return True
        return super().eventFilter(watched, event)


class NavButton(Button):
    """A page's name, icon and count."""

    def __init__(self, entry: PageEntry) -> None:
        super().__init__(entry.title, "nav", icon=entry.icon)
        self.entry = entry
        self.setCheckable(True)
        self.setAccessibleName(entry.title)
        self._count = label("", "small")
        self._count.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, theme.M, 0)
        layout.addWidget(
            self._count, 0, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        )

    def set_compact(self, compact: bool) -> None:
        """The icon only."""
        self.setText("" if compact else self.entry.title)
        layout = self.layout()
        assert layout is not None
        layout.setContentsMargins(0, 0, theme.XS if compact else theme.M, 0)

    def set_count(self, count: int) -> None:
        self._count.setText(format_number(count) if count else "")
        title = self.entry.title
        self.setAccessibleName(f"{title}, {format_number(count)}" if count else title)
