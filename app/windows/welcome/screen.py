"""The welcome screen: open a workspace worked in before, make one, or look at the demo."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QStackedWidget, QVBoxLayout, QWidget

from app import theme
from app.session import Session, suggested_name
from app.strings import say
from app.widgets.basics import Card, ElidedLabel, Scroller, clear_layout, label, line
from app.widgets.buttons import Button, IconButton
from app.widgets.dialogs import choose_files
from app.windows.welcome.forms import FILTER, NewForm, OpenForm
from app.windows.welcome.opening import Opened, has_backups, open_demo_workspace


class Welcome(QWidget):
    """Emits `opened` with the workspace and the person; the window takes it from there."""

    opened = Signal(object, object)

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self.setProperty("role", "background")
        self.setAccessibleName(say("Welcome"))
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        scroller = Scroller()
        outer.addWidget(scroller)
        box = scroller.box
        box.setContentsMargins(theme.XXL, theme.XL, theme.XXL, theme.XL)
        box.addStretch(1)
        centre = QHBoxLayout()
        centre.addStretch(1)
        self._frame = QWidget()
        frame = QVBoxLayout(self._frame)
        frame.setContentsMargins(0, 0, 0, 0)
        frame.setSpacing(theme.L)
        centre.addWidget(self._frame)
        centre.addStretch(1)
        box.addLayout(centre)
        box.addStretch(2)
        frame.addWidget(label("Rifugio", "title"))
        frame.addWidget(
            label(
                say(
                    "Review what language models write, on this machine, with nothing leaving it."
                    " All work is kept in one file, the workspace."
                ),
                "muted",
                wrap=True,
            )
        )
        columns = QHBoxLayout()
        columns.setSpacing(theme.L)
        frame.addLayout(columns)
        self._recent = Card(say("Recent"))
        self._recent_box = QVBoxLayout()
        self._recent_box.setSpacing(theme.XS)
        self._recent.add(self._recent_box)
        self._recent.box.addStretch(1)
        self._open_other = Button(say("Open another …"), icon="open")
        self._open_other.clicked.connect(self._choose_file)
        self._demo = Button(say("Look at the demo"), icon="book")
        self._demo.clicked.connect(self.open_demo)
        self._recent.add(line())
        self._recent.add(self._open_other)
        self._recent.add(self._demo)
        self._forms = QStackedWidget()
        self.new_form = NewForm(session)
        self.open_form = OpenForm(session)
        self._forms.addWidget(self.new_form)
        self._forms.addWidget(self.open_form)
        columns.addWidget(self._recent, 5)
        columns.addWidget(self._forms, 6)
        self.new_form.opened.connect(self.opened)
        self.open_form.opened.connect(self.opened)
        self.open_form.new_asked.connect(self.show_new)
        session.settings_changed.connect(self._fit)
        self._fit()
        self.refresh()

    def refresh(self) -> None:
        """List recent workspaces, and get ready to open the latest."""
        clear_layout(self._recent_box)
        recent = [Path(entry) for entry in self.session.settings.recent]
        self._open_other.setText(
            say("Open another …") if recent else say("Open a workspace you have …")
        )
        if not recent:
            for words in (
                say("Workspaces you have opened are listed here."),
                say(
                    "New here? The demo has invented tasks, examples, a rubric and a graph, and what "
                    "two systems wrote, for you to rate and compare. Nothing of it is real."
                ),
            ):
                self._recent_box.addWidget(label(words, "muted", wrap=True))
        for path in recent:
            self._recent_box.addWidget(_RecentRow(path, self))
        there = [path for path in recent if path.exists()]
        if there:
            self.offer(there[0], focus=False, eager=False)
        else:
            self.show_new()

    def _show_form(self, form: QWidget) -> None:
        # Only the form that is shown counts for the size of the screen.
        for other in (self.new_form, self.open_form):
            policy = QSizePolicy.Policy.Preferred if other is form else QSizePolicy.Policy.Ignored
            other.setSizePolicy(policy, policy)
        self._forms.setCurrentWidget(form)
        self._forms.adjustSize()

    def offer(self, path: Path, *, focus: bool = True, eager: bool = True) -> None:
        """Get ready to open a workspace; a plain one is opened at once when ``eager``."""
        self._show_form(self.open_form)
        self.open_form.offer(path)
        gone = not path.exists() and has_backups(path)
        if eager and (gone or (not self.open_form.needs_passphrase and path.exists())):
            self.open_form.submit()
        elif focus:
            self.open_form.take_focus()

    def forget(self, path: Path) -> None:
        """Leave a workspace out of the list; the file stays."""
        self.session.forget_recent(str(path))
        self.refresh()

    @Slot()
    def show_new(self) -> None:
        """Show the form for a new workspace."""
        self._show_form(self.new_form)

    def take_focus(self) -> None:
        """Give the keyboard to the form that is shown."""
        form = self._forms.currentWidget()
        if isinstance(form, NewForm | OpenForm):
            form.take_focus()

    @Slot()
    def open_demo(self) -> None:
        """Open the demo workspace, made on first use."""
        name = suggested_name(self.session.settings)
        self._demo.setEnabled(False)
        pending = self.session.jobs.run(self, open_demo_workspace, name)
        pending.success(self._hand_over).end(self._enable_demo)

    def _hand_over(self, opened: Opened) -> None:
        self.opened.emit(*opened)

    def _enable_demo(self) -> None:
        self._demo.setEnabled(True)

    @Slot()
    def _choose_file(self) -> None:
        choose_files(self, say("Open a workspace"), FILTER, self._take_files)

    def _take_files(self, paths: list[Path]) -> None:
        if paths:
            self.offer(paths[0])

    def _fit(self) -> None:
        self._frame.setMinimumWidth(min(theme.current().px(720), 860))
        self._frame.setMaximumWidth(theme.current().px(820))


class _RecentRow(QWidget):
    """A workspace worked in before: its name, its folder, and a way to take it off the list."""

    def __init__(self, path: Path, welcome: Welcome) -> None:
        super().__init__()
        self._path = path
        self._welcome = welcome
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        there = path.exists()
        saved = not there and has_backups(path)
        button = Button("", "row")
        inner = QVBoxLayout(button)
        inner.setContentsMargins(theme.S, theme.XS, theme.S, theme.XS)
        inner.setSpacing(0)
        name = ElidedLabel(path.stem)
        name.setProperty("role", "strong" if there else "muted")
        gone = (
            say("Not there any more, but there are backups") if saved else say("Not there any more")
        )
        folder = ElidedLabel(str(path.parent) if there else gone)
        folder.setProperty("role", "small")
        for words in (name, folder):
            words.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
            inner.addWidget(words)
        button.setMinimumHeight(inner.sizeHint().height() + theme.S)
        button.setAccessibleName(say("Open {name}", name=path.stem))
        button.setEnabled(there or saved)
        button.clicked.connect(self._open)
        forget = IconButton("close", say("Take {name} off the list", name=path.stem))
        forget.clicked.connect(self._forget)
        layout.addWidget(button, 1)
        layout.addWidget(forget)

    def _open(self) -> None:
        self._welcome.offer(self._path)

    def _forget(self) -> None:
        self._welcome.forget(self._path)
