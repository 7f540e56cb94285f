"""From a document to a saved example through the real window, by keys and by mouse, on scripted models;
once on the real default ones."""

# ruff: noqa: F401, F811
from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QFileDialog
from pytestqt.qtbot import QtBot

from app.pages.drafts.page import Page as DraftsPage
from app.pages.drafts.tracked_editor import TrackedEditor
from app.session import make_local_models
from app.windows.main import MainWindow
from core.documents.pdf import write_pdf
from core.examples import queries
from core.examples.post_edit import load_post_edit
from core.people import add_person
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
)
from models.fake import FakeEmbedder, FakeEntailment, FakeGenerator
from tests.app.conftest import demo_file, make_window, open_window
from tests.journeys.hands import Hands, Keyboard, Mouse
from tests.screenshots import fill_studio

OpenWindow = Callable[..., MainWindow]
_PATIENCE = 150_000
CTRL, ALT, SHIFT = (
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.AltModifier,
    Qt.KeyboardModifier.ShiftModifier,
)

NOTES = [
    "# Consultation\n\nIt started on Saturday.\n\n# Subjective\n\nHe takes ramipril 10 mg daily."
    "\n\n# Objective\n\nPulse {pulse}.\n\n# Assessment\n\nAngina.\n\n# Plan\n\nECG today."
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
        # Which four of five drafts are shown, in which order, is drawn anew each time: they differ where
        # nothing below hangs on it.
        return NOTES[0].format(pulse=84 + request.seed % 5)


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


def import_files(window: MainWindow, hands: Hands, files: list[Path]) -> None:
    """Through the dialog, as a person does."""
    hands.go("Documents", Qt.Key.Key_4)
    hands.press("Import files")
    hands.wait(lambda: isinstance(QApplication.activeModalWidget(), QFileDialog))
    hands.type(" ".join(f'"{path}"' for path in files))
    hands.key(Qt.Key.Key_Return)
    hands.wait(lambda: window.session.workspace.count(Document) == len(files))
    hands.wait(lambda: not window.session.jobs.long_jobs)


def open_drafts(window: MainWindow, hands: Hands) -> DraftsPage:
    hands.go("Drafts", Qt.Key.Key_5)
    page = window.work.page("drafts")
    assert isinstance(page, DraftsPage)
    hands.press("New example")
    hands.wait(lambda: page.plan.has_tasks and page.plan.has_documents)
    return page


@pytest.mark.parametrize("kind", [Mouse, Keyboard])
def test_from_documents_to_a_saved_example(
    kind: type[Hands], open_window: OpenWindow, tmp_path: Path, qtbot: QtBot
) -> None:
    hands = kind(qtbot)
    window = open_window(make_models=ScriptedModels)
    workspace = window.session.workspace
    import_files(window, hands, make_files(tmp_path / "in"))

    # The plan: queries are proposed, passages found and looked at, drafts written.
    page = open_drafts(window, hands)
    hands.choose("Task", "SOAP")
    hands.press("Propose queries")
    hands.wait(lambda: "ramipril dose" in page.plan.queries.text)
    hands.press("Find passages")
    hands.wait(lambda: len(page.plan.evidence()) == 2)
    hands.fill("Number of drafts", "5")
    hands.press("Write drafts")
    hands.wait(lambda: page.panels.currentWidget() is page.choose)
    (request,) = workspace.find(DraftRequest)
    assert len(request.shown) == 4 and len(request.evidence) == 2
    assert workspace.count(Draft, "state = 'done'") == 5

    # The second one is rated with three keys and chosen.
    hands.press("Draft B")
    hands.type("423")
    hands.wait(lambda: workspace.count(DraftRating) == 3)
    assert {r.draft_id for r in workspace.find(DraftRating)} == {request.shown[1]}
    hands.press("Choose and edit")
    hands.wait(lambda: page.in_studio and len(page.studio.editors) == 5)
    (post_edit,) = workspace.find(PostEdit)
    assert post_edit.draft_id == request.shown[1]

    # Typed, saved, judged: what no passage says stands out, and the dose that is otherwise.
    studio = page.studio
    editor = studio.editors[1]
    hands.reach("Subjective")
    hands.key(Qt.Key.Key_End, CTRL)
    hands.type(" His brother had a heart attack.")
    hands.wait(lambda: studio.saver.words().startswith("Saved on disk"))
    assert "brother" in load_post_edit(workspace, post_edit.id).texts[1].current
    # Half a sentence may have been judged, too, at a pause in typing.
    hands.wait(
        lambda: (
            [claim.text[-7:] for claims in studio._answer.sections[1:2] for claim in claims]
            == [" daily.", "attack."]
        )
    )
    first, second = studio._answer.sections[1]
    assert (first.verdict, second.verdict) == ("not found", "not found")
    assert any(difference.kind == "dose" for difference in first.differences)
    hands.press(f"not found: {second.text}")
    hands.wait(lambda: editor.selected_text() == second.text)

    # Undo is the workspace's: what was typed goes, and comes again.
    # A pause in typing ends a deed, and a slow machine makes pauses.
    whole = editor.tracked.current
    while "brother" in editor.tracked.current:
        press_and_see(hands, editor, CTRL)
    while editor.tracked.current != whole:
        press_and_see(hands, editor, CTRL | SHIFT)

    # The critique, and what becomes of its point.
    hands.turn_to("Critique")
    hands.press("Ask for a critique")
    hands.wait(lambda: workspace.count(CritiquePoint) == 1)
    (point,) = workspace.find(CritiquePoint)
    hands.press(f"Fixed: {point.text}")
    hands.wait(lambda: workspace.get(CritiquePoint, point.id).state == "fixed")

    # The model edits the sentence at the writing mark; its changes are taken one by one, or not.
    hands.reach("Subjective")
    hands.key(Qt.Key.Key_Home, CTRL)
    hands.press("Edit with the model")
    hands.choose("What to do", "clearer")
    hands.press("Edit")
    hands.wait(lambda: any(change.source == "assistant" for change in editor.changes))
    assert "5 mg of ramipril" in editor.tracked.current
    assert editor.tracked.original == workspace.get(Draft, post_edit.draft_id).sections[1].text
    hands.reach("Subjective")
    hands.key(Qt.Key.Key_Home, CTRL)
    # Into how many changes the model's edit falls is not this test's business.
    while "5 mg of ramipril" in editor.tracked.current:
        decide(hands, editor, lambda: hands.press("Reject"))
    while editor.changes:
        decide(hands, editor, lambda: hands.key(Qt.Key.Key_A, ALT))
    hands.press("Save example")
    hands.wait(lambda: workspace.get(DraftRequest, request.id).state == "saved")
    (example,) = workspace.find(Example, "meta LIKE ?", (f"%{post_edit.id}%",))
    assert example.task_id == request.task_id
    assert "brother had a heart attack" in example.output[0].text
    assert workspace.get(Draft, post_edit.draft_id).text.count("brother") == 0


def press_and_see(hands: Hands, editor: TrackedEditor, held: Qt.KeyboardModifier) -> None:
    """Undo or redo, and wait for the text that comes of it."""
    before = editor.tracked.current
    hands.key(Qt.Key.Key_Z, held)
    hands.wait(lambda: editor.tracked.current != before)


def decide(hands: Hands, editor: TrackedEditor, press: Callable[[], None]) -> None:
    """Take or refuse a change; where the writing mark is in none, the press leads to the next one."""
    count, inside = len(editor.changes), editor.change_at_place()
    press()
    hands.wait(lambda: len(editor.changes) < count or (not inside and editor.change_at_place()))


def test_nothing_is_lost_by_closing_and_twenty_steps_are_undone(
    make_window: OpenWindow, demo_file: Path, qtbot: QtBot
) -> None:
    with Workspace.open(demo_file) as workspace:
        person = workspace.transact_job("Add", "", add_person, "Ann").value.id
        fill_studio(workspace, person)
        (post_edit,) = workspace.find(PostEdit)
        before = load_post_edit(workspace, post_edit.id).revisions
    window = make_window(make_models=ScriptedModels)
    window.open_path(demo_file)
    qtbot.waitUntil(lambda: window.session.has_workspace)
    page = window.work.show_page("drafts")
    assert isinstance(page, DraftsPage)
    page.open_studio(post_edit.id)
    qtbot.waitUntil(lambda: bool(page.studio.editors))
    editor = page.studio.editors[-1]
    texts = [editor.tracked]
    for n in range(21):
        end = len(editor.tracked.text)
        editor.select(end, end)
        qtbot.keyClicks(editor, f" w{n}")
        future = page.studio.flush()
        assert future is not None
        future.result()
        texts.append(editor.tracked)
    window.close()
    with Workspace.open(demo_file) as again:
        assert load_post_edit(again, post_edit.id).revisions == before + 21
        for steps in range(21):
            assert load_post_edit(again, post_edit.id).texts[-1] == texts[-1 - steps]
            undo(again, person)
        assert load_post_edit(again, post_edit.id).texts[-1] == texts[0]


_UNEMBEDDED = (
    "SELECT count(*) FROM passage p WHERE NOT EXISTS"
    " (SELECT 1 FROM passage_vector v WHERE v.n = p.n)"
)


@pytest.mark.models
@pytest.mark.xdist_group("models")
@pytest.mark.timeout(600)
def test_on_the_real_default_models(
    open_window: OpenWindow, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The model is asked everything the journey asks, for few words each time.
    monkeypatch.setattr(queries, "_TOKENS", 32)
    hands = Mouse(qtbot)
    window = open_window(make_models=make_local_models)
    workspace = window.session.workspace
    import_files(window, hands, make_files(tmp_path / "in"))
    # What is found and written must not hang on how far the passages are embedded meanwhile: of some prompts
    # so small a model makes nothing.
    hands.wait(lambda: not workspace.value(_UNEMBEDDED), _PATIENCE)
    page = open_drafts(window, hands)
    hands.choose("Task", "SOAP")
    hands.fill("Number of drafts", "2")
    hands.fill("Longest draft, in tokens", "64")
    hands.press("Write drafts")
    hands.wait(lambda: page.panels.currentWidget() is page.choose, _PATIENCE)
    (request,) = workspace.find(DraftRequest)
    assert request.queries and request.evidence
    drafts = workspace.find(Draft, "state = 'done'")
    assert drafts and all(draft.text and len(draft.recipe["sha256"]) == 64 for draft in drafts)
    hands.press("Choose and edit")
    hands.wait(lambda: page.in_studio and len(page.studio.editors) == 5)
    for editor in page.studio.editors:
        if not editor.tracked.text.strip():
            hands.reach(editor.accessibleName())
            hands.type("Blood pressure 148/92 mmHg, pulse 84 per minute.")
    hands.wait(lambda: page.studio.saver.words().startswith("Saved on disk"))
    hands.wait(
        lambda: any(
            claim.verdict == "supported"
            for section in page.studio._answer.sections
            for claim in section
        ),
        _PATIENCE,
    )
    hands.press("Save example")
    hands.wait(lambda: workspace.count(DraftRequest, "state = 'saved'") == 1)
