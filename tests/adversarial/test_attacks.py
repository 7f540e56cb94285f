"""Short runs of what the scripts beside this do at length: kills, damage, full disks; and each case of
damage with the sentence it has to be called by."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from core.errors import (
    DamagedWorkspaceError,
    DiskFullError,
    NetworkShareError,
    NotFoundError,
    ReadOnlyWorkspaceError,
    WorkspaceBusyError,
)
from core.storage import Workspace, connection
from core.storage.files import companions
from core.tasks.verbs import add_task
from core.types import Task
from tests.adversarial.damage_loop import run_attacks
from tests.adversarial.disk_full import (
    PASSPHRASE,
    fill_again_and_again,
    fill_disk,
    small_disk,
    write_until_full,
)

ROOT = Path(__file__).resolve().parents[2]
posix = pytest.mark.skipif(os.name != "posix", reason="needs fork and signals")


@posix
@pytest.mark.timeout(300)
def test_killed_at_random_nothing_is_lost_or_half_there() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.adversarial.kill_loop", "--kills", "8", "--seed", "5"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["kills"] == 8
    assert told["steps saved"] > 0


@pytest.mark.timeout(300)
def test_damage_is_never_taken_for_good() -> None:
    ends = run_attacks(25, 3, recover_every=8)
    assert sum(ends.values()) == 25
    assert any("refused" in end for end in ends)


@posix
@pytest.mark.timeout(300)
def test_a_full_disk_at_fifty_random_writes_loses_nothing(tmp_path: Path) -> None:
    with small_disk(tmp_path, 24_000_000) as disk:
        if disk is None:
            pytest.skip("no file system can be mounted here; a limit of file size stands in")
        assert fill_again_and_again(disk, 50, 11) > 50


@posix
@pytest.mark.timeout(300)
def test_a_limit_of_file_size_loses_nothing(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "tests.adversarial.disk_full", str(tmp_path), "6", "2"],
        check=True,
        cwd=ROOT,
        timeout=280,
    )


@posix
def test_a_full_disk_has_a_sentence_also_for_new_files_and_backups(tmp_path: Path) -> None:
    with small_disk(tmp_path, 6_000_000) as disk:
        if disk is None:
            pytest.skip("no file system can be mounted here")
        filler = fill_disk(disk, 100_000)
        with pytest.raises(DiskFullError, match="no room"):
            Workspace.create(disk / "w.rifugio", PASSPHRASE)
        assert sorted(disk.iterdir()) == [filler]
        filler.unlink()
        with Workspace.create(disk / "w.rifugio", PASSPHRASE) as workspace:
            fill_disk(disk, 30_000)
            with pytest.raises(DiskFullError, match="no room"):
                workspace.copy_to(disk / "copy.rifugio")
            assert not (disk / "copy.rifugio").exists()
            write_until_full(workspace, random.Random(1))


@posix
def test_a_folder_that_cannot_be_written_is_said_and_may_be_read(tmp_path: Path) -> None:
    with small_disk(tmp_path, 8_000_000) as disk:
        if disk is None:
            pytest.skip("no file system can be mounted here")
        path = disk / "w.rifugio"
        with Workspace.create(path, PASSPHRASE) as workspace:
            workspace.transact("Add", "", add_task, field="Law", objective="A")
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        try:
            with pytest.raises(ReadOnlyWorkspaceError, match="cannot be written"):
                Workspace.open(path, PASSPHRASE)
            with Workspace.open(path, PASSPHRASE, read_only=True) as opened:
                assert [task.objective for task in opened.find(Task)] == ["A"]
        finally:
            subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)


def make_crash_image(folder: Path, steps: int = 6) -> Path:
    """A workspace as a power cut leaves it: all work in the log, its index beside it."""
    work = folder / "work"
    work.mkdir()
    with Workspace.create(work / "w.rifugio", PASSPHRASE) as workspace:
        for number in range(steps):
            workspace.transact("Add", "", add_task, field="Law", objective=f"task {number}")
        shutil.copytree(work, folder / "image")
    return folder / "image" / "w.rifugio"


def test_a_power_cut_in_the_middle_of_a_write_keeps_all_that_was_saved(tmp_path: Path) -> None:
    path = make_crash_image(tmp_path)
    log, index = companions(path)
    # The machine stopped while a seventh step was being written: half of it is in the log.
    data = log.read_bytes()
    log.write_bytes(data + data[-4120:-2000])
    index.unlink()
    with Workspace.open(path, PASSPHRASE) as workspace:
        assert workspace.count(Task) == 6
        assert workspace.notes == []


def test_a_last_step_that_was_not_whole_is_left_out_and_said(tmp_path: Path) -> None:
    path = make_crash_image(tmp_path)
    log, index = companions(path)
    log.write_bytes(log.read_bytes()[:-100])
    index.unlink()
    with Workspace.open(path, PASSPHRASE) as workspace:
        assert workspace.count(Task) == 5
        assert "had not been called saved" in workspace.notes[0]


@pytest.mark.parametrize("harm", ["gone", "cut", "flipped early", "header"])
def test_a_log_that_lost_saved_work_is_refused(tmp_path: Path, harm: str) -> None:
    path = make_crash_image(tmp_path)
    log, _index = companions(path)
    data = bytearray(log.read_bytes())
    if harm == "gone":
        log.unlink()
    elif harm == "cut":
        log.write_bytes(data[: len(data) // 2])
    else:
        data[10 if harm == "header" else 5_000] ^= 1
        log.write_bytes(data)
    before = path.read_bytes()
    with pytest.raises(DamagedWorkspaceError, match=r"The log beside .* is damaged"):
        Workspace.open(path, PASSPHRASE)
    assert path.read_bytes() == before


def test_each_case_has_its_own_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "w.rifugio"
    Workspace.create(path, PASSPHRASE).close()
    sentences = set()

    def refused(kind: type[Exception]) -> None:
        with pytest.raises(kind) as caught:
            Workspace.open(path, PASSPHRASE)
        sentences.add(caught.value.message)  # type: ignore[attr-defined]
        assert caught.value.remedy  # type: ignore[attr-defined]

    with Workspace.open(path, PASSPHRASE):
        refused(WorkspaceBusyError)
    with monkeypatch.context() as patch:
        patch.setattr(connection, "_network_file_system", lambda folder: "cifs")
        refused(NetworkShareError)
    whole = path.read_bytes()
    for harmed in (
        whole[:10_000],
        whole[:200] + b"x" + whole[201:],
        whole[:3] + b"x" + whole[4:],
        whole[:-4000] + b"x" + whole[-3999:],
        b"",
        whole[:900],
    ):
        path.write_bytes(harmed)
        refused(Exception)
    path.unlink()
    refused(NotFoundError)
    assert len(sentences) >= 7
