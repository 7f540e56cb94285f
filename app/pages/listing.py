"""The left side of pages that show one of many: a search over a list by ids."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.session import Session
from app.widgets.basics import Card, label
from app.widgets.id_table import IdTableModel, TableSource
from app.widgets.id_view import IdTableView
from app.widgets.inputs import SearchField


class Listing(Card):
    """A card with a search field, the list, and how many there are."""

    def __init__(
        self, session: Session, source: TableSource, name: str, search: str, parent: QWidget
    ) -> None:
        super().__init__(parent=parent)
        self.model = IdTableModel(session, source)
        self.search = SearchField(search)
        self.view = IdTableView(self.model, name)
        self.count = label("", "small")
        self.add(self.search)
        self.add(self.view, 1)
        self.add(self.count)
        self.search.searched.connect(self.model.set_search)
        self.search.left_down.connect(self.view.setFocus)
        self.model.loaded.connect(self._on_loaded)

    @property
    def is_bare(self) -> bool:
        """Loaded, and nothing there even without a search."""
        return self.model.loaded_once and not self.model.ids and not self.model.searching

    def _on_loaded(self) -> None:
        count = len(self.model.ids)
        self.count.setText(f"{count:,} found" if self.model.searching else f"{count:,} in all")
        if count and not self.view.current_id:
            self.view.select_id(self.model.ids[0])
