"""One run: what made it, how far it is, its outputs, and the text of one of them, live while written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QProgressBar, QSplitter, QWidget

from app import theme
from app.operations import run_query
from app.pages.runs.prompt_words import prompt_words
from app.pages.runs.runner import Runner, partial_text
from app.session import Session
from app.strings import count_of, format_duration, format_number, say
from app.widgets.basics import Card, ElidedLabel, column, label, row
from app.widgets.buttons import Button, IconButton
from app.widgets.id_table import IdTableModel, TableColumn, TableSource
from app.widgets.id_view import IdTableView
from app.widgets.notice import Notice
from app.widgets.reader import Reader
from core.changes import Changes
from core.runs.verbs import DEFAULT_PARAMS
from core.storage.workspace import Workspace
from core.types import Job, Output, Run, SectionText, System

STATE_WORDS = {
    "queued": "Waiting",
    "running": "Writing",
    "paused": "Interrupted",
    "cancelled": "Stopped",
    "done": "Done",
    "failed": "Failed",
    "pending": "Waiting",
    "": "Imported",
}


def state_word(state: Any) -> str:
    """A stored state in words."""
    return say(STATE_WORDS.get(str(state or ""), str(state)))


def _failure_reason(values: Any) -> str:
    return str(values.get("error") or "")


OUTPUTS = TableSource(
    "output o JOIN example e ON e.id = o.example_id",
    columns=(
        TableColumn("title", "Example", "e.title", order="e.title COLLATE NOCASE", width=0),
        TableColumn("state", "State", "o.state", order="o.state", width=9, text=state_word),
        TableColumn(
            "tokens",
            "Tokens",
            "nullif(o.completion_tokens, 0)",
            order="o.completion_tokens",
            width=8,
            right=True,
        ),
        TableColumn(
            "note",
            "Remark",
            "CASE WHEN o.error <> '' THEN o.error WHEN o.finish = 'length' THEN 'cut off' "
            "WHEN o.state = 'done' AND o.missing NOT IN ('', '[]') THEN 'sections missing' "
            "ELSE '' END",
            width=18,
            tooltip=_failure_reason,
        ),
    ),
    id="o.id",
    where="o.deleted = 0",
    search=("e.title",),
    extra={"error": "o.error"},
    kinds=("output",),
)


@dataclass(frozen=True, slots=True)
class RunFacts:
    """All that the page shows about one run."""

    run: Run
    system: System
    job: Job | None
    failed: int
    pending: int
    done: int
    scores: int

    @property
    def resumable(self) -> bool:
        return self.system.kind == "model" and self.pending > 0


def read_run(workspace: Workspace, run_id: str) -> RunFacts | None:
    """Read a run with its system, job and counts; None where it was deleted. For a thread of the pool."""
    found = workspace.find(Run, "id = ?", (run_id,))
    if not found:
        return None
    run = found[0]
    counts = workspace.query(
        "SELECT state, count(*) AS n FROM output WHERE run_id = ? AND deleted = 0 GROUP BY state",
        (run_id,),
    )
    by_state = {item["state"]: item["n"] for item in counts}
    scores = workspace.value(
        "SELECT count(DISTINCT s.output_id) FROM score s JOIN output o ON o.id = s.output_id"
        " WHERE o.run_id = ? AND s.deleted = 0",
        (run_id,),
    )
    return RunFacts(
        run,
        workspace.get(System, run.system_id),
        workspace.get(Job, run.job_id) if run.job_id else None,
        by_state.get("failed", 0),
        by_state.get("pending", 0) + by_state.get("running", 0),
        by_state.get("done", 0),
        int(scores or 0),
    )


def read_output(workspace: Workspace, output_id: str) -> tuple[Output, str] | None:
    """An output and its text, also where it was interrupted; None where it was deleted."""
    found = workspace.find(Output, "id = ?", (output_id,))
    return (found[0], partial_text(workspace, found[0])) if found else None


#: Qt's own word for no limit to a widget's height.
_NO_LIMIT = 16_777_215


class RunDetail(Card):
    """Emits what the person asks for; the page does it."""

    stop_asked = Signal()
    resume_asked = Signal()
    retry_asked = Signal()
    score_asked = Signal()
    experiment_asked = Signal()
    delete_asked = Signal()

    def __init__(self, session: Session, runner: Runner) -> None:
        super().__init__()
        self.session = session
        self._runner = runner
        self._facts: RunFacts | None = None
        self._shown_output = ""
        self._live = False
        self.setAccessibleName(say("Run"))
        self._make_head()
        self.outputs = IdTableModel(session, OUTPUTS)
        self.table = IdTableView(self.outputs, say("Outputs of this run"))
        self.table.current_changed.connect(self._on_output)
        self.reader = Reader(say("Text of the output"))
        self.caption = ElidedLabel()
        self.caption.setProperty("role", "muted")
        self.follow = QCheckBox(say("Follow what is being written"))
        self.follow.setChecked(True)
        self.follow.toggled.connect(self._on_follow)
        self.reason = Notice("", "danger")
        self.reason.hide()
        lower = QWidget()
        lower.setLayout(
            column(row(self.caption, self.follow), self.reason, self.reader, spacing=theme.S)
        )
        lower.layout().setStretch(2, 1)  # type: ignore[union-attr]
        split = QSplitter(Qt.Orientation.Vertical)
        split.setChildrenCollapsible(False)
        split.setHandleWidth(theme.M)
        split.addWidget(self.table)
        split.addWidget(lower)
        split.setStretchFactor(0, 2)
        split.setStretchFactor(1, 3)
        split.setSizes([240, 360])
        self._split, self._lower = split, lower
        self.add(split, 1)
        runner.began.connect(self._on_began)
        runner.written.connect(self._on_written)

    @property
    def facts(self) -> RunFacts | None:
        return self._facts

    @property
    def run_id(self) -> str:
        return self._facts.run.id if self._facts else ""

    @property
    def output_id(self) -> str:
        """The output whose text is shown."""
        return self._shown_output

    def show_run(self, facts: RunFacts) -> None:
        """Show a run, or the same one as it is now."""
        other = facts.run.id != self.run_id
        self._facts = facts
        if other:
            self._show_nothing()
            self.outputs.set_filter("o.run_id = ?", (facts.run.id,))
        self.show_state()
        if other and self._runner.is_active(facts.run.id) and self.follow.isChecked():
            self._follow_now()

    def forget(self) -> None:
        """Show no run, and keep nothing of the one shown."""
        self._facts = None
        self._show_nothing()
        self.outputs.set_filter("0")
        for text in (self.name_label, self.state_label, self.facts_label, self.counts_label):
            text.setText("")
        for button in (
            self.experiment_button,
            self.stop_button,
            self.resume_button,
            self.retry_button,
            self.score_button,
            self.delete_button,
        ):
            button.hide()

    def apply_changes(self, changes: Changes | None) -> None:
        """Refresh the list of outputs and, unless it is streaming, the text."""
        if self._facts is None:
            return
        self.outputs.apply_changes(changes)
        touched = changes is None or self._shown_output in changes.ids.get("output", ())
        if self._shown_output and touched:
            self._live = False
            self._read(self._shown_output)

    def show_state(self) -> None:
        """Counts, buttons and words for the state the run is in now."""
        facts = self._facts
        if facts is None:
            return
        runner, job = self._runner, facts.job
        active = runner.is_active(facts.run.id)
        waiting = runner.is_waiting(facts.run.id)
        state = "running" if active else "queued" if waiting else self._resting_state(job)
        words = say("Stopping …") if active and runner.stopping else state_word(state)
        self.name_label.setText(facts.system.name)
        self.state_label.setText(words)
        self.facts_label.setText(_describe(facts))
        total = facts.done + facts.failed + facts.pending
        self.bar.setRange(0, max(1, total))
        self.bar.setValue(facts.done + facts.failed)
        counts = say("{done} of {total} written", done=facts.done, total=total)
        if facts.failed:
            counts += " · " + say("{count} failed", count=facts.failed)
        if facts.scores:
            counts += " · " + say("{count} scored", count=facts.scores)
        if runner.is_scoring(facts.run.id):
            counts += " · " + say("Scoring …")
        self.counts_label.setText(counts)
        self.experiment_button.setVisible(bool(facts.run.signature.get("experiment")))
        self.stop_button.setVisible(active or waiting)
        self.stop_button.setEnabled(not runner.stopping)
        idle = not active and not waiting
        self.resume_button.setVisible(idle and facts.resumable)
        self.retry_button.setVisible(idle and facts.failed > 0 and facts.system.kind == "model")
        self.score_button.setVisible(idle and facts.done > 0)
        self.score_button.setEnabled(not runner.is_scoring(facts.run.id))
        self.delete_button.setVisible(idle)
        self.delete_button.setEnabled(not runner.is_scoring(facts.run.id))
        self.follow.setVisible(active)

    # -- inside --------------------------------------------------------------------------

    @staticmethod
    def _resting_state(job: Job | None) -> str:
        """What the row says; a row that says 'running' while nothing runs was interrupted."""
        if job is None:
            return ""
        return "paused" if job.state == "running" else job.state

    def _make_head(self) -> None:
        self.name_label = ElidedLabel()
        self.name_label.setProperty("role", "heading")
        self.state_label = label("", "pill")
        self.facts_label = label("", "small", wrap=True)
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(say("Outputs written"))
        self.counts_label = label("", "muted")
        keys = self.session.shortcuts
        self.stop_button = Button(say("Stop"), icon="stop", shortcuts=keys, action="runs.cancel")
        self.resume_button = Button(say("Resume"), icon="runs")
        self.retry_button = Button(say("Try failed ones again"), icon="refresh")
        self.score_button = Button(say("Score"), icon="results")
        self.experiment_button = Button(say("Experiment"), icon="columns")
        self.experiment_button.setToolTip(say("All runs of the experiment this one belongs to"))
        self.experiment_button.clicked.connect(self.experiment_asked)
        self.delete_button = IconButton("trash", say("Delete the run"))
        self.delete_button.clicked.connect(self.delete_asked)
        self.stop_button.clicked.connect(self.stop_asked)
        self.resume_button.clicked.connect(self.resume_asked)
        self.retry_button.clicked.connect(self.retry_asked)
        self.score_button.clicked.connect(self.score_asked)
        head = QHBoxLayout()
        head.setSpacing(theme.S)
        head.addWidget(self.name_label, 1)
        head.addWidget(self.state_label)
        self.add(head)
        self.add(self.facts_label)
        self.add(self.bar)
        buttons = QHBoxLayout()
        buttons.setSpacing(theme.S)
        buttons.addWidget(self.counts_label, 1)
        for button in (
            self.experiment_button,
            self.stop_button,
            self.resume_button,
            self.retry_button,
            self.score_button,
            self.delete_button,
        ):
            button.hide()
            buttons.addWidget(button)
        self.add(buttons)

    def _show_nothing(self) -> None:
        self._shown_output = ""
        self._live = False
        self.caption.setText(say("Choose an output above to read it here."))
        self.reason.hide()
        self.reader.set_sections(())
        # Nothing to read needs no room; the outputs have it.
        self.reader.hide()
        self._lower.setMaximumHeight(self._lower.sizeHint().height())

    def _make_room(self) -> None:
        """Give what is read its room beside the outputs."""
        if self.reader.isHidden():
            self.reader.show()
            self._lower.setMaximumHeight(_NO_LIMIT)
            self._split.setSizes([240, 360])

    @Slot(str)
    def _on_output(self, output_id: str) -> None:
        if not output_id or output_id == self._shown_output:
            return
        if output_id == self._runner.output_id:
            self._follow_now()
        else:
            # Looking at another output is a wish not to be torn away from it.
            self._set_following(False)
            self._read(output_id)

    def _read(self, output_id: str) -> None:
        self._shown_output = output_id

        def take(found: tuple[Output, str] | None) -> None:
            if found is not None and self._shown_output == output_id and not self._live:
                self._show_output(*found)

        run_query(self, read_output, self.session.workspace, output_id).success(take)

    def _show_output(self, output: Output, text: str) -> None:
        self._make_room()
        self.reason.setVisible(output.state == "failed")
        self.reason.set_text(output.error)
        facts = [state_word(output.state)]
        if output.state == "pending" and text:
            facts = [say("Interrupted; this much was written")]
        if output.completion_tokens:
            facts.append(count_of(output.completion_tokens, "token", "tokens"))
        if output.seconds:
            facts.append(format_duration(output.seconds))
            if output.completion_tokens:
                rate = output.completion_tokens / output.seconds
                facts.append(say("{rate} tokens a second", rate=format_number(rate)))
        if output.finish == "length":
            facts.append(say("cut off at the longest output"))
        if output.missing and output.state == "done":
            facts.append(say("missing: {titles}", titles=", ".join(output.missing)))
        self.caption.setText(" · ".join(facts))
        shown = output.sections or (SectionText(title="", text=text),)
        self.reader.set_sections(shown if text else ())

    @Slot(str, str)
    def _on_began(self, run_id: str, _output_id: str) -> None:
        if run_id == self.run_id and self.follow.isChecked():
            self._follow_now()

    @Slot(str, str)
    def _on_written(self, output_id: str, text: str) -> None:
        if self._live and output_id == self._shown_output:
            self.reader.append_text(text)

    def _follow_now(self) -> None:
        output_id = self._runner.output_id
        if not output_id:
            return
        self._set_following(True)
        self._make_room()
        self._shown_output = output_id
        self._live = True
        self.reason.hide()
        self.caption.setText(say("Being written"))
        self.reader.set_sections(())
        if self._runner.text:
            self.reader.append_text(self._runner.text)
        self.table.select_id(output_id)

    def _set_following(self, on: bool) -> None:
        was = self.follow.blockSignals(True)
        self.follow.setChecked(on)
        self.follow.blockSignals(was)

    @Slot(bool)
    def _on_follow(self, on: bool) -> None:
        if on and self._runner.is_active(self.run_id):
            self._follow_now()


def _describe(facts: RunFacts) -> str:
    """What made the outputs, on a line or two."""
    if facts.system.kind != "model":
        return say("Outputs of another program, imported.")
    params = {**DEFAULT_PARAMS, **facts.system.params}
    mode = say("section by section") if params["mode"] == "sections" else say("in one answer")
    parts = [
        facts.system.model_id,
        mode,
        say("up to {count} tokens", count=format_number(params["max_tokens"])),
        say("temperature {value}", value=params["temperature"]),
        say("seed {value}", value=params["seed"]),
    ]
    prompt = facts.run.signature.get("instruction") or facts.run.signature.get("prompt")
    if prompt:
        parts.append(say("prompt '{name}'", name=prompt_words(str(prompt))))
    policy = {
        "truncate": say("long inputs cut"),
        "parts": say("long inputs in parts"),
    }.get(str(facts.run.signature.get("context_policy", "")))
    if policy:
        parts.append(policy)
    device = facts.run.signature.get("device")
    if device:
        parts.append(str(device))
    return " · ".join(parts)
