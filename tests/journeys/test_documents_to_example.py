"""From a document to a saved example through the real window, by keys and by mouse, on scripted models;
once on the real default ones."""

# ruff: noqa: F401, F811
from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.pages.documents.page import Page as DocumentsPage
from app.pages.drafts.assist import AssistDialog
from app.pages.drafts.page import Page as DraftsPage
from app.session import make_local_models
from app.windows.main import MainWindow
from core.documents.pdf import write_pdf
from core.examples.post_edit import load_post_edit
from core.ports import GenerationRequest
from core.storage import Workspace
from core.storage.undo import undo
from core.types import Example, Task
from core.types.documents import (
    CritiquePoint,
    Document,
    Draft,
    DraftRating,
    DraftRequest,
    PostEdit,
    Revision,
)
from models.fake import FakeEmbedder, FakeEntailment, FakeGenerator
from tests.app.conftest import demo_file, find_dialog, make_window, open_window

OpenWindow = Callable[..., MainWindow]

NOTES = [
    "# Consultation\n\nIt started on Saturday.\n\n# Subjective\n\n{who} takes ramipril 10 mg daily."
    "\n\n# Objective\n\nPulse 84.\n\n# Assessment\n\nAngina.\n\n# Plan\n\nECG today."
]


class Writer(FakeGenerator):
    """Answers each kind of prompt as a model would."""

    def _answer(self, request: GenerationRequest) -> str:
        prompt = request.messages[-1].content
        if "search queries" in prompt:
            return "1. chest pain on exertion\n2. ramipril dose"
        if "faults of the text" in prompt:
            return "1. The dose of ramipril differs from the passage."
        if "Output:" in prompt:
            return "He takes 5 mg of ramipril every morning."
        who = ("He", "The man", "This patient", "Mr Bianchi", "A sailor")[request.seed % 5]
        return NOTES[0].format(who=who)


class ScriptedModels:
    """A machine whose models are scripted."""

    def __init__(self) -> None:
        self.writer = Writer()

    def embedder(self, model_id: str | None = None) -> FakeEmbedder:
        return FakeEmbedder(256)

    def generator(self, model_id: str | None = None) -> FakeGenerator:
        return self.writer

    def entailment(self, model_id: str | None = None) -> FakeEntailment:
        return FakeEntailment()

    def close(self) -> None:
        """Nothing to end."""


def make_files(folder: Path) -> list[Path]:
    import docx

    folder.mkdir()
    pdf, letter = folder / "consultation.pdf", folder / "letter.docx"
    pdf.write_bytes(
        write_pdf(
            [
                [
                    "It started on Saturday, after the walk.",
                    "I take ramipril, 5 mg, in the morning.",
                ],
                ["Blood pressure 148/92 mmHg, pulse 84 per minute."],
            ]
        )
    )
    document = docx.Document()
    document.add_heading("Referral", 1)
    document.add_paragraph("New-onset exertional angina is suspected.")
    document.save(str(letter))
    return [pdf, letter]


def press(qtbot: QtBot, key: Qt.Key, modifier: Qt.KeyboardModifier | None = None) -> None:
    """Press a key where the keyboard is."""
    focused = QApplication.focusWidget()
    assert focused is not None
    qtbot.keyClick(focused, key, modifier or Qt.KeyboardModifier.NoModifier)


def tab_to(qtbot: QtBot, wanted: QWidget, most: int = 120) -> None:
    """Go to a control with Tab alone."""
    visited = []
    for _ in range(most):
        focused = QApplication.focusWidget()
        if focused is wanted:
            return
        visited.append(focused.accessibleName() or type(focused).__name__ if focused else "none")
        press(qtbot, Qt.Key.Key_Tab)
    name = wanted.accessibleName() or type(wanted).__name__
    raise AssertionError(f"Tab never reaches {name}, but goes round {visited}")


def import_files(window: MainWindow, files: list[Path], qtbot: QtBot) -> None:
    window.work.choose("documents")
    page = window.work.page("documents")
    assert isinstance(page, DocumentsPage)
    page.import_paths(files)
    qtbot.waitUntil(lambda: window.session.workspace.count(Document) == len(files))
    qtbot.waitUntil(lambda: not window.session.jobs.long_jobs)


def open_drafts(window: MainWindow, qtbot: QtBot) -> DraftsPage:
    window.work.choose("drafts")
    page = window.work.page("drafts")
    assert isinstance(page, DraftsPage)
    qtbot.waitUntil(lambda: page.listing.model.loaded_once)
    return page


