"""The items with their statuses, what the two sides have on the current one, and the buttons for it."""

from __future__ import annotations

from collections import Counter
from functools import partial

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QFrame

from app import theme
from app.pages.checklists.reading import Comparison
from app.pages.checklists.result_list import ResultList, ResultModel, ResultRow
from app.pages.checklists.words import COUNTED, FAULTY, LOOKS, Shown
from app.shortcuts import Shortcuts
from app.strings import say
from app.widgets.basics import Card, Folding, Scroller, label, row
from app.widgets.buttons import Button
from app.widgets.editors import LineEditor
from core.checklists.scores import ItemResult
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

_NO_BREAK = "\N{NO-BREAK SPACE}"


class ItemPanel(Card):
    """Shows a `Comparison` item by item. A button says its action's name; ``wrote`` has own words."""

    item_changed = Signal(str)
    asked = Signal(str)
    wrote = Signal(str)

    def __init__(self, keys: Shortcuts) -> None:
        super().__init__(say("Items"))
        self._found: Comparison | None = None
        self.model = ResultModel()
        self.list = ResultList(self.model, say("Items"))
        self.list.current_changed.connect(self._on_item)
        self.legend = label("", "small", wrap=True)
        self.add(self.legend)
        self.add(self.list, 3)
        line = QFrame()
        line.setProperty("role", "line")
        self.add(line)
        self.title = label("", "strong", wrap=True)
        self.about = label("", "muted", wrap=True)
        self.left_words = label("", wrap=True, selectable=True)
        self.right_words = label("", wrap=True, selectable=True)
        self.verdict = label("", wrap=True, selectable=True)
        self.own_words = LineEditor(
            say("In your own words"), placeholder=say("In your own words, Enter to fill")
        )
        self.own_words.returnPressed.connect(self._write)
        scroller = Scroller()
        scroller.box.setSpacing(theme.XS)
        for widget in (self.title, self.about, self.left_words, self.right_words, self.verdict):
            scroller.box.addWidget(widget)
        scroller.box.addWidget(self.own_words)
        scroller.box.addStretch(1)
        self.add(scroller, 2)
        self.buttons: dict[str, Button] = {}
        #: What can be said of the item; who has no room for it here may put it elsewhere.
        self.button_rows = self._make_buttons(keys)
        self.add(self.button_rows)

    def show_comparison(self, found: Comparison | None) -> None:
        """Show all items; the current one stays where it is still there."""
        self._found = found
        rows = [self._row_of(found, item) for item in found.items] if found else []
        self.model.set_rows(rows)
        if rows and not self.list.current_id:
            self.list.select_row(0)
        self._show_legend(rows)
        self.show_item()

    @property
    def item(self) -> RubricItem | None:
        """The current item."""
        row_: ResultRow | None = self.model.row_at(self.list.currentIndex())
        return row_.item if row_ is not None else None

    def step(self, by: int) -> None:
        """Go on by so many items."""
        self.list.select_row(self.list.currentIndex().row() + by)

    def step_to_fault(self) -> bool:
        """Go to the next item that is not as in the reference, round the end; False for none."""
        here = self.list.currentIndex().row()
        count = len(self.model.rows)
        for place in (*range(here + 1, count), *range(here)):
            if self.model.rows[place].status in FAULTY:
                self.list.select_row(place)
                return True
        return False

    def show_item(self) -> None:
        """Show what the two sides have on the current item, and what was said of it."""
        found, item = self._found, self.item
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
        self.about.setVisible(bool(about))
        left = found.reference.entries.get(item.id)
        right = found.output.entries.get(item.id) if found.output else None
        self.left_words.setText(say("Reference: {words}", words=_words(left)))
        self.right_words.setText(say("Output: {words}", words=_words(right)))
        self.right_words.setVisible(found.output is not None)
        self.verdict.setText(_verdict_words(found.item_result(item.id)))
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

    # -- inside --------------------------------------------------------------------------

    def _make_buttons(self, keys: Shortcuts) -> Folding:
        fill = say(
            "Fill the item with the selection; {key} adds it to what is there",
            key=keys.hint("checklists.add"),
        )
        mapping = (
            ("fill", say("Fill"), fill),
            ("na", say("N/A"), say("Nothing in the text on the item")),
            ("not-applicable", say("Not due"), say("The item does not apply")),
        )
        judging = tuple((key, say(short), say(words)) for key, _, words, short in VERDICTS)
        lines = []
        for group in (mapping, judging[:3], judging[3:]):
            made = []
            for key, short, words in group:
                button = Button(short, "choice")
                button.setToolTip(words)
                button.setAccessibleName(words)
                button.set_hint(keys.hint(f"checklists.{key}"))
                button.setCheckable(group is not mapping)
                button.clicked.connect(partial(self.asked.emit, key))
                self.buttons[key] = button
                made.append(button)
            lines.append(row(*made, None, spacing=theme.XS))
        verdicts = Folding((lines[1], 0), (lines[2], 1), spacing=theme.XS)
        return Folding((lines[0], 0), (verdicts, 1), spacing=theme.S)

    def _row_of(self, found: Comparison, item: RubricItem) -> ResultRow:
        left = found.reference.entries.get(item.id)
        right = found.output.entries.get(item.id) if found.output else None
        result = found.item_result(item.id)
        status: Shown = result.status if result else _mapped_status(left or right)
        return ResultRow(
            item, status, _words(left), _words(right), disputed=item.id in found.disputed
        )

    def _show_legend(self, rows: list[ResultRow]) -> None:
        counts = Counter(r.status for r in rows)
        parts = [
            f"{LOOKS[status].sign} {counts[status]} {say(LOOKS[status].word)}".replace(
                " ", _NO_BREAK
            )
            for status in COUNTED
            if counts[status]
        ]
        self.legend.setText("   ".join(parts))
        self.legend.setAccessibleName(self.legend.text().replace(_NO_BREAK, " "))
        result = self._found.result if self._found is not None else None
        note = ""
        if result is not None and result.score.value is not None:
            values = result.score.components
            note = say(
                "F1 {f1:.2f} · P {p:.2f} · R {r:.2f}",
                f1=result.score.value,
                p=values["precision"],
                r=values["recall"],
            )
            if values.get("coverage") is not None:
                note += say(" · coverage {c:.2f}", c=values["coverage"])
            if result.is_void:
                # All N/A counts as all right, which would be read as praise.
                note = say("nothing found on either side")
        self.set_title(say("Items"), note)

    @Slot(str)
    def _on_item(self, item_id: str) -> None:
        self.show_item()
        self.item_changed.emit(item_id)

    @Slot()
    def _write(self) -> None:
        text = self.own_words.text().strip()
        if text and self.item is not None:
            self.wrote.emit(text)
            self.own_words.clear()
            self.list.setFocus()


def _mapped_status(entry: ChecklistEntry | None) -> Shown:
    """Where there is nothing to compare with: what the mapping says."""
    if entry is None or entry.state in ("open", "unscored"):
        return "unscored"
    if entry.state == "filled":
        return "found"
    return "not_applicable" if entry.state == "not_applicable" else "nothing"


def _verdict_words(result: ItemResult | None) -> str:
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


def _words(entry: ChecklistEntry | None) -> str:
    if entry is None or entry.state == "open":
        return say("not mapped yet")
    if entry.state == "filled":
        where = "" if entry.start >= 0 else say(" (not found in the text)")
        if entry.check.get("near"):
            where = say(" (reworded; marked is what it is likest)")
        edited = say(" (edited)") if entry.edited else ""
        return f"“{entry.text}”{where}{edited}"
    if entry.state == "na":
        return say("nothing (N/A)")
    if entry.state == "not_applicable":
        return say("does not apply")
    return say("unscored: {reason}", reason=entry.reason)
