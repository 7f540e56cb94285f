"""What the linter and the hints say of a graph, each with its quick fix, in one list."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app import theme
from app.canvas.document import GraphDocument
from app.operations import run_query
from app.session import Session
from app.strings import count_of, say
from app.widgets.basics import IconLabel, Scroller, clear_layout, column, label, line, row
from app.widgets.buttons import Button
from core.graphs.annotation import copied_steps
from core.graphs.hints import GraphHint, hint_graph
from core.graphs.links import break_circles
from core.graphs.linter import RULES, Fix, StepIssue, lint_graph
from core.graphs.model import StepGraph

_MOST_ROWS = 60


class ChecksTab(QWidget):
    """Rows of what deserves a look. Pressing a row's text selects its step."""

    #: A step's text is to be typed anew: only the person knows how.
    edit_asked = Signal(str)

    def __init__(self, session: Session, document: GraphDocument) -> None:
        super().__init__()
        self.session = session
        self.document = document
        self.verdict = label("", "strong", wrap=True)
        self.list = Scroller()
        self.list.box.setSpacing(theme.S)
        self.meaning_button = Button(say("Look for steps that mean the same"), icon="search")
        self.meaning_button.clicked.connect(self.look_for_meanings)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, theme.S, 0, 0)
        box.setSpacing(theme.S)
        box.addWidget(self.verdict)
        box.addWidget(self.list, 1)
        box.addWidget(self.meaning_button)
        #: How many issues and hints there are.
        self.count = 0
        self._stale = False
        document.changed.connect(self._on_changed)
        self._on_changed()

    @Slot()
    def _on_changed(self) -> None:
        """Count at once; the rows wait until they are looked at."""
        graph = self.document.graph
        self._hints = hint_graph(graph) if graph is not None else []
        issues = sum(map(len, self.document.issues.values())) if graph is not None else 0
        self.count = len(self._hints) + issues
        if graph is None:
            self.verdict.setText("")
        else:
            self._show_verdict(graph, issues, len(self._hints))
        if self.isVisible():
            self.refresh()
        else:
            self._stale = True

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale:
            self.refresh()

    def refresh(self) -> None:
        """Show what the document's graph has, row by row."""
        self._stale = False
        graph, hints = self.document.graph, self._hints
        clear_layout(self.list.box)
        if graph is None:
            return
        issues = [
            (step.id, issue)
            for step in graph.steps
            for issue in self.document.issues.get(step.id, ())
        ]
        copied = copied_steps(graph)
        for hint in hints:
            self._add_hint(hint)
        for step_id, issue in issues[:_MOST_ROWS]:
            self._add_issue(graph, step_id, issue)
        if len(issues) > _MOST_ROWS:
            more = say("and {count} more", count=len(issues) - _MOST_ROWS)
            self.list.box.addWidget(label(more, "small"))
        for step_id, found in list(copied.items())[:_MOST_ROWS]:
            text = say(
                "Step {number} stands word for word in the source text ({words} words).",
                number=graph.numbers[step_id],
                words=found.words,
            )
            self._add_row("copy", "muted", text, step_id)
        self.list.box.addStretch(1)

    def _show_verdict(self, graph: StepGraph, issues: int, hints: int) -> None:
        if not graph.steps:
            self.verdict.setText(say("No step yet."))
        elif not issues and not hints:
            self.verdict.setText(say("Nothing stands out."))
        else:
            parts = []
            if issues:
                parts.append(count_of(issues, "remark on a step", "remarks on steps"))
            if hints:
                parts.append(count_of(hints, "hint on the graph", "hints on the graph"))
            self.verdict.setText(" · ".join(parts))

    def _add_hint(self, hint: GraphHint) -> None:
        if hint.fix == "remove_shortcuts":
            slot = self.document.remove_shortcuts
        elif hint.fix == "break_circles":
            slot = partial(
                self.document.run,
                say("Remove dependencies of circles"),
                break_circles,
                self.document.graph_id,
            )
        else:
            slot = None
        select = partial(self.document.select, hint.steps) if hint.steps else None
        words = label(hint.message, wrap=True)
        parts: list[QWidget] = []
        if slot is not None:
            button = Button(hint.fix_label, "link")
            button.clicked.connect(lambda _checked=False, do=slot: do())
            parts.append(button)
        if select is not None:
            show = Button(say("Show them"), "link")
            show.clicked.connect(lambda _checked=False, do=select: do())
            parts.append(show)
        self._add_block("info", "accent", [words, *parts])

    def _add_issue(self, graph: StepGraph, step_id: str, issue: StepIssue) -> None:
        head = Button(
            say("Step {number} · {rule}", number=graph.numbers[step_id], rule=RULES[issue.rule]),
            "link",
        )
        head.setAccessibleDescription(issue.message)
        head.clicked.connect(partial(self._show_step, step_id))
        words = label(issue.message, "muted", wrap=True)
        parts: list[QWidget] = [head, words]
        if self.document.read_only:
            pass
        elif issue.fix is not None:
            parts.append(self._fix_button(step_id, issue.fix))
        else:
            edit = Button(say("Edit the text"))
            edit.setAccessibleName(
                say("Edit the text of step {number}", number=graph.numbers[step_id])
            )
            edit.clicked.connect(partial(self.edit_asked.emit, step_id))
            parts.append(edit)
        self._add_block("warning", "warning", parts)

    def _fix_button(self, step_id: str, fix: Fix) -> QWidget:
        # A button does not wrap: the new text stands above it, the button says what happens.
        short = {
            "rename": say("Write it so"),
            "split": say("Split in two"),
            "chain": say("Split, one after the other"),
            "merge": say("Make them one step"),
        }[fix.kind]
        holder = QWidget()
        button = Button(short)
        button.setAccessibleName(fix.label)
        button.setAccessibleDescription(fix.label)
        button.clicked.connect(partial(self._apply, step_id, fix))
        texts = " / ".join(fix.texts)
        content = column(spacing=theme.XS)
        if texts:
            content.addWidget(label(f"→ {texts}", wrap=True))
        content.addLayout(row(button, None))
        holder.setLayout(content)
        return holder

    def _add_row(self, icon: str, token: str, text: str, step_id: str) -> None:
        words = label(text, "muted", wrap=True)
        show = Button(say("Show it"), "link")
        show.clicked.connect(partial(self._show_step, step_id))
        self._add_block(icon, token, [words, show])

    def _add_block(self, icon: str, token: str, parts: list[QWidget]) -> None:
        holder = QWidget()
        content = column(spacing=theme.XS)
        for part in parts:
            if isinstance(part, Button):
                content.addLayout(row(part, None))
            else:
                content.addWidget(part)
        whole = row(spacing=theme.S)
        mark = IconLabel(icon, token, 16)
        mark.setContentsMargins(0, 4, 0, 0)
        whole.addWidget(mark, 0, Qt.AlignmentFlag.AlignTop)
        whole.addLayout(content, 1)
        holder.setLayout(whole)
        self.list.box.addWidget(holder)
        self.list.box.addWidget(line())

    def _show_step(self, step_id: str) -> None:
        self.document.select((step_id,), (), current=step_id)

    def _apply(self, step_id: str, fix: Fix) -> None:
        self.document.apply_fix(step_id, fix)

    @Slot()
    def look_for_meanings(self) -> None:
        """Compare the meanings of all steps with the local embedder."""
        graph = self.document.graph
        if graph is None or len(graph.accepted) < 2:
            return
        self.meaning_button.setEnabled(False)
        models = self.session.models

        def compare() -> dict[str, list[StepIssue]]:
            texts = list(dict.fromkeys(step.text for step in graph.accepted))
            vectors = models.embedder().embed(texts)
            return lint_graph(graph, dict(zip(texts, vectors, strict=True)))

        def take(issues: dict[str, list[StepIssue]]) -> None:
            if self.document.graph is graph:
                self.document.issues = issues
                self.document.changed.emit()
                same = sum(i.rule == "duplicate" for found in issues.values() for i in found)
                self.document.said.emit(
                    say("{what} found.", what=count_of(same, "duplicate", "duplicates"))
                )

        run_query(self, compare).success(take).end(lambda: self.meaning_button.setEnabled(True))
