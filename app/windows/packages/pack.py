"""Packing for a person: what waits for their review, or everything, as an encrypted file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QUrl, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QFileDialog,
    QRadioButton,
    QStackedWidget,
    QWidget,
)

from app import theme
from app.operations import run_query
from app.strings import count_of, format_number, say, shorten
from app.widgets.basics import Card, Folding, column, label, row
from app.widgets.buttons import Button
from app.widgets.dialogs import choose_new_file
from app.widgets.inputs import ComboBox, CopyField, Form, text_field
from app.widgets.secrets import NewSecret
from app.windows.packages.frame import PackageDialog, note_words
from core.ports import Cancellation

if TYPE_CHECKING:
    from app.windows.packages.waiting import Everybody, Waiting
    from core.exchange.packing import Packed
    from core.types import Person

_NEW = ""
_FILTER = "Rifugio (*.rifugio)"
#: Characters of a name in the list of people.
_NAME = 60


class PackDialog(PackageDialog):
    """Asks for whom, what, under which passphrase and where; then says what went in."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(say("Pack for a person"), parent, width=860, height=600)
        self._people: dict[str, Waiting] = {}
        self._written = 0
        self._suggested = ""
        self._generation = 0
        self._pages = QStackedWidget()
        self._pages.addWidget(
            Folding((self._make_what(), 1), (self._make_how(), 1), spacing=theme.M)
        )
        self._done = QWidget()
        self._pages.addWidget(self._done)
        self.content.addWidget(self._pages)
        self.content.addStretch(1)
        self.cancel_button = self.add_cancel()
        self.pack_button = self.add_button(say("Pack"), self.pack, "primary")
        self.pack_button.setEnabled(False)
        self.people.setFocus()
        own = self.session.person_id
        workspace = self.session.workspace

        def read() -> Everybody:
            from app.windows.packages.waiting import read_waiting

            return read_waiting(workspace, own)

        run_query(self, read).success(self._fill).failure(self.complain_of)

    # -- what it is made of --------------------------------------------------------------

    def _make_what(self) -> Card:
        card = Card(say("For whom, and what"))
        form = Form()
        self.people = ComboBox(say("Person"), stretch=True)
        self.people.currentIndexChanged.connect(self._on_person)
        form.add(say("Person"), self.people)
        self.name = text_field(say("Name"), placeholder=say("Name shown to colleagues"))
        self.name.textChanged.connect(self._on_name)
        self.name.returnPressed.connect(self.pack)
        self._caption = form.add(say("Name"), self.name)
        card.add(form)
        self._show_new(False)
        self.reviews = QRadioButton(say("What waits for them to review"))
        self.reviews.setChecked(True)
        self.everything = QRadioButton(say("Everything"))
        self._what = QButtonGroup(self)
        self.waiting_words = label("", "small", wrap=True)
        self.hide_names = QCheckBox(say("Hide which system wrote what"))
        self.hide_names.setChecked(True)
        hiding = say(
            "The package then lacks systems, runs and times: what is not in it, nobody can look up."
        )
        self.hide_names.setAccessibleDescription(hiding)
        self.hiding_words = label(hiding, "small", wrap=True)
        everything = say(
            "All there is, for somebody who works along. Private references are left out, and so is "
            "the history from before."
        )
        self.everything.setAccessibleDescription(everything)
        for button in (self.reviews, self.everything):
            self._what.addButton(button)
            button.toggled.connect(self._show_what)
        card.add(self.reviews)
        card.add(_indented(self.waiting_words, self.hide_names, self.hiding_words))
        card.add(self.everything)
        card.add(_indented(label(everything, "small", wrap=True)))
        card.box.addStretch(1)
        return card

    def _make_how(self) -> Card:
        card = Card(say("Passphrase and file"))
        self.secret = NewSecret(word=say("Passphrase of the package"), bare=True)
        self.secret.changed.connect(self.notice.hide)
        self.secret.submitted.connect(self.pack)
        card.add(self.secret)
        card.add(self.make_file_form())
        self.file.returnPressed.connect(self.pack)
        self.choose_button.clicked.connect(self._choose)
        card.add(label(note_words(), "small", wrap=True))
        card.box.addStretch(1)
        return card

    # -- what the person does ------------------------------------------------------------

    @Slot()
    def pack(self) -> None:
        """Check what was typed and write the package."""
        if self.busy or not self.pack_button.isEnabled():
            return
        problem = self._problem()
        if problem:
            self.complain(problem)
            return
        from app.windows.packages.waiting import Order, pack_order
        from core.storage.workspace import SUFFIX

        path = None
        if self.file.text() != self._suggested:
            path = Path(self.file.text().strip()).expanduser()
            if path.suffix != SUFFIX:
                path = path.with_name(path.name + SUFFIX)
        waiting = self._people.get(self.people.value)
        order = Order(
            person=waiting.person if waiting is not None else None,
            name=self.name.text(),
            everything=self.everything.isChecked(),
            hide_names=self.hide_names.isChecked(),
            path=path,
            passphrase=self.secret.passphrase.text(),
        )
        workspace, own = self.session.workspace, self.session.person_id

        def work(cancel: Cancellation) -> tuple[Person, Packed]:
            cancel.raise_if_cancelled()
            return pack_order(workspace, own, order)

        self.run(say("Packing"), work, self._show_packed, told=_told)

    def _problem(self) -> str:
        if self.people.value == _NEW and not self.name.text().strip():
            self.name.setFocus()
            return say("Please type a name.")
        problem = self.secret.problem()
        if problem:
            self.secret.take_focus()
            return problem
        if not self.file.text().strip():
            self.file.setFocus()
            return say("Please choose a file.")
        return ""

    @Slot()
    def _choose(self) -> None:
        dialog = choose_new_file(
            self, say("Where to put the package"), _FILTER, self.file.text(), self._take_file
        )
        # No file is ever overwritten, so there is nothing to ask.
        dialog.setOption(QFileDialog.Option.DontConfirmOverwrite)

    def _take_file(self, paths: list[Path]) -> None:
        if paths:
            self.file.setText(str(paths[0]))
            self.notice.hide()

    # -- inside --------------------------------------------------------------------------

    def _fill(self, everybody: Everybody) -> None:
        self._people = {waiting.person.id: waiting for waiting in everybody.people}
        self._written = everybody.written
        own = self.session.person_id
        entries = [
            (_entry(waiting, told=not everybody.blind or waiting.person.id == own), person_id)
            for person_id, waiting in self._people.items()
        ]
        others = [w for w in everybody.people if w.person.id != own]
        likely = next((w for w in others if w.total), others[0] if others else None)
        self.people.fill([*entries, (say("Somebody new …"), _NEW)])
        self.people.choose(likely.person.id if likely is not None else _NEW)
        self.pack_button.setEnabled(True)
        self._on_person()

    @Slot()
    def _on_person(self) -> None:
        new = self.people.value == _NEW
        self._show_new(new)
        waiting = self._people.get(self.people.value)
        outputs = waiting.outputs if waiting is not None else self._written
        pairs = waiting.pairs if waiting is not None else 0
        some = outputs + pairs > 0
        self.reviews.setEnabled(some)
        (self.reviews if some else self.everything).setChecked(True)
        if some:
            self.waiting_words.setText(say("{waiting}.", waiting=_counts(outputs, pairs)))
        elif waiting is not None and waiting.handed_in:
            self.waiting_words.setText(
                say("Nothing waits: everything in their queue is handed in or skipped.")
            )
        else:
            self.waiting_words.setText(
                say("Nothing waits: no system has written anything to review yet.")
            )
        self.reviews.setAccessibleDescription(self.waiting_words.text())
        self._show_what()
        self._suggest()

    @Slot()
    def _on_name(self) -> None:
        self.notice.hide()
        self._suggest()

    def _show_new(self, new: bool) -> None:
        self.name.setVisible(new)
        self._caption.setVisible(new)

    @Slot()
    def _show_what(self) -> None:
        hidable = self.reviews.isChecked() and self.reviews.isEnabled()
        self.hide_names.setEnabled(hidable)
        self.hiding_words.setEnabled(hidable)

    def _suggest(self) -> None:
        """Name a file for who is chosen, unless the person has named one."""
        if self.file.text() != self._suggested:
            return
        waiting = self._people.get(self.people.value)
        name = waiting.person.name if waiting is not None else self.name.text()
        workspace_path = self.session.workspace.path
        self._generation += 1
        generation = self._generation

        def find() -> Path:
            from app.windows.packages.waiting import suggest_file

            return suggest_file(workspace_path, name)

        def take(path: Path) -> None:
            if generation == self._generation and self.file.text() == self._suggested:
                self._suggested = str(path)
                self.file.setText(self._suggested)

        run_query(self, find).success(take)

    def show_busy(self) -> None:
        self.pack_button.setEnabled(not self.busy)
        self.pack_button.setText(say("Packing …") if self.busy else say("Pack"))
        self.cancel_button.setText(say("Close") if self.busy else say("Cancel"))
        self._pages.setEnabled(not self.busy)

    def _show_packed(self, found: tuple[Person, Packed]) -> None:
        person, packed = found
        self.secret.wipe()
        parts = [Card(say("What is in it")), Card(say("What to do with it"))]
        title = say("The package for {name} is ready.", name=shorten(person.name, _NAME))
        self.title_label.setText(title)
        asked, beside = packed_words(packed)
        if asked:
            parts[0].add(label(asked, "strong", wrap=True))
        parts[0].add(label(beside, wrap=True))
        if packed.hides_names:
            parts[0].add(label(say("Which system wrote what is not in it."), "small", wrap=True))
        parts[1].add(CopyField(say("The package"), str(packed.path)))
        folder = Button(say("Show the folder"), icon="open")
        folder.clicked.connect(lambda: _show_folder(packed.path.parent))
        parts[1].add(row(folder, None))
        parts[1].add(label(note_words(), wrap=True))
        parts[1].add(
            label(
                say(
                    "Rifugio opens it like any other workspace. When it comes back with their work in "
                    "it, take that over with 'Merge a package'."
                ),
                wrap=True,
            )
        )
        self._done.setLayout(column(*parts, None, spacing=theme.M))
        self._pages.setCurrentWidget(self._done)
        self.setAccessibleDescription(title)
        self.pack_button.hide()
        self.cancel_button.setText(say("Close"))
        self.cancel_button.setAutoDefault(True)
        self.cancel_button.setDefault(True)
        self.cancel_button.setFocus()

    def forget(self) -> None:
        self.secret.wipe()


