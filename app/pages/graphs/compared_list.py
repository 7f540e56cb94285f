"""What a comparison of two graphs found, row by row: feedback, scores, steps, dependencies."""

from __future__ import annotations

from functools import partial
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app import theme
from app.canvas.marks import SIGNS, STATUS_TOKENS
from app.pages.graphs.compared import Compared
from app.strings import say, shorten
from app.widgets.basics import Scroller, clear_layout, label, line, row
from app.widgets.buttons import Button
from core.graphs.annotation import Feedback

STATUS_WORDS = {
    "matched": "matched",
    "missing": "missing",
    "extra": "extra",
    "reversed": "reversed",
    "implied": "implied",
}
METRIC_WORDS = {
    "step_matching": "Steps matched (F1)",
    "step_matching_relaxed": "Steps matched, one to two (F1)",
    "document_rouge1": "ROUGE-1 of all steps",
    "document_rouge2": "ROUGE-2 of all steps",
    "document_rougeL": "ROUGE-L of all steps",
    "in_degree": "In-degree",
    "out_degree": "Out-degree",
    "step_proximity": "Step proximity",
}
_MOST_ROWS = 80


class ComparedList(Scroller):
    """The rows. Pressing one's status selects what it is about on the canvases."""

    #: Asked to select: (row or dependency here, there, whether they are dependencies).
    go = Signal(str, str, bool)
    #: Asked to say that two steps are not the same.
    unmatched = Signal(str, str)

    def __init__(self) -> None:
        super().__init__()
        self.box.setSpacing(theme.XS)
        self._fixed = False

    def show_comparison(self, found: Compared | None, *, fixed: bool) -> None:
        """Show what was found; ``fixed`` offers no corrections."""
        clear_layout(self.box)
        self._fixed = fixed
        if found is None:
            return
        if found.graph.graph.role == "training":
            self._add_feedback(found.feedback)
        self._add_scores(found)
        self._add_steps(found)
        self._add_links(found)
        self.box.addStretch(1)

    def _add_feedback(self, feedback: Feedback) -> None:
        self._heading(say("Feedback"))
        if not feedback.mistakes:
            self.box.addWidget(label(say("All as in the gold graph. Well done."), wrap=True))
        for text in feedback.mistakes:
            self.box.addWidget(label(f"• {text}", wrap=True))
        for text in feedback.details[:_MOST_ROWS]:
            self.box.addWidget(label(text, "muted", wrap=True))

    def _add_scores(self, found: Compared) -> None:
        self._heading(say("Scores"))
        for name, score in found.scores.items():
            value = f"{score.value:.3f}" if score.value is not None else say("unscored")
            number = label(value, "strong")
            number.setToolTip(score.signature)
            words = label(say(METRIC_WORDS[name]), "muted")
            words.setToolTip(score.unscored or score.signature)
            holder = QWidget()
            holder.setLayout(row(words, None, number))
            self.box.addWidget(holder)

    def _add_steps(self, found: Compared) -> None:
        self._heading(say("Steps"))
        graph, gold = found.graph, found.gold
        for pair in found.comparison.pairs[:_MOST_ROWS]:
            text = say(
                "{a} {step}  =  {b} {gold}",
                a=graph.numbers[pair.step],
                step=shorten(graph.by_id[pair.step].text, 40),
                b=gold.numbers[pair.gold],
                gold=shorten(gold.by_id[pair.gold].text, 40),
            )
            how = say("your word") if pair.corrected else f"{pair.similarity:.2f}"
            self._add_row("matched", text, how, pair.step, pair.gold, fix=(pair.step, pair.gold))
        for step in found.comparison.extra[:_MOST_ROWS]:
            text = f"{graph.numbers[step]} {shorten(graph.by_id[step].text, 60)}"
            self._add_row("extra", text, "", step, "")
        for step in found.comparison.missing[:_MOST_ROWS]:
            text = f"{gold.numbers[step]} {shorten(gold.by_id[step].text, 60)}"
            self._add_row("missing", text, "", "", step)

    def _add_links(self, found: Compared) -> None:
        self._heading(say("Dependencies"))
        rows = 0
        for status in ("reversed", "missing", "extra", "implied", "matched"):
            for verdict in found.comparison.edges:
                gold_side = status == "missing"
                if verdict.status != status or (verdict.side == "gold") != gold_side:
                    continue
                rows += 1
                if rows > _MOST_ROWS:
                    return
                side = found.gold if gold_side else found.graph
                text = say(
                    "{a} {first}  →  {b} {second}",
                    a=side.numbers[verdict.before],
                    first=shorten(side.by_id[verdict.before].text, 30),
                    b=side.numbers[verdict.after],
                    second=shorten(side.by_id[verdict.after].text, 30),
                )
                ours = "" if gold_side else verdict.dependency
                theirs = verdict.dependency if gold_side else ""
                self._add_row(status, text, "", ours, theirs, links=True)

    def _heading(self, text: str) -> None:
        words = label(text.upper(), "overline")
        words.setAccessibleName(text)
        self.box.addWidget(words)

    def _add_row(
        self,
        status: str,
        text: str,
        more: str,
        ours: str,
        theirs: str,
        *,
        links: bool = False,
        fix: tuple[str, str] | None = None,
    ) -> None:
        head = Button(f"{SIGNS[status]} {say(STATUS_WORDS[status])}", "link")
        head.setAccessibleDescription(text)
        color = theme.current().color(STATUS_TOKENS[status]).name()
        head.setStyleSheet(f"color: {color};")
        head.clicked.connect(partial(self._ask_to_go, ours, theirs, links))
        parts: list[Any] = [head, None]
        if more:
            parts.append(label(more, "small"))
        if fix is not None and not self._fixed:
            wrong = Button(say("Not the same"), "link")
            wrong.setAccessibleName(say("Not the same: {what}", what=text))
            wrong.clicked.connect(partial(self._ask_to_unmatch, *fix))
            parts.append(wrong)
        holder = QWidget()
        box = QVBoxLayout(holder)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        box.addLayout(row(*parts, spacing=theme.XS))
        box.addWidget(label(text, wrap=True))
        self.box.addWidget(holder)
        self.box.addWidget(line())

    def _ask_to_go(self, ours: str, theirs: str, links: bool) -> None:
        self.go.emit(ours, theirs, links)

    def _ask_to_unmatch(self, step: str, gold: str) -> None:
        self.unmatched.emit(step, gold)
