"""The welcome screen: open a workspace worked in before, make one, or look at the demo."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QHBoxLayout,
    QSizePolicy,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.session import Session, prepare_workspace, suggested_name
from app.strings import say
from app.widgets.basics import Card, ElidedLabel, Scroller, clear_layout, label, line
from app.widgets.buttons import Button, IconButton
from app.widgets.dialogs import choose_files, choose_new_file
from app.widgets.inputs import Form, PassphraseField, StrengthMeter, text_field
from app.widgets.notice import Notice
from core.errors import RifugioError, WorkspaceBusyError, WrongPassphraseError
from core.settings import data_directory
from core.types import Person

if TYPE_CHECKING:
    from core.storage.workspace import Workspace

Opened = tuple["Workspace", Person]
SUFFIX = ".rifugio"
_PLAIN_HEADER = b"SQLite format 3\0"
_FILTER = "Rifugio (*.rifugio);;All files (*)"


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
        self._recent_box.setSpacing(2)
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
        if not recent:
            self._recent_box.addWidget(
                label(say("Workspaces you have opened are listed here."), "muted", wrap=True)
            )
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
        if eager and not self.open_form.needs_passphrase and path.exists():
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
        choose_files(self, say("Open a workspace"), _FILTER, self._take_files)

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
        button = Button("", "row")
        inner = QVBoxLayout(button)
        inner.setContentsMargins(theme.S, theme.XS, theme.S, theme.XS)
        inner.setSpacing(0)
        name = ElidedLabel(path.stem)
        name.setProperty("role", "strong" if there else "muted")
        folder = ElidedLabel(str(path.parent) if there else say("Not there any more"))
        folder.setProperty("role", "small")
        for words in (name, folder):
            words.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
            inner.addWidget(words)
        button.setMinimumHeight(inner.sizeHint().height() + theme.S)
        button.setAccessibleName(say("Open {name}", name=path.stem))
        button.setEnabled(there)
        button.clicked.connect(self._open)
        forget = IconButton("close", say("Take {name} off the list", name=path.stem))
        forget.clicked.connect(self._forget)
        layout.addWidget(button, 1)
        layout.addWidget(forget)

    def _open(self) -> None:
        self._welcome.offer(self._path)

    def _forget(self) -> None:
        self._welcome.forget(self._path)


class NewForm(Card):
    """Name, file, passphrase twice; a plain file only when asked for in words."""

    opened = Signal(object, object)

    def __init__(self, session: Session) -> None:
        super().__init__(say("New workspace"))
        self.session = session
        form = Form()
        self.person = text_field(say("Your name"), suggested_name(session.settings))
        form.add(say("Your name"), self.person, say("Shown to colleagues you exchange work with."))
        self.file = text_field(say("File"))
        folder = data_directory().parent if not Path.home().exists() else Path.home()
        self.file.setText(str(_free_name(folder / f"My workspace{SUFFIX}")))
        self._choose = Button(say("Choose …"))
        self._choose.setAccessibleName(say("Choose the file"))
        self._choose.clicked.connect(self._choose_file)
        place = QWidget()
        place_row = QHBoxLayout(place)
        place_row.setContentsMargins(0, 0, 0, 0)
        place_row.addWidget(self.file, 1)
        place_row.addWidget(self._choose)
        form.add(say("File"), place).setBuddy(self.file)
        self.passphrase = PassphraseField(say("Passphrase"))
        self.meter = StrengthMeter()
        form.add(say("Passphrase"), self.passphrase)
        form.addRow(self.meter)
        self.again = PassphraseField(say("Passphrase again"))
        form.add(say("Passphrase again"), self.again)
        self.plain = QCheckBox(say("No passphrase: anybody with the file can read it"))
        form.addRow(self.plain)
        self.add(form)
        self.notice = Notice("", "danger")
        self.notice.hide()
        self.add(self.notice)
        self.add(
            label(
                say(
                    "A forgotten passphrase cannot be recovered by anybody. Keep it in a safe place."
                ),
                "small",
                wrap=True,
            )
        )
        self.create = Button(say("Create the workspace"), "primary")
        self.create.clicked.connect(self.submit)
        self.add(self.create)
        self.passphrase.textChanged.connect(self._on_typed)
        self.again.textChanged.connect(self._on_typed)
        self.plain.toggled.connect(self._on_plain)
        for field in (self.person, self.file, self.passphrase, self.again):
            field.returnPressed.connect(self.submit)

    def take_focus(self) -> None:
        (self.passphrase if self.person.text() else self.person).setFocus()

    @Slot()
    def submit(self) -> None:
        """Make the workspace and open it."""
        problem = self._problem()
        self._complain(problem)
        if problem or not self.create.isEnabled():
            return
        path = Path(self.file.text()).expanduser()
        if path.suffix != SUFFIX:
            path = path.with_name(path.name + SUFFIX)
        passphrase = None if self.plain.isChecked() else self.passphrase.text()
        self.create.setEnabled(False)
        pending = self.session.jobs.run(
            self, create_workspace, path, passphrase, self.person.text()
        )
        pending.success(self._hand_over).failure(self._fail).end(self._enable)

    def _problem(self) -> str:
        if not self.person.text().strip():
            return say("Please type your name.")
        if not self.file.text().strip():
            return say("Please choose a file.")
        if self.plain.isChecked():
            return ""
        from core.storage.workspace import MINIMUM_PASSPHRASE

        if len(self.passphrase.text()) < MINIMUM_PASSPHRASE:
            return say(
                "The passphrase needs at least {count} characters.", count=MINIMUM_PASSPHRASE
            )
        if self.passphrase.text() != self.again.text():
            return say("The two passphrases differ.")
        return ""

    def _complain(self, text: str) -> None:
        self.notice.set_text(text)
        self.notice.setVisible(bool(text))

    def _hand_over(self, opened: Opened) -> None:
        self.passphrase.wipe()
        self.again.wipe()
        self.opened.emit(*opened)

    def _fail(self, error: BaseException) -> None:
        if isinstance(error, RifugioError):
            self._complain(f"{error.message} {error.remedy}".strip())
        else:
            self.session.jobs.failed.emit(error, self)

    def _enable(self) -> None:
        self.create.setEnabled(True)

    @Slot()
    def _on_typed(self) -> None:
        self.meter.rate(self.passphrase.text())
        self._complain("")

    @Slot(bool)
    def _on_plain(self, plain: bool) -> None:
        for widget in (self.passphrase, self.again, self.meter):
            widget.setEnabled(not plain)
        self._complain("")

    @Slot()
    def _choose_file(self) -> None:
        choose_new_file(
            self, say("Where to keep the workspace"), _FILTER, self.file.text(), self._take_file
        )

    def _take_file(self, paths: list[Path]) -> None:
        if paths:
            self.file.setText(str(paths[0]))


class OpenForm(Card):
    """A workspace's passphrase, and who is working."""

    opened = Signal(object, object)
    new_asked = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__(say("Open workspace"))
        self.session = session
        self._path = Path()
        self.needs_passphrase = True
        self._read_only = False
        self.name_label = ElidedLabel()
        self.name_label.setProperty("role", "heading")
        self.folder_label = ElidedLabel()
        self.folder_label.setProperty("role", "small")
        self.add(self.name_label)
        self.add(self.folder_label)
        form = Form()
        self.person = text_field(say("Your name"), suggested_name(session.settings))
        self.passphrase = PassphraseField(say("Passphrase"))
        self._caption = form.add(say("Passphrase"), self.passphrase)
        form.add(say("Your name"), self.person)
        self.add(form)
        self.notice = Notice("", "danger")
        self.notice.hide()
        self.add(self.notice)
        self.read_only = QCheckBox(say("Open for reading only"))
        self.read_only.hide()
        self.add(self.read_only)
        self.open_button = Button(say("Open"), "primary", icon="unlock")
        self.open_button.clicked.connect(self.submit)
        self.add(self.open_button)
        self.new_button = Button(say("Make a new workspace instead"), "link")
        self.new_button.clicked.connect(self.new_asked)
        self.add(self.new_button)
        self.box.addStretch(1)
        for field in (self.passphrase, self.person):
            field.returnPressed.connect(self.submit)

    def offer(self, path: Path) -> None:
        """Get ready to open a workspace."""
        self._path = path
        self.name_label.setText(path.stem)
        self.folder_label.setText(str(path.parent))
        self.needs_passphrase = is_encrypted(path)
        self.passphrase.wipe()
        for widget in (self._caption, self.passphrase):
            widget.setVisible(self.needs_passphrase)
        self.person.setText(suggested_name(self.session.settings))
        self.read_only.setChecked(False)
        self.read_only.hide()
        self.notice.hide()

    def take_focus(self) -> None:
        (self.passphrase if self.needs_passphrase else self.open_button).setFocus()

    @Slot()
    def submit(self) -> None:
        """Open it."""
        if not self.open_button.isEnabled():
            return
        self.open_button.setEnabled(False)
        self.notice.hide()
        passphrase = self.passphrase.text() if self.needs_passphrase else None
        pending = self.session.jobs.run(
            self,
            open_workspace,
            self._path,
            passphrase,
            self.person.text(),
            self.read_only.isChecked(),
        )
        pending.success(self._hand_over).failure(self._fail).end(self._enable)

    def _hand_over(self, opened: Opened) -> None:
        self.passphrase.wipe()
        self.opened.emit(*opened)

    def _fail(self, error: BaseException) -> None:
        if not isinstance(error, RifugioError):
            self.session.jobs.failed.emit(error, self)
            return
        self.notice.set_text(f"{error.message} {error.remedy}".strip())
        self.notice.show()
        if isinstance(error, WorkspaceBusyError):
            self.read_only.show()
        if isinstance(error, WrongPassphraseError):
            self.passphrase.selectAll()
            self.passphrase.setFocus()

    def _enable(self) -> None:
        self.open_button.setEnabled(True)


