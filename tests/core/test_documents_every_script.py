"""From a file to an exported and re-imported example in every script: places and texts agree throughout."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from core.documents.library import document_text, import_documents, passages_of
from core.editing.tracked import accept, apply_patch, reject
from core.examples.drafting import choose_draft, execute_request, offer_drafts, prepare_request
from core.examples.grounding import ground_text
from core.examples.post_edit import load_post_edit, save_as_example, start_post_edit
from core.examples.statistics import export_studied
from core.exchange.imports import import_records, read_import
from core.people import add_person
from core.storage import Workspace
from core.types import Example
from core.types.documents import Document
from models.fake import FakeEmbedder, FakeEntailment, FakeGenerator
from tests.core.test_drafts import edit_once
from tests.core.test_drafts_statistics import make_task_like
from tests.factories import make_task

FIREMAN = "👨🏻\u200d🚒"
CASES = {
    "emoji": (f"{FIREMAN} 💩 {FIREMAN} marked the dose: 5 mg daily.", "5", "10", "utf-8-sig"),
    "emoji beside": (f"💩marked {FIREMAN}word is here.", "marked", f"marked{FIREMAN}", "utf-16"),
    "arabic": ("المريض يأخذ 10 ملغ من Ramipril كل صباح.", "Ramipril", "Bisoprolol ٥", "utf-8"),
    "arabic digits": ("الجرعة ١٠ ملغ Ramipril يوميا.", "١٠", "٢٠", "utf-16"),
    "accents": (
        "Le cafe\u0301 e\u0301te\u0301 a\u0300 37,5 °C.",
        "e\u0301te\u0301",
        "hiver",
        "utf-8",
    ),
    "crlf": ("First line here.\r\nSecond line: 40 mg.\r\nThird.", "40", "80", "utf-16-le"),
}


@pytest.mark.parametrize("case", CASES)
def test_places_and_texts_agree_from_file_to_reimport(
    case: str, workspace: Workspace, tmp_path: Path
) -> None:
    written, old, new, encoding = CASES[case]
    text = written.replace("\r\n", "\n")
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.txt").write_bytes(("\r\n".join([written] * 12)).encode(encoding))
    person = workspace.transact_job("Add", "", add_person, "Ann").value.id
    report = import_documents(workspace, [folder], person, window=230, overlap=30)
    assert not report.failed

    # The document: line ends are LF, and every passage stands where it says.
    whole, _starts = document_text(workspace, report.added[0].id)
    assert whole == "\n".join([text] * 12)
    for passage in passages_of(workspace, report.added[0].id):
        assert whole[passage.start : passage.end] == passage.text
    task = workspace.transact_job("Task", person, make_task).value
    request = prepare_request(
        workspace,
        task.id,
        FakeGenerator([]),
        person,
        embedder=FakeEmbedder(),
        queries=(text,),
        count=1,
    )
    answer = (
        f"# Transcript\r\n\r\n{written}\r\n\r\n# Subjective\n\n{written}\n\n# Objective\n\nNone."
    )
    execute_request(workspace, request.id, FakeGenerator([answer]))
    request = workspace.transact("Offer", person, offer_drafts, request.id).value
    workspace.transact("Choose", person, choose_draft, request.id, request.shown[0])
    post_edit = workspace.transact("Start", person, start_post_edit, request.id).value
    assert load_post_edit(workspace, post_edit.id).texts[1].text == text

    # The change: whole words, in the places it says, and nothing else.
    edit_once(workspace, post_edit.id, person, 1, old, new)
    state = load_post_edit(workspace, post_edit.id)
    tracked = state.texts[1]
    assert tracked.original == text
    assert tracked.current == text.replace(old, new, 1)
    ((section, change),) = state.changes
    assert section == 1 and tracked.text[change.start : change.end] == change.before + change.after
    assert (
        text[: change.start] + change.after == tracked.current[: change.start + len(change.after)]
    )
    for decide, wanted in ((accept, tracked.current), (reject, tracked.original)):
        patch = decide(tracked, change.id)
        assert patch is not None and apply_patch(tracked, patch).text == wanted

    # The support view: sentences and the passage's windows are stretches of what is shown.
    for claim in ground_text(tracked.current, request.evidence, FakeEntailment()):
        assert tracked.current[claim.start : claim.end] == claim.text
        source = request.evidence[claim.passage]
        place = source.start + claim.window_start
        shown = source.text[claim.window_start : claim.window_end]
        assert shown and whole[place : place + len(shown)] == shown

    # The file: the same texts, and evidence that can be found again by place and by hash.
    workspace.transact("Save", person, save_as_example, post_edit.id)
    path = tmp_path / "out.jsonl"
    export_studied(workspace, path)
    record = json.loads(path.read_bytes().decode("utf-8"))
    assert record["output"][0]["text"] == tracked.current
    assert record["draft"][1]["text"] == text
    (edited,) = record["edits"]
    assert (edited["before"], edited["after"]) == (change.before, change.after)
    for item in record["evidence"]:
        assert whole[item["start"] : item["end"]] == item["text"]
        assert hashlib.sha256(item["text"].encode()).hexdigest() == item["sha256"]

    # Taken back elsewhere, and once more from there: nothing is lost on either way.
    found, _format = read_import(path, "examples")
    with Workspace.create(tmp_path / "other.rifugio", None) as other:
        make_task_like(other, task.id)
        report = other.transact("Import", "", import_records, "out", "examples", found).value
        assert not report.skipped
        again = other.find(Example)[0]
        assert again.output == workspace.find(Example)[0].output
        assert again.meta["evidence"] == workspace.find(Example)[0].meta["evidence"]
        export_studied(other, tmp_path / "again.jsonl")
    second = json.loads((tmp_path / "again.jsonl").read_bytes().decode("utf-8"))
    for key in ("id", "input", "output", "meta"):
        assert second[key] == record[key]
    assert workspace.count(Document) == 1
