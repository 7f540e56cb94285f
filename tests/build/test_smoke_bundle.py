"""The trial of a bundle finds what it is there to find."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest
import smoke_bundle
from console import SetupError

GOOD: dict[str, Any] = {
    "state": "done",
    "failed": 0,
    "examples": 4,
    "outputs": 4,
    "results": {"rougeL": 0.2, "length": 190.0},
    "seconds": 30.0,
}


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """A workspace that looks encrypted, and a report."""
    workspace, report = tmp_path / "w.rifugio", tmp_path / "report.html"
    workspace.write_bytes(os.urandom(4096))
    report.write_text("<!doctype html><html></html>", encoding="utf-8")
    return workspace, report


def test_a_good_demo_passes(files: tuple[Path, Path]) -> None:
    smoke_bundle.check_demo(GOOD, *files)


@pytest.mark.parametrize(
    "change",
    [
        {"state": "cancelled"},
        {"failed": 1},
        {"outputs": 0},
        {"outputs": 3},
        {"results": {}},
        {"results": {"rougeL": 0.0, "length": 0.0}},
    ],
)
def test_a_demo_that_fell_short_does_not(files: tuple[Path, Path], change: dict[str, Any]) -> None:
    with pytest.raises(SetupError):
        smoke_bundle.check_demo(GOOD | change, *files)


def test_a_plain_workspace_or_an_empty_report_does_not(files: tuple[Path, Path]) -> None:
    workspace, report = files
    report.write_text("nothing", encoding="utf-8")
    with pytest.raises(SetupError, match="HTML"):
        smoke_bundle.check_demo(GOOD, workspace, report)
    report.write_text("<html>", encoding="utf-8")
    workspace.write_bytes(smoke_bundle.PLAIN_SQLITE + bytes(100))
    with pytest.raises(SetupError, match="encrypted"):
        smoke_bundle.check_demo(GOOD, workspace, report)


@pytest.mark.parametrize("name", ["libtorch_cpu.so", "libQt6Network.so.6", "QtNetwork.abi3.so"])
def test_what_must_not_be_in_a_bundle_is_found(tmp_path: Path, name: str) -> None:
    (tmp_path / "_internal").mkdir()
    (tmp_path / "_internal" / "libQt6Core.so.6").touch()
    smoke_bundle.look_for_forbidden(tmp_path)
    (tmp_path / "_internal" / name).touch()
    with pytest.raises(SetupError, match=name.split(".")[0]):
        smoke_bundle.look_for_forbidden(tmp_path)


def test_a_stranger_has_nothing_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "somewhere")
    monkeypatch.setenv("VIRTUAL_ENV", "somewhere")
    env = smoke_bundle.stranger_environment(tmp_path)
    assert not [name for name in env if name.startswith(("PYTHON", "VIRTUAL"))]
    assert list(Path(env["HOME"]).iterdir()) == []


def test_a_window_that_ends_at_once_is_noticed(tmp_path: Path) -> None:
    env = {**os.environ}
    with pytest.raises(SetupError, match="did not open"):
        smoke_bundle.try_window(Path(sys.executable), tmp_path, env)
