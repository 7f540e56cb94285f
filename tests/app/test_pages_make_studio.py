"""The studio: very long texts, changes of others, notes and time."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.pages.drafts.page import Page
from app.pages.drafts.studio import Studio
from app.pages.drafts.studio_support import _begin_before
from app.pages.drafts.tracked_editor import LongEditor
from app.windows.main import MainWindow
from core.editing.tracked import edit
from core.examples.post_edit import SectionEdit, load_post_edit, post_edit_section
from core.people import add_person
from core.storage import Workspace
from core.types import SectionText
from core.types.documents import ChangeNote, Draft, PostEdit
from tests.app.test_pages_make_documents import FakeModels
from tests.screenshots import fill_studio

Make = Callable[..., MainWindow]


@pytest.fixture
def open_studio(make_window: Make, demo_file: Path, qtbot: QtBot) -> Callable[..., Studio]:
    """Opens the studio on a post-edit with one change; ``longer`` makes its last section long."""

    def open_(longer: int = 0) -> Studio:
        with Workspace.open(demo_file) as workspace:
            person = workspace.transact_job("Add", "", add_person, "Ann").value.id
            fill_studio(workspace, person)
            if longer:
                post_edit = workspace.find(PostEdit)[0]
                draft = workspace.get(Draft, post_edit.draft_id)
                body = "The patient coughs at night.\n" * (longer // 29)
                sections = (*draft.sections[:-1], SectionText(title="Plan", text=body))

                def lengthen(tx) -> None:  # type: ignore[no-untyped-def]
                    tx.update(Draft, draft.id, sections=sections)

                workspace.transact_job("Lengthen", "", lengthen)
        window = make_window(make_models=FakeModels)
        window.open_path(demo_file)
        qtbot.waitUntil(lambda: window.session.has_workspace)
        page = window.work.show_page("drafts")
        assert isinstance(page, Page)
        page.open_studio(window.session.workspace.find(PostEdit)[0].id)
        qtbot.waitUntil(lambda: len(page.studio.editors) == 5, timeout=10_000)
        return page.studio

    return open_


def test_typing_in_a_megabyte_does_not_lag(
    open_studio: Callable[..., Studio], qtbot: QtBot
) -> None:
    studio = open_studio(1_000_000)
    editor = studio.editors[-1]
    assert isinstance(editor, LongEditor)
    assert len(editor.tracked.text) > 900_000
    editor.setFocus()
    editor.select(500_000, 500_000)
    waits = []
    for letter in " more of the same":
        started = time.thread_time()
        qtbot.keyClick(editor, letter)
        waits.append(time.thread_time() - started)
    # The time that this thread worked: how busy the machine is says nothing of the editor.
    assert sorted(waits)[len(waits) // 2] < 0.05
    qtbot.waitUntil(lambda: studio.saver.words().startswith("Saved on disk"), timeout=8000)
    state = load_post_edit(studio.session.workspace, studio.post_edit_id)
    assert state.texts[-1] == editor.tracked


def test_what_is_judged_of_a_long_text_begins_at_a_line_or_a_sentence() -> None:
    line = "A line of forty characters stands here..\n"
    assert _begin_before(line * 1000, 20_000) % len(line) == 0
    paragraph = "One sentence that has some fifty characters in it. " * 1000
    begin = _begin_before(paragraph, 30_000)
    assert 29_000 < begin <= 30_000 and paragraph[begin - 2 : begin] == ". "
    assert _begin_before("x" * 50_000, 30_000) == 24_000
    assert _begin_before(paragraph, 0) == 0


def test_what_another_wrote_is_shown_and_not_overwritten(
    open_studio: Callable[..., Studio], qtbot: QtBot
) -> None:
    studio = open_studio()
    workspace = studio.session.workspace
    post_edit = workspace.get(PostEdit, studio.post_edit_id)
    text = load_post_edit(workspace, post_edit.id).texts[4]
    patch = edit(text, 0, 0, "Bob: ", person="bob", time="2026-01-01T09:00:00.000Z")
    workspace.transact(
        "Edit",
        "",
        post_edit_section,
        post_edit.id,
        post_edit.head,
        [SectionEdit(4, "", patch)],
        "typed",
    )
    qtbot.waitUntil(lambda: studio.editors[4].tracked.current.startswith("Bob: "))
    studio.editors[4].setFocus()
    qtbot.keyClicks(studio.editors[4], "Ann: ")
    qtbot.waitUntil(lambda: studio.saver.words().startswith("Saved on disk"), timeout=5000)
    now = load_post_edit(workspace, post_edit.id).texts[4]
    assert "Bob: " in now.current and "Ann: " in now.current


def test_types_and_comments_are_kept(open_studio: Callable[..., Studio], qtbot: QtBot) -> None:
    studio = open_studio()
    workspace = studio.session.workspace
    studio.tabs.setCurrentWidget(studio.changes)
    qtbot.waitUntil(lambda: studio.changes.list.count() == 1)
    studio.changes.list.setCurrentRow(0)
    assert studio.changes.type.value == "update"
    studio.changes.type.choose("stylistic")
    studio.changes.confirm.click()
    qtbot.waitUntil(lambda: workspace.count(ChangeNote, "edit_type = 'stylistic'") == 1)
    studio.changes.comment.setText("See the letter.")
    studio.changes.comment.editingFinished.emit()
    qtbot.waitUntil(lambda: workspace.count(ChangeNote, "comment = 'See the letter.'") == 1)
    qtbot.waitUntil(lambda: "See the letter." in studio.changes.list.item(0).text())


def test_a_claim_leads_to_its_passage(open_studio: Callable[..., Studio], qtbot: QtBot) -> None:
    studio = open_studio()
    qtbot.waitUntil(lambda: bool(studio._answer.sections), timeout=90_000)
    section = next(n for n, claims in enumerate(studio._answer.sections) if claims)
    studio.support.chosen.emit(section, 0)
    assert studio.editors[section].textCursor().hasSelection()
    claim = studio._answer.sections[section][0]
    passage = studio.evidence.sections[claim.passage].text
    assert studio.evidence._marks[0].start == claim.window_start
    assert passage[claim.window_start : claim.window_end].strip()


def test_time_at_work_is_counted(open_studio: Callable[..., Studio], qtbot: QtBot) -> None:
    studio = open_studio()
    workspace = studio.session.workspace
    studio._last_key = time.monotonic() - 30
    studio.editors[1].setFocus()
    qtbot.keyClick(studio.editors[1], Qt.Key.Key_A)
    studio.flush()
    qtbot.waitUntil(lambda: workspace.get(PostEdit, studio.post_edit_id).seconds >= 30)


def test_the_drafts_say_which_was_chosen_and_lead_back_to_it(
    open_studio: Callable[..., Studio], qtbot: QtBot
) -> None:
    studio = open_studio()
    page = studio.parentWidget()
    while not isinstance(page, Page):
        page = page.parentWidget()
    qtbot.waitUntil(lambda: page.subtitle_label.full_text.endswith("draft A"))
    assert studio.save_button.isVisible() and not page.new_button.isVisible()
    studio.back_button.click()
    qtbot.waitUntil(lambda: page.choose.isVisible() and page.choose.draft_id != "")
    assert page.listing.view.hasFocus()
    assert page.choose.letters[0].text() == "A ✓"
    assert "saved as an example" in page.choose.hint.text()
    assert page.choose.edit_button.text() == "Go on editing"
    page.choose.show_draft(1)
    assert page.choose.edit_button.text() == "Choose and edit"
    page.listing.view.opened.emit(page.listing.view.current_id)
    assert page.in_studio and page.subtitle_label.full_text.endswith("draft A")
