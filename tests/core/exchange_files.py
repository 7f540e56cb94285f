"""Files to take in, and a workspace with a task to take them into."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.exchange.imports import ImportReport, import_records, read_import
from core.storage import Workspace
from core.types import (
    Task,
)
from tests.factories import make_task


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    """A plain workspace: deriving a key for each test would take longer than the tests."""
    with Workspace.create(tmp_path / "test.rifugio", None) as opened:
        yield opened


HEAD = "task,input.Transcript,output.Subjective\n"


def take(workspace: Workspace, path: Path, kind: str = "examples", **more: object) -> ImportReport:
    """Import a file as the dialog and the command line do."""
    found, _format = read_import(path, kind, **more)  # type: ignore[arg-type]
    return workspace.transact("Import", "", import_records, path.name, kind, found).value


@pytest.fixture
def task(workspace: Workspace) -> Task:
    return workspace.transact("Task", "", make_task).value


def write(tmp_path: Path, data: bytes | str, name: str = "x.csv") -> Path:
    path = tmp_path / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path
