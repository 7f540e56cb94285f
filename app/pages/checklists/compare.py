"""One output beside the reference: both texts with what was found in them, the items, and the verdicts.

Mapping and judging are done here by keys. A key acts on the current item and, for mapping, on the side
last worked in, which says so.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QFrame, QSplitter, QVBoxLayout, QWidget

from app import theme
from app.operations import run_job, run_query, run_verb
from app.pages.checklists.reading import Comparison, Side, TextRow, read_comparison
from app.pages.checklists.result_list import ResultList, ResultModel, ResultRow
from app.pages.checklists.text_view import TextView
from app.pages.checklists.words import COUNTED, LOOKS
from app.session import Session
from app.strings import say, shorten
from app.widgets.basics import Card, ElidedLabel, Scroller, label, row
from app.widgets.buttons import Button
from app.widgets.editors import LineEditor
from app.widgets.inputs import ComboBox
from app.widgets.notice import Notice
from core.checklists.checks import CoverageCheck, EntryCheck, check_and_keep, check_coverage
from core.checklists.judging import clear_verdict, record_verdict
from core.checklists.scores import ItemResult, Judge, Status
from core.checklists.verbs import (
    Target,
    fill_entry,
    finish_checklist,
    mark_entry,
    spans_of,
    start_checklist,
    write_entry,
)
from core.ports import Cancellation, ProgressCallback
from core.storage.transaction import Transaction
from core.storage.workspace import Workspace
from core.types import RubricItem
from core.types.rubrics import ChecklistEntry

#: Key, (recall, precision, contradicted), what the output does, and that in short.
VERDICTS = (
    ("same", (True, True, False), "Says the same", "Same"),
    ("less", (False, True, False), "Says less", "Less"),
    ("more", (True, False, False), "Says more", "More"),
    ("other", (False, False, False), "Says something else", "Other"),
    ("against", (False, False, True), "Contradicts it", "Against"),
)


class TextSide(Card):
    """A heading with the choice of checklist, and the text."""

    chosen = Signal(str)

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.heading = ElidedLabel(name.upper())
        self.heading.setProperty("role", "overline")
        self.box_of_checklists = ComboBox(say("Checklist of the {side}", side=name.lower()))
        self.box_of_checklists.currentIndexChanged.connect(self._on_choice)
        self._name = name
        self.box_of_checklists.setSizeAdjustPolicy(
            ComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self.box_of_checklists.setMinimumContentsLength(3)
        head = row(self.heading, self.box_of_checklists)
        head.setStretch(0, 1)
        head.setStretch(1, 1)
        self.view = TextView(name)
        self.problem = label("", "muted", wrap=True)
        self.add(head)
        self.add(self.problem)
        self.add(self.view, 1)

    def show_side(self, side: Side | None) -> None:
        """Show a side's text and its checklists."""
        self.setVisible(side is not None)
        if side is None:
            return
        current = side.checklist.id if side.checklist else "own"
        self.box_of_checklists.fill(list(side.choices), current)
        problem = side.problem
        if side.stale:
            problem = say(
                "The text has changed since it was mapped: places may be off. Map it anew."
            )
        self.problem.setText(problem)
        self.problem.setVisible(bool(problem))
        self.view.set_whole(side.text)

    def set_active(self, active: bool) -> None:
        """Mark the side that keys map into."""
        name = self._name.upper()
        self.heading.setText(f"▸ {name}" if active else name)
        self.heading.setToolTip(say("Keys map into this text") if active else "")

    def _on_choice(self, *_: object) -> None:
        self.chosen.emit(str(self.box_of_checklists.value or ""))


