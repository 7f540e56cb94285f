"""What a model shall map and judge; and running it with this machine's models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QCheckBox, QWidget

from app.operations import run_query
from app.pages.checklists.reading import RubricTexts, TextRow
from app.strings import count_of, say
from app.widgets.basics import label
from app.widgets.dialogs import Dialog
from app.widgets.inputs import ComboBox, Form
from core.checklists.runs import Plan, run_plan
from core.ports import Cancellation, ProgressCallback
from core.storage.workspace import Workspace
from core.types import Job


class RunDialog(Dialog):
    """Scope, mapper and judge. Nothing starts before 'Start'."""

    def __init__(
        self,
        parent: QWidget,
        texts: RubricTexts,
        current: TextRow | None,
        start: Callable[[Plan, str, str], object],
    ) -> None:
        super().__init__(say("Map and judge by model"), parent)
        self._texts, self._current, self._start = texts, current, start
        form = Form()
        self.scope = ComboBox(say("Texts"))
        scopes = []
        if current is not None:
            scopes.append((say("this text"), "one"))
        if texts.sample:
            words = count_of(len(texts.sample), "text", "texts")
            scopes.append((say("the {words} drawn for checking", words=words), "sample"))
        scopes.append(
            (say("all {words}", words=count_of(len(texts.texts), "text", "texts")), "all")
        )
        self.scope.fill(scopes)
        form.add(say("Texts"), self.scope)
        self.model = ComboBox(say("Model"))
        form.add(
            say("Model"),
            self.model,
            say("Maps the texts, and judges where a language model judges."),
        )
        self.references = QCheckBox(say("Map references"))
        self.references.setToolTip(say("A person's finished checklist of a reference goes first."))
        self.references.setChecked(True)
        self.outputs = QCheckBox(say("Map outputs"))
        self.outputs.setChecked(True)
        form.addRow(self.references)
        form.addRow(self.outputs)
        form.add_gap()
        self.judge = ComboBox(say("Judge"))
        self.judge.fill([(say("a language model"), "model"), (say("nobody yet"), "none")])
        form.add(say("Judge"), self.judge)
        self.reasons = ComboBox(say("Reasons"))
        self.reasons.fill(
            [
                (say("where the two differ"), "differences"),
                (say("always"), "all"),
                (say("never (fastest)"), "none"),
            ]
        )
        form.add(say("The judge says why"), self.reasons)
        self.body.addLayout(form)
        self.note = label(
            say("What is done stays. Items that fail are named, and a second run does only those."),
            "muted",
            wrap=True,
        )
        self.body.addWidget(self.note)
        self.add_cancel()
        self.go = self.add_button(say("Start"), self._go, "primary")
        self.go.setEnabled(False)
        run_query(self, _list_models).success(self._fill)

    def _fill(self, found: tuple[list[tuple[str, str]], list[tuple[str, str]]]) -> None:
        generators, judges = found
        self.model.fill([(name, key) for name, key in generators])
        if judges:
            self.judge.fill(
                [
                    (say("a language model"), "model"),
                    *((say("entailment: {name}", name=name), f"nli:{key}") for name, key in judges),
                    (say("nobody yet"), "none"),
                ]
            )
        self.go.setEnabled(bool(generators))
        if not generators:
            self.note.setText(say("There is no language model on this machine. Import one first."))

    @Slot()
    def _go(self) -> None:
        judge, _, nli = str(self.judge.value).partition(":")
        plan = Plan(
            rubric_id=self._texts.rubric.id,
            outputs=self._outputs(),
            map_references=self.references.isChecked(),
            map_outputs=self.outputs.isChecked(),
            judge=judge,  # type: ignore[arg-type]
            reasons=self.reasons.value,
        )
        start, model = self._start, str(self.model.value)
        self.accept()
        start(plan, model, nli)

    def _outputs(self) -> tuple[tuple[str, str], ...]:
        if self.scope.value == "one" and self._current is not None:
            return ((self._current.example_id, self._current.output_id),)
        wanted = set(self._texts.sample) if self.scope.value == "sample" else None
        return tuple(
            (text.example_id, text.output_id)
            for text in self._texts.texts
            if wanted is None or text.key in wanted
        )


def execute_plan(
    workspace: Workspace,
    models: Any,
    plan: Plan,
    person_id: str,
    generator_id: str,
    nli_id: str,
    *,
    progress: ProgressCallback,
    cancel: Cancellation,
) -> Job:
    """Run a plan with this machine's models."""
    return run_plan(
        workspace,
        plan,
        generator=lambda: models.generator(generator_id or None),
        entailment=lambda: models.entailment(nli_id or None),
        person=person_id,
        progress=progress,
        cancel=cancel,
    )


def _list_models() -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """(name, id) of language models and of entailment models."""
    from models.catalog import list_models

    entries = list_models()
    return (
        [(entry.name, entry.id) for entry in entries if entry.role == "generator"],
        [(entry.name, entry.id) for entry in entries if entry.role == "nli"],
    )
