"""Choosing the metrics a run is scored with; each says in its own help what it tells and what not."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtWidgets import QCheckBox, QWidget

from app import theme
from app.strings import say
from app.widgets.basics import Scroller, label
from app.widgets.dialogs import Dialog
from core.metrics.registry import describe
from core.runs.scoring import DEFAULT_METRICS

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
        for name in OUTPUT_METRICS:
            text = describe(name)
            box = QCheckBox(name)
            box.setChecked(name in DEFAULT_METRICS)
            box.setToolTip(text)
            box.setAccessibleDescription(text)
            box.toggled.connect(self._on_toggled)
            self.boxes[name] = box
            list_.box.addWidget(box)
            list_.box.addWidget(label(text.split("\n", 1)[0], "muted", wrap=True))
        list_.box.addStretch(1)
        self.body.addWidget(list_, 1)
        self.body.addWidget(
            label(say("Earlier scores stay; results show the latest."), "small", wrap=True)
        )
        self.add_cancel()
        self.score_button = self.add_button(say("Score"), self._score, "primary")

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