class CompareView(QWidget):
    """The two sides and the items. ``show_text`` says which text under which judge."""

    said = Signal(str)

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self._rubric_id = ""
        self._row: TextRow | None = None
        self._judge = Judge("person", "")
        self._choices = {"reference": "", "output": ""}
        self._comparison: Comparison | None = None
        self._generation = 0
        self._side = "output"
        self._unused: dict[str, CoverageCheck] = {}
        self.reference = TextSide(say("Reference"))
        self.output = TextSide(say("Output"))
        self.reference.chosen.connect(partial(self._choose, "reference"))
        self.output.chosen.connect(partial(self._choose, "output"))
        self.reference.view.entered.connect(partial(self.activate, "reference"))
        self.output.view.entered.connect(partial(self.activate, "output"))
        split = QSplitter(Qt.Orientation.Horizontal)
        split.setChildrenCollapsible(False)
        split.setHandleWidth(theme.M)
        for part, share in ((self.reference, 4), (self.output, 4), (self._make_items(), 4)):
            split.addWidget(part)
            split.setStretchFactor(split.count() - 1, share)
        split.setSizes([360, 360, 360])
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, theme.S, 0, 0)
        outer.setSpacing(theme.S)
        self.notice = Notice("", "info")
        self.notice.hide()
        outer.addWidget(self.notice)
        outer.addWidget(split, 1)
        self.activate("output")

    # -- what the page says --------------------------------------------------------------

    def show_text(self, rubric_id: str, text: TextRow | None, judge: Judge) -> None:
        """Show one text under a judge."""
        other = (rubric_id, text) != (self._rubric_id, self._row)
        self._rubric_id, self._row, self._judge = rubric_id, text, judge
        if other:
            self._choices = {"reference": "", "output": ""}
            self._unused = {}
            self.notice.hide()
        self.reload()

    def reload(self) -> None:
        """Read what is shown anew."""
        if self._row is None or not self._rubric_id:
            self._comparison = None
            self._show()
            return
        self._generation += 1
        generation = self._generation

        def take(found: Comparison) -> None:
            if generation == self._generation:
                self._comparison = found
                self._show()

        run_query(
            self,
            read_comparison,
            self.session.workspace,
            self._rubric_id,
            self._row,
            self.session.person_id,
            self._judge,
            self._choices["reference"],
            self._choices["output"],
        ).success(take)

    @property
    def comparison(self) -> Comparison | None:
        return self._comparison

    @property
    def side(self) -> str:
        """'reference' or 'output': where mapping keys go."""
        return self._side

    def activate(self, side: str) -> None:
        """Let mapping keys go to a side."""
        if side == "output" and self._row is not None and not self._row.output_id:
            side = "reference"
        self._side = side
        self.reference.set_active(side == "reference")
        self.output.set_active(side == "output")
        self._show_detail()

    # -- mapping by keys -----------------------------------------------------------------

    @Slot()
    def fill(self) -> None:
        """Fill the item with what is selected."""
        self._fill(add=False)

    @Slot()
    def add(self) -> None:
        """Add what is selected to the item."""
        self._fill(add=True)

    @Slot()
    def mark_na(self) -> None:
        """Say that the text has nothing on the item, and go on."""
        self._mark("na", say("Mark as not in the text"))

    @Slot()
    def mark_not_applicable(self) -> None:
        """Say that the item does not apply, and go on."""
        self._mark("not_applicable", say("Mark as not applicable"))

    @Slot()
    def write(self) -> None:
        """Fill the item in one's own words."""
        self.own_words.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.own_words.selectAll()

    @Slot()
    def finish(self) -> None:
        """Mark all items not looked at as not in the text."""
        side = self._active()
        if side is None or side.checklist is None:
            self.said.emit(say("Map an item first."))
            return
        run_verb(self, say("Finish checklist"), finish_checklist, side.checklist.id)

    @Slot()
    def check(self) -> None:
        """Look which entries are not in the text, and which sentences no entry rests on."""
        self._check(None)

    @Slot()
    def check_with_model(self) -> None:
        """The same, and let the model look for items that may have been missed."""
        self._check(self.session.models)

    @Slot()
    def switch_side(self) -> None:
        """Go to the other text."""
        self.activate("output" if self._side == "reference" else "reference")
        self._active_view().setFocus(Qt.FocusReason.ShortcutFocusReason)

    @Slot()
    def next_item(self) -> None:
        """The item below."""
        self.list.select_row(self.list.currentIndex().row() + 1)

    @Slot()
    def previous_item(self) -> None:
        """The item above."""
        self.list.select_row(self.list.currentIndex().row() - 1)

    # -- judging by keys -----------------------------------------------------------------

    def judge(self, name: str) -> None:
        """Give one of `VERDICTS` on the item and go on to the next."""
        found = self._comparison
        item = self._item()
        pair = (
            next((p for p in found.pairs if item and p.item.id == item.id), None) if found else None
        )
        if found is None or item is None or pair is None or found.output is None:
            self.said.emit(say("Map both texts first."))
            return
        if not pair.asked:
            self.said.emit(
                pair.open or say("There is nothing to judge: a side has nothing on this item.")
            )
            return
        recall, precision, contradicted = next(v for key, v, _, _ in VERDICTS if key == name)
        assert found.reference.checklist is not None
        assert found.output.checklist is not None
        run_verb(
            self,
            say("Judge {title}", title=shorten(item.title, 30)),
            _judge_item,
            found.reference.checklist.id,
            found.output.checklist.id,
            item.id,
            recall=recall,
            precision=precision,
            contradicted=contradicted,
            adjudicate=item.id in found.disputed,
        )
        self.next_item()

    @Slot()
    def clear(self) -> None:
        """Take back one's own verdict on the item."""
        found, item = self._comparison, self._item()
        if (
            found is None
            or item is None
            or found.output is None
            or found.output.checklist is None
            or found.reference.checklist is None
        ):
            return
        run_verb(
            self,
            say("Take back verdict"),
            clear_verdict,
            found.reference.checklist.id,
            found.output.checklist.id,
            item.id,
        )

    # -- parts ---------------------------------------------------------------------------

    def _make_items(self) -> QWidget:
        keys = self.session.shortcuts
        card = Card(say("Items"))
        self.card = card
        self.model = ResultModel()
        self.list = ResultList(self.model, say("Items"))
        self.list.current_changed.connect(self._on_item)
        self.legend = label("", "small", wrap=True)
        card.add(self.legend)
        card.add(self.list, 3)
        line = QFrame()
        line.setProperty("role", "line")
        card.add(line)
        scroller = Scroller()
        scroller.box.setSpacing(theme.XS)
        self.title = label("", "strong", wrap=True)
        self.about = label("", "muted", wrap=True)
        self.left_words = label("", wrap=True, selectable=True)
        self.right_words = label("", wrap=True, selectable=True)
        self.verdict = label("", wrap=True, selectable=True)
        for widget in (self.title, self.about, self.left_words, self.right_words, self.verdict):
            scroller.box.addWidget(widget)
        self.own_words = LineEditor(
            say("In your own words"), placeholder=say("In your own words, Enter to fill")
        )
        self.own_words.returnPressed.connect(self._write)
        scroller.box.addWidget(self.own_words)
        scroller.box.addStretch(1)
        card.add(scroller, 2)
        self.buttons: dict[str, Button] = {}
        mapping = (
            (
                "fill",
                say("Fill"),
                say(
                    "Fill the item with the selection; {key} adds it to what is there",
                    key=keys.hint("checklists.add"),
                ),
                self.fill,
            ),
            ("na", say("N/A"), say("Nothing in the text on the item"), self.mark_na),
            (
                "not-applicable",
                say("Off"),
                say("The item does not apply"),
                self.mark_not_applicable,
            ),
        )
        judging = tuple(
            (key, say(short), say(words), partial(self.judge, key))
            for key, _, words, short in VERDICTS
        )
        for group in (mapping, judging[:3], judging[3:]):
            made = []
            for key, short, words, slot in group:
                button = Button(short, "choice")
                button.setToolTip(words)
                button.setAccessibleName(words)
                button.set_hint(keys.hint(f"checklists.{key}"))
                button.setCheckable(group is not mapping)
                button.clicked.connect(slot)
                self.buttons[key] = button
                made.append(button)
            card.add(row(*made, None, spacing=theme.XS))
        return card

    # -- showing -------------------------------------------------------------------------

    def _show(self) -> None:
        found = self._comparison
        self.reference.show_side(found.reference if found else None)
        self.output.show_side(found.output if found else None)
        rows = []
        for item in found.items if found else ():
            rows.append(self._row_of(found, item))  # type: ignore[arg-type]
        self.model.load(rows)
        if rows and not self.list.current_id:
            self.list.select_row(0)
        self._show_legend(rows)
        self._show_marks()
        self._show_detail()

    def _row_of(self, found: Comparison, item: RubricItem) -> ResultRow:
        left = found.reference.entries.get(item.id)
        right = found.output.entries.get(item.id) if found.output else None
        result = found.item_result(item.id)
        status: Status = result.status if result else self._mapped_status(left)
        return ResultRow(
            item, status, _words(left), _words(right), disputed=item.id in found.disputed
        )

    @staticmethod
    def _mapped_status(entry: ChecklistEntry | None) -> Status:
        """Where there is no output to compare with: what the mapping says."""
        if entry is None or entry.state in ("open", "unscored"):
            return "unscored"
        if entry.state == "filled":
            return "right"
        return "not_applicable" if entry.state == "not_applicable" else "absent"

    def _show_legend(self, rows: list[ResultRow]) -> None:
        counts = Counter(r.status for r in rows)
        parts = [
            f"{LOOKS[status].sign} {counts[status]} {say(LOOKS[status].word)}"
            for status in COUNTED
            if counts[status]
        ]
        self.legend.setText("   ".join(parts))
        found = self._comparison
        note = ""
        if found is not None and found.result is not None:
            score = found.result.score
            if score.value is not None:
                parts = score.components
                note = say(
                    "F1 {f1:.2f} · P {p:.2f} · R {r:.2f}",
                    f1=score.value,
                    p=parts["precision"],
                    r=parts["recall"],
                )
                if parts.get("coverage") is not None:
                    note += say(" · coverage {c:.2f}", c=parts["coverage"])
        self.card.set_title(say("Items"), note)

    def _show_marks(self) -> None:
        found = self._comparison
        if found is None:
            return
        current = self.list.current_id
        for side, view in (
            (found.reference, self.reference.view),
            (found.output, self.output.view),
        ):
            if side is None:
                continue
            spans: list[tuple[int, int, str, str, bool, bool]] = []
            last: list[tuple[int, int, str, str, bool, bool]] = []
            for row_ in self.model.rows:
                entry = side.entries.get(row_.item.id)
                if entry is None or entry.state != "filled" or side.stale:
                    continue
                look = LOOKS[row_.status]
                is_current = row_.item.id == current
                for start, end in spans_of(entry):
                    if is_current:
                        last.append((start, end, "accent_soft", "accent", True, False))
                    else:
                        spans.append((start, end, look.ground, "text", look.underline, False))
            checked = self._unused.get("output" if view is self.output.view else "reference")
            grey = [
                (start, end, "hover", "muted", False, False)
                for start, end in (checked.sentences if checked else ())
            ]
            view.set_spans([*grey, *spans, *last])

    @Slot(str)
    def _on_item(self, _item_id: str) -> None:
        self._show_marks()
        self._show_detail()
        found = self._comparison
        item = self._item()
        if found is None or item is None:
            return
        for side, view in (
            (found.reference, self.reference.view),
            (found.output, self.output.view),
        ):
            entry = side.entries.get(item.id) if side is not None else None
            if entry is not None and entry.start >= 0 and side is not None and not side.stale:
                view.show_place(entry.start)

    def _show_detail(self) -> None:
        found, item = self._comparison, self._item()
        for widget in (self.about, self.left_words, self.right_words, self.verdict):
            widget.setVisible(item is not None)
        if found is None or item is None:
            self.title.setText("")
            return
        self.title.setText(item.title)
        about = item.description
        if item.condition:
            about = f"{about} {say('Applies: {words}', words=item.condition)}".strip()
        self.about.setText(about)
        left = found.reference.entries.get(item.id)
        right = found.output.entries.get(item.id) if found.output else None
        self.left_words.setText(say("Reference: {words}", words=_words(left)))
        self.right_words.setText(say("Output: {words}", words=_words(right)))
        self.right_words.setVisible(found.output is not None)
        result = found.item_result(item.id)
        self.verdict.setText(self._verdict_words(result))
        self.verdict.setVisible(bool(self.verdict.text()))
        own = (
            next((r for r in found.own.items if r.item.id == item.id), None) if found.own else None
        )
        given = own.verdicts[0] if own and own.verdicts else None
        for key, (recall, precision, against), _, _ in VERDICTS:
            button = self.buttons[key]
            button.setChecked(
                given is not None
                and given.recall == float(recall)
                and given.precision == float(precision)
                and given.contradicted == against
            )
            button.setEnabled(found.output is not None)

    def _verdict_words(self, result: ItemResult | None) -> str:
        if result is None:
            return ""
        parts = [f"{LOOKS[result.status].sign} {say(LOOKS[result.status].word).capitalize()}"]
        for verdict in result.verdicts[:1]:
            if verdict.recall_probability is not None:
                parts.append(
                    say(
                        "contains the reference {r:.0%}, contained in it {p:.0%}",
                        r=verdict.recall_probability,
                        p=verdict.precision_probability or 0.0,
                    )
                )
        if result.reason:
            parts.append(result.reason)
        return " · ".join(parts)

    # -- doing ---------------------------------------------------------------------------

    def _item(self) -> RubricItem | None:
        found = self._comparison
        if found is None:
            return None
        return next((item for item in found.items if item.id == self.list.current_id), None)

    def _active(self) -> Side | None:
        found = self._comparison
        if found is None:
            return None
        return found.output if self._side == "output" else found.reference

    def _active_view(self) -> TextView:
        return self.output.view if self._side == "output" else self.reference.view

    def _choose(self, side: str, choice: str) -> None:
        self._choices[side] = choice
        self.reload()

    def _fill(self, *, add: bool) -> None:
        item, side = self._item(), self._active()
        if item is None or side is None:
            return
        place = self._active_view().selection()
        if place is None:
            self.said.emit(say("Select what the text says on '{title}' first.", title=item.title))
            return
        self._map(
            say("Fill {title}", title=shorten(item.title, 30)),
            side,
            item.id,
            "fill",
            start=place[0],
            end=place[1],
            add=add,
        )
        if not add:
            self.next_item()

    def _mark(self, state: str, words: str) -> None:
        item, side = self._item(), self._active()
        if item is not None and side is not None:
            self._map(words, side, item.id, "mark", state=state)
            self.next_item()

    @Slot()
    def _write(self) -> None:
        item, side = self._item(), self._active()
        text = self.own_words.text().strip()
        if item is not None and side is not None and text:
            words = say("Fill {title}", title=shorten(item.title, 30))
            self._map(words, side, item.id, "write", text=text)
            self.own_words.clear()
            self.list.setFocus()
            self.next_item()

    def _check(self, models: Any) -> None:
        side, name = self._active(), self._side
        if side is None or side.checklist is None:
            self.said.emit(say("Map an item first."))
            return

        def take(found: tuple[list[EntryCheck], CoverageCheck]) -> None:
            self._unused[name] = found[1]
            self.notice.set_text(_check_words(*found))
            self.notice.show()
            self._show_marks()

        run_job(
            self,
            say("Checking the checklist"),
            _run_checks,
            self.session.workspace,
            models,
            side.checklist.id,
            self.session.person_id,
            noun="items",
        ).success(take)

    def _map(self, words: str, side: Side, item_id: str, what: str, **fields: Any) -> None:
        checklist_id = side.checklist.id if side.checklist and not side.stale else ""
        if not checklist_id:
            self._choices[self._side] = "own"
        run_verb(self, words, _map_item, side.target, checklist_id, item_id, what, fields)


