"""Every path up the schema ladder, from empty and from full files, and steps that fail."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlite_utils import Database, Migrations

from core.errors import ReadOnlyWorkspaceError, WorkspaceError
from core.storage import Workspace, schema
from core.storage.audit import check_chain, check_file
from core.storage.backups import check_backup, list_backups
from core.storage.cipher import Key
from core.storage.connection import fetch_all, open_connection
from core.types import Field
from tests.golden.ladder import PASSPHRASE, golden_key, make_at, read_content, step_names

GOLDEN = Path(__file__).parents[1] / "golden"
STEPS = list(range(1, len(step_names()) + 1))


@pytest.fixture(scope="module")
def key() -> Key:
    return golden_key()


def shape_of(db: Database) -> dict[str, Any]:
    """Every table's columns and every index, whatever the order they were made in."""
    tables = {
        name: sorted(
            (row["name"], row["type"], row["notnull"], row["pk"])
            for row in fetch_all(db, f'PRAGMA table_info("{name}")')
        )
        for name in db.table_names()
        if not name.startswith("sqlite_")
    }
    rows = fetch_all(db, "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql != ''")
    return {"tables": tables, "indexes": sorted((row["name"], row["sql"]) for row in rows)}


@pytest.fixture(scope="module")
def fresh_shape(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    path = tmp_path_factory.mktemp("fresh") / "w.rifugio"
    with Workspace.create(path, None) as workspace, workspace.reader() as db:
        return shape_of(db)


def assert_climbed(
    workspace: Workspace, before: dict[str, list[dict[str, Any]]], shape: dict[str, Any]
) -> None:
    """The newest schema, and every value that was there before, under its own name."""
    assert workspace.schema_version == schema.latest_schema()
    with workspace.reader() as db:
        assert shape_of(db) == shape
        after = read_content(db)
    for table, rows in before.items():
        kept = [
            {name: row.get(name) for name in old}
            for old, row in zip(rows, after[table], strict=True)
        ]
        assert kept == rows, table
    assert check_chain(workspace) == []
    assert check_file(workspace, encrypted=workspace.encrypted) == []


@pytest.mark.parametrize("full", [False, True], ids=["empty", "full"])
@pytest.mark.parametrize("step", STEPS)
def test_each_step_climbs_to_the_top(
    tmp_path: Path, step: int, full: bool, fresh_shape: dict[str, Any]
) -> None:
    path = tmp_path / "w.rifugio"
    make_at(path, step, full=full)
    db = open_connection(path, None, read_only=True, still=True)
    before = read_content(db)
    db.conn.close()
    if step < schema.latest_schema():
        with pytest.raises(ReadOnlyWorkspaceError, match="earlier version"):
            Workspace.open(path, read_only=True)
    with Workspace.open(path) as workspace:
        assert_climbed(workspace, before, fresh_shape)
        workspace.transact("Add", "", lambda tx: tx.insert(Field(id="f", name="new")))
        assert check_chain(workspace) == []
    backups = list_backups(path)
    assert [b.reason for b in backups] == (
        ["before-update"] if step < schema.latest_schema() else []
    )
    for backup in backups:
        check_backup(backup.path, None)
    leftovers = {p.name for p in tmp_path.iterdir()} - {path.name, "w backups"}
    assert leftovers == set()


@pytest.mark.parametrize("golden", sorted(GOLDEN.glob("*.rifugio")), ids=lambda path: path.stem)
def test_each_released_file_climbs_to_the_top(
    golden: Path, tmp_path: Path, fresh_shape: dict[str, Any]
) -> None:
    path = tmp_path / golden.name
    shutil.copyfile(golden, path)
    before = json.loads(golden.with_suffix(".json").read_text(encoding="utf-8"))
    with Workspace.open(path, PASSPHRASE) as workspace:
        assert_climbed(workspace, before, fresh_shape)


def test_there_is_a_released_file() -> None:
    assert list(GOLDEN.glob("*.rifugio"))


@pytest.fixture
def failing_step(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """One more step, sound, and after it one that breaks in the middle."""
    longer = Migrations("rifugio")
    for name, climb in schema._STEPS:
        longer(name=name)(climb)

    @longer(name="9998_sound")
    def sound(db: Database) -> None:
        db.execute("ALTER TABLE field ADD COLUMN colour TEXT NOT NULL DEFAULT ''")

    @longer(name="9999_breaks")
    def breaks(db: Database) -> None:
        db.execute("UPDATE field SET name = 'half done'")
        raise RuntimeError("a fault in the step")

    monkeypatch.setattr(schema, "migrations", longer)
    schema._names.cache_clear()
    yield
    monkeypatch.undo()
    schema._names.cache_clear()


@pytest.mark.parametrize("encrypted", [False, True], ids=["plain", "encrypted"])
def test_a_failing_step_leaves_the_old_file_and_a_backup(
    tmp_path: Path, encrypted: bool, request: pytest.FixtureRequest, key: Key
) -> None:
    path = tmp_path / "w.rifugio"
    passphrase = PASSPHRASE if encrypted else None
    make_at(path, schema.latest_schema(), full=True, key=key.copy() if encrypted else None)
    before = path.read_bytes()
    request.getfixturevalue("failing_step")
    with pytest.raises(WorkspaceError, match="could not be brought up to date") as caught:
        Workspace.open(path, passphrase)
    backup = list_backups(path)[0]
    assert str(backup.path) in caught.value.remedy
    assert "a fault in the step" in caught.value.details
    assert path.read_bytes() == before
    check_backup(backup.path, key if encrypted else None)
    assert {p.name for p in tmp_path.iterdir()} == {path.name, "w backups"}
