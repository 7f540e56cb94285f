"""The output behind a number: reference and output side by side, its scores, and what is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QHBoxLayout, QSplitter, QVBoxLayout, QWidget

from app import theme
from app.operations import run_query, run_verb
from app.pages.results.table import measure_title, measure_value
from app.strings import count_of, format_number, say
from app.widgets.basics import Card, label
from app.widgets.buttons import Button
from app.widgets.dialogs import Dialog
from app.widgets.notice import Notice
from app.widgets.reader import Mark, Reader, ScrollPair
from core.runs.measures import MEASURES, RATING_PREFIX, count_words
from core.runs.tags import remove_tag, tag_output, tags_of
from core.storage.workspace import Workspace
from core.tasks.sections import join_sections
from core.types import Example, Output, Run, SectionText, System
from core.types.evaluation import OUTPUT_TAGS, OutputTag

TAG_WORDS = {
    "lacking_depth": "Lacking depth",
    "verbose": "Verbose",
    "missing_information": "Missing information",
    "wrong": "Wrong",
    "structure": "Structure",
}


def tag_word(tag: str) -> str:
    """A tag for people."""
    return say(TAG_WORDS.get(tag, tag))


@dataclass(frozen=True, slots=True)
class OutputView:
    """What the dialog shows. ``hidden`` while the person still has to review it blind."""

    title: str
    system: str
    input: tuple[SectionText, ...]
    reference: tuple[SectionText, ...]
    written: tuple[SectionText, ...]
    measures: tuple[tuple[str, float | None, str], ...]
    hidden: bool
    output_id: str
    text: str
    tags: tuple[OutputTag, ...]


def read_output_view(workspace: Workspace, output_id: str, person_id: str) -> OutputView:
    """Read an output with its measures; for a thread of the pool."""
    output = workspace.get(Output, output_id)
    example = workspace.get(Example, output.example_id)
    run = workspace.get(Run, output.run_id)
    waits = workspace.query(
        "SELECT 1 FROM review_item WHERE output_id = ? AND person_id = ? AND deleted = 0"
        " AND state IN ('pending', 'draft')",
        (output_id, person_id),
    )
    measures = workspace.query(
        f"SELECT m.metric, m.value, m.reason FROM {MEASURES} m WHERE m.output_id = ?"
        " ORDER BY m.metric LIKE 'rating%', m.metric",
        (output_id,),
    )
    return OutputView(
        example.title,
        workspace.get(System, run.system_id).name,
        example.input,
        example.output,
        output.sections or (SectionText(title="", text=output.text),),
        tuple((row["metric"], row["value"], row["reason"]) for row in measures),
        bool(waits),
        output_id,
        output.text,
        tuple(tags_of(workspace, output_id)),
    )


class OutputDialog(Dialog):
    """Opens at once and fills when the texts are read."""

    def __init__(self, parent: QWidget, output_id: str) -> None:
        super().__init__(say("Output"), parent, width=820)
        self.prefer_size(1080, 680)
        self.facts = label("", "muted", wrap=True)
        self.body.addWidget(self.facts)
        self.notice = Notice(
            say(
                "You have not reviewed this output yet, so its text stays hidden here: "
                "knowing the system would sway your judgement."
            )
        )
        self.notice.hide()
        self.body.addWidget(self.notice)
        self.reference = Reader(say("Reference"))
        self.output = Reader(say("Output"))
        self.scrolling = ScrollPair(self.reference, self.output)
        split = QSplitter(Qt.Orientation.Horizontal)
        split.setChildrenCollapsible(False)
        split.setHandleWidth(theme.L)
        self.cards = []
        for title, reader in ((say("Reference"), self.reference), (say("Output"), self.output)):
            card = Card(title)
            card.add(reader, 1)
            split.addWidget(card)
            self.cards.append(card)
        self.input_button = Button(say("Show the input"), "choice")
        self.input_button.setCheckable(True)
        self.input_button.toggled.connect(self._show_left)
        self.cards[0].header.addWidget(self.input_button)
        self.body.addWidget(split, 1)
        self.body.addLayout(self._make_tags())
        self.close_button = self.add_button(say("Close"), self.accept, "primary")
        self._output_id = output_id
        self._view: OutputView | None = None
        self._load()

    def _load(self) -> None:
        run_query(
            self, read_output_view, self.session.workspace, self._output_id, self.session.person_id
        ).success(self._fill)

    def _make_tags(self) -> QVBoxLayout:
        """Buttons that mark the selected words, or the whole output; the marks there are beside."""
        self.tag_buttons: dict[str, Button] = {}
        line = QHBoxLayout()
        line.setSpacing(theme.S)
        line.addWidget(label(say("What is wrong"), "strong"))
        for tag in OUTPUT_TAGS:
            button = Button(tag_word(tag), "choice")
            button.setCheckable(True)
            button.setToolTip(
                say("Marks the selected words, or the whole output without a selection")
            )
            button.clicked.connect(partial(self.toggle_tag, tag))
            self.tag_buttons[tag] = button
            line.addWidget(button)
        line.addStretch(1)
        self.tags_label = label("", "muted", wrap=True)
        box = QVBoxLayout()
        box.setSpacing(theme.XS)
        box.addLayout(line)
        box.addWidget(self.tags_label)
        return box

    def toggle_tag(self, tag: str) -> None:
        """Mark the selection or the output with a tag; take a mark on the whole output back."""
        view = self._view
        if view is None or view.hidden:
            return
        start, end = self._selection(view)
        whole = [
            t
            for t in view.tags
            if t.tag == tag and t.start < 0 and t.person_id == self.session.person_id
        ]
        if start < 0 and whole:
            run_verb(self, say("Take back a mark"), remove_tag, whole[0].id).end(self._load)
            return
        run_verb(
            self,
            say("Mark: {tag}", tag=tag_word(tag)),
            tag_output,
            view.output_id,
            self.session.person_id,
            tag,
            start=start,
            end=end,
        ).end(self._load)

    def _selection(self, view: OutputView) -> tuple[int, int]:
        """The selected words as a stretch of the output's text; (-1, -1) where it is not one."""
        chosen = self.output.textCursor().selectedText().replace("\u2029", "\n").strip()
        place = view.text.find(chosen) if chosen else -1
        return (place, place + len(chosen)) if place >= 0 else (-1, -1)

    def _show_tags(self, view: OutputView) -> None:
        mine = {t.tag for t in view.tags if t.start < 0 and t.person_id == self.session.person_id}
        for tag, button in self.tag_buttons.items():
            button.setChecked(tag in mine)
            button.setEnabled(not view.hidden)
        passages = [t for t in view.tags if t.start >= 0]
        self.tags_label.setText(
            " · ".join(f"{tag_word(t.tag)}: “{view.text[t.start : t.end]}”" for t in passages)
        )
        self.tags_label.setVisible(bool(passages))
        self.output.set_marks(
            Mark(section, start, start + len(words), ground="warning_ground", underline=True)
            for words in (view.text[t.start : t.end] for t in passages)
            for section, start in _places(view.written, words)
        )

    def _fill(self, view: OutputView) -> None:
        self._view = view
        self.title_label.setText(view.title)
        # Several people's ratings on an axis are one measure with several values.
        values: dict[str, list[str]] = {}
        for metric, value, why in view.measures:
            text = measure_value(metric, value)
            if metric.startswith(RATING_PREFIX) and value is not None:
                text = format_number(value, 0)
            values.setdefault(metric, []).append(f"{text} ({why})" if why else text)
        measures = [f"{measure_title(metric)}: {', '.join(v)}" for metric, v in values.items()]
        self._show_left()
        self.notice.setVisible(view.hidden)
        if view.hidden:
            self.facts.setText(view.system)
            self._show_tags(replace(view, tags=()))
            return
        self.facts.setText(" · ".join([view.system, *measures]))
        self.output.set_sections(view.written)
        self.cards[1].note_label.setText(_words(view.text))
        self._show_tags(view)

    @Slot()
    def _show_left(self) -> None:
        """The reference on the left, or the input it was written from."""
        if self._view is None:
            return
        shown = self.input_button.isChecked()
        sections = self._view.input if shown else self._view.reference
        name = say("Input") if shown else say("Reference")
        self.reference.set_sections(sections)
        self.reference.setAccessibleName(name)
        self.cards[0].set_title(name, _words(join_sections(sections)))


def _words(text: str) -> str:
    return count_of(count_words(text), "word", "words")


def _places(sections: tuple[SectionText, ...], words: str) -> list[tuple[int, int]]:
    """Where words stand in the sections shown, in code points: the first place."""
    for number, section in enumerate(sections):
        place = section.text.find(words)
        if place >= 0:
            return [(number, place)]
    return []
