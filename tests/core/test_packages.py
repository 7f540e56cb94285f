"""Packages: what a person needs and no more, and the way back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.documents.library import import_documents
from core.documents.search import search_passages
from core.errors import ConflictError, NotFoundError
from core.examples.verbs import edit_example, edit_example_section
from core.exchange.merging import merge, preview_merge
from core.exchange.packages import package_info
from core.exchange.packing import HIDDEN, pack_everything, pack_reviews
from core.ids import new_id
from core.people import add_person
from core.review.pairs import draw_pairs, submit_pair
from core.review.verbs import fill_queue, record_rating, submit_review
from core.rubrics.verbs import add_rubric, add_rubric_item
from core.runs.verbs import add_run, add_system
from core.storage import Transaction, Workspace
from core.storage.audit import Finding, check_chain, check_file, check_rows
from core.storage.backups import list_backups
from core.storage.history import row_history
from core.storage.undo import undo, undoable
from core.tasks.verbs import edit_task
from core.types import (
    RATING_AXES,
    Example,
    Output,
    Person,
    Preference,
    Rating,
    ReviewItem,
    SectionText,
    System,
    Task,
)
from core.types.documents import Document
from core.types.evaluation import PairItem
from core.types.rubrics import Checklist, ChecklistEntry, Judgement, Verdict
from tests.factories import make_run

SECRET = "a package passphrase"
AXIS = RATING_AXES[0]
#: What must not be in a package for a blind reviewer.
TELLING = ("Qwen-Imprint", "fake-generator", "I am the thinking", "PRIVATE-REFERENCE", "Bob says")


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    """Two runs on three examples, one of them private; Ann has all in her queues, Bob has rated."""
    with Workspace.create(tmp_path / "w.rifugio", "the passphrase here") as made:
        make_run(made)
        made.transact("Finish", "", _finish)
        ann, bob = people(made)
        made.transact("Fill", ann.id, fill_queue, ann.id, 1)
        made.transact("Draw", ann.id, draw_pairs, ann.id)
        output = made.find(Output)[0]
        made.transact("Rate", bob.id, record_rating, output.id, bob.id, AXIS, 2, "Bob says no")
        yield made


def _finish(tx: Transaction) -> None:
    """A second system on the same examples, and outputs that say whose they are."""
    second = add_system(tx, "Second", model_id="fake-generator")
    add_run(tx, second.id, [example.id for example in tx.find(Example)])
    for number, system in enumerate(tx.find(System)):
        tx.update(System, system.id, name=f"Qwen-Imprint {number}")
    for output in tx.find(Output):
        tx.update(
            Output, output.id, state="done", text="He coughs.", thinking="I am the thinking",
            seconds=3.25, meta={"by": "Qwen-Imprint"},
        )  # fmt: skip
    reference = (SectionText(title="Note", text="PRIVATE-REFERENCE"),)
    edit_example(tx, tx.find(Example)[0].id, split="private", output=reference)


def _map_private(tx: Transaction) -> None:
    """The private reference quoted where it is mapped to a rubric and judged, and in its edits."""
    private = next(e for e in tx.find(Example) if e.split == "private")
    rubric = add_rubric(tx, private.task_id, "Note")
    item = add_rubric_item(tx, rubric.id, "Cough")
    edit_example(tx, private.id, meta={"edits": ["PRIVATE-REFERENCE"], "source": "clinic"})
    output = tx.find(Output, "example_id = ?", (private.id,))[0].id
    lists = [
        tx.insert(
            Checklist(id=new_id(), rubric_id=rubric.id, example_id=private.id, output_id=of)
        ).id
        for of in ("", output)
    ]
    tx.insert(
        ChecklistEntry(
            id=new_id(), checklist_id=lists[0], item_id=item.id, text="PRIVATE-REFERENCE", start=0
        )
    )
    judged = Judgement(
        id=new_id(), reference_id=lists[0], output_checklist_id=lists[1],
        judge_kind="person", judge="",
    )  # fmt: skip
    tx.insert(judged)
    tx.insert(
        Verdict(
            id=new_id(),
            judgement_id=judged.id,
            item_id=item.id,
            reason="It says PRIVATE-REFERENCE.",
        )
    )


def people(made: Workspace) -> tuple[Person, Person]:
    return (
        made.transact("Add", "", add_person, "Ann").value,
        made.transact("Add", "", add_person, "Bob").value,
    )


def person(workspace: Workspace, name: str) -> Person:
    return next(p for p in workspace.find(Person) if p.name == name)


def package_of(workspace: Workspace, tmp_path: Path, **how: Any) -> Workspace:
    path = tmp_path / f"p{len(list(tmp_path.glob('p*.rifugio')))}.rifugio"
    pack_reviews(workspace, path, SECRET, person(workspace, "Ann"), **how)
    return Workspace.open(path, SECRET)


def dump(workspace: Workspace) -> str:
    """All that a file says, decrypted."""
    tables = workspace.query("SELECT name FROM sqlite_master WHERE type = 'table'")
    return "\n".join(
        str(tuple(row.values()))
        for table in tables
        if not table["name"].startswith("passage_fts")
        for row in workspace.query(f'SELECT * FROM "{table["name"]}"')
    )


def faults(workspace: Workspace) -> list[Finding]:
    found = check_file(workspace, encrypted=True)
    return found + check_chain(workspace) + check_rows(workspace)


def test_a_package_of_reviews_holds_what_is_needed_and_nothing_that_tells(
    workspace: Workspace, tmp_path: Path
) -> None:
    with package_of(workspace, tmp_path) as package:
        assert package.encrypted
        text = dump(package)
        assert not [word for word in TELLING if word in text]
        assert [system.name for system in package.find(System)] == [HIDDEN]
        assert len(package.find(Output)) == 6 and {o.text for o in package.find(Output)} == {
            "He coughs."
        }
        assert {(o.seconds, o.position) for o in package.find(Output)} == {(0.0, 0)}
        ann = person(workspace, "Ann").id
        assert [p.name for p in package.find(Person)] == ["Ann"]
        assert package.count(ReviewItem) == 6 and package.count(PairItem) == 3
        assert package.count(Example) == 3 and package.count(Task) == 1
        assert package.count(Rating) == 0
        assert undoable(package, ann) is None
        assert not faults(package)
        info = package_info(package)
    assert info is not None and info.person == ann and info.workspace == workspace.origin
    assert package_info(workspace) is None


def test_names_go_along_where_that_is_asked_for(workspace: Workspace, tmp_path: Path) -> None:
    with package_of(workspace, tmp_path, hide_names=False) as package:
        names = sorted(system.name for system in package.find(System))
        assert names == ["Qwen-Imprint 0", "Qwen-Imprint 1"]
        assert "PRIVATE-REFERENCE" not in dump(package) and "Bob says" not in dump(package)
        assert not faults(package)


def test_what_was_judged_comes_back_under_the_judges_name(
    workspace: Workspace, tmp_path: Path
) -> None:
    ann, bob = person(workspace, "Ann").id, person(workspace, "Bob").id
    with package_of(workspace, tmp_path) as package:
        for item in package.find(ReviewItem):
            for axis in RATING_AXES:
                package.transact("Rate", ann, record_rating, item.output_id, ann, axis, 4)
            package.transact("Submit", ann, submit_review, item.id, "Good.")
        pair = package.find(PairItem)[0]
        package.transact("Compare", ann, submit_pair, pair.id, 1, "Shorter.")
        undo(package, ann)
        package.transact("Compare", ann, submit_pair, pair.id, 5, "Clearer.")
        changes = workspace.value("SELECT count(*) FROM change")
        preview = preview_merge(workspace, package, bob)
        assert workspace.value("SELECT count(*) FROM change") == changes
        assert workspace.count(Rating) == 1
        report = merge(workspace, package, bob)
        assert report == preview
        assert report.added == {"rating": 30, "preference": 1}
        assert report.changed == {"review_item": 6, "pair_item": 1}
        assert set(report.people) == {"Ann"} and not report.conflicts and not report.left_out
        again = merge(workspace, package, bob)
        assert again.entries == 0 and again.added == {}
    assert len(workspace.find(Rating, "person_id = ?", (ann,))) == 30
    assert [p.choice for p in workspace.find(Preference)] == ["right"]
    assert {item.state for item in workspace.find(ReviewItem)} == {"submitted"}
    history = row_history(workspace, "review_item", workspace.find(ReviewItem)[0].id)
    assert [entry.person for entry in history.entries] == ["Ann", "Ann"]
    assert [backup.reason for backup in list_backups(workspace.path)] == ["before-merge"]
    # Undo leaves what came in alone: Bob's own last deed is still his rating.
    undone = undoable(workspace, bob)
    assert undone is not None and undone.label == "Rate"
    assert not faults(workspace)


def test_a_package_of_reviews_changes_nothing_but_judgements(
    workspace: Workspace, tmp_path: Path
) -> None:
    ann = person(workspace, "Ann").id
    with package_of(workspace, tmp_path) as package:
        task = package.find(Task)[0]
        package.transact("Edit", ann, edit_task, task.id, objective="Write nothing")
        package.transact(
            "Rename", ann, lambda tx: tx.update(System, tx.find(System)[0].id, name="Mine")
        )
        output = package.find(Output)[0]
        package.transact("Rate", ann, record_rating, output.id, ann, AXIS, 5)
        report = merge(workspace, package, "")
    assert report.added == {"rating": 1} and report.changed == {}
    assert report.left_out == {"task": 1, "system": 1}
    assert workspace.get(Task, task.id).objective == "Write a note"
    assert len(row_history(workspace, "task", task.id).entries) == 1
    # Nor do they count when the same row is settled again by a later merge.
    with package_of(workspace, tmp_path) as second:
        second.transact("Rate", ann, record_rating, output.id, ann, AXIS, 1)
        merge(workspace, second, "")
    assert workspace.get(Task, task.id).objective == "Write a note"
    assert [r.value for r in workspace.find(Rating, "person_id = ?", (ann,))] == [1]
    assert not faults(workspace)


def test_somebody_who_joined_in_a_package_comes_with_what_they_judged(
    workspace: Workspace, tmp_path: Path
) -> None:
    with package_of(workspace, tmp_path) as package:
        # A name that somebody else has in the workspace: only they know whether they are one.
        bob = package.transact("Add", "", add_person, "bob").value
        output = package.find(Output)[0].id
        package.transact("Rate", bob.id, record_rating, output, bob.id, AXIS, 5)
        report = merge(workspace, package, "")
    assert report.added == {"person": 1, "rating": 1} and report.people["bob"] == 1
    assert [p.name for p in workspace.find(Person, order_by="name")] == ["Ann", "Bob", "bob 2"]
    assert not faults(workspace)


def test_nothing_to_review_and_files_that_are_there_are_refused(
    workspace: Workspace, tmp_path: Path
) -> None:
    bob = person(workspace, "Bob")
    path = tmp_path / "bob.rifugio"
    with pytest.raises(NotFoundError, match="Nothing waits for Bob"):
        pack_reviews(workspace, path, SECRET, bob)
    assert not path.exists()
    pack_everything(workspace, path, SECRET, bob)
    with pytest.raises(ConflictError, match="is there already"):
        pack_everything(workspace, path, SECRET, bob)
    with pytest.raises(ConflictError, match="fewer than 8"):
        pack_everything(workspace, tmp_path / "weak.rifugio", "abc", bob)
    assert not (tmp_path / "weak.rifugio").exists()


def test_a_package_that_cannot_be_written_leaves_no_file(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("out of ideas")

    monkeypatch.setattr("core.exchange.packing.take_document", fail)
    (tmp_path / "note.txt").write_text("The patient coughs.", encoding="utf-8")
    import_documents(workspace, [tmp_path / "note.txt"], "")
    path = tmp_path / "p.rifugio"
    with pytest.raises(RuntimeError):
        pack_everything(workspace, path, SECRET, person(workspace, "Bob"))
    assert not list(tmp_path.glob("p.rifugio*"))


def test_everything_goes_along_but_private_references_and_comes_back(
    workspace: Workspace, tmp_path: Path
) -> None:
    bob = person(workspace, "Bob")
    for name in ("old", "new"):
        (tmp_path / f"{name}.txt").write_text(f"The {name} ramipril dose.", encoding="utf-8")
    import_documents(workspace, [tmp_path / "old.txt"], "")
    workspace.transact_job("Map", "", _map_private)
    path = tmp_path / "all.rifugio"
    packed = pack_everything(workspace, path, SECRET, bob)
    assert (
        packed.counts["output"] == 6
        and packed.counts["verdict"] == 1
        and packed.counts["document"] == 1
    )
    private = next(e for e in workspace.find(Example) if e.split == "private")
    with Workspace.open(path, SECRET) as package:
        assert "PRIVATE-REFERENCE" not in dump(package)
        assert search_passages(package, "ramipril")[0].document == "old"
        import_documents(package, [tmp_path / "new.txt"], bob.id)
        package.transact(
            "Edit", bob.id, edit_example, private.id, title="Renamed", output=private.input
        )
        task = package.find(Task)[0]
        package.transact("Edit", bob.id, edit_task, task.id, notes="Mind the doses.")
        report = merge(workspace, package, "")
        assert not faults(package)
    assert report.added == {"document": 1} and report.changed == {"example": 1, "task": 1}
    assert sorted(d.title for d in workspace.find(Document)) == ["new", "old"]
    assert {hit.document for hit in search_passages(workspace, "ramipril dose")} == {"new", "old"}
    kept = workspace.get(Example, private.id)
    assert kept.meta == {"edits": ["PRIVATE-REFERENCE"], "source": "clinic"}
    assert kept.title == "Renamed" and kept.output[0].text == "PRIVATE-REFERENCE"
    assert workspace.get(Task, task.id).notes == "Mind the doses."
    assert not faults(workspace)


def test_a_package_takes_nothing_over_itself(workspace: Workspace, tmp_path: Path) -> None:
    with (
        package_of(workspace, tmp_path) as package,
        pytest.raises(ConflictError, match="is a package"),
    ):
        merge(package, workspace, "")


def test_an_example_edited_here_and_there_is_told(workspace: Workspace, tmp_path: Path) -> None:
    bob = person(workspace, "Bob")
    path = tmp_path / "all.rifugio"
    pack_everything(workspace, path, SECRET, bob)
    example = next(e for e in workspace.find(Example) if e.split != "private")
    args = (edit_example_section, example.id, "output", 0)
    with Workspace.open(path, SECRET) as package:
        package.transact("Edit", bob.id, *args, "Theirs, earlier.")
        workspace.transact("Edit", person(workspace, "Ann").id, *args, "Ours, later.")
        (conflict,) = merge(workspace, package, "").conflicts
        assert (conflict.kind, conflict.column, conflict.theirs_stands) == (
            "example", "output", False,
        )  # fmt: skip
        assert (conflict.ours.person, conflict.theirs.person) == ("Ann", "Bob")
        assert workspace.get(Example, example.id).output[0].text == "Ours, later."
        package.transact("Edit", bob.id, *args, "Theirs, latest.")
        (conflict,) = merge(workspace, package, "").conflicts
        assert conflict.theirs_stands
    assert workspace.get(Example, example.id).output[0].text == "Theirs, latest."
    texts = [str(e.after) for e in row_history(workspace, "example", example.id).entries]
    assert "Ours, later." in "".join(texts), "what gave way can be restored"
    assert not faults(workspace)
