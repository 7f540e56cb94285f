"""Choosing the metrics a run is scored with; each says in its own help what it tells and what not."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtWidgets import QCheckBox, QWidget

from app import theme
from app.operations import run_query
from app.pages.results.table import measure_title
from app.strings import say
from app.widgets.basics import Scroller, label
from app.widgets.dialogs import Dialog
from core.metrics.registry import describe
from core.runs.scoring import DEFAULT_METRICS
from models.catalog import DEFAULT_NLI, CatalogEntry, list_models

#: Those that score an output against its example without a model.
OUTPUT_METRICS = (
    *DEFAULT_METRICS,
    "rouge1",
    "rouge2",
    "rougeLsum",
    "bleu",
    "sari",
    "gleu",
    "flesch_kincaid",
)


class ScoreDialog(Dialog):
    """Hands the chosen names over."""

    def __init__(self, parent: QWidget, chosen: Callable[[Sequence[str]], object]) -> None:
        super().__init__(say("Score the outputs"), parent, width=560)
        self._chosen = chosen
        self.boxes: dict[str, QCheckBox] = {}
        list_ = Scroller()
        list_.setMinimumHeight(theme.current().px(360))
        self._list = list_.box
        self._list.setSpacing(2)
        for name in OUTPUT_METRICS:
            self._add(name, name in DEFAULT_METRICS)
        list_.box.addStretch(1)
        self.body.addWidget(list_, 1)
        self.body.addWidget(
            label(say("Earlier scores stay; results show the latest."), "small", wrap=True)
        )
        self.add_cancel()
        self.score_button = self.add_button(say("Score"), self._score, "primary")

        run_query(self, list_models).success(self._offer_entailment)

    def _add(self, name: str, ticked: bool, remark: str = "") -> None:
        text = describe(name)
        box = QCheckBox(measure_title(name))
        box.setChecked(ticked)
        box.setToolTip(text)
        box.setAccessibleDescription(f"{text}\n{remark}".strip())
        box.toggled.connect(self._on_toggled)
        self.boxes[name] = box
        place = 2 * (len(self.boxes) - 1)
        first = text.split("\n", 1)[0]
        self._list.insertWidget(place, box)
        words = label(f"{first} {remark}".strip(), "small", wrap=True)
        # Under the name, not under the tick; with room before the next.
        words.setContentsMargins(theme.current().px(28), 0, 0, theme.S)
        self._list.insertWidget(place + 1, words)

    def _offer_entailment(self, entries: list[CatalogEntry]) -> None:
        """The metric that needs a model, with the name of the one that will answer."""
        usable = [entry for entry in entries if entry.role == "nli" and not entry.problem]
        if usable:
            model = next((entry for entry in usable if entry.id == DEFAULT_NLI), usable[0])
            remark = say(
                "By {model}; the Models page says how far to believe it.", model=model.name
            )
            self._add("nli", False, remark)

    @property
    def names(self) -> list[str]:
        """The metrics that are ticked."""
        return [name for name, box in self.boxes.items() if box.isChecked()]

    def _on_toggled(self) -> None:
        self.score_button.setEnabled(bool(self.names))

    def _score(self) -> None:
        names = self.names
        if names:
            self.accept()
            self._chosen(names)
