"""Items a model suggests: marked as such, taken or turned down one by one, compared with the expert's."""

from __future__ import annotations

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app import theme
from app.operations import run_verb
from app.pages.rubrics.studio import Studio
from app.session import Session
from app.strings import count_of, say
from app.widgets.basics import Card, Scroller, clear_layout, label, row
from app.widgets.buttons import Button
from app.widgets.inputs import ComboBox
from core.rubrics.suggestions import FAULTS, dismiss_suggestion, take_suggestion
from core.types.rubrics import RubricSuggestion


class SuggestionPanel(QWidget):
    """Nothing here counts until it is taken."""

    asked = Signal()

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self._studio: Studio | None = None
        self.ask = Button(say("Let a model suggest items"), icon="models")
        self.ask.clicked.connect(self.asked)
        scroller = Scroller()
        scroller.box.setSpacing(theme.S)
        scroller.box.addLayout(row(self.ask, None))
        self.note = label("", "muted", wrap=True)
        scroller.box.addWidget(self.note)
        self._list = QVBoxLayout()
        self._list.setSpacing(theme.S)
        scroller.box.addLayout(self._list)
        self.comparison = Card(say("Model and expert"))
        self._lines = QVBoxLayout()
        self.comparison.add(self._lines)
        scroller.box.addWidget(self.comparison)
        scroller.box.addStretch(1)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, theme.S, 0, 0)
        outer.addWidget(scroller)

    def load(self, studio: Studio | None) -> None:
        """Show a rubric's suggestions."""
        self._studio = studio
        clear_layout(self._list)
        if studio is None:
            return
        waiting = [s for s in studio.suggestions if s.state == "open"]
        self.ask.setEnabled(not studio.locked)
        self.note.setText(
            say("A model wrote these. They count for nothing until you take them.")
            if waiting
            else say(
                "A model can propose items from the task and its references. Models write poor rubrics, "
                "so each proposal waits here until you take it or turn it down."
            )
        )
        for suggestion in waiting:
            self._list.addWidget(self._card(suggestion, locked=studio.locked))
        self._show_comparison(studio)

    def _card(self, suggestion: RubricSuggestion, *, locked: bool) -> Card:
        card = Card(say("Suggestion"), suggestion.model)
        card.add(label(suggestion.title, "strong", wrap=True))
        if suggestion.description:
            card.add(label(suggestion.description, wrap=True))
        take = Button(say("Take"), "primary")
        take.setAccessibleName(say("Take: {title}", title=suggestion.title))
        take.setEnabled(not locked)
        take.setProperty("suggestion", suggestion.id)
        take.clicked.connect(self._take)
        fault = ComboBox(say("What is wrong with: {title}", title=suggestion.title), stretch=True)
        fault.fill([(say("no reason"), ""), *((say(words), key) for key, words in FAULTS.items())])
        dismiss = Button(say("Turn down"))
        dismiss.setAccessibleName(say("Turn down: {title}", title=suggestion.title))
        dismiss.setProperty("suggestion", suggestion.id)
        dismiss.clicked.connect(self._dismiss)
        dismiss.fault_box = fault  # type: ignore[attr-defined]
        line = row(take, dismiss, fault)
        line.setStretch(2, 1)
        card.add(line)
        return card

    def _show_comparison(self, studio: Studio) -> None:
        clear_layout(self._lines)
        self.comparison.setVisible(bool(studio.suggestions))
        found = studio.comparison
        share = found.share_found
        total = len(found.matched) + len(found.omitted)
        lines = [
            say(
                "The model thought of {found} of the {total} items ({share:.0%}).",
                found=len(found.matched),
                total=total,
                share=share or 0.0,
            ),
            say(
                "{words} no item.",
                words=count_of(len(found.extra), "suggestion matches", "suggestions match"),
            ),
        ]
        omitted = [item.title for item in studio.items if item.id in set(found.omitted)]
        if omitted:
            lines.append(say("Omitted: {titles}", titles="; ".join(omitted[:12])))
        lines += [
            f"{say(words)}: {found.faults[key]}"
            for key, words in FAULTS.items()
            if found.faults.get(key)
        ]
        for text in lines:
            self._lines.addWidget(label(text, wrap=True))

    @Slot()
    def _take(self) -> None:
        button = self.sender()
        if isinstance(button, Button):
            run_verb(
                self, say("Take suggestion"), take_suggestion, str(button.property("suggestion"))
            )

    @Slot()
    def _dismiss(self) -> None:
        button = self.sender()
        if isinstance(button, Button):
            fault = button.fault_box.value  # type: ignore[attr-defined]
            run_verb(
                self,
                say("Turn down suggestion"),
                dismiss_suggestion,
                str(button.property("suggestion")),
                fault,
            )
