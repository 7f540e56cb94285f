"""Backups: made, thinned, checked, restored with a preview; the passphrase changed; damage survived."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from core.errors import (
    ConflictError,
    DamagedWorkspaceError,
    InputError,
    NotFoundError,
    WorkspaceBusyError,
    WrongPassphraseError,
)
from core.ids import new_id
from core.storage import Transaction, Workspace, backups
from core.storage.audit import check_chain, check_file, check_rows
from core.storage.backups import (
    Backup,
    back_up,
    back_up_if_due,
    backup_folder,
    check_backup,
    choose_kept,
    list_backups,
)
from core.storage.cipher import make_key_file
from core.storage.grafting import schema_pages
from core.storage.recovery import recover_workspace
from core.storage.rekey import change_key, opens, remove_older_backups
from core.storage.restore import preview_restore, restore_backup, restore_to_new_file
from core.types import Field, Task
from tests.conftest import PASSPHRASE
from tests.factories import make_task

OTHER = "another horse battery"


def add_field(tx: Transaction, name: str) -> Field:
    return tx.insert(Field(id=new_id(), name=name))


def names(workspace: Workspace) -> list[str]:
    return sorted(field.name for field in workspace.find(Field))


def is_sound(workspace: Workspace) -> bool:
    found = check_file(workspace, encrypted=workspace.encrypted)
    return found + check_chain(workspace) + check_rows(workspace) == []


def test_a_backup_is_encrypted_alone_in_its_folder_and_whole(workspace: Workspace) -> None:
    for number in range(30):
        workspace.transact("Add", "", add_field, f"GEHEIMNIS {number}")
    backup = back_up(workspace)
    assert list(backup.path.parent.iterdir()) == [backup.path]
    assert backup.path.parent == backup_folder(workspace.path)
    assert b"GEHEIMNIS" not in backup.path.read_bytes()
    assert (backup.reason, backup.changes) == ("manual", 30)
    assert os.name != "posix" or backup.path.stat().st_mode & 0o077 == 0
    check_backup(backup.path, workspace.key)
    workspace.transact("Add", "", add_field, "later")
    target = workspace.path.with_name("other.rifugio")
    restore_to_new_file(backup.path, target, workspace.key)
    with Workspace.open(target, PASSPHRASE) as restored:
        assert len(names(restored)) == 30
        assert restored.origin != workspace.origin
        assert is_sound(restored)


def test_automatic_backups_come_when_due_and_only_with_something_new(workspace: Workspace) -> None:
    assert back_up_if_due(workspace, "open") is None
    workspace.transact("Add", "", add_field, "A")
    first = back_up_if_due(workspace, "open")
    assert first is not None
    workspace.transact("Add", "", add_field, "B")
    assert back_up_if_due(workspace, "hourly") is None, "less than an hour ago"
    assert back_up_if_due(workspace, "before-merge") is not None
    assert back_up_if_due(workspace, "before-merge") is None, "nothing new since"


def rename_to(backup: Backup, made: datetime) -> Path:
    stamp = made.strftime("%Y%m%dT%H%M%SZ")
    return backup.path.rename(backup.path.with_name(stamp + backup.path.name[16:]))


def test_an_hour_later_another_is_made(workspace: Workspace) -> None:
    workspace.transact("Add", "", add_field, "A")
    rename_to(back_up(workspace, "open"), datetime.now(UTC) - timedelta(minutes=61))
    assert back_up_if_due(workspace, "hourly") is None, "nothing new"
    workspace.transact("Add", "", add_field, "B")
    assert back_up_if_due(workspace, "hourly") is not None


def test_names_keep_their_order_when_the_clock_is_set_back(workspace: Workspace) -> None:
    workspace.transact("Add", "", add_field, "A")
    future = rename_to(back_up(workspace), datetime.now(UTC) + timedelta(days=3))
    workspace.transact("Add", "", add_field, "B")
    newer = back_up_if_due(workspace, "hourly")
    assert newer is not None
    assert [backup.path for backup in list_backups(workspace.path)] == [newer.path, future]


def at(made: datetime, reason: backups.Reason = "hourly", size: int = 1) -> Backup:
    return Backup(Path(f"{made.isoformat()}{reason}"), made, reason, 0, "0" * 8, size)


def test_thinning_keeps_hours_days_weeks_and_what_came_before_something_big() -> None:
    now = datetime(2026, 3, 31, 12, 0, tzinfo=UTC)
    every_ten_minutes = [at(now - timedelta(minutes=10 * n)) for n in range(6 * 24 * 60)]
    kept = choose_kept(every_ten_minutes, now=now)
    ages = [now - backup.made for backup in kept]
    assert sum(age < timedelta(hours=24) for age in ages) in (24, 25)
    assert sum(timedelta(hours=24) <= age < timedelta(days=14) for age in ages) in (13, 14)
    assert sum(age >= timedelta(days=14) for age in ages) in (6, 7, 8)
    assert kept[0] == every_ten_minutes[0]
    special = at(now - timedelta(days=20, minutes=7), "before-update")
    assert special in choose_kept([*every_ten_minutes, special], now=now)
    old = at(now - timedelta(days=40, minutes=7), "before-update")
    assert len(choose_kept([*every_ten_minutes, old], now=now)) == len(kept)
    assert choose_kept([at(now - timedelta(days=999)), at(now - timedelta(days=998))], now=now)


def test_the_cap_takes_the_oldest_and_never_the_newest_two() -> None:
    now = datetime(2026, 3, 31, 12, 0, tzinfo=UTC)
    hourly = [at(now - timedelta(hours=n), size=10) for n in range(20)]
    assert choose_kept(hourly, limit=55, now=now) == hourly[:5]
    assert choose_kept(hourly, limit=1, now=now) == hourly[:2]


def test_a_preview_names_what_would_change_and_changes_nothing(workspace: Workspace) -> None:
    task = workspace.transact("Add task", "", make_task, "Old objective").value
    gone = workspace.transact("Add", "", add_field, "Deleted since").value
    backup = back_up(workspace)
    workspace.transact("Edit", "", lambda tx: tx.update(Task, task.id, objective="New objective"))
    workspace.transact("Delete", "", lambda tx: tx.delete(Field, gone.id))
    workspace.transact("Add", "", add_field, "Added since")
    before = backup.path.read_bytes()
    preview = preview_restore(workspace, backup.path, workspace.key)
    assert preview.counts == {
        "field": {"goes": 1, "comes back": 1},
        "task": {"changes back": 1},
    }
    assert {(row.kind, row.name, row.fate) for row in preview.rows} == {
        ("field", "Added since", "goes"),
        ("field", "Deleted since", "comes back"),
        ("task", "Old objective", "changes back"),
    }
    assert preview.held == {"field": 2, "task": 1}
    assert backup.path.read_bytes() == before
    assert list(backup.path.parent.iterdir()) == [backup.path]
    same = preview_restore(workspace, back_up(workspace).path, workspace.key)
    assert (same.counts, same.rows) == ({}, [])


def test_restoring_keeps_what_was_there(workspace: Workspace) -> None:
    path, key = workspace.path, workspace.key.copy()  # type: ignore[union-attr]
    workspace.transact("Add", "", add_field, "Old")
    backup = back_up(workspace)
    workspace.transact("Add", "", add_field, "New")
    with pytest.raises(WorkspaceBusyError):
        restore_backup(backup.path, path, key)
    workspace.close()
    kept = restore_backup(backup.path, path, key)
    assert kept is not None and "before-restore" in kept.name
    with Workspace.open(path, PASSPHRASE) as restored:
        assert names(restored) == ["Old"]
        restored.transact("Add", "", add_field, "Newer")
        assert is_sound(restored)
    restore_backup(kept, path, key)
    with Workspace.open(path, PASSPHRASE) as restored:
        assert names(restored) == ["New", "Old"]


@pytest.mark.parametrize("harm", ["gone", "cut", "noise", "log"])
def test_a_backup_takes_the_place_of_a_damaged_file_which_is_kept(
    workspace: Workspace, harm: str
) -> None:
    path, key = workspace.path, workspace.key.copy()  # type: ignore[union-attr]
    workspace.transact("Add", "", add_field, "Old")
    backup = back_up(workspace)
    workspace.close()
    damage: dict[str, Callable[[], object]] = {
        "gone": path.unlink,
        "cut": lambda: path.write_bytes(path.read_bytes()[:9000]),
        "noise": lambda: path.write_bytes(os.urandom(20_000)),
        "log": lambda: path.with_name(path.name + "-wal").write_bytes(os.urandom(5_000)),
    }
    damage[harm]()
    damaged = path.read_bytes() if path.exists() else b""
    with pytest.raises((DamagedWorkspaceError, WrongPassphraseError, NotFoundError)):
        Workspace.open(path, PASSPHRASE)
    kept = restore_backup(backup.path, path, key)
    with Workspace.open(path, PASSPHRASE) as restored:
        assert names(restored) == ["Old"]
        assert restored.notes == []
    if harm in ("cut", "noise"):
        assert kept is not None and kept.read_bytes() == damaged


@pytest.mark.parametrize("place", [3, 100, 2_000, 4_090, 9_000, -3])
def test_a_damaged_backup_is_refused(workspace: Workspace, place: int) -> None:
    workspace.transact("Add", "", add_field, "A")
    backup = back_up(workspace)
    data = bytearray(backup.path.read_bytes())
    data[place] ^= 1
    backup.path.write_bytes(data)
    with pytest.raises((DamagedWorkspaceError, WrongPassphraseError)):
        check_backup(backup.path, workspace.key)
    with pytest.raises((DamagedWorkspaceError, WrongPassphraseError)):
        preview_restore(workspace, backup.path, workspace.key)


def test_rekeying_takes_another_passphrase_and_says_so_of_older_backups(
    workspace: Workspace,
) -> None:
    path = workspace.path
    task = workspace.transact("Add task", "", make_task).value
    workspace = change_key(workspace, OTHER)
    with workspace:
        assert workspace.get(Task, task.id) == task
        workspace.transact("Add", "", add_field, "After")
        assert is_sound(workspace)
        older = list_backups(path)
        assert [backup.reason for backup in older] == ["before-rekey"]
        assert not opens(older[0].path, workspace.key)
        with pytest.raises(WrongPassphraseError, match="another passphrase"):
            check_backup(older[0].path, workspace.key)
        back_up(workspace)
        assert remove_older_backups(workspace) == 1
        assert len(list_backups(path)) == 1
    with pytest.raises(WrongPassphraseError):
        Workspace.open(path, PASSPHRASE)
    with Workspace.open(path, OTHER) as opened:
        assert opened.schema_version > 0
        assert opened.value("PRAGMA application_id") == 0x5246474F
    assert sorted(p.name for p in path.parent.iterdir()) == [f"{path.stem} backups", path.name]


def test_a_passphrase_is_taken_away_and_given(workspace: Workspace) -> None:
    workspace.transact("Add", "", add_field, "A")
    plain = change_key(workspace, None)
    assert not plain.encrypted
    again = change_key(plain, OTHER)
    with again:
        assert again.encrypted
        assert names(again) == ["A"]
        assert b"SQLite format" not in again.path.read_bytes()


def test_a_failing_rekey_leaves_the_old_file(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.transact("Add", "", add_field, "A")
    path = workspace.path
    with pytest.raises(ConflictError):
        change_key(workspace, "short")
    monkeypatch.setattr("core.storage.rekey.put_in_place", fail_with_full_disk)
    with pytest.raises(Exception, match="no room"):
        change_key(workspace, OTHER)
    monkeypatch.undo()
    with Workspace.open(path, PASSPHRASE) as opened:
        assert names(opened) == ["A"]
    assert sorted(p.name for p in path.parent.iterdir()) == [f"{path.stem} backups", path.name]


def fail_with_full_disk(new: Path, target: Path) -> None:
    raise OSError(28, "No space left on device")


def test_a_key_file_is_needed_beside_the_passphrase(tmp_path: Path) -> None:
    path, key_file = tmp_path / "k.rifugio", tmp_path / "key"
    make_key_file(key_file)
    with pytest.raises(ConflictError, match="already"):
        make_key_file(key_file)
    with Workspace.create(path, PASSPHRASE, key_file=key_file) as workspace:
        workspace.transact("Add", "", add_field, "A")
    with pytest.raises(WrongPassphraseError, match="key file"):
        Workspace.open(path, PASSPHRASE)
    with pytest.raises(WrongPassphraseError, match="with this key file"):
        Workspace.open(path, OTHER, key_file=key_file)
    with pytest.raises(InputError, match="cannot be read"):
        Workspace.open(path, PASSPHRASE, key_file=tmp_path / "none")
    (tmp_path / "empty").touch()
    with pytest.raises(InputError, match="empty"):
        Workspace.open(path, PASSPHRASE, key_file=tmp_path / "empty")
    workspace = Workspace.open(path, PASSPHRASE, key_file=key_file)
    assert names(workspace) == ["A"]
    change_key(workspace, PASSPHRASE).close()
    with Workspace.open(path, PASSPHRASE) as opened:
        assert names(opened) == ["A"]


def test_recovery_reads_what_can_be_read_and_rebuilds_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "w.rifugio"
    with Workspace.create(path, PASSPHRASE) as workspace:
        for number in range(300):
            workspace.transact_job("Add", "", add_field, f"{number} " + "x" * 400)
        key = workspace.key.copy()  # type: ignore[union-attr]
        expected = {field.id: field for field in workspace.find(Field)}
    data = bytearray(path.read_bytes())
    # Every thirtieth page is gone: too much for SQLite, too little for both places a row is in.
    for page in range(40, len(data) // 4096, 30):
        data[page * 4096 : page * 4096 + 16] = os.urandom(16)
    path.write_bytes(data)
    with pytest.raises(DamagedWorkspaceError):
        Workspace.open(path, PASSPHRASE)
    target = tmp_path / "recovered.rifugio"
    report = recover_workspace(path, target, key)
    assert path.read_bytes() == bytes(data)
    with Workspace.open(target, PASSPHRASE) as recovered:
        found = {field.id: field for field in recovered.find(Field)}
        assert all(expected[row_id] == field for row_id, field in found.items())
        assert len(found) > 280
        assert check_file(recovered, encrypted=True) == []
    assert "recovered" in report.words
    assert sum(report.read.values()) + sum(report.rebuilt.values()) == len(found)
    with pytest.raises(ConflictError, match="already"):
        recover_workspace(path, target, key)


def test_recovery_with_a_broken_first_page_is_helped_by_the_last_good_backup(
    workspace: Workspace, tmp_path: Path
) -> None:
    for number in range(20):
        workspace.transact_job("Add", "", add_field, f"{number}")
    back_up(workspace)
    workspace.transact("Add", "", add_field, "after the backup")
    path, key = workspace.path, workspace.key.copy()  # type: ignore[union-attr]
    workspace.close()
    data = bytearray(path.read_bytes())
    data[100:200] = os.urandom(100)
    path.write_bytes(data)
    target = tmp_path / "recovered.rifugio"
    report = recover_workspace(path, target, key)
    assert report.backup is not None
    with Workspace.open(target, PASSPHRASE) as recovered:
        assert "after the backup" in names(recovered)
        assert len(names(recovered)) == 21


def test_recovery_without_a_backup_when_the_list_of_tables_is_broken(tmp_path: Path) -> None:
    path = tmp_path / "w.rifugio"
    with Workspace.create(path, PASSPHRASE) as workspace:
        for number in range(40):
            workspace.transact_job("Add", "", add_field, f"{number}")
        key = workspace.key.copy()  # type: ignore[union-attr]
    pages = schema_pages(path, key)
    assert len(pages) > 3
    data = bytearray(path.read_bytes())
    for number in [1, *sorted(pages)[2:4]]:
        data[(number - 1) * 4096 + 50] ^= 1
    path.write_bytes(data)
    recover_workspace(path, tmp_path / "recovered.rifugio", key)
    with Workspace.open(tmp_path / "recovered.rifugio", PASSPHRASE) as recovered:
        assert len(names(recovered)) == 40
        assert is_sound(recovered)


def test_nothing_readable_is_said(tmp_path: Path) -> None:
    path = tmp_path / "w.rifugio"
    with Workspace.create(path, PASSPHRASE) as workspace:
        key = workspace.key.copy()  # type: ignore[union-attr]
    path.write_bytes(path.read_bytes()[:16] + os.urandom(40_000))
    with pytest.raises(DamagedWorkspaceError, match="Nothing in the file"):
        recover_workspace(path, tmp_path / "r.rifugio", key)
    assert sorted(p.name for p in tmp_path.iterdir()) == [path.name]


def test_a_file_removed_while_open_is_rescued(workspace: Workspace) -> None:
    workspace.transact("Add", "", add_field, "Saved")
    workspace.path.unlink()
    with pytest.raises(DamagedWorkspaceError, match="removed or replaced while it was open"):
        workspace.transact("Add", "", add_field, "Refused")
    with pytest.raises(DamagedWorkspaceError, match="now in"):
        workspace.transact("Add", "", add_field, "Refused")
    rescued = [p for p in workspace.path.parent.iterdir() if "rescued" in p.name]
    assert len(rescued) == 1
    workspace.close()
    with Workspace.open(rescued[0], PASSPHRASE) as opened:
        assert names(opened) == ["Saved"]
        assert is_sound(opened)


def test_a_folder_removed_while_open_is_said(workspace: Workspace, tmp_path: Path) -> None:
    workspace.transact("Add", "", add_field, "Saved")
    shutil.rmtree(tmp_path)
    with pytest.raises(DamagedWorkspaceError, match="Nothing more can be saved"):
        workspace.transact("Add", "", add_field, "Refused")
    workspace.close()


def test_a_clock_set_back_is_said(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace.transact("Add", "", add_field, "A")
    path = workspace.path
    workspace.close()
    monkeypatch.setattr("core.storage.opening.now", lambda: "2001-01-01T00:00:00.000Z")
    with Workspace.open(path, PASSPHRASE) as opened:
        assert "before the last change" in opened.notes[0]
