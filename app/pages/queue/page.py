"""Queue: what waits for one's review, how far one is, and going on where one left off. Blind."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QProgressBar, QWidget

from app import theme
from app.operations import run_query, run_verb
from app.pages.base import Command
from app.pages.base import Page as BasePage
from app.pages.review.items import STATES, QueueCounts, prepare_queue
from app.pages.review.pair_items import PairCounts, count_pairs
from app.strings import format_number, say
from app.widgets.basics import Card, label, row
from app.widgets.buttons import Button
from app.widgets.empty import EmptyState
from app.widgets.id_table import IdTableModel, TableColumn, TableSource
from app.widgets.id_view import IdTableView
from core.changes import Changes
from core.review.blinding import set_blinding

_STATE_WORDS = {
    "pending": "Pending",
    "draft": "Draft",
    "submitted": "Submitted",
    "skipped": "Skipped",
}
_STATE_HELP = {
    "pending": "not touched yet",
    "draft": "half done",
    "submitted": "handed in, still editable",
    "skipped": "left for later",
}


def _state_word(state: Any) -> str:
    return say(_STATE_WORDS.get(str(state), str(state)))


#: Neither system nor run: an item is known by its example and its pseudonym.
ITEMS = TableSource(
    "review_item v JOIN output o ON o.id = v.output_id AND o.deleted = 0"
    " JOIN example e ON e.id = o.example_id JOIN task t ON t.id = e.task_id",
    columns=(
        TableColumn("place", "No.", "v.position + 1", order="v.position", width=5, right=True),
        TableColumn("pseudonym", "Output", "o.pseudonym", order="o.pseudonym", width=12, least=11),
        TableColumn("title", "Example", "e.title", order="e.title COLLATE NOCASE", width=0),
        TableColumn("task", "Task", "t.objective", order="t.objective COLLATE NOCASE", width=26),
        TableColumn(
            "state", "State", "v.state", order="v.state", width=12, least=10, text=_state_word
        ),
        TableColumn(
            "rated",
            "Rated",
            "(SELECT count(*) FROM rating g WHERE g.output_id = v.output_id"
            " AND g.person_id = v.person_id AND g.deleted = 0) || ' of 5'",
            width=8,
            right=True,
        ),
    ),
    id="v.id",
    where="v.deleted = 0",
    search=("e.title", "t.objective", "o.pseudonym"),
    kinds=("review_item", "rating", "output"),
)


class Page(BasePage):
    """Counts above, the items below."""

    name = "queue"
    title = "Queue"
    kinds = (
        "review_item",
        "rating",
        "output",
        "example",
        "task",
        "person",
        "pair_item",
        "blinding",
    )

    def build(self) -> None:
        self._counts = QueueCounts()
        self._state = ""
        self._wanted = ""
        self.open_button = Button(
            say("Go on reviewing"),
            "primary",
            icon="arrow-right",
            shortcuts=self.session.shortcuts,
            action="queue.open",
        )
        self.open_button.clicked.connect(self.go_on)
        self.blind_button = Button(say("Work blind"), "choice", icon="eye-off")
        self.blind_button.setCheckable(True)
        self.blind_button.setToolTip(
            say(
                "Runs and Results stay shut until your judgements are in. Whoever holds the whole "
                "workspace file can look all the same: real blinding is a package without the mapping."
            )
        )
        self.blind_button.clicked.connect(self.set_blind)
        self.action_row.addWidget(self.blind_button)
        self.blind_label = label(say("Blind: names hidden everywhere"), "pill")
        self.blind_label.hide()
        self.action_row.addWidget(self.blind_label)
        self.action_row.addWidget(self.open_button)
        self.body.addWidget(self._make_progress())
        card = Card()
        card.setAccessibleName(say("Items"))
        card.add(self._make_filters())
        self.model = IdTableModel(self.session, ITEMS)
        self.model.sort(0)
        self.table = IdTableView(self.model, say("Items to review"))
        self.table.opened.connect(self.open_item)
        self.model.loaded.connect(self._on_loaded)
        card.add(self.table, 1)
        self.body.addWidget(card, 1)
        self.session.person_changed.connect(self.reload)

    def refresh(self, changes: Changes | None) -> None:
        query = run_query(self, prepare_queue, self.session.workspace, self.session.person_id)
        query.success(self._show_counts)
        run_query(self, count_pairs, self.session.workspace, self.session.person_id).success(
            self._show_pairs
        )
        self._filter()
        self.model.apply_changes(changes)

    def place(self) -> dict[str, Any]:
        return {"item": self.table.current_id, "state": self._state}

    def restore(self, place: dict[str, Any]) -> None:
        state = str(place.get("state", ""))
        self._choose_state(state if state in STATES else "")
        self._wanted = str(place.get("item", ""))
        if self._wanted and self.table.select_id(self._wanted):
            self._wanted = ""

    def commands(self) -> list[Command]:
        hint = self.session.shortcuts.hint("queue.open")
        return [
            Command(say("Go on reviewing"), self.go_on, hint, self.title),
            Command(say("Compare pairs"), self.compare, "", self.title),
        ]

    def first_focus(self) -> QWidget | None:
        if self._empty is not None and self._empty.buttons:
            return self._empty.buttons[0]
        return self.table

    # -- what the person does ------------------------------------------------------------

    @Slot()
    def go_on(self) -> None:
        """Open the item left off at: the selected one while the list has the keyboard."""
        if self.table.hasFocus() and self.table.current_id:
            self.open_item(self.table.current_id)
        else:
            self.go.emit("review", None)

    @Slot()
    def compare(self) -> None:
        """Go on comparing pairs."""
        self.go.emit("review", {"mode": "compare"})

    @Slot(bool)
    def set_blind(self, blind: bool) -> None:
        """Begin or stop working blind."""
        label_ = say("Work blind") if blind else say("Stop working blind")
        run_verb(self, label_, set_blinding, self.session.person_id, blind)

    @Slot(str)
    def open_item(self, item_id: str) -> None:
        """Open an item, whatever its state."""
        self.go.emit("review", {"item": item_id})

    # -- inside --------------------------------------------------------------------------

    def _make_progress(self) -> Card:
        card = Card(say("Your reviews"))
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(say("Reviews submitted"))
        card.add(self.bar)
        self.mine_label = label("", "muted")
        self.team_label = label("", "muted")
        card.add(row(self.mine_label, None, self.team_label))
        self.pairs_label = label("", "muted")
        self.compare_button = Button(say("Compare pairs"), icon="columns")
        self.compare_button.clicked.connect(self.compare)
        card.add(row(self.pairs_label, None, self.compare_button))
        return card

    def _make_filters(self) -> QHBoxLayout:
        line = QHBoxLayout()
        line.setSpacing(theme.S)
        self._group = QButtonGroup(self)
        self.filters: dict[str, Button] = {}
        for state in ("", *STATES):
            button = Button(self._filter_text(state), "choice")
            button.setCheckable(True)
            if state:
                button.setToolTip(say(_STATE_HELP[state]))
            self._group.addButton(button)
            self.filters[state] = button
            line.addWidget(button)
        self.filters[""].setChecked(True)
        line.addStretch(1)
        self._group.buttonClicked.connect(self._on_filter)
        return line

    def _filter_text(self, state: str) -> str:
        count = self._counts.mine.get(state, 0) if state else self._counts.total
        return f"{_state_word(state) if state else say('All')} {format_number(count)}"

    @Slot()
    def _on_filter(self) -> None:
        for state, button in self.filters.items():
            if button.isChecked():
                self._state = state
        self._filter()

    def _choose_state(self, state: str) -> None:
        self._state = state
        self.filters[state].setChecked(True)
        self._filter()

    def _filter(self) -> None:
        where, parameters = "v.person_id = ?", [self.session.person_id]
        if self._state:
            where += " AND v.state = ?"
            parameters.append(self._state)
        self.model.set_filter(where, parameters)

    def _show_pairs(self, counts: PairCounts) -> None:
        self.compare_button.setEnabled(counts.possible > 0)
        self.pairs_label.setText(
            say(
                "Pairs: {done} of {total} compared, {open} waiting",
                done=format_number(counts.mine.get("submitted", 0)),
                total=format_number(counts.total),
                open=format_number(counts.open),
            )
            if counts.total
            else say("Pairs: {possible} could be compared", possible=format_number(counts.possible))
        )

    def _show_counts(self, counts: QueueCounts) -> None:
        self._counts = counts
        for state, button in self.filters.items():
            button.setText(self._filter_text(state))
        submitted = counts.mine.get("submitted", 0)
        self.bar.setRange(0, max(1, counts.total))
        self.bar.setValue(submitted)
        self.mine_label.setText(
            say(
                "{done} of {total} submitted, {open} waiting",
                done=format_number(submitted),
                total=format_number(counts.total),
                open=format_number(counts.open),
            )
        )
        team = sum(counts.team.values())
        self.team_label.setText(
            say(
                "Team: {done} of {total}",
                done=format_number(counts.team.get("submitted", 0)),
                total=format_number(team),
            )
        )
        # How far the others are is no mark of theirs; it is hidden all the same while one works blind.
        self.team_label.setVisible(team > counts.total and not counts.blind)
        self.blind_button.setChecked(counts.blind)
        self.blind_label.setVisible(counts.blind)
        self.set_subtitle(
            say("{count} waiting for you", count=format_number(counts.open)) if counts.total else ""
        )
        self.open_button.setEnabled(counts.open > 0)
        if counts.total:
            self.show_empty(None)
        elif not self.is_empty_shown:
            self.show_empty(
                EmptyState(
                    "queue",
                    say("Nothing waits for review yet"),
                    say(
                        "Outputs that systems have written come here by themselves, in random order "
                        "and under pseudonyms, for you to rate blind. Let a system write something "
                        "first, or import examples for it."
                    ),
                    (say("Go to Runs"), self._go_runs),
                    (say("Go to Examples"), self._go_examples),
                )
            )

    @Slot()
    def _on_loaded(self) -> None:
        if self._wanted and self.table.select_id(self._wanted):
            self._wanted = ""
        elif self.model.ids and not self.table.current_id:
            self.table.select_id(self.model.ids[0])

    def _go_runs(self) -> None:
        self.go.emit("runs", None)

    def _go_examples(self) -> None:
        self.go.emit("examples", None)
