"""Asking the model to edit a selection: EditEval's seven tasks or any instruction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtWidgets import QWidget

from app.pages.documents.viewer import DocumentViewer
from app.strings import say, shorten
from app.widgets.basics import label
from app.widgets.dialogs import Dialog
from app.widgets.inputs import ComboBox, text_field
from core.editing.assistant import EDIT_TASKS, AssistantEdit, edit_selection
from core.ports import Cancellation, ProgressCallback
from core.types.documents import Evidence


class AssistDialog(Dialog):
    """Hands over (instruction, passages to update from)."""

    def __init__(
        self,
        parent: QWidget,
        text: str,
        evidence: Sequence[Evidence],
        chosen: int,
        slot: Callable[[str, list[str]], object],
    ) -> None:
        super().__init__(say("Let the model edit"), parent, width=560)
        self._slot = slot
        self._evidence = list(evidence)
        self.body.addWidget(label(shorten(text, 240), "muted", wrap=True))
        self.task = ComboBox(say("What to do"))
        self.task.fill(
            [
                *((say(task.name), key) for key, task in EDIT_TASKS.items()),
                (say("Follow my instruction"), ""),
            ]
        )
        self.task.setCurrentIndex(0)
        self.instruction = text_field(
            say("Instruction"), placeholder=say("What is to be done with the text?")
        )
        self.passage = ComboBox(say("Passage"))
        self.passage.setSizeAdjustPolicy(
            ComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self.passage.fill(
            [
                (say("{document}, page {page}", document=e.document, page=e.page), place)
                for place, e in enumerate(evidence)
            ]
        )
        self.passage.setCurrentIndex(max(0, chosen))
        self.body.addWidget(self.task)
        self.body.addWidget(self.instruction)
        self.passage_label = label(say("Update from"), "strong")
        self.body.addWidget(self.passage_label)
        self.body.addWidget(self.passage)
        self.body.addWidget(
            label(
                say("The answer arrives as tracked changes, to accept or reject."),
                "small",
                wrap=True,
            )
        )
        self.task.currentIndexChanged.connect(self._sync)
        self.instruction.textChanged.connect(self._sync)
        self.add_cancel()
        self.run_button = self.add_button(say("Edit"), self._run, "primary")
        self._sync()

    def choose(self, key: str) -> None:
        """Choose one of EditEval's tasks; '' for an own instruction."""
        self.task.choose(key)
        self._sync()

    def _sync(self) -> None:
        own = self.task.value == ""
        updating = self.task.value == "updating"
        self.instruction.setVisible(own)
        self.passage.setVisible(updating and bool(self._evidence))
        self.passage_label.setVisible(updating and bool(self._evidence))
        self.run_button.setEnabled(not own or bool(self.instruction.text().strip()))

    def _run(self) -> None:
        key = self.task.value
        instruction = EDIT_TASKS[key].instruction if key else self.instruction.text().strip()
        place = self.passage.value
        references = (
            [self._evidence[place].text] if key == "updating" and isinstance(place, int) else []
        )
        self.accept()
        self._slot(instruction, references)


def let_edit(
    models: Any,
    text: str,
    instruction: str,
    references: Sequence[str],
    *,
    progress: ProgressCallback,
    cancel: Cancellation,
) -> AssistantEdit:
    """Edit by the model of this machine; for a thread of its own."""
    return edit_selection(
        models.generator(None), text, instruction, references=references, cancel=cancel
    )


class PassageDialog(Dialog):
    """The page of a document on which a passage stands, with it marked."""

    def __init__(self, parent: QWidget, document_id: str, span: tuple[int, int]) -> None:
        super().__init__(say("Where it stands"), parent, width=720)
        self.viewer = DocumentViewer(self.session)
        self.viewer.setMinimumHeight(480)
        self.body.addWidget(self.viewer, 1)
        self.add_button(say("Close"), self.accept, "primary")
        self.viewer.show_document(document_id, page=0, span=span)
