"""Rubrics: the list, and the items of one, by group."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSplitter, QWidget

from app import theme
from app.operations import run_query, run_verb
from app.pages.base import Page as BasePage
from app.pages.listing import Listing
from app.strings import say
from app.widgets.basics import Card, Scroller, clear_layout, label, line, row
from app.widgets.buttons import Button
from app.widgets.dialogs import choose_files
from app.widgets.empty import EmptyState
from app.widgets.id_table import TableColumn, TableSource
from core.changes import Changes
from core.exchange.demo import fill_demo
from core.exchange.imports import import_records, read_import
from core.rubrics.verbs import rubric_items
from core.types import Rubric, RubricItem

KIND_WORDS = {
    "content": "content",
    "yes_no": "yes or no",
    "one_of": "one of",
    "list": "list",
}

SOURCE = TableSource(
    "rubric r JOIN task t ON t.id = r.task_id",
    columns=(
        TableColumn("title", "Rubric", "r.title", order="r.title COLLATE NOCASE", width=0),
        TableColumn(
            "items",
            "Items",
            "(SELECT count(*) FROM rubric_item i WHERE i.rubric_id = r.id AND i.deleted = 0)",
            width=6,
            right=True,
        ),
    ),
    id="r.id",
    where="r.deleted = 0",
    search=("r.title", "t.objective"),
    kinds=("rubric", "rubric_item"),
)


class Page(BasePage):
    """List at the left, items at the right."""

    name = "rubrics"
    title = "Rubrics"
    kinds = ("rubric", "rubric_item")

    def build(self) -> None:
        self._wanted = ""
        self.import_button = Button(say("Import rubrics"), "primary", icon="import")
        self.import_button.clicked.connect(self.show_import)
        self.actions.addWidget(self.import_button)
        self.listing = Listing(
            self.session, SOURCE, say("Rubrics"), say("Search rubrics and tasks"), self
        )
        self.listing.view.current_changed.connect(self._show)
        self.listing.model.loaded.connect(self._on_loaded)
        self.card = Card(say("Items"))
        self.items = Scroller()
        self.card.add(self.items, 1)
        splitter = QSplitter(Qt.Orientation.Horizontal)
        splitter.setChildrenCollapsible(False)
        splitter.addWidget(self.listing)
        splitter.addWidget(self.card)
        splitter.setStretchFactor(0, 2)
        splitter.setStretchFactor(1, 5)
        splitter.setSizes([theme.current().px(width) for width in (360, 900)])
        self.body.addWidget(splitter, 1)

    def refresh(self, changes: Changes | None) -> None:
        self.listing.model.apply_changes(changes)
        if self.listing.view.current_id:
            self._show(self.listing.view.current_id)

    def place(self) -> dict[str, Any]:
        return {"rubric": self.listing.view.current_id or self._wanted}

    def restore(self, place: dict[str, Any]) -> None:
        self._wanted = str(place.get("rubric", ""))
        self.listing.view.select_id(self._wanted)

    def first_focus(self) -> QWidget | None:
        return self.listing.view

    def show_import(self) -> None:
        """Import rubrics from a JSONL file; each names its task."""
        choose_files(
            self,
            say("Import rubrics"),
            say("Rubrics (*.jsonl *.json);;All files (*)"),
            lambda paths: run_query(self, read_import, paths[0], "rubrics").success(
                lambda found: run_verb(
                    self,
                    say("Import {name}", name=paths[0].name),
                    import_records,
                    paths[0].name,
                    "rubrics",
                    found[0],
                ).success(self._imported)
            ),
        )

    def _imported(self, outcome: Any) -> None:
        report = outcome.value
        self.said.emit(
            say(
                "{count} rubrics imported, {skipped} records left out",
                count=report.added.get("rubric", 0),
                skipped=len(report.skipped),
            )
        )

    def _on_loaded(self) -> None:
        count = len(self.listing.model.ids)
        self.set_subtitle(f"{count:,}" if count else "")
        if not self.listing.is_bare:
            self.show_empty(None)
            return
        self.show_empty(
            EmptyState(
                "rubrics",
                say("No rubrics yet"),
                say(
                    "A rubric lists what an expert looks for in the outputs of a task, item by item, "
                    "so that two texts can be compared without judging them as a whole."
                ),
                (say("Import rubrics"), self.show_import),
                (say("Add the sample"), lambda: run_verb(self, say("Add the sample"), fill_demo)),
            )
        )

    def _show(self, rubric_id: str) -> None:
        if not rubric_id:
            clear_layout(self.items.box)
            return
        workspace = self.session.workspace

        def read() -> tuple[Rubric, list[RubricItem]]:
            return workspace.get(Rubric, rubric_id), rubric_items(workspace, rubric_id)

        def take(found: tuple[Rubric, list[RubricItem]]) -> None:
            if found[0].id == self.listing.view.current_id:
                self._fill(*found)

        run_query(self, read).success(take)

    def _fill(self, rubric: Rubric, items: Sequence[RubricItem]) -> None:
        clear_layout(self.items.box)
        self.card.set_title(rubric.title, say("{count} items", count=len(items)))
        number = 0
        for group, members in groupby(items, key=lambda item: item.group):
            if group:
                self.items.box.addWidget(label(group, "heading"))
            for item in members:
                number += 1
                self.items.box.addWidget(self._item(number, item))
        self.items.box.addStretch(1)

    def _item(self, number: int, item: RubricItem) -> QWidget:
        shown = Card()
        title = label(f"{number}. {item.title}", "strong", wrap=True)
        kind = label(say(KIND_WORDS[item.kind]), "pill")
        header = row(title, kind)
        header.setStretch(0, 1)
        header.setAlignment(kind, Qt.AlignmentFlag.AlignTop)
        shown.add(header)
        if item.description:
            shown.add(label(item.description, wrap=True))
        if item.condition:
            shown.add(line())
            shown.add(label(say("Condition: {words}", words=item.condition), "muted", wrap=True))
        if item.example:
            shown.add(label(say("For example: {words}", words=item.example), "muted", wrap=True))
        return shown
