"""Who is working: people of the workspace, and adding oneself."""

from __future__ import annotations

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QWidget

from app.operations import run_query, run_verb
from app.strings import say
from app.widgets.basics import label
from app.widgets.dialogs import Dialog
from app.widgets.inputs import ComboBox, Form, text_field
from core.changes import Outcome
from core.people import add_person
from core.types import Person

_NEW = ""


class PersonDialog(Dialog):
    """Choose somebody of the workspace, or add somebody new."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(say("Who is working?"), parent, width=420)
        self._people: dict[str, Person] = {}
        self.body.addWidget(
            label(
                say("Ratings, edits and undo belong to the person who is working."),
                "muted",
                wrap=True,
            )
        )
        form = Form()
        self.people = ComboBox(say("Person"))
        form.add(say("Person"), self.people)
        self.name = text_field(say("Name"), placeholder=say("Name shown to colleagues"))
        self._caption = form.add(say("Name"), self.name)
        self.body.addLayout(form)
        self.add_cancel()
        self.accept_button = self.add_button(say("Work as this person"), self._accept, "primary")
        self.people.currentIndexChanged.connect(self._on_choice)
        run_query(self, self.session.workspace.find, Person).success(self._fill)

    def _fill(self, people: list[Person]) -> None:
        self._people = {person.id: person for person in people}
        entries = [(person.name, person.id) for person in people]
        package = self.session.package
        # Of a package of reviews only reviews are taken back, and nobody who was added there.
        addable = package is None or not package.only_reviews
        if addable and not self.session.workspace.read_only:
            entries.append((say("Somebody new …"), _NEW))
        self.people.fill(entries, self.session.person_id)
        self._on_choice()

    @Slot()
    def _on_choice(self) -> None:
        new = self.people.value == _NEW
        self.name.setVisible(new)
        self._caption.setVisible(new)
        if new:
            self.name.setFocus()

    @Slot()
    def _accept(self) -> None:
        if self.people.value == _NEW:
            run_verb(self, "Add person", add_person, self.name.text()).success(self._added)
        elif self.people.value in self._people:
            self._take(self._people[self.people.value])

    def _added(self, outcome: Outcome[Person]) -> None:
        self._take(outcome.value)

    def _take(self, person: Person) -> None:
        self.session.set_person(person)
        self.accept()
