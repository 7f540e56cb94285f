"""Tasks: the list, the template that saves itself as it is filled in, and the five criteria."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QSplitter, QWidget

from app import theme
from app.operations import run_query, run_verb
from app.pages.base import Command
from app.pages.base import Page as BasePage
from app.pages.listing import Listing
from app.pages.tasks.sections_editor import SectionsEditor
from app.pages.tasks.validation import ValidationDialog
from app.strings import say
from app.widgets.basics import Card, Scroller, label, row
from app.widgets.buttons import Button, IconButton
from app.widgets.editors import LineEditor, ProseEditor, SaveLabel, Saver
from app.widgets.empty import EmptyState
from app.widgets.id_table import TableColumn, TableSource
from app.widgets.inputs import ComboBox
from core.changes import Changes, Outcome
from core.errors import NotFoundError
from core.exchange.demo import fill_demo
from core.tasks.verbs import (
    add_task,
    clear_validation,
    delete_task,
    edit_task,
    validate_task,
)
from core.types import TASK_CRITERIA, Field, SectionSpec, Task, TaskValidation

SOURCE = TableSource(
    "task t JOIN field f ON f.id = t.field_id",
    columns=(
        TableColumn(
            "objective", "Task", "t.objective", order="t.objective COLLATE NOCASE", width=0
        ),
        TableColumn("field", "Field", "f.name", order="f.name COLLATE NOCASE", width=12),
    ),
    id="t.id",
    where="t.deleted = 0",
    search=("t.objective", "f.name"),
    kinds=("task", "field"),
)


class Page(BasePage):
    """List at the left, the task's template at the right."""

    name = "tasks"
    title = "Tasks"
    kinds = ("task", "field", "task_validation")

    def build(self) -> None:
        self._task: Task | None = None
        self._field = ""
        self._wanted = ""
        self._new = ""
        self.saver = Saver(self.session, self._start_saving, self)
        self.action_row.addWidget(SaveLabel(self.saver))
        keys = self.session.shortcuts
        self.new_button = Button(
            say("New task"), "primary", icon="plus", shortcuts=keys, action="new"
        )
        self.new_button.clicked.connect(self.add)
        self.delete_button = IconButton("trash", say("Delete the task"))
        self.delete_button.clicked.connect(self.delete)
        self.action_row.addWidget(self.delete_button)
        self.action_row.addWidget(self.new_button)
        self.listing = Listing(
            self.session, SOURCE, say("Tasks"), say("Search tasks and fields"), self
        )
        self.listing.view.current_changed.connect(self._show)
        self.listing.model.loaded.connect(self._on_loaded)
        keys.bind(self.listing.view, "tasks.delete", self.delete)
        self.form = Scroller()
        self._build_form()
        splitter = QSplitter(Qt.Orientation.Horizontal)
        splitter.setChildrenCollapsible(False)
        splitter.setHandleWidth(theme.L)
        splitter.addWidget(self.listing)
        splitter.addWidget(self.form)
        splitter.setStretchFactor(0, 2)
        splitter.setStretchFactor(1, 5)
        splitter.setSizes([theme.current().px(width) for width in (420, 840)])
        self.body.addWidget(splitter, 1)

    def refresh(self, changes: Changes | None) -> None:
        self.listing.model.apply_changes(changes)
        if self._task is not None and not self.saver.dirty:
            self._show(self._task.id)

    def place(self) -> dict[str, Any]:
        return {"task": self.listing.view.current_id or self._wanted}

    def restore(self, place: dict[str, Any]) -> None:
        self._wanted = str(place.get("task", ""))
        self.listing.view.select_id(self._wanted)

    def settle(self) -> Sequence[Future[Any]]:
        future = self.saver.flush()
        return [future] if future is not None else []

    def commands(self) -> Sequence[Command]:
        return [
            Command(say("New task"), self.add, self.session.shortcuts.hint("new"), self.title),
            Command(
                say("Delete the task"),
                self.delete,
                self.session.shortcuts.hint("tasks.delete"),
                self.title,
            ),
            Command(say("Rate the task"), self.show_rating, "", self.title),
            Command(say("Draft an example of the task"), self._draft, "", self.title),
        ]

    def first_focus(self) -> QWidget | None:
        return self.listing.view

    def add(self) -> None:
        """Add a task and put the keyboard on its objective."""
        self.saver.flush()
        run_verb(
            self,
            say("Add task"),
            add_task,
            field="General",
            objective=say("New task"),
            output_sections=(SectionSpec(title=say("Summary")),),
            author=self.session.person.name,
        ).success(self._added)

    def _added(self, outcome: Outcome[Task]) -> None:
        self.listing.search.clear()
        self.listing.view.select_id(outcome.value.id)
        self._wanted = self._new = outcome.value.id
        # It may have been shown before it was told; another reading would select what is typed by then.
        self._go_on_in_new()

    def delete(self) -> None:
        """Delete the task shown, where nothing depends on it; undo brings it back."""
        task = self._task
        if task is None:
            self._say_none()
        else:
            self.saver.flush()
            run_verb(self, say("Delete task"), delete_task, task.id).success(self._deleted)

    def _deleted(self, _outcome: object) -> None:
        key = self.session.shortcuts.hint("undo")
        self.said.emit(say("Deleted. {key} brings it back.", key=key))

    def _build_form(self) -> None:
        self.objective = LineEditor(say("Objective"), placeholder=say("What is to be written?"))
        self.field = LineEditor(say("Field"), placeholder=say("Medicine, law, education …"))
        self.procedure = ProseEditor(
            say("Procedure"), placeholder=say("The steps an expert takes."), lines=3, most=14
        )
        self.notes = ProseEditor(
            say("Notes"), placeholder=say("What else matters."), lines=2, most=8
        )
        self.input_sections = SectionsEditor(say("input section"))
        self.output_sections = SectionsEditor(say("output section"))
        template = Card(say("Template"))
        for words, editor in (
            (say("Objective"), self.objective),
            (say("Field"), self.field),
            (say("Procedure"), self.procedure),
            (say("Notes"), self.notes),
        ):
            template.add(label(words, "strong"))
            template.add(editor)
            editor.edited.connect(self.saver.touch)
        self.form.box.addWidget(template)
        for words, sections in (
            (say("Input sections"), self.input_sections),
            (say("Output sections"), self.output_sections),
        ):
            card = Card(words, say("in the order they are written"))
            card.add(sections)
            sections.edited.connect(self.saver.touch)
            self.form.box.addWidget(card)
        self.form.box.addWidget(self._build_criteria())
        self.form.box.addStretch(1)

    def _build_criteria(self) -> Card:
        card = Card(say("Is it a good task?"), say("your own answers"))
        self.criteria: dict[str, ComboBox] = {}
        for key, question in TASK_CRITERIA.items():
            box = ComboBox(question)
            box.fill([(say("not answered"), None), (say("yes"), True), (say("no"), False)])
            box.activated.connect(lambda _index, key=key: self._answer(key))
            self.criteria[key] = box
            line = QHBoxLayout()
            line.setSpacing(theme.M)
            line.addWidget(label(question, wrap=True), 1)
            line.addWidget(box)
            card.add(line)
        self.rate_button = Button(say("Rate it on nine questions"), icon="review")
        self.rate_button.clicked.connect(self.show_rating)
        self.draft_button = Button(say("Draft an example"), icon="edit")
        self.draft_button.clicked.connect(self._draft)
        card.add(row(self.rate_button, self.draft_button, None))
        return card

    def show_rating(self) -> None:
        """Open the nine questions of task validation."""
        if self._task is None:
            self._say_none()
        else:
            ValidationDialog(self, self._task.id).open()

    def _draft(self) -> None:
        if self._task is None:
            self._say_none()
        else:
            self.go.emit("drafts", {"new": True, "task": self._task.id})

    def _say_none(self) -> None:
        self.said.emit(say("There is no task yet. Make one first."))

    def _answer(self, key: str) -> None:
        answer, person = self.criteria[key].value, self.session.person_id
        if self._task is not None and answer is None:
            words = say("Take back an answer")
            run_verb(self, words, clear_validation, self._task.id, person, key)
        elif self._task is not None:
            run_verb(
                self,
                say("Answer a criterion"),
                validate_task,
                self._task.id,
                person,
                key,
                answer,
            )

    def _on_loaded(self) -> None:
        count = len(self.listing.model.ids)
        self.set_subtitle(f"{count:,}" if count else "")
        if not self.listing.is_bare:
            self.show_empty(None)
            self.delete_button.setEnabled(True)
            return
        self._task = None
        self.delete_button.setEnabled(False)
        self.show_empty(
            EmptyState(
                "tasks",
                say("No tasks yet"),
                say(
                    "A task describes methodical writing an expert does: its objective, the steps, "
                    "what goes in, and the sections that come out."
                ),
                (say("New task"), self.add),
                (say("Add the sample"), lambda: run_verb(self, say("Add the sample"), fill_demo)),
            )
        )

    def _show(self, task_id: str) -> None:
        if self._task is not None and task_id != self._task.id:
            self.saver.flush()
        if not task_id:
            return
        workspace, person = self.session.workspace, self.session.person_id

        def read() -> tuple[Task, str, dict[str, bool]]:
            task = workspace.get(Task, task_id)
            answers = workspace.find(
                TaskValidation, "task_id = ? AND person_id = ?", (task_id, person)
            )
            field = workspace.get(Field, task.field_id).name
            return task, field, {answer.criterion: answer.answer for answer in answers}

        def take(found: tuple[Task, str, dict[str, bool]]) -> None:
            if found[0].id == self.listing.view.current_id and not self.saver.dirty:
                self._fill(*found)

        def forget(error: BaseException) -> None:
            # It was deleted, here or by undo: the list goes on to another one.
            if not isinstance(error, NotFoundError):
                self.session.jobs.failed.emit(error, self)
            elif self._task is not None and self._task.id == task_id:
                self._task = None

        run_query(self, read).success(take).failure(forget)

    def _fill(self, task: Task, field: str, answers: dict[str, bool]) -> None:
        self._task = task
        self._field = field
        self.objective.load(task.objective)
        self.field.load(field)
        self.procedure.load(task.procedure)
        self.notes.load(task.notes)
        self.input_sections.load(task.input_sections)
        self.output_sections.load(task.output_sections)
        for key, box in self.criteria.items():
            box.choose(answers.get(key))
        self._go_on_in_new()

    def _go_on_in_new(self) -> None:
        """Write the new task's objective, not before it is shown: what is typed belongs to the new one."""
        if self._task is not None and self._task.id == self._new:
            self._new = ""
            self.objective.setFocus()
            self.objective.selectAll()

    def _start_saving(self) -> Future[Any] | None:
        task = self._task
        if task is None:
            return None
        fields: dict[str, Any] = {
            "objective": self.objective.text().strip(),
            "procedure": self.procedure.text,
            "notes": self.notes.text,
            "input_sections": self.input_sections.sections,
            "output_sections": self.output_sections.sections,
        }
        changed = {name: value for name, value in fields.items() if value != getattr(task, name)}
        field = self.field.text().strip()
        if field and field != self._field:
            changed["field"] = field
        if not changed:
            return None
        return self.session.workspace.submit(
            say("Edit task"), self.session.person_id, edit_task, task.id, **changed
        )
