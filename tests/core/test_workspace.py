"""The workspace file: what it keeps, what it refuses, and in which words."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
import sqlcipher3.dbapi2 as sqlcipher

from core.errors import (
    BugError,
    ConflictError,
    DamagedWorkspaceError,
    NetworkShareError,
    NewerWorkspaceError,
    NotAWorkspaceError,
    NotFoundError,
    ReadOnlyWorkspaceError,
    WorkspaceBusyError,
    WrongPassphraseError,
)
from core.ids import new_id
from core.storage import Transaction, Workspace, connection, schema
from core.storage.audit import check_chain, check_file
from core.types import Field, SectionSpec, Task
from tests.conftest import PASSPHRASE
from tests.factories import make_task


def add_field(tx: Transaction, name: str) -> Field:
    return tx.insert(Field(id=new_id(), name=name))


@pytest.fixture
def closed(tmp_path: Path) -> Path:
    """An encrypted workspace with content, closed."""
    path = tmp_path / "Patienten ü ع #1?.rifugio"
    with Workspace.create(path, PASSPHRASE) as workspace:
        for number in range(40):
            workspace.transact("Add field", "", add_field, f"GEHEIMNIS-{number} " + "x" * 200)
    return path


def test_everything_is_there_after_reopening(closed: Path) -> None:
    with Workspace.open(closed, PASSPHRASE) as workspace:
        assert workspace.count(Field) == 40
        assert workspace.encrypted
        assert check_file(workspace, encrypted=True) == []
        assert check_chain(workspace) == []


def test_no_text_can_be_read_in_the_file(workspace: Workspace) -> None:
    workspace.transact("Add field", "", add_field, "GEHEIMNIS")
    for path in workspace.path.parent.iterdir():
        data = path.read_bytes()
        assert b"GEHEIMNIS" not in data
        assert b"CREATE TABLE" not in data
        assert b"SQLite format" not in data


def test_another_sqlcipher_client_opens_it_with_the_passphrase(closed: Path) -> None:
    client = sqlcipher.connect(str(closed))
    client.execute(f"PRAGMA key = '{PASSPHRASE}'")
    assert client.execute("SELECT count(*) FROM field").fetchone() == (40,)
    client.close()


def test_a_plain_workspace_is_plain_sqlite_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "plain.rifugio"
    with Workspace.create(path, None) as workspace:
        workspace.transact("Add field", "", add_field, "Law")
        assert not workspace.encrypted
    client = sqlite3.connect(path)
    assert client.execute("SELECT name FROM field").fetchall() == [("Law",)]
    client.close()


@pytest.mark.parametrize("passphrase", ["wrong horse battery", "", PASSPHRASE.upper()])
def test_a_wrong_passphrase_is_called_that(closed: Path, passphrase: str) -> None:
    before = closed.read_bytes()
    with pytest.raises(WrongPassphraseError, match="does not open"):
        Workspace.open(closed, passphrase)
    assert closed.read_bytes() == before


def test_a_missing_passphrase_is_asked_for(closed: Path) -> None:
    with pytest.raises(WrongPassphraseError, match="needs its passphrase"):
        Workspace.open(closed)


def test_a_short_passphrase_and_a_taken_name_are_refused(tmp_path: Path, closed: Path) -> None:
    with pytest.raises(ConflictError, match="fewer than"):
        Workspace.create(tmp_path / "a.rifugio", "short")
    with pytest.raises(ConflictError, match="already"):
        Workspace.create(closed, PASSPHRASE)
    with pytest.raises(NotFoundError, match="folder"):
        Workspace.create(tmp_path / "none" / "a.rifugio", PASSPHRASE)


@pytest.mark.parametrize("place", [20, 2000, 4090, 4096 * 3 + 100, -5000, -1])
def test_a_flipped_byte_is_called_damage_and_changes_nothing(closed: Path, place: int) -> None:
    data = bytearray(closed.read_bytes())
    data[place] ^= 0x40
    closed.write_bytes(data)
    with pytest.raises(DamagedWorkspaceError, match="damaged"):
        Workspace.open(closed, PASSPHRASE)
    assert closed.read_bytes() == bytes(data)


@pytest.mark.parametrize("size", [4097, 8192, 20_000])
def test_a_file_cut_short_is_called_damage(closed: Path, size: int) -> None:
    closed.write_bytes(closed.read_bytes()[:size])
    with pytest.raises(DamagedWorkspaceError):
        Workspace.open(closed, PASSPHRASE)


def test_what_is_no_workspace_is_called_that(tmp_path: Path) -> None:
    path = tmp_path / "x.rifugio"
    with pytest.raises(NotFoundError, match="no file"):
        Workspace.open(path)
    path.touch()
    with pytest.raises(NotAWorkspaceError, match="empty"):
        Workspace.open(path)
    path.write_bytes(b"hello")
    with pytest.raises(NotAWorkspaceError):
        Workspace.open(path, PASSPHRASE)
    path.unlink()
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE t (x)")
    other.close()
    with pytest.raises(NotAWorkspaceError, match="not a Rifugio workspace"):
        Workspace.open(path)


def test_a_newer_file_is_refused_in_plain_words(closed: Path) -> None:
    client = sqlcipher.connect(str(closed))
    client.execute(f"PRAGMA key = '{PASSPHRASE}'")
    client.execute(
        "INSERT INTO _sqlite_migrations (migration_set, name, applied_at)"
        " VALUES ('rifugio', '9999_future', '2030')"
    )
    client.commit()
    client.close()
    before = closed.read_bytes()
    with pytest.raises(NewerWorkspaceError, match="later version"):
        Workspace.open(closed, PASSPHRASE)
    assert closed.read_bytes() == before


def test_a_second_writer_is_refused_and_may_read(closed: Path) -> None:
    with Workspace.open(closed, PASSPHRASE) as first:
        with pytest.raises(WorkspaceBusyError, match="in use"):
            Workspace.open(closed, PASSPHRASE)
        with Workspace.open(closed, PASSPHRASE, read_only=True) as reader:
            first.transact("Add field", "", add_field, "New")
            assert reader.count(Field) == 41
            with pytest.raises(ReadOnlyWorkspaceError, match="reading only"):
                reader.transact("Add field", "", add_field, "No")
    assert sorted(path.name for path in closed.parent.iterdir()) == [closed.name]


def test_a_killed_writer_leaves_no_lock_and_no_loss(tmp_path: Path) -> None:
    path = tmp_path / "w.rifugio"
    script = (
        "import sys; from pathlib import Path; from core.storage import Workspace\n"
        "from core.types import Field; from core.ids import new_id\n"
        f"w = Workspace.create(Path({str(path)!r}), {PASSPHRASE!r})\n"
        "def add(tx, n): tx.insert(Field(id=new_id(), name=str(n)))\n"
        "for n in range(100000):\n"
        "    w.transact('Add field', '', add, n); print(n, flush=True)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(50)]
    process.kill()
    said = int((lines + process.stdout.readlines())[-1])
    process.wait()
    process.stdout.close()
    with Workspace.open(path, PASSPHRASE) as workspace:
        names = {int(field.name) for field in workspace.find(Field)}
        assert set(range(said + 1)) <= names
        assert check_chain(workspace) == []


def test_a_failing_verb_changes_nothing(workspace: Workspace) -> None:
    def half(tx: Transaction) -> None:
        add_field(tx, "Half")
        raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        workspace.transact("Half", "", half)
    assert workspace.count(Field) == 0
    assert workspace.value("SELECT count(*) FROM change") == 0
    workspace.transact("Add field", "", add_field, "Whole")
    assert check_chain(workspace) == []


def test_a_transaction_tells_and_logs_what_it_changed(workspace: Workspace) -> None:
    heard = []
    stop = workspace.subscribe(heard.append)
    outcome = workspace.transact("Add task", "p1", make_task)
    task = outcome.value
    assert outcome.changes.ids["task"] == {task.id}
    assert outcome.changes.touches("field")
    assert heard == [outcome.changes]
    stop()
    workspace.transact("Edit", "p1", lambda tx: tx.update(Task, task.id, notes="ß 日本語 🩺"))
    assert len(heard) == 1
    row = workspace.query("SELECT * FROM change WHERE kind = 'task' ORDER BY seq DESC LIMIT 1")[0]
    assert (row["person"], row["label"]) == ("p1", "Edit")
    assert row["before"] == '{"notes":""}'
    assert "日本語" in row["after"]
    assert workspace.get(Task, task.id).notes == "ß 日本語 🩺"


def test_an_update_without_difference_logs_nothing(workspace: Workspace) -> None:
    task = workspace.transact("Add task", "", make_task).value
    count = workspace.value("SELECT count(*) FROM change")
    changes = workspace.transact("Edit", "", lambda tx: tx.update(Task, task.id, notes="")).changes
    assert not changes
    assert workspace.value("SELECT count(*) FROM change") == count


def test_a_deleted_row_leaves_a_tombstone(workspace: Workspace) -> None:
    field = workspace.transact("Add field", "", add_field, "Law").value
    workspace.transact("Delete", "", lambda tx: tx.delete(Field, field.id))
    with pytest.raises(NotFoundError, match="no field"):
        workspace.get(Field, field.id)
    row = workspace.query("SELECT deleted, revision, origin FROM field")[0]
    assert row == {"deleted": 1, "revision": 2, "origin": workspace.origin}


def test_an_altered_history_is_found(workspace: Workspace) -> None:
    for number in range(3):
        workspace.transact("Add field", "", add_field, str(number))
    workspace.transact_job(
        "x", "", lambda tx: tx.execute_unlogged("UPDATE change SET label = 'y' WHERE seq = 2")
    )
    assert [finding.place.split(" of ")[0] for finding in check_chain(workspace)] == ["change 2"]
    workspace.transact_job(
        "x", "", lambda tx: tx.execute_unlogged("DELETE FROM change WHERE seq = 2")
    )
    assert "missing" in check_chain(workspace)[0].message


def test_a_verb_may_not_open_a_transaction_of_its_own(workspace: Workspace) -> None:
    def nested(tx: Transaction) -> None:
        workspace.transact("Inner", "", add_field, "Inner")

    with pytest.raises(BugError, match="should use the transaction"):
        workspace.transact("Outer", "", nested)


def test_further_connections_cost_no_key_derivation(closed: Path) -> None:
    from core.storage.cipher import derive_key

    with Workspace.open(closed, PASSPHRASE) as workspace:
        # What this thread works, not how long it takes: that is up to what else the machine does.
        start = time.thread_time()
        derive_key(PASSPHRASE, b"0" * 16)
        derivation = time.thread_time() - start
        start = time.thread_time()
        for _ in range(5):
            with workspace.reader():
                pass
        with workspace.reader() as one, workspace.reader() as two:
            assert one is not two
        assert time.thread_time() - start < derivation


def test_a_network_share_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "_network_file_system", lambda folder: "nfs4")
    with pytest.raises(NetworkShareError, match="network share"):
        Workspace.create(tmp_path / "a.rifugio", PASSPHRASE)
    assert list(tmp_path.iterdir()) == []


def test_the_schema_records_itself(workspace: Workspace) -> None:
    assert workspace.schema_version == schema.latest_schema()
    assert workspace.value("PRAGMA application_id") == schema.APPLICATION_ID
    assert workspace.value("PRAGMA journal_mode") == "wal"


def test_values_of_any_text_come_back_the_same(workspace: Workspace) -> None:
    texts = [
        "",
        "\0",
        "a\u202eb",
        "👩‍⚕️",
        "שלום",
        "x" * 1_000_000,
        "'; DROP TABLE task; --",
        "\r\n\t",
    ]

    def add(tx: Transaction, text: str) -> Task:
        return tx.insert(
            Task(
                id=new_id(),
                field_id=field.id,
                objective=text,
                output_sections=(SectionSpec(title=text, description=text),),
                extra={"k": [text, 1, None, 2.5, True]},
            )
        )

    field = workspace.transact("Add field", "", add_field, "F").value
    for text in texts:
        task = workspace.transact("Add", "", add, text).value
        assert workspace.get(Task, task.id) == task
