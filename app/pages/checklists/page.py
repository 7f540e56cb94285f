"""Checklists: choose a rubric and a text; map, judge, and see how far the judges may be believed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QTabWidget, QWidget

from app import theme
from app.operations import run_job, run_query
from app.pages.base import Command
from app.pages.base import Page as BasePage
from app.pages.checklists.compare import CompareView
from app.pages.checklists.item_panel import VERDICTS
from app.pages.checklists.numbers import NumbersView
from app.pages.checklists.reading import RubricTexts, TextRow, read_rubrics, read_texts
from app.pages.checklists.run_dialog import RunDialog, execute_plan
from app.pages.checklists.trust_view import TrustView
from app.strings import count_of, say, shorten
from app.widgets.basics import row
from app.widgets.buttons import Button, IconButton
from app.widgets.empty import EmptyState
from app.widgets.inputs import ComboBox
from app.widgets.notice import Notice
from core.changes import Changes
from core.checklists.runs import Plan
from core.checklists.scores import Judge
from core.types import Job

_TITLE = 70


class Page(BasePage):
    """One text's two sides; the numbers of all; trust."""

    name = "checklists"
    title = "Checklists"
    kinds = (
        "rubric",
        "rubric_item",
        "example",
        "output",
        "checklist",
        "checklist_entry",
        "judgement",
        "verdict",
        "trust_sample",
        "item_skills",
    )

    def build(self) -> None:
        keys = self.session.shortcuts
        self._texts: RubricTexts | None = None
        self._wanted: dict[str, Any] = {}
        self._generation = 0
        self.run_button = Button(
            say("Map and judge"), "primary", icon="runs", shortcuts=keys, action="checklists.run"
        )
        self.run_button.clicked.connect(self.show_run)
        self.action_row.addWidget(self.run_button)
        self.rubric_box = ComboBox(say("Rubric"))
        self.text_box = ComboBox(say("Text"))
        self.judge_box = ComboBox(say("Judge"))
        for box in (self.rubric_box, self.text_box, self.judge_box):
            box.setSizeAdjustPolicy(ComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            box.setMinimumContentsLength(12)
        self.rubric_box.currentIndexChanged.connect(self._on_rubric)
        self.text_box.currentIndexChanged.connect(self._on_text)
        self.judge_box.currentIndexChanged.connect(self._on_text)
        self.before = IconButton("chevron-left", say("Text before"))
        self.before.clicked.connect(self.previous_text)
        self.after = IconButton("chevron-right", say("Next text"))
        self.after.clicked.connect(self.next_text)
        line = row(self.rubric_box, self.before, self.text_box, self.after, self.judge_box)
        for place, share in ((0, 3), (2, 5), (4, 2)):
            line.setStretch(place, share)
        self.body.setSpacing(theme.S)
        self.body.addLayout(line)
        self.notice = Notice("", "info")
        self.notice.hide()
        self.body.addWidget(self.notice)
        self.compare = CompareView(self.session)
        self.compare.said.connect(self.said)
        self.numbers = NumbersView(self.session)
        self.numbers.opened.connect(self._open_output)
        self.numbers.said.connect(self.said)
        self.trust = TrustView(self.session)
        self.trust.said.connect(self.said)
        self.trust.opened.connect(self._open_output)
        self.tabs = QTabWidget()
        self.tabs.setAccessibleName(say("What to see"))
        self.tabs.addTab(self.compare, say("Text"))
        self.tabs.addTab(self.numbers, say("Numbers"))
        self.tabs.addTab(self.trust, say("Trust"))
        self.tabs.currentChanged.connect(self._on_tab)
        self.body.addWidget(self.tabs, 1)
        view = self.compare
        for action, slot in (
            ("fill", view.fill),
            ("add", view.add),
            ("na", view.mark_na),
            ("not-applicable", view.mark_not_applicable),
            ("write", view.write),
            ("side", view.switch_side),
            ("clear", view.clear),
            ("next", view.next_item),
            ("fault", view.next_fault),
            ("previous", view.previous_item),
            ("finish", view.finish),
            ("check", view.check),
            ("next-text", self.next_text),
            ("previous-text", self.previous_text),
        ):
            keys.bind(self, f"checklists.{action}", slot)
        for name, *_ in VERDICTS:
            keys.bind(self, f"checklists.{name}", partial(view.judge, name))

    # -- the page's contract -------------------------------------------------------------

    def refresh(self, changes: Changes | None) -> None:
        if changes is not None and not changes.touches(
            "rubric", "rubric_item", "example", "output"
        ):
            self._read_texts()
            return
        run_query(self, read_rubrics, self.session.workspace).success(self._show_rubrics)

    def place(self) -> dict[str, Any]:
        return {
            "rubric": self.rubric_box.value or self._wanted.get("rubric", ""),
            "text": self.text_box.value or self._wanted.get("text", ""),
            "item": self.compare.panel.list.current_id,
            "tab": self.tabs.currentIndex(),
        }

    def restore(self, place: dict[str, Any]) -> None:
        self._wanted = dict(place)
        self.tabs.setCurrentIndex(int(place.get("tab", 0)))
        if place.get("item"):
            self.compare.panel.list.select_id(str(place["item"]))
        self.reload()

    def first_focus(self) -> QWidget | None:
        if self._empty is not None and self._empty.buttons:
            return self._empty.buttons[0]
        return self.compare.panel.list if self.tabs.currentIndex() == 0 else self.tabs

    def commands(self) -> Sequence[Command]:
        keys = self.session.shortcuts
        view = self.compare
        return [
            Command(text, slot, keys.hint(f"checklists.{action}") if action else "", self.title)
            for text, slot, action in (
                (say("Map and judge by model"), self.show_run, "run"),
                (say("Fill the item with the selection"), view.fill, "fill"),
                (say("Next item that is not right"), view.next_fault, "fault"),
                (say("Finish the checklist"), view.finish, "finish"),
                (say("Check the checklist against its text"), view.check, "check"),
                (
                    say("Check with models: reworded entries, missed items"),
                    view.check_with_model,
                    "",
                ),
                (say("Next text"), self.next_text, "next-text"),
                (say("Next text on which judges differ"), self.next_disputed, ""),
                (say("Draw outputs for checking"), self.trust.draw, ""),
            )
        ]

    # -- what the person does ------------------------------------------------------------

    @property
    def texts(self) -> RubricTexts | None:
        return self._texts

    @property
    def judge(self) -> Judge:
        """Whose verdicts are shown."""
        value = self.judge_box.value
        return value if isinstance(value, Judge) else Judge("person", self.session.person_id)

    @Slot()
    def show_run(self) -> None:
        """Choose what a model maps and judges, and start it."""
        if self._texts is None:
            self.said.emit(say("There is no rubric to map to yet. Make one under Rubrics first."))
        else:
            RunDialog(self, self._texts, self._current(), self.start).open()

    def start(self, plan: Plan, generator_id: str, nli_id: str) -> None:
        """Run a plan in the background."""
        self.run_button.setEnabled(False)
        run_job(
            self,
            say("Checklists"),
            execute_plan,
            self.session.workspace,
            self.session.models,
            plan,
            self.session.person_id,
            generator_id,
            nli_id,
            noun="texts",
        ).success(self._on_done).end(partial(self.run_button.setEnabled, True))

    @Slot()
    def next_text(self) -> None:
        """The text below in the list."""
        self._step(1)

    @Slot()
    def previous_text(self) -> None:
        """The text above."""
        self._step(-1)

    @Slot()
    def next_disputed(self) -> None:
        """The next text on which judges differ."""
        queue = self._texts.queue if self._texts else ()
        if not queue:
            self.said.emit(say("Judges differ on no text."))
            return
        here = self.text_box.value
        place = queue.index(here) + 1 if here in queue else 0
        self._show_text(queue[place % len(queue)])

    # -- showing -------------------------------------------------------------------------

    def _show_rubrics(self, rubrics: list[tuple[str, str]]) -> None:
        if not rubrics:
            self.show_empty(
                EmptyState(
                    "rubrics",
                    say("No rubric to map to"),
                    say(
                        "A checklist says for each item of a rubric what a text has on it, and where. Two "
                        "checklists, the reference's and an output's, are compared item by item."
                    ),
                    (say("Go to Rubrics"), partial(self.go.emit, "rubrics", None)),
                )
            )
            return
        self.show_empty(None)
        wanted = self._wanted.pop("rubric", "") or self.rubric_box.value
        known = {key for _, key in rubrics}
        self.rubric_box.fill(
            [(shorten(title, _TITLE), key) for title, key in rubrics],
            wanted if wanted in known else rubrics[0][1],
        )
        self._read_texts()

    def _read_texts(self) -> None:
        rubric_id = self.rubric_box.value
        if not rubric_id:
            return
        self._generation += 1
        generation = self._generation

        def take(found: RubricTexts) -> None:
            if generation == self._generation:
                self._show_texts(found)

        run_query(
            self, read_texts, self.session.workspace, rubric_id, self.session.person_id
        ).success(take)

    def _show_texts(self, found: RubricTexts) -> None:
        self._texts = found
        keys = {text.key for text in found.texts}
        wanted = self._wanted.pop("text", "") or self.text_box.value
        first = found.texts[0].key if found.texts else None
        self.text_box.fill(
            [(self._label(found, text), text.key) for text in found.texts],
            wanted if wanted in keys else first,
        )
        judge = self.judge
        judges = list(found.judges)
        self.judge_box.fill(judges)
        place = next((n for n, (_, other) in enumerate(judges) if other == judge), 0)
        was = self.judge_box.blockSignals(True)
        self.judge_box.setCurrentIndex(place)
        self.judge_box.blockSignals(was)
        parts = [count_of(len(found.texts), "text", "texts"), shorten(found.rubric.title, 40)]
        if found.queue:
            texts = count_of(len(found.queue), "text", "texts")
            parts.append(say("judges differ on {texts}, your verdict settles it", texts=texts))
        self.set_subtitle(" · ".join(parts))
        self.notice.set_text(
            say(
                "You work blind: other judges, models and runs are hidden until your queue is done."
            )
        )
        self.notice.setVisible(bool(found.hidden))
        self.trust.set_hidden(bool(found.hidden))
        self.numbers.set_hidden(bool(found.hidden))
        self._on_text()

    @staticmethod
    def _label(found: RubricTexts, text: TextRow) -> str:
        label = shorten(text.title, _TITLE)
        if text.key in found.queue:
            label += say(" · judges differ")
        if text.key in found.sample:
            label += say(" · drawn for checking")
        return label

    @Slot()
    def _on_rubric(self, *_: object) -> None:
        self._read_texts()

    @Slot()
    def _on_text(self, *_: object) -> None:
        if self._texts is None:
            return
        rubric_id = self._texts.rubric.id
        self.compare.show_text(rubric_id, self._current(), self.judge)
        self._show_tab(rubric_id)

    @Slot()
    def _on_tab(self, *_: object) -> None:
        if self._texts is not None:
            self._show_tab(self._texts.rubric.id)

    def _show_tab(self, rubric_id: str) -> None:
        # Only what is looked at is reckoned.
        if self.tabs.currentWidget() is self.numbers:
            self.numbers.show_rubric(rubric_id, self.judge)
        elif self.tabs.currentWidget() is self.trust:
            self.trust.show_rubric(rubric_id)

    def _current(self) -> TextRow | None:
        key = self.text_box.value
        texts = self._texts.texts if self._texts else ()
        return next((text for text in texts if text.key == key), None)

    def _step(self, by: int) -> None:
        place = self.text_box.currentIndex() + by
        if 0 <= place < self.text_box.count():
            self.text_box.setCurrentIndex(place)

    def _show_text(self, key: str) -> None:
        self.tabs.setCurrentIndex(0)
        place = self.text_box.findData(key)
        if place >= 0:
            self.text_box.setCurrentIndex(place)

    @Slot(str)
    def _open_output(self, output_id: str) -> None:
        texts = self._texts.texts if self._texts else ()
        key = next((text.key for text in texts if text.output_id == output_id), "")
        if key:
            self._show_text(key)

    def _on_done(self, job: Job) -> None:
        words = {
            "done": say("{count} mapped and judged", count=count_of(job.done, "text", "texts")),
            "cancelled": say("Stopped; what was done is kept."),
        }
        message = f" {job.message}" if job.message and job.state == "done" else ""
        self.said.emit(words.get(job.state, job.message) + message)
