"""The output behind a number: reference and output side by side, with all its scores."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSplitter, QWidget

from app import theme
from app.operations import run_query
from app.pages.results.table import MEASURES, measure_title, measure_value
from app.strings import count_of, say
from app.widgets.basics import Card, label
from app.widgets.dialogs import Dialog
from app.widgets.notice import Notice
from app.widgets.reader import Reader, ScrollPair
from core.storage.workspace import Workspace
from core.types import Example, Output, Run, SectionText, System


@dataclass(frozen=True, slots=True)
class OutputView:
    """What the dialog shows. ``hidden`` while the person still has to review it blind."""

    title: str
    system: str
    reference: tuple[SectionText, ...]
    written: tuple[SectionText, ...]
    measures: tuple[tuple[str, float | None, str], ...]
    hidden: bool


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
        example.output,
        output.sections or (SectionText(title="", text=output.text),),
        tuple((row["metric"], row["value"], row["reason"]) for row in measures),
        bool(waits),
    )


class OutputDialog(Dialog):
    """Opens at once and fills when the texts are read."""

    def __init__(self, parent: QWidget, output_id: str) -> None:
        super().__init__(say("Output"), parent, width=820)
        self.resize(theme.current().px(1080), theme.current().px(680))
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
        self.body.addWidget(split, 1)
        self.close_button = self.add_button(say("Close"), self.accept, "primary")
        run_query(
            self, read_output_view, self.session.workspace, output_id, self.session.person_id
        ).success(self._fill)

    def _fill(self, view: OutputView) -> None:
        self.title_label.setText(view.title)
        measures = [
            f"{measure_title(metric)} {measure_value(metric, value)}" + (f" ({why})" if why else "")
            for metric, value, why in view.measures
        ]
        self.reference.set_sections(view.reference)
        self.notice.setVisible(view.hidden)
        if view.hidden:
            self.facts.setText(view.system)
            return
        self.facts.setText(" · ".join([view.system, *measures]))
        self.output.set_sections(view.written)
        for card, sections in zip(self.cards, (view.reference, view.written), strict=True):
            words = sum(len(section.text.split()) for section in sections)
            card.note_label.setText(count_of(words, "word", "words"))