def is_encrypted(path: Path) -> bool:
    """Whether a file asks for a passphrase, from its first bytes; False when there is none.

    The storage itself is not imported before a workspace is opened: it costs half a second.
    """
    try:
        with path.open("rb") as stream:
            head = stream.read(len(_PLAIN_HEADER))
    except OSError:
        return False
    return bool(head) and head != _PLAIN_HEADER


def create_workspace(path: Path, passphrase: str | None, name: str) -> Opened:
    """Make a workspace and its first person; for a worker thread."""
    from core.storage.workspace import Workspace

    workspace = Workspace.create(path, passphrase)
    return _prepared(workspace, name)


def open_workspace(path: Path, passphrase: str | None, name: str, read_only: bool) -> Opened:
    """Open a workspace and find the person in it; for a worker thread."""
    from core.storage.workspace import Workspace

    return _prepared(Workspace.open(path, passphrase, read_only=read_only), name)


def open_demo_workspace(name: str) -> Opened:
    """Open the demo workspace, filling it when it is new; for a worker thread."""
    from core.exchange.demo import fill_demo

    path = data_directory() / f"Demo{SUFFIX}"
    if path.exists():
        return open_workspace(path, None, name, False)
    path.parent.mkdir(parents=True, exist_ok=True)
    workspace, person = create_workspace(path, None, name)
    try:
        workspace.transact_job("Fill the demo", person.id, fill_demo)
    except BaseException:
        workspace.close()
        path.unlink(missing_ok=True)
        raise
    return workspace, person


def _prepared(workspace: Workspace, name: str) -> Opened:
    try:
        return workspace, prepare_workspace(workspace, name)
    except BaseException:
        workspace.close()
        raise


def _free_name(path: Path) -> Path:
    """The path, numbered when it is taken."""
    number = 2
    free = path
    while free.exists():
        free = path.with_name(f"{path.stem} {number}{path.suffix}")
        number += 1
    return free
