"""What a graph is of: its task and assumptions, whose it is, the source text; saved as one types."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app import theme
from app.canvas.document import GraphDocument
from app.operations import run_query, run_verb
from app.session import Session
from app.strings import say
from app.widgets.basics import Scroller, label, row
from app.widgets.buttons import Button
from app.widgets.dialogs import Dialog
from app.widgets.editors import LineEditor, ProseEditor, SaveLabel, Saver
from app.widgets.inputs import ComboBox, Form, text_field
from core.graphs.annotation import (
    assign_graph,
    reopen_graph,
    skip_graph,
    start_training,
    submit_graph,
)
from core.graphs.verbs import clean_assumptions, clean_text, edit_graph
from core.types import Person
from core.types.graphs import TaskGraph

ROLES = (
    ("annotation", "Annotation: one person's graph"),
    ("gold", "Gold: what others are compared with"),
    ("training", "Training: drawn for feedback"),
    ("model", "Made by a model"),
)
SPLITS = (("", "None"), ("train", "Training"), ("validation", "Validation"), ("test", "Test"))
_MOST_ASIDE = 12


class AboutTab(QWidget):
    """Fields of the graph itself."""

    #: Asked for: another graph of the task, a copy of this one, its end.
    another_asked = Signal()
    copy_asked = Signal()
    delete_asked = Signal()
    #: A training graph was made: its id.
    training_made = Signal(str)
    said = Signal(str)

    def __init__(self, session: Session, document: GraphDocument) -> None:
        super().__init__()
        self.session = session
        self.document = document
        self._shown: TaskGraph | None = None
        self.saver = Saver(session, self._start_saving, self)
        self.task = LineEditor(say("Task"))
        self.assumptions = ProseEditor(
            say("Assumptions"), placeholder=say("One a line, such as 'with loose leaves'"), lines=2
        )
        self.role = ComboBox(say("Kind"))
        self.role.fill([(say(text), value) for value, text in ROLES])
        self.person = ComboBox(say("Who works on it"), stretch=True)
        self.person.currentIndexChanged.connect(self._assign)
        self.split = ComboBox(say("Split"))
        self.split.fill([(say(text), value) for value, text in SPLITS])
        self.source = ProseEditor(
            say("Source text"),
            placeholder=say("A text the steps may come from; copied steps are shown in Checks"),
            lines=4,
        )
        self.aside = label("", "muted", wrap=True, selectable=True)
        scroller = Scroller()
        form = Form()
        form.add(say("Task"), self.task)
        form.add(
            say("Assumptions"),
            self.assumptions,
            say("Under which the steps hold. Another case is another graph of the same task."),
        )
        form.add(say("Kind"), self.role)
        form.add(say("Who works on it"), self.person)
        form.add(say("Split"), self.split)
        form.add(say("Source text"), self.source)
        scroller.box.addLayout(form)
        self.another_button = Button(say("Same task, other assumption"), icon="plus")
        self.another_button.clicked.connect(self.another_asked)
        self.copy_button = Button(say("Copy the graph"), icon="copy")
        self.copy_button.clicked.connect(self.copy_asked)
        self.delete_button = Button(say("Delete the graph"), "danger", icon="trash")
        self.delete_button.clicked.connect(self.delete_asked)
        self.state = label("", "strong", wrap=True)
        self.done_button = Button(say("It is done"), icon="check")
        self.done_button.clicked.connect(self.submit)
        self.pass_button = Button(say("Pass it to somebody else"), icon="skip")
        self.pass_button.clicked.connect(self.pass_on)
        self.open_button = Button(say("Work on it again"), icon="undo")
        self.open_button.clicked.connect(self.reopen)
        self.train_button = Button(say("Train on it: draw its order"), icon="book")
        self.train_button.clicked.connect(self.train)
        scroller.box.addWidget(self.state)
        for button in (
            self.done_button, self.pass_button, self.open_button, self.train_button,
            self.another_button, self.copy_button, self.delete_button,
        ):  # fmt: skip
            scroller.box.addLayout(row(button, None))
        scroller.box.addWidget(self.aside)
        scroller.box.addStretch(1)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, theme.S, 0, 0)
        box.addWidget(scroller, 1)
        box.addWidget(SaveLabel(self.saver))
        for field in (self.task, self.assumptions, self.source):
            field.edited.connect(self.saver.touch)
        for choice in (self.role, self.split):
            choice.currentIndexChanged.connect(self.saver.touch)
        document.changed.connect(self.refresh)
        self.refresh()

    @Slot()
    def refresh(self) -> None:
        """Show the document's graph; what is being typed stays."""
        graph = self.document.graph
        self.setEnabled(graph is not None)
        if graph is None:
            self.saver.flush()
            self._shown = None
            return
        shown = graph.graph
        if self._shown is not None and self._shown.id != shown.id:
            self.saver.flush()
        elif self.saver.dirty:
            return
        self._shown = shown
        self.task.load(shown.task)
        self.assumptions.load("\n".join(shown.assumptions))
        self.role.choose(shown.role)
        self.split.choose(shown.split)
        self.person.choose(shown.person_id)
        self.source.load(shown.source_text)
        self._show_state(shown)
        lines = [str(entry.get("reason", "")) for entry in shown.aside[:_MOST_ASIDE]]
        if len(shown.aside) > _MOST_ASIDE:
            lines.append("…")
        heading = say("Set aside from the file, and written back into it:")
        self.aside.setText("\n".join([heading, *lines]) if lines else "")
        self.aside.setVisible(bool(lines))

    def _show_state(self, shown: TaskGraph) -> None:
        words = {
            "open": say("In work"),
            "done": say("Done"),
            "skipped": say("Passed on: {why}", why=shown.note) if shown.note else say("Passed on"),
        }
        self.state.setText(words[shown.state])
        self.done_button.setVisible(shown.state == "open")
        self.pass_button.setVisible(shown.state == "open" and shown.role == "annotation")
        self.open_button.setVisible(shown.state != "open")
        self.train_button.setVisible(shown.role == "gold")

    def read_people(self) -> None:
        """Offer who can work on it; called when the tab is shown and when people change."""
        if self.session.has_workspace:
            run_query(self, self.session.workspace.find, Person).success(self._offer_people)

    def _offer_people(self, people: list[Person]) -> None:
        self.person.fill(
            [(say("Whoever comes first"), ""), *((person.name, person.id) for person in people)]
        )
        self.person.choose(self._shown.person_id if self._shown is not None else "")

    @Slot()
    def _assign(self) -> None:
        shown, person = self._shown, self.person.value
        if shown is not None and person is not None and person != shown.person_id:
            self._shown = replace(shown, person_id=person)
            self._run(say("Give the graph to somebody"), assign_graph, person)

    def _run(self, label_: str, verb: Any, *args: Any, done: Any = None) -> None:
        pending = run_verb(self, label_, verb, self.document.graph_id, *args)
        pending.failure(self.document.refused.emit)
        if done is not None:
            pending.success(done)

    @Slot()
    def submit(self) -> None:
        """Say that the graph is done."""
        self._run(say("Finish graph"), submit_graph)

    @Slot()
    def reopen(self) -> None:
        """Take 'done' or 'passed on' back."""
        self._run(say("Reopen graph"), reopen_graph)

    @Slot()
    def pass_on(self) -> None:
        """Pass the task to somebody else, with a reason."""
        PassDialog(self, self._pass_on).open()

    def _pass_on(self, reason: str) -> None:
        self._run(say("Pass task on"), skip_graph, reason,
                  done=lambda _: self.said.emit(say("The task was passed on.")))  # fmt: skip

    @Slot()
    def train(self) -> None:
        """A training round: the steps are given, the order is to be drawn."""
        self._run(
            say("Start training"),
            start_training,
            self.session.person_id,
            done=lambda outcome: self.training_made.emit(outcome.value.id),
        )

    def _start_saving(self) -> Future[Any] | None:
        shown = self._shown
        if shown is None or not self.session.has_workspace:
            return None
        typed: dict[str, Any] = {
            "task": clean_text(self.task.text()) or shown.task,
            "assumptions": clean_assumptions(self.assumptions.text.splitlines()),
            "role": self.role.value or shown.role,
            "split": self.split.value if self.split.value is not None else shown.split,
            "source_text": self.source.text,
        }
        fields = {name: value for name, value in typed.items() if value != getattr(shown, name)}
        if not fields:
            return None
        future = self.session.workspace.submit(
            say("Edit graph"), self.session.person_id, edit_graph, shown.id, **fields
        )
        self._shown = replace(shown, **fields)
        return future


class PassDialog(Dialog):
    """Asks why a task is passed on."""

    def __init__(self, parent: QWidget, done: Callable[[str], object]) -> None:
        super().__init__(say("Pass it to somebody else"), parent, width=440)
        self._done = done
        form = Form()
        self.reason = text_field(say("Reason"))
        form.add(say("Reason"), self.reason, say("Such as 'I do not know this procedure'."))
        self.body.addLayout(form)
        self.add_cancel()
        self.add_button(say("Pass on"), self._accept, "primary")
        self.reason.setFocus()

    @Slot()
    def _accept(self) -> None:
        self._done(self.reason.text())
        self.accept()
