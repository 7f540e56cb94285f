"""A model's help: let it propose steps and dependencies, and settle what it proposed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QVBoxLayout, QWidget

from app import theme
from app.canvas.document import GraphDocument
from app.operations import run_job, run_query
from app.session import Session
from app.strings import count_of, say, shorten
from app.widgets.basics import Scroller, clear_layout, column, label, line, row
from app.widgets.buttons import Button, IconButton
from app.widgets.inputs import ComboBox
from core.graphs.generation.suggest import propose_edges, propose_steps, retrain_scorer
from core.graphs.model import StepGraph
from core.ports import Cancellation, ProgressCallback
from core.storage.workspace import Workspace
from core.types.graphs import Dependency, GraphStep, StepScorer

STEP_WAYS = (
    ("icl", "One sequence"),
    ("multseq", "Several sequences, merged"),
    ("sf", "Samples, filtered by the scorer"),
    ("multseq+sf", "Merged and filtered"),
)
EDGE_WAYS = (
    ("icl", "Pair by pair"),
    ("cot", "Pair by pair, thinking first"),
    ("scoring", "Likely orders of all steps"),
    ("linear", "A line, without a model"),
)
_MOST_ROWS = 60


def describe_maker(by: str, ways: Sequence[tuple[str, str]]) -> str:
    """Who suggests something, as the list says it: a model with its way in words, or a person."""
    name, _, method = by.rpartition(", ")
    words = dict(ways).get(method)
    return f"{name} · {say(words)}" if name and words else by


def write_steps(
    workspace: Workspace,
    models: Any,
    graph_id: str,
    method: str,
    model_id: str,
    assumption: bool,
    person: str,
    *,
    progress: ProgressCallback,
    cancel: Cancellation,
) -> int:
    """Load the models and let them propose steps; for a thread of its own."""
    return propose_steps(
        workspace,
        graph_id,
        method,
        models.generator(model_id or None),
        models.embedder(),
        person=person,
        assumption=assumption,
        progress=progress,
        cancel=cancel,
    )


def write_edges(
    workspace: Workspace,
    models: Any,
    graph_id: str,
    method: str,
    model_id: str,
    assumption: bool,
    person: str,
    *,
    progress: ProgressCallback,
    cancel: Cancellation,
) -> int:
    """Load the model and let it propose dependencies; for a thread of its own."""
    generator = None if method == "linear" else models.generator(model_id or None)
    return propose_edges(
        workspace,
        graph_id,
        method,
        generator,
        person=person,
        assumption=assumption,
        progress=progress,
        cancel=cancel,
    )


class SuggestTab(QWidget):
    """Ways to ask above, what was proposed below."""

    methods_asked = Signal()

    def __init__(self, session: Session, document: GraphDocument) -> None:
        super().__init__()
        self.session = session
        self.document = document
        self.step_way = ComboBox(say("How steps are proposed"), stretch=True)
        self.step_way.fill([(say(text), value) for value, text in STEP_WAYS], "icl")
        self.edge_way = ComboBox(say("How dependencies are proposed"), stretch=True)
        self.edge_way.fill([(say(text), value) for value, text in EDGE_WAYS], "icl")
        self.model = ComboBox(say("Model that proposes"), stretch=True)
        self.model.fill([(say("Default model"), "")], "")
        self.assumption = QCheckBox(say("Tell it the assumption"))
        self.assumption.setChecked(True)
        self.steps_button = Button(say("Suggest"), icon="spark")
        self.steps_button.setAccessibleName(say("Suggest steps"))
        self.steps_button.clicked.connect(self.suggest_steps)
        self.edges_button = Button(say("Suggest"), icon="spark")
        self.edges_button.setAccessibleName(say("Suggest dependencies"))
        self.edges_button.clicked.connect(self.suggest_edges)
        self.scorer_words = label("", "small", wrap=True)
        self.scorer_button = Button(say("Train the scorer"), "link")
        self.scorer_button.clicked.connect(self.train)
        self.methods_button = Button(say("Compare methods …"), "link")
        self.methods_button.clicked.connect(self.methods_asked)
        self.counts = label("", "strong")
        self.accept_button = Button(
            say("Accept all"), shortcuts=session.shortcuts, action="graphs.accept-all"
        )
        self.reject_button = Button(say("Reject all"))
        self.accept_button.clicked.connect(self.accept_all)
        self.reject_button.clicked.connect(self.reject_all)
        self.list = Scroller()
        self.list.box.setSpacing(theme.XS)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, theme.S, 0, 0)
        box.setSpacing(theme.S)
        for caption, way, button in (
            (say("Steps"), self.step_way, self.steps_button),
            (say("Dependencies"), self.edge_way, self.edges_button),
        ):
            box.addWidget(label(caption, "strong"))
            box.addLayout(row(way, button))
        box.addLayout(row(self.model, self.assumption))
        box.addWidget(self.scorer_words)
        box.addLayout(row(self.scorer_button, self.methods_button, None))
        box.addWidget(line())
        box.addLayout(row(self.counts, None))
        box.addWidget(self.list, 1)
        box.addLayout(row(self.accept_button, self.reject_button, None))
        self._busy = False
        self._stale = False
        document.changed.connect(self.refresh)
        self.refresh()

    def look_around(self) -> None:
        """Read which models and scorers there are; called when the tab is shown."""
        from models.catalog import list_models

        run_query(self, list_models).success(self._fill_models)
        if self.session.has_workspace:
            run_query(self, self.session.workspace.find, StepScorer).success(self._show_scorer)

    def _fill_models(self, entries: list[Any]) -> None:
        usable = [e for e in entries if e.role == "generator" and not e.problem]
        kept = self.model.value
        self.model.fill(
            [(say("Default model"), ""), *((entry.name, entry.id) for entry in usable)],
            kept or "",
        )

    def _show_scorer(self, scorers: list[StepScorer]) -> None:
        if not scorers:
            self.scorer_words.setText(
                say("No scorer yet; filtering trains one on the gold graphs.")
            )
            return
        newest = max(scorers, key=lambda scorer: scorer.version)
        area = newest.trained.get("area")
        words = say(
            "Scorer {version}: {tasks} tasks, {right} steps",
            version=newest.version,
            tasks=newest.trained.get("tasks", 0),
            right=newest.trained.get("right", 0),
        )
        if area is not None:
            words += say("; area under the curve on unseen tasks {area}", area=f"{area:.2f}")
        self.scorer_words.setText(words + ".")

    @Slot()
    def refresh(self) -> None:
        """Show what is suggested in the document's graph."""
        graph = self.document.graph
        steps, links = self.document.suggested()
        self.counts.setText(
            say("{what} to settle",
                what=count_of(len(steps) + len(links), "suggestion", "suggestions"))
            if steps or links
            else say("Nothing is suggested now.")
        )  # fmt: skip
        able = graph is not None and not self.document.read_only and not self._busy
        for button in (self.steps_button, self.edges_button):
            button.setEnabled(able)
        self.accept_button.setEnabled(bool(steps or links) and not self.document.read_only)
        self.reject_button.setEnabled(bool(steps or links) and not self.document.read_only)
        if self.isVisible():
            self._fill_list()
        else:
            self._stale = True

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale:
            self._fill_list()

    def _fill_list(self) -> None:
        self._stale = False
        graph = self.document.graph
        steps, links = self.document.suggested()
        clear_layout(self.list.box)
        if graph is None:
            return
        for step_id in steps[:_MOST_ROWS]:
            self._add_step(graph, graph.by_id[step_id])
        shown = set(links[: max(0, _MOST_ROWS - len(steps))])
        for link in graph.dependencies:
            if link.id in shown:
                self._add_link(graph, link)
        left = len(steps) + len(links) - _MOST_ROWS
        if left > 0:
            self.list.box.addWidget(label(say("and {count} more", count=left), "small"))
        self.list.box.addStretch(1)

    def _add_step(self, graph: StepGraph, step: GraphStep) -> None:
        text = f"{graph.numbers[step.id]}  {step.text}"
        self._add_row(text, describe_maker(step.suggested, STEP_WAYS), ([step.id], []))

    def _add_link(self, graph: StepGraph, link: Dependency) -> None:
        first, second = graph.by_id[link.before_id], graph.by_id[link.after_id]
        text = say(
            "{a} {first}  →  {b} {second}",
            a=graph.numbers[first.id],
            first=shorten(first.text, 30),
            b=graph.numbers[second.id],
            second=shorten(second.text, 30),
        )
        self._add_row(text, describe_maker(link.suggested, EDGE_WAYS), ([], [link.id]))

    def _add_row(self, text: str, by: str, ids: tuple[list[str], list[str]]) -> None:
        accept, reject = (
            IconButton("check", say("Accept: {what}", what=text)),
            IconButton("close", say("Reject: {what}", what=text)),
        )
        accept.clicked.connect(partial(self._settle, True, ids))
        reject.clicked.connect(partial(self._settle, False, ids))
        for button in (accept, reject):
            button.setEnabled(not self.document.read_only)
        words = column(label(text, wrap=True), label(by, "small", wrap=True), spacing=0)
        holder = QWidget()
        content = QHBoxLayout(holder)
        content.setContentsMargins(0, 0, 0, 0)
        content.addLayout(words, 1)
        content.addWidget(accept)
        content.addWidget(reject)
        self.list.box.addWidget(holder)
        self.list.box.addWidget(line())

    def _settle(self, accepted: bool, ids: tuple[list[str], list[str]]) -> None:
        if accepted:
            self.document.accept(*ids)
        else:
            self.document.reject(*ids)

    @Slot()
    def accept_all(self) -> None:
        """Accept every suggestion."""
        self.document.accept(*self.document.suggested())

    @Slot()
    def reject_all(self) -> None:
        """Reject every suggestion."""
        self.document.reject(*self.document.suggested())

    @Slot()
    def suggest_steps(self) -> None:
        """Let the model propose steps, in the background."""
        self._start(say("Suggesting steps"), write_steps, self.step_way.value, say("sequences"),
                    say("steps"))  # fmt: skip

    @Slot()
    def suggest_edges(self) -> None:
        """Let the model propose dependencies, in the background."""
        self._start(say("Suggesting dependencies"), write_edges, self.edge_way.value, say("looks"),
                    say("dependencies"))  # fmt: skip

    def _start(self, label_: str, function: Any, method: str, noun: str, things: str) -> None:
        if not self.document.graph_id:
            return
        self._busy = True
        self.refresh()
        session = self.session
        run_job(
            self,
            label_,
            function,
            session.workspace,
            session.models,
            self.document.graph_id,
            method,
            self.model.value or "",
            self.assumption.isChecked(),
            session.person_id,
            noun=noun,
        ).success(
            lambda count: self.document.said.emit(
                say("{count} {things} suggested.", count=count, things=things)
            )
        ).end(self._rest)

    def _rest(self) -> None:
        self._busy = False
        self.refresh()
        self.look_around()

    @Slot()
    def train(self) -> None:
        """Train the scorer on the gold graphs as they are now."""
        session = self.session

        def work(*, progress: ProgressCallback, cancel: Cancellation) -> StepScorer:
            return retrain_scorer(session.workspace, session.models.embedder(), session.person_id)

        run_job(self, say("Training the scorer"), work).end(self.look_around)
