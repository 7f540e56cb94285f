"""Opening and making workspaces for the window, on a worker thread."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from app.session import prepare_workspace
from core.settings import data_directory
from core.types import Person

if TYPE_CHECKING:
    from core.storage.workspace import Workspace

Opened = tuple["Workspace", Person]
SUFFIX = ".rifugio"
_PLAIN_HEADER = b"SQLite format 3\0"


def has_backups(path: Path) -> bool:
    """Whether a folder of backups lies beside a workspace.

    The storage itself, which names them, is not imported before a workspace is opened.
    """
    try:
        return any(path.with_name(f"{path.stem} backups").glob(f"*{SUFFIX}"))
    except OSError:
        return False


def is_encrypted(path: Path) -> bool:
    """Whether a file asks for a passphrase, from its first bytes; False when there is none.

    The storage itself is not imported before a workspace is opened: it costs half a second.
    """
    try:
        with path.open("rb") as stream:
            head = stream.read(len(_PLAIN_HEADER))
    except OSError:
        return False
    return bool(head) and head != _PLAIN_HEADER


def create_workspace(
    path: Path, passphrase: str | None, name: str, key_file: Path | None = None
) -> Opened:
    """Make a workspace, its key file where there is none yet, and its first person; for a worker
    thread."""
    from core.storage.cipher import make_key_file
    from core.storage.workspace import Workspace

    if key_file is not None and not key_file.exists():
        make_key_file(key_file)
    workspace = Workspace.create(path, passphrase, key_file=key_file)
    return _prepared(workspace, name)


def open_workspace(
    path: Path, passphrase: str | None, name: str, read_only: bool, key_file: Path | None = None
) -> Opened:
    """Open a workspace and find the person in it; for a worker thread."""
    from core.storage.workspace import Workspace

    workspace = Workspace.open(path, passphrase, read_only=read_only, key_file=key_file)
    return _prepared(workspace, name)


def open_demo_workspace(name: str) -> Opened:
    """Open the demo workspace, filling it when it is new; for a worker thread."""
    from core.exchange.demo import fill_demo, fill_outputs

    path = data_directory() / f"Demo{SUFFIX}"
    if path.exists():
        return open_workspace(path, None, name, False)
    path.parent.mkdir(parents=True, exist_ok=True)
    workspace, person = create_workspace(path, None, name)
    try:
        workspace.transact_job("Fill the demo", person.id, fill_demo)
        fill_outputs(workspace, person.id)
    except BaseException:
        workspace.close()
        path.unlink(missing_ok=True)
        raise
    return workspace, person


def _prepared(workspace: Workspace, name: str) -> Opened:
    try:
        return workspace, prepare_workspace(workspace, name)
    except BaseException:
        workspace.close()
        raise
