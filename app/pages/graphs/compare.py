"""Comparing the graph with another: what matches, in the list and in place; the matching corrected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QCheckBox, QVBoxLayout, QWidget

from app import theme
from app.canvas.document import GraphDocument
from app.operations import run_query, run_verb
from app.pages.graphs.compared import Compared, compare, describe_other, list_others
from app.pages.graphs.compared_list import STATUS_WORDS, ComparedList
from app.session import Session
from app.strings import count_of, say
from app.widgets.basics import label, row
from app.widgets.buttons import Button
from app.widgets.inputs import ComboBox
from core.graphs.annotation import adjudicate, submit_graph
from core.graphs.comparison import (
    match_steps,
    record_scores,
    reset_match,
    unmatch_steps,
)
from core.types.graphs import TaskGraph


class CompareTab(QWidget):
    """Which graph to compare with, the verdict, the scores, and each step and dependency."""

    #: Show this graph beside; '' for none.
    beside_asked = Signal(str)
    #: A gold graph was made of two: its id.
    settled = Signal(str)

    def __init__(self, session: Session, document: GraphDocument) -> None:
        super().__init__()
        self.session = session
        self.document = document
        #: The document of the pane beside, once there is one.
        self.other: GraphDocument | None = None
        self.compared: Compared | None = None
        self._generation = 0
        self.choice = ComboBox(say("Compare with"), stretch=True)
        self.choice.currentIndexChanged.connect(self._on_choice)
        self.beside = QCheckBox(say("Show it beside"))
        self.beside.setChecked(True)
        self.beside.toggled.connect(self._on_choice)
        self.meaning = QCheckBox(say("Match by meaning"))
        self.meaning.setChecked(True)
        self.meaning.toggled.connect(self._on_choice)
        self.verdict = label("", "strong", wrap=True)
        self.note = label("", "small", wrap=True)
        self.list = ComparedList()
        self.list.go.connect(self._go)
        self.list.unmatched.connect(self.unmatch)
        self.done_button = Button(say("I am done: show the feedback"), "primary", icon="check")
        self.done_button.clicked.connect(self.finish_training)
        self.match_button = Button(say("The two selected steps are the same"))
        self.match_button.clicked.connect(self.match_selected)
        self.reset_button = Button(say("Forget my corrections"), "link")
        self.reset_button.clicked.connect(self.reset)
        self.keep_button = Button(say("Keep the scores"), "link")
        self.keep_button.clicked.connect(self.keep_scores)
        self.settle_button = Button(say("Settle both into a gold graph"), icon="compare")
        self.settle_button.clicked.connect(self.settle_both)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, theme.S, 0, 0)
        box.setSpacing(theme.S)
        box.addWidget(self.choice)
        box.addLayout(row(self.beside, self.meaning, None))
        box.addWidget(self.verdict)
        box.addWidget(self.note)
        box.addLayout(row(self.done_button, None))
        box.addWidget(self.list, 1)
        box.addWidget(self.match_button)
        box.addLayout(row(self.reset_button, self.keep_button, None))
        box.addWidget(self.settle_button)
        box.addStretch(0)
        document.selection_changed.connect(self._heed_selection)
        document.changed.connect(self._on_document)
        self._shown_for = ""
        self._waited = False
        self._pending = False
        self._show()

    @property
    def gold_id(self) -> str:
        """The graph compared with; '' for none."""
        return str(self.choice.value or "")

    _active = False

    def set_active(self, active: bool) -> None:
        """The tab is shown, or left: marks are on the canvases only meanwhile."""
        self._active = active
        if active:
            self._shown_for = ""
            self._read_choices()
        else:
            # What was asked for before must not mark the canvases afterwards.
            self._generation += 1
            self._clear_marks()
            self.beside_asked.emit("")

    def watch_other(self, other: GraphDocument) -> None:
        """Take note of the pane beside."""
        self.other = other
        other.selection_changed.connect(self._heed_selection)
        other.changed.connect(self._mark)

    # -- choosing ------------------------------------------------------------------------

    @property
    def is_waiting(self) -> bool:
        """Whether a trainee is still drawing: the gold graph is not to be seen yet."""
        graph = self.document.graph
        return graph is not None and graph.graph.role == "training" and graph.graph.state == "open"

    def _on_document(self) -> None:
        if not self.isVisible():
            return
        graph = self.document.graph
        if graph is None or graph.graph.id != self._shown_for:
            self._read_choices()
        elif self.is_waiting != self._waited:
            self._on_choice()
        else:
            self.recompute()

    def _read_choices(self) -> None:
        graph = self.document.graph
        if graph is None or not self.session.has_workspace:
            self.compared = None
            self._show()
            return
        if self._shown_for != graph.graph.id:
            # What is told of another graph goes at once.
            self._shown_for = graph.graph.id
            self.compared, self._pending = None, True
            self._show()
        run_query(self, list_others, self.session.workspace, graph.graph).success(self._fill)

    def _fill(self, others: Sequence[tuple[TaskGraph, str]]) -> None:
        kept = self.gold_id
        ids = [other.id for other, _ in others]
        graph = self.document.graph
        same = (
            graph is not None
            and kept in ids
            and any(
                other.id == kept and other.task.casefold() == graph.graph.task.casefold()
                for other, _ in others
            )
        )
        if graph is not None and ids:
            beside, first = graph.graph, others[0][0]
            entries = [(describe_other(o, name, beside), o.id) for o, name in others]
            # Another task's graph says nothing of this one: such a one is compared only when asked for.
            own = first.id == beside.gold_id or first.task.casefold() == beside.task.casefold()
            if not own:
                entries.insert(0, (say("Choose a graph …"), ""))
            self.choice.fill(entries)
            self.choice.choose(kept if same else ids[0] if own else "")
        elif not ids:
            self.choice.fill([])
        self._on_choice()

    @Slot()
    def _on_choice(self) -> None:
        if not self.isVisible():
            return
        self._waited = self.is_waiting
        shown = self.beside.isChecked() and not self._waited
        self.beside_asked.emit(self.gold_id if shown else "")
        self.recompute()

    @Slot()
    def recompute(self) -> None:
        """Compare anew, off the UI thread."""
        graph, gold_id = self.document.graph, self.gold_id
        self._generation += 1
        self._pending = False
        if graph is None or not gold_id or self.is_waiting or not self.session.has_workspace:
            self.compared = None
            self._clear_marks()
            self._show()
            return
        generation = self._generation
        self._pending = True
        if self.compared is None:
            self._show()

        def take(found: Compared) -> None:
            if generation == self._generation and self.isVisible():
                self.compared, self._pending = found, False
                self._show()
                self._mark()

        run_query(
            self,
            compare,
            self.session.workspace,
            self.session.models,
            graph.graph.id,
            gold_id,
            self.meaning.isChecked(),
        ).success(take).failure(self._lost)

    def _lost(self, error: BaseException) -> None:
        self.compared, self._pending = None, False
        self._show()
        self.verdict.setText(str(error))

    # -- showing -------------------------------------------------------------------------

    def _mark(self) -> None:
        if self.compared is None or not self._active:
            return
        steps = self.compared.comparison.step_status()
        links = self.compared.comparison.edge_status()
        self.document.set_marks(steps, links)
        other = self.other
        if other is None or other.graph_id != self.compared.gold.graph.id:
            return
        if other.step_status != steps or other.link_status != links:
            other.set_marks(steps, links)

    def _clear_marks(self) -> None:
        self.document.set_marks({}, {})
        if self.other is not None:
            self.other.set_marks({}, {})

    def _show(self) -> None:
        found = self.compared
        able = found is not None and not self.document.read_only
        waiting = self.is_waiting
        self.note.setText(found.note if found is not None else "")
        self.note.setVisible(bool(found is not None and found.note))
        for widget in (
            self.choice, self.beside, self.meaning, self.list, self.match_button, self.keep_button,
            self.settle_button,
        ):  # fmt: skip
            widget.setVisible(not waiting)
        self.done_button.setVisible(waiting)
        self.done_button.setEnabled(not self.document.read_only)
        for button in (self.reset_button, self.keep_button, self.settle_button):
            button.setEnabled(able)
        self.reset_button.setVisible(found is not None and found.corrected)
        self.verdict.setText(self._describe(found))
        self.list.show_comparison(found, fixed=self.document.read_only)
        self._heed_selection()

    def _describe(self, found: Compared | None) -> str:
        if self.is_waiting:
            return say(
                "A training round: draw which step must be done before which. The gold graph and "
                "the feedback come when you say that you are done."
            )
        if found is None:
            if self._pending:
                return say("Comparing …")
            return (
                say("No other graph is of this task. Choose one all the same.")
                if self.choice.count()
                else say("There is no other graph to compare with.")
            )
        comparison = found.comparison
        return (
            say(
                "Steps: {matched} matched, {missing} missing, {extra} extra",
                matched=len(comparison.pairs),
                missing=len(comparison.missing),
                extra=len(comparison.extra),
            )
            + "\n"
            + say("Dependencies:")
            + " "
            + ", ".join(
                f"{comparison.count(status)} {say(STATUS_WORDS[status])}"
                for status in ("matched", "implied", "reversed", "missing", "extra")
                if comparison.count(status) or status != "implied"
            )
        )

    @Slot(str, str, bool)
    def _go(self, ours: str, theirs: str, links: bool) -> None:
        for document, found in ((self.document, ours), (self.other, theirs)):
            if document is None or not found:
                continue
            if links:
                document.select((), (found,))
            else:
                document.select((found,), (), current=found)

    # -- what the person does ------------------------------------------------------------

    @Slot()
    def _heed_selection(self) -> None:
        ready = (
            self.compared is not None
            and self.other is not None
            and len(self.document.steps) == 1
            and len(self.other.steps) == 1
            and not self.document.read_only
        )
        self.match_button.setEnabled(ready)

    @Slot()
    def finish_training(self) -> None:
        """The trainee is done: the gold graph and the feedback are shown."""
        run_verb(self, say("Finish graph"), submit_graph, self.document.graph_id).failure(
            self.document.refused.emit
        )

    @Slot()
    def match_selected(self) -> None:
        """Say that the steps selected on the two canvases are the same."""
        if self.compared is None or self.other is None:
            return
        step, gold = next(iter(self.document.steps), ""), next(iter(self.other.steps), "")
        if step and gold:
            self._correct(say("Match steps"), match_steps, step, gold)

    @Slot(str, str)
    def unmatch(self, step: str, gold: str) -> None:
        """Say that two steps are not the same."""
        self._correct(say("Unmatch steps"), unmatch_steps, step, gold)

    def _correct(self, label_: str, verb: Any, step: str, gold: str) -> None:
        assert self.compared is not None
        ids = (self.compared.graph.graph.id, self.compared.gold.graph.id)
        run_verb(self, label_, verb, *ids, step, gold).success(lambda _: self.recompute())

    @Slot()
    def reset(self) -> None:
        """Forget the corrections of this pair of graphs."""
        if self.compared is not None:
            ids = (self.compared.graph.graph.id, self.compared.gold.graph.id)
            run_verb(self, say("Forget corrections"), reset_match, *ids).success(
                lambda _: self.recompute()
            )

    @Slot()
    def keep_scores(self) -> None:
        """Write the scores down beside earlier ones."""
        if self.compared is not None:
            run_verb(
                self,
                say("Keep scores"),
                record_scores,
                self.compared.graph.graph.id,
                self.compared.gold.graph.id,
                self.compared.scores,
            ).success(
                lambda outcome: self.document.said.emit(
                    say("{what} kept.", what=count_of(len(outcome.value), "score", "scores"))
                )
            )

    @Slot()
    def settle_both(self) -> None:
        """Make a gold graph: what both say stands, the rest is suggested."""
        found = self.compared
        if found is None:
            return
        names = {
            graph.id: found.people.get(graph.person_id) or say("graph {number}", number=number)
            for number, graph in enumerate((found.graph.graph, found.gold.graph), start=1)
        }
        run_verb(
            self,
            say("Settle two graphs"),
            adjudicate,
            found.graph.graph.id,
            found.gold.graph.id,
            found.comparison,
            names,
        ).success(lambda outcome: self.settled.emit(outcome.value.id))
