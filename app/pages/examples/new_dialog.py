"""A new example by hand: the task it is of, a title, and what goes in."""

from __future__ import annotations

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QWidget

from app import theme
from app.operations import run_query, run_verb
from app.strings import say
from app.widgets.basics import Scroller, clear_layout, label
from app.widgets.dialogs import Dialog
from app.widgets.editors import ProseEditor
from app.widgets.inputs import ComboBox, Form, text_field
from app.widgets.notice import Notice
from core.changes import Outcome
from core.examples.verbs import add_example
from core.types import Example, SectionSpec, SectionText, Task

_MOST_LINES = 12


class NewExampleDialog(Dialog):
    """Asks for the input; the reference is written on the page, section by section."""

    #: The id of the new example.
    added = Signal(str)

    def __init__(self, parent: QWidget, *, task_id: str = "") -> None:
        super().__init__(say("New example"), parent, width=640)
        self._tasks: dict[str, Task] = {}
        self._wanted = task_id
        self._editors: list[ProseEditor] = []
        form = Form()
        self.task_box = ComboBox(say("Task"))
        form.add(say("Task"), self.task_box)
        self.title_field = text_field(
            say("Title"), placeholder=say("Taken from the text when left empty")
        )
        form.add(say("Title"), self.title_field)
        self.body.addLayout(form)
        self.sections = Scroller()
        self.sections.box.setSpacing(theme.S)
        self.sections.setMinimumHeight(theme.current().px(240))
        self.body.addWidget(self.sections, 1)
        self.notice = Notice("", "warning")
        self.notice.hide()
        self.body.addWidget(self.notice)
        self.add_cancel()
        self.accept_button = self.add_button(say("Add the example"), self._add, "primary")
        self.accept_button.setEnabled(False)
        self.task_box.currentIndexChanged.connect(self._show_sections)
        workspace = self.session.workspace
        run_query(self, workspace.find, Task).success(self._fill)

    def _fill(self, tasks: list[Task]) -> None:
        self._tasks = {task.id: task for task in tasks}
        self.task_box.fill([(task.objective, task.id) for task in tasks], self._wanted or None)
        self.accept_button.setEnabled(bool(tasks))
        if not tasks:
            self.notice.set_text(say("An example is of a task. Describe one under Tasks first."))
            self.notice.show()
        self._show_sections()

    @property
    def _specs(self) -> tuple[SectionSpec, ...]:
        task = self._tasks.get(self.task_box.value)
        return (task.input_sections or (SectionSpec(title=say("Input")),)) if task else ()

    @Slot()
    def _show_sections(self) -> None:
        clear_layout(self.sections.box)
        self._editors = []
        for spec in self._specs:
            self.sections.box.addWidget(label(spec.title, "strong"))
            editor = ProseEditor(
                spec.title, placeholder=spec.description, lines=4, most=_MOST_LINES
            )
            self._editors.append(editor)
            self.sections.box.addWidget(editor)
        self.sections.box.addStretch(1)

    @Slot()
    def _add(self) -> None:
        texts = [editor.text.strip() for editor in self._editors]
        if not any(texts):
            self.notice.set_text(say("Give what the writer is given: type it or paste it."))
            self.notice.show()
            if self._editors:
                self._editors[0].setFocus()
            return
        task = self._tasks[self.task_box.value]
        run_verb(
            self,
            say("Add example"),
            add_example,
            task.id,
            title=self.title_field.text(),
            input=tuple(
                SectionText(title=spec.title, text=text)
                for spec, text in zip(self._specs, texts, strict=True)
            ),
            output=tuple(SectionText(title=spec.title, text="") for spec in task.output_sections),
        ).success(self._hand_over)

    def _hand_over(self, outcome: Outcome[Example]) -> None:
        self.accept()
        self.added.emit(outcome.value.id)
