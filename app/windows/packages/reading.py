"""Opening the other file of a merge, and looking at what it would bring; for threads of the pool."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from core.errors import UsageError
from core.exchange.merge_report import Conflict, MergeReport
from core.exchange.merging import merge, preview_merge
from core.review.blinding import results_hidden
from core.storage.cipher import Key, inspect_file
from core.storage.kinds import KINDS
from core.storage.opening import find_key
from core.storage.reads import Reads
from core.storage.references import AMONG, pack_ids
from core.storage.rekey import opens
from core.storage.workspace import Workspace

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Looked:
    """What a look into the other file found. ``key`` opens it again; ``about`` says which output or
    example a row in conflict is about; with ``hidden`` nobody's name is to be shown, since who looks works
    blind."""

    path: Path
    key: Key | None
    report: MergeReport
    package_for: str
    about: Mapping[str, str]
    hidden: bool


def look_into(
    workspace: Workspace, own_id: str, path: Path, passphrase: str, key_file: Path | None
) -> Looked | None:
    """Preview a merge; None when the file asks for a passphrase and none was typed.

    A copy of the open workspace, and a plain file, open without one.

    Raises
    ------
    UsageError
        When it is the open workspace itself.
    WorkspaceError, InputError, ConflictError
    """
    shape = inspect_file(path)
    if shape != "missing" and path.samefile(workspace.path):
        raise UsageError(
            f"{path.name} is the workspace that is open.",
            remedy="Choose the package that came back, or another copy.",
        )
    key = None
    if shape == "encrypted":
        if opens(path, workspace.key):
            key = workspace.key.copy() if workspace.key is not None else None
        elif not passphrase:
            return None
        else:
            key = find_key(path, passphrase, key_file)
    elif shape != "plain":
        find_key(path, None, None)
    kept = key.copy() if key is not None else None
    report = _with_other(path, key, lambda other: preview_merge(workspace, other, own_id))
    name = ""
    if report.package is not None:
        asked = "SELECT name FROM person WHERE id = ?"
        name = str(workspace.value(asked, (report.package.person,)) or "")
    return Looked(
        path,
        kept,
        report,
        name,
        _find_subjects(workspace, report.conflicts),
        bool(results_hidden(workspace, own_id)),
    )


def _find_subjects(reads: Reads, conflicts: Sequence[Conflict]) -> dict[str, str]:
    """What rows are about that do not say so themselves, such as a rating: the example, and the output by
    its pseudonym."""
    found = {}
    for kind in {conflict.kind for conflict in conflicts}:
        columns = KINDS[kind].columns
        output = next((c for c in ("output_id", "left_output_id") if c in columns), "")
        if not output:
            continue
        rows = pack_ids([conflict.row for conflict in conflicts if conflict.kind == kind])
        for row in reads.query(
            f'SELECT r.id, e.title, o.pseudonym FROM "{kind}" r JOIN output o ON o.id = r."{output}"'
            f" JOIN example e ON e.id = o.example_id WHERE r.id IN {AMONG}",
            (rows,),
        ):
            found[row["id"]] = f"{row['title']} ({row['pseudonym']})"
    return found


def take_over(workspace: Workspace, own_id: str, looked: Looked) -> MergeReport:
    """Merge what was looked into."""
    key = looked.key.copy() if looked.key is not None else None
    return _with_other(looked.path, key, lambda other: merge(workspace, other, own_id))


def _with_other(path: Path, key: Key | None, work: Callable[[Workspace], T]) -> T:
    with Workspace.open_with_key(path, key, read_only=True) as other:
        return work(other)
