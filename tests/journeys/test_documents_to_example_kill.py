"""What is told to be saved is there after SIGKILL: told by the core's verb, and by the word in the window."""

# ruff: noqa: F401, F811
from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from core.examples.post_edit import load_post_edit
from core.people import add_person
from core.storage import Workspace
from core.storage.audit import check_chain
from core.storage.undo import undo
from core.types.documents import PostEdit
from tests.app.conftest import demo_file
from tests.conftest import PASSPHRASE
from tests.screenshots import fill_studio

_EDITOR = """
import sys
from pathlib import Path
from core.documents.library import import_documents
from core.editing.tracked import edit
from core.examples.drafting import choose_draft, execute_request, offer_drafts, prepare_request
from core.examples.post_edit import SectionEdit, load_post_edit, post_edit_section, start_post_edit
from core.people import add_person
from core.storage import Workspace
from models.fake import FakeGenerator
from tests.factories import make_task

path, folder = Path(sys.argv[1]), Path(sys.argv[2])
workspace = Workspace.create(path, sys.argv[3])
person = workspace.transact_job("Add", "", add_person, "Ann").value.id
import_documents(workspace, [folder], person)
task = workspace.transact_job("Task", person, make_task).value
long = "The patient coughs. " * int(sys.argv[4])
answer = f"# Transcript\\n\\nx\\n\\n# Subjective\\n\\n{long}\\n\\n# Objective\\n\\nClear."
generator = FakeGenerator([answer], context_tokens=10**9)
request = prepare_request(workspace, task.id, generator, person, queries=("cough",), count=1,
                          params={"max_tokens": 10**7})
execute_request(workspace, request.id, generator)
request = workspace.transact("Offer", person, offer_drafts, request.id).value
workspace.transact("Choose", person, choose_draft, request.id, request.shown[0])
post_edit = workspace.transact("Start", person, start_post_edit, request.id).value
state = load_post_edit(workspace, post_edit.id)
texts, head, n = list(state.texts), "", 0
while True:
    tracked = texts[1]
    place = (0, len(tracked.text), tracked.text.index("coughs.") + 7)[n % 3]
    patch = edit(tracked, place, place, f" note{n}; ", person=person, time="t")
    from core.editing.tracked import apply_patch
    removed = tracked.text[patch.start : patch.start + patch.removed]
    head = workspace.transact("Edit", person, post_edit_section, post_edit.id, head,
                              [SectionEdit(1, removed, patch)], "typed").value
    texts[1] = apply_patch(tracked, patch)
    print(n, person, flush=True)
    n += 1
"""


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
def test_what_was_saved_survives_a_kill(tmp_path: Path) -> None:
    sentences = 2500
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.txt").write_text("The patient coughs since Monday. " * 20)
    path = tmp_path / "w.rifugio"
    process = subprocess.Popen(
        [sys.executable, "-c", _EDITOR, str(path), str(folder), PASSPHRASE, str(sentences)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).resolve().parents[2],
    )
    assert process.stdout is not None
    last, person = -1, ""
    for line in process.stdout:
        number, person = line.split()
        last = int(number)
        if last >= 25:
            process.send_signal(signal.SIGKILL)
            break
    for line in process.stdout:
        last = int(line.split()[0])
    process.stdout.close()
    process.wait()
    with Workspace.open(path, PASSPHRASE) as workspace:
        post_edit = workspace.find(PostEdit)[0]
        tracked = load_post_edit(workspace, post_edit.id).texts[1]
        for n in range(last + 1):
            assert f"note{n};" in tracked.current
        assert tracked.original.count("The patient coughs.") == sentences
        assert check_chain(workspace) == []
        for n in range(last, last - 20, -1):
            assert f"note{n};" in load_post_edit(workspace, post_edit.id).texts[1].current
            undo(workspace, person)
        left = load_post_edit(workspace, post_edit.id).texts[1].current
        assert f"note{last - 20};" in left
        assert f"note{last - 19};" not in left


_WINDOW = """
import os, sys
os.environ["QT_QPA_PLATFORM"] = "offscreen"
import app
from pathlib import Path
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from app import theme
from app.session import Session
from app.windows.main import MainWindow
from core.settings import Settings
from core.types.documents import PostEdit
from tests.app.conftest import NoModels
from tests.event_loop import spin

application = QApplication([])
theme.apply_theme(application, "light", 100)
window = MainWindow(Session(Settings(person="Ann", idle_lock_minutes=0), make_models=NoModels))
window.show()
window.open_path(Path(sys.argv[1]))
while not window.session.has_workspace:
    spin(5)
page = window.work.show_page("drafts")
page.open_studio(window.session.workspace.find(PostEdit)[0].id)
while len(page.studio.editors) != 5:
    spin(5)
editor, number = page.studio.editors[1], 0
end = len(editor.tracked.text)
editor.select(end, end)
while True:
    QTest.keyClicks(editor, f" word{number}.")
    typed = editor.tracked.current
    number += 1
    spin(5)
    saver = page.studio.saver
    if not saver.dirty and saver.words().startswith("Saved on disk"):
        print(typed.count("word"), flush=True)
    elif number % 7 == 0:
        while saver.dirty or not saver.words().startswith("Saved on disk"):
            spin(5)
        print(typed.count("word"), flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
def test_what_the_window_calls_saved_survives_a_kill(demo_file: Path) -> None:
    with Workspace.open(demo_file) as workspace:
        person = workspace.transact_job("Add", "", add_person, "Ann").value.id
        fill_studio(workspace, person)
        before = load_post_edit(workspace, workspace.find(PostEdit)[0].id)
    process = subprocess.Popen(
        [sys.executable, "-c", _WINDOW, str(demo_file)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=Path(__file__).resolve().parents[2],
    )
    assert process.stdout is not None
    saved = 0
    for line in process.stdout:
        saved = int(line)
        if saved > 30:
            process.send_signal(signal.SIGKILL)
            break
    saved = max([saved, *(int(line) for line in process.stdout)])
    process.stdout.close()
    process.wait()
    assert saved > 30
    with Workspace.open(demo_file) as workspace:
        after = load_post_edit(workspace, before.post_edit.id)
        for number in range(saved):
            assert f" word{number}." in after.texts[1].current
        assert after.texts[1].original == before.texts[1].original
        assert after.texts[2:] == before.texts[2:]
        assert check_chain(workspace) == []
        # Undo, after it all, leads back to where it began.
        for _step in range(after.revisions - before.revisions):
            undo(workspace, person)
        assert load_post_edit(workspace, before.post_edit.id).texts == before.texts
