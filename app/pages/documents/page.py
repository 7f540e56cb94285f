"""Documents: taken in by dialog, folder or drop; shown page by page; searched by words and meaning."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QResizeEvent
from PySide6.QtWidgets import QSplitter, QTabWidget, QWidget

from app import theme
from app.operations import run_job, run_query, run_verb
from app.pages.base import Command
from app.pages.base import Page as BasePage
from app.pages.documents.dialogs import DetailsDialog, ReportDialog
from app.pages.documents.search_panel import SearchPanel
from app.pages.documents.viewer import DocumentViewer
from app.pages.documents.work import count_unembedded, embed_all
from app.pages.listing import Listing
from app.strings import count_of, format_number, say
from app.widgets.buttons import Button
from app.widgets.dialogs import choose_files, choose_folder
from app.widgets.empty import EmptyState
from app.widgets.id_table import TableColumn, TableSource
from core.changes import Changes
from core.documents.library import LibraryReport, delete_document, import_documents
from core.documents.search import Hit
from core.ports import Cancellation, ProgressCallback
from core.storage.workspace import Workspace

SOURCE = TableSource(
    "document d",
    columns=(
        TableColumn("title", "Document", "d.title", order="d.title COLLATE NOCASE", width=0),
        TableColumn(
            "pages",
            "Pages",
            "d.pages",
            order="d.pages",
            width=6,
            right=True,
            text=lambda n: format_number(n or 0),
        ),
    ),
    id="d.id",
    where="d.deleted = 0",
    search=("d.title", "d.file"),
    kinds=("document",),
)
#: Narrower than this there are two columns.
_COMPACT_BELOW = 900
#: So wide at least, for titles to be told apart.
_LEAST_LIST = 230
_FILTER = "PDF, DOCX, HTML, Markdown, text (*.pdf *.docx *.html *.htm *.md *.markdown *.txt)"


class Page(BasePage):
    """List, the document, the search."""

    name = "documents"
    title = "Documents"
    kinds = ("document", "field")

    def build(self) -> None:
        self._wanted: dict[str, Any] = {}
        self._embedding = False
        self.setAcceptDrops(True)
        keys = self.session.shortcuts
        self.details_button = Button(say("Details"), icon="info")
        self.details_button.clicked.connect(self.show_details)
        self.folder_button = Button(say("Import a folder"), icon="open")
        self.folder_button.clicked.connect(self.choose_folder)
        self.import_button = Button(
            say("Import files"), "primary", icon="import", shortcuts=keys, action="documents.import"
        )
        self.import_button.clicked.connect(self.choose_files)
        for button in (self.details_button, self.folder_button, self.import_button):
            self.action_row.addWidget(button)
        self.listing = Listing(self.session, SOURCE, say("Documents"), say("Search titles"), self)
        self.listing.setMinimumWidth(theme.current().px(_LEAST_LIST))
        self.listing.view.current_changed.connect(self._show)
        self.listing.model.loaded.connect(self._on_loaded)
        self.viewer = DocumentViewer(self.session)
        self.listing.view.opened.connect(lambda _id: self.viewer.text.setFocus())
        self.search = SearchPanel(self.session)
        self.search.chosen.connect(self._show_hit)
        self.tabs = QTabWidget()
        self.tabs.setAccessibleName(say("Documents and search"))
        self.tabs.hide()
        self.splitter = QSplitter(Qt.Orientation.Horizontal)
        self.splitter.setChildrenCollapsible(False)
        self.splitter.setHandleWidth(theme.M)
        for part in (self.listing, self.viewer, self.search):
            self.splitter.addWidget(part)
        self._compact = False
        self._share_room()
        self.body.addWidget(self.splitter, 1)

    def _share_room(self) -> None:
        widths = (280, 520) if self._compact else (280, 560, 320)
        for place, share in enumerate((3, 5) if self._compact else (2, 5, 3)):
            self.splitter.setStretchFactor(place, share)
        self.splitter.setSizes([theme.current().px(width) for width in widths])

    def _set_compact(self, compact: bool) -> None:
        """Where there is no room for three columns, list and search are tabs of one."""
        if compact == self._compact:
            return
        self._compact = compact
        if compact:
            self.tabs.addTab(self.listing, say("List"))
            self.tabs.addTab(self.search, say("Search"))
            self.splitter.insertWidget(0, self.tabs)
            self.tabs.show()
        else:
            while self.tabs.count():
                self.tabs.removeTab(0)
            self.tabs.hide()
            self.tabs.setParent(self)
            self.splitter.insertWidget(0, self.listing)
            self.splitter.insertWidget(2, self.search)
            self.listing.show()
            self.search.show()
        self._share_room()

    def refresh(self, changes: Changes | None) -> None:
        self.listing.model.apply_changes(changes)
        if changes is None:
            self.search.refresh()
            self._start_embedding()

    def place(self) -> dict[str, Any]:
        return {"document": self.viewer.document_id, "page": self.viewer.page}

    def restore(self, place: dict[str, Any]) -> None:
        document = str(place.get("document", ""))
        if not document:
            return
        self._wanted = dict(place)
        self.listing.view.select_id(document)
        if self.viewer.document_id == document:
            self._show(document)

    def commands(self) -> Sequence[Command]:
        return [
            Command(say("Import files"), self.choose_files, "", self.title),
            Command(say("Import a folder"), self.choose_folder, "", self.title),
            Command(say("Search passages"), self.go_to_search, "", self.title),
            Command(say("Delete the document"), self.delete_current, "", self.title),
        ]

    def first_focus(self) -> QWidget | None:
        return self.import_button if self.is_empty_shown else self.listing.view

    # -- what the person does ------------------------------------------------------------

    def choose_files(self) -> None:
        """Let the person choose files to import."""
        choose_files(
            self,
            say("Import documents"),
            say(_FILTER) + ";;" + say("All files (*)"),
            self.import_paths,
            many=True,
        )

    def choose_folder(self) -> None:
        """Let the person choose a folder to import with all that is in it."""
        choose_folder(self, say("Import a folder"), self.import_paths)

    def import_paths(self, paths: list[Path]) -> None:
        """Import files and folders in the background."""
        run_job(
            self,
            say("Importing documents"),
            _import,
            self.session.workspace,
            self.session.person_id,
            paths,
            noun="bytes",
        ).success(self._imported)

    def go_to_search(self) -> None:
        """Put the keyboard on the search of passages."""
        if self._compact:
            self.tabs.setCurrentWidget(self.search)
        self.search.field.setFocus(Qt.FocusReason.OtherFocusReason)

    def show_details(self) -> None:
        """What is known of the document shown; its title and field can be changed there."""
        if self.viewer.document_id:
            DetailsDialog(self, self.viewer.document_id).open()

    def delete_current(self) -> None:
        """Delete the document shown; undo brings it back."""
        if self.viewer.document_id:
            run_verb(self, say("Delete document"), delete_document, self.viewer.document_id)
        else:
            self.said.emit(say("There is no document to delete."))

    # -- inside --------------------------------------------------------------------------

    def _imported(self, report: LibraryReport) -> None:
        words = say("{documents} imported", documents=count_of(
            len(report.added), say("document"), say("documents")))  # fmt: skip
        if report.stopped:
            words = say("Stopped; {words} before that", words=words)
        if report.failed or report.known or report.notes:
            ReportDialog(self, words, report).open()
        else:
            self.said.emit(words)
        if report.added:
            self.listing.view.select_id(report.added[0].id)
            self._wanted = {"document": report.added[0].id, "page": 1}
        self._start_embedding()

    def _start_embedding(self) -> None:
        run_query(self, count_unembedded, self.session.workspace, self.session.models).success(
            self._embed
        )

    def _embed(self, missing: int) -> None:
        if not missing or self._embedding:
            return
        self._embedding = True
        run_job(
            self,
            say("Preparing the search"),
            embed_all,
            self.session.workspace,
            self.session.models,
            noun=say("passages"),
        ).success(lambda _count: self.search.refresh()).end(self._embedded)

    def _embedded(self) -> None:
        self._embedding = False

    def _on_loaded(self) -> None:
        count = len(self.listing.model.ids)
        self.set_subtitle(f"{count:,}" if count else "")
        self.details_button.setEnabled(bool(count))
        if self.listing.is_bare:
            self.viewer.clear()
            self.show_empty(
                EmptyState(
                    "documents",
                    say("No documents yet"),
                    say(
                        "Documents are what examples are made from: PDF, Word, web pages or text of "
                        "your field. Drop them here. They are kept in the workspace, encrypted as it is."
                    ),
                    (say("Import files"), self.choose_files),
                    (say("Import a folder"), self.choose_folder),
                )
            )
        else:
            self.show_empty(None)

    def _show(self, document_id: str) -> None:
        self.search.current_document = document_id
        if not document_id:
            self.viewer.clear()
            return
        page = self._wanted.get("page", 1) if self._wanted.get("document") == document_id else 1
        span = self._wanted.get("span") if self._wanted.get("document") == document_id else None
        self._wanted = {}
        self.viewer.show_document(
            document_id, page=int(page), span=(span[0], span[1]) if span else None
        )

    def _show_hit(self, hit: Hit) -> None:
        passage = hit.passage
        span = (passage.start + hit.start, passage.start + (hit.end or len(passage.text)))
        if self.listing.view.current_id != passage.document_id:
            self._wanted = {"document": passage.document_id, "page": 0, "span": span}
            if not self.listing.view.select_id(passage.document_id):
                self.listing.search.clear()
        else:
            self.viewer.show_document(passage.document_id, page=0, span=span)

    # -- Qt ------------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._set_compact(event.size().width() < theme.current().px(_COMPACT_BELOW))

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        paths = [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
        if paths:
            event.acceptProposedAction()
            self.import_paths(paths)


def _import(
    workspace: Workspace,
    person: str,
    paths: list[Path],
    *,
    progress: ProgressCallback,
    cancel: Cancellation,
) -> LibraryReport:
    return import_documents(workspace, paths, person, progress=progress, cancel=cancel)
