"""The real main job, killed in the middle: nothing done is lost, nothing is done twice."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from core.storage import Workspace
from core.storage.audit import check_chain
from core.types import Output
from models.catalog import DEFAULT_GENERATOR
from tests.conftest import PASSPHRASE, REAL_MODELS
from tests.shared_data import shared_path

pytestmark = [pytest.mark.models, pytest.mark.slow, pytest.mark.xdist_group("models")]


def _begin_five(target: Path) -> Path:
    """Five published encounters by their beginnings: reading whole ones would take the model a minute."""
    with shared_path("data", "aci-bench", "valid.csv").open(encoding="utf-8", newline="") as source:
        rows = list(csv.DictReader(source))[:5]
    with target.open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, list(rows[0]))
        writer.writeheader()
        writer.writerows(row | {"dialogue": row["dialogue"][:1_500]} for row in rows)
    return target


@pytest.mark.timeout(300)
def test_a_run_killed_in_the_middle_is_finished_without_repeating(tmp_path: Path) -> None:
    workspace, secret = tmp_path / "w.rifugio", tmp_path / "p.txt"
    secret.write_text(PASSPHRASE)
    env = {**os.environ, "RIFUGIO_MODELS": str(REAL_MODELS)}

    def words(*verb: str) -> list[str]:
        return [sys.executable, "-m", "app", *verb, "--passphrase-file", str(secret), "--json"]

    def rifugio(*verb: str) -> dict[str, object]:
        done = subprocess.run(words(*verb), capture_output=True, text=True, env=env, check=False)
        assert done.returncode == 0, done.stderr
        value: dict[str, object] = json.loads(done.stdout)
        return value

    name = str(workspace)
    rifugio("new", name)
    rifugio("import", name, str(_begin_five(tmp_path / "begun.csv")), "--as", "examples")
    rifugio("systems", "add", name, "S", "--model", DEFAULT_GENERATOR, "--param", "max_tokens=48")
    process = subprocess.Popen(
        words("run", name, "--system", "S", "--examples", "5"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=env,
    )
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("Run S: 2 of 5"):
            break
    time.sleep(0.5)
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stderr.close()

    with Workspace.open(workspace, PASSPHRASE) as opened:
        before = {o.id: (o.text, o.finished) for o in opened.find(Output, "state = 'done'")}
        assert len(before) >= 2
        assert check_chain(opened) == []
    run = rifugio("run", name, "--resume", "last")
    assert (run["state"], run["done"], run["failed"]) == ("done", 5, 0)
    rifugio("score", name, "--run", "last")
    report = tmp_path / "r.html"
    assert rifugio("report", name, "--out", str(report))["outputs"] == 5
    with Workspace.open(workspace, PASSPHRASE) as opened:
        after = {o.id: (o.text, o.finished) for o in opened.find(Output)}
        assert len(after) == 5
        assert {key: after[key] for key in before} == before
    assert b"[doctor]" not in workspace.read_bytes()