def _map_item(
    tx: Transaction,
    target: Target,
    checklist_id: str,
    item_id: str,
    what: str,
    fields: dict[str, Any],
) -> ChecklistEntry:
    """Write one entry, into one's own checklist where none is chosen."""
    if not checklist_id:
        checklist_id = start_checklist(tx, target).id
    if what == "fill":
        return fill_entry(tx, checklist_id, item_id, **fields)
    if what == "write":
        return write_entry(tx, checklist_id, item_id, fields["text"])
    return mark_entry(tx, checklist_id, item_id, fields["state"])


def _run_checks(
    workspace: Workspace,
    models: Any,
    checklist_id: str,
    person_id: str,
    *,
    progress: ProgressCallback,
    cancel: Cancellation,
) -> tuple[list[EntryCheck], CoverageCheck]:
    checks = check_and_keep(workspace, checklist_id, person=person_id, cancel=cancel)
    generator = models.generator() if models is not None else None
    coverage = check_coverage(workspace, checklist_id, generator, progress=progress, cancel=cancel)
    return checks, coverage


def _check_words(checks: list[EntryCheck], coverage: CoverageCheck) -> str:
    """What the checks found, in a few sentences."""
    lost = [check.item.title for check in checks if check.support == "not found"]
    other = [f"{check.item.title}: {check.differences[0]}" for check in checks if check.differences]
    parts = []
    if lost:
        parts.append(say("Not word for word in the text: {titles}.", titles="; ".join(lost[:8])))
    else:
        parts.append(say("Every entry is in the text."))
    if other:
        parts.append(say("Otherwise in the text: {words}.", words="; ".join(other[:4])))
    if coverage.share_used is not None:
        parts.append(
            say(
                "{share:.0%} of the sentences are behind an entry; the others are grey.",
                share=coverage.share_used,
            )
        )
    if coverage.suspected:
        names = "; ".join(f"{item.title} ({share:.0%})" for item, share in coverage.suspected[:8])
        parts.append(say("The model sees something on: {names}.", names=names))
    return " ".join(parts)


def _judge_item(
    tx: Transaction,
    reference_id: str,
    output_checklist_id: str,
    item_id: str,
    *,
    adjudicate: bool,
    **verdict: Any,
) -> None:
    """One's own verdict; where judges differ it also settles the item."""
    record_verdict(tx, reference_id, output_checklist_id, item_id, **verdict)
    if adjudicate:
        record_verdict(tx, reference_id, output_checklist_id, item_id, adjudicate=True, **verdict)


def _words(entry: ChecklistEntry | None) -> str:
    if entry is None or entry.state == "open":
        return say("not mapped yet")
    if entry.state == "filled":
        where = "" if entry.start >= 0 else say(" (not found in the text)")
        edited = say(" (edited)") if entry.edited else ""
        return f"“{entry.text}”{where}{edited}"
    if entry.state == "na":
        return say("nothing (N/A)")
    if entry.state == "not_applicable":
        return say("does not apply")
    return say("unscored: {reason}", reason=entry.reason)
