"""Merging a package: which file, what it would change, and taking that over."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Slot
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTreeWidget, QTreeWidgetItem, QWidget

from app import theme
from app.strings import count_of, say
from app.widgets.basics import Card, ElidedLabel, column, label, row
from app.widgets.buttons import Button
from app.widgets.dialogs import choose_files
from app.widgets.inputs import Form, PassphraseField
from app.widgets.secrets import KeyFileField
from app.windows.packages.frame import PackageDialog
from core.ports import Cancellation

if TYPE_CHECKING:
    from app.windows.packages.reading import Looked
    from core.exchange.merge_report import MergeReport

_FILTER = "Rifugio (*.rifugio);;All files (*)"
#: Pixels at 100 % text: while it is asked for a file, and when there is something to show of it.
_WIDTH, _ASKING_HEIGHT, _FOUND_HEIGHT = 880, 420, 690
#: So many lines there is room for in the lower of them.
_FEW = 3


class MergeDialog(PackageDialog):
    """Asks for the file, shows what it would change, and takes that over when told to."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(say("Merge a package"), parent, width=_WIDTH, height=_ASKING_HEIGHT)
        self._looked: Looked | None = None
        self._path = Path()
        self.content.addWidget(self._make_asking())
        self.content.addWidget(self._make_found())
        self.content.addStretch(1)
        self.cancel_button = self.add_cancel()
        self.look_button = self.add_button(say("Look into it"), self.look, "primary")
        self.merge_button = self.add_button(say("Merge"), self.merge, "primary")
        self._show_asking()
        self.file.setFocus()

    # -- what it is made of --------------------------------------------------------------

    def _make_asking(self) -> QWidget:
        card = Card(say("Which file"))
        card.add(
            label(
                say(
                    "A package that came back, or another copy of this workspace. Looking into it "
                    "changes nothing."
                ),
                "muted",
                wrap=True,
            )
        )
        card.add(self.make_file_form())
        self.file.textChanged.connect(self._on_file)
        self.file.returnPressed.connect(self.look)
        self.choose_button.clicked.connect(self.choose)
        self.passphrase = PassphraseField(say("Passphrase of the package"))
        self.passphrase.textChanged.connect(self.notice.hide)
        self.passphrase.returnPressed.connect(self.look)
        self.key_file = KeyFileField()
        self.key_file.field.setPlaceholderText(say("Key file, if it has one"))
        self.key_file.field.returnPressed.connect(self.look)
        secret = Form()
        secret.add(say("Passphrase of the package"), self.passphrase)
        secret.addRow(self.key_file)
        self._secret = QWidget()
        self._secret.setLayout(secret)
        self._secret.hide()
        card.add(self._secret)
        self._asking = card
        return card

    def _make_found(self) -> QWidget:
        found = QWidget()
        self._found = found
        top = Card(say("What merging it would change"))
        self.source_label = label("", "strong", wrap=True)
        self.people_label = label("", wrap=True)
        self.left_out_label = label("", "muted", wrap=True)
        self.twins_label = label("", "muted", wrap=True)
        self.file_label = ElidedLabel()
        self.file_label.setProperty("role", "small")
        self.other_button = Button(say("Another file …"), "link")
        self.other_button.clicked.connect(self._show_asking)
        name = row(self.other_button)
        name.insertWidget(0, self.file_label, 1)
        top.add(name)
        for part in (self.source_label, self.people_label):
            top.add(part)
        self.tree = _table(say("What would change"), 2)
        self.tree.setHeaderHidden(True)
        top.add(self.tree)
        for part in (self.left_out_label, self.twins_label):
            top.add(part)
        self.clashes = Card(say("Changed here and there"))
        self.clashes.add(
            label(
                say(
                    "Of what was changed on both sides the later one stands. The other stays in the "
                    "history."
                ),
                "muted",
                wrap=True,
            )
        )
        self.conflicts = _table(say("Changed here and there"), 4)
        self.conflicts.setHeaderLabels([say("What"), say("Here"), say("There"), say("Stands")])
        self.clashes.add(self.conflicts)
        self.backup_label = label(
            say("A backup is made before. Undo leaves merges alone."), "small", wrap=True
        )
        # Not in what scrolls: it is to be read before the button is pressed.
        self.body.insertWidget(1, self.backup_label)
        found.setLayout(column(top, self.clashes, spacing=theme.M))
        return found

    # -- what the person does ------------------------------------------------------------

    @Slot()
    def choose(self) -> None:
        """Choose the file in the desktop's own dialog."""
        choose_files(self, say("Which package?"), _FILTER, self._take_file)

    def _take_file(self, paths: list[Path]) -> None:
        if paths:
            self.file.setText(str(paths[0]))
            self.look()

    @Slot()
    def look(self) -> None:
        """Preview the merge; asks for the passphrase where there is one."""
        text = self.file.text().strip()
        if self.busy or not self._asking.isVisibleTo(self):
            return
        if not text:
            self.complain(say("Please choose a file."))
            self.file.setFocus()
            return
        path = self._path = Path(text).expanduser()
        passphrase, key_file = self.passphrase.text(), self.key_file.path
        workspace, own = self.session.workspace, self.session.person_id

        def work(cancel: Cancellation) -> Looked | None:
            from app.windows.packages.reading import look_into

            cancel.raise_if_cancelled()
            return look_into(workspace, own, path, passphrase, key_file)

        self.run(say("Looking into a file"), work, self._take_look)

    @Slot()
    def merge(self) -> None:
        """Take over what was shown."""
        looked = self._looked
        if self.busy or looked is None:
            return
        from app.windows.packages.reading import take_over
        from app.windows.packages.words import merged_words

        workspace, own = self.session.workspace, self.session.person_id

        def work(cancel: Cancellation) -> MergeReport:
            cancel.raise_if_cancelled()
            return take_over(workspace, own, looked)

        self.run(say("Merging"), work, self._finish, told=merged_words)

    # -- inside --------------------------------------------------------------------------

    @Slot()
    def _on_file(self) -> None:
        """Another file may have another passphrase, or none."""
        self.notice.hide()
        self._secret.hide()
        self.passphrase.wipe()
        self.key_file.set_path(None)

    def _take_look(self, looked: Looked | None) -> None:
        if looked is None:
            if self._secret.isVisibleTo(self):
                self.complain(say("Please type its passphrase."))
            else:
                self._secret.show()
                self.key_file.set_path(self.session.key_file_of(self._path))
            self.passphrase.setFocus()
            return
        self._looked = looked
        self.passphrase.wipe()
        self._show(looked)

    @Slot()
    def _show_asking(self) -> None:
        self._forget_looked()
        self._asking.show()
        self._found.hide()
        self.backup_label.hide()
        self.show_busy()
        self.file.setFocus()
        self.file.selectAll()

    def _show(self, looked: Looked) -> None:
        from app.windows.packages.words import (
            conflict_words,
            kind_lines,
            left_out_words,
            people_words,
            source_words,
            twin_words,
        )

        report, hidden = looked.report, looked.hidden
        new = report.entries > 0
        self.file_label.setText(str(looked.path))
        self.source_label.setText(source_words(report, looked.package_for, hidden=hidden))
        self.people_label.setText(
            people_words(report, hidden=hidden) if new else say("Everything in it is here already.")
        )
        lines = kind_lines(report)
        _fill(self.tree, lines)
        self.tree.setVisible(bool(lines))
        for part, words in (
            (self.left_out_label, left_out_words(report)),
            (self.twins_label, twin_words(report)),
        ):
            part.setText(words)
            part.setVisible(bool(words))
        self.clashes.setVisible(bool(report.conflicts))
        self.clashes.set_title(
            say("Changed here and there"),
            count_of(len(report.conflicts), "value", "values"),
        )
        _fill(
            self.conflicts,
            [
                conflict_words(c, looked.about.get(c.row, ""), hidden=hidden)
                for c in report.conflicts
            ],
        )
        _show_rows(self.tree, min(len(lines), 6 if report.conflicts else 10))
        _show_rows(self.conflicts, min(len(report.conflicts), 7))
        self.backup_label.setVisible(new)
        self._asking.hide()
        self._found.show()
        much = bool(report.conflicts) or len(lines) > _FEW
        self.prefer_size(_WIDTH, _FOUND_HEIGHT if much else _ASKING_HEIGHT)
        self.show_busy()
        # What is told first is what the file is; then what the button does.
        self.setAccessibleDescription(f"{self.source_label.text()} {self.people_label.text()}")
        (self.merge_button if new else self.cancel_button).setFocus()

    def show_busy(self) -> None:
        asking = self._looked is None
        new = self._looked is not None and self._looked.report.entries > 0
        self.look_button.setVisible(asking)
        self.merge_button.setVisible(new)
        for button in (self.look_button, self.merge_button):
            button.setEnabled(not self.busy)
        self.look_button.setText(say("Reading …") if self.busy else say("Look into it"))
        self.merge_button.setText(say("Merging …") if self.busy else say("Merge"))
        self.look_button.setDefault(asking)
        self.merge_button.setDefault(new)
        self.cancel_button.setText(
            say("Close") if not asking and (self.busy or not new) else say("Cancel")
        )
        for part in (self._asking, self._found):
            part.setEnabled(not self.busy)

    def complain_of(self, error: BaseException) -> None:
        super().complain_of(error)
        if self._looked is None:
            target = self.passphrase if self._secret.isVisibleTo(self) else self.file
            target.selectAll()
            target.setFocus()

    def _finish(self, report: MergeReport) -> None:
        from app.windows.packages.words import merged_words

        window = self.window_below
        self.accept()
        window.toast.say(merged_words(report))

    def _forget_looked(self) -> None:
        looked, self._looked = self._looked, None
        if looked is not None and looked.key is not None and not self.busy:
            looked.key.wipe()

    def forget(self) -> None:
        self.passphrase.wipe()
        self._forget_looked()


def _table(name: str, columns: int) -> QTreeWidget:
    """A list in columns; the first takes the room there is."""
    made = QTreeWidget()
    made.setAccessibleName(name)
    made.setColumnCount(columns)
    made.setRootIsDecorated(False)
    made.setUniformRowHeights(True)
    made.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    made.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    header = made.header()
    header.setStretchLastSection(False)
    header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
    header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
    return made


def _fill(table: QTreeWidget, lines: Sequence[Sequence[str]]) -> None:
    table.clear()
    height = table.fontMetrics().height() + theme.S
    for texts in lines:
        item = QTreeWidgetItem(list(texts))
        item.setSizeHint(0, QSize(0, height))
        for place, text in enumerate(texts):
            item.setToolTip(place, text)
        table.addTopLevelItem(item)


def _show_rows(table: QTreeWidget, count: int) -> None:
    """Make room for so many rows; more are scrolled to."""
    if not count:
        return
    height = table.sizeHintForRow(0) * count + 2 * table.frameWidth() + theme.XS
    if not table.isHeaderHidden():
        height += table.header().sizeHint().height()
    table.setFixedHeight(height)