def test_by_keys_alone(open_window: OpenWindow, tmp_path: Path, qtbot: QtBot) -> None:
    window = open_window(make_models=ScriptedModels)
    workspace = window.session.workspace
    import_files(window, make_files(tmp_path / "in"), qtbot)
    page = open_drafts(window, qtbot)
    qtbot.waitUntil(lambda: page.is_empty_shown)
    press(qtbot, Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: page.plan.has_tasks and page.plan.has_documents)
    soap = workspace.find(Task, "objective LIKE '%SOAP%'")[0]
    qtbot.waitUntil(page.plan.task.hasFocus)
    for _ in range(page.plan.task.count()):
        if page.plan.task.value != soap.id:
            press(qtbot, Qt.Key.Key_Down)
    assert page.plan.task.value == soap.id
    tab_to(qtbot, page.plan.write_button)
    press(qtbot, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: page.panels.currentWidget() is page.choose, timeout=15_000)
    request = workspace.find(DraftRequest)[0]
    assert len(request.shown) == 4 and len(request.evidence) >= 2
    assert workspace.count(Draft, "state = 'done'") == 10
    # 1 to 5 rate, one axis after the other; Right goes to the next draft.
    page.listing.view.setFocus()
    tab_to(qtbot, page.choose.letters[0])
    press(qtbot, Qt.Key.Key_J)
    for key in (Qt.Key.Key_4, Qt.Key.Key_2, Qt.Key.Key_3):
        press(qtbot, key)
    qtbot.waitUntil(lambda: workspace.count(DraftRating) == 3)
    assert {r.draft_id for r in workspace.find(DraftRating)} == {request.shown[1]}
    press(qtbot, Qt.Key.Key_E, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(
        lambda: (
            page.in_studio and len(page.studio.editors) == 5 and page.studio.editors[1].isVisible()
        )
    )
    post_edit = workspace.find(PostEdit)[0]
    assert post_edit.draft_id == request.shown[1]
    studio = page.studio
    tab_to(qtbot, studio.editors[1])
    editor = studio.editors[1]
    for _ in range(len(editor.tracked.text)):
        press(qtbot, Qt.Key.Key_Left)
    press(qtbot, Qt.Key.Key_End)
    qtbot.keyClicks(editor, " His brother had a heart attack.")
    qtbot.waitUntil(lambda: studio.saver.words().startswith("Saved on disk"), timeout=5000)
    assert "brother" in load_post_edit(workspace, post_edit.id).texts[1].current
    qtbot.waitUntil(lambda: bool(studio._answer.sections), timeout=30_000)
    verdicts = [claim.verdict for claim in studio._answer.sections[1]]
    assert verdicts == ["not found", "not found"]
    assert any(d.kind == "dose" for d in studio._answer.sections[1][0].differences)
    # Undo is the workspace's: what was typed goes, and comes again.
    press(qtbot, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: "brother" not in editor.tracked.current)
    press(
        qtbot, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    )
    qtbot.waitUntil(lambda: "brother" in editor.tracked.current)
    editor.setFocus()
    press(qtbot, Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier)
    press(qtbot, Qt.Key.Key_A, Qt.KeyboardModifier.AltModifier)
    qtbot.waitUntil(lambda: not editor.changes)
    press(qtbot, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: workspace.count(Example, "meta LIKE ?", (f"%{post_edit.id}%",)) == 1)
    example = workspace.find(Example, "meta LIKE ?", (f"%{post_edit.id}%",))[0]
    assert example.task_id == soap.id
    assert "brother had a heart attack" in example.output[0].text
    assert workspace.get(Draft, post_edit.draft_id).text.count("brother") == 0


def test_by_mouse_with_the_model_and_the_critique(
    open_window: OpenWindow,
    tmp_path: Path,
    qtbot: QtBot,
) -> None:
    window = open_window(make_models=ScriptedModels)
    workspace = window.session.workspace
    import_files(window, make_files(tmp_path / "in"), qtbot)
    page = open_drafts(window, qtbot)
    click = Qt.MouseButton.LeftButton
    qtbot.mouseClick(page._empty.buttons[0], click)  # type: ignore[union-attr]
    qtbot.waitUntil(lambda: page.plan.has_tasks and page.plan.has_documents)
    page.plan.choose_task(workspace.find(Task, "objective LIKE '%SOAP%'")[0].id)
    page.plan.count.setValue(5)
    qtbot.mouseClick(page.plan.propose_button, click)
    qtbot.waitUntil(lambda: "ramipril dose" in page.plan.queries.text)
    qtbot.mouseClick(page.plan.find_button, click)
    qtbot.waitUntil(lambda: len(page.plan.evidence()) == 2)
    qtbot.mouseClick(page.plan.write_button, click)
    qtbot.waitUntil(lambda: page.panels.currentWidget() is page.choose, timeout=15_000)
    qtbot.mouseClick(page.choose.letters[2], click)
    qtbot.mouseClick(page.choose.edit_button, click)
    qtbot.waitUntil(
        lambda: (
            page.in_studio and len(page.studio.editors) == 5 and page.studio.editors[1].isVisible()
        )
    )
    studio = page.studio
    post_edit = workspace.find(PostEdit)[0]
    qtbot.mouseClick(studio.critique.ask, click)
    qtbot.waitUntil(lambda: workspace.count(CritiquePoint) == 1)
    point = workspace.find(CritiquePoint)[0]
    studio.critique.settled.emit(point.id, "fixed")
    qtbot.waitUntil(lambda: workspace.get(CritiquePoint, point.id).state == "fixed")
    editor = studio.editors[1]
    editor.setFocus()
    editor.select(3, 3)
    qtbot.mouseClick(studio.model_button, click)
    dialog = find_dialog(AssistDialog)
    assert isinstance(dialog, AssistDialog)
    dialog.choose("clarity")
    qtbot.mouseClick(dialog.run_button, click)
    qtbot.waitUntil(lambda: bool(editor.changes))
    before = editor.tracked.original
    assert editor.tracked.current == "He takes 5 mg of ramipril every morning."
    assert all(change.source == "assistant" for change in editor.changes)
    qtbot.waitUntil(lambda: workspace.count(Revision) == 1)
    editor.select(editor.changes[0].start, editor.changes[0].start)
    qtbot.mouseClick(studio.reject_button, click)
    studio.decide_all(False)
    qtbot.waitUntil(lambda: editor.tracked.text == before)
    qtbot.mouseClick(studio.save_button, click)
    qtbot.waitUntil(lambda: workspace.get(DraftRequest, post_edit.request_id).state == "saved")


def test_nothing_is_lost_by_closing_and_twenty_steps_are_undone(
    open_window: OpenWindow,
    tmp_path: Path,
    qtbot: QtBot,
) -> None:
    window = open_window(make_models=ScriptedModels)
    workspace = window.session.workspace
    person, path = window.session.person_id, workspace.path
    import_files(window, make_files(tmp_path / "in"), qtbot)
    page = open_drafts(window, qtbot)
    page.plan_new()
    qtbot.waitUntil(lambda: page.plan.has_tasks and page.plan.has_documents)
    page.plan.count.setValue(1)
    page.plan.write()
    qtbot.waitUntil(lambda: page.panels.currentWidget() is page.choose, timeout=15_000)
    page.choose.begin()
    qtbot.waitUntil(lambda: page.in_studio and bool(page.studio.editors))
    post_edit = workspace.find(PostEdit)[0]
    editor = page.studio.editors[-1]
    texts = [editor.tracked]
    for n in range(21):
        end = len(editor.tracked.text)
        editor.select(end, end)
        editor.setFocus()
        qtbot.keyClicks(editor, f" w{n}")
        future = page.studio.flush()
        if future is not None:
            future.result()
        texts.append(editor.tracked)
    window.close()
    with Workspace.open(path) as again:
        for steps in range(21):
            assert load_post_edit(again, post_edit.id).texts[-1] == texts[-1 - steps]
            undo(again, person)


@pytest.mark.models
@pytest.mark.xdist_group("models")
@pytest.mark.timeout(600)
def test_on_the_real_default_models(open_window: OpenWindow, tmp_path: Path, qtbot: QtBot) -> None:
    window = open_window(make_models=make_local_models)
    workspace = window.session.workspace
    import_files(window, make_files(tmp_path / "in"), qtbot)
    page = open_drafts(window, qtbot)
    page.plan_new()
    qtbot.waitUntil(lambda: page.plan.has_tasks and page.plan.has_documents)
    page.plan.choose_task(workspace.find(Task, "objective LIKE '%SOAP%'")[0].id)
    page.plan.count.setValue(2)
    page.plan.length.setValue(64)
    page.plan.write()
    qtbot.waitUntil(lambda: page.panels.currentWidget() is page.choose, timeout=150_000)
    draft = workspace.find(Draft, "state = 'done'", order_by="position")[0]
    assert draft.text and len(draft.recipe["sha256"]) == 64
    page.choose.begin()
    qtbot.waitUntil(lambda: page.in_studio and bool(page.studio.editors))
    qtbot.waitUntil(lambda: bool(page.studio._answer.sections), timeout=60_000)
    for editor in page.studio.editors:
        if not editor.tracked.text.strip():
            editor.replace(0, 0, "Nothing is stated.")
    page.studio.save_example()
    qtbot.waitUntil(lambda: workspace.count(DraftRequest, "state = 'saved'") == 1)
