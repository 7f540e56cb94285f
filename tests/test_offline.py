"""No network: sockets are refused inside the process, and system calls show none outside it."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from core.offline import OFFLINE_ENVIRONMENT, NetworkRefusedError

ROOT = Path(__file__).resolve().parent.parent

#: The main job with a fake model in a real worker, and the window's start, as a script under trace.
MAIN_JOB = """
import sys
from pathlib import Path
from core.offline import apply_offline_environment, install_offline_guard
apply_offline_environment(); install_offline_guard()
from core.exchange.demo import fill_demo
from core.metrics.registry import create
from core.report.html import write_report
from core.runs.engine import execute_run
from core.runs.scoring import DEFAULT_METRICS, score_run
from core.runs.verbs import add_run, add_system, select_examples
from core.storage import Workspace
from models.hosted import HostedGenerator
folder = Path(sys.argv[1])
with Workspace.create(folder / "w.rifugio", "correct horse") as w:
    w.transact("Demo", "", fill_demo)
    system = w.transact("Add", "", add_system, "S", model_id="fake").value
    run = w.transact("Run", "", add_run, system.id, select_examples(w)).value
    model = HostedGenerator({"engine": "fake"})
    job = execute_run(w, run.id, model)
    model.close()
    score_run(w, run.id, {name: create(name) for name in DEFAULT_METRICS})
    write_report(w, folder / "r.html")
    print(job.state)
"""


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_internet_sockets_are_refused(family: int) -> None:
    with pytest.raises(NetworkRefusedError, match="refused"):
        socket.socket(family)


def test_names_are_not_looked_up() -> None:
    with pytest.raises(NetworkRefusedError):
        socket.getaddrinfo("example.org", 80)
    with pytest.raises(NetworkRefusedError):
        socket.gethostbyname("localhost")


def test_local_sockets_work() -> None:
    left, right = socket.socketpair()
    left.sendall(b"x")
    assert right.recv(1) == b"x"
    left.close()
    right.close()


def test_libraries_are_told_to_stay_offline() -> None:
    for name, value in OFFLINE_ENVIRONMENT.items():
        assert os.environ[name] == value


def test_the_suite_runs_with_the_network_cut_where_it_says_so() -> None:
    if os.environ.get("RIFUGIO_NETWORK_CUT") != "1":
        pytest.skip("this run does not cut the network")
    interfaces = [name for _, name in socket.if_nameindex() if name != "lo"]
    assert interfaces == []


def trace(script: list[str], folder: Path) -> str:
    """Every socket call of a command and its children."""
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("strace is not installed")
    log = folder / "trace.txt"
    done = subprocess.run(
        [strace, "-f", "-qq", "-e", "trace=socket,connect,bind,sendto", "-o", str(log), *script],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        check=False,
        timeout=100,
    )
    if "ptrace" in done.stderr and "not permitted" in done.stderr:
        pytest.skip("this system does not permit tracing")
    assert done.returncode == 0, done.stderr
    return log.read_text(errors="replace")


def assert_no_internet(log: str) -> None:
    found = [line for line in log.splitlines() if re.search(r"AF_INET6?\b|AF_PACKET", line)]
    assert found == []


def test_a_trace_of_the_main_job_shows_no_internet_socket(tmp_path: Path) -> None:
    assert_no_internet(trace([sys.executable, "-c", MAIN_JOB, str(tmp_path)], tmp_path))


@pytest.mark.models
@pytest.mark.xdist_group("models")
def test_a_trace_of_the_real_workers_shows_no_internet_socket(tmp_path: Path) -> None:
    script = (
        "from core.ports import *; from models.local import LocalModels\n"
        "with LocalModels() as m:\n"
        "    r = GenerationRequest(messages=(Message('user', 'Hi'),), max_tokens=3)\n"
        "    m.generator().generate(r); m.embedder().embed(['Hi'])\n"
    )
    assert_no_internet(trace([sys.executable, "-c", script], tmp_path))


def test_the_trace_would_show_one(tmp_path: Path) -> None:
    script = "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM)"
    with pytest.raises(AssertionError):
        assert_no_internet(trace([sys.executable, "-c", script], tmp_path))
