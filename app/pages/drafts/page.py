"""Drafts: plan one, watch it being written, choose among four, rate, post-edit, save as an example."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSplitter, QStackedWidget, QWidget

from app import theme
from app.operations import run_query
from app.pages.base import Command
from app.pages.base import Page as BasePage
from app.pages.drafts.choose import ChoosePanel
from app.pages.drafts.plan import PlanPanel
from app.pages.drafts.runner import draft_runner_of
from app.pages.drafts.studio import Studio
from app.pages.drafts.work import RequestView, read_request
from app.pages.drafts.writing import WritingPanel
from app.pages.listing import Listing
from app.strings import say
from app.widgets.buttons import Button
from app.widgets.empty import EmptyState
from app.widgets.id_table import TableColumn, TableSource
from core.changes import Changes
from core.types.documents import DraftRequest


def _state_words(state: Any) -> str:
    return {
        "planned": say("planned"),
        "drafting": say("writing"),
        "choosing": say("choose"),
        "editing": say("editing"),
        "saved": say("saved"),
    }.get(str(state), "")


SOURCE = TableSource(
    "draft_request r JOIN task t ON t.id = r.task_id",
    columns=(
        TableColumn("title", "Example", "r.title", order="r.title COLLATE NOCASE", width=0),
        TableColumn("state", "State", "r.state", order="r.state", width=10, text=_state_words),
    ),
    id="r.id",
    where="r.deleted = 0",
    search=("r.title", "t.objective"),
    kinds=("draft_request", "task"),
)

#: So wide at least, for a title and a state to be read.
_LEAST_LIST = 250


class Page(BasePage):
    """The list and what the chosen one needs next; the studio takes the whole page."""

    name = "drafts"
    title = "Drafts"
    kinds = (
        *("draft_request", "draft", "draft_rating", "post_edit", "change_note", "critique_point"),
        *("task", "document", "job"),
    )

    def build(self) -> None:
        self._view: RequestView | None = None
        self._planning = False
        self._wanted = ""
        self._generation = 0
        self._bare = False
        self.runner = draft_runner_of(self.session)
        self.runner.changed.connect(self._on_runner)
        keys = self.session.shortcuts
        self.new_button = Button(
            say("New example"), "primary", icon="plus", shortcuts=keys, action="new"
        )
        self.new_button.clicked.connect(self.plan_new)
        self.action_row.addWidget(self.new_button)
        self.listing = Listing(
            self.session, SOURCE, say("Examples in the making"), say("Search"), self
        )
        self.listing.setMinimumWidth(theme.current().px(_LEAST_LIST))
        self.listing.view.current_changed.connect(self._on_current)
        self.listing.view.opened.connect(self._on_opened)
        self.listing.model.loaded.connect(self._on_loaded)
        self.plan = PlanPanel(self.session)
        self.plan.planned.connect(self._on_planned)
        self.plan.go.connect(lambda page: self.go.emit(page, None))
        self.writing = WritingPanel(self.session, self.runner)
        self.choose = ChoosePanel(self.session)
        self.choose.begun.connect(self.open_studio)
        self.panels = QStackedWidget()
        for panel in (self.plan, self.writing, self.choose):
            self.panels.addWidget(panel)
        self.overview = QSplitter(Qt.Orientation.Horizontal)
        self.overview.setChildrenCollapsible(False)
        self.overview.setHandleWidth(theme.M)
        self.overview.addWidget(self.listing)
        self.overview.addWidget(self.panels)
        self.overview.setStretchFactor(0, 2)
        self.overview.setStretchFactor(1, 6)
        self.overview.setSizes([theme.current().px(width) for width in (260, 900)])
        self.studio = Studio(self.session)
        self.studio.left.connect(self.close_studio)
        self.studio.saved.connect(self._on_saved)
        self.studio.titled.connect(self._show_title)
        for control in self.studio.head_controls:
            self.action_row.addWidget(control)
            control.hide()
        self.stack = QStackedWidget()
        self.stack.addWidget(self.overview)
        self.stack.addWidget(self.studio)
        self.body.addWidget(self.stack, 1)

    def refresh(self, changes: Changes | None) -> None:
        self.listing.model.apply_changes(changes)
        if changes is None or changes.touches("task", "document"):
            self.plan.refresh()
        if self.in_studio:
            self.studio.refresh(changes)
        elif changes is None or changes.touches("draft_request", "draft", "draft_rating"):
            self._read()

    def place(self) -> dict[str, Any]:
        return {
            "request": self.listing.view.current_id or self._wanted,
            "post_edit": self.studio.post_edit_id if self.in_studio else "",
            "new": self._planning,
        }

    def restore(self, place: dict[str, Any]) -> None:
        self._wanted = str(place.get("request", ""))
        if self._wanted:
            self.listing.view.select_id(self._wanted)
        if place.get("post_edit"):
            self.open_studio(str(place["post_edit"]))
        elif place.get("new"):
            self.plan_new()
            if place.get("task"):
                self.plan.choose_task(str(place["task"]))

    def settle(self) -> Sequence[Future[Any]]:
        future = self.studio.flush()
        return [future] if future is not None else []

    def commands(self) -> Sequence[Command]:
        keys = self.session.shortcuts
        made = [
            Command(say("New example from documents"), self.plan_new, keys.hint("new"), self.title)
        ]
        if self.in_studio:
            for words, slot, action in (
                (say("Save example"), self.studio.save_example, "drafts.save"),
                (say("Edit with the model"), self.studio.ask_model, "drafts.assist"),
                (say("Ask for a critique"), self.studio.ask_critique, ""),
                (say("Show the passage in its document"), self.studio.show_passage, ""),
                (say("Compare drafts"), self.close_studio, ""),
            ):
                hint = keys.hint(action) if action else ""
                made.append(Command(words, slot, hint, self.title))
        return made

    def first_focus(self) -> QWidget | None:
        if self.is_empty_shown:
            return self._empty.buttons[0] if self._empty is not None else None
        return self.studio.first_focus() if self.in_studio else self.listing.view

    # -- what the person does ------------------------------------------------------------

    @property
    def in_studio(self) -> bool:
        """Whether a draft is being edited."""
        return self.stack.currentWidget() is self.studio

    def plan_new(self) -> None:
        """Plan a new example."""
        self.close_studio()
        self._planning = True
        self.show_empty(None)
        self.panels.setCurrentWidget(self.plan)
        self.plan.refresh()
        self.plan.task.setFocus(Qt.FocusReason.OtherFocusReason)

    def open_studio(self, post_edit_id: str) -> None:
        """Edit a draft."""
        self._planning = False
        self.stack.setCurrentWidget(self.studio)
        self._show_head()
        self.studio.open(post_edit_id)

    def close_studio(self) -> None:
        """Back to the list and the drafts."""
        if self.in_studio:
            self.studio.flush()
            self.stack.setCurrentWidget(self.overview)
            self._show_head()
            self._read()
            self.listing.view.setFocus(Qt.FocusReason.OtherFocusReason)

    # -- inside --------------------------------------------------------------------------

    def _show_head(self) -> None:
        """The header's words and controls: the list's, or the studio's."""
        self.new_button.setVisible(not self.in_studio)
        for control in self.studio.head_controls:
            control.setVisible(self.in_studio)
        self._show_title(self.studio.title)
        self._fit_header()

    def _show_title(self, title: str) -> None:
        count = len(self.listing.model.ids)
        self.set_subtitle(title if self.in_studio else f"{count:,}" if count else "")

    def _on_loaded(self) -> None:
        self._show_title(self.studio.title)
        self._bare = self.listing.is_bare
        if self._bare and not self._planning:
            self.show_empty(
                EmptyState(
                    "edit",
                    say("No example in the making"),
                    say(
                        "Here a model drafts an example of a task from your documents. You choose "
                        "among four drafts, correct one beside its evidence, and save it."
                    ),
                    (say("New example"), self.plan_new),
                    (say("Go to Documents"), self._go_documents),
                )
            )
        else:
            self.show_empty(None)

    def _go_documents(self) -> None:
        self.go.emit("documents", None)

    def _on_current(self, request_id: str) -> None:
        if request_id:
            self._planning = False
            self._read()

    def _on_opened(self, request_id: str) -> None:
        view = self._view
        if view is None or view.request.id != request_id:
            return
        if view.post_edit_id:
            self.open_studio(view.post_edit_id)
        elif view.shown:
            self.choose.reader.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_planned(self, request: DraftRequest) -> None:
        self._planning = False
        self._wanted = request.id
        self.runner.start(request.id)
        if not self.listing.view.select_id(request.id):
            self.listing.model.reload()
            self.listing.view.select_id(request.id)

    def _on_runner(self, request_id: str) -> None:
        if self.session.has_workspace and request_id == self.listing.view.current_id:
            self._read()

    def _on_saved(self, example_id: str) -> None:
        self.said.emit(say("Saved as an example. It is on the Examples page."))

    def _read(self) -> None:
        current = self.listing.view.current_id
        if not current or self._planning:
            if not current:
                self.panels.setCurrentWidget(self.plan)
            return
        self._generation += 1
        generation = self._generation

        def take(view: RequestView) -> None:
            # What comes while the window closes is shown to nobody.
            open_ = self.session.has_workspace
            if open_ and generation == self._generation and not self._planning:
                self._show(view)

        run_query(
            self, read_request, self.session.workspace, current, self.session.person_id
        ).success(take)

    def _show(self, view: RequestView) -> None:
        self._view = view
        if not view.shown:
            self.writing.show_request(view)
            self.panels.setCurrentWidget(self.writing)
            return
        self.choose.show_request(view)
        self.panels.setCurrentWidget(self.choose)
