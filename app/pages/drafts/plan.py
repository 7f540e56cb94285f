"""Planning drafts: the task, from which documents, the queries, the passages, how many."""

from __future__ import annotations

from functools import partial
from typing import Any

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app import theme
from app.operations import run_job, run_query, run_verb
from app.pages.documents.work import embed_all
from app.pages.drafts.tick_list import TickList
from app.pages.drafts.work import PlanChoices, propose, read_choices, retrieve
from app.session import Session
from app.strings import count_of, say, shorten
from app.widgets.basics import Card, Scroller, label, row
from app.widgets.buttons import Button
from app.widgets.editors import ProseEditor
from app.widgets.inputs import ComboBox, captioned, spin_box, text_field
from app.widgets.reader import Reader
from core.changes import Outcome
from core.documents.text import flow_lines
from core.examples.drafting import MOST_DRAFTS, add_request
from core.ports import Cancellation, ProgressCallback
from core.storage.workspace import Workspace
from core.types import SectionText, Task
from core.types.documents import DraftRequest, Evidence, Setting

_PASSAGE_HIGH = 170


class PlanPanel(QWidget):
    """A form that scrolls, and under it, always in view, what starts the writing.

    ``planned`` carries the request; ``go`` the page where something that is missing is made.
    """

    planned = Signal(object)
    go = Signal(str)

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self._choices = PlanChoices((), ())
        self._evidence: list[Evidence] = []
        self._stale = True
        self._missing = ""
        self._working: dict[Button, str] = {}
        self.scroller = Scroller()
        self.box = self.scroller.box
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(theme.M)
        outer.addWidget(self.scroller, 1)
        self._build_task()
        self._build_documents()
        self._build_queries()
        self._build_passages()
        self._build_drafts()
        self.box.addStretch(1)
        self._build_foot(outer)
        self._sync()

    # -- building ------------------------------------------------------------------------

    def _build_task(self) -> None:
        card = Card(say("Task"), say("what the example is of"))
        self.task = ComboBox(say("Task"))
        self.task.setSizeAdjustPolicy(
            ComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self.task.setMinimumContentsLength(24)
        self.task.currentIndexChanged.connect(self._on_plan)
        self.task_note = label("", "small", wrap=True)
        self.name = text_field(
            say("Name of the example"),
            placeholder=say("Name of the example, if it is to have one of its own"),
        )
        self.case = ProseEditor(
            say("Your own input"),
            placeholder=say("The case, if you want to give it; otherwise it is drafted, too."),
            lines=2,
        )
        card.add(self.task)
        card.add(self.task_note)
        card.add(self.name)
        card.add(self.case)
        self.box.addWidget(card)

    def _build_documents(self) -> None:
        card = Card(say("Documents"), say("where passages come from"))
        self.setting = ComboBox(say("Evidence from"), stretch=True)
        self.setting.fill(
            [
                (say("Passages from several documents"), "several"),
                (say("Passages from one document"), "one"),
            ]
        )
        self.setting.setCurrentIndex(0)
        self.setting.activated.connect(self._on_plan)
        self.documents = TickList(say("Documents to draft from"))
        self.documents.ticked.connect(self._on_plan)
        self.documents_note = label(say("None ticked: all of them."), "small", wrap=True)
        card.add(self.setting)
        card.add(self.documents)
        card.add(self.documents_note)
        self.box.addWidget(card)

    def _build_queries(self) -> None:
        card = Card(say("Queries"), say("one a line; change them as you like"))
        self.queries = ProseEditor(
            say("Queries"), placeholder=say("Left empty, the model proposes them."), lines=6
        )
        self.queries.edited.connect(self._on_plan)
        self.propose_button = Button(say("Propose queries"), icon="search")
        self.propose_button.clicked.connect(self.propose)
        card.add(self.queries)
        card.add(row(self.propose_button, None))
        self.box.addWidget(card)

    def _build_passages(self) -> None:
        card = Card(say("Passages"), say("untick what does not belong"))
        self.passages = TickList(say("Passages found"))
        self.passages.ticked.connect(self._sync_foot)
        self.passages_note = label("", "small", wrap=True)
        self.find_button = Button(say("Find passages"), icon="search")
        self.find_button.clicked.connect(self.find_passages)
        card.add(row(self.find_button, self.passages_note, None))
        card.add(self.passages)
        self.passage = Reader(say("The passage"))
        self.passage.setMinimumHeight(theme.current().px(_PASSAGE_HIGH))
        self.passage.hide()
        self.passages.entered.connect(self._show_passage)
        card.add(self.passage)
        self.box.addWidget(card)

    def _build_drafts(self) -> None:
        card = Card(say("Drafts"), say("of which you are shown four that differ"))
        self.count = spin_box(say("Number of drafts"), 1, MOST_DRAFTS, 10)
        self.seed = spin_box(say("Seed"), 0, 2**31 - 1, 0)
        self.length = spin_box(say("Longest draft, in tokens"), 64, 16_384, 1024)
        for words, box in (
            (say("How many are written"), self.count),
            (say("Longest, in tokens (about three quarters of a word each)"), self.length),
            (say("Seed (the same gives the same drafts)"), self.seed),
        ):
            card.add(captioned(words, box))
        self.box.addWidget(card)

    def _build_foot(self, outer: QVBoxLayout) -> None:
        self.write_button = Button(say("Write drafts"), "primary", icon="edit")
        self.write_button.clicked.connect(self.write)
        self.foot_note = label("", "small", wrap=True)
        self.go_button = Button("", icon="chevron-right")
        self.go_button.clicked.connect(lambda: self.go.emit(self._missing))
        foot = Card()
        foot.setAccessibleName(say("What comes next"))
        line = row(self.foot_note, self.go_button, self.write_button)
        line.setStretch(0, 1)
        foot.add(line)
        outer.addWidget(foot)

    # -- for the page --------------------------------------------------------------------

    def refresh(self) -> None:
        """Read tasks and documents."""
        run_query(self, read_choices, self.session.workspace).success(self._fill)

    @property
    def has_documents(self) -> bool:
        return bool(self._choices.documents)

    @property
    def has_tasks(self) -> bool:
        return bool(self._choices.tasks)

    def choose_task(self, task_id: str) -> None:
        """Plan for a task."""
        self.task.choose(task_id)
        self._on_plan()

    def query_list(self) -> list[str]:
        """The queries, one a line."""
        return [line.strip() for line in self.queries.text.splitlines() if line.strip()]

    def document_ids(self) -> list[str]:
        """The ticked documents; none means all."""
        return self.documents.values

    def evidence(self) -> list[Evidence]:
        """The passages that are ticked."""
        kept = set(self.passages.values)
        return [item for item in self._evidence if item.passage_id in kept]

    # -- what the person does ------------------------------------------------------------

    def propose(self) -> None:
        """Let the model propose queries."""
        if not self.task.value or not self._start(self.propose_button, say("Proposing …")):
            return
        run_job(
            self,
            say("Proposing queries"),
            propose,
            self.session.workspace,
            self.session.models,
            self.task.value,
        ).success(self._take_queries).end(partial(self._end, self.propose_button))

    def find_passages(self) -> None:
        """Find passages for the queries."""
        queries = self.query_list()
        if not queries:
            self.passages_note.setText(say("Write or propose queries first."))
            return
        if not self._start(self.find_button, say("Finding …")):
            return
        run_query(
            self,
            retrieve,
            self.session.workspace,
            self.session.models,
            queries,
            self.setting.value,
            self.document_ids(),
        ).success(self._take_evidence).end(partial(self._end, self.find_button))

    def write(self) -> None:
        """Write the drafts; what is missing before that is done on the way."""
        if not self.task.value or not self._start(self.write_button, say("Planning …")):
            return
        evidence = self.evidence() if not self._stale else []
        run_job(
            self,
            say("Planning drafts"),
            _complete_plan,
            self.session.workspace,
            self.session.models,
            self.task.value,
            tuple(self.query_list()),
            tuple(evidence),
            self.setting.value,
            tuple(self.document_ids()),
        ).success(self._add).end(partial(self._end, self.write_button))

    def _start(self, button: Button, words: str) -> bool:
        """Say on a button that it works; False when it does already. It stays enabled, since the
        keyboard would be taken elsewhere with it."""
        if button in self._working:
            return False
        self._working[button] = button.text()
        button.setText(words)
        return True

    def _end(self, button: Button) -> None:
        if button in self._working:
            button.setText(self._working.pop(button))
        self._sync()

    # -- inside --------------------------------------------------------------------------

    def _fill(self, choices: PlanChoices) -> None:
        kept, ticked = self.task.value, set(self.document_ids())
        self._choices = choices
        self.task.fill([(shorten(task.objective, 90), task.id) for task in choices.tasks])
        self.task.choose(kept if kept else (choices.tasks[0].id if choices.tasks else None))
        self.documents.fill([(d.title, d.id) for d in choices.documents], ticked)
        self._sync()

    def _take_queries(self, queries: tuple[str, ...]) -> None:
        self.queries.load("\n".join(queries))
        self._on_plan()

    def _take_evidence(self, evidence: list[Evidence]) -> None:
        self._evidence = evidence
        self._stale = False
        self.passages.fill(
            [
                (
                    say(
                        "{document}, page {page}: {words}",
                        document=found.document,
                        page=found.page,
                        words=shorten(found.text, 90),
                    ),
                    found.passage_id,
                )
                for found in evidence
            ],
            {found.passage_id for found in evidence},
        )
        self._show_passage(evidence[0].passage_id if evidence else "")
        QTimer.singleShot(0, self, self._reveal_passages)
        words = count_of(len(evidence), say("passage"), say("passages"))
        self.passages_note.setText(
            words if evidence else say("No passage fits. Change the queries.")
        )
        self._sync_foot()

    def _reveal_passages(self) -> None:
        self.scroller.ensureWidgetVisible(self.passage, 0, theme.M)

    def _show_passage(self, passage_id: str) -> None:
        """Let the passage that was come to be read, so that it can be judged."""
        found = next((item for item in self._evidence if item.passage_id == passage_id), None)
        self.passage.setVisible(found is not None)
        if found is not None:
            title = say("{document}, page {page}", document=found.document, page=found.page)
            self.passage.set_sections((SectionText(title=title, text=flow_lines(found.text)),))
            self.passage.verticalScrollBar().setValue(0)

    def _on_plan(self) -> None:
        if not self._stale and self._evidence:
            self.passages_note.setText(say("Found for an earlier plan; they are found anew."))
        self._stale = True
        self._sync()

    def _sync(self) -> None:
        ready = bool(self.task.value) and bool(self._choices.documents)
        for button in (self.propose_button, self.find_button, self.write_button):
            button.setEnabled(ready)
        ticked = len(self.document_ids())
        self.documents_note.setText(
            say("From {count}.", count=count_of(ticked, say("document"), say("documents")))
            if ticked
            else say("None ticked: all of them.")
        )
        task = next((t for t in self._choices.tasks if t.id == self.task.value), None)
        self.task_note.setText(_sections_in_words(task) if task is not None else "")
        self.task_note.setVisible(task is not None)
        self._sync_foot()

    def _sync_foot(self) -> None:
        """What will happen, or what is missing and where it is made."""
        self._missing = ""
        if not self._choices.tasks:
            self._missing = "tasks"
            words = say("There is no task yet of which an example could be made.")
            self.go_button.setText(say("Go to Tasks"))
        elif not self._choices.documents:
            self._missing = "documents"
            words = say("There is no document yet to draft from.")
            self.go_button.setText(say("Go to Documents"))
        elif not self.query_list():
            words = say(
                "The model proposes queries, finds passages and writes; you need do no more."
            )
        elif self._stale or not self._evidence:
            words = say("Passages for your queries are found first.")
        else:
            count = len(self.evidence())
            words = say("From {count}.", count=count_of(count, say("passage"), say("passages")))
        self.foot_note.setText(words)
        self.go_button.setVisible(bool(self._missing))

    def _add(self, plan: tuple[tuple[str, ...], list[Evidence], str, str]) -> None:
        queries, evidence, model, sha256 = plan
        self.queries.load("\n".join(queries))
        self._take_evidence(evidence)
        case = self.case.text.strip()
        title = next((t.input_sections for t in self._choices.tasks if t.id == self.task.value), ())
        given = (SectionText(title=title[0].title if title else say("Input"), text=case),)
        run_verb(
            self,
            say("Plan drafts"),
            add_request,
            self.task.value,
            queries=queries,
            evidence=evidence,
            document_ids=self.document_ids(),
            setting=self.setting.value,
            title=self.name.text(),
            input=given if case else (),
            count=self.count.value(),
            seed=self.seed.value(),
            params={"max_tokens": self.length.value()},
            model_id=model,
            model_sha256=sha256,
        ).success(self._added)

    def _added(self, outcome: Outcome[DraftRequest]) -> None:
        self.case.load("")
        self.name.clear()
        self.planned.emit(outcome.value)


def _sections_in_words(task: Task) -> str:
    """What goes into a task's example and what comes out, by the sections' titles."""
    goes_in = ", ".join(section.title for section in task.input_sections)
    comes_out = ", ".join(section.title for section in task.output_sections)
    out = say("Comes out: {sections}.", sections=comes_out)
    return say("Goes in: {sections}.", sections=goes_in) + " " + out if goes_in else out


def _complete_plan(
    workspace: Workspace,
    models: Any,
    task_id: str,
    queries: tuple[str, ...],
    evidence: tuple[Evidence, ...],
    setting: Setting,
    document_ids: tuple[str, ...],
    *,
    progress: ProgressCallback,
    cancel: Cancellation,
) -> tuple[tuple[str, ...], list[Evidence], str, str]:
    """Queries and passages where the person has none, and which model will write."""
    generator = models.generator(None)
    if not queries:
        queries = propose(workspace, models, task_id, progress=progress, cancel=cancel)
    found = list(evidence) or retrieve(workspace, models, queries, setting, document_ids)
    if not found:
        # By words alone a model's queries may find nothing; now they are searched by meaning, too.
        # Passages that another job embedded meanwhile count as much as those embedded here.
        embed_all(workspace, models, progress=progress, cancel=cancel)
        found = retrieve(workspace, models, queries, setting, document_ids)
    return queries, found, generator.info.id, generator.info.sha256
