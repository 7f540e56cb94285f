"""What the studio asks of the model, and the person's notes on changes and critique."""

from __future__ import annotations

from functools import partial
from typing import Any

from app.operations import run_job, run_verb
from app.pages.drafts.assist import AssistDialog, let_edit
from app.pages.drafts.tracked_editor import LongEditor, TrackedEditor
from app.pages.drafts.work import criticise
from app.strings import say
from core.editing.assistant import AssistantEdit
from core.examples.post_edit import add_critique, confirm_edit_types, note_change, settle_critique
from core.metrics.nltk_words import split_sentences
from core.types import SectionText


class ModelWork:
    """Mixed into the studio, whose state, editors and tabs it uses."""

    _state: Any
    _editors: Any
    _wanted: str

    @property
    def target(self) -> int:
        """The editor worked on, by its place."""
        raise AssertionError("the studio says")

    def ask_model(self) -> None:
        """Let the model edit the selection, or the sentence at the writing mark."""
        if self._state is None or not self._editors:
            return
        editor = self._editors[self.target]
        start, end = editor.selection
        if start == end:
            start, end = _sentence_at(editor.tracked.text, start)
            editor.select(start, end)
        text = editor.selected_text()
        if text.strip():
            AssistDialog(
                self,
                text,
                self._state.request.evidence,
                self._evidence_place,
                partial(self._run_model, editor, start, end, text),
            ).open()

    def ask_critique(self) -> None:
        """Let the model criticise the text as it stands."""
        if self._state is None or self.critique.is_asking:
            return
        sections = [
            SectionText(title=title, text=editor.tracked.current)
            for title, editor in zip(self._state.titles, self._editors, strict=True)
        ]
        self.critique.set_asking(True)
        run_job(
            self,
            say("Criticising"),
            criticise,
            self.session.workspace,
            self.session.models,
            self._wanted,
            sections,
        ).success(self._keep_critique).end(partial(self.critique.set_asking, False))

    def _note_type(self, change: str, edit_type: str) -> None:
        run_verb(
            self, say("Type of a change"), note_change, self._wanted, change, edit_type=edit_type
        )

    def _note_comment(self, change: str, comment: str) -> None:
        run_verb(
            self, say("Comment on a change"), note_change, self._wanted, change, comment=comment
        )

    def _confirm_types(self) -> None:
        self.saver.flush()
        run_verb(self, say("Confirm types"), confirm_edit_types, self._wanted)

    def _settle(self, point: str, state: str) -> None:
        run_verb(self, say("Settle a point"), settle_critique, point, state)

    def _keep_critique(self, answer: tuple[list[str], str]) -> None:
        points, model = answer
        if points:
            run_verb(self, say("Critique"), add_critique, self._wanted, points, model)
        else:
            self.critique.note.setText(say("The model named no fault."))
            self.critique.note.show()

    def _run_model(
        self,
        editor: TrackedEditor | LongEditor,
        start: int,
        end: int,
        text: str,
        instruction: str,
        references: list[str],
    ) -> None:
        run_job(
            self,
            say("Editing"),
            let_edit,
            self.session.models,
            text,
            instruction,
            references,
        ).success(partial(self._take_edit, editor, start, end))

    def _take_edit(
        self, editor: TrackedEditor | LongEditor, start: int, end: int, made: AssistantEdit
    ) -> None:
        if editor not in self._editors:
            return
        editor.select(start, end)
        if editor.selected_text() != made.before:
            self.warn(say("The text changed meanwhile; the model's edit is left out."))
            return
        if made.after == made.before:
            self.warn(say("The model would change nothing."))
            return
        self.warn("")
        editor.replace(start, end, made.after, source="assistant", action="assistant")
        self.saver.flush()
        self._reveal(editor)
        self.tabs.setCurrentWidget(self.changes)


def _sentence_at(text: str, place: int) -> tuple[int, int]:
    """The sentence around a place of the displayed text."""
    start = text.rfind("\n", 0, place) + 1
    end = text.find("\n", place)
    end = len(text) if end < 0 else end
    at = start
    for sentence in split_sentences(text[start:end]):
        begin = text.find(sentence, at)
        at = begin + len(sentence)
        if begin <= place <= at:
            return begin, at
    return start, end