def packed_words(packed: Packed) -> tuple[str, str]:
    """What a person is asked for, '' in a package of everything; and what else went in."""
    from core.storage.titles import kind_words

    asked = ""
    rest = dict(packed.counts)
    if packed.kind == "reviews":
        asked = _counts(rest.pop("review_item", 0), rest.pop("pair_item", 0))
    parts = [f"{format_number(count)} {kind_words(kind, count)}" for kind, count in rest.items()]
    return asked, ", ".join(parts)


def _told(found: tuple[Person, Packed]) -> str:
    return say("The package is ready: {path}", path=str(found[1].path))


def _counts(outputs: int, pairs: int) -> str:
    parts = [
        count_of(number, one, many)
        for number, one, many in (
            (outputs, say("output to rate"), say("outputs to rate")),
            (pairs, say("pair to compare"), say("pairs to compare")),
        )
        if number
    ]
    return ", ".join(parts)


def _entry(waiting: Waiting, *, told: bool) -> str:
    name = shorten(waiting.person.name, _NAME)
    if not told:
        return name
    return say(
        "{name}: {waiting}",
        name=name,
        waiting=_counts(waiting.outputs, waiting.pairs) or say("nothing waits"),
    )


def _indented(*parts: QWidget) -> QWidget:
    """What belongs to the choice above it."""
    made = QWidget()
    box = column(*parts, spacing=theme.XS)
    box.setContentsMargins(theme.current().px(26), 0, 0, theme.S)
    made.setLayout(box)
    return made


def _show_folder(folder: Path) -> None:
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))
