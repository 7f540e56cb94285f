"""Merging: the order does not matter, twice is once, and what is not whole is refused as a whole."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.cli.command import run_command
from core.errors import ConflictError, InputError, RifugioError
from core.exchange.merging import merge, preview_merge
from core.exchange.packing import pack_everything
from core.ids import new_id
from core.people import add_person
from core.review.verbs import record_rating
from core.storage import Transaction, Workspace
from core.storage.audit import check_chain, check_file, check_rows
from core.storage.kinds import KINDS
from core.storage.transaction import hash_entry
from core.storage.undo import redo, undo, undoable
from core.tasks.verbs import add_task, delete_task, edit_task
from core.types import RATING_AXES, Field, Output, Rating, Run, System, Task
from tests.factories import make_run

SECRET = "a package passphrase"


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with Workspace.create(tmp_path / "w.rifugio", None) as made:
        made.transact("Add", "", add_person, "Ann")
        make_run(made, 2)
        yield made


@pytest.fixture
def package(workspace: Workspace, tmp_path: Path) -> Iterator[Workspace]:
    with give(workspace, tmp_path / "p.rifugio") as made:
        yield made


def give(workspace: Workspace, path: Path) -> Workspace:
    pack_everything(workspace, path, SECRET, person_of(workspace))
    return Workspace.open(path, SECRET)


def person_of(workspace: Workspace) -> Any:
    from core.types import Person

    return workspace.find(Person)[0]


def state(workspace: Workspace) -> dict[str, list[Any]]:
    """All live rows by kind, without stamps."""
    return {
        name: sorted(workspace.find(kind.type), key=lambda row: str(row.id))
        for name, kind in KINDS.items()
        if kind.logged
    }


def tamper(workspace: Workspace, sql: str) -> None:
    workspace.transact_job("x", "", lambda tx: tx.execute_unlogged(sql))


def sound(workspace: Workspace) -> bool:
    return not (
        check_file(workspace, encrypted=workspace.encrypted)
        + check_chain(workspace)
        + check_rows(workspace)
    )


# -- what always holds -------------------------------------------------------------------

DEEDS = st.lists(
    st.tuples(
        st.sampled_from(("notes", "objective", "add", "delete", "rate", "undo")),
        st.integers(0, 3),
        st.text("xyz", min_size=1, max_size=3),
    ),
    max_size=6,
)


def do(workspace: Workspace, deeds: list[tuple[str, int, str]], who: str) -> None:
    """What a person does; what is refused is left."""
    for deed, number, text in deeds:
        tasks = workspace.find(Task, order_by="id")
        task = tasks[number % len(tasks)] if tasks else None
        output = workspace.find(Output, order_by="id")[number % 2]
        try:
            if deed in ("notes", "objective") and task is not None:
                workspace.transact("Edit", who, edit_task, task.id, **{deed: text})
            elif deed == "add":
                workspace.transact("Add", who, add_task, field=text, objective=text)
            elif deed == "delete" and task is not None:
                workspace.transact("Delete", who, delete_task, task.id)
            elif deed == "rate":
                axis = RATING_AXES[number % 2]
                workspace.transact("Rate", who, record_rating, output.id, who, axis, 1 + number)
            elif deed == "undo" and undoable(workspace, who) is not None:
                undo(workspace, who)
        except RifugioError:
            continue


@settings(
    max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(DEEDS, DEEDS, DEEDS)
def test_the_order_of_merges_does_not_matter(
    tmp_path: Path, ours: list[Any], one: list[Any], two: list[Any]
) -> None:
    folder = tmp_path / new_id()
    folder.mkdir()
    with Workspace.create(folder / "w.rifugio", None) as workspace:
        workspace.transact("Add", "", add_person, "Ann")
        make_run(workspace, 2)
        who = person_of(workspace).id
        with (
            give(workspace, folder / "one.rifugio") as first,
            give(workspace, folder / "two.rifugio") as second,
        ):
            do(first, one, who)
            do(second, two, who)
            workspace.copy_to(folder / "bare.rifugio")
            with Workspace.open(folder / "bare.rifugio") as bare:
                merge(bare, first, "")
                assert _by_name(bare) == _by_name(first), "nothing was done there"
            do(workspace, ours, who)
            workspace.copy_to(folder / "twin.rifugio")
            merge(workspace, first, "")
            merge(workspace, second, "")
            with Workspace.open(folder / "twin.rifugio") as twin:
                merge(twin, second, "")
                merge(twin, first, "")
                assert _by_name(twin) == _by_name(workspace)
            before = state(workspace)
            assert not merge(workspace, first, "").entries + merge(workspace, second, "").entries
        assert state(workspace) == before
        assert sound(workspace)


def _by_name(workspace: Workspace) -> dict[str, list[Any]]:
    """Live rows, fields by their names: which of two twins stays may differ."""
    names = {field.id: field.name for field in workspace.find(Field)}
    rows = state(workspace)
    rows["field"] = sorted({name.casefold() for name in names.values()})
    rows["task"] = [
        (t.id, t.objective, t.notes, names[t.field_id].casefold())
        for t in workspace.find(Task, order_by="id")
    ]
    return rows


def test_what_was_done_and_undone_there_leaves_alone_what_was_written_here(
    workspace: Workspace, package: Workspace
) -> None:
    ann, task = person_of(workspace).id, workspace.find(Task)[0].id
    package.transact("Edit", ann, edit_task, task, notes="there")
    workspace.transact("Edit", ann, edit_task, task, notes="here")
    undo(package, ann)
    added = package.transact("Add", ann, add_task, field="Law", objective="Sum up").value
    undo(package, ann)
    report = merge(workspace, package, "")
    assert workspace.get(Task, task).notes == "here" and not report.conflicts
    assert not workspace.find(Task, "id = ?", (added.id,))
    redo(package, ann)
    merge(workspace, package, "")
    assert workspace.get(Task, added.id).objective == "Sum up"
    assert sound(workspace)


# -- twins -------------------------------------------------------------------------------


def test_two_ratings_of_one_output_by_one_person_become_the_later_one(
    workspace: Workspace, package: Workspace
) -> None:
    ann, output = person_of(workspace).id, workspace.find(Output)[0].id
    package.transact("Rate", ann, record_rating, output, ann, RATING_AXES[0], 2)
    workspace.transact("Rate", ann, record_rating, output, ann, RATING_AXES[0], 5)
    report = merge(workspace, package, "")
    assert report.added == {"rating": 1} and report.settled == 1
    assert [rating.value for rating in workspace.find(Rating)] == [5]
    assert sound(workspace)


def test_a_merged_row_that_was_altered_is_found(workspace: Workspace, package: Workspace) -> None:
    task = workspace.find(Task)[0]
    workspace.transact("Edit", "", edit_task, task.id, notes="here")
    package.transact("Edit", "", edit_task, task.id, procedure="there")
    merge(workspace, package, "")
    assert sound(workspace)
    tamper(workspace, "UPDATE task SET procedure = 'elsewhere'")
    assert [finding.place for finding in check_rows(workspace)] == [task.id]


def test_a_field_named_at_both_places_is_one_field(
    workspace: Workspace, package: Workspace
) -> None:
    for place in (package, workspace):
        place.transact("Add", "", add_task, field="Law", objective="Sum up")
    merge(workspace, package, "")
    assert sorted(field.name for field in workspace.find(Field)) == ["Law", "Medicine"]
    (law,) = workspace.find(Field, "name = 'Law'")
    assert workspace.count(Task, "field_id = ?", (law.id,)) == 2
    assert sound(workspace)


def test_a_run_made_elsewhere_comes_with_its_job(workspace: Workspace, package: Workspace) -> None:
    from core.runs.verbs import add_run

    system = package.find(System)[0]
    examples = [o.example_id for o in package.find(Output)]
    run = package.transact_job("Run", "", add_run, system.id, examples).value
    merge(workspace, package, "")
    here = workspace.get(Run, run.id)
    assert workspace.value("SELECT state FROM job WHERE id = ?", (here.job_id,)) == "cancelled"
    assert workspace.count(Output, "run_id = ?", (run.id,)) == 2


# -- attacks -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM change WHERE seq = 1",
        "UPDATE change SET label = 'other' WHERE seq = 2",
        "DELETE FROM change WHERE seq = (SELECT max(seq) FROM change)",
        "DELETE FROM head",
    ],
)
def test_a_history_that_is_not_whole_is_refused(
    workspace: Workspace, package: Workspace, sql: str
) -> None:
    task = package.find(Task)[0]
    for notes in ("one", "two", "three"):
        package.transact("Edit", "", edit_task, task.id, notes=notes)
    tamper(package, sql)
    before = state(workspace)
    with pytest.raises(InputError, match="history is not whole"):
        merge(workspace, package, "")
    assert state(workspace) == before and sound(workspace)


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "meta"},
        {"kind": "job"},
        {"after": '{"notes = 1, deleted": 1}'},
        {"after": '{"id": "another"}', "before": None},
        {"after": '{"notes": {"deep": 7}}'},
        {"after": '{"deleted": null}'},
        {"after": '{"input_sections": "no list"}'},
        {"after": "no object"},
        {"after": None},
    ],
)
def test_entries_that_nobody_wrote_by_the_window_are_refused(
    workspace: Workspace, package: Workspace, change: dict[str, Any]
) -> None:
    """Whoever has the passphrase can write a chain that is whole and holds anything."""
    task = package.find(Task)[0]
    package.transact("Edit", "", edit_task, task.id, notes="mine")
    (entry,) = package.query("SELECT * FROM change")
    entry |= change
    entry["hash"] = hash_entry(entry)
    names = ", ".join(f'"{name}" = ?' for name in entry)

    def forge(tx: Transaction) -> None:
        tx.execute_unlogged(f"UPDATE change SET {names}", tuple(entry.values()))
        tx.set_head(package.origin, 1, entry["hash"])

    package.transact_job("Forge", "", forge)
    before = state(workspace)
    with pytest.raises(
        (InputError, ConflictError), match=r"cannot be read|breaks one of its rules"
    ):
        merge(workspace, package, "")
    assert state(workspace) == before and sound(workspace)


def test_what_belongs_to_nothing_is_refused_as_a_whole(
    workspace: Workspace, package: Workspace
) -> None:
    tamper(package, "PRAGMA defer_foreign_keys = ON")

    def orphan(tx: Any) -> None:
        tx.execute_unlogged("PRAGMA defer_foreign_keys = ON")
        tx.insert(Task(id="t", field_id="nowhere", objective="Lost"))
        tx.execute_unlogged("UPDATE task SET field_id = (SELECT id FROM field) WHERE id = 't'")

    package.transact("Orphan", "", orphan)
    before = state(workspace)
    with pytest.raises(InputError, match="a field that is in neither file"):
        merge(workspace, package, "")
    assert state(workspace) == before and sound(workspace)


def test_copies_of_one_file_that_were_both_worked_in_are_refused(
    workspace: Workspace, tmp_path: Path
) -> None:
    workspace.copy_to(tmp_path / "copy.rifugio")
    task = workspace.find(Task)[0]
    with Workspace.open(tmp_path / "copy.rifugio") as copy:
        copy.transact("Edit", "", edit_task, task.id, notes="there")
        # One of them alone goes on from where both were: that is only newer.
        assert preview_merge(workspace, copy, "").changed == {"task": 1}
        workspace.transact("Edit", "", edit_task, task.id, notes="here")
        with pytest.raises(ConflictError, match="both worked in"):
            merge(workspace, copy, "")
    assert workspace.get(Task, task.id).notes == "here" and sound(workspace)


def test_a_workspace_restored_from_a_backup_gets_back_what_it_lost(
    workspace: Workspace, tmp_path: Path
) -> None:
    workspace.copy_to(tmp_path / "backup.rifugio")
    task = workspace.find(Task)[0]
    workspace.transact("Edit", "", edit_task, task.id, notes="after the backup")
    with Workspace.open(tmp_path / "backup.rifugio") as older:
        merge(older, workspace, "")
        assert older.get(Task, task.id).notes == "after the backup"
        older.transact("Edit", "", edit_task, task.id, notes="and on")
        assert sound(older)


# -- the command line --------------------------------------------------------------------

Run_ = Callable[..., dict[str, Any]]


@pytest.fixture
def rifugio(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run_:
    (tmp_path / "secret").write_text(SECRET, encoding="utf-8")

    def run(verb: str, *words: str | Path, code: int = 0) -> dict[str, Any]:
        asked = ["--package-passphrase-file", str(tmp_path / "secret")]
        assert run_command([verb, "--json", *map(str, words), *asked]) == code
        told = capsys.readouterr()
        return dict(json.loads(told.out)) if code == 0 else {"error": told.err}

    return run


def test_pack_and_merge_by_command(
    rifugio: Run_, workspace: Workspace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = workspace.path, tmp_path / "p.rifugio"
    who = person_of(workspace).id
    assert (
        "Nothing waits for Ann"
        in rifugio("pack", path, "--for", "ann", "--out", out, code=1)["error"]
    )
    workspace.transact_job(
        "Done",
        "",
        lambda tx: [tx.update(Output, o.id, state="done", text="x") for o in tx.find(Output)],
    )
    workspace.close()
    packed = rifugio("pack", path, "--for", "ann", "--out", out)
    assert packed["hides_names"] and packed["counts"]["review_item"] == 2
    with Workspace.open(out, SECRET) as package:
        output = package.find(Output)[0].id
        package.transact("Rate", who, record_rating, output, who, RATING_AXES[0], 3)
    looked = rifugio("merge", path, out, "--preview")
    assert looked["added"] == {"rating": 1} and not looked["merged"]
    merged = rifugio("merge", path, out)
    assert merged["merged"] and merged["people"] == {"Ann": 1} and merged["conflicts"] == []
    assert not rifugio("merge", path, out)["merged"]
    (tmp_path / "secret").write_text("another passphrase", encoding="utf-8")
    assert "passphrase" in rifugio("merge", path, out, code=1)["error"]
    error = rifugio("merge", path, tmp_path / "gone.rifugio", code=1)["error"]
    assert error.startswith("rifugio: There is no file") and "Traceback" not in error
    both = ("--for", "ann", "--out", tmp_path / "q.rifugio", "--everything", "--names")
    assert "--names" in rifugio("pack", path, *both, code=2)["error"]
    assert not (tmp_path / "q.rifugio").exists()
