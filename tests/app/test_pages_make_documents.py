"""The Documents page through the real window: import, show, search, drop, details."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from app.pages.documents.dialogs import DetailsDialog, ReportDialog
from app.pages.documents.page import Page
from app.windows.main import MainWindow
from core.documents.pdf import write_pdf
from core.types.documents import Document
from models.fake import FakeEmbedder, FakeEntailment, FakeGenerator
from tests.app.conftest import find_dialog
from tests.bad_documents import BAD_FILES, write_bad_files

OpenWindow = Callable[..., MainWindow]


class FakeModels:
    """A machine whose models are scripted."""

    def embedder(self, model_id: str | None = None) -> FakeEmbedder:
        return FakeEmbedder(256)

    def generator(self, model_id: str | None = None) -> FakeGenerator:
        return FakeGenerator()

    def entailment(self, model_id: str | None = None) -> FakeEntailment:
        return FakeEntailment()

    def close(self) -> None:
        """Nothing to end."""


@pytest.fixture
def page(open_window: OpenWindow, qtbot: QtBot) -> Page:
    window = open_window(make_models=FakeModels)
    window.work.choose("documents")
    found = window.work.page("documents")
    assert isinstance(found, Page)
    qtbot.waitUntil(lambda: found.listing.model.loaded_once)
    return found


def fill(page: Page, folder: Path, qtbot: QtBot) -> None:
    (folder / "heart.pdf").write_bytes(
        write_pdf([["Contents of the book."], ["Angina is chest pain on exertion."]])
    )
    (folder / "lung.txt").write_text("Cough with fever: think of pneumonia.")
    page.import_paths([folder])
    qtbot.waitUntil(lambda: len(page.listing.model.ids) == 2)
    qtbot.waitUntil(lambda: not page.session.jobs.long_jobs)


def test_an_empty_page_says_what_it_is_for(page: Page) -> None:
    assert page.is_empty_shown
    assert [b.text() for b in page._empty.buttons] == ["Import files", "Import a folder"]  # type: ignore[union-attr]


def test_a_hit_opens_its_page_with_the_passage_marked(
    page: Page, tmp_path: Path, qtbot: QtBot
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    fill(page, folder, qtbot)
    page.listing.view.select_id(page.listing.model.ids[1])
    page.search.field.setFocus()
    qtbot.keyClicks(page.search.field, "angina exertion")
    qtbot.waitUntil(lambda: bool(page.search.hits))
    assert page.search.hits[0].document == "heart"
    qtbot.keyClick(page.search.field, Qt.Key.Key_Down)
    page.search.results.setCurrentRow(0)
    qtbot.waitUntil(lambda: page.viewer._leaf is not None and page.viewer._leaf.marked is not None)
    leaf = page.viewer._leaf
    assert leaf is not None and leaf.drawn is not None and leaf.boxes
    # The passage begins on page 1 and goes on to page 2.
    page.viewer.turn(1)
    qtbot.waitUntil(lambda: page.viewer.page == 2)
    assert "Angina" in page.viewer.image.accessibleDescription()
    page.viewer.as_text.setChecked(True)
    assert "Angina" in page.viewer.text.toPlainText()


def test_dropped_files_come_in_and_bad_ones_are_told(
    page: Page, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = QMimeData()
    files = write_bad_files(tmp_path / "in", monkeypatch)
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in files])
    page.dropEvent(
        QDropEvent(
            QPointF(5, 5),
            Qt.DropAction.CopyAction,
            data,
            Qt.MouseButton.LeftButton,
            Qt.KeyboardModifier.NoModifier,
        )
    )
    qtbot.waitUntil(lambda: find_dialog(ReportDialog) is not None)
    dialog = find_dialog(ReportDialog)
    assert isinstance(dialog, ReportDialog)
    texts = [child.text() for child in dialog.findChildren(QLabel)]
    assert "2 documents imported" in texts
    # Each of them has one line, which begins with its name and says what to do.
    for name, (_data, words) in BAD_FILES.items():
        (line,) = [text for text in texts if name in text]
        assert line.startswith(f"{name}: {words}") and "\n" not in line
        assert line.count(". ") == 1 and line.endswith(".")
    assert not any(str(tmp_path) in text for text in texts)
    dialog.accept()
    qtbot.waitUntil(lambda: page.session.workspace.count(Document) == 2)


def test_details_change_title_field_and_passages(page: Page, tmp_path: Path, qtbot: QtBot) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    fill(page, folder, qtbot)
    qtbot.waitUntil(lambda: bool(page.viewer.document_id))
    document_id = page.viewer.document_id
    page.show_details()
    dialog = find_dialog(DetailsDialog)
    assert isinstance(dialog, DetailsDialog)
    qtbot.waitUntil(dialog.save_button.isEnabled)
    dialog.name.setText("The heart")
    dialog.field.setEditText("Cardiology")
    dialog.window_box.setValue(200)
    dialog.overlap_box.setValue(10)
    dialog.save_button.click()
    qtbot.waitUntil(lambda: page.session.workspace.get(Document, document_id).title == "The heart")
    document = page.session.workspace.get(Document, document_id)
    assert document.field_id and document.window == 200
    qtbot.waitUntil(lambda: find_dialog(DetailsDialog) is None)
    page.delete_current()
    qtbot.waitUntil(lambda: len(page.listing.model.ids) == 1)
