"""A process that post-edits is killed with SIGKILL: all that it was told is saved is there afterwards."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from core.examples.post_edit import load_post_edit
from core.storage import Workspace
from core.storage.audit import check_chain
from core.storage.undo import undo
from core.types.documents import PostEdit
from tests.conftest import PASSPHRASE

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
@pytest.mark.parametrize("sentences", [20, 2500])
def test_what_was_saved_survives_a_kill(tmp_path: Path, sentences: int) -> None:
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
